"""Many quantiles at once: a question of the counts up to each value of a grid."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, cast

import numpy as np
import numpy.typing as npt

from neyman.aggregate import Aggregate, Countable
from neyman.arguments import given
from neyman.errors import InvalidParameter
from neyman.functional._arrays import ArrayRecords, Units
from neyman.functional._quantiles._quantiles import QuantileReading
from neyman.functional._quantiles._step_basis import StepBasis, told_apart
from neyman.functional._question import question_of
from neyman.numerics import Real, exact, text

__all__ = ["quantiles", "quantiles_of"]

_MOST: Final = 1000


def quantiles(
    values: npt.NDArray[np.generic],
    probabilities: Sequence[Real],
    *,
    lower: Real,
    upper: Real,
    grid: Real,
    unit: str,
    name: str,
    units: Units | None = None,
) -> Aggregate:
    """Ask for many quantiles of an array of values at once.

    Args:
        values: private, a NumPy array of any real dtype, any shape; NaN counts for nothing.
        probabilities: p, each in [0, 1].
        lower: public; what is below counts there.
        upper: public; what is above counts there.
        grid: between the values that are told apart; divides upper - lower. Of more than 8,192
            steps the release takes coarser ones, and says so (`told_apart`).
        unit: who is protected, in the words of the ledger.
        name: stands for these values in the ledger: other values need another name.
        units: whose each value is, and how many of one unit count.

    Returns:
        The question, for `release`, whose columns are the quantiles and their intervals: see
        `neyman.publish.quantiles`, which asks the same of a table.

    Raises:
        InvalidParameter: if a declaration is unusable.

    Guarantee: under Gaussian noise of variance v exactly mu-GDP, mu^2 = l2_squared / v.
    """
    records = ArrayRecords.of(
        ("values", values), name=name, unit=unit, neighbors="add_remove", units=units
    )
    return quantiles_of(records, probabilities, lower=lower, upper=upper, grid=grid)


def quantiles_of(
    records: Countable,
    probabilities: Sequence[Real],
    *,
    lower: Real,
    upper: Real,
    grid: Real,
) -> Aggregate:
    """Ask for quantiles of whatever can be counted at public nodes, in groups or not.

    Args:
        records: private, with one number each.
        probabilities: as for `quantiles`.
        lower: as for `quantiles`.
        upper: as for `quantiles`.
        grid: as for `quantiles`.

    Raises:
        InvalidParameter: if a declaration is unusable.
    """
    shares = _shares(probabilities)
    first, last, asked_grid = exact(lower, "lower"), exact(upper, "upper"), exact(grid, "grid")
    basis = StepBasis(first, last, told_apart(first, last, asked_grid))
    coarser = basis.grid != asked_grid
    return question_of(
        records,
        {
            "statistic": basis.statistic,
            "probabilities": [text(p) for p in shares],
            "basis": basis.record(),
            **({"grid": text(asked_grid)} if coarser else {}),
            "rules": basis.rules,
        },
        rule=basis,
        axes=basis.axes,
        one=basis.sensitivity(records.neighbors),
        size=basis.size,
        reading=QuantileReading(basis, shares, records.unit_records, coarser),
        sums=basis.sums,
    )


def _shares(probabilities: Sequence[Real]) -> tuple[Fraction, ...]:
    if isinstance(probabilities, str) or not isinstance(
        cast("object", probabilities), Sequence | np.ndarray
    ):
        raise InvalidParameter(
            f"{given('probabilities', probabilities)} is no list of shares; write one, such as "
            "[0.25, 0.5, 0.75]"
        )
    shares = tuple(exact(p, "a number of probabilities") for p in probabilities)
    if not shares or len(shares) > _MOST or len(set(shares)) < len(shares):
        raise InvalidParameter(
            f"{len(shares)} probabilities were given, {len(set(shares))} of them distinct; write "
            f"from 1 to {_MOST} distinct ones"
        )
    for share in shares:
        if not 0 <= share <= 1:
            raise InvalidParameter(
                f"a probability of {text(share)} was given; write shares in [0, 1], such as 0.5 "
                "for the median"
            )
    return shares
