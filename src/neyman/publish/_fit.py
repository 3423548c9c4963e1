"""Divides a budget among questions so that their half-widths match what you want."""

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
from neyman.publish._synthetic_rows import SyntheticRows, of_question, refuse_unknown, spreads_of
from neyman.sensitivity import Sensitivity

__all__ = ["Fitted", "Wish", "fit"]

# The resolution of shares.
_FINE: Final = 2**40
_ROUNDS: Final = 32
# The search ends when all multiples are equal up to this.
_CLOSE: Final = 1.002


@final
@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of noise; half-widths are proportional to share^(-1/power)."""

    make: Callable[[Sensitivity, Fraction], Mechanism]
    power: int


@final
@dataclass(frozen=True, slots=True)
class Wish:
    """A question, with the wanted half-width of its noise interval.

    Attributes:
        aggregate: the question.
        half_width: the wanted half-width for one of its numbers, in the units of that number.
        number: the name of the number in `preview`; None for the first.
    """

    aggregate: Aggregate
    half_width: Real
    number: str | None = None


@final
@dataclass(frozen=True, slots=True)
class Fitted:
    """Noise for every question of a batch, which together spend a budget.

    Attributes:
        questions: each question with its noise, in order, as `release_batch` takes them.
        factor: the half-widths divided by the wanted ones; at most 1 if the budget suffices.
        previews: the preview of each question.
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
    """Divide a budget among questions so that all half-widths are the same multiple of the wanted.

    With Gaussian noise, the squared mu of the questions add up to mu^2; with Laplace noise, their
    epsilon add up to epsilon. A question with sensitivity D, a half-width of c sigma at noise scale
    sigma, and a wanted half-width w gets

        mu_i^2 = (D_i c_i / (t w_i))^2,   or   epsilon_i = D_i c_i / (t w_i)

    where t is the common multiple. No row is read, and nothing is charged.

    Args:
        wishes: at least one question with its wanted half-width.
        mu: the budget, for Gaussian noise; or
        epsilon: the budget, for Laplace noise.
        records: a public number of rows of the table. Intervals of means, for example, depend on
            it; leave it out with `like`, or if no wanted half-width depends on it.
        confidence: the coverage of the intervals, in (0, 1).
        like: public rows that resemble the private ones, as for `preview`. Without them and without
            a spread, rows are typical, not the best case.
        spread: mean and standard deviation by column, as for `preview`.

    Raises:
        InvalidParameter: if there is no wish, not exactly one budget, a half-width is not positive,
            a number is unknown, has no finite interval, or depends on a size that is not given; or
            if `like` or `spread` cannot be used.
        SensitivityMismatch: if a question does not bound the norm that the noise needs.

    Error: the batch costs at most the budget, and at least the budget minus 1e-11 of it for each
        question. Half-widths are those of `preview`, up to their rounding to whole steps.
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
    """One division of the budget: `times` are half-widths divided by the wanted ones."""

    noises: Sequence[Mechanism]
    previews: Sequence[Preview]
    times: Sequence[float]

    @property
    def factor(self) -> float:
        return max(self.times)


@final
@dataclass(frozen=True, slots=True)
class _Wanted:
    """A wish with its synthetic rows, to try different noise."""

    rows: SyntheticRows
    sized: bool
    number: str | None
    half_width: float

    @classmethod
    def of(cls, wish: Wish, records: int | None, public: Public | None, spreads: Spreads) -> Self:
        """Return a wish with the synthetic rows of its preview."""
        width = float(exact_positive(wish.half_width, "half_width"))
        rows = of_question(wish.aggregate, records, public, spreads)
        sized = records is not None or public is not None
        return cls(rows, sized, wish.number, width)

    def times(self, seen: Preview) -> float:
        """Return the half-width divided by the wanted one."""
        first = self._found(seen)
        if not self.sized and first.records is not None:
            raise InvalidParameter(
                f"records must be a number, because the interval of {first.name!r} depends on the "
                "number of rows; got none. Write records=, a public number of rows of the table"
            )
        if first.planned.half_width is None:
            raise InvalidParameter(
                f"the interval of {first.name!r} is infinite for a group of {first.records:,} "
                "rows at this budget. Write larger records=, or a larger budget"
            )
        return first.planned.half_width / self.half_width

    def _found(self, seen: Preview) -> ExpectedNumber:
        """Return the number in the smallest group."""
        numbers = [number for number in seen.numbers if self.number in (None, number.name)]
        if not numbers:
            known = ", ".join(dict.fromkeys(repr(number.name) for number in seen.numbers))
            raise InvalidParameter(
                f"number must be one of the question; got {self.number!r}. Write one of {known}"
            )
        return numbers[0]


def _check(wishes: Sequence[Wish]) -> None:
    check_type("wishes", wishes, Sequence, "a list of publish.Wish(question, half_width)")
    for wish in wishes:
        check_type("a wish", wish, Wish, "publish.Wish(question, half_width)")
    if not wishes:
        raise InvalidParameter(
            "wishes must have at least one Wish; got none. Write publish.Wish(question, half_width)"
        )


def _budget(mu: Real | None, epsilon: Real | None) -> tuple[_Kind, Fraction]:
    if mu is not None and epsilon is None:
        return _GAUSSIAN, exact_positive(mu, "mu") ** 2
    if epsilon is not None and mu is None:
        return _LAPLACE, exact_positive(epsilon, "epsilon")
    raise InvalidParameter(
        f"exactly one budget must be given; got mu={mu}, epsilon={epsilon}. Write mu for Gaussian "
        "noise, or epsilon for Laplace noise"
    )


def _divided(
    shares: Sequence[Fraction], times: Sequence[float], power: int, budget: Fraction
) -> list[Fraction]:
    """Return the shares that give a common multiple, rounded down."""
    weights = [float(share) * time**power for share, time in zip(shares, times, strict=True)]
    whole_weight = math.fsum(weights)
    return [
        budget * max(1, math.floor(weight / whole_weight * (_FINE - len(weights)))) / _FINE
        for weight in weights
    ]


def _gaussian(sensitivity: Sensitivity, share: Fraction) -> Mechanism:
    if sensitivity.l2_squared is None:
        # It raises the error.
        return Gaussian.calibrate(sensitivity, 1)
    return Gaussian(variance=sensitivity.l2_squared / share)


_GAUSSIAN: Final = _Kind(_gaussian, 2)
_LAPLACE: Final = _Kind(Laplace.calibrate, 1)
