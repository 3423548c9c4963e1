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

    The release has two sums of waves, for the places of records and for their responses,

        sum_i phi(x_i)   and   sum_i (y_i - c) phi(x_i),   c the middle of the response

    together. `functional.function` makes a curve of them. From it you get, for free,
    Nadaraya-Watson at every bandwidth, kernel ridge regression with every bandwidth and
    regularization, a Gaussian process that knows the noise, and the density of x.

    Args:
        x: private, a NumPy array of any real dtype, shape (n,).
        y: private, the same shape. Both are read after the ledger is charged, and no value raises
            an error: a record with NaN, or at no place of the domain or of the response, counts for
            nothing.
        domain: the domain of x: `Interval(lower, upper, outside=...)` or `Circle(period)`.
        response: the public bounds of y, `Interval(lower, upper, outside="clip")`. The noise is
            proportional to their distance; clipped values bias the curve.
        neighbors: "add_remove", where the number of records is private and also released, or
            "replace_one", where it is public.
        unit: the privacy unit, in the words of the ledger; each record is one unit, unless `units`
            says otherwise.
        name: the name of the dataset in the ledger; other records need another name.
        bandwidth: h, in the units of x. Public; after the release only larger ones are available.
            Give this or `records`.
        records: a public guess of the number of records. Then

                h = length max(0.72 records^(-1/2), 1/256),

            at most a tenth of the length. Every scale up to a third of the length has a share of
            the budget, so a nearly straight curve has little more noise than a line.
        target: the weights of errors. The default is `Scales()`, because most curves are smoother
            than h; with `records` it is `Octaves(number)`, up to a third of the length.
        units: the unit of each record, and the contribution limit. Under add_remove only.

    Raises:
        InvalidParameter: if an argument is not valid, or the arrays are not of real numbers, have
            different shapes, or are empty under replace_one.

    Guarantee: with Gaussian noise of variance v it is exactly mu-GDP, mu^2 = l2_squared / v.
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
    """Ask for the regression curve of records that can be counted at public nodes.

    It is `regression` for a `Countable`, arrays or columns of a table, which knows its privacy
    unit.

    Args:
        countable: private records, with two numbers each, x and y.
        domain: as for `regression`.
        response: as for `regression`.
        bandwidth: as for `regression`.
        records: as for `regression`.
        target: as for `regression`.

    Raises:
        InvalidParameter: if an argument is not valid.
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
