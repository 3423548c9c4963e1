"""Products of transforms of tilted masses on a grid, with a bound of their rounding.

For masses m_i on the integers, a tilt tau and normalisers kappa_i (any doubles),

    r(k) = (x_1^{*n_1} * x_2^{*n_2} * ...)(k),   x_i(s) = m_i(s) exp(tau s - kappa_i)

so that the composition is r(k) exp(Σ n_i kappa_i - tau k). The error of r is bounded in the model
of docs/theory/rounding.md, section 5: u = 2^-53, v = 8u.

1. A transform of length M = 2^t is t passes of butterflies a + w b. If the inputs of a butterfly
   are sums over disjoint sets of data of total absolute value A and B, known within e A and e B,
   its output is within (e + eta) (A + B), eta <= 5u for a complex product, a twiddle within 2u and
   an addition: by induction each output is within t v (1-norm of the data).
2. So phi_i, the transform of x_i, is known within e_i = Σ x_i (t v + relative error of x_i).
3. With m_i >= |phi_i| and >= its computed value, |Π a_i^n_i - Π b_i^n_i| is at most
   Π m_i^n_i Σ n_i e_i / m_i (telescoping); the power by exp(n log) adds v (2 + |log|) n
   relatively, one by products v n. Their mean over the frequencies bounds the error of the
   inverse transform's data; its own passes add t v times the mean of |product| by (1). Where
   Π m_i^n_i is negligible the product is taken as 0, and the bound as its error.
4. A transform of length M returns r summed over the residue classes modulo M: what falls upon a
   window from outside is non-negative and bounded by the caller.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from neyman.numerics._complex import ComplexArray
from neyman.numerics._interval import Array, Interval
from neyman.numerics._primitives import exp

__all__ = ["Spectrum", "convolved", "spectrum", "spectrum_at"]

# Products below e^-80 are negligible beside the mean, which is above 1 over the length.
_NEGLIGIBLE = -80.0
# What a pass of butterflies, a complex product, or a complex exponential adds, relatively: v.
_PASS = 8 * 2.0**-53
# For the rounding of the bounds themselves, and for masses that are no normal doubles.
_ROOM, _TINY = 1 + 1e-9, 1e-300
# Powers that are taken by multiplication.
_FEW = 8


@final
@dataclass(frozen=True, slots=True, eq=False)
class Spectrum:
    """The transform of tilted masses around a middle, at the frequencies from 0 on.

    Attributes:
        middle: the k that the phase is counted from, so that it turns slowly.
        values: shape (length / 2 + 1,).
        error: absolute, of each value.
        log_size: logarithms of upper bounds of true and computed absolute values.
    """

    middle: int
    values: ComplexArray
    error: float
    log_size: Array


def spectrum(masses: Array, first: int, tau: float, kappa: float, length: int) -> Spectrum:
    """Return the transform of m(k) exp(tau k - kappa), k = first, first + 1, ...

    Args:
        masses: non-negative, exact.
        first: k of the first.
        tau: a double taken as exact.
        kappa: the same.
        length: of the transform, a power of two.
    """
    k = np.arange(first, first + masses.size, dtype=np.float64)
    with np.errstate(under="ignore"):
        # In two factors, either of which is a double where there is mass.
        half = np.exp(np.minimum((tau * k - kappa) / 2, 700.0))
        x = masses * half * half
    # A product and a sum: no exponent is further off than that of the largest size.
    farthest = float(max(abs(first), abs(first + masses.size)))
    sizes = (Interval.exactly(farthest) * abs(tau) + abs(kappa)) / 2
    factor = exp(sizes - sizes)
    factor = factor * factor
    slack = float(np.sum(x) * (factor.upper - factor.lower)) * _ROOM + _TINY * masses.size
    found = spectrum_at(np.arange(masses.size, dtype=np.int64), x, slack, length)
    return Spectrum(first + found.middle, found.values, found.error, found.log_size)


def spectrum_at(steps: npt.NDArray[np.int64], x: Array, slack: float, length: int) -> Spectrum:
    """Return the transform of masses x at increasing steps, known within `slack` in all."""
    size = float(np.sum(x))
    at = round(float(x @ steps) / size) if size > 0 else int(steps[0])
    width = int(steps[-1] - steps[0])
    folds = width // length
    if folds:
        data = np.bincount((steps - at) % length, weights=x, minlength=length)
    else:
        # What is left of the middle stands at the end.
        data = np.zeros(length)
        data[steps - at] = x
    values = np.fft.rfft(data)
    error = slack + (length.bit_length() + 2 + folds) * _PASS * size
    square = values.real * values.real + values.imag * values.imag
    bound = np.sqrt(square) * (1 + _PASS) + error
    return Spectrum(at, values, error, np.log(np.maximum(bound, _TINY)))


def convolved(
    powers: Sequence[tuple[Spectrum, int]], window: tuple[int, int], length: int, aliasing: float
) -> Interval:
    """Return r(k) for k in a window.

    Args:
        powers: the transforms, and how often each is taken.
        window: first k and one past the last, at most `length` of them.
        length: of the transforms.
        aliasing: upper bound of the mass that falls upon the window from outside.
    """
    passes, half = length.bit_length(), length // 2 + 1
    log_bound = np.zeros(half)
    for each, times in powers:
        log_bound += times * each.log_size
    kept = np.flatnonzero(log_bound > _NEGLIGIBLE)
    product = np.ones(kept.size, dtype=np.complex128)
    # Relative errors; the products of several powers are two more.
    spread = np.full(kept.size, 2 * _PASS)
    for each, times in powers:
        value = each.values[kept]
        spread += times * np.minimum(each.error * np.exp(-each.log_size[kept]), 1.0)
        if times <= _FEW:
            for _ in range(times):
                product = product * value
            spread += times * _PASS
        else:
            log = np.log(np.where(value == 0, _TINY, value))
            product = product * np.exp(times * log)
            spread += times * _PASS * (2 + np.abs(log))
    with np.errstate(under="ignore", over="ignore"):
        errors = np.exp(log_bound[kept]) * spread
    # The frequencies that a real transform leaves out are conjugate to those between the ends.
    weight = np.where((kept == 0) | (kept == half - 1), 1.0, 2.0) / length
    error = float(weight @ errors) + passes * _PASS * float(weight @ np.abs(product))
    error = error * _ROOM + 1.01 * math.exp(_NEGLIGIBLE)
    whole: npt.NDArray[np.complex128] = np.zeros(half, dtype=np.complex128)
    whole[kept] = product
    r: Array = np.fft.irfft(whole, n=length)
    start = (window[0] - sum(times * each.middle for each, times in powers)) % length
    r = np.concatenate((r[start:], r[:start]))[: window[1] - window[0]]
    return Interval(np.maximum(r - error - aliasing, 0.0), np.maximum(r + error, 0.0))
