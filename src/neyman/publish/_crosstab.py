"""Contingency tables in one release: counts of cells, and margins that are their sums."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, cast, final

import numpy as np

from neyman.aggregate import (
    Aggregate,
    Columns,
    Counted,
    Imagined,
    IntArray,
    MadeUp,
    Noise,
    Reading,
    Shape,
    Spreads,
    SumsReading,
    Term,
    refuse_key_names,
)
from neyman.arguments import brief, check_list, check_type
from neyman.digests import digest
from neyman.errors import InvalidParameter, InvalidTable
from neyman.numerics import Array
from neyman.overriding import override
from neyman.printable import listed
from neyman.publish._cells import NoisyMargin, noisy_margin
from neyman.publish._contingency import ContingencyTable, NonNegativeTable, put_together
from neyman.publish._margins import MOST, folded, margin_index
from neyman.released import group_name
from neyman.sensitivity import Sensitivity
from neyman.tables import Keys, Table

__all__ = ["CrosstabReading", "crosstab"]


_ALL: Final = "all"
# Weights are whole numbers, with an error of at most 3 %.
_FINE: Final = 16
# A larger share for one part would leave nothing for the others.
_MOST_PARTS: Final = 10**6
# An exact answer, as in `bias`, has no noise variance to divide by.
_LEAST: Final = 2.0**-30
# The number of parts of a row in a preview, and the digits of the share of a cell.
_PARTS: Final = 2**30
_DIGITS: Final = 3
_NAMES: Final = ("margin", "count", "lower", "upper", "unbiased", "stddev")


def crosstab(
    table: Table,
    by: Keys,
    margins: Sequence[Sequence[str]] = (),
    *,
    shares: Sequence[int] = (),
    whole: bool = True,
) -> Aggregate:
    """Count the cells of a contingency table, with margins that are sums of them.

    The noisy counts are one release. The columns of the answer are post-processing: `unbiased`, the
    least squares of all counts, with its `stddev`; and `count`, the nearest table without negative
    counts, within `lower` and `upper`. Every margin is the sum of its cells.

    By default only the cells are measured, which is best for the cells, and for tables with few
    cells. A margin of many cells is more precise if it has its own noisy counts: `shares` divides
    the squared sensitivity among the cells and the margins.

    Args:
        table: the table.
        by: the cells: every combination of its keys.
        margins: the margins to show beside the cells, each a list of columns of `by`; an empty list
            for the total.
        shares: whole numbers for the cells, then for each margin; 0 for a margin that is only the
            sum of cells. By default the cells get everything.
        whole: whether `count` is a whole number; true by default.

    Returns:
        The question, for `release`. Its columns have the keys as text, "all" where a margin sums
        over a column, and the `margin` of each row.

    Raises:
        InvalidParameter: if margins or shares are not lists as described.
        InvalidTable: if the groups are not declared or not every combination, a margin has other
            columns or comes twice, or sums could exceed 62 bits.

    Guarantee: under Gaussian noise of variance v exactly mu-GDP, mu^2 = l2_squared / v.
    Error: intervals are those of `contingency`; the interval of a count is cut at 0.
    """
    check_type("table", table, Table, "a table, from open_table(...)")
    check_type("by", by, Keys, 'the cells, declared, Keys({"carrier": [...]})')
    check_type("whole", whole, bool, "True for whole numbers, False for fractions")
    layout = Layout.of(by, margins)
    cells = table.count(by)
    refuse_key_names(by.columns, _NAMES)
    moves = [folded(cells.sensitivity, part.most, part.size) for part in layout.parts]
    weights = _weights(_shares(shares, len(moves)), moves)
    heaviest = max(w * part.most for w, part in zip(weights, layout.parts, strict=True))
    if heaviest * table.max_table_rows > MOST:
        raise InvalidTable(
            f"a margin of {heaviest} cells with max_table_rows={table.max_table_rows} rows each "
            "could leave 62 bits; write a smaller max_table_rows where the table is opened"
        )

    def compute() -> IntArray:
        return layout.stacked(cells.compute(), weights)

    counted = [(w, part.index, part.size) for w, part in zip(weights, layout.parts, strict=True)]
    record = {
        "statistic": "crosstab",
        "margins": layout.names[1:],
        "weights": list(weights),
        "whole": whole,
        "computation": digest(cells.query["computation"], counted),
    }
    return Aggregate(
        query=dict(cells.query) | record,
        source=cells.source,
        unit=cells.unit,
        sensitivity=_stacked(weights, moves),
        size=sum(part.size for w, part in zip(weights, layout.parts, strict=True) if w),
        reading=CrosstabReading(layout, weights, whole),
        compute=compute,
        keys=layout.keys(),
        sql=cells.sql,
        imagined=_ImaginedCells(layout, tuple(weights), cells.imagined),
        check=cells.check,
        companion=None
        if cells.companion is None
        else cells.companion.after(lambda found: layout.stacked(found, weights)),
    )


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """The cells or a margin: its columns, the group of each cell, and the sizes of groups."""

    names: tuple[str, ...]
    index: IntArray
    size: int
    most: int


@final
@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The cells, followed by each margin."""

    by: Keys
    parts: tuple[_Part, ...]

    @staticmethod
    def of(by: Keys, margins: Sequence[Sequence[str]]) -> "Layout":
        """Check the margins, and return the layout with their groups."""
        if by.chosen is not None:
            raise InvalidTable(
                f"{by!r} are chosen combinations, and a contingency table has every one; write the "
                "whole product, Keys({column: keys, ...}), and cells without rows will be near 0"
            )
        check_list("margins", margins, 'a list of columns for each margin, such as [["carrier"]]')
        listed = [by.columns]
        for names in margins:
            one = repr([names]) if isinstance(names, str) else '["carrier"]'
            check_list("margins", names, f"a list for each margin, such as [{one}]")
            listed.append(tuple(names))
        for place, names in enumerate(listed):
            _check_margin(by, names, listed[:place])
        return Layout(by, tuple(_part(by, names) for names in listed))

    @property
    def names(self) -> list[list[str]]:
        """The columns of each part."""
        return [list(part.names) for part in self.parts]

    def stacked(self, cells: IntArray, weights: Sequence[int]) -> IntArray:
        """Return the counts of all parts with a weight, multiplied by it."""
        found: list[IntArray] = []
        for part, weight in zip(self.parts, weights, strict=True):
            if weight:
                sums = np.zeros(part.size, np.int64)
                np.add.at(sums, part.index, cells)
                found.append(weight * sums)
        return np.concatenate(found)

    def keys(self) -> Columns:
        """Return the keys of all rows, as text."""
        found: dict[str, list[str]] = {name: [] for name in self.by.columns}
        for part in self.parts:
            kept = self.by.project(*part.names).to_columns() if part.names else {}
            ends = {name: (f"{name}_from", f"{name}_to") for name in self.by.columns}
            for name in found:
                # A bin has two columns, for its edges.
                own = [key for key in (name, *ends[name]) if key in kept]
                cells = zip(*(kept[key] for key in own), strict=True)
                said = [group_name(dict(zip(own, cell, strict=True))) for cell in cells]
                found[name] += said if name in part.names else [_ALL] * part.size
        return cast("Columns", found)


