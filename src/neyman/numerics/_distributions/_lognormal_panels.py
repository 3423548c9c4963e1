"""Transforms of a lognormal variable of mean 1, by Gauss's rule and with a bound of the error.

X = e^(τz - τ²/2), z normal; for λ = c + iu, c > 0, and a sign ±, the sum is

    E[e^(±λ(X - 1)); z <= top] = 1 - t0 ± λ (t0 - t1) + E[e^w - 1 - w; z <= top], w = ±λ(X - 1),

t0 = P(z > top), t1 = E[X; z > top]: E X = 1 exactly, so nothing cancels for small λ. The error on a
panel is bounded on ellipses around it (Trefethen 2013, theorem 19.3). Proofs:
docs/theory/allocation.md.
"""

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.numerics._bracket import ULP, Array
from neyman.numerics._complex import ComplexArray, complex_log1p
from neyman.numerics._distributions._normal import normal_tail
from neyman.numerics._interval import Interval
from neyman.numerics._legendre import legendre

__all__ = ["Panels", "Transform", "transform"]

_ORDER = 20
_NODES, _WEIGHTS = legendre(_ORDER)
_ELLIPSES = np.asarray([1.3, 1.6, 2.0, 2.5, 3.0, 4.0, 6.0, 9.0, 14.0])[:, None]
_LOG_SQRT_2PI = math.log(2 * math.pi) / 2
_QUADRATURE = -40.0
# So far to the left of its peak an integrand has no mass to speak of: 1e-35.
_FAR = 12.5
_MOST_PANELS, _ROUNDS = 2**12, 40
_BLOCK = 2**18
# Heights from which on their exponentials are multiplied.
_MANY = 600
# Im of log X on the ellipses, at most.
_DEEPEST = 1.2


