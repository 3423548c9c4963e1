"""Views by the tails of the loss alone: exact formulas, evaluated without a proved error."""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

import numpy as np

from neyman.numerics import Array, ComplexArray, Interval

__all__ = [
    "Tails",
    "WithTails",
    "estimated_beta",
    "estimated_log_delta",
    "estimated_renyi",
    "estimated_threshold",
    "estimated_tpr",
    "middles",
]

_STEPS = 200
# Losses that are equal but for rounding, and the share of a size that no density has there.
_SAME, _NO_ATOM = 1e-12, 1e-9


class Tails(NamedTuple):
    """Logarithms of the tail probabilities of the loss L = log dQ/dP at some thresholds."""

    p_above: Array
    p_below: Array
    q_above: Array
    q_below: Array


def middles(sides: Iterable[Interval]) -> Tails:
    """Return the middles of brackets of the four tails; the upper end where the lower is none."""
    return Tails(*(np.where(np.isfinite(b.lower), (b.lower + b.upper) / 2, b.upper) for b in sides))


class WithTails(Protocol):
    """A pair that knows the tails and the cumulant of its loss."""

    @property
    def log_singular(self) -> tuple[float, float]: ...
    def log_tails(self, t: Array, *, closed: bool = False) -> Tails: ...
    def cumulant(self, s: ComplexArray) -> ComplexArray: ...


def estimated_log_delta(pair: WithTails, epsilon: Array) -> Interval:
    """Return log(Q(L > epsilon) - e^epsilon P(L > epsilon))."""
    with np.errstate(all="ignore"):
        tails = pair.log_tails(epsilon)
        ratio = np.minimum(epsilon + tails.p_above - tails.q_above, 0.0)
        log = tails.q_above + np.log(-np.expm1(ratio))
    log = np.where(np.isneginf(tails.q_above), -np.inf, log)
    log = np.where(np.isneginf(tails.p_above), tails.q_above, log)
    log = np.where(np.isposinf(epsilon), pair.log_singular[0], log)
    return Interval(log, log)


def estimated_threshold(pair: WithTails, alpha: Array) -> tuple[Array, Array]:
    """Return t and the coin at L = t of the best test of size alpha in (0, 1)."""
    with np.errstate(all="ignore"):
        t = _threshold(pair, alpha)
        near = _SAME * (1 + np.abs(t))
        above = np.exp(pair.log_tails(t + near).p_above)
        atom = np.exp(pair.log_tails(t - near, closed=True).p_above) - above
        coin = np.clip((alpha - above) / atom, 0.0, 1.0)
    # What a density has within rounding of the threshold is no atom.
    return t, np.where(atom > _NO_ATOM * alpha, coin, 0.0)


def estimated_beta(pair: WithTails, alpha: Array) -> Interval:
    """Return f(alpha)."""
    with np.errstate(all="ignore"):
        tails, spent = _best_test(pair, alpha)
        value = np.clip(np.exp(tails.q_below) - spent, 0.0, 1 - alpha)
    return Interval(value, value)


def estimated_tpr(pair: WithTails, alpha: Array) -> Interval:
    """Return 1 - f(alpha)."""
    with np.errstate(all="ignore"):
        tails, spent = _best_test(pair, alpha)
        value = np.clip(np.exp(tails.q_above) + spent, alpha, 1.0)
    return Interval(value, value)


def estimated_renyi(pair: WithTails, order: Array) -> Interval:
    """Return K(order) / (order - 1); K'(1) at order 1, the largest loss at infinity."""
    q_singular, _ = pair.log_singular
    step = 1e-20
    middle = np.where(np.isfinite(order) & (order != 1), order, 2.0)
    with np.errstate(all="ignore"):
        value = np.real(pair.cumulant(middle.astype(np.complex128))) / (middle - 1)
        slope = np.imag(pair.cumulant(np.asarray(1 + 1j * step))) / step
    value = np.where(order == 1, slope, value)
    # fmin: where a cumulant overflows, the largest loss still bounds the divergence.
    largest = np.inf if q_singular > -np.inf else _largest_loss(pair)
    value = np.fmin(np.where(np.isposinf(order), largest, value), largest)
    if q_singular > -np.inf:
        value = np.where(order >= 1, np.inf, value)
    return Interval(value, value)


def _threshold(pair: WithTails, alpha: Array) -> Array:
    """Return the smallest t with P(L > t) <= alpha, by bisection."""
    level = np.log(alpha)
    low, high = np.full(alpha.shape, -1.0), np.full(alpha.shape, 1.0)
    for _ in range(60):
        left, right = (pair.log_tails(end).p_above for end in (low, high))
        if np.all((left > level) & (right <= level)):
            break
        low = np.where(left <= level, low * 2, low)
        high = np.where(right > level, high * 2, high)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        holds = pair.log_tails(middle).p_above <= level
        if np.all((middle == low) | (middle == high)):
            break
        low, high = np.where(holds, low, middle), np.where(holds, middle, high)
    return high


def _best_test(pair: WithTails, alpha: Array) -> tuple[Tails, Array]:
    """Return the tails at the threshold t, and e^t (alpha - P(L > t)), the power of the coin."""
    high = _threshold(pair, alpha)
    tails = pair.log_tails(high)
    spent = np.exp(high) * (alpha - np.exp(tails.p_above))
    return tails, np.where(np.isfinite(spent), spent, 0.0)


def _largest_loss(pair: WithTails) -> float:
    top = 1.0
    while float(pair.log_tails(np.asarray(top)).q_above) > -np.inf:
        top *= 2
        if top > 1e6:
            return np.inf
    low = 0.0
    for _ in range(_STEPS):
        middle = (low + top) / 2
        inside = float(pair.log_tails(np.asarray(middle)).q_above) > -np.inf
        low, top = (middle, top) if inside else (low, middle)
    return top
