"""A private regression curve: a question of two channels."""

from typing import Final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import Aggregate, IntArray
from neyman.errors import InvalidParameter
from neyman.functional._channels import ChannelReading
from neyman.functional._domain import Interval, Side
from neyman.functional._pairs import PairChannels, pair_sensitivity, pair_sums
from neyman.functional._private import public_number, real, source
from neyman.functional._query import check_units
from neyman.functional._target import Scales, Target
from neyman.functional._units import Units
from neyman.numerics import Real, exact
from neyman.sensitivity import Neighbors, check_neighbors

__all__ = ["regression"]

# Raise it whenever the integers of an unchanged question change.
_RULES: Final = 1
_PIECE: Final = 1 << 16


def regression(
    x: npt.NDArray[np.generic],
    y: npt.NDArray[np.generic],
    *,
    domain: Side,
    bandwidth: Real,
    response: Interval,
    neighbors: Neighbors,
    unit: str,
    name: str,
    target: Target | None = None,
    units: Units | None = None,
) -> Aggregate:
    """Ask for the mean response y at every x, as a curve; records are pairs (x, y).

    Released are two sums of waves, of how many records are where and of their responses,

        sum_i phi(x_i)   and   sum_i (y_i - c) phi(x_i),   c the middle of the response

    together. `functional.function` makes a curve of them: Nadaraya-Watson at every bandwidth,
    kernel ridge regression with every bandwidth and regularization, a Gaussian process that knows
    the noise, and the density of x, all of them free.

    Args:
        x: private, a NumPy array of any real dtype, any shape.
        y: private, of the same shape. Both are read when the question is paid for, and none can
            raise an error: a record with a NaN, or at no place of the domain or of the response,
            counts for nothing.
        domain: where x lies: `Interval(lower, upper, outside=...)` or `Circle(period)`.
        bandwidth: h, in the units of x. Public; the least that can be read: see `pilot_bandwidth`.
        response: the public bounds of y, `Interval(lower, upper, outside="clip")`. Noise is
            proportional to their distance; what is clipped bends the curve.
        neighbors: "add_remove", where the number of records is private and released along, or
            "replace_one", where it is public.
        unit: who is protected, in the words of the ledger; each record is one's, unless `units`
            says otherwise.
        name: stands for these records in the ledger: other records need another name.
        target: what errors weigh; `Scales()` by default, for most curves are smoother than h.
        units: whose each record is, and how many of one unit count. Under add_remove only.

    Raises:
        InvalidParameter: if a declaration is unusable, the arrays hold no real numbers or are of
            two shapes, or are empty under replace_one.

    Guarantee: under Gaussian noise of variance v exactly mu-GDP, mu^2 = l2_squared / v.
    Source: Hall, Rinaldo and Wasserman, *Differential privacy for functions and functional data*,
        JMLR 2013, for the noise; Nadaraya (1964) and Watson (1964) for the quotient.
    """
    check_neighbors(neighbors)
    places, answers = real(x).reshape(-1), real(y).reshape(-1)
    if x.shape != y.shape:
        raise InvalidParameter("x and y of two shapes were given; write one of each for a record")
    # Types are not checked by who runs it.
    if type(response) is not Interval:
        raise InvalidParameter(
            f"response={response!r} was given; write the bounds of y, Interval(lower, upper, "
            'outside="clip")'
        )
    records = public_number(places, neighbors)
    channels = PairChannels(
        domain,
        exact(bandwidth, "bandwidth"),
        response,
        Scales() if target is None else target,
        records is None,
    )
    check_units(units, places, counted=channels.counted)
    sensitivity = pair_sensitivity(channels, neighbors)

    def compute() -> IntArray:
        if units is None:
            return pair_sums(channels, *_at_nodes(channels, places, answers))
        kept = units.kept(np.arange(places.size)).astype(np.int64)
        return pair_sums(channels, *_at_nodes(channels, places[kept], answers[kept]))

    return Aggregate(
        query={
            "statistic": "regression",
            "channels": channels.record(),
            "records": records,
            "max_values": None if units is None else units.max_values,
            "rules": _RULES,
        },
        source=source(name, places, answers),
        unit=unit,
        sensitivity=sensitivity if units is None else units.bound(sensitivity),
        size=channels.size,
        reading=ChannelReading((("count", channels.counts), ("response", channels.responses))),
        compute=compute,
    )


def _at_nodes(
    channels: PairChannels, x: npt.NDArray[np.generic], y: npt.NDArray[np.generic]
) -> tuple[IntArray, IntArray]:
    """Return the number of records, and the sum of their k, at each node of x.

    Sums of k are added as doubles: integers below 2^53.
    """
    places, grid, k = channels.counts.places, channels.grid, channels.steps
    counts, totals = np.zeros(places.number, np.int64), np.zeros(places.number, np.int64)
    for first in range(0, x.size, _PIECE):
        part = slice(first, first + _PIECE)
        node = places.index(x[part].astype(np.float64))
        answer = grid.index(y[part].astype(np.float64))
        there = (node < places.number) & (answer < grid.number)
        node = node[there]
        counts += np.bincount(node, minlength=places.number)
        sums = np.bincount(node, weights=answer[there] - k, minlength=places.number)
        totals += sums.astype(np.int64)
    return counts, totals
