"""The numbers of an explanation: the names of its sentences, with their values."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np

from neyman.curves import TradeOff
from neyman.numerics import Interval, at_most, exact, exp, floor_float, log, standing, text
from neyman.report._language import Count, Numeral, Quoted, Value
from neyman.sensitivity import Neighbors

__all__ = [
    "FEWEST",
    "LARGEST_BASE",
    "Attacks",
    "Said",
    "contents",
    "outcomes",
    "suspicions",
    "terms",
    "tests",
]

# The search for a false positive rate: rounds, nodes a round, and the relative precision.
_ROUNDS, _NODES, _NEAR = 12, 32, 1e-6


@final
@dataclass(frozen=True, slots=True)
class Attacks:
    """Attacks on one suspicion, bounded by a trade-off function of both directions.

    Attributes:
        curve: the guarantee.

    Raises:
        NotCertified: from every method, if the curve has no proved bounds.
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
        # Delta decreases in epsilon, so a smaller epsilon is on the safe side.
        odds = log(Interval.of(more / less)).lower
        epsilon = max(0.0, float(np.nextafter(odds, -np.inf)))
        curve = self.curve if prior == less else self.curve.swap()
        return min(more + less * _most(curve.delta(epsilon, bracket=True).upper), Fraction(1))

    def rightly(self, prior: Fraction, flagged: Fraction) -> Fraction:
        """Return the largest share of suspicions that are true and confirmed.

        Of the share r = `flagged` that a test confirms, r - (1 - prior) alpha are true, where alpha
        is its false positive rate and prior tpr(alpha) + (1 - prior) alpha >= r. The left side
        increases in alpha. So a rate at which its upper bound is at most r is a lower bound of the
        false positive rate of any such test.
        """
        low, share = 0.0, floor_float(flagged)
        high, chance, rest = share, Interval.of(prior), Interval.of(1 - prior)
        for _ in range(_ROUNDS):
            rates = np.linspace(low, high, _NODES + 1)
            power = np.asarray(self.curve.tpr(rates, bracket=True).upper)
            holds = chance * power + rest * Interval.decimal(rates) <= share
            last = _NODES if np.all(holds) else int(np.argmin(holds)) - 1
            if last < 0:
                break
            low, high = float(rates[last]), float(rates[min(last + 1, _NODES)])
            if high - low <= _NEAR * float(prior) * share:
                break
        wrong = (1 - prior) * Fraction(float(Interval.decimal(low).lower))
        gained = prior * flagged + prior * (1 - prior) * self.advantage()
        return min(flagged - wrong, gained, prior)

    def belief(self, prior: Fraction) -> tuple[Fraction, Fraction] | None:
        """Return the least and the largest probability after any outcome; None without a limit.

        The odds change by a factor of at most e^epsilon, up or down, where delta(epsilon) = 0.
        """
        epsilon = float(self.curve.epsilon(0.0, bracket=True).upper)
        if epsilon == math.inf:
            return None
        factor = Fraction(float(exp(-epsilon).lower))
        # A perfect guarantee changes nothing, and needs no rounding.
        factor = factor if epsilon > 0 else Fraction(1)
        return prior * factor / (prior * factor + 1 - prior), prior / (prior + (1 - prior) * factor)

    def identified(self, candidates: int, neighbors: Neighbors | None) -> Fraction:
        """Return the largest probability of identifying one of several equally likely contents."""
        found = self.curve.identification(candidates, neighbors=neighbors, bracket=True).upper
        return min(_most(found), Fraction(1))

    def reconstructed(self, chance: Fraction) -> Fraction:
        """Return the largest probability of an event that has `chance` without the release."""
        found = self.curve.reconstruction(standing(chance)[1], bracket=True).upper
        return min(_most(found), Fraction(1))


def _most(value: float) -> Fraction:
    """Return the larger of a float and of the decimal that it prints as."""
    return max(Fraction(float(value)), exact(float(value), "value"))


Said: TypeAlias = tuple[str, Mapping[str, Value]]

_DIGITS = 6
# The least and the greatest number of suspicions; no count in a sentence is below FEWEST.
_BASE, LARGEST_BASE, FEWEST = 1000, 10**9, 10


