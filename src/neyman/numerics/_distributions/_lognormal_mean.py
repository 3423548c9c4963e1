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

from neyman.numerics._bracket import Array
from neyman.numerics._distributions._lognormal_line import Line
from neyman.numerics._distributions._lognormal_panels import Transform, transform
from neyman.numerics._distributions._normal import gaussian_log_delta
from neyman.numerics._interval import Interval
from neyman.numerics._primitives import exp, expm1, log, log1p, log_phi, log_sum, normal_sf

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

    def log_excess(self, epsilon: Array) -> Interval:
        """Bracket log E(S - e^epsilon)_+, epsilon >= 0, one dimension.

        T of E(X - Tm)_+ add up to less than E(W - Tm)_+; S is below X in the convex order.
        """
        e, tau = Interval.decimal(epsilon), Interval.decimal(self.tau)
        lower = gaussian_log_delta(e + log(self.steps), tau).lower
        upper = np.minimum(gaussian_log_delta(e, tau).upper, self._ceiling(epsilon))
        return self._improved(1, epsilon, Interval(lower, upper))

    def log_shortfall(self, epsilon: Array) -> Interval:
        """Bracket log E(e^epsilon - S)_+, epsilon <= 0, one dimension.

        Below, all X <= m; above, the geometric mean in place of S.
        """
        e, tau, n = Interval.decimal(epsilon), Interval.decimal(self.tau), self.steps
        own = gaussian_log_delta(-e, tau)
        least = log_phi(e / tau + tau / 2) * (n - 1) + e + own
        spread = tau / Interval.of(n).sqrt()
        mean = (spread.squared() - tau.squared()) / 2
        most = (gaussian_log_delta(mean - e, spread) + e).smaller(e)
        return self._improved(-1, epsilon, Interval(least.lower, most.upper))

    def _improved(self, sign: int, epsilon: Array, plain: Interval) -> Interval:
        """Ask lines where it is worth it."""
        lower, upper = np.array(plain.lower), np.array(plain.upper)
        worth = upper > -_DEEP
        if np.any(worth):
            found = self._lines(sign, epsilon[worth])
            lower[worth] = np.maximum(lower[worth], found.lower)
            upper[worth] = np.minimum(upper[worth], found.upper)
        return Interval(np.minimum(lower, upper), upper)

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
            moment = _moment(transform(self.tau, 1, c, 0.0, top), c)
            rest = moment * self.steps - expm1(epsilon[at]) * self.steps * c - log(c) - 1
            linear = self._linear(top, room, epsilon[at])
            best[at] = (log_sum(rest, log(linear)) - log(self.steps)).upper
        return best

    # -- lines --------------------------------------------------------------------------------

    def _lines(self, sign: int, epsilon: Array) -> Interval:
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
        return Interval(lower, upper)

    def _line(self, sign: int, epsilon: Array, reach: float) -> tuple[Interval, int]:
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
        nothing = Interval(np.full(ends.shape, -np.inf), np.full(ends.shape, 1e300))
        exact = expm1(epsilon[: ends.size]) * self.steps
        found = nothing if line is None else line.log_bracket(exact)
        if sign > 0:
            found = log_sum(log(self._linear(top, room, epsilon[: ends.size])), found)
        return found - log(self.steps), ends.size

    def _room(self) -> "Room":
        """Return g, x and (T - 1) κ(x) with E(T - 1 - g - V)_+ <= e^(that - xg)/(ex) next to 0.

        V the sum of T - 1 variables, κ(x) = log E[e^(-x(X - 1))].
        """
        best = Room(math.inf, 1.0, 0.0)
        width = math.sqrt(self.steps * math.expm1(min(self.tau**2, 600.0)))
        points: list[float] = (np.geomspace(0.1, 1e4, 24) / width).tolist()
        for x in points:
            top = self._top(-1, 0.0, best, x)
            moment = _moment(transform(self.tau, -1, x, 0.0, top), x) * (self.steps - 1)
            total = float(moment.upper)
            needed = (_CERTAIN + total - math.log(math.e * x)) / x
            if needed < best.needed:
                best = Room(needed, x, total)
        return best

    def _top(self, sign: int, d: float, room: "Room", c: float) -> float:
        """Return where z is cut: where all others must be few for W <= Tm, or e^(-cX) nothing.

        A little further, so that it is seen to be there.
        """
        if sign > 0:
            log = math.log(min(self.steps + d, d + 1 + room.needed))
            most = math.inf
        else:
            log, most = math.log1p(120 / c) if c > 0 else math.inf, self.tau + 13
        z = min((log + self.tau**2 / 2) / self.tau, most)
        size = abs(z) + self.tau + (1 + min(abs(log), 800.0)) / self.tau
        return z + 2.0**-46 * (1 + size)

    def _linear(self, top: float, room: "Room", epsilon: Array) -> Interval:
        """Bracket E[(W - Tm)_+; some z > top]: that without the + and what the + adds at most.

        T - 1 others stay below Tm - a with a small probability only.
        """
        place, tau, n = Interval.exactly(top), Interval.exactly(self.tau), self.steps
        first, others = normal_sf(place), log1p(-normal_sf(place)) * (n - 1)
        linear = -expm1(log1p(-normal_sf(place - tau)) + others) * n
        level = exp(epsilon) * n
        value = linear + level * expm1(others + log1p(-first))
        cut = exp(tau * place - tau.squared() / 2)
        extra = room.total - (cut - 1 - expm1(epsilon) * n) * room.x - log(room.x) - 1
        # With a above Tm there is nothing to add.
        added = np.where(level < cut, 0.0, (first * n * exp(extra.smaller(700.0))).upper)
        value = value + Interval(np.zeros(epsilon.shape), added)
        return value.larger(0)

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


def _moment(line: Transform, c: float) -> Interval:
    """Return log of the transform at a real point."""
    value, error = (np.asarray(part[0]) for part in line.real(np.asarray([c])))
    known = bool(np.isfinite(error))
    return Interval.within(value, 0.0, error) if known else Interval(-error, error)


class Room(NamedTuple):
    """How far below their mean others stay surely: `needed`, by a point x and its cumulant."""

    needed: float
    x: float
    total: float
