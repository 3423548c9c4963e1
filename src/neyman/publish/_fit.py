"""A budget divided over a batch, so that every answer is as exact as it was asked to be."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Final, Self, final

from neyman.aggregate import Aggregate, Spreads
from neyman.arguments import check_type
from neyman.divided import SHARE, divided
from neyman.errors import InvalidParameter
from neyman.mechanisms import Gaussian, Laplace, Mechanism
from neyman.numerics import Real, exact_positive
from neyman.publish._expected_noise import ExpectedNumber
from neyman.publish._likeness import Public, public_of
from neyman.publish._preview import Preview, preview_of
from neyman.publish._stand_ins import StandIns, of_question, refuse_unknown, spreads_of
from neyman.sensitivity import Sensitivity

__all__ = ["Fitted", "Wish", "fit"]

# Shares are so many parts of the budget.
_FINE: Final = 2**40
_ROUNDS: Final = 32
# Shares are good where all half-widths are so nearly the same multiple.
_CLOSE: Final = 1.002


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
    like: object = None,
    spread: Mapping[str, tuple[Real, Real]] = MappingProxyType({}),
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
        records: how many rows the table has, a public number, for intervals that depend on it, as
            those of means do; not needed where none of those wished for does, or with `like`.
        confidence: of the intervals, in (0, 1).
        like: public rows like the private ones, as for `preview`. Without them and without a spread
            rows are typical ones, skewed, and not those of the best case.
        spread: mean and standard deviation by column, as for `preview`.

    Raises:
        InvalidParameter: if there is no wish, not one budget, a half-width is not positive, a
            number is not among those of its question, has no interval at such a size, or depends on
            a size that is not given; or if `like` or `spread` is unusable.
        SensitivityMismatch: if a question does not bound the norm that the noise needs.

    Error: the batch never costs more than the budget, and less by at most 1e-11 of it a question.
        Half-widths are those of `preview`; they are the same multiple but for their rounding to
        whole steps.
    """
    _check(wishes)
    kind, budget = _budget(mu, epsilon)
    spreads, public = spreads_of(spread), None if like is None else public_of(like)
    refuse_unknown(spreads, [wish.aggregate for wish in wishes])
    wanted = [_Wanted.of(wish, records, public, spreads) for wish in wishes]
    shares = [budget / len(wishes)] * len(wishes)
    trials: list[_Trial] = []
    asked = [wish.aggregate for wish in wishes]
    for _ in range(_ROUNDS):
        noises = [
            kind.make(wish.aggregate.sensitivity, share)
            for wish, share in zip(wishes, shares, strict=True)
        ]
        previews = [
            preview_of(one.rows, part, confidence)
            for one, part in zip(
                wanted,
                divided([(*pair, SHARE) for pair in zip(asked, noises, strict=True)]),
                strict=True,
            )
        ]
        times = [one.times(seen) for one, seen in zip(wanted, previews, strict=True)]
        trials.append(_Trial(noises, previews, times))
        if max(times) <= _CLOSE * min(times):
            break
        shares = _divided(shares, times, kind.power, budget)
    best = min(trials, key=lambda trial: trial.factor)
    questions = zip((wish.aggregate for wish in wishes), best.noises, strict=True)
    return Fitted(tuple(questions), best.factor, tuple(best.previews))


@final
@dataclass(frozen=True, slots=True)
class _Trial:
    """What comes of one division of the budget: `times` are half-widths over those wanted."""

    noises: Sequence[Mechanism]
    previews: Sequence[Preview]
    times: Sequence[float]

    @property
    def factor(self) -> float:
        return max(self.times)


@final
@dataclass(frozen=True, slots=True)
class _Wanted:
    """A wish made ready to be tried with one noise after the other."""

    rows: StandIns
    sized: bool
    number: str | None
    half_width: float

    @classmethod
    def of(cls, wish: Wish, records: int | None, public: Public | None, spreads: Spreads) -> Self:
        """Make up the rows of its preview once for all noises."""
        width = float(exact_positive(wish.half_width, "half_width"))
        rows = of_question(wish.aggregate, records, public, spreads)
        sized = records is not None or public is not None
        return cls(rows, sized, wish.number, width)

    def times(self, seen: Preview) -> float:
        """Return the half-width that is seen, over the one that is wanted."""
        first = self._found(seen)
        if not self.sized and first.records is not None:
            raise InvalidParameter(
                f"the interval of {first.name!r} depends on how many rows a group has; write "
                "records=, a public number of rows of the table"
            )
        if first.planned.half_width is None:
            raise InvalidParameter(
                f"the interval of {first.name!r} is not known for a group of {first.records:,} "
                "rows under so small a budget; write larger records=, or a larger budget"
            )
        return first.planned.half_width / self.half_width

    def _found(self, seen: Preview) -> ExpectedNumber:
        """Return the number, of the smallest group."""
        numbers = [number for number in seen.numbers if self.number in (None, number.name)]
        if not numbers:
            known = ", ".join(dict.fromkeys(repr(number.name) for number in seen.numbers))
            raise InvalidParameter(
                f"number={self.number!r} was given of a question with {known}; write one of them"
            )
        return numbers[0]


def _check(wishes: Sequence[Wish]) -> None:
    check_type("wishes", wishes, Sequence, "a list of publish.Wish(question, half_width)")
    for wish in wishes:
        check_type("a wish", wish, Wish, "publish.Wish(question, half_width)")
    if not wishes:
        raise InvalidParameter("a batch of no wishes was given; write at least one Wish")


def _budget(mu: Real | None, epsilon: Real | None) -> tuple[_Kind, Fraction]:
    if mu is not None and epsilon is None:
        return _GAUSSIAN, exact_positive(mu, "mu") ** 2
    if epsilon is not None and mu is None:
        return _LAPLACE, exact_positive(epsilon, "epsilon")
    raise InvalidParameter(
        f"a budget of mu={mu}, epsilon={epsilon} was given; write mu for Gaussian noise or epsilon "
        "for Laplace noise, one of them"
    )


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
