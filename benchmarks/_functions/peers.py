"""Other densities of the same records, private at the same mu or not private at all.

Every peer counts records in cells so fine that nothing is lost, and is told how many records there
are. Where it has a parameter all values are tried; the best of them is taken, which nobody knows.
"""

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import numpy as np
from scipy.fft import dct, idct

from neyman.functional._densities._wavelets import SYM6

__all__ = ["PRIVATE", "errors", "nearest"]

Array = np.ndarray
PRIVATE: Final = ("histogram", "polygon", "cosines", "wavelets")
_SMOOTHED: Final = 16


def errors(
    counts: Array, masses: Array, length: float, mu: float, random: np.random.Generator
) -> Iterator[tuple[str, str, float]]:
    """Yield the peer, its parameter and its integrated squared error.

    Args:
        counts: of records in equal cells of the domain; 15 * 2^k cells.
        masses: the true probabilities of the cells.
        length: of the domain.
        mu: of every private peer, under add_remove.
        random: of the noise.
    """
    truth = masses * masses.size / length
    for bins, noisy in _histograms(counts, mu, random):
        name, n = f"{bins} bins", counts.sum()
        heights = nearest(noisy / n, 1.0) * bins / length
        exact = masses.reshape(bins, -1).sum(axis=1)
        error = float((heights**2).sum()) * length / bins - 2 * float(heights @ exact)
        yield "histogram", name, error + float((truth**2).mean()) * length
        line = _line(heights, masses.size)
        line /= line.mean() * length
        yield "polygon", name, _apart(line, truth, length)
    for waves, curve in _cosines(counts, mu, random):
        density = nearest(curve, masses.size) / length
        yield "cosines", f"{waves} waves", _apart(density, truth, length)
    density = nearest(_wavelets(counts, mu, random), 1.0) * masses.size / length
    yield "wavelets", "", _apart(density, truth, length)
    yield from _kernels(counts, masses, length)


def nearest(values: Array, total: float) -> Array:
    """Return the non-negative vector of this sum that is nearest to values."""
    ordered = np.sort(values)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, ordered.size + 1)
    return np.maximum(values - excess[np.flatnonzero(ordered > excess)[-1]], 0.0)


def _apart(found: Array, truth: Array, length: float) -> float:
    return float(((found - truth) ** 2).mean()) * length


def _histograms(
    counts: Array, mu: float, random: np.random.Generator
) -> Iterator[tuple[int, Array]]:
    for bins in range(2, counts.size // 8 + 1):
        if counts.size % bins == 0:
            exact = counts.reshape(bins, -1).sum(axis=1)
            yield bins, exact + random.standard_normal(bins) / mu


def _line(heights: Array, cells: int) -> Array:
    """Return the polygon through the middles of the bins, level beyond the outermost."""
    middles = (np.arange(heights.size) + 0.5) / heights.size
    return np.interp((np.arange(cells) + 0.5) / cells, middles, heights)


def _cosines(counts: Array, mu: float, random: np.random.Generator) -> Iterator[tuple[int, Array]]:
    """Yield the series of so many cosines, a record of which moves each by at most 1."""
    n = counts.sum()
    most = min(counts.size // 8, 8192)
    means = dct(counts, type=2)[: most + 1] / (2 * n)
    noise = random.standard_normal(most + 1) / (mu * n)
    tried = sorted({round(k) for k in np.geomspace(1, most, 40)})
    for waves in tried:
        terms = np.zeros(counts.size)
        terms[1 : waves + 1] = means[1 : waves + 1] + math.sqrt(waves) * noise[1 : waves + 1]
        terms[0] = 1.0
        yield waves, idct(terms, type=2) * 2 * counts.size


def _kernels(counts: Array, masses: Array, length: float) -> Iterator[tuple[str, str, float]]:
    """Yield the errors of the Gaussian kernel without privacy, mirrored at the ends.

    Along an interval its waves are cosines, so that the error is a sum over them.
    """
    means = dct(counts, type=2) / (2 * counts.sum())
    exact = dct(masses, type=2) / 2
    waves = np.arange(means.size)
    for h in np.geomspace(0.5 / counts.size, 0.5, 60):
        with np.errstate(under="ignore"):
            kept = means * np.exp(-0.5 * (math.pi * h * waves) ** 2)
        square = ((kept - exact) ** 2)[1:].sum()
        yield "oracle kernel", f"bandwidth {h * length:.3g}", 2 * float(square) / length


def _wavelets(counts: Array, mu: float, random: np.random.Generator) -> Array:
    """Return masses by hard thresholding of all shifts of a noisy fine histogram, nothing tuned.

    Source: Coifman and Donoho, *Translation-invariant de-noising*, 1995.
    """
    n = counts.sum()
    bins = counts.size // 16
    noisy = counts.reshape(bins, -1).sum(axis=1) + random.standard_normal(bins) / mu
    window = np.ones(_SMOOTHED) / _SMOOTHED
    expected = np.convolve(np.pad(noisy, _SMOOTHED // 2, "edge"), window, "same")
    expected = np.maximum(expected[_SMOOTHED // 2 :][:bins], 0.0)
    # The variances of the first pass are those of neighbours, of the second those that it found.
    for _ in range(2):
        found = _denoised(noisy, expected + 1 / mu**2)
        expected = nearest(found, n)
    return np.repeat(expected / n, 16) / 16


@lru_cache(maxsize=8)
def _filters(size: int, levels: int) -> tuple[Array, list[Array]]:
    """Return the transforms of the smooth part and of the details, around a circle."""
    turn = np.exp(-2j * math.pi * np.arange(size) / size)
    low = np.array(SYM6)
    high = low[::-1] * (-1.0) ** np.arange(low.size)
    smooth = np.ones(size, complex)
    details = []
    for level in range(levels):
        at = turn ** (2**level)
        details.append(smooth * np.polyval(high[::-1], at) / math.sqrt(2))
        smooth = smooth * np.polyval(low[::-1], at) / math.sqrt(2)
    return smooth, details


def _denoised(values: Array, variances: Array) -> Array:
    """Threshold the details of a mirrored signal, sum of |filter|^2 = 1 at every frequency."""
    size = 2 * values.size
    smooth, details = _filters(size, max(int(math.log2(values.size)) - 3, 1))
    spectrum, spread = (np.fft.fft(np.append(a, a[::-1])) for a in (values, variances))
    found = spectrum * np.abs(smooth) ** 2
    limit = math.sqrt(2 * math.log(values.size))
    for filtered in details:
        detail = np.fft.ifft(spectrum * filtered).real
        square = np.fft.fft(np.fft.ifft(filtered).real ** 2)
        sd = np.sqrt(np.maximum(np.fft.ifft(spread * square).real, 0.0))
        kept = np.where(np.abs(detail) > limit * sd, detail, 0.0)
        found = found + np.fft.fft(kept) * np.conj(filtered)
    return np.fft.ifft(found).real[: values.size]
