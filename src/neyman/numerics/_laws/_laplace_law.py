"""The loss of Lap(0, 1) against (1 - q) Lap(0, 1) + q Lap(b, 1): two atoms and a density between.

With l the loss for q = 1, L = log(1 - q + q e^l): l = b has P-mass e^-b/2, l = -b has 1/2, and in
between the P-density is e^(-(l + b)/2)/4. Near the real line the density is summed at Gauss's nodes
on equal panels; the error on a panel is (Trefethen 2013, theorem 19.3)

    64/15 M ρ^(-2(N-1)) / (1 - ρ^-2),

M the largest modulus of the integrand on the ellipse with foci at the ends and axes (ρ ± 1/ρ)/2,

    |e^(sL) - 1 - s (e^L - 1)| <= |s (s - 1)| |r|²/2 sup_t |1 + tr|^(c-2) e^(u |arg(1 + tr)|),

r = e^L - 1. Far from the real line the density has a formula: with y = e^L, z = y - (1 - q) = q e^l
and f = z^(-3/2),

    D(s) = E_P[e^(sL); density] = C ∫ y^s f dz,    C = e^(-b/2) q^(1/2) / 4,

in closed form for q = 1; else, for large s, integrated by parts,

    D(s) = C Σ_(m<M) (3/2)_m / (s+1)_(m+1) [y^(s+m+1) z^(-3/2-m)]
           + at most (3/2)_M / |(s+1)_M| (y-/z-)^M D(Re s).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias, final

import numpy as np
import numpy.typing as npt

from neyman.numerics._bracket import Array
from neyman.numerics._complex import ComplexArray
from neyman.numerics._disc import Disc
from neyman.numerics._interval import Interval
from neyman.numerics._laws._loss_law import LossLaw, LossNodes, RealCumulant, Span
from neyman.numerics._laws._split import Above, Split
from neyman.numerics._laws._weighted import WeightedLosses
from neyman.numerics._legendre import legendre
from neyman.numerics._primitives import exp, expm1, log, log1p
from neyman.overriding import override

__all__ = ["LaplaceDensity", "LaplaceLaw"]

Mask: TypeAlias = npt.NDArray[np.bool_]

# -- of the density
_TERMS = 24
_LOG_RISING = sum(math.log(1.5 + m) for m in range(_TERMS))
# From these |s| on the formulas are accurate: the M-th remainder is below 2^-53.
_FAR, _FAR_WHOLE = 50.0, 8.0
# sinh(x)/x is 1 up to it, within 2^-54.
_CLOSE = 1e-8
# The error of the series: each term is at most half the one before, and within 13 units.
_SERIES = 2.0**-48
# More than the relative error of a sum of exponentials of numbers up to 700.
_LOOSE = 1 + 2.0**-40
# -- of the nodes
# The relative error of r and of the weights, apart from that of the nodes' places.
_GIVEN = 2.0**-46
_ORDER = 32
_NODES, _WEIGHTS = legendre(_ORDER)
# Radians of phase that a panel can follow.
_PACE = 24.0
# The most panels that are tried for accuracy, and the most for the phase alone.
_MOST_PANELS, _LONGEST = 128, 1024
# The atoms are split off only if the formula takes over within this much phase.
_MOST_PHASE = 24 * 2 * _PACE
# Exponents that leave the squares of their exponentials in range.
_LARGEST = 300.0
# If the log of the quadrature's error exceeds the goal by more, K is unknown.
_UNKNOWN = 50.0
_QUADRATURE = -56 * math.log(2)
# The smaller axes of the ellipses, over half a panel; |Im l| is no more than `_DEEPEST` there.
_AXES, _DEEPEST = 0.25 * 1.6 ** np.arange(14.0), 1.2


@final
@dataclass(frozen=True, slots=True)
class LaplaceDensity:
    """What lies between the atoms. The relative error of its values is within 16 ULP.

    Attributes:
        bound: b.
        probability: q.
        back: whether P and Q are exchanged.
    """

    bound: float
    probability: float
    back: bool = False

    @property
    def mass(self) -> float:
        """P and Q have (1 - e^-b)/2 each."""
        return -math.expm1(-self.bound) / 2

    @property
    def _ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """(y, z) at both ends."""
        q = self.probability
        low, high = q * math.exp(-self.bound), q * math.exp(self.bound)
        return (1 - q + low, low), (1 - q + high, high)

    @property
    def parameters(self) -> tuple[Interval, Interval]:
        """The largest loss and the probability, as they were written."""
        return Interval.decimal(self.bound), Interval.decimal(self.probability)

    @property
    def far(self) -> float:
        """The height from which `transform` is accurate."""
        if self.probability == 1:
            return _FAR_WHOLE / self.bound
        y, z = self._ends[0]
        return _FAR * y / z

    @property
    def near(self) -> float:
        """The height from which `transform` is accurate enough for the density's share."""
        return 0.0 if self.probability == 1 else self.far

    def transform(self, s: ComplexArray) -> Disc:
        """Return D(s) for |Im s| >= near."""
        if self.back:
            s = 1 - s
        return self._whole(s) if self.probability == 1 else self._by_parts(s)

    def _whole(self, s: ComplexArray) -> Disc:
        """e^(-b/2) sinh((s - 1/2) b) / (2s - 1)."""
        bound = self.parameters[0]
        x = (Disc.exactly(s) - 0.5) * Disc.over(bound)
        close = np.abs(x.value) < _CLOSE
        if np.any(close):
            x = Disc.where(close, Disc.exactly(_CLOSE), x)
        return x.sinh() / x * Disc.over(exp(-bound / 2) * bound / 2)

    def _by_parts(self, s: ComplexArray) -> Disc:
        bound, q = self.parameters
        log_c = -bound / 2 + log(q) / 2 - log(Interval.of(4))
        after = Disc.exactly(s) + 1
        total = Disc.exactly(np.zeros(s.shape, dtype=np.complex128))
        for (y, z), side in zip(self._ends, (-1, 1), strict=True):
            z_here = q * exp(bound * side)
            level = Disc.over(log_c - log(z_here) * 1.5)
            lead = (after * Disc.over(log(z_here + (1 - q))) + level).exp() / after
            series = np.ones_like(s)
            for m in range(_TERMS - 1, 0, -1):
                series = 1 + series * ((m + 0.5) * (y / z)) / (s + m + 1)
            total = total + lead * Disc.within(series, _SERIES) * side
        y, z = self._ends[0]
        left = _LOG_RISING + _TERMS * (math.log(y / z) - np.log(np.abs(s.imag)))
        tilts = [float(np.max(s.real)) * math.log(end[0]) for end in self._ends]
        whole = self.mass * math.exp(max(tilts)) * _LOOSE
        return total + Disc(np.zeros_like(s), np.exp(left) * whole)

    def variation(self, c: float) -> float:
        """The total variation V of the tilted density on the line: |D(c + iu)| <= V/u.

        C y^(c+1) z^(-3/2) has one stationary point at most, z (c - 1/2) = 3/2 (1 - q).
        """
        if self.back:
            c = 1 - c
        (_, low), (_, high) = self._ends
        q = self.probability
        turn = 1.5 * (1 - q) / (c - 0.5) if c > 0.5 else high
        log_c = -self.bound / 2 + math.log(q) / 2 - math.log(4)
        first, middle, last = (
            math.exp(min(log_c + (c + 1) * math.log(1 - q + z) - 1.5 * math.log(z), 700.0))
            for z in (low, min(max(turn, low), high), high)
        )
        return (first + abs(middle - first) + abs(last - middle) + last) * _LOOSE

    def above(self, x: Array) -> Above:
        """Return the masses above x and the excess over it."""
        if self.back:
            return self._below(x)
        y, all_, none = self._inner(x)
        b, q = self.bound, self.probability
        part = -np.expm1(-(b - y) / 2)
        p = np.exp(-(b + y) / 2) * part / 2
        over = np.where(all_, -self.mass * np.expm1(np.minimum(x, 0.0)), q * part * part / 2)
        return Above(
            np.where(none, 0.0, p),
            np.where(none, 0.0, (1 - q) * p + q * part / 2),
            np.where(none, 0.0, over),
        )

    def _below(self, x: Array) -> Above:
        """The same below -x, with P and Q exchanged."""
        y, none, all_ = self._inner(-x)
        b, q = self.bound, self.probability
        part = -np.expm1(-(b + y) / 2)
        p = (1 - q) * part / 2 + q * np.exp((y - b) / 2) * part / 2
        with np.errstate(over="ignore"):
            inside = q * np.exp(np.minimum(x, 700.0) + y) * part * part / 2
        over = np.where(all_, -self.mass * np.expm1(np.minimum(x, 0.0)), inside)
        return Above(
            np.where(none, 0.0, p), np.where(none, 0.0, part / 2), np.where(none, 0.0, over)
        )

    def _inner(self, x: Array) -> tuple[Array, Mask, Mask]:
        """Return l within [-b, b], and whether x is below or above all of the part."""
        b, q = self.bound, self.probability
        if q == 1:
            y = x
        else:
            with np.errstate(divide="ignore", invalid="ignore"):
                y = np.log1p(np.expm1(np.minimum(x, 2 * b)) / q)
            y = np.where(np.isnan(y), -np.inf, y)
        return np.clip(y, -b, b), y <= -b, y >= b

    def box(self) -> float | None:
        """Return b if the part has P-density e^(-(l + b)/2)/4 on [-b, b]; else None."""
        return self.bound if self.probability == 1 else None

    def reversed(self) -> "LaplaceDensity":
        """Exchange P and Q: the loss changes its sign."""
        return (
            self
            if self.probability == 1
            else LaplaceDensity(self.bound, self.probability, not self.back)
        )


