"""The columns of an answer for people, and the rounding of numbers to their noise."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from math import isfinite
from typing import Final, cast, final

from neyman.publish import Presented
from neyman.released import Side

__all__ = [
    "DOWN",
    "UP",
    "Column",
    "Head",
    "columns_of_function",
    "columns_of_side",
    "number_of",
    "place_of",
    "rounded",
    "usual_place",
    "written",
]

_NEAREST: Final = ROUND_HALF_EVEN
DOWN: Final = ROUND_FLOOR
UP: Final = ROUND_CEILING

# The figures of a half-width that are kept.
_FIGURES: Final = 2
# The figures of a number without an interval.
_USUAL: Final = 4
# More digits than any float64 has.
_EXACT: Final = Context(prec=800)
_UNITS: Final = {place: Decimal(1).scaleb(min(place, 0)) for place in range(-20, 400)}
# Beyond these, a number is written with an exponent.
_MOST_PLACES: Final = 9
_MOST_WHOLE: Final = 1e18


def place_of(lower: float, upper: float) -> int | None:
    """Return the last significant place of a number with noise, as a power of ten.

    It leaves two figures of half the width of the interval: -1 for 12.3 ± 1.4, 5 for
    343,800,000 ± 7,400,000. None if the interval has no ends, or no width.
    """
    half = (upper - lower) / 2
    if not math.isfinite(half) or half <= 0:
        return None
    return math.floor(math.log10(half)) - _FIGURES + 1


def usual_place(values: Sequence[float]) -> int:
    """Return the last place of numbers without an interval: four figures of the largest."""
    sizes = [abs(value) for value in values if math.isfinite(value)]
    largest = max(sizes, default=0.0)
    if all(size == round(size) for size in sizes):
        return 0
    return min(math.floor(math.log10(largest)) - _USUAL + 1, 0)


def rounded(value: float, place: int, way: str = _NEAREST, *, scale: int = 1) -> Decimal:
    """Round a finite number to a power of ten.

    The number counts as the decimal that it prints as.

    Args:
        value: a finite number.
        place: the place of the last digit.
        way: to the nearest by default; DOWN or UP for the ends of intervals.
        scale: a factor, applied before rounding.
    """
    number = scale * Decimal(repr(value))
    kept = number.scaleb(-place).to_integral_value(rounding=way).scaleb(place)
    # Without digits beyond the place, and without -0.
    return (kept + 0).quantize(_UNITS.get(place) or Decimal(1).scaleb(place), context=_EXACT)


def written(number: Decimal, decimals: int) -> str:
    """Return a rounded number as text, with separated thousands and so many decimals."""
    if decimals > _MOST_PLACES or abs(number) >= _MOST_WHOLE:
        return f"{number.normalize():.{_USUAL}g}" if number else "0"
    return f"{number:,.{decimals}f}"


# Columns that the interval replaces, or that precede the consistent numbers.
_LEFT_OUT: Final = ("stddev", "unbiased", "stddev at risk")
_LABELS: Final = ("term", "probability", "margin")
_FUNCTION_LABELS: Final = ("column", "share below")
_WHOLE: Final = ("count", "at risk")
_INTERVALS: Final = {"": "noise interval", "total_": "interval of noise and sampling"}
_BANDS: Final = {"": "band for noise", "total_": "band for noise and sampling"}


@final
@dataclass(frozen=True, slots=True)
class Head:
    """The head of a column.

    Attributes:
        name: its name in the release, for programs.
        words: its label, for people.
        unit: the unit of measure.
        above: the head that it shares with its neighbours, such as "95 % noise interval".
        key: whether the column labels the rows.
        value: whether it has the answer; in a row that is left out, a word replaces it.
    """

    name: str
    words: str
    unit: str | None = None
    above: str | None = None
    key: bool = False
    value: bool = False

    @property
    def line(self) -> str:
        """The head on one line, for a file."""
        named = self.words if self.above is None else f"{self.above}, {self.words}"
        return named if self.unit is None else f"{named} ({self.unit})"


@final
@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        head: its head.
        cells: texts of a key; otherwise numbers.
        places: the last significant place of each number.
        way: how numbers are rounded.
        scale: a factor: 100 for per cent.
    """

    head: Head
    cells: Sequence[object]
    places: Sequence[int] = ()
    way: str = _NEAREST
    scale: int = 1


def columns_of_side(shown: Presented, side: Side) -> list[Column]:
    """Return the columns of one statistic."""
    release, columns = shown.release, side.columns
    found = [*_keys(shown), *_labels(shown, side)]
    level, known = f"{100 * release.confidence:g} %", {*release.keys, *_LABELS, *_LEFT_OUT}
    numbers = [
        name for name in columns if name not in known and not name.endswith(("lower", "upper"))
    ]
    for name in numbers:
        own = name == side.value
        words = shown.number(side) if own else name.replace("_", " ")
        unit = shown.unit_of(side) if own else _unit_beside(shown, side, name)
        before, said = ("", "") if own else (f"{name}_", f"{words}, ")
        scale = shown.scale if own else 1
        whole = name in _WHOLE or (own and side.question.counts)
        places = _places(columns, name, (f"{before}lower", f"{before}upper"), scale, whole=whole)
        cells: Sequence[object] = columns[name]
        if name == "count" and not own:
            words, left_out = shown.count(side), shown.counts_hidden(side)
            cells = [None if out else x for x, out in zip(cells, left_out, strict=True)]
        found.append(Column(Head(name, words, unit, value=own), cells, places, scale=scale))
        for kind, what in _INTERVALS.items():
            above = f"{said}{level} {what}"
            found += _ends(columns, f"{before}{kind}", above, unit, places, scale)
    return found


