"""A budget divided over a batch, so that every answer is as exact as it was asked to be."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, final

from neyman.aggregate import Aggregate, IntArray
from neyman.arguments import check_type, whole
from neyman.errors import InvalidParameter
from neyman.mechanisms import Gaussian, Laplace, Mechanism
from neyman.numerics import Real, exact, text
from neyman.publish._preview import SIZES, Preview, preview
from neyman.sensitivity import Sensitivity

__all__ = ["Fitted", "Wish", "fit"]

# Shares are so many parts of the budget.
_FINE: Final = 2**40
_ROUNDS: Final = 8


@final
@dataclass(frozen=True, slots=True)
class _Kind:
    """A noise, and what adds up of it: half-widths go as share^(-1/power)."""

    make: Callable[[Sensitivity, Fraction], Mechanism]
    power: int


@final
@dataclass(frozen=True, slots=True)
class Wish:
    """A question, and how exact its answer should be beside the others.

    Attributes:
        aggregate: the question.
        half_width: wanted, of the noise interval of one of its numbers, in that number's units.
        number: which, as `preview` calls it; None for the first.
    """

    aggregate: Aggregate
    half_width: Real
    number: str | None = None


@final
@dataclass(frozen=True, slots=True)
class Fitted:
    """Noise for every question of a batch, which together spend a budget.

    Attributes:
        questions: each with its noise, in order: what `release_batch` takes.
        factor: the half-widths are so many times those that were wanted; at most 1 where the
            budget is enough for them.
        previews: of each question.
    """

    questions: tuple[tuple[Aggregate, Mechanism], ...]
    factor: float
    previews: tuple[Preview, ...]

    def __str__(self) -> str:
        enough = "the budget is enough" if self.factor <= 1 else "the budget is not enough"
        return "\n".join(
            [
                f"half-widths are {self.factor:.4g} times those wanted: {enough}",
                *map(str, self.previews),
            ]
        )


def fit(
    wishes: Sequence[Wish],
    *,
    mu: Real | None = None,
    epsilon: Real | None = None,
    records: int | None = None,
    confidence: float = 0.95,
) -> Fitted:
    """Divide a budget over a batch so that all half-widths are the same multiple of those wanted.

    With Gaussian noise the squares of the mu of the questions add up to mu^2, with Laplace noise
    their epsilon add up to epsilon. A question of sensitivity D whose interval is c sigma wide at
    noise of scale sigma, and should be t w wide, gets

        mu_i^2 = (D_i c_i / (t w_i))^2,   or   epsilon_i = D_i c_i / (t w_i)

    No row is read, and nothing is charged.

    Args:
        wishes: at least one.
        mu: the budget, for Gaussian noise; or
        epsilon: the budget, for Laplace noise.
        records: a public size of a group, for which intervals are computed where they depend on
            it, as those of means do; not needed where none of those wished for does.
        confidence: of the intervals, in (0, 1).

    Raises:
        InvalidParameter: if there is no wish, not one budget, a half-width is not positive, a
            number is not among those of its question, has no interval at such a size, or depends on
            a size that is not given.
        SensitivityMismatch: if a question does not bound the norm that the noise needs.

    Error: the batch never costs more than the budget, and less by at most 1e-11 of it a question.
        Half-widths are those of `preview`; they are the same multiple but for their rounding to
        whole steps.
    """
    check_type("wishes", wishes, Sequence, "a list of publish.Wish(question, half_width)")
    for wish in wishes:
        check_type("a wish", wish, Wish, "publish.Wish(question, half_width)")
    if not wishes:
        raise InvalidParameter("a batch of no wishes was given; write at least one Wish")
    sizes = SIZES if records is None else [whole("records", records, 1, 2**53)]
    kind, budget = _budget(mu, epsilon)
    wanted = [_wanted(wish) for wish in wishes]
    settled = [_settled(wish.aggregate, sizes) for wish in wishes]
    shares = [budget / len(wishes)] * len(wishes)
    best: Fitted | None = None
    for _ in range(_ROUNDS):
        drawn = [kind.make(w.aggregate.sensitivity, s) for w, s in zip(wishes, shares, strict=True)]
        found = [
            preview(question, noise, records=sizes, confidence=confidence)
            for question, noise in zip(settled, drawn, strict=True)
        ]
        times = [
            _half_width(wish, seen, records) / width
            for wish, seen, width in zip(wishes, found, wanted, strict=True)
        ]
        if best is None or max(times) < best.factor:
            pairs = zip((wish.aggregate for wish in wishes), drawn, strict=True)
            best = Fitted(tuple(pairs), max(times), tuple(found))
        shares = _divided(shares, times, kind.power, budget)
    assert best is not None
    return best


def _budget(mu: Real | None, epsilon: Real | None) -> tuple[_Kind, Fraction]:
    if mu is not None and epsilon is None:
        return _GAUSSIAN, _positive(mu, "mu") ** 2
    if epsilon is not None and mu is None:
        return _LAPLACE, _positive(epsilon, "epsilon")
    raise InvalidParameter(
        f"a budget of mu={mu}, epsilon={epsilon} was given; write mu for Gaussian noise or epsilon "
        "for Laplace noise, one of them"
    )


def _positive(value: Real, name: str) -> Fraction:
    number = exact(value, name)
    if number <= 0:
        raise InvalidParameter(f"{name}={text(number)} is not positive; write a positive number")
    return number


def _settled(question: Aggregate, sizes: Sequence[int]) -> Aggregate:
    """Make up the integers of a question's preview once for all noises."""
    if question.imagined is None:
        return question
    integers = question.imagined(sizes)

    def again(_sizes: Sequence[int]) -> list[IntArray]:
        return integers

    return replace(question, imagined=again)


def _wanted(wish: Wish) -> float:
    return float(_positive(wish.half_width, "half_width"))


def _half_width(wish: Wish, seen: Preview, size: int | None) -> float:
    numbers = [number for number in seen.numbers if wish.number in (None, number.name)]
    if not numbers:
        known = ", ".join(dict.fromkeys(repr(number.name) for number in seen.numbers))
        raise InvalidParameter(
            f"number={wish.number!r} was given of a question with {known}; write one of them"
        )
    width = numbers[0].half_width
    if size is None and numbers[0].records is not None:
        raise InvalidParameter(
            f"the interval of {numbers[0].name!r} depends on how many rows a group has; write "
            "records=, a public size"
        )
    if width is None:
        raise InvalidParameter(
            f"the interval of {numbers[0].name!r} is not known for a group of "
            f"{numbers[0].size} rows under so small a budget; write larger records=, or a larger "
            "budget"
        )
    return width


def _divided(
    shares: Sequence[Fraction], times: Sequence[float], power: int, budget: Fraction
) -> list[Fraction]:
    """Give each the share that makes its half-width the common multiple, rounded down."""
    weights = [float(share) * time**power for share, time in zip(shares, times, strict=True)]
    whole_weight = math.fsum(weights)
    return [
        budget * max(1, math.floor(weight / whole_weight * (_FINE - len(weights)))) / _FINE
        for weight in weights
    ]


def _gaussian(sensitivity: Sensitivity, share: Fraction) -> Mechanism:
    if sensitivity.l2_squared is None:
        # Says what is wrong.
        return Gaussian.calibrate(sensitivity, 1)
    return Gaussian(variance=sensitivity.l2_squared / share)


_GAUSSIAN: Final = _Kind(_gaussian, 2)
_LAPLACE: Final = _Kind(Laplace.calibrate, 1)