@final
@dataclass(frozen=True, slots=True)
class LaplaceLaw(LossLaw):
    """See the module.

    Attributes:
        epsilon: b, the largest loss.
        probability: q in (0, 1].
    """

    epsilon: float
    probability: float = 1.0

    @property
    @override
    def usable(self) -> tuple[float, float]:
        return -_LARGEST / self.epsilon, _LARGEST / self.epsilon

    @property
    @override
    def range(self) -> tuple[float, float]:
        return _range_of(self)

    @property
    def known_ends(self) -> tuple[Interval, Interval]:
        """The losses of both atoms, least first."""
        b, q = self.density.parameters
        if self.probability == 1:
            return -b, b
        # Where the sum is far below 1, its logarithm is that of what is left.
        steep = float((q * expm1(-b)).lower) < -0.5
        low = log(q * exp(-b) + (1 - q)) if steep else log1p(q * expm1(-b))
        return low, log1p(q * expm1(b))

    @property
    def density(self) -> LaplaceDensity:
        """What lies between the atoms."""
        return LaplaceDensity(self.epsilon, self.probability)

    def loss(self, base: Array) -> tuple[Array, Array]:
        """Return L and e^L - 1 where l is `base`."""
        q = self.probability
        r = q * np.expm1(base)
        if q == 1:
            return base, r
        steep = np.logaddexp(math.log1p(-q), math.log(q) + np.minimum(base, 0.0))
        return np.where(r < -0.5, steep, np.log1p(np.maximum(r, -0.5))), r

    @property
    def ends(self) -> Array:
        """The losses of both atoms."""
        return self.loss(np.asarray([-self.epsilon, self.epsilon]))[0]

    @override
    def prepared(self, span: Span) -> "LaplaceNodes":
        height = min(span.height, self.density.far)
        low, high = self.ends.tolist()
        ends = np.asarray([span.low, span.high])
        enough = self._log_size(ends) + _QUADRATURE
        panels = 1 + int(height * (high - low) / (2 * _PACE))
        # A phase that takes too many panels is not followed: K is unknown.
        if panels > _LONGEST:
            return LaplaceNodes(self, _points(self, 1), 1, height)
        while True:
            bound = _log_quadrature(self, panels, ends, height)
            if np.all(bound <= enough) or panels >= _MOST_PANELS:
                panels = 1 if np.all(bound > enough + _UNKNOWN) else panels
                return LaplaceNodes(self, _points(self, panels), panels, height)
            panels = min(panels + 1 + panels // 2, _MOST_PANELS)

    @override
    def sketched(self, span: Span) -> "LaplaceNodes":  # noqa: ARG002
        return LaplaceNodes(self, _points(self, 1), 1, 0.0, certain=False)

    def _log_size(self, c: Array) -> Array:
        """Bound log of (e^K(c) - 1) / (c (c - 1)) from below: what the upper atom gives, about.

        (e^(cl) - 1 - c (e^l - 1)) / (c (c - 1)) >= r²/2 e^((c - 2) l/3) for l > 0, c >= 2, and the
        lower atom likewise for c < 2.
        """
        low, high = self.loss(np.asarray([-self.epsilon, self.epsilon]))[1].tolist()
        up = math.log(high * high / 4) - self.epsilon + (c - 2) * math.log1p(high) / 3
        down = math.log(low * low / 4) + (c - 2) * math.log1p(max(low, -1 + 1e-16)) / 3
        return np.where(c >= 2, up, down)


def _points(law: LaplaceLaw, panels: int) -> WeightedLosses:
    """Return both atoms and the nodes, in this order."""
    b = law.epsilon
    half = b / panels
    centre = -b + half * (2 * np.arange(panels) + 1)
    inner = (centre[:, None] + half * _NODES).ravel()
    log_inner = np.tile(np.log(_WEIGHTS * half / 4), panels) - (inner + b) / 2
    base = np.concatenate([[-b, b], inner])
    log_weight = np.concatenate([[-math.log(2), -b - math.log(2)], log_inner])
    loss, r = law.loss(base)
    return WeightedLosses.of(log_weight, r, loss)


def _log_quadrature(law: LaplaceLaw, panels: int, c: Array, height: float) -> Array:
    """Bound the error of the sum over |s (s - 1)| for Re s = c, |Im s| <= height; in logarithms.

    Panels are along the first axis, ellipses along the second, c along the last.
    """
    b, q = law.epsilon, law.probability
    half = b / panels
    centre = (-b + half * (2 * np.arange(panels) + 1))[:, None, None]
    minor = np.minimum(_AXES, _DEEPEST / half)[:, None]
    major = np.hypot(1.0, minor)
    depth, reach = half * minor, half * major
    right, left = centre + reach, centre - reach
    modulus = np.maximum(np.abs(np.expm1(right)), np.abs(np.expm1(left)))
    modulus = modulus + np.exp(right) * depth
    most = np.maximum(np.log1p(q * np.expm1(right)), 0.0)
    least = np.minimum(np.log((1 - q) + q * np.exp(left) * np.cos(depth)), 0.0)
    angle = np.arctan2(q * np.exp(right) * np.sin(depth), 1 - q + q * np.exp(right) * np.cos(depth))
    log = 2 * np.log(q * modulus) - math.log(2) - (left + b) / 2 + math.log(half / 4)
    log = log + height * angle + np.maximum(c - 2, 0.0) * most + np.minimum(c - 2, 0.0) * least
    log_rho = np.log(major + minor)
    log = log - 2 * (_ORDER - 1) * log_rho - np.log(-np.expm1(-2 * log_rho)) + math.log(64 / 15)
    return np.logaddexp.reduce(np.min(log, axis=1), axis=0)


@final
@dataclass(frozen=True, slots=True, eq=False)
class LaplaceNodes(LossNodes):
    """Both atoms, then the nodes of the density for heights up to `height`."""

    law: LaplaceLaw
    points: WeightedLosses
    panels: int
    height: float
    certain: bool = True

    def _wrong(self, s: ComplexArray | Array, c: Array) -> Array:
        """Bound the error of e^K but for what the sums round: of the quadrature and the nodes.

        A term is e^(sl) - 1 - sl + s (log(1 + r) - r), with weight and r off by `_GIVEN`,
        relatively, but for the places of the nodes, and l by that times `loose`; its derivatives
        are s (e^(sl) - 1) by l and -s r/(1 + r) by r. Where |s l| is large, by moduli instead.
        """
        if not self.certain:
            return np.zeros(np.shape(s))
        points, law = self.points, self.law
        log = _log_quadrature(law, self.panels, c, self.height)
        c = c[:, None]
        loss, r, weight = points.loss, points.r, points.weight
        rise, fall = np.maximum(loss, 0.0), np.minimum(loss, 0.0)
        base = law.epsilon * (law.probability + r)
        loose = np.abs(loss) + (base - math.log(law.probability) * (law.probability + r)) / (1 + r)
        flat = points.log_weight + np.maximum(c - 2, 0.0) * rise + np.minimum(c - 2, 0.0) * fall
        size = np.abs(s)
        with np.errstate(over="ignore", invalid="ignore"):
            tilted = np.exp(points.log_weight + c * loss)
            drift = size * (weight @ (np.abs(r) / (1 + r) * (np.abs(r) + base)))
            bent = np.abs(s * (s - 1)) * (np.exp(flat) @ (r * r))
            close = bent + size * size * (np.maximum(tilted, weight) @ (np.abs(loss) * loose))
            far = tilted.sum(axis=1) + 1 + size * (weight @ np.abs(r) + (tilted + weight) @ loose)
            quadrature = np.abs(s * (s - 1)) * np.exp(log)
            return quadrature + _GIVEN * (drift + np.fmin(close, far))

    @override
    def real(self, c: Array) -> RealCumulant:
        return _real_at(self, float(c[0])) if c.size == 1 else self.real_at(c)

    def real_at(self, c: Array) -> RealCumulant:
        """Compute K at real points."""
        return self.points.real(c, self._wrong(c, c))

    @override
    def sketch(self, c: Array) -> RealCumulant:
        return self.points.sketch(c)

    @override
    def line(self, c: float, u: Array) -> Disc:
        near = self._summed(u)
        s = np.asarray(c + 1j * u, dtype=np.complex128)
        parts = [self._by_points(s[:near], u[:near])] if near else []
        if near < u.size:
            parts.append((self.atoms(s[near:]) + self.law.density.transform(s[near:])).log())
        return _joined(parts)

    @override
    def parted(self, c: float, u: Array) -> tuple[Disc, Disc]:
        near = self._summed(u)
        few = min(int(np.searchsorted(u, self.law.density.near)), near)
        s = np.asarray(c + 1j * u, dtype=np.complex128)
        logs: list[Disc] = []
        shares: list[Disc] = []
        if near:
            log = self._by_points(s[:near], u[:near])
            logs.append(log)
            inverse = (-log).exp()
            if few:
                shares.append(1 - self.atoms(s[:few]) * inverse.at(slice(few)))
            if few < near:
                rest = inverse.at(slice(few, None))
                shares.append(self.law.density.transform(s[few:near]) * rest)
        if near < u.size:
            rest = self.law.density.transform(s[near:])
            whole = self.atoms(s[near:]) + rest
            logs.append(whole.log())
            shares.append(rest / whole)
        return _joined(logs), _joined(shares)

    def _summed(self, u: Array) -> int:
        """Return how many heights are summed over points; for the others there is a formula."""
        return int(np.searchsorted(u, self.height, side="right"))

    def _by_points(self, s: ComplexArray, u: Array) -> Disc:
        c = float(s[0].real)
        return self.points.line(c, u, self._wrong(s, np.asarray([c])))

    def atoms(self, s: ComplexArray | Array) -> Disc:
        """Return the transform of the atoms."""
        loss, log_mass = _atoms_of(self.law)
        return (loss * s[:, None] + log_mass).exp().sum()

    @override
    def at(self, s: ComplexArray) -> ComplexArray:
        return self.points.at(s)

    @property
    @override
    def split(self) -> Split | None:
        law, ends = self.law, self.law.ends
        if law.density.far * float(ends[1] - ends[0]) > _MOST_PHASE:
            return None
        log_mass = np.asarray([0.0, -law.epsilon]) - math.log(2)
        return Split(log_mass, ends, law.density)

    @override
    def shares(self, c: float) -> tuple[float, float]:
        return _shares(self, c)

    @override
    def decay(self, c: float, u: Array, count: float) -> Array:  # noqa: ARG002
        atoms, variation = self.shares(c)
        return np.minimum((Disc.exactly(variation) / u + atoms).log().upper, 0.0)


def _joined(parts: list[Disc]) -> Disc:
    values, errors = zip(*parts, strict=True)
    error = np.concatenate(errors)
    # Where the phase is not followed, nothing is known.
    return Disc(np.concatenate(values), np.where(np.isnan(error), np.inf, error))


@lru_cache(maxsize=16)
def _atoms_of(law: LaplaceLaw) -> tuple[Disc, Disc]:
    """Return the losses of the atoms, and the logarithms of their masses."""
    b, half = law.density.parameters[0], log(Interval.of(Fraction(1, 2)))
    low, high = law.known_ends
    pairs = (low, high), (half, half - b)
    loss, log_mass = (
        Disc.over(Interval(*np.transpose([tuple(one), tuple(other)]))) for one, other in pairs
    )
    return loss, log_mass


@lru_cache(maxsize=16)
def _real_at(nodes: LaplaceNodes, c: float) -> RealCumulant:
    """Return K at one point. The shares, the decay and a mixture need it again."""
    return nodes.real_at(np.asarray([c]))


@lru_cache(maxsize=16)
def _range_of(law: LaplaceLaw) -> tuple[float, float]:
    low, high = law.known_ends
    return float(low.lower), float(high.upper)


@lru_cache(maxsize=16)
def _shares(nodes: LaplaceNodes, c: float) -> tuple[float, float]:
    """Return the shares. The decay needs them at several heights."""
    at = np.asarray([c])
    real = nodes.real(at)
    whole = (-Disc.of(real.value, real.error)).exp()
    share = (nodes.atoms(at) * whole).upper
    variation = (whole * nodes.law.density.variation(c)).upper
    return min(float(share[0]), 1.0), float(variation[0])
