"""A test that may be looked at after each score: betting against a claim.

Under the claim a bet on "the scores differ by more than f allows" has no positive expectation,
whatever the past. So the wealth of a gambler who never bets all is a supermartingale from 1, and it
exceeds 1/level with probability at most level, at any time (Ville, 1939).
"""

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, final

import numpy as np

from neyman.audit._checks import check_level
from neyman.audit._null import Claim, check_claim
from neyman.audit._scores import real_array
from neyman.calls import plain_calls_of
from neyman.curves import TradeOff
from neyman.displayed import Displayed
from neyman.errors import InvalidParameter
from neyman.numerics import Array
from neyman.numerics._special import ndtri

__all__ = ["Sequential"]

# Of the claim's own mu: what the three bets of a portfolio are about.
_EPSILONS: Final[Array] = np.array([0.0, 0.5, 1.0])
# Shares of the wealth, for a claim of advantage .383 (mu = 1); below 1/2 none can lose all.
_SHARES, _MOST_SHARE, _TYPICAL = np.array([0.1, 0.22, 0.5]), 0.45, 0.383
_LEARN = 2
_SPREAD = 1e-12


@plain_calls_of
@final
@dataclass(slots=True, eq=False)
class Sequential(Displayed):
    """A test of a claim by scores that come one after another.

        g_eps = [phi(X) - e^eps phi(Y)] + [phi'(Y) - e^eps phi'(X)] - 2 delta(eps)

    X is a score with the record, Y one without; phi and phi' in [0, 1] call scores in the upper and
    in the lower tail, by thresholds learnt from the past alone. Wealth grows by the factor
    1 + lambda g / r, averaged over several lambda.

    Attributes:
        claim: f, a guarantee; or one direction of it, such as `f.remove`.
        level: the probability of ever refuting a claim that holds, at most.

    Guarantee: you may look after each score, stop when you like, and go on later: if the claim
        holds, `refuted` is ever True with probability at most `level`. The scores are of runs
        whose laws keep the claim given the past.

    Source: Ville (1939); Waudby-Smith and Ramdas (2024), "Estimating means of bounded random
        variables by betting"; docs/theory/audit.md.

    >>> import numpy as np
    >>> from neyman.curves import gdp
    >>> draw, test = np.random.default_rng(0), Sequential(gdp(1))
    >>> while not test.refuted:
    ...     test.update(inside=draw.normal(1, 0.5), outside=draw.normal(0, 0.5))
    >>> test.pairs < 200
    True
    """

    claim: Claim
    level: float = 0.05
    pairs: int = field(default=0, init=False)
    _epsilons: Array = field(init=False, repr=False)
    _deltas: Array = field(init=False, repr=False)
    _shares: Array = field(init=False, repr=False)
    _claimed: float = field(init=False, repr=False)
    _log_wealth: Array = field(init=False, repr=False)
    _wealth: list[float] = field(default_factory=list[float], init=False, repr=False)
    _largest: float = field(default=0.0, init=False, repr=False)
    _waiting: tuple[deque[float], deque[float]] = field(init=False, repr=False)
    _seen: "_Seen" = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Fix the bets by the claim alone."""
        check_claim(self.claim)
        check_level(self.level)
        dominating = self.claim.dominating()
        advantage = min(float(dominating.delta_bracket(np.asarray(0.0)).upper), 1.0)
        # The mu with this advantage.
        self._claimed = 2 * float(ndtri(np.asarray(min((1 + advantage) / 2, 1 - 1e-12))))
        self._epsilons = _EPSILONS * min(1.0, self._claimed)
        self._deltas = _both_deltas(self.claim, self._epsilons)
        self._shares = np.minimum(_SHARES * max(advantage, 1e-3) / _TYPICAL, _MOST_SHARE)
        self._log_wealth = np.zeros(self._shares.size)
        self._waiting = deque(), deque()
        self._seen = _Seen()

    @property
    def e_value(self) -> float:
        """The wealth now: under the claim, at most 1 in expectation."""
        top = float(self._log_wealth.max())
        mean = float(np.mean(np.exp(self._log_wealth - top)))
        return math.exp(min(top + math.log(mean), 700.0))

    @property
    def wealth(self) -> Array:
        """The e-value after each pair of scores that a bet was made on."""
        return np.array(self._wealth)

    @property
    def p_value(self) -> float:
        """One over the largest wealth so far: valid at any time."""
        return min(1.0, 1 / max(self._largest, 1.0))

    @property
    def refuted(self) -> bool:
        """Whether the wealth has ever reached 1 / level."""
        return self._largest >= 1 / self.level

    def update(
        self, *, inside: float | Iterable[float] = (), outside: float | Iterable[float] = ()
    ) -> None:
        """Add scores of runs with the record, and without; the side that is ahead waits.

        Raises:
            InvalidParameter: if a score is NaN or no number. Nothing is added.
        """
        sides = _listed("inside", inside), _listed("outside", outside)
        for waiting, scores in zip(self._waiting, sides, strict=True):
            waiting.extend(scores)
        while all(self._waiting):
            self._bet(self._waiting[0].popleft(), self._waiting[1].popleft())

    def __str__(self) -> str:
        found = "is refuted" if self.refuted else "is not refuted so far"
        return (
            f"{self.claim} {found} at level {self.level:g}, after {self.pairs:,} pairs of scores: "
            f"p = {self.p_value:.3g}, e-value {self.e_value:.3g}"
        )

    def _bet(self, inside: float, outside: float) -> None:
        if self.pairs >= _LEARN:
            middle, direction, offsets = self._seen.thresholds(self._epsilons, self._claimed)
            x, y = direction * (inside - middle), direction * (outside - middle)
            odds = np.exp(self._epsilons)
            gains = 1.0 * (x > offsets) - odds * (y > offsets)
            gains += 1.0 * (y < -offsets) - odds * (x < -offsets) - self._deltas
            payoff = float(np.mean(2 * gains / (2 * odds + self._deltas)))
            self._log_wealth += np.log1p(self._shares * payoff)
            self._wealth.append(self.e_value)
            self._largest = max(self._largest, self._wealth[-1])
        self._seen.add(inside, outside)
        self.pairs += 1


@final
@dataclass(slots=True)
class _Seen:
    """Running sums of both sides."""

    count: int = 0
    means: Array = field(default_factory=lambda: np.zeros(2))
    squares: float = 0.0

    def add(self, inside: float, outside: float) -> None:
        """Count a pair; scores that are not finite move no mean."""
        values = np.array([inside, outside])
        if not np.isfinite(values).all():
            return
        self.count += 1
        before = values - self.means
        self.means += before / self.count
        self.squares += float(np.sum(before * (values - self.means)))

    def thresholds(self, epsilons: Array, claimed: float) -> tuple[float, float, Array]:
        """Return the middle, the direction, and how far from the middle each bet's tails begin.

        At the likelihood ratio e^eps of a normal model; a claim that is broken has a larger effect
        than it claims.
        """
        spread = math.sqrt(max(self.squares / max(2 * self.count - 2, 1), _SPREAD))
        gap = float(self.means[0] - self.means[1])
        effect = max(abs(gap) / spread, claimed, 1e-3)
        return float(self.means.mean()), 1.0 if gap >= 0 else -1.0, epsilons * spread / effect


def _both_deltas(claim: Claim, epsilons: Array) -> Array:
    """Return delta(eps) of one direction and of the other, added, rounded up."""
    pair = claim.dominating()
    directions = (pair, pair.swap()) if not isinstance(claim, TradeOff) else (pair, pair)
    return np.sum(
        [np.minimum(each.delta_bracket(epsilons).upper, 1.0) for each in directions], axis=0
    )


def _listed(name: str, scores: float | Iterable[float]) -> list[float]:
    found = real_array(scores)
    if found is None or found.ndim > 1 or np.isnan(found).any():
        kind = type(scores).__name__
        raise InvalidParameter(
            f"{name} must be a score, or a list of scores, and every score a real number; got a "
            f"{kind} that is not. Give a run without a number a score of its own, such as -inf"
        )
    return np.atleast_1d(found).tolist()
