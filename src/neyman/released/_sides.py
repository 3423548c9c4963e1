"""The statistics of an answer separately, and the rows that noise alone could have made.

One rule applies everywhere; it is post-processing of public numbers:

* an amount (a count, a sum) is such a row if its noise interval contains 0;
* any other number is one if it, or an end of its noise interval, is not finite, or if the interval
  is wider than half of all the values that the bounds allow.

An amount is printed with a mark. Other numbers are replaced by "too few rows to tell".
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import nan
from typing import Final, final

from neyman.aggregate import Columns
from neyman.released._question import RecordedQuestion

__all__ = ["MARK", "MARKED", "TOO_FEW", "Side", "sides_of"]

TOO_FEW: Final = "too few rows to tell"
MARK: Final = "*"
MARKED: Final = "* noise alone could have made this number: its interval holds 0"

_WIDEST: Final = 0.5
_LARGEST: Final = 10**300
# Labels of numbers, which contain no noise.
_LABELS: Final = frozenset(("term", "probability", "margin"))


@final
@dataclass(frozen=True, slots=True)
class Side:
    """One statistic of an answer.

    Attributes:
        question: its record, and that of its groups.
        name: the prefix of its columns.
        columns: keys and its own, with the names that they have in a question of this statistic
            alone.
        names: from these names to the names in the answer.
    """

    question: RecordedQuestion
    name: str
    columns: Columns
    names: Mapping[str, str]

    @property
    def value(self) -> str:
        """The name of the column with its values."""
        return _value_of(self.question, self.columns) or self.name

    @property
    def noise_alone(self) -> list[bool]:
        """For each row, whether noise alone could have made it; empty if there is no interval."""
        value, columns = _value_of(self.question, self.columns), self.columns
        if value is None or "lower" not in columns or "upper" not in columns:
            return []
        ends = zip(*(_numbers(columns[name]) for name in (value, "lower", "upper")), strict=True)
        if self.question.amount:
            return [low <= 0 <= high for _, low, high in ends]
        widest = _WIDEST * _range(self.question)
        return [not (all(map(math.isfinite, row)) and row[2] - row[1] <= widest) for row in ends]

    def readable(self, keys: tuple[str, ...]) -> dict[str, list[object]]:
        """Return its columns for a printed table.

        In rows that noise alone could have made, a quotient is replaced by `TOO_FEW` and the other
        cells are empty; an amount has a mark in a last column.

        Args:
            keys: of the release.
        """
        flags = self.noise_alone
        shown = {name: list[object](cells) for name, cells in self.columns.items()}
        if not any(flags):
            return shown
        if self.question.amount:
            shown[""] = [MARK if flag else "" for flag in flags]
            return shown
        for name, cells in shown.items():
            if name not in _LABELS and name not in keys:
                word = TOO_FEW if name == self.value else ""
                shown[name] = [word if few else x for x, few in zip(cells, flags, strict=True)]
        return shown

    def left_out(self, keys: tuple[str, ...]) -> list[str]:
        """Return the columns whose cells are left out if noise alone could have made them.

        Args:
            keys: of the release.
        """
        if self.question.amount:
            return []
        return [held for own, held in self.names.items() if own not in _LABELS and held not in keys]


def sides_of(
    question: RecordedQuestion, columns: Columns, keys: tuple[str, ...]
) -> tuple[Side, ...]:
    """Return each statistic of an answer; empty for a function, which has coefficients."""
    heads = [
        "_".join([part.statistic, *(column.name for column in part.own)]) for part in question.parts
    ]
    if question.together and all(head in columns for head in heads):
        return _side_by_side(question, columns, keys, heads)
    value = _value_of(question, columns)
    if value is None:
        return ()
    return (Side(question, value, columns, {name: name for name in columns}),)


def _side_by_side(
    question: RecordedQuestion, columns: Columns, keys: tuple[str, ...], heads: Sequence[str]
) -> tuple[Side, ...]:
    """Return the parts of an answer to `table.statistics([...])`, whose columns have prefixes."""
    shared = {name: columns[name] for name in keys}
    names = [name for name in columns if name not in keys]
    starts = [names.index(head) for head in heads]
    found: list[Side] = []
    ends = [*starts[1:], len(names)]
    for part, head, first, last in zip(question.parts, heads, starts, ends, strict=True):
        called = {part.statistic: head}
        called |= {name.removeprefix(f"{head}_"): name for name in names[first + 1 : last]}
        own = {alone: columns[name] for alone, name in called.items()}
        found.append(Side(part, head, shared | own, called))
    return tuple(found)


def _value_of(question: RecordedQuestion, columns: Mapping[str, object]) -> str | None:
    """Return the column with a statistic's values; None for a function, which has coefficients."""
    named = (question.statistic, "estimate", "count")
    return next((name for name in named if name in columns), None)


def _numbers(cells: Sequence[object]) -> list[float]:
    """Return the cells as numbers, with NaN for other types, which a foreign record may contain."""
    return [float(x) if isinstance(x, int | float) and abs(x) < _LARGEST else nan for x in cells]


def _range(question: RecordedQuestion) -> float:
    """Return how far apart two values of a statistic can be; infinite without bounds."""
    x = _width(question.bounds)
    y = math.inf if question.other is None else _width(question.other.bounds)
    match question.statistic:
        case "mean" | "mean_per_unit" | "quantile":
            return x
        case "variance":
            return x**2 / 4
        case "covariance":
            return x * y / 2
        case "correlation":
            return 2.0
        case _:
            return math.inf


def _width(bounds: tuple[Fraction, Fraction] | None) -> float:
    """Return upper - lower, or infinity if they are not known or beyond a float."""
    if bounds is None or max(map(abs, bounds)) >= _LARGEST:
        return math.inf
    return float(bounds[1]) - float(bounds[0])
