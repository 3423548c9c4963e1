"""Which of the free bandwidths to read a release with, from the release alone."""

from typing import Any, TypeVar

import numpy as np

from neyman.arguments import check_type
from neyman.functional._curves._function import ReleasedFunction
from neyman.functional._curves._spectrum import Smoothable, Spectrum
from neyman.functional._fields._field import ReleasedField
from neyman.numerics import Array

__all__ = ["select_bandwidth", "selected"]

_STEPS_A_DOUBLING = 8

_Bandwidth = TypeVar("_Bandwidth")
_Density = TypeVar("_Density", ReleasedFunction, ReleasedField)


def select_bandwidth(function: Smoothable[_Bandwidth]) -> _Bandwidth:
    """Return the bandwidth of least estimated error of `project()`. Free post-processing.

        R(h) = sum_j m_j ((l^2 - 2 l) t_j + l^2 ((1 - t_j) / n + a s_j^2)),   l = lambda_j(h)
        t_j  = u_j (|y_j|^2 - 1/n - s_j^2) n / (n - 1),      a = 1 / (1 + sum_j m_j t_j)

    y_j is the noisy transform, |y_j|^2 the sum of the squares of its m_j parts, s_j^2 the known
    variance of their noise: without u_j, t_j is unbiased for the squared transform of the density,
    and R(h) with a = 1, up to a constant, for the error integrated over the whole circle or torus.

    Two things make it better. Most noise of `project()` is where the density is not, and set to 0:
    a is the share of the circle where the density lies, one over the length times the integral of
    its square, which of a density that is even on a part of the circle is that part. And high
    frequencies are noise alone, which would make R uncertain: u_j is the sum of the Akaike weights
    of the models in which no frequency below that of j is without signal, weight_k proportional to
    exp(sum_{i<=k} (m_i / 2) (|y_i|^2 / (1/n + s_i^2) - 2)).

    Args:
        function: a `ReleasedFunction` or `ReleasedField`; its own bandwidth plays no part.

    Returns:
        One of the bandwidths h0 2^(k/8), h0 that of the release; of a field all of them, by a
        common factor.

    Error: an estimate. Values heaped on a few places have no density, and get the smallest.
    Source: Rudemo, *Empirical choice of histograms and kernel density estimators*, Scandinavian
        Journal of Statistics 1982 (the unbiased estimate, without noise); Chiu, *Bandwidth
        selection for kernel density estimation*, Annals of Statistics 1991 (no high frequencies);
        Akaike, *On the likelihood of a time series model*, The Statistician 1978 (the weights).
    """
    released = ReleasedFunction | ReleasedField
    check_type("function", function, released, "functional.function(release) of a density")
    spectrum = function.spectrum
    steps = np.arange(int(np.log2(spectrum.most) * _STEPS_A_DOUBLING) + 1)
    factors: list[float] = (2.0 ** (steps / _STEPS_A_DOUBLING)).tolist()
    n, parts = spectrum.count, spectrum.parts
    power = _told(spectrum) * (spectrum.power - 1 / n - spectrum.noise) * (n / (n - 1))
    lies = 1 / max(1.0, 1 + float(parts @ power))
    rows = np.array([spectrum.multipliers(factor) for factor in factors])
    risks = (rows * rows - 2 * rows) @ (parts * power)
    risks += rows**2 @ (parts * ((1 - power) / n + lies * spectrum.noise))
    return function.bandwidth_at(factors[int(np.argmin(risks))])


def selected(function: _Density) -> _Density:
    """Return a density at the bandwidth that its own release selects."""
    # A number of a curve, and one for each side of a map.
    bandwidth: Any = select_bandwidth(function)
    return function.smooth(bandwidth)


def _told(spectrum: Spectrum) -> Array:
    """Return u_j, how surely there is more than noise at the frequency of j or at a higher one."""
    # From low frequencies to high ones.
    order = np.argsort(-spectrum.multipliers(1.0), kind="stable")
    alone = 1 / spectrum.count + spectrum.noise
    gains = (spectrum.parts / 2 * (spectrum.power / alone - 2))[order]
    evidence = np.cumsum([0.0, *gains])
    weights = np.exp(evidence - evidence.max())
    told = np.empty(gains.size)
    told[order] = np.cumsum(weights[:0:-1])[::-1] / weights.sum()
    return told
