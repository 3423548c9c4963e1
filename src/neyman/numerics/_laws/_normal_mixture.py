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

from neyman.numerics._bracket import Array
from neyman.numerics._disc import Disc
from neyman.numerics._distributions._normal import gaussian_log_delta
from neyman.numerics._interval import Interval, quiet
from neyman.numerics._laws._shifts import Shifts
from neyman.numerics._primitives import exp, log, log_phi
from neyman.numerics._rising import Risen, rising_root
from neyman.numerics._special import log_ndtr

__all__ = ["NormalMixtures"]

# Exponents up to it are exponentiated one by one.
_HUGE = 600.0
_LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)
# The relative error of means and weights, which are rounded.
_ROUNDED = 2.0**-53


@final
@dataclass(frozen=True, slots=True)
class NormalMixtures:
    """`p` has means <= 0, `q` means >= 0; means and weights within 2^-53 of the exact ones."""

    p: Shifts
    q: Shifts

    # -- the loss -----------------------------------------------------------------------------

    @quiet
    def loss(self, z: Array) -> Risen:
        """Return l(z), relatively accurate where it is small."""
        value, error = self._near_loss(z)
        far = ~(np.maximum(_size(self.p, z), _size(self.q, z)) < _HUGE)
        if np.any(far):
            value[far], error[far] = _log_ratio(self.q, z[far]) - _log_ratio(self.p, z[far])
        return Risen(value.real, error, self._slope(z))

    def _near_loss(self, z: Array) -> Disc:
        """log1p of the difference over A where that is small, else the difference of logs."""
        (a, less_a), (b, less_b) = _ratio(self.p, z), _ratio(self.q, z)
        r = (less_b - less_a) / a
        small = np.abs(r.value) < 0.5
        near = r.log1p()
        return near if np.all(small) else Disc.where(small, near, b.log() - a.log())

    @quiet
    def _about(self, z: Array) -> Risen:
        """Estimate l(z), with relative accuracy where it is small."""
        p, q = _exponents(self.p, z), _exponents(self.q, z)
        a, b = np.asarray(self.p.weights), np.asarray(self.q.weights)
        r = (np.expm1(q) @ b - np.expm1(p) @ a) / (np.exp(p) @ a)
        apart = _log_mean(q, b) - _log_mean(p, a)
        value = np.where(np.abs(r) < 0.5, np.log1p(np.where(np.abs(r) < 0.5, r, 0.0)), apart)
        return Risen(value, np.zeros(z.shape), self._slope(z))

    def _slope(self, z: Array) -> Array:
        return _mean(self.q, z) - _mean(self.p, z)

    def place(self, t: Array) -> Interval:
        """Bracket the z with l(z) = t, one dimension."""
        return _monotone(rising_root(self.loss, t, self._about), t)

    # -- tails at a place ---------------------------------------------------------------------

    def log_p_above(self, z: Array) -> Interval:
        """Log P(Z > z)."""
        return _tail(self.p, z, 1)

    def log_p_below(self, z: Array) -> Interval:
        """Log P(Z <= z)."""
        return _tail(self.p, z, -1)

    def log_q_above(self, z: Array) -> Interval:
        """Log Q(Z > z)."""
        return _tail(self.q, z, 1)

    def log_q_below(self, z: Array) -> Interval:
        """Log Q(Z <= z)."""
        return _tail(self.q, z, -1)

    def place_of_p(self, log_tail: Array, *, above: bool) -> Interval:
        """Bracket the z at which log P(Z > z), or log P(Z <= z), is `log_tail`."""
        sign = 1 if above else -1

        # P(Z > -x) and P(Z <= x) increase with x.
        def rising(x: Array) -> Risen:
            bounds = _tail(self.p, -sign * x, sign)
            log = bounds.middle
            return Risen(log, np.maximum(bounds.upper - log, log - bounds.lower), slope(x, log))

        def about(x: Array) -> Risen:
            log = _tail_about(self.p, -sign * x, sign)
            return Risen(log, np.zeros(x.shape), slope(x, log))

        def slope(x: Array, log: Array) -> Array:
            z = -sign * x
            density = _log_mean(_exponents(self.p, z), np.asarray(self.p.weights))
            return np.exp(density - z * z / 2 - _LOG_SQRT_2PI - log)

        found = rising_root(rising, log_tail, about)
        # `lower` is then where the tail is at most the target.
        return Interval(-found.upper, -found.lower) if above else found

    @quiet
    def log_delta_at(self, z: Array) -> Interval:
        """Bracket log delta(l(z)); infinite z are its limits."""
        loss, place = self.loss(z), Interval.exactly(z)
        rise = Interval.within(loss.value, 0.0, loss.error)
        parts: list[Interval] = []
        for mean, weight in _known(self.q):
            if np.all(mean.upper > 0):
                parts.append(log(weight) + _log_step(place, mean))
        for mean, weight in _known(self.p):
            if np.all(mean.lower < 0):
                moved = place - mean
                lift = log(weight) + (place - mean / 2) * mean + rise
                parts.append(lift + _log_step(moved, -mean))
        found = _log_sum(_stacked(parts))
        lower = np.where(np.isnan(found.lower), -np.inf, found.lower)
        upper = np.minimum(np.where(np.isnan(found.upper), 0.0, found.upper), 0.0)
        # Delta falls as z grows.
        return _monotone(Interval(lower, upper), -z)


