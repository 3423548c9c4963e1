"""E(S - m)_+ and E(m - S)_+ of the mean S of T lognormal variables of mean 1, with brackets.

With W = T S and a cut a >= T m of each variable X,

    E(W - Tm)_+ = E[W - Tm; some X > a] + E[(W - Tm)_+; no X > a]:

the first is linear, for W > Tm there, and known from normal tails; in the second all exponential
moments exist, and with κ(λ) = log E[e^(λ(X - 1)); X <= a], D = T (m - 1),

    h/2π Σ_j e^(T κ(λ_j) - λ_j D) / λ_j² = Σ_k e^(ckR) E[(W - T - D - kR)_+; no X > a],

λ_j = c + ijh, R = 2π/h, c > 0: an upper bound of the term k = 0, as docs/theory/contour.md has it.
E(Tm - W)_+ is the same with -X, and needs no cut. Proofs: docs/theory/allocation.md.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from neyman.numerics._bracket import ULP, Array, Bracket
from neyman.numerics._complex import ComplexArray
from neyman.numerics._distributions._lognormal_panels import Transform, transform
from neyman.numerics._distributions._normal import gaussian_log_delta, normal_tail
from neyman.numerics._special import log_ndtr

__all__ = ["LognormalMean"]

_CUT = 34.0
# Nodes that a line may have, if what is left out then may be so many e-folds more.
_HEIGHTS = ((2**9, 0.0), (2**10, 5.0), (2**11, 10.0), (2**12, 16.0), (2**13, 20.0))
_MOST_NODES = 2**13
_RATIOS = (0.35, 0.5, 0.65, 0.8, 0.9, 1.1, 1.25, 1.5, 2.0, 2.8)
# Relative width of a bracket that is worth another line, and lines for one question.
_LOOSE, _MOST_LINES = 1e-7, 400
# Brackets below e^-_DEEP are closed forms only.
_DEEP = 80.0
# What may be added to the linear part is e^-_CERTAIN of it; thresholds within so many spreads.
_CERTAIN, _SPREADS = 42.0, 3.0


@final
@dataclass(frozen=True, slots=True)
class LognormalMean:
    """See the module.

    Attributes:
        tau: standard deviation of log X.
        steps: T >= 2.
    """

    tau: float
    steps: int

    # -- views --------------------------------------------------------------------------------

    def log_excess(self, epsilon: Array) -> Bracket:
        """Bracket log E(S - e^epsilon)_+, epsilon >= 0, one dimension.

        T of E(X - Tm)_+ add up to less than E(W - Tm)_+; S is below X in the convex order.
        """
        mu = np.asarray(self.tau)
        shift = epsilon + math.log(self.steps)
        lower = gaussian_log_delta(shift * (1 + 4 * ULP), mu).lower
        upper = np.minimum(gaussian_log_delta(epsilon, mu).upper, self._ceiling(epsilon))
        return self._improved(1, epsilon, Bracket(lower, upper))

    def log_shortfall(self, epsilon: Array) -> Bracket:
        """Bracket log E(e^epsilon - S)_+, epsilon <= 0, one dimension.

        Below, all X <= m; above, the geometric mean in place of S.
        """
        tau, n = self.tau, self.steps
        z = (epsilon + tau**2 / 2) / tau
        near = 8 * ULP * (1 + np.abs(epsilon)) + 8 * ULP * (np.abs(z) + tau) * (1 + np.abs(z))
        own = gaussian_log_delta(-epsilon, np.asarray(tau))
        lower = (n - 1) * (log_ndtr(z) * (1 + 4 * ULP) - near) + epsilon + own.lower - near
        spread = tau / math.sqrt(n)
        mean = (spread**2 - tau**2) / 2
        off = 16 * ULP * (np.abs(epsilon) + tau**2)
        above = gaussian_log_delta(mean - epsilon - off, np.asarray(spread * (1 + 4 * ULP))).upper
        upper = np.minimum(epsilon + above + near, epsilon + 4 * ULP)
        return self._improved(-1, epsilon, Bracket(lower, upper))

    def _improved(self, sign: int, epsilon: Array, plain: Bracket) -> Bracket:
        """Ask lines where it is worth it."""
        lower, upper = np.array(plain.lower), np.array(plain.upper)
        worth = upper > -_DEEP
        if np.any(worth):
            found = self._lines(sign, epsilon[worth])
            lower[worth] = np.maximum(lower[worth], found.lower)
            upper[worth] = np.minimum(upper[worth], found.upper)
        return Bracket(np.minimum(lower, upper), upper)

    def _ceiling(self, epsilon: Array) -> Array:
        """Bound log E(S - e^epsilon)_+ by the linear part and Markov's inequality for the rest."""
        best, order = np.zeros(epsilon.shape), np.argsort(epsilon)
        room = self._room() if epsilon.size else Room(math.inf, 1.0, 0.0)
        while order.size:
            first = float(epsilon[order[0]])
            end = first + 0.02 + 0.02 * first
            near = int(np.searchsorted(epsilon[order], end, side="right"))
            at, order = order[:near], order[near:]
            d = self.steps * np.expm1(epsilon[at])
            top = self._top(1, float(d[-1]), room, 0.0)
            c, _ = self._saddle(1, top, float(d[0]))
            value, error = transform(self.tau, 1, c, 0.0, top).real(np.asarray([c]))
            rest = self.steps * (value[0] + error[0]) - c * d - math.log(math.e * c)
            rest = rest + 8 * ULP * (1 + np.abs(rest) + c * np.abs(d))
            high = self._linear(top, room, d, epsilon[at])[1]
            with np.errstate(divide="ignore"):
                best[at] = np.logaddexp(rest, np.log(high)) - math.log(self.steps) + 8 * ULP
        return best

    # -- lines --------------------------------------------------------------------------------

    def _lines(self, sign: int, epsilon: Array) -> Bracket:
        """Bracket by lines, each for all thresholds near its saddle."""
        lower, upper = np.full(epsilon.shape, -np.inf), np.zeros(epsilon.shape)
        order = np.argsort(sign * epsilon)
        reach = _SPREADS
        for _ in range(_MOST_LINES):
            if not order.size:
                break
            found, near = self._line(sign, epsilon[order], reach)
            at = order[:near]
            lower[at] = np.maximum(lower[at], found.lower)
            upper[at] = np.minimum(upper[at], found.upper)
            width = upper[at] - lower[at]
            done = ~(width > max(_LOOSE, 10 * float(np.min(width))))
            # What a line for few says of its first is as good as it gets.
            done[0] |= reach < _SPREADS / 20 or near == 1 or not np.any(np.isfinite(found.lower))
            reach = min(2 * reach, _SPREADS) if done[0] else reach / 3
            order = np.concatenate([at[~done], order[near:]])
        return Bracket(lower, upper)

    def _line(self, sign: int, epsilon: Array, reach: float) -> tuple[Bracket, int]:
        """Return the brackets of the first few thresholds, and how many."""
        d = self.steps * np.expm1(epsilon)
        room = self._room() if sign > 0 else Room(math.inf, 1.0, 0.0)
        top = self._top(sign, float(d[0]), room, 0.0)
        c, spread = self._saddle(sign, top, float(d[0]))
        last = sign * float(d[0]) + reach * spread
        near = int(np.count_nonzero(sign * d <= last))
        ends = d[: max(near, 1)]
        middle = float(0.75 * ends[0] + 0.25 * ends[-1])
        top = self._top(sign, float(ends[-1]), room, 0.0)
        c, spread = self._saddle(sign, top, middle)
        if sign < 0:
            top = self._top(sign, 0.0, room, c)
        line = Line.through(self, sign, c, spread, top, (float(ends[0]), float(ends[-1])))
        nothing = Bracket(np.full(ends.shape, -np.inf), np.full(ends.shape, 1e300))
        found = nothing if line is None else line.log_bracket(ends)
        if sign > 0:
            low, high = self._linear(top, room, ends, epsilon[: ends.size])
            with np.errstate(divide="ignore"):
                found = Bracket(
                    np.logaddexp(found.lower, np.log(low)), np.logaddexp(found.upper, np.log(high))
                )
        slack = 4 * ULP * (1 + np.abs(np.where(np.isfinite(found.lower), found.lower, 0.0)))
        scale = math.log(self.steps)
        return Bracket(found.lower - scale - slack, found.upper - scale + slack), ends.size

    def _room(self) -> "Room":
        """Return g, x and (T - 1) κ(x) with E(T - 1 - g - V)_+ <= e^(that - xg)/(ex) next to 0.

        V the sum of T - 1 variables, κ(x) = log E[e^(-x(X - 1))].
        """
        best = Room(math.inf, 1.0, 0.0)
        width = math.sqrt(self.steps * math.expm1(min(self.tau**2, 600.0)))
        points: list[float] = (np.geomspace(0.1, 1e4, 24) / width).tolist()
        for x in points:
            top = self._top(-1, 0.0, best, x)
            value, error = transform(self.tau, -1, x, 0.0, top).real(np.asarray([x]))
            total = (self.steps - 1) * float(value[0] + error[0])
            needed = (_CERTAIN + total - math.log(math.e * x)) / x
            if needed < best.needed:
                best = Room(needed, x, total)
        return best

    def _top(self, sign: int, d: float, room: "Room", c: float) -> float:
        """Return where z is cut: where all others must be few for W <= Tm, or e^(-cX) nothing."""
        if sign > 0:
            log = math.log(min(self.steps + d, d + 1 + room.needed))
            most = math.inf
        else:
            log, most = math.log1p(120 / c) if c > 0 else math.inf, self.tau + 13
        z = min((log + self.tau**2 / 2) / self.tau, most)
        size = abs(z) + self.tau + (1 + min(abs(log), 800.0)) / self.tau
        return z + 16 * ULP * (1 + size)

    def _linear(self, top: float, room: "Room", d: Array, epsilon: Array) -> tuple[Array, Array]:
        """Bracket E[(W - Tm)_+; some z > top]: that without the + and what the + adds at most.

        T - 1 others stay below Tm - a with a small probability only.
        """
        t0, t1 = normal_tail(np.asarray(-top), 0.0), normal_tail(np.asarray(-top), self.tau)
        first, second = float(t0.upper), float(t1.upper)
        n = self.steps
        kept = n * math.log1p(-first)
        linear = -n * math.expm1(math.log1p(-second) + (n - 1) * math.log1p(-first))
        level = n * np.exp(epsilon)
        value = linear + level * math.expm1(kept)
        off0 = (first - float(t0.lower)) / first if first > 0 else 0.0
        off1 = (second - float(t1.lower)) / second if second > 0 else 0.0
        size = n * (second + n * first) + level * n * first
        wrong = size * (off0 + off1 + 16 * ULP * (1 + np.abs(epsilon)))
        gap = math.exp(self.tau * top - self.tau**2 / 2) - 1 - d
        gap = gap - 16 * ULP * (1 + np.abs(d) + gap)
        extra = room.total - room.x * gap - math.log(math.e * room.x) + 1e-9
        # With a above Tm there is nothing to add.
        above = level * (1 + 16 * ULP) < (d + 1 + gap)
        added = np.where(above, 0.0, n * first * np.exp(np.minimum(extra, 700.0)))
        return np.maximum(value - wrong, 0.0), np.maximum(value + wrong + added, 0.0)

    def _saddle(self, sign: int, top: float, d: float) -> tuple[float, float]:
        """Return about the c where T κ(c) - ±cD - 2 log c is least, and the spread of W there."""
        scale = math.log(math.sqrt(2 * math.pi))
        bottom = -9.0 - (min(4 / self.tau, 40.0) if sign < 0 else 0.0)
        last = top if sign > 0 else min(top, self.tau + 9.0)
        z = np.linspace(bottom, last, 3001)
        log_weight = -z * z / 2 + math.log(z[1] - z[0]) - scale
        x = np.exp(self.tau * z - self.tau**2 / 2)

        def tilted(c: float) -> tuple[float, float]:
            log = log_weight + sign * c * (x - 1)
            share = np.exp(log - log.max())
            share /= share.sum()
            mean = float(share @ (x - 1))
            return mean, float(share @ (x - 1) ** 2) - mean * mean

        low, high = math.log(1e-12), math.log(1e9)
        for _ in range(60):
            middle = (low + high) / 2
            c = math.exp(middle)
            slope = sign * (self.steps * tilted(c)[0] - d) - 2 / c
            low, high = (middle, high) if slope < 0 else (low, middle)
        c = math.exp((low + high) / 2)
        _, variance = tilted(c)
        return c, 1 / math.sqrt(1 / (self.steps * variance + 2 / c**2)) if c > 0 else 1.0


