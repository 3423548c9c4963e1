"""Closed tails of two mixtures of unit normals, shifted to opposite sides, without cancellation.

With P ~ φ(z) A(z) and Q ~ φ(z) B(z) as in `_mixture_law`, the loss l = log B - log A increases,
and at its own values, for every z,

    delta(l(z)) = Σ q_j D(z, t_j) + e^l(z) Σ p_j e^(-s_j z - s_j²/2) D(z + s_j, s_j),  s_j = -t_j,
    D(z, t) = Φ(t - z) - e^(tz - t²/2) Φ(-z), the delta of G_t at tz - t²/2.

It is Q(Z > z) - e^l P(Z > z), less (B - e^l A) Φ(-z) = 0, which leaves positive terms only.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.numerics._bracket import ULP, Array, Bracket
from neyman.numerics._distributions._normal import gaussian_log_delta
from neyman.numerics._laws._shifts import Shifts
from neyman.numerics._rising import Risen, rising_root
from neyman.numerics._special import log_ndtr

__all__ = ["NormalMixtures"]

# Exponents up to it are exponentiated one by one.
_HUGE = 600.0
_LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)


@final
@dataclass(frozen=True, slots=True)
class NormalMixtures:
    """`p` has means <= 0, `q` means >= 0; means and weights within 2^-53 of what is meant."""

    p: Shifts
    q: Shifts

    # -- the loss -----------------------------------------------------------------------------

    def loss(self, z: Array) -> Risen:
        """Return l(z), relatively accurate where it is small."""
        with np.errstate(all="ignore"):
            value, error = self._near_loss(z)
            far = ~(np.maximum(_size(self.p, z), _size(self.q, z)) < _HUGE)
            if np.any(far):
                value[far], error[far] = self._far_loss(z[far])
            slope = _mean(self.q, z) - _mean(self.p, z)
        return Risen(value, error, slope)

    def _near_loss(self, z: Array) -> tuple[Array, Array]:
        """log1p of the difference over A where that is small, else the difference of logs."""
        (a, a_total, a_error), (b, b_total, b_error) = _ratio(self.p, z), _ratio(self.q, z)
        r, share = (b - a) / a_total, a_error / a_total
        small = np.abs(r) < 0.5
        log_a, log_b = np.log(a_total), np.log(b_total)
        value = np.where(small, np.log1p(np.where(small, r, 0.0)), log_b - log_a)
        moved = (_moved(self.p, z) + _moved(self.q, z)) / a_total
        close = 2 * (moved + np.abs(r) * share)
        apart = 2 * share + 2 * b_error / b_total + ULP * (np.abs(log_b) + np.abs(log_a))
        return value, np.where(small, close, apart) + ULP * np.abs(value)

    def _far_loss(self, z: Array) -> tuple[Array, Array]:
        a, b = _log_ratio(self.p, z), _log_ratio(self.q, z)
        size = _size(self.p, z) + _size(self.q, z)
        return b - a, ULP * (8 + 2 * size + np.abs(a) + np.abs(b))

    def place(self, t: Array) -> Bracket:
        """Bracket the z with l(z) = t, one dimension."""
        return rising_root(self.loss, t)

    # -- tails at a place ---------------------------------------------------------------------

    def log_p_above(self, z: Array) -> Bracket:
        """Log P(Z > z); its error is that of log Φ, and of its argument times its slope."""
        return _tail(self.p, z, 1)

    def log_p_below(self, z: Array) -> Bracket:
        """Log P(Z <= z)."""
        return _tail(self.p, z, -1)

    def log_q_above(self, z: Array) -> Bracket:
        """Log Q(Z > z)."""
        return _tail(self.q, z, 1)

    def log_q_below(self, z: Array) -> Bracket:
        """Log Q(Z <= z)."""
        return _tail(self.q, z, -1)

    def place_of_p(self, log_tail: Array, *, above: bool) -> Bracket:
        """Bracket the z at which log P(Z > z), or log P(Z <= z), is `log_tail`."""
        sign = 1 if above else -1

        def rising(x: Array) -> Risen:
            # P(Z > -x) and P(Z <= x) increase with x.
            z = -sign * x
            bounds = _tail(self.p, z, sign)
            log = (bounds.lower + bounds.upper) / 2
            density = _log_density(self.p, z)
            return Risen(log, (bounds.upper - bounds.lower) / 2, np.exp(density - log))

        found = rising_root(rising, log_tail)
        # `lower` is then where the tail is at most the target.
        return Bracket(-found.upper, -found.lower) if above else found

    def log_delta_at(self, z: Array) -> Bracket:
        """Bracket log delta(l(z)); infinite z are its limits."""
        lower, upper = np.full(z.shape, -np.inf), np.full(z.shape, -np.inf)
        with np.errstate(all="ignore"):
            loss = self.loss(z)
            for mean, weight in zip(self.q.means, self.q.weights, strict=True):
                if mean:
                    part = _log_step(z, mean)
                    lower = np.logaddexp(lower, np.log(weight) + part.lower)
                    upper = np.logaddexp(upper, np.log(weight) + part.upper)
            for mean, weight in zip(self.p.means, self.p.weights, strict=True):
                if mean:
                    s = -mean
                    part = _log_step(z + s, s)
                    lift = np.log(weight) - s * z - s * s / 2
                    wrong = loss.error + ULP * (2 + np.abs(s * z) + s * s)
                    lower = np.logaddexp(lower, lift + (loss.value - wrong) + part.lower)
                    upper = np.logaddexp(upper, lift + (loss.value + wrong) + part.upper)
            slack = ULP * (2 + np.abs(upper)) + ULP * (len(self.p.means) + len(self.q.means))
            lower, upper = lower - slack, upper + slack
        return Bracket(lower, np.minimum(np.where(np.isnan(upper), 0.0, upper), 0.0))


def _terms(shifts: Shifts, z: Array) -> Array:
    """Return t_j z - t_j²/2, a row for each mean."""
    means = np.asarray(shifts.means)[:, None]
    return means * np.ravel(z) - means * means / 2


def _size(shifts: Shifts, z: Array) -> Array:
    means = np.asarray(shifts.means)[:, None]
    return np.max(np.abs(means * z) + means * means, axis=0)


def _ratio(shifts: Shifts, z: Array) -> tuple[Array, Array, Array]:
    """Return the ratio to φ less 1, the ratio, and a bound of the ratio's error."""
    terms, weights = _terms(shifts, z), np.asarray(shifts.weights)
    means = np.asarray(shifts.means)[:, None]
    grown = np.exp(terms)
    error = ULP * (weights @ (grown * (2 + np.abs(means * z) + means * means)))
    return weights @ np.expm1(terms), weights @ grown, error


