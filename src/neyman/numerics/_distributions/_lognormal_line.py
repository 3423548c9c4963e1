"""One line of the mean of lognormal variables: an inversion near its saddle, and what bounds it."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.numerics._bracket import ULP
from neyman.numerics._complex import ComplexArray
from neyman.numerics._distributions._lognormal_panels import Transform, transform
from neyman.numerics._interval import Array, Interval
from neyman.numerics._primitives import PI, exp, log, log1mexp, log_sum

__all__ = ["Line"]

_CUT = 34.0
# Nodes that a line may have, if what is left out then may be so many e-folds more.
_HEIGHTS = ((2**9, 0.0), (2**10, 5.0), (2**11, 10.0), (2**12, 16.0), (2**13, 20.0))
_MOST_NODES = 2**13
_RATIOS = (0.35, 0.5, 0.65, 0.8, 0.9, 1.1, 1.25, 1.5, 2.0, 2.8)


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
    base: Interval
    log_rest: float
    points: Array
    values: Interval

    @staticmethod
    def through(
        tau: float,
        n: int,
        sign: int,
        c: float,
        spread: float,
        top: float,
        ends: tuple[float, float],
    ) -> "Line | None":
        """Return the line through c; its step and height are sought, its bounds then proved.

        W is the sum of n variables cut at `top`, of size `spread` about; the thresholds lie between
        `ends`. None where it would take too many nodes.
        """
        near = transform(tau, sign, c, 0.0, top)
        points = c * np.asarray([*_RATIOS, 1.0])
        values, errors = near.real(points)
        good = np.isfinite(values) & np.isfinite(errors)
        here, here_error = float(values[-1]), float(errors[-1])
        # E(...)_+ over e^(T κ(c) -+ cD), about.
        log_size = -2 * math.log(c) - math.log(3 * spread)
        others, known = points[:-1][good[:-1]], values[:-1][good[:-1]]
        if not (math.isfinite(here) and np.any(others > c) and np.any(others < c)):
            return None
        rooms = (
            (n * known - sign * others * d - np.log(math.e * others))
            - (n * here - sign * c * d + log_size - _CUT)
            for d in ends
        )
        step = 2 * math.pi / max(0.0, *(_period(c, others, room) for room in rooms))
        height = _height(near, n, here, log_size - _CUT, step)
        if height is None:
            return None
        u = step * np.arange(math.floor(height / step) + 1.0)
        full = transform(tau, sign, c, float(u[-1]), top)
        weight, fuzz = _weights(full, u, c, n, here, here_error)
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
            Interval.within(np.asarray(here), 0.0, here_error) * n,
            rest,
            points[good],
            Interval.within(values[good], 0.0, errors[good]) * n,
        )

    def log_bracket(self, d: Interval) -> Interval:
        """Bracket the log of the functional of W at D; phases are known within 2^-48 D u."""
        s, near = self.sign, d.middle
        phase = np.outer(near, self.u)
        total = np.cos(phase) @ self.weight.real + s * np.sin(phase) @ self.weight.imag
        wrong = self.fuzz + 2.0**-48 * self.sway * np.abs(near)
        value = Interval.within(total, 0.0, wrong) * (Interval.exactly(self.step) / PI)
        bounds, log_scale = self._bounds(d), self.base - d * (s * self.c)
        rest = exp(min(self.log_rest, 700.0)).upper
        alias = exp((self._log_alias(bounds) - log_scale).smaller(700.0)).upper
        high = log_scale + log((value + rest).larger(0))
        low = log_scale + log((value - rest - alias).larger(0))
        return Interval(low.lower, np.minimum(high.upper, bounds.upper.min(axis=1)))

    def _bounds(self, d: Interval) -> Interval:
        """Return bounds at the points x, for each D: (y)_+ <= e^(xy) / (e x)."""
        column = Interval(d.lower[:, None], d.upper[:, None])
        return self.values - column * (self.sign * self.points) - log(self.points) - 1

    def _log_alias(self, bounds: Interval) -> Interval:
        gap = Interval.exactly(self.points) - self.c
        decay = gap.larger(-gap) * (2 * PI / self.step)
        geometric = bounds - decay - log1mexp(-decay)
        above, below = (
            np.where(side, geometric.upper, np.inf).min(axis=1)
            for side in (self.points > self.c, self.points < self.c)
        )
        return log_sum(Interval.exactly(above), Interval.exactly(below))


def _period(c: float, others: Array, room: Array) -> float:
    """Return the least R for which e^(|x - c| R) leaves `room` at one x on either side of c."""
    above, below = others > c, others < c
    return max(
        float(np.min(room[above] / (others - c)[above])),
        float(np.min(room[below] / (c - others)[below])),
    )


def _weights(
    full: Transform, u: Array, c: float, n: int, here: float, here_error: float
) -> tuple[ComplexArray, float]:
    """Return e^(n (κ(c + iu) - κ(c))) / (c + iu)^2, half of the first, and what all may err by."""
    value, error = full.line(u)
    exponent = n * (value - here)
    wrong = n * (error + 2 * ULP * np.abs(value)) + ULP * (8 + np.abs(exponent) + u.size / 64)
    known = wrong < 20
    # The modulus is largest on the real line.
    exponent = np.minimum(exponent.real, n * here_error) + 1j * exponent.imag
    weight = np.exp(exponent) / (c + 1j * u) ** 2
    size = np.abs(weight)
    most = math.exp(min(2 * n * here_error, 700.0)) / (c * c + u * u)
    fuzz = np.where(known, size * np.expm1(np.where(known, wrong, 0.0)), most + size)
    weight[0] /= 2
    return weight, float(np.sum(fuzz))


def _height(near: Transform, n: int, here: float, target: float, step: float) -> float | None:
    """Return the height from which the rest is small enough; None if the nodes do not reach it."""
    v = np.geomspace(step, step * _MOST_NODES, 60)
    rest = n * np.minimum(near.log_decay(v) - here, 0.0) - np.log(math.pi * v)
    for most, room in _HEIGHTS:
        good = np.flatnonzero((rest <= target + room) & (v <= most * step * (1 + 1e-9)))
        if good.size:
            return float(v[good[0]])
    return None
