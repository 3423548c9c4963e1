"""Lower bounds from one run with many canaries, each included by a fair coin."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, final

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from neyman.arguments import brief
from neyman.audit._canaries import Canaries
from neyman.audit._checks import check_delta, check_level, seed_of
from neyman.audit._null import Claim, Null, check_claim
from neyman.audit._scores import real_array
from neyman.calls import plain_calls
from neyman.curves import TradeOff
from neyman.displayed import Displayed
from neyman.errors import InvalidParameter
from neyman.numerics import Array, at_most
from neyman.numerics._special import log_gamma, ndtr, ndtri

__all__ = ["Guesses", "OneRun", "one_run"]

_LOOKS: Final = 8
_FEWEST: Final = 16
_MOST_EPSILON, _MOST_MU = 60.0, 40.0
_NEAR: Final = 1e-5
# Of sums of as many chances as there are guesses.
_SAFE: Final = 1e-9
_NODES: Final = np.geomspace(1e-12, 0.5, 150)
_LEVELS: Final = np.geomspace(1e-9, 1, 361).tolist()

Inverse = Callable[[float], float]
"""The false positive rate that the claim asks for a true positive rate, rounded down."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Guesses:
    """Guesses about the canaries with the most extreme scores.

    Attributes:
        made: r, half of them "in" and half "out"; fixed by the number of canaries.
        right: v.
        of: m, the number of canaries.
    """

    made: int
    right: int
    of: int


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class OneRun(Displayed):
    """What one run with canaries shows.

    Attributes:
        epsilon: lower bound of epsilon at delta; 0 where nothing is shown. A bound where `bound`.
        mu: lower bound of mu, for the claim of mu-GDP.
        delta: of epsilon.
        level: the probability that any of the bounds exceeds the truth, or that a claim that holds
            is refuted, at most: all of them hold together.
        most_epsilon: the bound of epsilon if every guess is right: with this number of canaries, no
            run can show more.
        most_mu: the same for mu.
        guesses: that were looked at, each at its share of the level.
        p_value: of the claim; None where none was given.
        commitment: to the coins, from before the run; None where they came as a plain list.
        claim: that was tested; None where none was given.
    """

    epsilon: float
    mu: float
    delta: float
    level: float
    most_epsilon: float
    most_mu: float
    guesses: tuple[Guesses, ...]
    p_value: float | None = None
    commitment: str | None = None
    claim: Claim | None = None

    @property
    def bound(self) -> bool:
        """Whether the coins were committed: else nothing shows that they were fair."""
        return self.commitment is not None

    @property
    def refuted(self) -> bool:
        """Whether the claim is refuted at the level."""
        return self.p_value is not None and self.p_value <= self.level

    def __str__(self) -> str:
        m = self.guesses[0].of
        found = (
            f"{self._tested()}epsilon >= {self.epsilon:.4g} at delta = {self.delta:g}, and mu >= "
            f"{self.mu:.4g}, together at confidence {1 - self.level:g}"
        )
        most = (
            f"With {m:,} canaries, no run can show more than epsilon = {self.most_epsilon:.4g} and "
            f"mu = {self.most_mu:.4g}"
        )
        if self.bound:
            return (
                f"{found}. The coins are those of the commitment {self.commitment}: compare it "
                f"with what was published before the run. {most}"
            )
        return (
            f"If the coins of the {m:,} canaries were fair and independent: {found}. Nothing shows "
            f"that they were: no commitment was made before the run. {most}"
        )

    def _tested(self) -> str:
        if self.p_value is None:
            return ""
        found = "is refuted" if self.refuted else "is not refuted"
        p = at_most(self.p_value, 3)
        return f"{brief(self.claim)} {found} at level {self.level:g}: p = {p}. "


