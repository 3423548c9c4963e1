"""A private regression curve: a question of two channels."""

from typing import Final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import Aggregate, Countable, IntArray
from neyman.arguments import check_type
from neyman.errors import InvalidParameter
from neyman.functional._arrays import ArrayRecords, Units
from neyman.functional._bases._domain import Interval, Side, check_side
from neyman.functional._bases._features import clamped
from neyman.functional._bases._target import Target
from neyman.functional._channels import ChannelReading
from neyman.functional._question import question_of
from neyman.functional._regressions._pairs import (
    PairChannels,
    pair_sensitivity,
    pair_sums,
    started_at,
)
from neyman.numerics import Real
from neyman.sensitivity import Neighbors

__all__ = ["regression", "regression_of"]

# Raise it whenever the integers of an unchanged question change.
_RULES: Final = 2


def regression(
    x: npt.NDArray[np.generic],
    y: npt.NDArray[np.generic],
    *,
    domain: Side,
    response: Interval,
    neighbors: Neighbors,
    unit: str,
    name: str,
    bandwidth: Real | None = None,
    records: int | None = None,
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
        x: private, a NumPy array of any real dtype, shape (n,).
        y: private, of the same shape. Both are read when the question is paid for, and none can
            raise an error: a record with a NaN, or at no place of the domain or of the response,
            counts for nothing.
        domain: where x lies: `Interval(lower, upper, outside=...)` or `Circle(period)`.
        response: the public bounds of y, `Interval(lower, upper, outside="clip")`. Noise is
            proportional to their distance; what is clipped bends the curve.
        neighbors: "add_remove", where the number of records is private and released along, or
            "replace_one", where it is public.
        unit: who is protected, in the words of the ledger; each record is one's, unless `units`
            says otherwise.
        name: stands for these records in the ledger: other records need another name.
        bandwidth: h, in the units of x. Public; the least that can be read. Either this or
        records: about how many records there are, a public guess. The release starts at

                h = length max(0.72 records^(-1/2), 1/256),

            at most a tenth of the length, and every scale up to a third of it has a share of the
            budget, so that a nearly straight curve costs little more than a line would.
        target: what errors weigh; by default `Scales()`, for most curves are smoother than h, and
            with `records` `Octaves(number)`, up to a third of the length.
        units: whose each record is, and how many of one unit count. Under add_remove only.

    Raises:
        InvalidParameter: if a declaration is unusable, the arrays hold no real numbers or are of
            two shapes, or are empty under replace_one.

    Guarantee: under Gaussian noise of variance v exactly mu-GDP, mu^2 = l2_squared / v.
    Source: Hall, Rinaldo and Wasserman, *Differential privacy for functions and functional data*,
        JMLR 2013, for the noise; Nadaraya (1964) and Watson (1964) for the quotient.
    """
    arrays = ArrayRecords.of(
        ("x", x), ("y", y), name=name, unit=unit, neighbors=neighbors, units=units
    )
    if x.shape != y.shape:
        raise InvalidParameter("x and y must have one shape, with one of each for each record")
    return regression_of(
        arrays,
        domain=domain,
        response=response,
        bandwidth=bandwidth,
        records=records,
        target=target,
    )


def regression_of(
    countable: Countable,
    *,
    domain: Side,
    response: Interval,
    bandwidth: Real | None = None,
    records: int | None = None,
    target: Target | None = None,
) -> Aggregate:
    """Ask for the regression curve of whatever can be counted at public nodes.

    As `regression`, of records that say themselves who is protected: arrays, or columns of a table.

    Args:
        countable: private records, with two numbers each, x and y.
        domain: as for `regression`.
        response: as for `regression`.
        bandwidth: as for `regression`.
        records: as for `regression`.
        target: as for `regression`.

    Raises:
        InvalidParameter: if a declaration is unusable.
    """
    check_side(domain)
    instead = 'the bounds of y, Interval(lower, upper, outside="clip")'
    check_type("response", response, Interval, instead)
    least, weighed = started_at(domain, bandwidth, records, target)
    channels = PairChannels(domain, least, response, weighed, countable.records is None)
    axes, k = channels.axes, channels.steps

    def sums(counts: IntArray) -> IntArray:
        table = clamped(counts, k * axes[1].number).reshape(len(counts), -1, axes[1].number)
        return pair_sums(channels, table.sum(axis=2), table @ np.arange(-k, k + 1))

    return question_of(
        countable,
        {
            "statistic": "regression",
            "channels": channels.record(),
            "rules": _RULES,
        },
        rule=channels,
        axes=axes,
        one=pair_sensitivity(channels, countable.neighbors),
        size=channels.size,
        reading=ChannelReading((("count", channels.counts), ("response", channels.responses))),
        sums=sums,
    )