def tests(attacks: Attacks, fprs: Sequence[Fraction]) -> Iterator[Said]:
    for fpr in fprs:
        base = _base([fpr], [fpr])
        found = _up(attacks.power(fpr), base)
        yield "power", _counts(base=base, wrong=int(fpr * base), found=found)
    yield "advantage", _counts(base=_BASE, gain=_up(attacks.advantage(), _BASE))
    certain = attacks.power(Fraction(0))
    if certain == 0:
        yield "certain_none", {}
        return
    base = _BASE
    while base < LARGEST_BASE and certain * base < FEWEST:
        base *= 10
    yield "certain", _counts(base=base, found=_up(certain, base))
    if certain == 1:
        yield "no_limit", {}


def suspicions(
    attacks: Attacks, priors: Sequence[Fraction], flagged: Sequence[Fraction]
) -> Iterator[Said]:
    yield "stated", {}
    for prior in priors:
        base = _base([prior], [prior, 1 - prior])
        yield (
            "guess",
            _counts(
                base=base,
                true=int(prior * base),
                right=_up(attacks.guess(prior), base),
                chance=int(max(prior, 1 - prior) * base),
            ),
        )
        for share in flagged:
            base = _base([prior, share, prior * share], [prior, 1 - prior, share])
            named, right = int(share * base), _up(attacks.rightly(prior, share), base)
            chance = int(prior * share * base)
            yield (
                "flagged",
                _counts(
                    base=base,
                    true=int(prior * base),
                    flagged=named,
                    right=right,
                    wrong=named - right,
                    chance=chance,
                    rest=named - chance,
                ),
            )


def outcomes(attacks: Attacks, priors: Sequence[Fraction]) -> list[Said]:
    sentences: list[Said] = []
    for prior in priors:
        belief = attacks.belief(prior)
        if belief is None or (1 - belief[1]) * LARGEST_BASE < 1:
            return [("outcome_unlimited", {})]
        base = _base([prior], [prior, 1 - prior])
        while base < LARGEST_BASE and (1 - belief[1]) * base < FEWEST:
            base *= 10
        least, most = math.floor(belief[0] * base), _up(belief[1], base)
        sentences.append(
            ("outcome", _counts(base=base, true=int(prior * base), least=least, most=most))
        )
    return sentences


def contents(
    attacks: Attacks,
    candidates: Sequence[int],
    chances: Sequence[Fraction],
    neighbors: Neighbors | None,
) -> Iterator[Said]:
    for many in candidates:
        base = many
        while base < max(_BASE, FEWEST * many):
            base *= 10
        found = _up(attacks.identified(many, neighbors), base)
        yield "one_of", _counts(candidates=many, base=base, found=found, chance=base // many)
    for chance in chances:
        base = _base([chance], [chance])
        found = _up(attacks.reconstructed(chance), base)
        yield "reconstructed", _counts(base=base, chance=int(chance * base), found=found)


def terms(curve: TradeOff, deltas: Sequence[Fraction]) -> Iterator[Said]:
    for delta in deltas or (Fraction(0),):
        mu = curve.mu(slack=standing(delta)[0], bracket=True).upper
        if _telling(mu, curve):
            slack = {"delta": _written(delta)} if delta else {}
            yield "mu_slack" if delta else "mu", {"mu": Numeral(at_most(mu, _DIGITS)), **slack}
    for delta in deltas:
        epsilon = curve.epsilon(standing(delta)[0], bracket=True).upper
        written = _written(delta)
        if epsilon < math.inf:
            yield "epsilon", {"epsilon": Numeral(at_most(epsilon, _DIGITS)), "delta": written}
        else:
            yield "epsilon_none", {"delta": written}
    yield "curve", {"curve": Quoted(str(curve))}


def _telling(mu: float, curve: TradeOff) -> bool:
    """Return whether mu describes the curve: its advantage is at most twice that of the curve.

    For example, a thousand subsampled steps can be 31.6-GDP because of rare events, and nearly
    0.2-GDP otherwise.
    """
    return math.erf(mu / math.sqrt(8)) <= 2 * curve.advantage()


def _written(delta: Fraction) -> Numeral:
    return Numeral(text(delta).replace("e-0", "e-"))


def _counts(**counts: int) -> dict[str, Value]:
    return {name: Count(count) for name, count in counts.items()}


def _up(share: Fraction, base: int) -> int:
    return math.ceil(share * base)


def _base(whole: Sequence[Fraction], counted: Sequence[Fraction]) -> int:
    """Return the smallest power of ten that makes `whole` whole and `counted` at least FEWEST."""
    base = _BASE
    while any((share * base).denominator != 1 for share in whole) or min(counted) * base < FEWEST:
        base *= 10
    return base