def columns_of_function(shown: Presented, read: Mapping[str, Sequence[object]]) -> list[Column]:
    """Return the columns of the values of a function."""
    release, names = shown.release, [name for name in read if name not in _LEFT_OUT]
    level = f"{100 * release.confidence:g} %"
    words = _read_words(shown, release.question.columns)
    found: list[Column] = []
    for place, name in enumerate(names):
        if name in release.keys:
            cells = [shown.word(name, cell) for cell in read[name]]
            found.append(Column(Head(name, shown.label(name), shown.unit(name), key=True), cells))
        elif name in _FUNCTION_LABELS:
            found.append(Column(Head(name, name, key=True), _row_labels(shown, name, read[name])))
        elif not name.endswith(("lower", "upper")):
            own = names[place + 1 : place + 2] == ["lower"] or name == "value"
            said, unit = words.get(name, (name, None))
            percent = own and shown.display.percent
            scale, unit = (100, "%") if percent else (1, unit)
            if own and shown.display.label is not None:
                said = shown.display.label
            places = _places(
                read, name, ("lower", "upper") if own else (), scale, whole=name in _WHOLE
            )
            head = Head(name, said, unit, value=own)
            found.append(Column(head, read[name], places, scale=scale))
            for kind, what in _BANDS.items() if own else ():
                found += _ends(read, kind, f"{level} {what}", unit, places, scale)
    return found


def _row_labels(shown: Presented, name: str, cells: Sequence[object]) -> list[str]:
    """Return the labels of the rows of a density."""
    if name == "column":
        return [shown.label(str(cell)) for cell in cells]
    return [f"{cell:g}" for cell in cast("Sequence[float]", cells)]


def number_of(cell: object) -> float | None:
    """Return a finite number; None for anything else."""
    if not isinstance(cell, int | float) or isinstance(cell, bool):
        return None
    number = float(cell)
    return number if isfinite(number) else None


def _keys(shown: Presented) -> list[Column]:
    return [
        Column(Head(name, shown.label(name), shown.unit(name), key=True), cells)
        for name, cells in shown.named.items()
    ]


def _labels(shown: Presented, side: Side) -> list[Column]:
    """Return the other labels of rows: the term, the quantile, the margin."""
    found: list[Column] = []
    for name in _LABELS:
        cells = side.columns.get(name)
        if cells is None:
            continue
        if name == "probability":
            head, texts = Head(name, "share below", key=True), [f"{cell:g}" for cell in cells]
        elif name == "term":
            head, texts = Head(name, "term", key=True), [shown.term(str(cell)) for cell in cells]
        else:
            head, texts = Head(name, "cells", key=True), shown.margins
        found.append(Column(head, texts))
    return found


def _unit_beside(shown: Presented, side: Side, name: str) -> str | None:
    """Return the unit of measure of a number beside the answer."""
    return (
        None
        if name in _WHOLE
        else shown.unit(side.question.own[0].name if side.question.own else "")
    )


def _places(
    held: Mapping[str, Sequence[object]],
    name: str,
    ends: tuple[str, ...],
    scale: int,
    *,
    whole: bool,
) -> list[int]:
    """Return the last significant place of each number; counts have no decimals."""
    cells = [number_of(cell) for cell in held[name]]
    usual = usual_place([scale * cell for cell in cells if cell is not None])
    places = [0 if whole else usual] * len(cells)
    if len(ends) == 2 and all(end in held for end in ends):
        low, high = ([number_of(cell) for cell in held[end]] for end in ends)
        for row, (first, last) in enumerate(zip(low, high, strict=True)):
            known = None if first is None or last is None else place_of(scale * first, scale * last)
            if known is not None:
                places[row] = max(known, 0) if whole else known
    return places


def _ends(
    held: Mapping[str, Sequence[object]],
    before: str,
    above: str,
    unit: str | None,
    places: Sequence[int],
    scale: int,
) -> list[Column]:
    """Return both ends of an interval; none if all are unknown."""
    low, high = f"{before}lower", f"{before}upper"
    if low not in held or all(number_of(cell) is None for cell in (*held[low], *held[high])):
        return []
    return [
        Column(Head(name, words, unit, above), held[name], places, way, scale)
        for name, words, way in ((low, "from", DOWN), (high, "to", UP))
    ]


def _read_words(shown: Presented, described: Sequence[str]) -> dict[str, tuple[str, str | None]]:
    """Return the labels and units of measure of the values of a function."""
    if not described:
        return {}
    first, last = described[0], described[-1]
    across = shown.label(first), shown.unit(first)
    return {
        "time": across,
        first: across,
        "value": across if len(described) == 1 else ("value", None),
        f"mean of {last}": (f"mean of {shown.label(last)}", shown.unit(last)),
    }
