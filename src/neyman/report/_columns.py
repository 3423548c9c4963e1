"""The columns of an answer as people read them, before they are rounded."""

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

# Figures of a half-width that are kept: its noise is in the second one.
_FIGURES: Final = 2
# Figures of what has no interval of its own.
_USUAL: Final = 4
# A float64 in full has fewer digits.
_EXACT: Final = Context(prec=800)
_UNITS: Final = {place: Decimal(1).scaleb(min(place, 0)) for place in range(-20, 400)}
# Places after the point from which on, and digits before it up to which, a number is written out.
_MOST_PLACES: Final = 9
_MOST_WHOLE: Final = 1e18


def place_of(lower: float, upper: float) -> int | None:
    """Return the last place that the noise leaves, as a power of ten.

    Two figures of half the width of the interval: -1 of 12.3 ± 1.4, 5 of 343,800,000 ± 7,400,000.
    None where the interval has no ends, or no width.
    """
    half = (upper - lower) / 2
    if not math.isfinite(half) or half <= 0:
        return None
    return math.floor(math.log10(half)) - _FIGURES + 1


def usual_place(values: Sequence[float]) -> int:
    """Return the last place of numbers that have no interval: four figures of the largest."""
    sizes = [abs(value) for value in values if math.isfinite(value)]
    largest = max(sizes, default=0.0)
    if all(size == round(size) for size in sizes):
        return 0
    return min(math.floor(math.log10(largest)) - _USUAL + 1, 0)


def rounded(value: float, place: int, way: str = _NEAREST, *, scale: int = 1) -> Decimal:
    """Return a finite number to a power of ten.

    It is taken for the decimals that it prints as: 6.2 is not a little more than 6.2.

    Args:
        value: finite.
        place: of the last digit that is kept.
        way: to the nearest, or for the ends of intervals DOWN or UP, so that they lose nothing.
        scale: by how much it is multiplied before.
    """
    number = scale * Decimal(repr(value))
    kept = number.scaleb(-place).to_integral_value(rounding=way).scaleb(place)
    # No digits after the point beyond the place, and no -0.
    return (kept + 0).quantize(_UNITS.get(place) or Decimal(1).scaleb(place), context=_EXACT)


def written(number: Decimal, decimals: int) -> str:
    """Write a rounded number for people, with thousands apart, and so many decimals."""
    if decimals > _MOST_PLACES or abs(number) >= _MOST_WHOLE:
        return f"{number.normalize():.{_USUAL}g}" if number else "0"
    return f"{number:,.{decimals}f}"


# Said by the interval beside it, or what an answer was before it was made consistent.
_LEFT_OUT: Final = ("stddev", "unbiased", "stddev at risk")
_LABELS: Final = ("term", "probability", "margin")
_TOLD: Final = ("column", "share below")
_WHOLE: Final = ("count", "at risk")
_INTERVALS: Final = {"": "noise interval", "total_": "interval of noise and sampling"}
_BANDS: Final = {"": "band for noise", "total_": "band for noise and sampling"}


@final
@dataclass(frozen=True, slots=True)
class Head:
    """Of a column.

    Attributes:
        name: in the release; for programs.
        words: for people.
        unit: of measure.
        above: what it stands under with its neighbours, such as "95 % noise interval".
        key: whether it says what a row is of, in words.
        value: whether it is what was asked for; where a row is left out, words stand here.
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
        head: of it.
        cells: texts of a key; else numbers.
        places: the last place of each number that its noise leaves.
        way: in which it is rounded.
        scale: by how much it is multiplied: 100 in percent.
    """

    head: Head
    cells: Sequence[object]
    places: Sequence[int] = ()
    way: str = _NEAREST
    scale: int = 1


def columns_of_side(shown: Presented, side: Side) -> list[Column]:
    """Return the columns of one statistic."""
    release, held = shown.release, side.columns
    found = [*_keys(shown), *_labels(shown, side)]
    level, known = f"{100 * release.confidence:g} %", {*release.keys, *_LABELS, *_LEFT_OUT}
    numbers = [name for name in held if name not in known and not name.endswith(("lower", "upper"))]
    for name in numbers:
        own = name == side.value
        words = shown.number(side) if own else name.replace("_", " ")
        unit = shown.unit_of(side) if own else _unit_beside(shown, side, name)
        before, said = ("", "") if own else (f"{name}_", f"{words}, ")
        scale = shown.scale if own else 1
        whole = name in _WHOLE or (own and side.question.counts)
        places = _places(held, name, (f"{before}lower", f"{before}upper"), scale, whole=whole)
        cells: Sequence[object] = held[name]
        if name == "count" and not own:
            words, left_out = shown.count(side), shown.counts_hidden(side)
            cells = [None if out else x for x, out in zip(cells, left_out, strict=True)]
        found.append(Column(Head(name, words, unit, value=own), cells, places, scale=scale))
        for kind, what in _INTERVALS.items():
            above = f"{said}{level} {what}"
            found += _ends(held, f"{before}{kind}", above, unit, places, scale)
    return found


def columns_of_function(shown: Presented, read: Mapping[str, Sequence[object]]) -> list[Column]:
    """Return the columns of what is read off a function."""
    release, names = shown.release, [name for name in read if name not in _LEFT_OUT]
    level = f"{100 * release.confidence:g} %"
    words = _read_words(shown, release.question.columns)
    found: list[Column] = []
    for place, name in enumerate(names):
        if name in release.keys:
            cells = [shown.word(name, cell) for cell in read[name]]
            found.append(Column(Head(name, shown.label(name), shown.unit(name), key=True), cells))
        elif name in _TOLD:
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
    """Return what a row of what is read off a density is of, in words."""
    if name == "column":
        return [shown.label(str(cell)) for cell in cells]
    return [f"{cell:g}" for cell in cast("Sequence[float]", cells)]


def number_of(cell: object) -> float | None:
    """Return a finite number; None of anything else."""
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
    """Return what else says what a row is of: the term, the quantile, the margin."""
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
    """Return the unit of measure of a number beside the one that was asked for."""
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
    """Return the last place of each number that its noise leaves; of a count no decimals."""
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
    """Return both ends of an interval; none where none is known."""
    low, high = f"{before}lower", f"{before}upper"
    if low not in held or all(number_of(cell) is None for cell in (*held[low], *held[high])):
        return []
    return [
        Column(Head(name, words, unit, above), held[name], places, way, scale)
        for name, words, way in ((low, "from", DOWN), (high, "to", UP))
    ]


def _read_words(shown: Presented, described: Sequence[str]) -> dict[str, tuple[str, str | None]]:
    """Return what the numbers read off a function are called, and their units of measure."""
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
