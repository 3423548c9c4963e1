"""A release with its presentation. All of it is post-processing, and free."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, final

from neyman.printable import listed
from neyman.publish._presentation import Display, Presentation, RowState, Suppression, key_text
from neyman.publish._same_counts import known_columns
from neyman.publish._suppressed import HiddenCount, beside, states_of
from neyman.released import (
    Release,
    Side,
    group_name,
)

__all__ = ["Presented"]

_NAMES = {
    "crosstab": "count",
    "linear_regression": "coefficient",
    "mean_per_unit": "mean",
    "sum_per_unit": "sum",
}
_ENDS = ("_from", "_to")
# Statistics in the units of their column.
_OF_THE_COLUMN = ("mean", "sum", "quantile", "mean_per_unit", "sum_per_unit")


def _joined(
    blocks: Sequence[Sequence[Sequence[int]]], by: Callable[[Sequence[int]], Any]
) -> list[int]:
    """Return the rows of all blocks, sorted within each margin."""
    return [row for margin in blocks for block in sorted(margin, key=by) for row in block]


@final
@dataclass(frozen=True, slots=True)
class Presented:
    """A release with its presentation.

    Attributes:
        name: its id.
        release: the release.
        presentation: the presentation of the whole page.
        hidden: the counts that another table of the page suppresses.
    """

    name: str
    release: Release
    presentation: Presentation = field(default_factory=Presentation)
    hidden: frozenset[HiddenCount] = frozenset()

    @property
    def display(self) -> Display:
        """The presentation of this answer."""
        return self.presentation.display(self.name)

    @property
    def rule(self) -> Suppression:
        """The rule that suppresses its rows."""
        given = self.display.suppress, self.presentation.suppress
        return next((rule for rule in given if rule is not None), Suppression())

    @property
    def scale(self) -> int:
        """The factor of its numbers: 100 for per cent."""
        return 100 if self.display.percent else 1

    def label(self, column: str) -> str:
        """Return the label of a column; by default its name with spaces for underscores."""
        given = self.presentation.labels.get(column)
        return (column.replace("_", " ").strip() or column) if given is None else given

    def unit(self, column: str) -> str | None:
        """Return the unit of measure of a column."""
        return self.presentation.units.get(column)

    def with_unit(self, column: str) -> str:
        """Return the label of a column, with its unit of measure."""
        unit = self.unit(column)
        return self.label(column) if unit is None else f"{self.label(column)} ({unit})"

    def word(self, column: str, value: object) -> str:
        """Return the label of a value of a column."""
        return self.presentation.values.get(column, {}).get(key_text(value), str(value))

    @property
    def key_columns(self) -> dict[str, tuple[str, ...]]:
        """The grouping columns of the table, each with its columns in the release.

        The two edges of a bin belong to one column.
        """
        found: dict[str, tuple[str, ...]] = {}
        keys = self.release.keys
        for key in keys:
            first, last = (key.removesuffix(end) for end in _ENDS)
            if first != key and first + _ENDS[1] in keys:
                found[first] = (key, first + _ENDS[1])
            elif last == key or last + _ENDS[0] not in keys:
                found[key] = (key,)
        return found

    @property
    def named(self) -> dict[str, list[str]]:
        """The labels of the group of each row, by `key_columns`."""
        columns = self.release.columns
        return {
            column: [self.word(column, cell) for cell in columns[held[0]]]
            if len(held) == 1
            else [
                group_name(dict(zip(held, ends, strict=True)))
                for ends in zip(*(columns[name] for name in held), strict=True)
            ]
            for column, held in self.key_columns.items()
        }

    def group(self, row: int) -> tuple[str, ...]:
        """Return the labels of the group of a row, one for each of `key_columns`."""
        cells = {name: [column[row]] for name, column in self.release.columns.items()}
        alone = replace(self, release=replace(self.release, columns=cells))
        return tuple(words[0] for words in alone.named.values())

    def number(self, side: Side) -> str:
        """Return the label of the number of a statistic."""
        if self.display.label is not None:
            return self.display.label
        if side.question.statistic == "count_units":
            return f"number of {side.question.unit.many}"
        name = side.question.statistic
        return _NAMES.get(name, name.replace("_", " "))

    def unit_of(self, side: Side) -> str | None:
        """Return the unit of measure of the number of a statistic."""
        if self.display.percent:
            return "%"
        if self.display.unit is not None:
            return self.display.unit
        of = side.question.columns
        unit = self.unit(of[0]) if of else None
        statistic = side.question.statistic
        if statistic == "variance":
            return None if unit is None else f"{unit}²"
        return unit if statistic in _OF_THE_COLUMN else None

    def sentence(self, side: Side) -> str:
        """Return a statistic as an axis label, such as "mean of delay (minutes)"."""
        unit, name = self.unit_of(side), self.number(side)
        if self.display.label is None:
            of = side.question.columns
            name += f" of {listed(map(self.label, of))}" if of else ""
        return name if unit is None else f"{name} ({unit})"

    def term(self, name: str) -> str:
        """Return the label of a term of a linear regression, with the unit of its coefficient."""
        response = self.release.question.response
        over, under = None if response is None else self.unit(response.name), self.unit(name)
        if name == "(intercept)":
            return "intercept" if over is None else f"intercept ({over})"
        label = self.label(name)
        return label if over is None or under is None else f"{label} ({over} / {under})"

    @property
    def margins(self) -> list[str]:
        """The margins of the rows of a contingency table, such as "by month" or "in total"."""
        held = [str(cell) for cell in self.release.columns["margin"]]
        question = self.release.question
        named = [question.groups.columns, *question.margins]
        # As the release names them, in the same order.
        said = [f"by {listed(map(self.label, names))}" if names else "in total" for names in named]
        words = dict(zip(dict.fromkeys(held), said, strict=False)) if question.grouped else {}
        return [words.get(one, one) for one in held]

    def states(self, side: Side) -> list[RowState]:
        """Return for each row of a statistic whether it is shown, and if not, why."""
        return states_of(self.release, side, self.rule, self.scale)

    def counts_hidden(self, side: Side) -> list[bool]:
        """Return for each row whether the count beside its number is left out elsewhere."""
        return beside(self.release, side, self.hidden)

    def count(self, side: Side) -> str:
        """Return what the count beside a number is called."""
        if not known_columns(self.release, side.question):
            return "count"
        per_unit = side.question.statistic.endswith("per_unit")
        return "units with a value" if per_unit else "rows with a value"

    @property
    def order(self) -> list[int]:
        """The rows in the order that they are shown in; rows of one group stay together."""
        rows = list(range(len(self.release.groups)))
        order, sides = self.display.order, self.release.sides
        if order == "declared" or not sides or not self.release.keys:
            return rows
        blocks = self._blocks(rows)
        if order == "alphabetical":
            named = [*zip(*self.named.values(), strict=True)]
            return _joined(blocks, lambda block: [key.casefold() for key in named[block[0]]])
        values, states = sides[0].columns[sides[0].value], self.states(sides[0])
        sign = -1 if order == "largest" else 1

        def size(block: Sequence[int]) -> tuple[bool, float]:
            shown = [row for row in block if not states[row].left_out]
            return not shown, sign * float(values[shown[0]]) if shown else 0.0

        return _joined(blocks, size)

    def _blocks(self, rows: Sequence[int]) -> list[list[list[int]]]:
        """Return the rows of each group, by margin."""
        margins = self.release.columns.get("margin", [""] * len(rows))
        found: dict[object, dict[tuple[object, ...], list[int]]] = {}
        for row in rows:
            key = tuple(self.release.columns[name][row] for name in self.release.keys)
            found.setdefault(margins[row], {}).setdefault(key, []).append(row)
        return [list(blocks.values()) for blocks in found.values()]

    def ordered(self) -> "Presented":
        """Return it with its rows in the order of presentation."""
        order = self.order
        if order == sorted(order):
            return self
        columns = {
            name: [cells[row] for row in order] for name, cells in self.release.columns.items()
        }
        return replace(self, release=replace(self.release, columns=columns))
