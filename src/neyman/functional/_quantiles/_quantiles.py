"""Several quantiles at once: the question, and the quantiles from noisy counts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NamedTuple, cast, final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import Aggregate, Columns, Countable, IntArray, Noise
from neyman.arguments import got
from neyman.errors import InvalidParameter
from neyman.functional._arrays import ArrayRecords, Units
from neyman.functional._isotonic import isotonic
from neyman.functional._quantiles._columns import NAMES, columns_of, half_rank
from neyman.functional._quantiles._search import QuantileSearch, SearchReading
from neyman.functional._quantiles._step_basis import StepBasis, StepCounts, distinct_step
from neyman.functional._question import question_of
from neyman.numerics import Array, Real, exact, ndtri, text

__all__ = ["QuantileReading", "quantiles", "quantiles_of"]

_MOST: Final = 1000
# So many are searched for; for more the counts up to all values are released. Measured: of 9 the
# one has the smaller rank error, the other the narrower intervals.
_FEW: Final = 8
# On so few values counts up to each of them have hardly more noise, and narrower intervals.
_COARSE: Final = 65


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
    """Ask for several quantiles of an array of values.

    Up to eight quantiles, on a grid of more than 65 values, are found by a search; the fewer they
    are, the less noise each has (`QuantileSearch`). Otherwise the counts up to every value are
    released (`StepBasis`).

    Args:
        values: private, a NumPy array of any real dtype, shape (n,); NaN counts for nothing.
        probabilities: the p of each quantile, in [0, 1].
        lower: the public lower bound; smaller values count there.
        upper: the public upper bound; larger values count there.
        grid: the distance between distinct values; it divides upper - lower. If there are more than
            8,192 steps, the release takes coarser ones, and says so (`distinct_step`).
        unit: the privacy unit, in the words of the ledger.
        name: the name of the dataset in the ledger; other values need another name.
        units: the unit of each value, and the contribution limit, if one unit can have several.

    Returns:
        The question for `release`. The columns of the answer are the quantiles and their intervals;
        see `neyman.publish.quantiles`, the same question for a table.

    Raises:
        InvalidParameter: if an argument is not valid.

    Guarantee: with Gaussian noise of variance v it is exactly mu-GDP, mu^2 = l2_squared / v.
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
    """Ask for quantiles of records that can be counted at public nodes, with or without groups.

    Args:
        records: private records with one number each.
        probabilities: as for `quantiles`.
        lower: as for `quantiles`.
        upper: as for `quantiles`.
        grid: as for `quantiles`.

    Raises:
        InvalidParameter: if an argument is not valid.
    """
    shares = _shares(probabilities)
    first, last, asked_grid = exact(lower, "lower"), exact(upper, "upper"), exact(grid, "grid")
    basis = StepBasis(first, last, distinct_step(first, last, asked_grid))
    coarser, of_unit = basis.grid != asked_grid, records.unit_records
    few = len(shares) <= _FEW and basis.nodes > _COARSE
    search = QuantileSearch(basis, tuple(sorted(shares))) if few else None
    declared = {
        "statistic": basis.statistic,
        "probabilities": [text(p) for p in shares],
        "basis": basis.record(),
        **({"grid": text(asked_grid)} if coarser else {}),
    }
    if search is not None:
        return question_of(
            records,
            {**declared, "method": "search", "rules": search.rules},
            rule=search,
            axes=basis.axes,
            one=search.sensitivity(records.neighbors),
            size=search.nodes,
            reading=SearchReading(search, shares, of_unit, coarser),
            sums=search.sums,
            adaptive=search,
        )
    return question_of(
        records,
        {**declared, "rules": basis.rules},
        rule=basis,
        axes=basis.axes,
        one=basis.sensitivity(records.neighbors),
        size=basis.size,
        reading=QuantileReading(basis, shares, of_unit, coarser),
        sums=basis.sums,
    )


def _shares(probabilities: Sequence[Real]) -> tuple[Fraction, ...]:
    if isinstance(probabilities, str) or not isinstance(
        cast("object", probabilities), Sequence | np.ndarray
    ):
        raise InvalidParameter(
            f"probabilities must be a list of numbers; got {got(probabilities)}. Write for example "
            "[0.25, 0.5, 0.75]"
        )
    shares = tuple(exact(p, "a number of probabilities") for p in probabilities)
    if not shares or len(shares) > _MOST or len(set(shares)) < len(shares):
        raise InvalidParameter(
            f"there must be 1 to {_MOST} distinct probabilities; got {len(shares)}, "
            f"{len(set(shares))} of them distinct"
        )
    for share in shares:
        if not 0 <= share <= 1:
            raise InvalidParameter(
                f"a probability must be in [0, 1], such as 0.5 for the median; got {text(share)}"
            )
    return shares


