"""Noisy gradient descent that releases only its last point.

    x <- Pi(x - step_size (gradient(x) + N(0, sigma^2 I)))

Pi is the projection on a convex set, or the identity. Assume that each x - step_size gradient(x)
contracts by c and that the gradients of neighbours differ by at most L. Then one step alone is
mu_1-GDP, mu_1 = L / sigma. In units of step_size sigma, the points of the two datasets move apart
by mu_1 in a step that uses the record. A step that absorbs a_k costs a_k^2:

    z_k = c z_(k-1) + mu_1 - a_k,   z >= 0, z_t = 0,   mu^2 = sum a_k^2

This holds for any schedule a (Bok, Su and Altschuler, 2024). By the Cauchy-Schwarz inequality, mu^2
is least for a_k proportional to c^(t-k). That schedule keeps z >= 0 if every step uses the record.
It also does so if one step in each epoch uses it and the last epoch alone absorbs
(docs/theory/last_iterate.md).
"""

from fractions import Fraction

import numpy as np

from neyman.curves import TradeOff, dominated_by, gdp, identity
from neyman.errors import InvalidParameter
from neyman.numerics import (
    Array,
    Interval,
    Real,
    ceil_float,
    exact,
    exp,
    expm1,
    log,
    log1p,
    tanh,
    text,
)

__all__ = ["contraction", "last_iterate", "last_iterate_bounded", "last_iterate_cyclic"]

# Offsets to the integers near the quotient of the diameter and the step.
_BESIDE = np.arange(-4.0, 5.0)
_LONGEST = 10**15
_LONG_BITS = 2048


def contraction(*, step_size: Real, strong_convexity: Real, smoothness: Real) -> Fraction:
    """Return c = max(|1 - step_size m|, |1 - step_size M|), exactly.

    x - step_size gradient is c-Lipschitz if every loss is m-strongly convex and M-smooth.

    Args:
        step_size: positive.
        strong_convexity: m, at least 0; 0 for convex losses.
        smoothness: M, at least m and positive.

    Raises:
        InvalidParameter: if a parameter is out of range, or if c > 1, so that the step is too long
            to contract.

    >>> contraction(step_size=0.1, strong_convexity=1, smoothness=10)
    Fraction(9, 10)
    """
    eta, m, big = (
        exact(step_size, "step_size"),
        exact(strong_convexity, "strong_convexity"),
        exact(smoothness, "smoothness"),
    )
    if eta <= 0 or m < 0 or big < m or big == 0:
        raise InvalidParameter(
            "step_size must be positive, and 0 <= strong_convexity <= smoothness; got "
            f"step_size={text(eta)}, strong_convexity={text(m)}, smoothness={text(big)}"
        )
    c = max(abs(1 - eta * m), abs(1 - eta * big))
    if c > 1:
        raise InvalidParameter(
            f"step_size={text(eta)} is longer than 2 / smoothness, so that steps expand by "
            f"{text(c)}; write a shorter one"
        )
    return c


def last_iterate(*, step_mu: Real, contraction: Real, steps: int) -> TradeOff:
    """Return the guarantee of the last point of full-batch noisy gradient descent.

        mu^2 = step_mu^2 (1 - c^t)/(1 + c^t) (1 + c)/(1 - c);   step_mu^2 t at c = 1

    It is exact: some quadratic losses attain it.

    Args:
        step_mu: mu of one step: how far one record, replaced or added, can move the gradient that
            is used, divided by the standard deviation of its noise; positive.
        contraction: c of every step on both datasets, in [0, 1]; see `contraction`.
        steps: t. Only the last point is released, and the start does not depend on the data.

    Guarantee: for losses whose steps contract by c; clipped gradients of other losses may not.
    Error: mu^2 is rounded up.

    Raises:
        InvalidParameter: if a parameter is out of range.

    Source: Bok, Su and Altschuler (2024), "Shifted interpolation for differential privacy".

    >>> f"{last_iterate(step_mu=1, contraction=0.9, steps=1000).mu():.4f}"
    '4.3589'
    """
    mu, c, t = _read(step_mu, contraction, steps, "steps")
    if t == 0:
        return identity()
    return _gaussian(mu**2 * _geometric(c, t))


def last_iterate_bounded(
    *, step_mu: Real, contraction: Real, steps: int, diameter: Real
) -> TradeOff:
    """Return the guarantee of the last point, with a projection on a convex set after every step.

        mu^2 = min over tau <= t of (c^tau D + step_mu (1 - c^tau)/(1 - c))^2 / sum_(k<tau) c^2k

    The two points are never more than D apart, so steps before the last tau do not matter. The
    bound does not grow with t: at c = 1, mu^2 is about 4 D step_mu. It is never above
    `last_iterate`.

    Args:
        step_mu: as for `last_iterate`.
        contraction: as for `last_iterate`; 1 for convex losses.
        steps: t.
        diameter: D: the diameter of the set, divided by step_size times the standard deviation of
            the noise.

    Raises:
        InvalidParameter: if a parameter is out of range.

    Error: mu^2 is rounded up.
    Source: Bok, Su and Altschuler (2024), with an optimised schedule: docs/theory/last_iterate.md.

    >>> f"{last_iterate_bounded(step_mu=0.1, contraction=1, steps=10**6, diameter=5).mu():.4f}"
    '1.4142'
    """
    mu, c, t = _read(step_mu, contraction, steps, "steps")
    wide = exact(diameter, "diameter")
    if not 0 < wide < 2**200:
        raise InvalidParameter(f"diameter={text(wide)} is not positive; write one above 0")
    if t == 0:
        return identity()
    # Any tau is a bound. The best is near D / step_mu at c = 1, and smaller if steps contract.
    near = float(wide / mu)
    spots = np.append(np.rint(near * 2.0 ** (np.arange(-480, 9) / 8)), np.ceil(near) + _BESIDE)
    found = _from_afar(mu, c, np.unique(np.clip(spots, 1, t)), wide)
    best = Fraction(float(np.min(found.upper)))
    return dominated_by(_gaussian(min(best, mu**2 * _geometric(c, t))))


