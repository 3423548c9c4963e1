"""What is said of a curve, in no language yet: names of sentences, and their numbers."""

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from neyman.curves import TradeOff
from neyman.numerics import at_most, standing, text
from neyman.report._attacks import Attacks
from neyman.report._language import Count, Numeral, Quoted, Value

__all__ = ["FEWEST", "LARGEST_BASE", "Said", "outcomes", "suspicions", "terms", "tests"]

Said: TypeAlias = tuple[str, Mapping[str, Value]]

_DIGITS = 6
# Of so many suspicions at least, and at most; and no count that is given is below FEWEST.
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
    said: list[Said] = []
    for prior in priors:
        belief = attacks.belief(prior)
        if belief is None or (1 - belief[1]) * LARGEST_BASE < 1:
            return [("outcome_unlimited", {})]
        base = _base([prior], [prior, 1 - prior])
        while base < LARGEST_BASE and (1 - belief[1]) * base < FEWEST:
            base *= 10
        least, most = math.floor(belief[0] * base), _up(belief[1], base)
        said.append(("outcome", _counts(base=base, true=int(prior * base), least=least, most=most)))
    return said


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
    """Return whether mu-GDP says something like what the curve says, by their advantages.

    A thousand steps on a sample are 31.6-GDP, for rare events, and nearly 0.2-GDP for all others.
    """
    return math.erf(mu / math.sqrt(8)) <= 2 * curve.advantage()


def _written(delta: Fraction) -> Numeral:
    return Numeral(text(delta).replace("e-0", "e-"))


def _counts(**counts: int) -> dict[str, Value]:
    return {name: Count(count) for name, count in counts.items()}


def _up(share: Fraction, base: int) -> int:
    return math.ceil(share * base)


def _base(whole: Sequence[Fraction], counted: Sequence[Fraction]) -> int:
    """Return the smallest power of ten that makes `whole` whole and leaves FEWEST of `counted`."""
    base = _BASE
    while any((share * base).denominator != 1 for share in whole) or min(counted) * base < FEWEST:
        base *= 10
    return base
