"""What a training's guarantee means: numbers with both sides, attacks, and what it rests on."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from textwrap import wrap
from typing import final

from neyman.curves import TradeOff, compose, gdp, identity
from neyman.curves._solvers._solver import in_use
from neyman.errors import InvalidParameter
from neyman.numerics import Real, at_least, at_most, exact, text
from neyman.training import Phase, RunRecord, doctor

__all__ = ["USUAL_RATES", "Attack", "Statement"]

USUAL_RATES = (Fraction(1, 100), Fraction(1, 1000))
_INDENT = 15
_WIDTH = 96
_MOST_PHASES = 20

_SAMPLED = "Poisson sampling: each record enters each step on its own, with the probability above."
_CHOSEN = "The batches came from the samplers above, with randomness that stays secret."
_CLIPPED = (
    "Each record's gradient depends on no other record and is clipped. The noise is fresh and "
    "Gaussian: its standard deviation is the noise multiplier times the clipping norm."
)
_PUBLIC = "Noise, probabilities and steps are public and were not tuned on the data."
_TUNED = (
    "Noise, probabilities and steps are public. {} other trainings on the same data helped to "
    "choose them, and are not counted."
)
_IDEAL = "Ideal noise and arithmetic; what floating point adds is not counted."
# A rate such as 0.06666666666666667 makes 150 steps a little more than 10 passes.
_ROUNDED = Fraction(1, 10**9)
_MIXED = "where records share a gradient (batch normalisation)."


@final
@dataclass(frozen=True, slots=True)
class Attack:
    """What an attacker can do, rounded in its favour.

    Attributes:
        what: is tried.
        most: that it reaches, with its base.
        chance: what guessing reaches.
    """

    what: str
    most: str
    chance: str


@final
@dataclass(frozen=True, slots=True)
class Statement:
    """What a training guarantees, and all that must be said with it; `str()` is the text.

    Attributes:
        run: the training.
        curve: its guarantee, or the bound of it where the training may lose less.
        delta: probability that is set aside for mu and epsilon; None to leave them out.
        rates: false positive rates of attacks.
        reached: an epsilon that the curve was calibrated to, at delta.
        exactly: whether the training loses as much as the curve says, so that there are lower
            bounds; else these are 0.
    """

    run: RunRecord
    curve: TradeOff
    delta: Fraction | None
    rates: tuple[Fraction, ...]
    reached: Fraction | None = None
    exactly: bool = True

    @staticmethod
    def of(
        run: RunRecord,
        *,
        delta: Real | None,
        rates: Iterable[Real] = USUAL_RATES,
        reached: Real | None = None,
    ) -> "Statement":
        """Return the statement of a training.

        Args:
            run: the training.
            delta: in [0, 1), for mu and epsilon; None to leave them out.
            rates: false positive rates of attacks, in (0, 1).
            reached: an epsilon that the training was calibrated to, at delta.

        Raises:
            InvalidParameter: if a number is outside, or nothing is known of a sampler.

        >>> from neyman.training import Phase
        >>> phase = Phase.poisson(noise_multiplier=2, sampling_probability=1, steps=4)
        >>> run = RunRecord(phases=(phase,), unit="one image", neighbors="add_remove")
        >>> print(str(Statement.of(run, delta=0)).splitlines()[0])
        Privacy        1-GDP                     lower bound 1
        """
        chance = None if delta is None else exact(delta, "delta")
        if chance is not None and not 0 <= chance < 1:
            raise InvalidParameter(
                f"delta must be in [0, 1); got {text(chance)}. Write one such as 1e-6"
            )
        tried = tuple(exact(rate, "rates") for rate in rates)
        if not all(0 < rate < 1 for rate in tried):
            raise InvalidParameter("rates must be in (0, 1); write false positive rates as 0.01")
        wanted = None if reached is None else exact(reached, "reached")
        curve = run.curve
        bound = curve.dominating()
        return Statement(run, bound, chance, tried, wanted, exactly=bound == curve)

    def to_json(self) -> dict[str, object]:
        """Return the statement; every number as its two bounds.

        `upper` null: there is none where `lower` is null too, and else none was found; `finite`
        says whether there is one, null if that is open.
        """
        # mu takes longest: where the time is limited, all else comes first.
        epsilon = None if self.delta is None else self._epsilon(float(self.delta))
        power = zip(self.rates, zip(*self._power(), strict=True), strict=True)
        advantage = self._sides(self.curve.advantage(bracket=True))
        record: dict[str, object] = {
            "phases": [phase.to_json() for phase in self.run.phases],
            "unit": self.run.unit,
            "neighbors": self.run.neighbors,
            "curve": self.curve.to_json(),
        }
        if self.delta is not None and epsilon is not None:
            record["delta"] = float(self.delta)
            record["mu"] = self._sides(self.curve.mu(slack=float(self.delta), bracket=True))
            record["epsilon"] = _both(epsilon)
        return record | {
            "tpr": [{"fpr": float(rate), **self._sides(bounds)} for rate, bounds in power],
            "advantage": advantage,
            "protects": self.protects,
            "assumes": self.assumes,
            "does_not_hold": self.does_not_hold,
            "found_wrong": self.wrong,
        }

    def __str__(self) -> str:
        # mu takes longest: where the time is limited, the attacks come first.
        attacks, losses = self.attacks, self.losses
        lines = _labelled("Privacy", _columns(losses)) if losses else []
        lines.append(f"{self.attacker}:")
        lines += _columns(
            [(f"  {one.what}", f"{one.most} (chance: {one.chance})") for one in attacks]
        )
        lines += _labelled("Protects", [self.protects])
        lines += _labelled("Training", self.training)
        lines += _labelled("Assumes", self.assumes)
        lines += _labelled("Does not hold", self.does_not_hold)
        lines += _labelled("Found wrong", self.wrong) if self.wrong else []
        return "\n".join(lines)

    @property
    def losses(self) -> list[tuple[str, str]]:
        """The losses in words, each with what must be said beside it."""
        if self.delta is None:
            return []
        delta, words = float(self.delta), text(self.delta).replace("e-0", "e-")
        epsilon = self._epsilon(delta)
        # Of all numbers this one takes longest; whoever limits the time has the others without it.
        found = None if in_use().late else self.curve.mu(slack=delta, bracket=True)
        least, most = (0.0, math.inf) if found is None else (found.lower, found.upper)
        mu = (least if self.exactly else 0.0, most)
        aside = f"outside an event of probability {words}; " if delta else ""
        return [
            _row("mu-GDP", "{}-GDP", mu, aside),
            _row(f"epsilon at delta = {words}", f"({{}}, {words})-DP", epsilon, ""),
        ]

    @property
    def attacker(self) -> str:
        """What the attacker knows."""
        open_ = "whether one record is in" if self._present else "what one record holds"
        return f"An attacker who knows everything but {open_}"

    @property
    def attacks(self) -> list[Attack]:
        """What such an attacker can do."""
        guess = at_most(50 * (1 + Fraction(self.curve.advantage())), 5)
        best = Attack("best balanced guess", f"is right at most {guess} % of the time", "50 %")
        return [*map(_attack, self.rates, self._found()), best]

    def _epsilon(self, delta: float) -> tuple[float, float]:
        lower, upper = self.curve.epsilon(delta, bracket=True)
        # The profile at the target is a proof too, and inverting it may have lost its last digit.
        if self.reached is not None and self.curve.delta(float(self.reached)) <= delta:
            upper = min(upper, float(self.reached))
        return (min(lower, upper) if self.exactly else 0.0), upper

    def _sides(self, bounds: Iterable[float]) -> dict[str, float | bool | None]:
        lower, upper = bounds
        return _both((lower if self.exactly else 0.0, upper))

    def _found(self) -> Sequence[float | Fraction]:
        """Return the powers from above; those of chance exactly, where nothing is lost."""
        return self.rates if self.curve == identity() else self._power()[1]

    def _power(self) -> tuple[list[float], list[float]]:
        """Bounds of the true positive rates, all at once."""
        found = self.curve.tpr([float(rate) for rate in self.rates], bracket=True)
        return found.lower.tolist(), found.upper.tolist()

    @property
    def protects(self) -> str:
        """Who is protected, and what may be released."""
        unit = self.run.unit[:1].upper() + self.run.unit[1:]
        what = "added or removed" if self._present else "replaced by another"
        return f"{unit}, {what}. The model may be public after every step ({self.run.steps})."

    @property
    def assumes(self) -> list[str]:
        """What is taken for granted."""
        tuned = self.run.tuning_runs
        chosen = _TUNED.format(tuned) if tuned else _PUBLIC
        return [*self._sampling, _CLIPPED, chosen, _IDEAL, *self.run.assumptions]

    @property
    def wrong(self) -> list[str]:
        """What the record shows to be wrong with the training; each leaves less, or nothing."""
        return [f"{one.name}: {one.seen} {one.holds}" for one in doctor(self.run, delta=self.delta)]

    @property
    def does_not_hold(self) -> list[str]:
        """Where the numbers do not hold."""
        if self._sampling != [_SAMPLED]:
            return [_MIXED]
        times, curve = _passes(self._sampled, 1 if self._present else 2)
        if times == 0:
            return [_MIXED]
        moved = "its absence" if self._present else "its content"
        shuffled = (
            "for shuffled or fixed batches. There, if each record is used once in each of "
            f"{times} passes and {moved} moves no other record: {at_most(curve.mu(), 6)}-GDP."
        )
        return [shuffled, _MIXED]

    @property
    def training(self) -> list[str]:
        """The phases in words; of many the first."""
        phases = self.run.phases
        left = len(phases) - _MOST_PHASES
        return [
            *map(str, phases[:_MOST_PHASES]),
            *([f"and {left} more phases"] if left > 0 else []),
        ]

    @property
    def _present(self) -> bool:
        return self.run.neighbors == "add_remove"

    @property
    def _sampled(self) -> list[tuple[Phase, Fraction]]:
        """The phases with Poisson sampling, with their probabilities."""
        known = ((phase, phase.sampling_probability) for phase in self.run.phases)
        return [(phase, chance) for phase, chance in known if chance is not None]

    @property
    def _sampling(self) -> list[str]:
        poisson = self._sampled
        others = [_CHOSEN] if len(poisson) < len(self.run.phases) else []
        sampled = any(phase.steps and 0 < chance < 1 for phase, chance in poisson)
        return [_SAMPLED, *others] if sampled else others


def _passes(phases: list[tuple[Phase, Fraction]], moves: int) -> tuple[int, TradeOff]:
    """Return how often one record is used without sampling, and what that costs.

    One use in each pass, ceil(sampling probability * steps) passes in each phase.

    Args:
        phases: with their sampling probabilities.
        moves: how many clipping norms one record moves a sum by.
    """
    times = [math.ceil(chance * phase.steps * (1 - _ROUNDED)) for phase, chance in phases]
    uses = [
        gdp(moves / phase.noise_multiplier) ** n
        for (phase, _), n in zip(phases, times, strict=True)
    ]
    return sum(times), compose(*uses)


def _attack(rate: Fraction, power: float | Fraction) -> Attack:
    base = 10 ** max(2, math.ceil(-math.log10(rate)))
    wrong = f"{float(rate * base):g}"
    return Attack(
        f"with {wrong} in {base:,} accused wrongly",
        f"finds at most {at_most(base * Fraction(power), 4)} in {base:,}",
        wrong,
    )


def _row(name: str, found: str, bounds: tuple[float, float], aside: str) -> tuple[str, str]:
    """Return a bound in words: one that does not exist is not one that was not found."""
    lower, upper = bounds
    if upper < math.inf:
        return found.format(at_most(upper, 6)), f"{aside}{_from(lower)}"
    if lower < math.inf:
        return f"{name} not found", f"{aside}{_from(lower)}"
    return f"no {name}", ""


def _from(lower: float) -> str:
    return f"lower bound {at_least(lower, 6)}"


def _columns(rows: list[tuple[str, str]]) -> list[str]:
    width = max(len(left) for left, _ in rows) + 3
    return [left.ljust(width) + right for left, right in rows]


def _labelled(label: str, parts: list[str]) -> list[str]:
    lines = [line for part in parts for line in wrap(part, _WIDTH - _INDENT)]
    first, *rest = lines or [""]
    return [label.ljust(_INDENT) + first, *(" " * _INDENT + line for line in rest)]


def _both(bounds: Iterable[float]) -> dict[str, float | bool | None]:
    lower, upper = bounds
    known = upper < math.inf or lower == math.inf
    return {
        "lower": _finite(lower),
        "upper": _finite(upper),
        "finite": upper < math.inf if known else None,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
