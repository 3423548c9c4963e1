"""One module an auditor: `ANSWERS`, by the kinds of `benchmarks.audits`; and the scores of all.

Each runs in a process of its own, as accountants do. NumPy alone draws the scores, so that the same
seed gives every auditor the same ones.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks._accountants import Answer

__all__ = ["LEVEL", "Scores", "answers", "guesses"]

LEVEL = 0.05


class Scores(NamedTuple):
    """Scores of canaries, and their coins."""

    scores: NDArray[np.float64]
    coins: NDArray[np.bool_]

    @property
    def inside(self) -> NDArray[np.float64]:
        """Of the canaries that took part."""
        return self.scores[self.coins]

    @property
    def outside(self) -> NDArray[np.float64]:
        """Of the others."""
        return self.scores[~self.coins]


def _normal(draw: np.random.Generator, shift: NDArray[np.float64]) -> NDArray[np.float64]:
    return draw.normal(shift, 1)


def _laplace(draw: np.random.Generator, shift: NDArray[np.float64]) -> NDArray[np.float64]:
    return draw.laplace(shift, 1)


def _response(draw: np.random.Generator, shift: NDArray[np.float64]) -> NDArray[np.float64]:
    kept = draw.random(shift.size) < np.e / (1 + np.e)
    return np.where(kept, shift > 0, shift <= 0).astype(np.float64)


LAWS = {"normal": _normal, "laplace": _laplace, "response": _response}


def batches(
    law: str, shift: float, n: int, first: int, repetitions: int, coins: bool
) -> Iterator[Scores]:
    """Yield scores of 2n canaries: n are in, or each by a coin of its own."""
    for seed in range(first, first + repetitions):
        draw = np.random.default_rng([seed, n])
        included = draw.random(2 * n) < 0.5 if coins else np.arange(2 * n) < n
        yield Scores(LAWS[law](draw, shift * included), included)


def answers(
    kinds: dict[str, Callable[[Scores, float], float]],
) -> dict[str, Callable[..., Answer]]:
    """Return what answers whole batches, from what answers one; nan where it fails."""

    def of(kind: str) -> Callable[..., Answer]:
        def answer(
            law: str, shift: float, n: int, first: int, repetitions: int, delta: float
        ) -> Answer:
            coins = kind.startswith("one run")
            drawn = batches(law, shift, n, first, repetitions, coins)
            return Answer([_tried(kinds[kind], one, delta) for one in drawn])

        return answer

    return {kind: of(kind) for kind in kinds}


def _tried(act: Callable[[Scores, float], float], scores: Scores, delta: float) -> float:
    try:
        return float(act(scores, delta))
    except (ValueError, ArithmeticError):
        return float("nan")


def guesses(scores: Scores) -> tuple[int, int]:
    """Return how many guesses are made, and right, where the upper half of all is called in."""
    m = scores.scores.size
    order = np.argsort(scores.scores, kind="stable")
    called = np.zeros(m, dtype=np.bool_)
    called[order[m // 2 :]] = True
    return m, int(np.sum(called == scores.coins))