def _part(by: Keys, names: tuple[str, ...]) -> _Part:
    index, size = margin_index(by, names)
    return _Part(names, index, size, int(np.bincount(index).max()))


def _check_margin(by: Keys, names: Sequence[str], before: Sequence[Sequence[str]]) -> None:
    for name in names:
        if name not in by.columns:
            raise InvalidTable(
                f"margins must use columns of the cells; got {name!r}. Write some of "
                f"{', '.join(by.columns)}"
            )
    if len(set(names)) < len(names):
        raise InvalidTable(f"the margin {list(names)} names a column twice; write it once")
    if set(names) in map(set, before):
        why = "has all columns" if len(names) == len(by.columns) else "was given twice"
        raise InvalidTable(f"the margin {list(names)} {why}; leave it out")


def _shares(shares: Sequence[int], count: int) -> Sequence[int]:
    check_list("shares", shares, "a list of whole numbers, such as [2, 1]")
    given = list(shares) or [1] + [0] * (count - 1)
    sound = all(type(share) is int and 0 <= share <= _MOST_PARTS for share in given)
    if len(given) != count or not sound or given[0] == 0:
        raise InvalidParameter(
            f"shares must be whole numbers for the cells and {count - 1} margins; got "
            f"{brief(given)}. Write at least 1 for the cells, 0 for margins that are sums of "
            f"cells, and at most {_MOST_PARTS:,}; or leave them out"
        )
    return given


