"""Contingency tables: noisy counts of cells and margins that add up. Post-processing, free."""

import math
from abc import ABC
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import Columns, IntArray
from neyman.errors import InvalidParameter, InvalidTable
from neyman.numerics import ndtri
from neyman.overriding import override
from neyman.publish._cells import (
    Cells,
    Floats,
    NoisyMargin,
    cosines,
    in_order,
    least_squares,
    noisy_margin,
    nonnegative,
    slab,
)
from neyman.released import Release, Tabular, text_of
from neyman.tables import Keys

__all__ = ["ContingencyTable", "NonNegativeTable", "contingency", "put_together"]

_SHOWN: Final = 20


class _OfCells(Tabular, ABC):
    """The members that both tables share."""

    __slots__ = ()

    cells: Cells

    @property
    def keys(self) -> Keys:
        """The cells: every combination of keys."""
        return self.cells.keys

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of keys of each column."""
        return self.cells.shape

    @property
    def values(self) -> Floats:
        """The counts, of `shape`."""
        return self.cells.values

    @property
    def total(self) -> float:
        """The sum of all cells."""
        return self.cells.total

    def to_json(self) -> dict[str, object]:
        """Return the table, JSON-able."""
        columns, record = self.framed()
        return record | {"columns": columns}

    def _record(self, confidence: float, method: str) -> dict[str, object]:
        return {
            "format": "neyman.contingency",
            "version": 1,
            "keys": self.keys.describe(),
            "method": method,
            "confidence": confidence,
        }


@final
@dataclass(frozen=True, slots=True, eq=False)
class ContingencyTable(_OfCells):
    """Unbiased counts of cells by least squares, with margins that are their sums.

    Sums of cells equal the margins exactly, in doubles and in any order. All cells of a table or
    margin have the same standard deviation.

    Attributes:
        cells: the counts.
        precision: the reciprocals of the covariance's eigenvalues, in the cosine basis.
        confidence: the coverage of the intervals.
        normal: whether all noise is Gaussian.
    """

    cells: Cells
    precision: Floats = field(repr=False)
    confidence: float
    normal: bool

    @property
    def stddev(self) -> float:
        """The standard deviation of the noise in each cell."""
        return math.sqrt(float(np.mean(1 / self.precision)))

    @property
    def half_width(self) -> float:
        """Half the width of the interval of each cell.

        With Gaussian noise it is z sd + 1/2, where 1/2 is for rounding. With other noise it is
        sd / sqrt(1 - confidence), by Chebyshev's inequality.
        """
        return self.half_width_of(self.stddev)

    def half_width_of(self, stddev: float) -> float:
        """Return half the width of an interval with this standard deviation."""
        if not self.normal:
            return stddev / math.sqrt(1 - self.confidence)
        z = float(ndtri(np.array((1 + self.confidence) / 2)))
        return z * stddev + 0.5

    def combination(self, weights: npt.ArrayLike) -> tuple[float, float]:
        """Return the sum of weight times count over all cells, and its standard deviation.

        Args:
            weights: an array of `shape`, for a difference of two cells, a slope, or a share.

        Raises:
            InvalidParameter: if it has another shape, or is not finite.
        """
        given = np.asarray(weights, np.float64)
        if given.shape != self.shape or not np.all(np.isfinite(given)):
            raise InvalidParameter(
                f"weights must be finite and of shape {self.shape}; got shape {given.shape}. "
                "Write a weight for each cell"
            )
        variance = float(np.sum(cosines(given) ** 2 / self.precision))
        return math.fsum((given * self.values).ravel().tolist()), math.sqrt(variance)

    def margin(self, *columns: str) -> "ContingencyTable":
        """Return the sums over all other columns, with their intervals.

        Raises:
            InvalidTable: if a column is unknown, or none is named; use `total` then.
        """
        below, axes = self.cells.margin(columns), self.cells.axes(columns)
        folded = self.cells.counts.size // below.counts.size
        kept = self.precision[slab(frozenset(axes), len(self.shape))]
        return ContingencyTable(below, in_order(kept, axes) / folded, self.confidence, self.normal)

    def cell(self, **keys: object) -> dict[str, float]:
        """Return count, stddev, lower and upper of a cell; name a bin by its two edges.

        Raises:
            InvalidTable: if a column is missing, or a key is unknown.
        """
        value = float(self.values[self.cells.place(keys)])
        width = self.half_width
        return {
            "count": value,
            "stddev": self.stddev,
            "lower": value - width,
            "upper": value + width,
        }

    def to_columns(self) -> Columns:
        """Return keys, count, stddev, lower and upper, as columns of equal length."""
        values, width = self.values.ravel(), self.half_width
        return self.keys.to_columns() | {
            "count": values.tolist(),
            "stddev": [self.stddev] * len(values),
            "lower": (values - width).tolist(),
            "upper": (values + width).tolist(),
        }

    def __str__(self) -> str:
        return _text(self.to_columns(), self.confidence)

    __repr__ = __str__

    @override
    def framed(self) -> tuple[Columns, dict[str, object]]:
        return self.to_columns(), self._record(self.confidence, "least squares")

    def nonnegative(self, *, whole: bool) -> "NonNegativeTable":
        """Return the nearest table without negative cells, with the same total if it is positive.

        The distance uses the covariance, so precise margins change little.

        Args:
            whole: whether its counts are whole numbers; the total is then rounded.
        """
        target = max(int(self.cells.counts.sum()), 0)
        digits = self.cells.digits
        if whole:
            target, digits = (target + (1 << digits >> 1)) >> digits, 0
        total = math.ldexp(target, -digits)
        found = np.ldexp(nonnegative(self.values, self.precision, total).ravel(), digits)
        return NonNegativeTable(self, Cells(self.keys, _rounded(found, target), digits))


@final
@dataclass(frozen=True, slots=True, eq=False)
class NonNegativeTable(_OfCells):
    """Counts of cells that are not negative and add up: biased, but with a lower error.

    An interval is that of the unbiased count, cut at 0 and extended to include the count here. True
    counts are not negative, so the cut does not reduce coverage. There is no standard deviation,
    because it depends on the true counts.

    Attributes:
        unbiased: the unbiased table.
        cells: the counts.
    """

    unbiased: ContingencyTable
    cells: Cells

    def margin(self, *columns: str) -> "NonNegativeTable":
        """Return the sums over all other columns.

        Raises:
            InvalidTable: if a column is unknown, or none is named; use `total` then.
        """
        return NonNegativeTable(self.unbiased.margin(*columns), self.cells.margin(columns))

    def cell(self, **keys: object) -> dict[str, float]:
        """Return count, lower and upper of a cell; name a bin by its two edges.

        Raises:
            InvalidTable: if a column is missing, or a key is unknown.
        """
        place = int(np.ravel_multi_index(self.cells.place(keys), self.shape))
        parts = self._parts()
        return {name: float(part[place]) for name, part in parts.items()}

    def to_columns(self) -> Columns:
        """Return keys, count, lower and upper, as columns of equal length."""
        return self.keys.to_columns() | {n: part.tolist() for n, part in self._parts().items()}

    def __str__(self) -> str:
        return _text(self.to_columns(), self.unbiased.confidence)

    __repr__ = __str__

    @override
    def framed(self) -> tuple[Columns, dict[str, object]]:
        method = "least squares, not negative"
        return self.to_columns(), self._record(self.unbiased.confidence, method)

    def _parts(self) -> dict[str, Floats]:
        values, centre = self.values.ravel(), self.unbiased.values.ravel()
        width = self.unbiased.half_width
        return {
            "count": values,
            "lower": np.minimum(np.maximum(centre - width, 0), values),
            "upper": np.maximum(np.maximum(centre + width, 0), values),
        }


def _rounded(values: Floats, total: int) -> IntArray:
    """Round to whole numbers with a given sum: down, but up where the fraction is largest."""
    found = np.floor(values).astype(np.int64)
    up = min(max(total - int(found.sum()), 0), len(values))
    found[np.argsort(found - values, kind="stable")[:up]] += 1
    # The rounding error of the sum is far below the largest cell.
    found[np.argmax(found)] += total - int(found.sum())
    return found


def _text(columns: Columns, confidence: float) -> str:
    return (
        f"{text_of(columns, rows=_SHOWN)}\n"
        f"lower, upper: {100 * confidence:g} % interval for the noise of each cell only"
    )


# The mechanism whose sums are normal, except for rounding.
_NORMAL: Final = "gaussian"


def contingency(
    releases: Iterable[Release], by: Keys, *, confidence: float = 0.95
) -> ContingencyTable:
    """Combine released counts of cells and margins into one table that adds up.

    By generalised least squares each count has the least variance of all unbiased linear estimates,
    which is at most that of its own release. Noise variances are public and exact.

    Args:
        releases: releases of `publish.margins(table, by, ...)` or `table.count(by)`; the cells must
            be among them. You must make sure that all are about the same table.
        by: the cells: every combination of its keys.
        confidence: the coverage of the noise intervals, in (0, 1).

    Raises:
        InvalidTable: if `by` is not every combination, a release is about something else or comes
            twice, or none has the cells.
        InvalidParameter: if the confidence is not in (0, 1).

    Guarantee: post-processing, which is free.
    Error: counts are rounded to 2^-digits, at most 2^-40 or 2^-52 of the sum of their sizes.

    Source: Gauss and Markov's theorem; Hay, Rastogi, Miklau and Suciu (2010), "Boosting the
        accuracy of differentially private histograms through consistency", for sums of cells.
    """
    if not 0 < confidence < 1:
        raise InvalidParameter(
            f"confidence must be in (0, 1); got {confidence!r}. Write a probability such as 0.95"
        )
    if by.chosen is not None:
        raise InvalidTable(
            f"a contingency table must have every combination of keys; got {by!r}. Write "
            "Keys({column: keys, ...}); cells without rows will be near 0"
        )
    listed = list(releases)
    _check(listed, by)
    margins = [_margin(release, by) for release in listed]
    if not any(len(axes) == len(by.columns) for axes, _, _ in margins):
        raise InvalidTable(
            f"releases must have the cells, {', '.join(by.columns)}; none of {len(listed)} does. "
            "Release them too, or write `by` with fewer columns"
        )
    normal = all(release.mechanism.get("mechanism") == _NORMAL for release in listed)
    return put_together(by, margins, confidence, normal)


def put_together(
    by: Keys,
    margins: Sequence[NoisyMargin],
    confidence: float,
    normal: bool,
) -> ContingencyTable:
    """Return the table of least squares.

    Args:
        by: the cells, every combination of its keys.
        margins: as for `least_squares`.
        confidence: the coverage of the intervals.
        normal: whether all noise is Gaussian.
    """
    values, precision = least_squares(tuple(map(len, by.domains)), margins)
    return ContingencyTable(Cells.of(by, values), precision, confidence, normal)


def _check(releases: Sequence[Release], by: Keys) -> None:
    cells = by.describe()
    first: dict[str, object] | None = None
    for i, release in enumerate(releases):
        base = {key: x for key, x in release.query.items() if key != "margin"}
        if base.get("statistic") != "count" or base.get("keys") != cells:
            raise InvalidTable(
                f"releases must be counts by {by!r}, or margins of them; got {release.entry!r}. "
                "Release the questions of publish.margins(table, by, [...])"
            )
        first = base if first is None else first
        if base != first:
            raise InvalidTable(
                f"releases must have the same unit and limits, or their counts do not add up; "
                f"{release.entry!r} differs from the first. Release all of them from one table"
            )
        for other in releases[:i]:
            if (other.entry, other.columns) == (release.entry, release.columns):
                raise InvalidTable(
                    f"releases must be different; got {release.entry!r} twice. Write it once"
                )


def _margin(release: Release, by: Keys) -> NoisyMargin:
    names = release.question.margin
    (stddev,) = set(release.columns["stddev"])
    counts = np.array(release.columns["count"], np.float64)
    return noisy_margin(by, by.columns if names is None else names, counts, float(stddev) ** 2)
