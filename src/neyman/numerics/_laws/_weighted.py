"""The cumulant of a loss that is a weighted sum over points, with the error of the summing.

    e^K(s) - 1 = E_P[e^(sl) - 1 - s (e^l - 1)],    since E_P[e^l - 1] = 0,

keeps its digits however close P and Q are. Where |s l| is small the sum goes by the moments of the
loss, for all s at once; elsewhere by waves.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
import numpy.typing as npt

from neyman.numerics._bracket import Array
from neyman.numerics._complex import (
    ComplexArray,
    Numbers,
    complex_log1p,
    expm1_minus,
    log1p_minus,
)
from neyman.numerics._disc import Disc, matmul_in_blocks
from neyman.numerics._laws._loss_law import RealCumulant

__all__ = ["LOST", "TILT", "PointRows", "WeightedLosses", "logged", "waves"]

Mask: TypeAlias = npt.NDArray[np.bool_]

# The relative error of log(1 + r); of a product with it, or a sum with such a product.
_LOSS, TILT = 2.0**-49, 2.0**-48
# The relative error of e^log_weight as a weight.
_EXPONENT = np.asarray(2.0**-50)
# The relative error of log(1 + r) - r: it loses a digit from |r| = 1/2 on.
_BENT = 2.0**-46
# Up to |y| = 2, e^y - 1 - y is summed by moments, with these coefficients.
_SMALL = 2.0
_SHARES = np.asarray([1 / math.factorial(k) for k in range(2, 26)])
# The error of that, as a share of the sum of |weight y^2/2|: see `_by_moments`.
_MOMENTS = 360 * 2.0**-53
# The relative error of a factor of a wave: e^iy and a product.
_FACTOR = 12 * 2.0**-53
# Beyond, exponents are added before exp is taken.
_HUGE = 600.0
# An error of K from which e^K is within twice its bound: log 3, and a little.
LOST = 1.1
# Sums of what has underflown.
_UNDERFLOW = 1e-40


@final
@dataclass(frozen=True, slots=True)
class WeightedLosses:
    """Points with weights under P, losses l and r = e^l - 1; of one law, or of several.

    Weights and r count as exact here. The caller adds the errors that they have.

    Attributes:
        log_weight: shape (points,); for several laws (laws, points), or (1, points) if they share
            their weights.
        weight: its exponential.
        loss: l, shape (points,) or (laws, points).
        r: in the shape of `loss`.
        drift: E_P[l - r] of each law.
        mean: E_P[r] of each law: 0, but for what the points miss.
    """

    log_weight: Array
    weight: Array
    loss: Array
    r: Array
    drift: Disc
    mean: Disc

    @classmethod
    def of(cls, log_weight: Array, r: Array, loss: Array | None = None) -> "WeightedLosses":
        """Compute what does not depend on s; `loss` is log(1 + r) unless it is given."""
        weight = np.exp(log_weight)
        known = np.log1p(r) if loss is None else loss
        bent = Disc.within(log1p_minus(r, known), _BENT)
        return cls(log_weight, weight, known, r, bent.dot(weight), Disc.exactly(r).dot(weight))

    def _tilts(self, c: Array) -> tuple[Array, Mask | None]:
        """Return y = cl, with an axis of c before the points, and where e^y leaves the doubles."""
        y = self.loss[..., None, :] * c[:, None]
        return y, y > _HUGE if np.max(y, initial=0.0) > _HUGE else None

    def real(self, c: Array, wrong: Array) -> RealCumulant:
        """Return K at real c, shape (len(c),) or (laws, len(c)).

        The error of y = cl moves the sum by the same share of the sum of y (e^y - 1), whose terms
        have one sign.

        Args:
            c: one dimension.
            wrong: bounds an error of e^K from elsewhere, in the shape of K.
        """
        (y, far), weight = self._tilts(c), self.weight[..., None, :]
        with np.errstate(over="ignore", invalid="ignore"):
            lifted = weight * np.exp(y)
            curved = Disc.exactly(y).expm1_minus()
            if far is None:
                curved = curved.dot(weight)
            else:
                grown = (Disc.exactly(y) + Disc.of(self.log_weight[..., None, :], _EXPONENT)).exp()
                curved = Disc.where(far, grown, curved * weight).sum()
                lifted = np.where(far, grown.value.real, lifted)
            rise = _along(lifted - weight, self.loss)
            drift = self.drift.at((..., None))
            found = _with(curved + drift * c, wrong + np.abs(c * rise) * TILT)
            total = 1 + found.value.real
            slope = (rise + drift.value.real) / total
            curvature = _along(lifted, self.loss * self.loss) / total - slope * slope
            value, error = found.log1p()
        return RealCumulant(value, error, slope, curvature)

    def most(self, c: Array, wrong: Array) -> Array:
        """Bound K at real c from above by e^y - 1, y = cl, and r apart; arguments as in `real`.

        It is off by some units of E|e^y - 1| + E|cr|, and not of K.
        """
        y, far = self._tilts(c)
        if far is not None:
            real = self.real(c, wrong)
            return real.value + real.error
        risen = Disc.exactly(y).expm1()
        weighted = self.weight * self.loss
        # Of y (e^y - 1) and of |y|.
        moved = _along(risen.value.real, weighted) * c
        moved = moved + np.abs(c) * np.sum(np.abs(weighted), axis=-1, keepdims=True)
        found = risen.dot(self.weight[..., None, :]) - self.mean.at((..., None)) * c
        return _with(found, wrong + moved * TILT).log1p().upper

    def sketch(self, c: Array) -> RealCumulant:
        """Estimate K at real c, within some units of E|cr| and of the sum for c = 0."""
        (y, far), weight = self._tilts(c), self.weight[..., None, :]
        drift, mean = (one.value.real[..., None] for one in (self.drift, self.mean))
        with np.errstate(over="ignore", invalid="ignore"):
            rise = weight * np.expm1(y if far is None else np.minimum(y, _HUGE))
            if far is not None:
                rise = np.where(far, np.exp(self.log_weight[..., None, :] + y), rise)
            curved = rise.sum(axis=-1) - c * mean
            slope = (_along(rise, self.loss) + drift) / (1 + curved)
            bend = _along(rise + weight, self.loss * self.loss)
            curvature = bend / (1 + curved) - slope * slope
            return RealCumulant(np.log1p(curved), np.zeros(curved.shape), slope, curvature)

    @property
    def row(self) -> "PointRows":
        """The points with a row for each law."""
        drift = Disc.of(np.atleast_1d(self.drift.value), np.atleast_1d(self.drift.error))
        return PointRows(self.log_weight, self.weight, np.atleast_2d(self.loss), drift)

    def line(self, c: float, u: Array, wrong: Array) -> Disc:
        """Return K(c + iu) of a single law; arguments as in `PointRows.line`."""
        return self.row.line(c, u, wrong).at(0)

    def at(self, s: ComplexArray) -> ComplexArray:
        """Estimate K of a single law at any complex points."""
        return self.row.at(s)[..., 0]

    def tilted(self, c: float) -> Array:
        """Return the weights of the law tilted by e^(cl), which sum to 1 for each law."""
        log = self.log_weight + c * self.loss
        share = np.exp(log - np.max(log, axis=-1, keepdims=True))
        return share / share.sum(axis=-1, keepdims=True)


def logged(total: Disc) -> Disc:
    """Return K = log(1 + total), as an exponent: e^K is within e^value (e^error - 1).

    A sum that is lost in its error is replaced by a bound of it, which is off by twice itself.
    """
    found = total.log1p()
    lost = ~(found.error < 1)
    if not np.any(lost):
        return found
    size = np.abs(1 + total.value)
    with np.errstate(divide="ignore"):
        return Disc.where(lost, Disc.within(np.log(size + total.error), 0.0, LOST), found)


@final
@dataclass(frozen=True, slots=True)
class PointRows:
    """Points of laws on a line. They may be complex, with Im l >= 0, so that e^(iul) only shrinks.

    Attributes:
        log_weight: shape (points,), (1, points) or (laws, points).
        weight: its exponential.
        loss: l, shape (laws, points).
        drift: sums of weight (l - e^l + 1), shape (laws,).
    """

    log_weight: Numbers
    weight: Numbers
    loss: Numbers
    drift: Disc

    @classmethod
    def of(cls, log_weight: Numbers, loss: Numbers, r: Numbers) -> "PointRows":
        """Compute what does not depend on s."""
        weight = np.exp(log_weight)
        drift = Disc.within(log1p_minus(r, loss), _BENT).dot(weight)
        return cls(log_weight, weight, loss, drift)

    def line(self, c: float, u: Array, wrong: Array) -> Disc:
        """Return K(c + iu), shape (laws, heights).

        Args:
            c: real part.
            u: heights, equally spaced from 0.
            wrong: bounds an error of e^K from elsewhere; heights along the last axis.
        """
        s: ComplexArray = np.asarray(c + 1j * u, np.complex128)
        small = np.abs(self.loss) * math.hypot(c, float(u[-1])) < _SMALL
        total = self._by_moments(small, s) + self.drift.at((..., None)) * s
        if not np.all(small):
            total = total + self._by_waves(~small, s, u)
        return logged(_with(total, wrong))

    def _by_moments(self, small: Mask, s: ComplexArray) -> Disc:
        """Return the sums of weight (e^y - 1 - y), y = sl of modulus below 2.

        In units of 2^-53 and of |weight y^2/2|: a term of order k is off by 6.5 k and 2, which
        adds up to 46; the two sums lose 60 and 150; losses are off by 16 units, which makes 102.
        All orders left out are below one. Together 360.
        """
        scale = float(np.max(np.abs(s), initial=1e-300))
        columns = np.any(small, axis=0)
        x = np.where(small[:, columns], self.loss[:, columns] * scale, 0.0)
        term = self.weight[..., columns] * x * x
        bend = np.abs(term).sum(axis=1)[:, None] / 2
        moments = _powers(term, x, _SHARES.size).sum(axis=-1)
        powers = np.multiply.outer(np.ones(_SHARES.size), s / scale)
        powers[0] *= powers[0]
        found = (moments.T * _SHARES) @ np.cumprod(powers, axis=0)
        return Disc.within(found, 0.0, bend * (np.abs(s) / scale) ** 2 * _MOMENTS)

    def _by_waves(self, far: Mask, s: ComplexArray, u: Array) -> Disc:
        """Return the sums of weight (e^(sl) - 1 - sl) over the losses that are far.

        Their weight is small, so e^(sl) and 1 may be summed separately.
        """
        columns = np.any(far, axis=0)
        far, loss, weight = far[:, columns], self.loss[:, columns], self.weight[..., columns]
        log_weight = Disc.of(self.log_weight[..., columns], _EXPONENT)
        tilted = (Disc.within(s[0].real * loss, TILT) + log_weight).exp()
        if not np.all(far):
            loss, weight = np.where(far, loss, 0.0), np.where(far, weight, 0.0)
            tilted = Disc.where(far, tilted, Disc.exactly(0.0))
        known = Disc.within(loss, _LOSS)
        level, mass = known.dot(weight), Disc.exactly(weight).sum()
        return waves(u, known, tilted) - (level.at((..., None)) * s + mass.at((..., None)))

    def at(self, s: ComplexArray) -> ComplexArray:
        """Estimate K at any complex points, with an axis of laws at the end."""
        logs, weights = (
            np.broadcast_to(x, self.loss.shape) for x in (self.log_weight, self.weight)
        )
        rows = zip(logs, weights, self.loss, self.drift.value.tolist(), strict=True)
        return np.stack([_cumulant_at(*row, s) for row in rows], axis=-1)


def _cumulant_at(
    log_weight: Numbers, weight: Numbers, loss: Numbers, drift: complex, s: ComplexArray
) -> ComplexArray:
    """Estimate K of one law at any complex s, from points that may be complex."""
    y: ComplexArray = np.asarray(s[..., None] * loss, np.complex128)
    curved = expm1_minus(np.where(y.real < _HUGE, y, 0.0))
    far: ComplexArray = np.asarray(np.where(y.real < _HUGE, -np.inf, log_weight + y), np.complex128)
    # Beyond the doubles the scale is taken out. The rest is negligible then.
    top = np.maximum(np.max(far.real, axis=-1, initial=-np.inf) - _HUGE, 0.0)
    scale = np.exp(-top)
    total = (weight * curved).sum(axis=-1) + s * drift
    total = total * scale + np.exp(far - top[..., None]).sum(axis=-1)
    huge = top + np.log(np.where(top > 0, scale + total, 1.0))
    return np.where(top > 0, huge, complex_log1p(np.where(top > 0, 0.0, total)))


def waves(u: Array, loss: Disc, tilted: Disc) -> Disc:
    """Return the sums of tilted e^(iul), Im l >= 0, for equally spaced u from 0; rows for laws.

    e^(i (a + bw) hl) is a product of e^(iahl) and e^(ibwhl), so that a product of two short
    matrices serves all heights. Both are products of a factor for each binary digit of a and of b,
    none above 1 in modulus. A factor is within 12 units, and within 3 units of its exponent and the
    loss's share; together within the e^sum - 1 of these.
    """
    width = math.isqrt(u.size - 1) + 1
    height = -(-u.size // width)
    step = float(u[1]) if u.size > 1 else 0.0
    if abs(u[-1] - step * (u.size - 1)) > 1e-9 * (step + abs(u[-1])):
        raise ValueError("heights must be equally spaced from 0")
    first = tilted.value
    inner = _turned(np.ones(first.shape), 1j * loss.value * step, width)
    outer = _turned(first, 1j * loss.value * (step * width), height)
    found, units = matmul_in_blocks(outer.transpose(1, 0, 2), inner.transpose(1, 2, 0))
    size, off = np.abs(first), np.abs(loss.value) * (3 * 2.0**-53) + loss.error
    flat = _FACTOR * (1 + (width - 1).bit_length() + (height - 1).bit_length())
    most = flat + float(u[-1]) * float(np.max(off, initial=0.0))
    with np.errstate(over="ignore"):
        grown = float(np.expm1(most)) / most
    lost = (size * (flat * grown + units) + tilted.error).sum(axis=1)
    steep = (size * off).sum(axis=1) * grown
    value = found.reshape(first.shape[0], -1)[:, : u.size]
    return Disc.within(value, 0.0, lost[:, None] + u * steep[:, None])


def _powers(first: Numbers, factor: Numbers, many: int) -> ComplexArray:
    """Return first, first factor, first factor^2, ..., `many` of them along a new axis."""
    found = np.empty((many, *first.shape), dtype=np.result_type(first, factor))
    found[0] = first
    for k in range(1, many):
        np.multiply(found[k - 1], factor, out=found[k])
    return found


def _turned(first: Numbers, exponent: ComplexArray, many: int) -> ComplexArray:
    """Return first, first e^z, first e^2z, ..., `many` of them along a new axis.

    Each by a factor e^(2^j z) for each binary digit of its number, so that errors hardly add up.
    """
    found = np.empty((many, *first.shape), dtype=np.complex128)
    found[0] = first
    done = 1
    while done < many:
        more = min(done, many - done)
        np.multiply(found[:more], np.exp(exponent * done), out=found[done : done + more])
        done += more
    return found


def _along(terms: Array, points: Array) -> Array:
    """Return the sums of products along the points, for terms with an axis before them."""
    return np.matmul(terms, points[..., None])[..., 0]


def _with(found: Disc, wrong: Array) -> Disc:
    return Disc(found.value, found.error + (wrong + _UNDERFLOW))
