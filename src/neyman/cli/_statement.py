"""What a training's guarantee means: numbers with both sides, attacks, and what it rests on."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from textwrap import wrap
from typing import final

from neyman.cli._phases import Phase, passes
from neyman.curves import TradeOff, identity
from neyman.numerics import at_least, at_most, text

__all__ = ["USUAL_RATES", "Statement"]

USUAL_RATES = (Fraction(1, 100), Fraction(1, 1000))
_INDENT = 15
_WIDTH = 96

_SAMPLED = "Poisson sampling: each record enters each step on its own, with the probability above."
_ASSUMES = (
    "Each record's gradient depends on no other record and is clipped. The noise is fresh and "
    "Gaussian: its standard deviation is the noise multiplier times the clipping norm.",
    "Noise, probabilities and steps are public and were not tuned on the data.",
    "Ideal noise and arithmetic; what floating point adds is not counted.",
)
_MIXED = "where records share a gradient (batch normalisation)."


@final
@dataclass(frozen=True, slots=True)
class Statement:
    """A guarantee and all that must be said with it.

    Attributes:
        phases: of the training.
        curve: of all of them together.
        delta: probability that is set aside for mu and epsilon; None to leave them out.
        rates: false positive rates of attacks.
        reached: an epsilon that the curve was calibrated to, at delta.
    """

    phases: list[Phase]
    curve: TradeOff
    delta: Fraction | None
    rates: tuple[Fraction, ...]
    reached: Fraction | None = None

    def to_json(self) -> dict[str, object]:
        """Return the statement; every number as its two bounds.

        `upper` null: there is none where `lower` is null too, and else none was found; `finite`
        says whether there is one, null if that is open.
        """
        record: dict[str, object] = {
            "phases": [phase.to_json() for phase in self.phases],
            "neighbors": "add_remove",
            "curve": self.curve.to_json(),
        }
        if self.delta is not None:
            delta = float(self.delta)
            record["delta"] = delta
            record["mu"] = _both(self.curve.mu(slack=delta, bracket=True))
            record["epsilon"] = _both(self._epsilon(delta))
        return record | {
            "tpr": [
                {"fpr": float(rate), **_both(bounds)}
                for rate, bounds in zip(self.rates, zip(*self._power(), strict=True), strict=True)
            ],
            "advantage": _both(self.curve.advantage(bracket=True)),
            "protects": self._protects,
            "assumes": self._assumes,
            "does_not_hold": self._does_not_hold,
        }

    def __str__(self) -> str:
        lines = [*self._privacy(), "An attacker who knows everything but whether one record is in:"]
        guess = at_most(50 * (1 + Fraction(self.curve.advantage())), 5)
        lines += _columns(
            [
                *map(_attack, self.rates, self._found()),
                (
                    "  best balanced guess",
                    f"is right at most {guess} % of the time (chance: 50 %)",
                ),
            ]
        )
        lines += _labelled("Protects", [self._protects])
        lines += _labelled("Training", [str(phase) for phase in self.phases])
        lines += _labelled("Assumes", self._assumes)
        lines += _labelled("Does not hold", self._does_not_hold)
        return "\n".join(lines)

    def _privacy(self) -> list[str]:
        if self.delta is None:
            return []
        delta, words = float(self.delta), text(self.delta).replace("e-0", "e-")
        mu = self.curve.mu(slack=delta, bracket=True)
        least, most = self._epsilon(delta)
        aside = f"outside an event of probability {words}; " if delta else ""
        rows = [
            _row("mu-GDP", "{}-GDP", (mu.lower, mu.upper), aside),
            _row(f"epsilon at delta = {words}", f"({{}}, {words})-DP", (least, most), ""),
        ]
        return _labelled("Privacy", _columns(rows))

    def _epsilon(self, delta: float) -> tuple[float, float]:
        lower, upper = self.curve.epsilon(delta, bracket=True)
        # The profile at the target is a proof too, and inverting it may have lost its last digit.
        if self.reached is not None and self.curve.delta(float(self.reached)) <= delta:
            upper = min(upper, float(self.reached))
        return min(lower, upper), upper

    def _found(self) -> Sequence[float | Fraction]:
        """Return the powers from above; those of chance exactly, where nothing is lost."""
        return self.rates if self.curve == identity() else self._power()[1]

    def _power(self) -> tuple[list[float], list[float]]:
        """Bounds of the true positive rates, all at once."""
        found = self.curve.tpr([float(rate) for rate in self.rates], bracket=True)
        return found.lower.tolist(), found.upper.tolist()

    @property
    def _protects(self) -> str:
        steps = sum(phase.steps for phase in self.phases)
        return f"One record, added or removed. The model may be public after every step ({steps})."

    @property
    def _sampled(self) -> bool:
        return any(phase.steps and 0 < phase.sampling_probability < 1 for phase in self.phases)

    @property
    def _assumes(self) -> list[str]:
        return [_SAMPLED, *_ASSUMES] if self._sampled else list(_ASSUMES)

    @property
    def _does_not_hold(self) -> list[str]:
        if not self._sampled:
            return [_MIXED]
        times, curve = passes(self.phases)
        if times == 0:
            return [_MIXED]
        shuffled = (
            "for shuffled or fixed batches. There, if each record is used once in each of "
            f"{times} passes and its absence moves no other record: "
            f"{at_most(curve.mu(), 6)}-GDP."
        )
        return [shuffled, _MIXED]


def _attack(rate: Fraction, power: float | Fraction) -> tuple[str, str]:
    base = 10 ** max(2, math.ceil(-math.log10(rate)))
    wrong = f"{float(rate * base):g}"
    found = at_most(base * Fraction(power), 4)
    return (
        f"  with {wrong} in {base:,} accused wrongly",
        f"finds at most {found} in {base:,} (chance: {wrong})",
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