@final
@dataclass(frozen=True, slots=True)
class Panels:
    """Intervals [left, right] of z."""

    tau: float
    left: Array
    right: Array

    def x(self, z: Array) -> Array:
        """Return X."""
        return np.exp(self.tau * z - self.tau**2 / 2)

    def log_plain(self, sign: int, c: float, *, turn: float = 0.0, double: bool) -> Array:
        """Bound the log of the integral of the moduli over each panel, over |λ|² if double."""
        low, high = self.x(self.left), self.x(self.right)
        near = np.maximum(np.maximum(self.left, -self.right), 0.0)
        log = -near * near / 2 - _LOG_SQRT_2PI + np.log(self.right - self.left)
        growth = c * (high - 1) if sign > 0 else c * (1 - math.cos(turn) * low)
        if not double:
            return log + growth
        most = np.maximum(np.abs(high - 1), np.abs(low - 1))
        return log + np.maximum(growth, 0.0) + 2 * np.log(most) - math.log(2)

    def log_error(self, sign: int, c: float, u: float, *, turn: float = 0.0, double: bool) -> Array:
        """Bound the log of the error of Gauss's rule on each panel, |Im λ| <= u.

        With a turn, and not double, for e^(±rX - ±c), r >= c cos(turn) for the sign -, else <=.
        """
        half = (self.right - self.left) / 2
        centre = (self.right + self.left) / 2
        minor = half * (_ELLIPSES - 1 / _ELLIPSES) / 2
        reach = half * (_ELLIPSES + 1 / _ELLIPSES) / 2
        angle = self.tau * minor
        allowed = angle <= _DEEPEST
        angle = np.minimum(angle, _DEEPEST)
        far, close = centre + reach, centre - reach
        low, high = self.x(close), self.x(far)
        near = np.maximum(np.maximum(close, -far), 0.0)
        tilt = c * math.cos(turn)
        growth = tilt * high - c if sign > 0 else c - tilt * low * np.cos(angle)
        growth = growth + u * high * np.sin(angle)
        log = -near * near / 2 - _LOG_SQRT_2PI + minor * minor / 2 + np.log(half * 64 / 15)
        if double:
            most = np.maximum(np.abs(high - 1), np.abs(low - 1)) + 2 * high * np.sin(angle / 2)
            log = log + np.maximum(growth, 0.0) + 2 * np.log(most) - math.log(2)
        else:
            log = log + growth
        log = log - 2 * (_ORDER - 1) * np.log(_ELLIPSES) - np.log1p(-(_ELLIPSES**-2))
        best = np.min(np.where(allowed, log, np.inf), axis=0)
        # Nothing is more wrong than both values together.
        plain = self.log_plain(sign, c, turn=turn, double=double)
        return np.minimum(best, plain + math.log(2))

    def below(self, sign: int, c: float, turn: float = 0.0) -> float:
        """Bound the integral of φ e^(growth) left of the panels: its exponent falls at a rate."""
        z = float(self.left[0])
        x = math.exp(self.tau * z - self.tau**2 / 2)
        rate = -z - (c * self.tau * x if sign < 0 else 0.0)
        growth = 0.0 if sign > 0 else c * (1 - math.cos(turn) * x)
        if rate < 1:
            return math.inf
        return math.exp(min(growth - z * z / 2 - _LOG_SQRT_2PI, 700.0)) / rate * (1 + 1e-9)

    def enough(self, sign: int, c: float) -> float:
        """Return the log of the error that each panel may have."""
        total = _log_sum(self.log_plain(sign, c, double=True))
        return total + _QUADRATURE - math.log(self.left.size)

    def refined(self, sign: int, c: float, u: float) -> "tuple[Panels, Array]":
        """Return the panels halved until the bound of the error is small, or they are too many.

        And which of them are worth summing.
        """
        panels = self
        for _ in range(_ROUNDS):
            wrong = panels.log_error(sign, c, u, double=True)
            split = wrong > panels.enough(sign, c)
            if not np.any(split) or wrong.size > _MOST_PANELS:
                break
            middle = (panels.left + panels.right)[split] / 2
            left = np.sort(np.concatenate([panels.left, middle]))
            panels = Panels(self.tau, left, np.append(left[1:], panels.right[-1]))
        plain = panels.log_plain(sign, c, double=True)
        if sign < 0:
            return panels, np.ones(plain.shape)
        # The bounds at larger c need the right end.
        right = panels.log_plain(sign, 3 * c, double=True)
        worth = (plain > panels.enough(sign, c)) | (right > panels.enough(sign, 3 * c))
        return panels, np.where(worth, 1.0, 0.0)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Transform:
    """log E[e^(±λ(X - 1)); z <= top] on the line Re λ = c, up to a height.

    Attributes:
        sign: of the exponent.
        c: real part of λ.
        height: up to which the panels follow the phase.
        top: where z is cut.
        tails: brackets of t0 and t1.
        spare: bound of E[|e^(-λ(X - 1))|; z > top], for the part added back if the sign is -.
    """

    sign: int
    c: float
    height: float
    top: float
    panels: Panels
    tails: tuple[Interval, Interval]
    spare: float
    kept: Array
    z: Array
    log_weight: Array

    @property
    def _d(self) -> Array:
        return self.panels.x(self.z) - 1

    def _tilted(self, c: float) -> tuple[Array, float]:
        """Return the tilted weights, and the sum of those of e^w - 1 - w at a real point."""
        w = self.sign * c * self._d
        with np.errstate(over="ignore"):
            tilted = np.exp(self.log_weight + w)
        weight, near = np.exp(self.log_weight), np.abs(w) < 1
        small = np.where(near, w, 0.0)
        each = np.where(near, weight * (np.expm1(small) - small), tilted - weight - weight * w)
        return tilted, float(each.sum())

    def _rounding(self, c: float) -> float:
        """Bound what rounding adds to the sum, over |λ|."""
        x, tau = self.panels.x(self.z), self.panels.tau
        sizes = self._tilted(c)[0] + np.exp(self.log_weight)
        place = x * (3 + np.abs(tau * self.z) + tau**2)
        share = 24 + self.z**2 + self.z.size / 64 + c * np.abs(x - 1)
        return ULP * float(np.sum(sizes * (np.abs(x - 1) * share + place))) * (1 + 1e-9)

    def _quadrature(self, c: float, u: float, *, turn: float = 0.0, double: bool = True) -> float:
        """Bound the error of the sums but for rounding."""
        panels, s = self.panels, self.sign
        wrong = panels.log_error(s, c, u, turn=turn, double=double)
        plain = panels.log_plain(s, c, turn=turn, double=double)
        # Left of the panels |e^w - 1 - w| <= |w|²/2 max(1, |e^w|), |X - 1| <= 1.
        return panels.below(s, c, turn) + _exp_sum(np.where(self.kept > 0, wrong, plain))

    def _cut(self) -> tuple[float, float, float]:
        """Return t0, t0 - t1, and the error of the former plus |λ| times that of the latter."""
        t0, t1 = ((b.lower + b.upper) / 2 for b in self.tails)
        off0, off1 = ((b.upper - b.lower) / 2 for b in self.tails)
        return float(t0), float(t0 - t1), float(max(off0, off0 + off1) + ULP * (t0 + t1))

    def _error(self, c: float, size: Array, u: float) -> Array:
        """Bound the error of the transform at |λ| = size."""
        wrong = self._quadrature(c, u)
        _, _, off = self._cut()
        return (
            size * size * wrong
            + size * self._rounding(c)
            + off * (1 + size)
            + self.spare
            + 4 * ULP * size
        )

    def line(self, u: Array) -> tuple[ComplexArray, Array]:
        """Return log of the transform at c + iu, and a bound of its error; u up to the height."""
        d, s = self._d, self.sign
        tilted, flat = self._tilted(self.c)
        pull = float(np.exp(self.log_weight) @ d)
        turned, blur = _small(u, d, tilted) if u.size < _MANY else _many(u, d, tilted)
        real, imag = turned.real, turned.imag
        t0, gap, _ = self._cut()
        lam = self.c + 1j * u
        total = flat + real + s * 1j * (imag - u * pull) - t0 + s * lam * gap
        size = np.abs(lam)
        error = self._error(self.c, size, float(np.max(u, initial=0.0))) + blur
        return _log_of(np.asarray(total, np.complex128), error)

    def real(self, c: Array) -> tuple[Array, Array]:
        """Return the same at real points, which may lie beside the line."""
        s = self.sign
        t0, gap, _ = self._cut()
        values, errors = np.empty(c.shape), np.empty(c.shape)
        for i, point in enumerate(c.tolist()):
            with np.errstate(over="ignore"):
                total = self._tilted(point)[1] - t0 + s * point * gap
                error = float(self._error(point, np.asarray(point), 0.0))
            # A smaller c lets more through above the cut.
            error += self._spare_at(point) - self.spare
            if not (math.isfinite(total) and error < (1 + total) / 2):
                values[i] = errors[i] = math.inf
                continue
            values[i] = math.log1p(total)
            errors[i] = -math.log1p(-error / (1 + total)) + 4 * ULP * abs(values[i])
        return values, errors

    def _spare_at(self, c: float) -> float:
        return _spare(self.sign, c, self.panels.tau, self.top, self.tails[0])

    def log_decay(self, v: Array) -> Array:
        """Bound log of |E[e^(±λ(X - 1)); z <= top]|, or of all z for the sign -, beyond each v.

        The path of log X moved by a turn d: e^(d²/2τ²) times the real transform at
        c cos d -+ v sin d, and the way back to the cut. Each is smaller at all larger v.
        """
        best = np.full(v.shape, np.inf)
        tau, s = self.panels.tau, self.sign
        x = self.panels.x(self.z)
        edge_x = float(self.panels.x(np.asarray(self.top)))
        # Of exponents above -700; what is below counts for nothing beside what is wrong.
        rounding = ULP * (4096 + float(np.max(self.z**2)) + 4 * self.c + x.size)
        for turn in np.geomspace(1e-4, 1.5, 40).tolist():
            shift = turn / tau
            if shift > 30:
                continue
            r = s * self.c * math.cos(turn) - v * math.sin(turn)
            with np.errstate(over="ignore"):
                sums = np.exp(np.outer(r, x) - s * self.c + self.log_weight).sum(axis=1)
            wrong = self._quadrature(self.c, 0.0, turn=turn, double=False)
            total = (sums * (1 + rounding) + wrong) * math.exp(shift * shift / 2)
            if s > 0:
                log_edge = self.c * (edge_x - 1) - self.top**2 / 2 - _LOG_SQRT_2PI
                way = np.minimum(shift, math.pi / (2 * v * edge_x * tau))
                total += way * math.exp(min(log_edge + shift * shift / 2, 700.0))
            else:
                # All that is above the cut, at r <= 0.
                above = np.minimum(r * edge_x, 0.0) + self.c
                total += float(self.tails[0].upper) * np.exp(above + shift * shift / 2)
            with np.errstate(divide="ignore"):
                best = np.fmin(best, np.log(total))
        return best + 1e-12


