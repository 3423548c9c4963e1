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

# What log(1 + r) is off by, relatively, and a product with it, or a sum with such a product.
_LOSS, TILT = 2.0**-49, 2.0**-48
# The weights that stand for themselves are e^log_weight within this.
_EXPONENT = np.asarray(2.0**-50)
# What log(1 + r) - r is off by where the logarithm is: it loses a digit from |r| = 1/2 on.
_BENT = 2.0**-46
# Up to it e^y - 1 - y is summed by moments, of so many orders.
_SMALL = 2.0
_SHARES = np.asarray([1 / math.factorial(k) for k in range(2, 26)])
# What that loses, of the sum of |weight y^2/2|: see `_by_moments`.
_MOMENTS = 360 * 2.0**-53
# What a factor of a wave loses: e^iy and a product.
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
    """Points with log weights under P, losses l and r = e^l - 1.

    Weights and r stand for themselves; what they are off by is said by whoever asks.
    """

    log_weight: Array
    weight: Array
    loss: Array
    r: Array
    drift: Disc  # E_P[l - r]
    mean: Disc  # E_P[r]: 0, but for what the points miss

    @classmethod
    def of(cls, log_weight: Array, r: Array, loss: Array | None = None) -> "WeightedLosses":
        """Compute what does not depend on s."""
        weight = np.exp(log_weight)
        known = np.log1p(r) if loss is None else loss
        bent = Disc.within(log1p_minus(r, known), _BENT)
        return cls(log_weight, weight, known, r, bent.dot(weight), Disc.exactly(r).dot(weight))

    def _tilts(self, c: Array) -> tuple[Array, Mask | None]:
        """Return y = cl, and where e^y leaves the doubles, if anywhere."""
        y = np.multiply.outer(c, self.loss)
        return y, y > _HUGE if np.max(y, initial=0.0) > _HUGE else None

    def real(self, c: Array, wrong: Array) -> RealCumulant:
        """K at real c; `wrong` bounds an error of e^K from elsewhere.

        What y is off by moves the sum by its share of that of y (e^y - 1), all of one sign.
        """
        y, far = self._tilts(c)
        with np.errstate(over="ignore", invalid="ignore"):
            lifted = self.weight * np.exp(y)
            curved = Disc.exactly(y).expm1_minus()
            if far is None:
                curved = curved.dot(self.weight)
            else:
                grown = (Disc.exactly(y) + Disc.of(self.log_weight, _EXPONENT)).exp()
                curved = Disc.where(far, grown, curved * self.weight).sum()
                lifted = np.where(far, grown.value.real, lifted)
            rise = (lifted - self.weight) @ self.loss
            found = _with(curved + self.drift * c, wrong + np.abs(c * rise) * TILT)
            total, drift = 1 + found.value.real, self.drift.value.real
            slope = (rise + drift) / total
            curvature = (lifted @ (self.loss * self.loss)) / total - slope * slope
            value, error = found.log1p()
        return RealCumulant(value, error, slope, curvature)

    def most(self, c: Array, wrong: Array) -> Array:
        """Bound K at real c from above by e^y - 1, y = cl, and r apart; `wrong` as above.

        What is lost is some units of E|e^y - 1| + E|cr| and not of K.
        """
        y, far = self._tilts(c)
        if far is not None:
            real = self.real(c, wrong)
            return real.value + real.error
        risen = Disc.exactly(y).expm1()
        weighted = self.weight * self.loss
        # Of y (e^y - 1) and of |y|.
        moved = risen.value.real @ weighted * c + np.abs(c) * np.sum(np.abs(weighted))
        found = risen.dot(self.weight) - self.mean * c
        return _with(found, wrong + moved * TILT).log1p().upper

    def sketch(self, c: Array) -> RealCumulant:
        """K at real c, about: within some units of E|cr| and of the sum for c = 0."""
        y, square = np.multiply.outer(c, self.loss), self.loss * self.loss
        drift, mean = self.drift.value.real, self.mean.value.real
        with np.errstate(over="ignore", invalid="ignore"):
            rise = self.weight * np.expm1(np.minimum(y, _HUGE))
            if np.any(y > _HUGE):
                rise = np.where(y > _HUGE, np.exp(self.log_weight + y), rise)
            curved = rise.sum(axis=-1) - c * mean
            slope = (rise @ self.loss + drift) / (1 + curved)
            curvature = (rise @ square + self.weight @ square) / (1 + curved) - slope * slope
            return RealCumulant(np.log1p(curved), np.zeros(c.shape), slope, curvature)

    @property
    def row(self) -> "PointRows":
        """The points as those of one law among several."""
        return PointRows(self.log_weight, self.weight, self.loss[None], self.drift.at((None,)))

    def line(self, c: float, u: Array, wrong: Array) -> Disc:
        """K(c + iu) for equally spaced u from 0; `wrong` as above."""
        return self.row.line(c, u, wrong).at(0)

    def at(self, s: ComplexArray) -> ComplexArray:
        """K at any complex points, with no bound of the error."""
        return self.row.at(s)

    def tilted(self, c: float) -> Array:
        """Return the weights of e^(cl), normalised."""
        log = self.log_weight + c * self.loss
        share = np.exp(log - np.max(log))
        return share / share.sum()


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
    """Points of several laws: common weights, and a row of losses l for each.

    They may be complex, with Im l >= 0, so that e^(iul) only shrinks.
    """

    log_weight: Numbers
    weight: Numbers
    loss: Numbers
    drift: Disc  # sums of weight (l - e^l + 1)

    @classmethod
    def of(cls, log_weight: Numbers, loss: Numbers, r: Numbers) -> "PointRows":
        """Compute what does not depend on s."""
        weight = np.exp(log_weight)
        drift = Disc.within(log1p_minus(r, loss), _BENT).dot(weight)
        return cls(log_weight, weight, loss, drift)

    def line(self, c: float, u: Array, wrong: Array) -> Disc:
        """Return K(c + iu) for each row, for equally spaced u from 0.

        Args:
            c: real part.
            u: heights.
            wrong: bounds an error of e^K from elsewhere, a row for each.
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
        term = self.weight[columns] * x * x
        bend = np.abs(term).sum(axis=1)[:, None] / 2
        moments = _powers(term, x, _SHARES.size).sum(axis=-1)
        powers = np.multiply.outer(np.ones(_SHARES.size), s / scale)
        powers[0] *= powers[0]
        found = (moments.T * _SHARES) @ np.cumprod(powers, axis=0)
        return Disc.within(found, 0.0, bend * (np.abs(s) / scale) ** 2 * _MOMENTS)

    def _by_waves(self, far: Mask, s: ComplexArray, u: Array) -> Disc:
        """Return the sums of weight (e^(sl) - 1 - sl) for what is far.

        It is little, so that e^(sl) and 1 may be summed apart.
        """
        columns = np.any(far, axis=0)
        far, loss, weight = far[:, columns], self.loss[:, columns], self.weight[columns]
        log_weight = Disc.of(self.log_weight[columns], _EXPONENT)
        tilted = (Disc.within(s[0].real * loss, TILT) + log_weight).exp()
        if not np.all(far):
            loss, weight = np.where(far, loss, 0.0), np.where(far, weight, 0.0)
            tilted = Disc.where(far, tilted, Disc.exactly(0.0))
        known = Disc.within(loss, _LOSS)
        level, mass = known.dot(weight), Disc.exactly(weight).sum()
        return waves(u, known, tilted) - (level.at((..., None)) * s + mass.at((..., None)))

    def at(self, s: ComplexArray) -> ComplexArray:
        """Return K of the first row at any complex points, about."""
        return turned_at(
            self.log_weight, self.weight, self.loss[0], complex(self.drift.value[0]), s
        )


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
    """Return so many of first, first factor, first factor^2, ... along a new axis."""
    found = np.empty((many, *first.shape), dtype=np.result_type(first, factor))
    found[0] = first
    for k in range(1, many):
        np.multiply(found[k - 1], factor, out=found[k])
    return found


def _turned(first: Numbers, exponent: ComplexArray, many: int) -> ComplexArray:
    """Return so many of first, first e^z, first e^2z, ... along a new axis.

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


def _with(found: Disc, wrong: Array) -> Disc:
    return Disc(found.value, found.error + (wrong + _UNDERFLOW))
