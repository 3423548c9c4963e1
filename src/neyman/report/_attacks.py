"""The most that any attack achieves, as exact rationals that are never below the truth."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from neyman.curves import TradeOff
from neyman.numerics import ULP, exact, floor_float, standing

__all__ = ["Attacks"]

# The false positive rate of a share of confirmations is sought in rounds of so many nodes, until
# it is so near, relatively to the share that is right by chance.
_ROUNDS, _NODES, _NEAR = 12, 32, 1e-6


@final
@dataclass(frozen=True, slots=True)
class Attacks:
    """Attacks on one suspicion, bounded by a trade-off function of both directions.

    Attributes:
        curve: the guarantee.

    Raises:
        NotCertified: from every method, if the curve has no proved brackets.
    """

    curve: TradeOff

    def advantage(self) -> Fraction:
        """Return max (tpr - fpr)."""
        return _most(self.curve.advantage(bracket=True).upper)

    def power(self, fpr: Fraction) -> Fraction:
        """Return the largest true positive rate at a false positive rate of at most `fpr`."""
        found = _most(self.curve.tpr(standing(fpr)[1], bracket=True).upper)
        return min(found, fpr + self.advantage(), Fraction(1))

    def guess(self, prior: Fraction) -> Fraction:
        """Return the largest probability that a guess is right.

        max(prior, 1 - prior) + min(prior, 1 - prior) delta(|log(prior / (1 - prior))|)
        """
        less, more = sorted((prior, 1 - prior))
        odds = math.log(more / less)
        # Delta falls: a smaller epsilon is safe, and none is below zero.
        epsilon = max(0.0, odds * (1 - ULP) - ULP)
        curve = self.curve if prior == less else self.curve.swap()
        return min(more + less * _most(curve.delta(epsilon, bracket=True).upper), Fraction(1))

    def rightly(self, prior: Fraction, flagged: Fraction) -> Fraction:
        """Return the largest share that is confirmed and true, where the share `flagged` is.

        A test that confirms the share r confirms r - (1 - prior) alpha rightly, alpha its false
        positive rate, and prior tpr(alpha) + (1 - prior) alpha >= r. The left side grows with
        alpha: a rate at which even its upper bound is at most r is at most that of any such test.
        """
        low, share = 0.0, floor_float(flagged) * (1 - ULP)
        high, chance = share, float(prior)
        for _ in range(_ROUNDS):
            rates = np.linspace(low, high, _NODES + 1)
            power = np.asarray(self.curve.tpr(rates, bracket=True).upper)
            holds = (chance * power + (1 - chance) * rates) * (1 + 4 * ULP) <= share
            last = _NODES if np.all(holds) else int(np.argmin(holds)) - 1
            if last < 0:
                break
            low, high = float(rates[last]), float(rates[min(last + 1, _NODES)])
            if high - low <= _NEAR * chance * share:
                break
        wrong = (1 - prior) * Fraction(low) * (1 - Fraction(ULP))
        gained = prior * flagged + prior * (1 - prior) * self.advantage()
        return min(flagged - wrong, gained, prior)

    def belief(self, prior: Fraction) -> tuple[Fraction, Fraction] | None:
        """Return the least and the largest probability after any outcome; None without a limit.

        The odds change by a factor of at most e^epsilon either way, where delta(epsilon) = 0.
        """
        epsilon = float(self.curve.epsilon(0.0, bracket=True).upper)
        if epsilon == math.inf:
            return None
        factor = Fraction(math.exp(-epsilon) * (1 - 2 * ULP))
        # A perfect guarantee changes nothing; exp is not asked.
        factor = factor if epsilon > 0 else Fraction(1)
        return prior * factor / (prior * factor + 1 - prior), prior / (prior + (1 - prior) * factor)


def _most(value: float) -> Fraction:
    """Return the larger of the double and of the decimal that it prints as."""
    return max(Fraction(float(value)), exact(float(value), "value"))