class Room(NamedTuple):
    """How far below their mean others stay surely: `needed`, by a point x and its cumulant."""

    needed: float
    x: float
    total: float


@final
@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """The values on one line, and what bounds the rest."""

    sign: int
    c: float
    step: float
    u: Array
    weight: ComplexArray
    fuzz: float
    sway: float
    base: float
    base_error: float
    log_rest: float
    points: Array
    values: Array

    @staticmethod
    def through(
        law: LognormalMean,
        sign: int,
        c: float,
        spread: float,
        top: float,
        ends: tuple[float, float],
    ) -> "Line | None":
        """Return the line through c; its step and height are sought, its bounds then proved.

        None where it would take too many nodes.
        """
        near = transform(law.tau, sign, c, 0.0, top)
        points = c * np.asarray([*_RATIOS, 1.0])
        values, errors = near.real(points)
        good = np.isfinite(values) & np.isfinite(errors)
        here, here_error = float(values[-1]), float(errors[-1])
        n = law.steps
        # E(...)_+ over e^(T κ(c) -+ cD), about.
        log_size = -2 * math.log(c) - math.log(3 * spread)
        period = 0.0
        others = points[:-1][good[:-1]]
        if not (math.isfinite(here) and np.any(others > c) and np.any(others < c)):
            return None
        for d in ends:
            size = n * here - sign * c * d + log_size - _CUT
            room = n * values[:-1][good[:-1]] - sign * others * d - np.log(math.e * others) - size
            period = max(period, float(np.min(room[others > c] / (others - c)[others > c])))
            period = max(period, float(np.min(room[others < c] / (c - others)[others < c])))
        step = 2 * math.pi / period
        height = _height(near, n, here, log_size - _CUT, step)
        if height is None:
            return None
        u = step * np.arange(math.floor(height / step) + 1.0)
        full = transform(law.tau, sign, c, float(u[-1]), top)
        value, error = full.line(u)
        exponent = n * (value - here)
        wrong = n * (error + 2 * ULP * np.abs(value)) + ULP * (8 + np.abs(exponent) + u.size / 64)
        known = wrong < 20
        exponent = np.minimum(exponent.real, n * here_error) + 1j * exponent.imag
        weight = np.exp(exponent) / (c + 1j * u) ** 2
        size = np.abs(weight)
        most = math.exp(min(2 * n * here_error, 700.0)) / (c * c + u * u)
        fuzz = float(
            np.sum(np.where(known, size * np.expm1(np.where(known, wrong, 0.0)), most + size))
        )
        weight[0] /= 2
        last = max(float(u[-1]), step)
        decay = n * float(full.log_decay(np.asarray([last]))[0] - here)
        rest = min(decay + n * here_error, n * here_error) - math.log(math.pi * last)
        return Line(
            sign,
            c,
            step,
            u,
            weight,
            fuzz,
            float(np.abs(weight) @ u),
            n * here,
            n * here_error + ULP * abs(n * here),
            rest,
            points[good],
            n * (values + errors)[good],
        )

    def log_bracket(self, d: Array) -> Bracket:
        """Bracket the log of the functional of W at D."""
        phase = np.outer(d, self.u)
        s = self.sign
        total = np.cos(phase) @ self.weight.real + s * np.sin(phase) @ self.weight.imag
        unit = self.step / math.pi
        total = total * unit
        wrong = (self.fuzz + ULP * self.sway * np.abs(d) * 4) * unit
        rest = math.exp(min(self.log_rest, 700.0))
        log_scale = self.base - s * self.c * d
        alias = np.exp(np.minimum(self._log_alias(d) - log_scale, 700.0))
        slack = self.base_error + ULP * (8 + abs(self.base) + 4 * np.abs(self.c * d))
        with np.errstate(divide="ignore"):
            high = log_scale + np.log(np.maximum(total + wrong + rest, 0.0)) + slack
            low = log_scale + np.log(np.maximum(total - wrong - rest - alias, 0.0)) - slack
        return Bracket(low, np.minimum(high, self._chernoff(d)))

    def _bounds(self, d: Array) -> Array:
        """(y)_+ <= e^(xy) / (e x) at the points x."""
        bound = self.values - self.sign * self.points * d[:, None] - np.log(self.points) - 1
        return bound + ULP * (8 + np.abs(self.values) + 4 * np.abs(self.points * d[:, None]))

    def _chernoff(self, d: Array) -> Array:
        return self._bounds(d).min(axis=1)

    def _log_alias(self, d: Array) -> Array:
        gap = self.points - self.c
        decay = np.abs(gap) * 2 * math.pi / self.step * (1 - 8 * ULP)
        with np.errstate(divide="ignore"):
            geometric = np.where(gap == 0, np.inf, -decay - np.log(-np.expm1(-decay)))
        bound = self._bounds(d) + geometric
        above = np.where(gap > 0, bound, np.inf).min(axis=1)
        below = np.where(gap < 0, bound, np.inf).min(axis=1)
        return np.logaddexp(above, below) + ULP * 8


def _height(near: Transform, n: int, here: float, target: float, step: float) -> float | None:
    """Return where what is left is small enough, or as far as the nodes go."""
    v = np.geomspace(step, step * _MOST_NODES, 60)
    rest = n * np.minimum(near.log_decay(v) - here, 0.0) - np.log(math.pi * v)
    for most, room in _HEIGHTS:
        good = np.flatnonzero((rest <= target + room) & (v <= most * step * (1 + 1e-9)))
        if good.size:
            return float(v[good[0]])
    return None
