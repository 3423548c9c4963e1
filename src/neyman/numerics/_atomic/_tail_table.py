"""Tails and profile of a law of log-likelihood ratios with finitely many atoms, from both sides.

With atoms l_0 < ... < l_{w-1}, masses p_j under P and q_j = p_j e^{l_j} under Q, everything is a
sum of non-negative terms, so that nothing cancels:

    P(L >= l_j), P(L < l_j), Q(L >= l_j), Q(L < l_j)     sums of masses
    E(x) = E_P[(e^L - e^x)_+]:   E(l_j) = sum_{i >= j} (e^{l_{i+1}} - e^{l_i}) P(L >= l_{i+1})
    E(x) = E(l_j) + (e^{l_j} - e^x) P(L >= l_j)           on [l_{j-1}, l_j]
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.numerics._bracket import ULP, Array, Bracket

__all__ = ["TailTable", "tail_table"]

_ZERO = np.full(1, -np.inf)
# Covers the rounding of places up to 10^9.
_ROOM = 1e-6


@final
@dataclass(frozen=True, slots=True, eq=False)
class TailTable:
    """Logarithms, as brackets, at the atoms and one place past the last; shape (w + 1,).

    Attributes:
        places: the atoms l_j, shape (w,); each within `place_error` and 2^-52 of itself.
        place_error: absolute.
        p_above: log P(L >= l_j), without the mass at -inf; at w only what the atoms leave out.
        p_below: log P(L < l_j), with the mass at -inf.
        q_above: log Q(L >= l_j), with the mass at +inf.
        q_below: log Q(L < l_j).
        excess: log E(l_j), with the mass at +inf.
    """

    places: Array
    place_error: float
    p_above: Bracket
    p_below: Bracket
    q_above: Bracket
    q_below: Bracket
    excess: Bracket


def tail_table(
    places: Array,
    gaps: Array,
    place_error: float,
    log_p: Bracket,
    log_q: Bracket,
    lost: tuple[float, float],
    only: tuple[Bracket, Bracket],
) -> TailTable:
    """Sum the masses up, outwards.

    Args:
        places: increasing, shape (w,).
        gaps: of the places, as accurate as can be, shape (w - 1,).
        place_error: absolute error of the places; 0 where only rounding is at work.
        log_p: log masses under P.
        log_q: log masses under Q.
        lost: logs of upper bounds of the P- and Q-mass that the atoms leave out.
        only: brackets of log Q{L = inf} and of log P{L = -inf}.
    """
    q_only, p_only = only
    lost_p, lost_q = lost
    # What is lost beyond l weighs under P at most e^-l times what it weighs under Q.
    right = np.append(places, places[-1:]) if places.size else np.zeros(1)
    left = np.append(places, 1e300)
    p_above = _plus(_sums(log_p), _at_most(np.minimum(lost_p, lost_q - right + _ROOM)))
    p_below = _plus(_turned(_sums(_turned(log_p))), _at_most(np.full(left.shape, lost_p)))
    q_above = _plus(_plus(_sums(log_q), _at_most(np.full(left.shape, lost_q))), q_only)
    q_below = _plus(
        _turned(_sums(_turned(log_q))), _at_most(np.minimum(lost_q, lost_p + left + _ROOM))
    )
    with np.errstate(divide="ignore", over="ignore"):
        low, high = (
            places[:-1] + _log_expm1(np.maximum(gaps + sign * 2 * place_error, 0.0))
            for sign in (-1, 1)
        )
    steps = Bracket(
        _rounded(low + p_above.lower[1:-1], -1, 1 + np.abs(places[:-1])),
        _rounded(high + p_above.upper[1:-1], 1, 1 + np.abs(places[:-1])),
    )
    # From the last atom on nothing is in excess but what lies beyond.
    inner = _sums(steps)
    ends = Bracket(np.append(inner.lower, -np.inf), np.append(inner.upper, -np.inf))
    beyond = _plus(Bracket(_ZERO, np.full(1, lost[1])), q_only)
    return TailTable(
        places, place_error, p_above, _plus(p_below, p_only), q_above, q_below, _plus(ends, beyond)
    )


def _log_expm1(x: Array) -> Array:
    """Return log(e^x - 1) for x >= 0, without overflow."""
    large = np.maximum(x, 1.0)
    return np.where(x > 1, large + np.log(-np.expm1(-large)), np.log(np.expm1(np.minimum(x, 1.0))))


def _turned(bracket: Bracket) -> Bracket:
    return Bracket(bracket.lower[::-1], bracket.upper[::-1])


def _rounded(log: Array, sign: int, weight: Array | float = 1.0) -> Array:
    """Return a logarithm moved outwards by `weight` ULP and its own rounding."""
    error = ULP * (weight + np.abs(log) / 2)
    return log + sign * np.where(np.isfinite(log), error, 0.0)


def _plus(log: Bracket, more: Bracket) -> Bracket:
    """Return the logarithms of the sums; where nothing is added, the bracket itself."""

    def total(a: Array, b: Array, sign: int) -> Array:
        return np.where(np.isneginf(b), a, _rounded(np.logaddexp(a, b), sign))

    return Bracket(total(log.lower, more.lower, -1), total(log.upper, more.upper, 1))


def _at_most(log: Array) -> Bracket:
    return Bracket(np.full(log.shape, -np.inf), log)


def _sums(log: Bracket) -> Bracket:
    """Return the logarithms of the sums from each place to the end, and of none."""
    lower, upper = _scan(log.lower, -1), _scan(log.upper, 1)
    return Bracket(np.append(lower, -np.inf), np.append(upper, -np.inf))


def _scan(log: Array, sign: int) -> Array:
    """Return log sum_{i >= j} e^{log_i}, moved outwards by the rounding of all additions.

    An addition rounds by eta = ULP (1 + |sum| / 4), and an older error counts by its summand's
    share of the sum: so the error times the sum is the sum of eta times the sums.
    """
    if not log.size:
        return log
    total = np.logaddexp.accumulate(log[::-1])
    known = np.isfinite(total)
    size = np.where(known, total, 0.0)
    eta = np.where(known, size + np.log(ULP * (1 + np.abs(size) / 4)), -np.inf)
    error = np.exp(np.logaddexp.accumulate(eta) - size) * 1.01
    error = np.where(known, error, 0.0)
    return (total + sign * error)[::-1]