@plain_calls
def one_run(
    *,
    scores: npt.ArrayLike,
    included: Canaries | npt.ArrayLike,
    delta: float,
    level: float = 0.05,
    claim: Claim | None = None,
    seed: int | None = None,
) -> OneRun:
    """Return lower bounds on the privacy loss of a mechanism, from one run.

    The canaries with the highest scores are guessed "in", as many with the lowest "out", and the
    rest are left out: for eight numbers of guesses that are fixed by the number of canaries, each
    at an eighth of the level.

    Args:
        scores: one for each canary; a high score speaks for its inclusion.
        included: the `canaries` of the run, whose coins were committed before it; or whether each
            canary was included, a list of 0 and 1. A list gives the same numbers, but they are
            not bounds by themselves: only a commitment excludes coins that were drawn half and
            half, chosen by hand, or read off the scores.
        delta: of epsilon. You may run this again with another delta: bounds at all delta hold
            together.
        level: the probability that any of the bounds exceeds the truth, at most.
        claim: a guarantee to test as well; the hull of its two directions counts.
        seed: of the coins that order equal scores; None throws them anew.

    Guarantee: if the inclusions are independent fair coins, and the run saw nothing of the coins
        but the canaries, a bound is above the truth, or a claim that holds is refuted, with
        probability at most `level`: all bounds, at all delta, and all claims together. The
        canaries may influence each other in the run. The result is called a bound where the coins
        were committed.

    Raises:
        InvalidParameter: if the lists do not fit, or a number is outside its range.

    Source: Steinke, Nasr and Jagielski (2023), theorem 5.2, for epsilon; Mahloujifar, Melis and
        Chaudhuri (2024) for curves. Both hold for a number of guesses fixed beforehand.

    >>> from neyman.audit import canaries
    >>> made = canaries(80)
    >>> found = one_run(scores=made.included * 1.0, included=made, delta=0)
    >>> found.epsilon > 1, found.epsilon <= found.most_epsilon, found.bound
    (True, True, True)
    """
    committed = included.commitment if isinstance(included, Canaries) else None
    coins = included.included if isinstance(included, Canaries) else included
    values, inside = _read(scores, coins)
    check_level(level)
    check_delta(delta)
    draw = np.random.default_rng(seed_of(seed))
    looks = _guesses(values, inside, draw)
    share = level / len(looks)
    best = tuple(Guesses(made=one.made, right=one.made, of=one.of) for one in looks)

    def pure(one: Guesses, epsilon: float) -> bool:
        return _pure_p(one, epsilon, delta) <= share

    def gaussian(one: Guesses, mu: float) -> bool:
        return _refutes(one, _gaussian(mu), share)

    p = None
    if claim is not None:
        inverse = _tabled(_hull(claim))
        p = min(1.0, len(looks) * min(_p_value(one, inverse) for one in looks))
    return OneRun(
        epsilon=_most_refuted(pure, looks, _MOST_EPSILON),
        mu=_most_refuted(gaussian, looks, _MOST_MU),
        delta=delta,
        level=level,
        most_epsilon=_most_refuted(pure, best, _MOST_EPSILON),
        most_mu=_most_refuted(gaussian, best, _MOST_MU),
        guesses=looks,
        p_value=p,
        commitment=committed,
        claim=claim,
    )


def _read(scores: npt.ArrayLike, included: npt.ArrayLike) -> tuple[Array, NDArray[np.bool_]]:
    values, coins = real_array(scores), real_array(included)
    if values is None or values.ndim != 1 or values.size == 0 or np.isnan(values).any():
        raise InvalidParameter(
            "scores must be a list of real numbers, one for each canary; got a "
            f"{type(scores).__name__} that is not. Give a canary without a number a score of its "
            "own, such as -inf"
        )
    if coins is None or coins.ndim != 1 or not np.isin(coins, (0.0, 1.0)).all():
        raise InvalidParameter(
            f"included must be the canaries of the run, or a list of 0 and 1; got a "
            f"{type(included).__name__} that is neither. Write included=canaries"
        )
    if values.size != coins.size:
        raise InvalidParameter(
            f"scores and included must be of one length; got {values.size} scores and {coins.size} "
            "coins. Write one score for each canary, also for those that were left out"
        )
    return values, coins.astype(np.bool_)


