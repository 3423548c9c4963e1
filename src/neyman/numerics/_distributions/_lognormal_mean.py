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
from neyman.numerics._distributions._lognormal_line import Line
from neyman.numerics._distributions._lognormal_panels import transform
from neyman.numerics._distributions._normal import gaussian_log_delta, normal_tail
from neyman.numerics._special import log_ndtr

__all__ = ["LognormalMean"]

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
        line = Line.through(
            self.tau, self.steps, sign, c, spread, top, (float(ends[0]), float(ends[-1]))
        )
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
