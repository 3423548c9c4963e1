"""Convolution powers of lattice laws, tilted exponentially, by the fast Fourier transform.

For laws p_i on the integers, a tilt tau and normalisers kappa_i (any doubles near the cumulants),

    r(k) = (x_1^{*n_1} * x_2^{*n_2} * ...)(k),   x_i(s) = p_i(s) exp(tau s - kappa_i)

so that the composition is p(k) = r(k) exp(sum n_i kappa_i - tau k): an absolute error of r that is
small beside its peak is a small relative error of p wherever the tilt puts the peak.

The error of r, as a sup norm, in the ulp model of `_bracket` (u = 2^-53, ULP = 8u):

1. A transform of length M = 2^t is t passes of butterflies a + w b. If the inputs of a butterfly
   are sums over disjoint sets of data of total absolute value A and B, known within e A and e B,
   its output is within e (A + B) + eta (A + B), eta <= 5u for a complex product, a twiddle within
   2u and an addition: so, by induction, each output is within t ULP (1-norm of the data).
   A pass of radix four is two passes of radix two, one of them free of products.
2. So phi_i, the transform of x_i, is known within e_i = sum x_i (t ULP + relative error of x_i).
3. With m_i >= |phi_i| and >= its computed value, |prod a_i^n_i - prod b_i^n_i| is at most
   prod m_i^n_i sum n_i e_i / m_i (telescoping), and the power by exp(n log) adds ULP (1 + |log|) n
   relatively. Their mean over the frequencies bounds the error of the inverse transform's data;
   its own passes add t ULP times the mean of |product| by (1).
4. A transform of length M returns r summed over the residue classes modulo M: the mass of other
   cells that falls upon the window is non-negative, and at most Chernoff's bound of the tails of r
   beyond the window (`aliasing`, an upper bound, given by the caller).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from neyman.numerics._atomic._atoms import Steps
from neyman.numerics._bracket import ULP, Array, Bracket

__all__ = ["LatticePart", "tilted_window"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class LatticePart:
    """A law on the integers, `times` copies of it: steps, log masses, their relative error."""

    steps: Steps
    log_p: Array
    relative_error: Array | float
    times: int

    def moments(self, tau: Array) -> tuple[Array, Array, Array]:
        """Return log E e^{tau s}, and mean and variance of s under that tilt, for an array."""
        exponents = self.log_p + np.multiply.outer(tau, self.steps.astype(np.float64))
        top = np.max(exponents, axis=-1)
        weights = np.exp(exponents - top[..., None])
        total = np.sum(weights, axis=-1)
        mean = weights @ self.steps / total
        centred = (self.steps - mean[..., None]) ** 2
        return top + np.log(total), mean, np.sum(weights * centred, axis=-1) / total

    def weights(self, tau: float, kappa: float) -> tuple[Array, float]:
        """Return x = p exp(tau s - kappa), and a bound of sum |error of x|."""
        shift = tau * self.steps
        x = np.exp(self.log_p + shift - kappa)
        rounding = ULP * (1 + np.abs(self.log_p) + np.abs(shift) + abs(kappa)) / 2
        with np.errstate(invalid="ignore"):
            slack = np.where(x > 0, x * (self.relative_error + rounding), 0.0)
        return x, float(np.sum(slack))


def tilted_window(
    parts: Sequence[LatticePart],
    tau: float,
    kappas: Sequence[float],
    window: tuple[int, int],
    length: int,
    aliasing: float,
) -> Bracket:
    """Return a bracket of r(k) for k in the window.

    Args:
        parts: the laws and how often each is taken.
        tau: tilt per step; a double taken as exact.
        kappas: one normaliser a part; doubles taken as exact.
        window: first cell and one past the last, at most `length` cells.
        length: of the transform, a power of two.
        aliasing: upper bound of the tilted mass outside the window that falls upon it.
    """
    passes = length.bit_length()
    log_product = np.zeros(length // 2 + 1, dtype=np.complex128)
    log_bound, spread = np.zeros(length // 2 + 1), np.full(length // 2 + 1, 2 * ULP)
    centre = 0
    for part, kappa in zip(parts, kappas, strict=True):
        x, slack = part.weights(tau, kappa)
        # Centred, so that the phase turns slowly and its power keeps its digits.
        middle = round(float(x @ part.steps) / float(np.sum(x)))
        data = np.bincount((part.steps - middle) % length, weights=x, minlength=length)
        phi = np.fft.rfft(data)
        folds = int(part.steps[-1] - part.steps[0]) // length
        error = slack + (passes + 2 + folds) * ULP * float(np.sum(x))
        size = np.maximum(np.abs(phi), 1e-300)
        bound = size * (1 + ULP) + error
        log_phi = np.log(np.where(np.abs(phi) < 1e-300, 1e-300, phi))
        log_product += part.times * log_phi
        log_bound += part.times * np.log(bound)
        spread += part.times * (error / bound + ULP * (1 + np.abs(log_phi)))
        centre += part.times * middle
    with np.errstate(under="ignore", over="ignore"):
        product: npt.NDArray[np.complex128] = np.exp(log_product)
        errors = np.exp(log_bound + ULP * (1 + np.abs(log_bound))) * spread
    # The frequencies that a real transform leaves out are conjugate to those between the ends.
    weight = np.full(length // 2 + 1, 2.0 / length)
    weight[0] = 1.0 / length
    if length > 1:
        weight[-1] = 1.0 / length
    error = float(weight @ errors) + passes * ULP * float(weight @ np.abs(product))
    error *= 1 + passes * ULP
    r: Array = np.fft.irfft(product, n=length) if length > 1 else np.real(product)
    cells = (np.arange(*window) - centre) % length
    r = r[cells]
    return Bracket(np.maximum(r - error - aliasing, 0.0), np.maximum(r + error, 0.0))