def _monotone(found: Interval, at: Array) -> Interval:
    """Tighten brackets of an increasing function by those at smaller and larger arguments."""
    order, (lower, upper) = np.argsort(at, kind="stable"), (end.copy() for end in found)
    lower[order] = np.maximum.accumulate(lower[order])
    upper[order] = np.minimum.accumulate(upper[order][::-1])[::-1]
    return Interval(lower, upper)


def _known(shifts: Shifts) -> list[tuple[Interval, Interval]]:
    """Return the means and their weights, as they were meant."""
    means = Interval.within(np.asarray(shifts.means), _ROUNDED)
    weights = Interval.within(np.asarray(shifts.weights), _ROUNDED)
    places = np.arange(len(shifts.means))[:, None]
    return [(means.at(i), weights.at(i)) for i in places]


def _stacked(parts: list[Interval]) -> Interval:
    """Return them along a new last axis."""
    lower, upper = (np.stack(ends, axis=-1) for ends in zip(*parts, strict=True))
    return Interval(lower, upper)


def _log_sum(logs: Interval) -> Interval:
    """Return log Σ e^x along the last axis."""
    if logs.shape[-1] == 1:
        return Interval(logs.lower[..., 0], logs.upper[..., 0])
    top = np.max(logs.upper, axis=-1)
    top = np.where(np.isfinite(top), top, 0.0)
    total = Disc.over(exp(logs - top[..., None])).sum().log() + top
    # The sum of nothing but zeros is 0.
    nothing = np.all(np.isneginf(logs.upper), axis=-1)
    return Interval(
        np.where(nothing, -np.inf, total.lower), np.where(nothing, -np.inf, total.upper)
    )


def _exponents(shifts: Shifts, z: Array) -> Array:
    """Return about t_j z - t_j²/2, along the last axis."""
    means = np.asarray(shifts.means)
    return (z[:, None] - means / 2) * means


def _log_mean(logs: Array, weights: Array) -> Array:
    """Return about log Σ w e^x along the last axis."""
    total: Array = np.logaddexp.reduce(logs + np.log(weights), axis=-1)
    return total


def _terms(shifts: Shifts, z: Array) -> Disc:
    """Return t_j z - t_j²/2, along the last axis."""
    means = Disc.within(np.asarray(shifts.means), _ROUNDED)
    return (means * -0.5 + z[:, None]) * means


def _weights(shifts: Shifts) -> Disc:
    return Disc.within(np.asarray(shifts.weights), _ROUNDED)


def _size(shifts: Shifts, z: Array) -> Array:
    means = np.asarray(shifts.means)[:, None]
    return np.max(np.abs(means * z) + means * means, axis=0)


def _ratio(shifts: Shifts, z: Array) -> tuple[Disc, Disc]:
    """Return the ratio to φ, and the ratio less 1."""
    terms, weights = _terms(shifts, z), _weights(shifts)
    return terms.exp().dot(weights), terms.expm1().dot(weights)


def _log_ratio(shifts: Shifts, z: Array) -> Disc:
    terms = _terms(shifts, z) + _weights(shifts).log()
    top = terms.value.real.max(axis=-1)
    return (terms - top[:, None]).exp().sum().log() + top


def _mean(shifts: Shifts, z: Array) -> Array:
    """Return the slope of the log ratio."""
    terms = _exponents(shifts, z) + np.log(np.asarray(shifts.weights))
    share = np.exp(terms - np.max(terms, axis=-1, keepdims=True))
    return (share @ np.asarray(shifts.means)) / share.sum(axis=-1)


@quiet
def _tail(shifts: Shifts, z: Array, sign: int) -> Interval:
    """Bracket log Σ w_j Φ(sign (t_j - z))."""
    x = Interval.within(np.asarray(shifts.means), _ROUNDED) - z[:, None]
    weights = Interval.within(np.asarray(shifts.weights), _ROUNDED)
    found = _log_sum(log_phi(x if sign > 0 else -x) + log(weights))
    return Interval(found.lower, np.minimum(found.upper, 0.0))


@quiet
def _tail_about(shifts: Shifts, z: Array, sign: int) -> Array:
    logs = log_ndtr(sign * (np.asarray(shifts.means) - z[:, None]))
    return _log_mean(logs, np.asarray(shifts.weights))


def _log_step(z: Interval, t: Interval) -> Interval:
    """Bracket log D(z, t)."""
    return gaussian_log_delta((z - t / 2) * t, t)
