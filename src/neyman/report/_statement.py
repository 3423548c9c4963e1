"""The guarantee of a training: its numbers with both bounds, attacks, and its assumptions."""

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
# A rate such as 0.06666666666666667 would make 150 steps a little more than 10 passes.
_ROUNDED = Fraction(1, 10**9)
_MIXED = "where records share a gradient (batch normalisation)."


@final
@dataclass(frozen=True, slots=True)
class Attack:
    """An attack with its success, rounded in the attacker's favour.

    Attributes:
        what: the attack.
        most: the most that it achieves.
        chance: what guessing achieves.
    """

    what: str
    most: str
    chance: str


@final
@dataclass(frozen=True, slots=True)
class Statement:
    """The guarantee of a training, with its assumptions; `str()` is the text.

    Attributes:
        run: the training.
        curve: its guarantee; if the true loss may be less, the proved bound.
        delta: the delta of mu and epsilon; None to leave them out.
        rates: false positive rates of attacks.
        reached: an epsilon that the training was calibrated to, at delta.
        exactly: whether the curve is the exact loss, so that lower bounds are known; otherwise
            they are 0.
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
            delta: the delta of mu and epsilon, in [0, 1); None to leave them out.
            rates: false positive rates of attacks, in (0, 1).
            reached: an epsilon that the training was calibrated to, at delta.

        Raises:
            InvalidParameter: if a number is out of range, or nothing is proved about a sampler.

        >>> from neyman.training import Phase
        >>> phase = Phase.poisson(noise_multiplier=2, sampling_probability=1, steps=4)
        >>> run = RunRecord(phases=(phase,), unit="one image", neighbors="add_remove")
        >>> print(str(Statement.of(run, delta=0)).splitlines()[0])
        Privacy        1-GDP                     lower bound 1
        """
        chance = None if delta is None else exact(delta, "delta")
        if chance is not None and not 0 <= chance < 1:
            raise InvalidParameter(
                f"delta must be in [0, 1); got {text(chance)}. Write a probability such as 1e-6"
            )
        tried = tuple(exact(rate, "rates") for rate in rates)
        if not all(0 < rate < 1 for rate in tried):
            raise InvalidParameter(
                "rates must be in (0, 1); got another number. Write false positive rates such as "
                "0.01"
            )
        wanted = None if reached is None else exact(reached, "reached")
        curve = run.curve
        bound = curve.dominating()
        return Statement(run, bound, chance, tried, wanted, exactly=bound == curve)

    def to_json(self) -> dict[str, object]:
        """Return the statement, JSON-able, with two bounds for every number.

        If `upper` is null, no bound exists when `lower` is null too; otherwise none was found.
        `finite` is whether a bound exists, null if that is unknown.
        """
        # Everything else comes first, because mu takes longest and the time may be limited.
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
        # The attacks come first, because mu takes longest and the time may be limited.
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
        """The privacy losses in words, each with a remark."""
        if self.delta is None:
            return []
        delta, words = float(self.delta), text(self.delta).replace("e-0", "e-")
        epsilon = self._epsilon(delta)
        # mu takes longest, and is left out if the time limit has been reached.
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
        """The attacks of such an attacker."""
        guess = at_most(50 * (1 + Fraction(self.curve.advantage())), 5)
        best = Attack("best balanced guess", f"is right at most {guess} % of the time", "50 %")
        return [*map(_attack, self.rates, self._found()), best]

    def _epsilon(self, delta: float) -> tuple[float, float]:
        lower, upper = self.curve.epsilon(delta, bracket=True)
        # The privacy profile at the target is also a proof; inverting it may lose the last digit.
        if self.reached is not None and self.curve.delta(float(self.reached)) <= delta:
            upper = min(upper, float(self.reached))
        return (min(lower, upper) if self.exactly else 0.0), upper

    def _sides(self, bounds: Iterable[float]) -> dict[str, float | bool | None]:
        lower, upper = bounds
        return _both((lower if self.exactly else 0.0, upper))

    def _found(self) -> Sequence[float | Fraction]:
        """Return upper bounds of the powers; exactly the rates if nothing is lost."""
        return self.rates if self.curve == identity() else self._power()[1]

    def _power(self) -> tuple[list[float], list[float]]:
        """Return the bounds of the true positive rates."""
        found = self.curve.tpr([float(rate) for rate in self.rates], bracket=True)
        return found.lower.tolist(), found.upper.tolist()

    @property
    def protects(self) -> str:
        """The privacy unit, and what may be released."""
        unit = self.run.unit[:1].upper() + self.run.unit[1:]
        what = "added or removed" if self._present else "replaced by another"
        return f"{unit}, {what}. The model may be public after every step ({self.run.steps})."

    @property
    def assumes(self) -> list[str]:
        """The assumptions."""
        tuned = self.run.tuning_runs
        chosen = _TUNED.format(tuned) if tuned else _PUBLIC
        return [*self._sampling, _CLIPPED, chosen, _IDEAL, *self.run.assumptions]

    @property
    def wrong(self) -> list[str]:
        """The mistakes that the record shows; each weakens or voids the guarantee."""
        return [f"{one.name}: {one.seen} {one.holds}" for one in doctor(self.run, delta=self.delta)]

    @property
    def does_not_hold(self) -> list[str]:
        """The cases in which the numbers do not hold."""
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
        """The first phases, in words."""
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
    """Return how often a record is used without sampling, and the cost of that.

    It is used once in each pass; a phase has ceil(sampling probability * steps) passes.

    Args:
        phases: the phases with their sampling probabilities.
        moves: how many clipping norms one record can change a sum by.
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
    """Return a bound in words; a bound that does not exist differs from one that was not found."""
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