class _Ends(NamedTuple):
    """The places of the first and last value of an interval, for each probability."""

    lower: IntArray
    upper: IntArray


@final
@dataclass(frozen=True, slots=True)
class QuantileReading:
    """The columns of quantiles: the smallest grid value x with F(x) >= p n, for each p and group.

    Let G(x) = F(x) - p n, with noise of standard deviation s(x). The noise interval is from the
    first x with G(x) + z s(x) >= 0 to the last with G(x - 1) - z s(x - 1) <= 0. Without noise, G is
    not negative at the quantile and not positive one step before. So each end can fail only if the
    noise at one fixed place is beyond z, and the level holds for any data.

    The total interval is for the quantile of the population. If a unit has at most r records, which
    can all be equal, it adds (z sqrt(r n p (1 - p)) + r / 2)^2 to (z s)^2: the variance of r times
    a binomial count of n / r trials, and half of its step. At p = 0 and 1 it extends to the bound.

    If the number of rows of a group may be 0, it has no quantile: the answer is NaN, and the
    interval is the bounds.

    Attributes:
        basis: the grid.
        probabilities: the p of each quantile, in [0, 1].
        unit_records: r, the most records of one unit.
        coarser: whether the steps of the basis are larger than the declared grid.
    """

    basis: StepBasis
    probabilities: tuple[Fraction, ...]
    unit_records: int
    coarser: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""
        return NAMES

    @property
    def rows(self) -> int:
        """The number of rows of a group: one for each probability."""
        return len(self.probabilities)

    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        """Return the columns."""
        solved = StepCounts.of(self.basis, noisy.reshape(-1, self.basis.size))
        width = float(noise.half_width(confidence))
        shares = [float(p) for p in self.probabilities]
        reach = np.stack([width * solved.length(p) for p in shares])
        hidden = width * math.sqrt(solved.variance[-1])
        z = float(ndtri(np.array((1 + confidence) / 2)))
        counts = solved.up_to[:, -1]
        places = np.empty((len(counts), 5, self.rows), np.int64)
        for found, up_to in zip(places, solved.up_to, strict=True):
            found[:] = self._places(up_to, reach, z)
        return columns_of(
            self.basis, self.probabilities, places, counts, hidden, coarser=self.coarser
        )

    def _places(self, counts: Array, reach: Array, z: float) -> IntArray:
        """Return the quantiles and both intervals of one group, shape (5, probabilities)."""
        last, n = len(counts) - 1, max(float(counts[-1]), 0.0)
        p = np.array([float(share) for share in self.probabilities])
        ranks = p * n + half_rank(p)
        place = np.minimum(np.searchsorted(_monotone(counts), ranks), last)
        apart = counts - ranks[:, None]
        own = _ends(apart, reach, place)
        between, r = p * (1 - p), self.unit_records
        sampling = np.where(between > 0, z * np.sqrt(r * n * between) + r / 2, 0.0)
        both = _ends(apart, np.hypot(reach, sampling[:, None]), place)
        lower = np.where(p == 0, 0, both.lower)
        upper = np.where(p == 1, last, both.upper)
        return np.stack([place, own.lower, own.upper, lower, upper])


def _ends(apart: Array, reach: Array, place: IntArray) -> _Ends:
    """Return the first and last place that the noise allows; the estimate is between them."""
    last = apart.shape[1] - 1
    above: npt.NDArray[np.bool_] = apart + reach >= 0
    below: npt.NDArray[np.bool_] = apart - reach <= 0
    first = cast("IntArray", np.where(above.any(axis=1), above.argmax(axis=1), last))
    after = last - below[:, ::-1].argmax(axis=1) + 1
    end = np.minimum(cast("IntArray", np.where(below.any(axis=1), after, 0)), last)
    return _Ends(np.minimum(first, place), np.maximum(end, place))


def _monotone(counts: Array) -> Array:
    """Return the nearest non-decreasing counts with the same last number."""
    weights = np.ones(len(counts))
    weights[-1] = 1e9
    return isotonic(counts, weights)
