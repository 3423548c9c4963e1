"""Functions of arrays: questions drawn, and their integers on neighbours, under both relations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from fuzz.check import Moved, exceeded, moved
from fuzz.functions import SIDES, TARGETS, side
from neyman import functional
from neyman.aggregate import Aggregate
from neyman.errors import NeymanError
from neyman.sensitivity import Sensitivity

__all__ = ["ASKS", "ArrayCheck", "ArrayData", "array_checks", "array_reproduction", "array_shrunk"]

_DTYPES = ("f8", "f4", "f2", "i8", "u8", "i1", "?")
_NASTY = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, 2.5, 9.0, 10.0, -9.0, 5e-324, 1e308, -1e308),
    *(np.inf, -np.inf, np.nan, 2.0**53, 2.0**63, 1e-7),
)
# More than are searched for: the integers are then those that noise is added to.
_NINE = [k / 8 for k in range(9)]
_IDS = ("a", "b", "é", "e\u0301", "1", "01", "")


@dataclass(frozen=True)
class ArrayData:
    """Columns of numbers, their types, and whose they are."""

    columns: tuple[tuple[float, ...], ...]
    dtypes: tuple[str, ...]
    ids: tuple[str, ...]

    def arrays(self) -> list[np.ndarray]:
        """Return the columns; what a type cannot hold is cut off, as NumPy does."""
        with np.errstate(all="ignore"):
            pairs = zip(self.columns, self.dtypes, strict=True)
            return [np.array(held, "f8").astype(kind) for held, kind in pairs]

    def units(self, most: int) -> functional.Units:
        return functional.Units(np.array(self.ids or [""], "U2")[: len(self.ids)], most)

    def rows(self, keep: list[int]) -> ArrayData:
        columns = tuple(tuple(held[i] for i in keep) for held in self.columns)
        return ArrayData(columns, self.dtypes, tuple(self.ids[i] for i in keep))


@dataclass(frozen=True)
class ArrayCheck:
    """One question of neighbours, and what is wrong."""

    ask: tuple[str, tuple[tuple[str, Any], ...], str, int]
    data: ArrayData
    other: ArrayData
    moved: Moved
    sensitivity: Sensitivity
    wrong: tuple[str, ...]


def _given(neighbors: str, data: ArrayData, most: int) -> dict[str, Any]:
    units = data.units(most) if most and neighbors == "add_remove" else None
    return {"neighbors": neighbors, "unit": "one person", "name": "fuzz", "units": units}


def _plain(neighbors: str) -> dict[str, Any]:
    return {"neighbors": neighbors, "unit": "one person", "name": "fuzz"}


def _density(data: ArrayData, neighbors: str, most: int, *, over: Any, h: Any, target: str) -> Any:
    (x, *_) = data.arrays()
    given = _given(neighbors, data, most)
    return functional.density(x, domain=side(*over), bandwidth=h, target=TARGETS[target], **given)


def _field(data: ArrayData, neighbors: str, most: int, *, over: Any, h: Any) -> Any:
    xy = np.column_stack([column.astype("f8") for column in data.arrays()[:2]])
    box = functional.Box(side(*over), functional.Interval(0, 8, outside="clip"))
    return functional.density(xy, domain=box, bandwidth=(h, 0.8), **_given(neighbors, data, most))


def _survival(data: ArrayData, neighbors: str, most: int, *, h: Any) -> Any:  # noqa: ARG001
    time, observed = data.arrays()[:2]
    return functional.survival(time, observed, horizon=9, bandwidth=h, **_plain(neighbors))


def _regression(data: ArrayData, neighbors: str, most: int, *, over: Any, h: Any) -> Any:
    x, y = data.arrays()[:2]
    response = functional.Interval(-1, 2, outside="clip")
    return functional.regression(
        x, y, domain=side(*over), bandwidth=h, response=response, **_given(neighbors, data, most)
    )


def _quantiles(data: ArrayData, neighbors: str, most: int, *, grid: Any) -> Any:  # noqa: ARG001
    given = _given("add_remove", data, most)
    del given["neighbors"]
    return functional.quantiles(data.arrays()[0], _NINE, lower=0, upper=9, grid=grid, **given)


def _density_at(data: ArrayData, neighbors: str, most: int, *, h: Any) -> Any:  # noqa: ARG001
    domain = functional.Interval(0, 9, outside="clip")
    given = _plain(neighbors)
    return functional.density_at(
        data.arrays()[0], [0.5, 3, 4.5], domain=domain, bandwidth=h, **given
    )


def _curve_mean(data: ArrayData, neighbors: str, most: int, *, radius: Any) -> Any:  # noqa: ARG001
    curves = np.column_stack([column.astype("f8") for column in data.arrays()])
    kernel = functional.SquaredExponential(2)
    given = _plain(neighbors)
    return functional.curve_mean(
        curves, [0, 1, 2], kernel=kernel, nugget=0.01, radius=radius, **given
    )


def _machine(data: ArrayData, neighbors: str, most: int, *, loss: str) -> Any:  # noqa: ARG001
    if neighbors == "add_remove":
        raise NeymanError("kernel machines are of a public number of records")
    x, y = data.arrays()[:2]
    return functional.kernel_machine(
        x,
        y,
        [0.0, 1.0, 5.0],
        loss={"huber": functional.Huber(0.5), "logistic": functional.Logistic()}[loss],
        regularization=2,
        kernel=functional.SquaredExponential(1),
        unit="one person",
        name="fuzz",
    )


ASKS: Mapping[str, Callable[..., Aggregate]] = {
    "density": _density,
    "field": _field,
    "survival": _survival,
    "regression": _regression,
    "quantiles": _quantiles,
    "density_at": _density_at,
    "curve_mean": _curve_mean,
    "kernel_machine": _machine,
}


def array_checks(draw: Random, number: int) -> Iterator[ArrayCheck]:
    """Draw arrays, questions and neighbours until there are so many checks."""
    done = 0
    while done < number:
        data = _data(draw)
        ask = _ask(draw)
        for _ in range(3):
            other = _neighbour(draw, data, ask[2], ask[3])
            check = None if other is None else checked(ask, data, other)
            if check is not None:
                yield check
                done += 1


def checked(ask: Any, data: ArrayData, other: ArrayData) -> ArrayCheck | None:
    """Compare; None where the question is refused of both."""
    name, given, neighbors, most = ask
    asked = [_question(name, part, neighbors, most, dict(given)) for part in (data, other)]
    first, second = asked
    if first is None and second is None:
        return None
    if first is None or second is None:
        one = first or second
        assert one is not None
        # An array of no records is refused where their number is public.
        return ArrayCheck(ask, data, other, Moved(0, 0, 0, 0), one.sensitivity, ("refused of one",))
    with np.errstate(all="ignore"):
        found = moved(first, {None: first.compute()}, {None: second.compute()})
    bad = exceeded(first.sensitivity, found)
    if first.query != second.query or first.sensitivity != second.sensitivity:
        bad.append("query or sensitivity depend on the values")
    return ArrayCheck(ask, data, other, found, first.sensitivity, tuple(bad))


def _question(name: str, data: ArrayData, neighbors: str, most: int, given: Any) -> Any:
    try:
        return ASKS[name](data, neighbors, most, **given)
    except NeymanError:
        return None


def _data(draw: Random) -> ArrayData:
    size = draw.choice([1, 1, 2, 5, 20])
    pool = draw.sample(_NASTY, 6)
    columns = tuple(
        tuple(
            draw.choice(pool) if draw.random() < 0.5 else draw.uniform(-2, 11) for _ in range(size)
        )
        for _ in range(3)
    )
    ids = tuple(draw.choice(_IDS[: draw.choice([1, 2, 7])]) for _ in range(size))
    return ArrayData(columns, tuple(draw.choice(_DTYPES) for _ in columns), ids)


def _ask(draw: Random) -> Any:
    name = draw.choice(sorted(ASKS))
    over = (draw.choice(SIDES), draw.choice([0, -1]), draw.choice([9, 10]))
    h = draw.choice([0.1, 0.3, 0.8])
    given = {
        "density": {"over": over, "h": h, "target": draw.choice(sorted(TARGETS))},
        "field": {"over": over, "h": 0.8},
        "survival": {"h": h},
        "regression": {"over": over, "h": h},
        "quantiles": {"grid": draw.choice([0.5, 1, 3])},
        "density_at": {"h": draw.choice([0.3, 2])},
        "curve_mean": {"radius": draw.choice([0.5, 3])},
        "kernel_machine": {"loss": draw.choice(["huber", "logistic"])},
    }[name]
    units = (
        draw.choice([0, 0, 1, 3]) if name in ("density", "field", "regression", "quantiles") else 0
    )
    neighbors = "add_remove" if name == "quantiles" else draw.choice(["add_remove", "replace_one"])
    return name, tuple(given.items()), neighbors, units


def _neighbour(draw: Random, data: ArrayData, neighbors: str, units: int) -> ArrayData | None:
    size = len(data.ids)
    at = draw.randrange(size)
    if neighbors == "add_remove":
        kept = [i for i in range(size) if (data.ids[i] != data.ids[at] if units else i != at)]
        return data.rows(kept)
    columns = []
    for held in data.columns:
        new = draw.choice([draw.choice(_NASTY), draw.uniform(-2, 11)])
        columns.append((*held[:at], new, *held[at + 1 :]))
    return ArrayData(tuple(columns), data.dtypes, data.ids)


def array_shrunk(check: ArrayCheck) -> ArrayCheck:
    """Leave out records that both have, while it stays wrong."""
    if check.ask[2] == "add_remove":
        return check
    place = 0
    while place < len(check.data.ids) and len(check.data.ids) > 1:
        kept = [i for i in range(len(check.data.ids)) if i != place]
        pair = check.data.rows(kept), check.other.rows(kept)
        less = checked(check.ask, *pair)
        if less is not None and less.wrong:
            check = less
        else:
            place += 1
    return check


def array_reproduction(check: ArrayCheck) -> str:
    """Write a failure as Python that needs no seed."""
    return (
        "; ".join(check.wrong) + "\n\nfrom numpy import inf, nan\nfrom fuzz.arrays import *\n"
        "from fuzz.arrays import checked\n\n"
        f"print(checked({check.ask!r},\n    {check.data!r},\n    {check.other!r}))"
    )
