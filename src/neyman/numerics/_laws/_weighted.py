"""The cumulant of a loss that is a weighted sum over points, with the error of the summing.

    e^K(s) - 1 = E_P[e^(sl) - 1 - s (e^l - 1)],    since E_P[e^l - 1] = 0,

keeps its digits however close P and Q are. Where |s l| is small the sum goes by the moments of the
loss, for all s at once; elsewhere by sines and cosines.
"""

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.numerics._bracket import ULP, Array
from neyman.numerics._complex import (
    ComplexArray,
    Numbers,
    complex_log1p,
    expm1_minus,
    log1p_minus,
)
from neyman.numerics._laws._loss_law import RealCumulant

__all__ = [
    "LAST_ORDER",
    "PER_TERM",
    "SMALL",
    "WeightedLosses",
    "log_error",
    "logged",
    "turned_at",
    "turned_line",
]

# Up to it e^y - 1 - y is summed by moments, of so many orders.
SMALL, LAST_ORDER = 2.0, 26
_ORDERS = np.arange(2.0, LAST_ORDER)
# Beyond, exponents are added before exp is taken.
_HUGE = 600.0
# A dot product of N terms is within N/64 ULP of them, in at least eight partial sums.
PER_TERM = 1 / 64
_LOST = math.log(3)


@final
@dataclass(frozen=True, slots=True)
class WeightedLosses:
    """Points with log weights under P, losses l and r = e^l - 1."""

    log_weight: Array
    weight: Array
    loss: Array
    r: Array
    drift: float  # E_P[l - r]

    @classmethod
    def of(cls, log_weight: Array, r: Array, loss: Array | None = None) -> "WeightedLosses":
        """Compute what does not depend on s."""
        weight = np.exp(log_weight)
        known = np.log1p(r) if loss is None else loss
        return cls(log_weight, weight, known, r, float(weight @ log1p_minus(r, known)))

    def real(self, c: Array, wrong: Array) -> RealCumulant:
        """K at real c; `wrong` bounds an error of e^K from elsewhere.

        Error: besides `wrong`, 4 ULP of the terms, which are positive but for the drift's, and
        12 ULP of y (e^y - 1), for y = cl is within 2 ULP and e^y - 1 - y cancels; what has
        underflown is below 1e-40.
        """
        y = c[..., None] * self.loss
        near = np.minimum(y, _HUGE)
        with np.errstate(over="ignore", invalid="ignore"):
            lifted = self.weight * np.exp(near)
            curved = self.weight * expm1_minus(near)
            if np.any(y > _HUGE):
                far = np.exp(self.log_weight + y)
                lifted, curved = np.where(y > _HUGE, far, lifted), np.where(y > _HUGE, far, curved)
            size = curved.sum(axis=-1)
            total = size + c * self.drift
            rise = (lifted - self.weight) @ self.loss
            slope = (rise + self.drift) / (1 + total)
            curvature = (lifted @ (self.loss * self.loss)) / (1 + total) - slope * slope
            sums = 10 + PER_TERM * self.loss.size
            error = wrong + ULP * (4 * size + sums * np.abs(c * self.drift) + 12 * np.abs(c * rise))
            error = error + 1e-40
        return RealCumulant(np.log1p(total), log_error(error, 1 + total), slope, curvature)

    def most(self, c: Array, wrong: Array) -> Array:
        """Bound K at real c from above by e^y - 1 less the sum of y, y = cl; `wrong` as above.

        Each term is within ULP (1 + 2 |y|), for y is within 2 ULP: what is lost is ULP of
        E|e^y - 1| + E|y| and not of K.
        """
        y = np.multiply.outer(c, self.loss)
        if np.any(y > _HUGE):
            real = self.real(c, wrong)
            return real.value + real.error
        rise, size = self.weight * np.expm1(y), np.abs(self.loss)
        total = rise.sum(axis=-1) - c * (self.weight @ self.loss) + c * self.drift
        rise = np.abs(rise)
        terms = rise.sum(axis=-1) + 2 * np.abs(c) * (rise @ size)
        terms = terms + np.abs(c) * (4 * (self.weight @ size) + abs(self.drift))
        error = wrong + (10 + PER_TERM * self.loss.size) * ULP * terms + 1e-40
        value = np.log1p(total)
        return value + log_error(error, 1 + total) + ULP * np.abs(value)

    def sketch(self, c: Array) -> RealCumulant:
        """K at real c, about: within some ULP of E|cl| and of the sum for c = 0."""
        y, square = np.multiply.outer(c, self.loss), self.loss * self.loss
        with np.errstate(over="ignore", invalid="ignore"):
            rise = self.weight * np.expm1(np.minimum(y, _HUGE))
            if np.any(y > _HUGE):
                rise = np.where(y > _HUGE, np.exp(self.log_weight + y), rise)
            curved = rise.sum(axis=-1) - c * (self.weight @ self.loss) + c * self.drift
            slope = (rise @ self.loss + self.drift) / (1 + curved)
            curvature = (rise @ square + self.weight @ square) / (1 + curved) - slope * slope
            return RealCumulant(np.log1p(curved), np.zeros(c.shape), slope, curvature)

    def line(self, c: float, u: Array, wrong: Array) -> tuple[ComplexArray, Array]:
        """K(c + iu) for equally spaced u from 0, and a bound of its error; `wrong` as above."""
        return turned_line(self.log_weight, self.weight, self.loss, self.drift, (c, u), wrong)

    def at(self, s: ComplexArray) -> ComplexArray:
        """K at any complex points, with no bound of the error."""
        return turned_at(self.log_weight, self.weight, self.loss, self.drift, s)

    def tilted(self, c: float) -> Array:
        """Return the weights of e^(cl), normalised."""
        log = self.log_weight + c * self.loss
        share = np.exp(log - np.max(log))
        return share / share.sum()