def _weights(shares: Sequence[int], moves: Sequence[Sensitivity]) -> tuple[int, ...]:
    """Return small whole numbers w with w^2 l2_squared nearly in the ratio of the shares."""
    ideal = [math.sqrt(share / _square(move)) for share, move in zip(shares, moves, strict=True)]
    least = min(x for x in ideal if x)
    weights = [round(_FINE * x / least) for x in ideal]
    common = math.gcd(*weights)
    return tuple(weight // common for weight in weights)


def _square(move: Sensitivity) -> Fraction:
    return move.l2_squared or Fraction(1)


@final
@dataclass(frozen=True, slots=True)
class _ImaginedCells:
    """Synthetic cells: equal ones, or those of public rows.

    Attributes:
        layout: the layout of cells and margins.
        weights: the weight of each part.
        inner: the synthetic rows of the cells.
    """

    layout: Layout
    weights: tuple[int, ...]
    inner: Imagined | None

    @property
    def columns(self) -> tuple[str, ...]:
        """No columns: each row counts 1."""
        return ()

    def made_up(self, spreads: Spreads) -> MadeUp:  # noqa: ARG002
        """Return equal cells."""
        cells = len(self.layout.by)
        even = self.shaped({"cells": [1 / cells] * cells})
        return MadeUp(even=even, typical=even, spread=None, ends=None)

    def counted(self, public: object) -> Counted:
        """Count public rows in the cells; the table is one group."""
        if self.inner is None:
            raise InvalidTable("like= needs a question of a table; write spread=, or leave it out")
        found = self.inner.counted(public)
        rows = sum(found.kept)
        shares = tuple(float(f"{kept / rows:.{_DIGITS}g}") for kept in found.kept)
        return replace(found, kept=(rows,), shape={"cells": shares})

    def shaped(self, shape: Shape) -> Array:
        """Return what a row adds to cells and margins."""
        shares = np.array(shape.get("cells", ()), dtype=np.float64)
        if shares.size != len(self.layout.by) or not np.all((shares >= 0) & (shares <= 1)):
            raise InvalidParameter(
                f"a likeness of this table must have the shares of {len(self.layout.by)} cells; "
                "got another. Write publish.likeness(question, table) of this question"
            )
        cells = np.rint(_PARTS * shares).astype(np.int64)
        return self.layout.stacked(cells, self.weights) / float(_PARTS)


def _stacked(weights: Sequence[int], moves: Sequence[Sensitivity]) -> Sensitivity:
    """Return the sensitivity of all parts together: at most the sum of each."""
    measured = [(w, move) for w, move in zip(weights, moves, strict=True) if w]
    coordinates = [move.coordinates for _, move in measured]
    known = [one for one in coordinates if one is not None]
    return Sensitivity(
        neighbors=moves[0].neighbors,
        l1=sum((w * (move.l1 or Fraction(0)) for w, move in measured), Fraction(0)),
        l2_squared=sum((w**2 * _square(move) for w, move in measured), Fraction(0)),
        coordinates=sum(known) if len(known) == len(measured) else None,
        largest=max(w * (move.largest or 0) for w, move in measured),
    )


@final
@dataclass(frozen=True, slots=True, eq=False)
class CrosstabReading(SumsReading):
    """Reads noisy counts by least squares, as whole and non-negative numbers, with margins."""

    layout: Layout
    weights: tuple[int, ...]
    whole: bool

    @property
    @override
    def terms(self) -> tuple[Term | None, ...]:
        return ()

    @override
    def apart(self) -> tuple[tuple[int, Reading], ...]:
        return ()

    @override
    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        return self.put_together(self.measured(noisy, noise.stddev), confidence, noise.normal)

    def put_together(
        self, measured: Sequence[NoisyMargin], confidence: float, normal: bool
    ) -> Columns:
        """Return the columns of cells and margins, from any measured margins.

        Args:
            measured: as for `least_squares`.
            confidence: the coverage of the intervals.
            normal: whether all noise is Gaussian.
        """
        unbiased = put_together(self.layout.by, measured, confidence, normal)
        shown = unbiased.nonnegative(whole=self.whole)
        found: dict[str, list[object]] = {name: [] for name in _NAMES}
        for part in self.layout.parts:
            columns = _margin(unbiased, shown, part.names)
            said = f"by {listed(part.names)}" if part.names else "in total"
            for name, column in ({"margin": [said] * part.size} | columns).items():
                found[name] += column
        return cast("Columns", found)

    def measured(self, noisy: IntArray, stddev: float) -> list[NoisyMargin]:
        """Return the measured counts of the noisy integers, for `put_together`."""
        found: list[NoisyMargin] = []
        start = 0
        for part, weight in zip(self.layout.parts, self.weights, strict=True):
            if weight:
                counts = noisy[start : start + part.size] / weight
                variance = (max(stddev, _LEAST) / weight) ** 2
                found.append(noisy_margin(self.layout.by, part.names, counts, variance))
                start += part.size
        return found


def _margin(
    unbiased: ContingencyTable, shown: NonNegativeTable, names: Sequence[str]
) -> dict[str, list[float]]:
    if not names:
        total, stddev = unbiased.combination(np.ones(unbiased.shape))
        width = unbiased.half_width_of(stddev)
        return {
            "count": [shown.total],
            "lower": [min(max(total - width, 0.0), shown.total)],
            "upper": [max(total + width, shown.total)],
            "unbiased": [total],
            "stddev": [stddev],
        }
    plain, kept = unbiased.margin(*names), shown.margin(*names)
    columns = cast("dict[str, list[float]]", kept.to_columns())
    return {name: columns[name] for name in ("count", "lower", "upper")} | {
        "unbiased": plain.values.ravel().tolist(),
        "stddev": [plain.stddev] * plain.values.size,
    }