def _guesses(
    scores: Array, included: NDArray[np.bool_], draw: np.random.Generator
) -> tuple[Guesses, ...]:
    m = scores.size
    sizes = np.geomspace(min(_FEWEST, m), m, _LOOKS) / 2
    halves = np.unique(np.maximum(np.floor(sizes), 1).astype(np.intp)) if m > 1 else np.array([0])
    # Equal scores stand in an order that knows nothing of the coins.
    order = np.lexsort((draw.permutation(m), scores))
    coins = included[order]
    if m == 1:
        return (Guesses(made=1, right=int(coins[0]), of=1),)
    outs, ins = np.cumsum(~coins), np.cumsum(coins[::-1])
    return tuple(
        Guesses(made=2 * half, right=int(outs[half - 1] + ins[half - 1]), of=m)
        for half in halves.tolist()
    )


def _pure_p(one: Guesses, epsilon: float, delta: float) -> float:
    """Return the p-value of (epsilon, delta)-DP for r guesses, v of them right, rounded up."""
    r, v = one.made, one.right
    k = np.arange(r + 1.0)
    factorials = log_gamma(np.arange(1.0, r + 2))
    masses = factorials[-1] - factorials - factorials[::-1]
    # q = e^eps / (1 + e^eps)
    masses = np.exp(masses + k * epsilon - r * float(np.logaddexp(0.0, epsilon)))
    above = np.cumsum(masses[::-1])[::-1] * (1 + _SAFE)
    least = float(above[v])
    if delta == 0 or v == 0:
        return min(1.0, least)
    gains = (above[v - 1 :: -1] - least) / np.arange(1.0, v + 1)
    return min(1.0, least + 2 * one.of * delta * max(float(gains.max()), 0.0))


def _refutes(one: Guesses, inverse: Inverse, level: float) -> bool:
    """Whether r guesses, v of them right, refute the claim at this level."""
    r, v, m = one.made, one.right, one.of
    right, wrong = level * v / m, level * (r - v) / m
    for i in range(v - 1, -1, -1):
        known = max(wrong, inverse(right))
        if known <= wrong and i < v - 1:
            break
        right = min(1.0, right + i / (r - i) * (known - wrong))
        wrong = known
    return (right + wrong) * (1 - _SAFE) > r / m


def _p_value(one: Guesses, inverse: Inverse) -> float:
    """Return the least level of a ladder at which the claim is refuted."""
    levels = [level for level in _LEVELS if _refutes(one, inverse, level)]
    return min(levels, default=1.0)


def _largest(
    holds: Callable[[float], bool], most: float, low: float = 0.0, near: float = _NEAR
) -> float:
    """Return a number at which it holds, near the largest one; `low` where it holds at none."""
    high, step = low, 0.25
    while high < most and (high == low or holds(high)):
        low, high, step = high, min(high + step, most), 2 * step
    while high - low > near:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _most_refuted(
    refuted: Callable[[Guesses, float], bool], looks: tuple[Guesses, ...], most: float
) -> float:
    """Return the largest parameter that one of the looks refutes."""
    found = 0.0
    for one in reversed(looks):
        if refuted(one, found + _NEAR):
            found = _largest(partial(refuted, one), most, found + _NEAR)
    return found


def _gaussian(mu: float) -> Inverse:
    """The FPR that mu-GDP asks for a TPR of y: Phi(Phi^-1(y) - mu)."""

    def inverse(y: float) -> float:
        return float(ndtr(ndtri(np.asarray(y)) - mu)) * (1 - _SAFE)

    return inverse


def _tabled(claim: TradeOff) -> Inverse:
    """The FPR that a symmetric claim asks for a TPR of y, f(1 - y), from a table, rounded down."""
    # From half on the nodes lie as near to 1 as below it to 0.
    y = np.concatenate([[0.0], _NODES, 1 - _NODES[-2::-1], [1.0]])
    low, high = (np.clip(end, 0.0, 1.0) for end in Null(claim).ends(1.0 - y))
    slopes = np.append(0.0, np.maximum(low[1:] - high[:-1], 0.0) / np.diff(y))

    def inverse(at: float) -> float:
        left = int(np.searchsorted(y, at, side="right")) - 1
        # A convex function is above the line through the two nodes before.
        return float(low[left] + slopes[left] * (at - y[left]))

    return inverse


def _hull(claim: Claim) -> TradeOff:
    """Return a symmetric claim that is implied."""
    check_claim(claim)
    return claim.dominating() if isinstance(claim, TradeOff) else TradeOff(claim, claim.swap())