def _moved(shifts: Shifts, z: Array) -> Array:
    """Bound the error of the ratio less 1."""
    means = np.asarray(shifts.means)[:, None]
    terms = _terms(shifts, z)
    size = np.abs(means * z) + means * means
    weights = np.asarray(shifts.weights)
    return ULP * (weights @ (2 * np.abs(np.expm1(terms)) + np.exp(terms) * size))


def _log_ratio(shifts: Shifts, z: Array) -> Array:
    terms = _terms(shifts, z) + np.log(np.asarray(shifts.weights))[:, None]
    most = np.max(terms, axis=0)
    return most + np.log(np.sum(np.exp(terms - most), axis=0))


def _mean(shifts: Shifts, z: Array) -> Array:
    """Return the slope of the log ratio."""
    terms = _terms(shifts, z) + np.log(np.asarray(shifts.weights))[:, None]
    share = np.exp(terms - np.max(terms, axis=0))
    return np.asarray(shifts.means) @ (share / share.sum(axis=0))


def _log_density(shifts: Shifts, z: Array) -> Array:
    return _log_ratio(shifts, z) - z * z / 2 - _LOG_SQRT_2PI


def _tail(shifts: Shifts, z: Array, sign: int) -> Bracket:
    """Bracket log Σ w_j Φ(sign (t_j - z)).

    Error: ULP of each log Φ, and its slope, below 1 + |x| left of 0, times ULP (|z| + |t_j|).
    """
    means, logs = np.asarray(shifts.means)[:, None], np.log(np.asarray(shifts.weights))[:, None]
    x = sign * (means - z)
    with np.errstate(all="ignore"):
        log = log_ndtr(x)
        error = ULP * (2 + np.abs(log) + (np.abs(z) + np.abs(means)) * _steepness(x))
        error = np.where(np.isinf(x), 0.0, error)
        bounds = (np.logaddexp.reduce(logs + log + way * error, axis=0) for way in (-1, 1))
        lower, upper = bounds
        slack = ULP * (len(shifts.means) + np.where(np.isfinite(upper), np.abs(upper), 0.0))
    return Bracket(lower - slack, np.minimum(upper + slack, 0.0))


def _steepness(x: Array) -> Array:
    """Bound d log Φ / dx: 1 - x to the left of 0, φ(x)/Φ(x) <= 2 φ(x) to the right."""
    return np.where(x < 0, 1 - x, np.exp(-np.minimum(x * x, 1e4) / 2))


def _log_step(z: Array, t: float) -> Bracket:
    """Bracket log D(z, t) for t known within 2^-53.

    D increases with t, by less than t (1 + t |z|) D/t relatively.
    """
    size = t * np.abs(z) + t * t
    epsilon, wrong = t * z - t * t / 2, ULP * size
    mu = np.asarray(t)
    low = gaussian_log_delta(epsilon + wrong, mu).lower
    high = gaussian_log_delta(epsilon - wrong, mu).upper
    slack = ULP * (2 + size)
    return Bracket(low - slack, np.minimum(high + slack, 0.0))
