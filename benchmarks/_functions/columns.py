"""Columns with a known law, as tables have them: smooth, ending abruptly, clipped, heaped."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np
from scipy import special

__all__ = ["COLUMNS", "ENDS", "HEAPED", "MARRON_WAND", "WIDE", "Column", "Heap"]

Array = np.ndarray
Draw = Callable[[int, np.random.Generator], Array]


@final
@dataclass(frozen=True, slots=True)
class Column:
    """A law and the domain that is declared for it; what lies outside is counted apart."""

    name: str
    low: float
    high: float
    draw: Draw
    cdf: Callable[[Array], Array]

    def masses(self, cells: int) -> Array:
        """Return the probabilities of equal cells, of values inside the domain."""
        found = np.diff(self.cdf(np.linspace(self.low, self.high, cells + 1)))
        return found / found.sum()

    def on(self, low: float, high: float, name: str) -> "Column":
        """Return the same law on another domain."""
        return replace(self, low=low, high=high, name=name)


@final
@dataclass(frozen=True, slots=True)
class Heap:
    """A law on a grid of places, or partly on one: values as a table holds them."""

    name: str
    low: float
    high: float
    step: float
    draw: Draw
    masses: Array
    """Of the places low, low + step, ..., high."""


def _mixture(name: str, parts: Sequence[tuple[float, float, float]]) -> Column:
    weights, means, deviations = np.array(parts, float).T
    weights = weights / weights.sum()

    def draw(count: int, random: np.random.Generator) -> Array:
        chosen = random.choice(len(weights), count, p=weights)
        return means[chosen] + deviations[chosen] * random.standard_normal(count)

    def cdf(x: Array) -> Array:
        return np.asarray(
            sum(
                w * special.ndtr((x - m) / s)
                for w, m, s in zip(weights, means, deviations, strict=True)
            )
        )

    return Column(name, -4.0, 4.0, draw, cdf)


# Marron and Wand, *Exact mean integrated squared error*, Annals of Statistics 1992.
MARRON_WAND: Final = (
    _mixture("normal", [(1, 0, 1)]),
    _mixture("skewed", [(0.2, 0, 1), (0.2, 0.5, 2 / 3), (0.6, 13 / 12, 5 / 9)]),
    _mixture("strongly skewed", [(1, 3 * ((2 / 3) ** k - 1), (2 / 3) ** k) for k in range(8)]),
    _mixture("kurtotic", [(2, 0, 1), (1, 0, 0.1)]),
    _mixture("outlier", [(0.1, 0, 1), (0.9, 0, 0.1)]),
    _mixture("bimodal", [(1, -1, 2 / 3), (1, 1, 2 / 3)]),
    _mixture("separated bimodal", [(1, -1.5, 0.5), (1, 1.5, 0.5)]),
    _mixture("skewed bimodal", [(0.75, 0, 1), (0.25, 1.5, 1 / 3)]),
    _mixture("trimodal", [(0.45, -1.2, 0.6), (0.45, 1.2, 0.6), (0.1, 0, 0.25)]),
    _mixture("claw", [(0.5, 0, 1), *((0.1, k / 2 - 1, 0.1) for k in range(5))]),
    _mixture(
        "double claw",
        [(0.49, -1, 2 / 3), (0.49, 1, 2 / 3), *((1 / 350, (k - 3) / 2, 0.01) for k in range(7))],
    ),
    _mixture(
        "asymmetric claw",
        [(0.5, 0, 1), *((2.0 ** (1 - k) / 31, k + 0.5, 2.0**-k / 10) for k in range(-2, 3))],
    ),
    _mixture(
        "asymmetric double claw",
        [
            *((0.46, m, 2 / 3) for m in (-1, 1)),
            *((1 / 300, -k / 2, 0.01) for k in range(1, 4)),
            *((7 / 300, k / 2, 0.07) for k in range(1, 4)),
        ],
    ),
    _mixture(
        "comb",
        [(2.0 ** (5 - k), (65 - 96 * 0.5**k) / 21, 32 / 63 / 2**k) for k in range(6)],
    ),
    _mixture(
        "discrete comb",
        [
            *((2 / 7, (12 * k - 15) / 7, 2 / 7) for k in range(3)),
            *((1 / 21, 2 * k / 7, 1 / 21) for k in range(8, 11)),
        ],
    ),
)
_NORMAL: Final = MARRON_WAND[0]
_T2: Final = Column(
    "t2 on ±10",
    -10.0,
    10.0,
    lambda n, random: random.standard_t(2, n),
    lambda x: 0.5 + x / (2 * np.sqrt(2 + x * x)),
)
# Not 0 at an end, or with values beyond one.
ENDS: Final = (
    Column(
        "exponential",
        0.0,
        8.0,
        lambda n, random: random.exponential(size=n),
        lambda x: -np.expm1(-np.maximum(x, 0)),
    ),
    Column("uniform", 0.0, 1.0, lambda n, random: random.random(n), lambda x: np.clip(x, 0, 1)),
    Column(
        "Beta(1, 3)",
        0.0,
        1.0,
        lambda n, random: random.beta(1, 3, n),
        lambda x: 1 - (1 - np.clip(x, 0, 1)) ** 3,
    ),
    _NORMAL.on(-2.33, 2.33, "normal, 2 % outside"),
    _NORMAL.on(-1.5, 1.5, "normal, 13 % outside"),
    _T2.on(-4.0, 4.0, "t2, 6 % outside"),
)
_PARETO: Final = Column(
    "Pareto(2) on [1, 20]",
    1.0,
    20.0,
    lambda n, random: random.pareto(2, n) + 1,
    lambda x: 1 - np.maximum(x, 1.0) ** -2.0,
)
COLUMNS: Final = {column.name: column for column in (*MARRON_WAND, *ENDS, _T2, _PARETO)}


def _widened(column: Column, factor: int) -> Column:
    low, high = (column.low * factor, column.high * factor)
    return column.on(low, high, f"{column.name}, {factor} times too wide")


_BUMPS: Final = _mixture("two bumps on [0, 2000]", [(1, 700, 0.5), (1, 705, 1)])
_BY_NAME: Final = COLUMNS | {"t2": _T2.on(-4, 4, "t2")}
WIDE: Final = {
    column.name: column
    for column in (
        *(
            _widened(_BY_NAME[name], factor)
            for factor in (25, 250)
            for name in ("normal", "bimodal", "claw", "exponential", "t2")
        ),
        _BUMPS.on(0, 2000, _BUMPS.name),
    )
}


def _whole(name: str, low: float, high: float, step: float, of: Column, favoured: int) -> Heap:
    """Return a law rounded to a grid; a third of the values moved to every so manieth place."""
    places = low + step * np.arange(round((high - low) / step) + 1)
    edges = np.concatenate([[-math.inf], (places[:-1] + places[1:]) / 2, [math.inf]])
    with np.errstate(invalid="ignore"):
        masses = np.diff(of.cdf(edges))
    near = np.clip(np.rint(np.arange(places.size) / favoured) * favoured, 0, places.size - 1)
    moved = np.bincount(near.astype(int), masses, places.size)
    share = 1 / 3 if favoured > 1 else 0.0
    masses = (1 - share) * masses + share * moved
    masses /= masses.sum()

    def draw(count: int, random: np.random.Generator) -> Array:
        return random.choice(places, count, p=masses)

    return Heap(name, low, high, step, draw, masses)


def _salaries() -> Heap:
    """Return values of which 60 % are whole thousands, and the others anything."""
    law = Column(
        "",
        0.0,
        150.0,
        lambda n, random: random.gamma(4, 11, n),
        lambda x: special.gammainc(4, np.clip(x, 0, np.inf) / 11),
    )
    rounded = _whole("", 0.0, 150.0, 1.0, law, 5)

    def draw(count: int, random: np.random.Generator) -> Array:
        whole = random.random(count) < 0.6
        return np.where(whole, rounded.draw(count, random), law.draw(count, random))

    edges = np.concatenate([[-math.inf], np.arange(0.5, 150), [math.inf]])
    masses = 0.6 * rounded.masses + 0.4 * np.diff(law.cdf(edges))
    return Heap("salaries, 60 % rounded", 0.0, 150.0, 1.0, draw, masses / masses.sum())


_AGES = Column(
    "",
    18.0,
    90.0,
    lambda n, random: random.normal(45, 14, n),
    lambda x: special.ndtr((x - 45) / 14),
)
_DELAYS = Column(
    "",
    -60.0,
    180.0,
    lambda n, random: random.gamma(4, 9, n) - 20,
    lambda x: special.gammainc(4, np.maximum(x + 20, 0) / 9),
)
HEAPED: Final = {
    heap.name: heap
    for heap in (
        _whole("ages in whole years", 18.0, 90.0, 1.0, _AGES, 1),
        _whole("delays in whole minutes", -60.0, 180.0, 1.0, _DELAYS, 1),
        _whole("minutes, a third at every fifth", -60.0, 180.0, 1.0, _DELAYS, 5),
        _salaries(),
    )
}
