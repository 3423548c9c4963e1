"""Runs of a mechanism on two inputs, as many as a budget of runs or of time allows."""

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.random import Generator

from neyman.arguments import got, whole
from neyman.audit._checks import is_number
from neyman.audit._outputs import Output, Outputs, read_error, read_output
from neyman.errors import InvalidParameter

__all__ = ["Budget", "Part", "Run", "Runs"]

Run = Callable[..., object]
Densities = Callable[[Any], float]

LEAST: Final = 20
"""Runs on each input, in any part of an audit."""

_LEAST_RUNS, _MOST_RUNS = 100, 10**9
_LEAST_SECONDS, _MOST_TESTED = 0.01, 10**6
# Numbers in outputs that are kept.
_KEPT: Final = 2**24
# The last part also works out scores, and the exact test takes seconds for each run, about.
_SLOWER, _EXACT = 1.2, 3e-5


class Part(NamedTuple):
    """How far a part of an audit goes.

    Attributes:
        runs: on each input, at most.
        until: a time of `perf_counter`, that ends the part once there are `LEAST` runs.
    """

    runs: int
    until: float = math.inf


@final
@dataclass(frozen=True, slots=True)
class Budget:
    """What an audit may take: as many runs on each input, or about as much time.

    Attributes:
        draws: runs on each input; None where time counts.
        seconds: from `begun` on, where there is no number of runs.
        begun: when the audit began.
    """

    draws: int | None
    seconds: float | None
    begun: float = field(default_factory=perf_counter)

    def __post_init__(self) -> None:
        """Refuse an invalid budget.

        Raises:
            InvalidParameter: if there is none, or two, or a number is outside.
        """
        if (self.seconds is None) == (self.draws is None):
            raise InvalidParameter(
                "an audit must have either seconds or draws; got "
                f"{'neither' if self.draws is None else 'both'}. Write seconds=10 for about ten "
                "seconds, or draws=10_000 for that many runs on each input"
            )
        if self.draws is not None:
            whole("draws", self.draws, _LEAST_RUNS, _MOST_RUNS)
        elif not is_number(self.seconds) or not _LEAST_SECONDS <= self.seconds < math.inf:
            raise InvalidParameter(
                f"seconds must be at least {_LEAST_SECONDS} and finite; got {got(self.seconds)}. "
                "Write the time that the audit may take, such as 10"
            )

    @property
    def stops(self) -> bool:
        """Whether less is better, where it is enough."""
        return self.draws is None

    def part(self, start: float, share: float) -> Part:
        """Return the part that begins after a share `start` of the budget and takes `share`."""
        if self.draws is not None:
            return Part(max(LEAST, round(share * self.draws)))
        return Part(_MOST_RUNS, self.begun + (start + share) * (self.seconds or 0.0))

    def rest(self, taken: int, each: float) -> int:
        """Return how many runs on each input are left, fixed before the first of them.

        Args:
            taken: how many there were.
            each: seconds that a run on both inputs takes.
        """
        if self.draws is not None:
            return max(LEAST, self.draws - taken)
        left = self.begun + (self.seconds or 0.0) - perf_counter()
        return min(_MOST_TESTED, max(LEAST, int(left / (_SLOWER * each + _EXACT))))


@final
@dataclass(slots=True, eq=False)
class Runs:
    """Runs on two inputs, in random order, each input with random numbers of its own.

    Attributes:
        run: the mechanism.
        inputs: first and second.
        densities: the log-likelihood ratio of an output, where it is known.
        seeds: of the order and of both streams.
    """

    run: Run
    inputs: tuple[object, object]
    densities: Densities | None
    seeds: np.random.SeedSequence
    _order: Generator = field(init=False)
    _streams: tuple[Mapping[str, Generator], Mapping[str, Generator]] = field(init=False)

    def __post_init__(self) -> None:
        """Make the streams; a run takes one if it has a parameter named `rng`."""
        draws = [np.random.default_rng(seed) for seed in self.seeds.spawn(3)]
        self._order = draws[0]
        takes = _takes_rng(self.run)
        first, second = ({"rng": draw} if takes else {} for draw in draws[1:])
        self._streams = (first, second)

    def outputs(self, part: Part) -> tuple[Outputs, Outputs]:
        """Run as often as a part of the audit says."""
        found: tuple[list[Output], list[Output]] = ([], [])
        kept = 0
        while len(found[0]) < part.runs:
            first = int(self._order.integers(2))
            for side in (first, 1 - first):
                found[side].append(self._one(side))
                kept += len(found[side][-1].labels)
            if len(found[0]) >= LEAST and (perf_counter() >= part.until or kept > _KEPT):
                break
        return Outputs(found[0]), Outputs(found[1])

    def _one(self, side: int) -> Output:
        try:
            value = self.run(self.inputs[side], **self._streams[side])
        except Exception as error:
            # Whatever a mechanism raises is an output of it.
            return read_error(error)
        output = read_output(value)
        if self.densities is None:
            return output
        ratio = self.densities(value)
        if not is_number(ratio):
            raise InvalidParameter(
                f"likelihood_ratio must return a number; got {got(ratio)}. Return the log of the "
                "second density over the first"
            )
        return output._replace(ratio=float(ratio))


def _takes_rng(run: Run) -> bool:
    try:
        return "rng" in inspect.signature(run).parameters
    except (TypeError, ValueError):
        return False