def turned_line(
    log_weight: Numbers,
    weight: Numbers,
    loss: Numbers,
    drift: complex,
    at: tuple[float, Array],
    wrong: Array,
) -> tuple[ComplexArray, Array]:
    """Return K(c + iu) from points that may be complex, Im l >= 0, and a bound of its error.

    Args:
        log_weight: of the points.
        weight: their exponentials.
        loss: of the points.
        drift: sum of weight (l - e^l + 1).
        at: c, and equally spaced u from 0.
        wrong: bounds an error of e^K from elsewhere.
    """
    c, u = at
    s: ComplexArray = np.asarray(c + 1j * u, np.complex128)
    small = np.abs(loss) * math.hypot(c, float(u[-1])) < SMALL
    total, bend = _by_moments(loss[small], weight[small], s)
    sums = 10 + PER_TERM * loss.size
    rounded = sums * np.abs(s) * abs(drift) + 16 * np.abs(s) ** 2 * bend
    total = total + s * drift
    if not np.all(small):
        far = ~small
        part, error = _far(log_weight[far], weight[far], loss[far], c, u)
        total, rounded = total + part, rounded + error
    return logged(total, wrong + ULP * rounded)


def logged(total: ComplexArray, wrong: Array) -> tuple[ComplexArray, Array]:
    """Return log(1 + total), total known within `wrong`, and a bound of its error."""
    error = wrong + 4 * ULP * np.abs(total) + 1e-40
    size = np.abs(1 + total)
    # A sum that is lost in its error is replaced by a bound of it, which is off by twice itself.
    lost = ~(error < size / 2)
    with np.errstate(divide="ignore"):
        value = np.where(lost, np.log(size + error), complex_log1p(np.where(lost, 0.0, total)))
    return value, np.where(lost, _LOST, log_error(error, size)) + ULP * np.abs(value)


def turned_at(
    log_weight: Numbers, weight: Numbers, loss: Numbers, drift: complex, s: ComplexArray
) -> ComplexArray:
    """Return K at any complex points from points that may be complex, about."""
    y: ComplexArray = np.asarray(s[..., None] * loss, np.complex128)
    curved = expm1_minus(np.where(y.real < _HUGE, y, 0.0))
    far: ComplexArray = np.asarray(np.where(y.real < _HUGE, -np.inf, log_weight + y), np.complex128)
    # Beyond the doubles the scale is taken out, and what it leaves of the rest is nothing.
    top = np.maximum(np.max(far.real, axis=-1, initial=-np.inf) - _HUGE, 0.0)
    scale = np.exp(-top)
    total = (weight * curved).sum(axis=-1) + s * drift
    total = total * scale + np.exp(far - top[..., None]).sum(axis=-1)
    huge = top + np.log(np.where(top > 0, scale + total, 1.0))
    return np.where(top > 0, huge, complex_log1p(np.where(top > 0, 0.0, total)))


def _far(
    log_weight: Numbers, weight: Numbers, loss: Numbers, c: float, u: Array
) -> tuple[ComplexArray, Array]:
    """Return the sum of weight (e^(sl) - 1 - sl), and its rounding in ULP.

    What is far is little, so that e^(sl) and 1 may be summed apart.
    """
    lift = c * loss
    with np.errstate(over="ignore", invalid="ignore"):
        tilted = np.exp(log_weight + lift)
        level = weight @ loss
        part = _waves(u, loss, tilted) - weight.sum() - (c + 1j * u) * level
        size, plain = np.abs(tilted), np.abs(weight)
        flat = size * (4 + np.abs(lift) + np.abs(log_weight)) + plain * (4 + np.abs(lift))
        steep = (size + plain) * np.abs(loss)
        sums = 6 + PER_TERM * loss.size
        return part, sums * (flat.sum() + u * steep.sum())


def _waves(u: Array, loss: Numbers, tilted: Numbers) -> ComplexArray:
    """Return the sums of tilted e^(iul) for equally spaced u from 0.

    e^(i (u_a + u_b) l) factors, so that a product of two short matrices serves all heights.
    """
    width = math.isqrt(u.size - 1) + 1
    step = float(u[1]) if u.size > 1 else 0.0
    if abs(u[-1] - step * (u.size - 1)) > 1e-9 * (step + abs(u[-1])):
        raise ValueError("heights must be equally spaced from 0")
    inner = np.exp(1j * np.outer(loss, step * np.arange(width)))
    starts = step * width * np.arange(-(-u.size // width))
    outer = np.exp(1j * np.outer(starts, loss)) * tilted
    return np.asarray(outer @ inner, np.complex128).ravel()[: u.size]


def log_error(error: Array, size: Array) -> Array:
    """Bound the error of log x, x of modulus `size` known within `error`."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = error / size
        return np.where(share < 0.5, -np.log1p(-np.minimum(share, 0.5)), np.inf)


def _by_moments(loss: Numbers, weight: Numbers, s: ComplexArray) -> tuple[ComplexArray, float]:
    """Return the sum of weight (e^(sl) - 1 - sl) for |sl| < 2, and that of |weight l²/2|."""
    scale = float(np.max(np.abs(s), initial=1e-300))
    terms = np.multiply.outer(1 / _ORDERS, loss * scale)
    terms[0] *= weight * loss * scale
    bend = float(np.sum(np.abs(terms[0]))) / scale**2
    powers = np.multiply.outer(np.ones(_ORDERS.size), s / scale)
    powers[0] *= powers[0]
    moments = np.cumprod(terms, axis=0).sum(axis=1)
    return np.asarray(moments @ np.cumprod(powers, axis=0), np.complex128), bend
