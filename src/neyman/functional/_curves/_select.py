"""Which of the free bandwidths to read a release with, from the release alone."""

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from neyman.arguments import check_type
from neyman.functional._curves._function import ReleasedFunction
from neyman.functional._curves._spectrum import Smoothable, Spectrum
from neyman.functional._fields._field import ReleasedField
from neyman.numerics import Array, Real, exact_size

__all__ = ["select_bandwidth"]

_STEPS_A_DOUBLING = 8

_Bandwidth = TypeVar("_Bandwidth")


def select_bandwidth(
    function: Smoothable[_Bandwidth], *, standard_errors: Real = 0.5
) -> _Bandwidth:
    """Return a bandwidth with a small estimated integrated squared error. Free post-processing.

        R(h) = sum_j m_j ((l^2 - 2 l) t_j + l^2 ((1 - t_j) / n + s_j^2)),   l = lambda_j(h)
        t_j  = (|y_j|^2 - 1/n - s_j^2) n / (n - 1)

    y_j is the noisy transform, |y_j|^2 the sum of the squares of its m_j parts, and s_j^2 the known
    variance of their noise, so t_j is unbiased for the squared transform of the density, and R(h)
    for the error, up to a constant. The largest bandwidth whose R is within so many standard errors
    of the least is taken: R is flat below the best and rises slowly above.

    Beyond the frequency up to which a sum of waves has the least estimated error,
    sum_j 2 (1/n + s_j^2) - |y_j|^2, all t_j are taken for 0: what is left there is noise, which
    would only make R uncertain.

    Args:
        function: a `ReleasedFunction` or `ReleasedField`; its own bandwidth plays no part.
        standard_errors: how far above the least; 0 takes the least itself.

    Returns:
        One of the bandwidths h0 2^(k/8), h0 that of the release; of a field all of them, by a
        common factor.

    Error: an estimate. Values heaped on a few places have no density, and get the smallest.
    Source: Rudemo, *Empirical choice of histograms and kernel density estimators*, Scandinavian
        Journal of Statistics 1982 (the unbiased estimate, without noise); Chiu, *Bandwidth
        selection for kernel density estimation*, Annals of Statistics 1991 (no high frequencies).
    """
    released = ReleasedFunction | ReleasedField
    check_type("function", function, released, "functional.function(release) of a density")
    allowed = float(exact_size(standard_errors, "standard_errors"))
    spectrum = function.spectrum
    steps = np.arange(int(np.log2(spectrum.most) * _STEPS_A_DOUBLING) + 1)
    factors: list[float] = (2.0 ** (steps / _STEPS_A_DOUBLING)).tolist()
    n, noise, weights = spectrum.count, spectrum.noise, spectrum.parts / 2
    # From low frequencies to high ones.
    order = np.argsort(-spectrum.multipliers(1.0), kind="stable")
    losses = weights * (2 * (1 / n + noise) - spectrum.power)
    told = order[: int(np.argmin(np.cumsum([0.0, *losses[order]])))]
    unbiased = np.zeros(noise.size)
    unbiased[told] = ((spectrum.power - 1 / n - noise) * (n / (n - 1)))[told]
    rows = np.array([spectrum.multipliers(factor) for factor in factors])
    slopes = weights * (rows * rows * (1 - 1 / n) - 2 * rows)
    risks = slopes @ unbiased + (weights * rows * rows) @ (1 / n + noise)
    best = int(np.argmin(risks))
    near = risks - risks[best] <= allowed * _errors(
        (slopes - slopes[best])[:, told], unbiased, spectrum, told
    )
    return function.bandwidth_at(factors[int(np.flatnonzero(near)[-1])])


def _errors(
    slopes: Array, unbiased: Array, spectrum: Spectrum, told: npt.NDArray[np.intp]
) -> Array:
    """Return standard errors of slopes @ unbiased, the parts of y_j taken as independent."""
    signal = np.clip(unbiased[told], 0.0, 1.0)
    spread = (1 - signal) / spectrum.count + spectrum.noise[told]
    return np.sqrt(slopes**2 @ ((spread**2 + 2 * spread * signal) * (2 / spectrum.parts[told])))