def transform(tau: float, sign: int, c: float, height: float, top: float) -> Transform:
    """Return the transform for a line; `top` cuts z, and for the sign - the rest is bounded."""
    bottom = -_FAR - _peak(tau, 3 * c if sign < 0 else 0.0)
    edges = np.linspace(bottom, top, max(math.ceil((top - bottom) / 0.75), 1) + 1)
    panels, kept = Panels(tau, edges[:-1], edges[1:]).refined(sign, c, height)
    worth = kept > 0
    half = (panels.right - panels.left)[worth, None] / 2
    z = (panels.left[worth, None] + half * (1 + _NODES)).ravel()
    log_weight = (np.log(half) + np.log(_WEIGHTS)).ravel() - z * z / 2 - _LOG_SQRT_2PI
    tails = normal_tail(np.asarray(-top), 0.0), normal_tail(np.asarray(-top), tau)
    spare = _spare(sign, c, tau, top, tails[0])
    return Transform(sign, c, height, top, panels, tails, spare, kept, z, log_weight)


def _small(u: Array, d: Array, weight: Array) -> tuple[ComplexArray, float]:
    """Return the sum of weight (e^(iud) - 1), by sines of the half, and what more it loses."""
    real, imag = np.empty(u.shape), np.empty(u.shape)
    rows = max(_BLOCK // d.size, 1)
    for at in range(0, u.size, rows):
        part = slice(at, at + rows)
        half = np.outer(u[part], d) / 2
        sine = np.sin(half)
        real[part] = -2 * (sine * sine) @ weight
        imag[part] = 2 * (sine * np.cos(half)) @ weight
    return np.asarray(real + 1j * imag, np.complex128), 0.0


def _many(u: Array, d: Array, weight: Array) -> tuple[ComplexArray, float]:
    """Return the same for equally spaced u from 0, as products of two of 2 sqrt(N) exponentials."""
    rows = math.isqrt(u.size) + 1
    fine = np.exp(1j * np.outer(u[1] * np.arange(rows), d))
    coarse = np.exp(1j * np.outer(u[1] * rows * np.arange(rows), d)) * weight
    total = (coarse @ fine.T).ravel()[: u.size] - weight.sum()
    return total, ULP * float(weight.sum()) * (16 + d.size / 64)


def _peak(tau: float, c: float) -> float:
    """Return about the z > 0 at which φ(z) e^(-cX(-z)) is largest."""
    low, high = 0.0, c * tau
    for _ in range(60):
        z = (low + high) / 2
        falls = z > c * tau * math.exp(-tau * z - tau * tau / 2)
        low, high = (low, z) if falls else (z, high)
    return high


def _spare(sign: int, c: float, tau: float, top: float, t0: Interval) -> float:
    if sign > 0:
        return 0.0
    x = math.exp(tau * top - tau * tau / 2)
    return float(t0.upper) * math.exp(min(-c * (x - 1), 0.0)) * (1 + 1e-9)


def _log_of(total: ComplexArray, error: Array) -> tuple[ComplexArray, Array]:
    """Return log(1 + total) and the error of it; where that is large, of the bound's own log."""
    value = complex_log1p(total)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = error / np.abs(1 + total)
        wide = np.where(share < 0.5, -np.log1p(-np.minimum(share, 0.5)), np.inf)
    return value, wide + 8 * ULP * np.minimum(np.abs(total), 1 + np.abs(value))


def _log_sum(log: Array) -> float:
    return float(np.logaddexp.reduce(log))


def _exp_sum(log: Array) -> float:
    return math.exp(min(_log_sum(log), 700.0)) * (1 + 1e-9)