def last_iterate_cyclic(*, step_mu: Real, contraction: Real, batches: int, epochs: int) -> TradeOff:
    """Return the guarantee of the last point if every record is used once in each epoch.

        mu^2 = step_mu^2 (1 + c^(2l-2) (1 - c^2)/(1 - c^l)^2 (1 - c^(l(E-1)))/(1 + c^(l(E-1))))

    Batches are a fixed partition, in the same order in every epoch. The record may be in any of
    them; the last one is the worst case. At c = 1, mu^2 = step_mu^2 (1 + (E - 1)/l).

    Args:
        step_mu: mu of one step on the record's batch, positive.
        contraction: c of every step, in [0, 1].
        batches: l, the batches in an epoch.
        epochs: E.

    Guarantee: for one record replaced and batches of fixed membership; no sampling is used. It is a
        bound (`answer.of`) if there are several batches and epochs.
    Error: mu^2 is rounded up.

    Raises:
        InvalidParameter: if a parameter is out of range.

    Source: Bok, Su and Altschuler (2024).

    >>> from fractions import Fraction
    >>> f = last_iterate_cyclic(
    ...     step_mu=Fraction(2, 3), contraction=0.9999, batches=40, epochs=50
    ... )
    >>> f"{f.mu():.4f}, {f.epsilon(1e-5):.4f}"
    '0.9925, 4.3392'
    """
    mu, c, l_ = _read(step_mu, contraction, batches, "batches")
    if l_ < 1 or type(epochs) is not int or not 0 <= epochs <= _LONGEST:
        raise InvalidParameter(
            "batches must be an int of at least 1 and epochs of at least 0; got "
            f"batches={batches!r}, epochs={epochs!r}"
        )
    if epochs == 0:
        return identity()
    if l_ == 1:
        return _gaussian(mu**2 * _geometric(c, epochs))
    if epochs == 1 or c == 0:
        return _gaussian(mu**2)
    if c == 1:
        return dominated_by(_gaussian(mu**2 * (1 + Fraction(epochs - 1, l_))))
    shape = exp((2 * l_ - 2) * _log(c)) * _gap(c, 2) / _gap(c, l_).squared()
    extra = shape * _ratio(c, l_ * (epochs - 1))
    return dominated_by(_gaussian(mu**2 * (1 + Fraction(float(extra.upper)))))


def _read(
    step_mu: Real, contraction: Real, count: int, name: str
) -> tuple[Fraction, Fraction, int]:
    mu, c = exact(step_mu, "step_mu"), exact(contraction, "contraction")
    if not Fraction(1, 2**100) < mu < 2**100:
        raise InvalidParameter(f"step_mu={text(mu)} is not positive; write one in (2^-100, 2^100)")
    if not 0 <= c <= 1:
        raise InvalidParameter(
            f"contraction={text(c)} is outside [0, 1]; write contraction(step_size=...), and "
            "release every step, gdp(step_mu) ** steps, where the steps expand"
        )
    if c and (c < Fraction(1, 2**100) or 0 < 1 - c < Fraction(1, 2**100)):
        raise InvalidParameter(f"contraction={text(c)} is too near 0 or 1; write 0 or 1")
    if type(count) is not int or not 0 <= count <= _LONGEST:
        raise InvalidParameter(f"{name} must be an int from 0 to 10^15; got {count!r}")
    return mu, c, count


def _log(c: Fraction) -> Interval:
    """Return log c, 0 < c < 1, with full relative accuracy near 1."""
    return log1p(-Interval.of(1 - c)) if c > Fraction(1, 2) else log(Interval.of(c))


def _gap(c: Fraction, power: Array | int) -> Interval:
    """Return 1 - c^power with relative accuracy: e^-x damps the error of the exponent."""
    return -expm1(_log(c) * power)


def _ratio(c: Fraction, power: int) -> Interval:
    """Return (1 - c^power) / (1 + c^power)."""
    return tanh(-_log(c) * power / 2)


def _geometric(c: Fraction, t: int) -> Fraction:
    """Return (1 - c^t)/(1 + c^t) (1 + c)/(1 - c), rounded up; t at c = 1."""
    if c == 1:
        return Fraction(t)
    if c == 0:
        return Fraction(1)
    share = float(_ratio(c, t).upper)
    return min(Fraction(share) * (1 + c) / (1 - c), Fraction(t))


def _from_afar(step_mu: Fraction, c: Fraction, tau: Array, diameter: Fraction) -> Interval:
    """Return (c^tau d + s (1 - c^tau)/(1 - c))^2 / sum_(k<tau) c^2k at many tau."""
    s, d = Interval.of(step_mu), Interval.of(diameter)
    if c == 0:
        return s.squared()
    if c == 1:
        return (d + s * tau).squared() / tau
    total = exp(_log(c) * tau) * d + s * _gap(c, tau) / Interval.of(1 - c)
    return total.squared() * _gap(c, 2) / _gap(c, 2 * tau)


def _gaussian(square: Fraction) -> TradeOff:
    """Return G_mu; mu^2 is rounded up to a double if the fraction is long."""
    long = max(square.numerator.bit_length(), square.denominator.bit_length()) > _LONG_BITS
    return gdp(squared=Fraction(ceil_float(square)) if long else square)
