"""Gaussian processes on a grid in floating point: for simulation, not for release.

These draws come from a public generator and are never added to private values. They are for error
bands, studies of accuracy, and tests. The noise of a release is drawn as integers
(`neyman.mechanisms`).
"""

# scipy carries no types of its own.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

import math
from collections.abc import Sequence
from typing import Final, cast

import numpy as np
import numpy.typing as npt

from neyman.arguments import check_type, whole
from neyman.errors import InvalidParameter
from neyman.functional._gaussian_processes._kernels import Kernel, check_kernel, check_length
from neyman.functional._generator import Generator, check_generator
from neyman.numerics import Array, ComplexArray, Real

__all__ = ["simulate_grid"]

_MOST_CELLS: Final = 1 << 26
# Beyond this many length scales every kernel here is below 1e-16.
_REACH: Final = 44.0
# The share of the variance in waves that are not drawn.
_LEFT_OUT: Final = 1e-13
# Points along an axis that its spectrum is first looked for on.
_COARSEST: Final = 96


def simulate_grid(
    kernel: Kernel, *, step: Real, shape: Sequence[int], generator: Generator
) -> Array:
    """Return one path on an equally spaced grid. Not private: floats from a public generator.

    The grid is part of a torus that is so large that the kernel vanishes across it. There the
    covariance is diagonal in waves, so one Fourier transform of the waves with variance gives the
    path.

    Args:
        kernel: the covariance.
        step: the distance of neighbouring grid points along every axis.
        shape: number of grid points along each axis.
        generator: a generator of normal numbers.

    Raises:
        InvalidParameter: if the torus would have more than 2^26 points.

    Error: an estimate: each covariance is within 3e-13.
    Source: Wood and Chan, *Simulation of stationary Gaussian processes in [0, 1]^d*, Journal of
        Computational and Graphical Statistics 1994.
    """
    check_kernel(kernel)
    check_generator(generator)
    spacing = float(check_length(step, "step"))
    check_type("shape", shape, Sequence, "grid points along each axis, such as (64, 64)")
    shape = tuple(whole("shape", n, 1, _MOST_CELLS) for n in shape)
    if not shape:
        raise InvalidParameter(
            "shape must have a number of grid points for each axis, such as (64, 64); got ()"
        )
    room = math.ceil(min(_reach(kernel) / spacing, float(_MOST_CELLS)))
    torus = [_fast(max(n - 1 + room, 2 * room)) for n in shape]
    if math.prod(torus) > _MOST_CELLS:
        raise InvalidParameter(
            f"a grid of shape {shape} takes a torus of shape {tuple(torus)}, more than "
            f"{_MOST_CELLS} points; write a coarser step, or points of a shorter stretch"
        )
    path = _waves(_spectrum(kernel, spacing, torus), torus, shape, generator)
    return np.ascontiguousarray(_summed(path, torus[-1])[..., : shape[-1]])


def _spectrum(kernel: Kernel, spacing: float, torus: Sequence[int]) -> Array:
    """Return the variances of waves, along each axis from 0 to at most half its size.

    The highest frequencies are left out, if together they have less than 1e-13 of the variance
    along an axis. The rest are computed on the coarsest lattice that has waves of twice their
    frequency. Its aliases have at least three times the frequency, and less variance than the
    omitted waves.
    """
    points = _COARSEST
    while True:
        coarse = [min(size, points) for size in torus]
        fine = coarse == list(torus)
        steps = [spacing * size / some for size, some in zip(torus, coarse, strict=True)]
        spectrum = _transformed(kernel, steps, coarse)
        kept = [_carrying(spectrum, axis) for axis in range(len(torus))]
        if fine or all(4 * k <= some for k, some in zip(kept, coarse, strict=True)):
            break
        points *= 2
    return spectrum[tuple(map(slice, kept))] * (math.prod(torus) / math.prod(coarse))


def _transformed(kernel: Kernel, steps: Sequence[float], torus: Sequence[int]) -> Array:
    """Return the variances of all waves on a torus."""
    from scipy.fft import dctn

    reach = _reach(kernel)
    near = [
        slice(min(math.ceil(reach / step), size // 2) + 1)
        for step, size in zip(steps, torus, strict=True)
    ]
    squares = np.zeros(())
    for part, step in zip(near, steps, strict=True):
        squares = squares[..., None] + (np.arange(part.stop) * step) ** 2
    # Even along every axis, so one corner is enough; and k is 0 from the reach on.
    corner = np.zeros([size // 2 + 1 for size in torus])
    corner[tuple(near)] = kernel.at(np.sqrt(squares))
    spectrum = np.asarray(dctn(corner, type=1, overwrite_x=True), np.float64)
    # Rounding makes small ones negative.
    return np.maximum(spectrum, 0.0, out=spectrum)


def _carrying(spectrum: Array, axis: int) -> int:
    """Return the number of waves along an axis to keep."""
    others = tuple(k for k in range(spectrum.ndim) if k != axis)
    beyond = np.cumsum(spectrum.sum(axis=others)[::-1])[::-1]
    return max(int(np.sum(beyond > _LEFT_OUT * beyond[0])), 1)


def _waves(
    spectrum: Array, torus: Sequence[int], shape: Sequence[int], generator: Generator
) -> ComplexArray:
    """Return random waves along the last axis, at the places of the grid along the others."""
    others = [_wave(size) for size in torus[:-1]]
    drawn = [
        np.flatnonzero(wave < kept) for wave, kept in zip(others, spectrum.shape[:-1], strict=True)
    ]
    # Waves of both signs along the other axes; along the last, one stands for both.
    for axis, (wave, places) in enumerate(zip(others, drawn, strict=True)):
        spectrum = spectrum.take(wave[places], axis)
    spectrum[..., 1 : torus[-1] // 2] /= 2
    path = generator.standard_normal((*spectrum.shape, 2)).view(np.complex128)[..., 0]
    path *= np.sqrt(spectrum * math.prod(torus))
    for axis, places in enumerate(drawn):
        before = (slice(None),) * axis
        waves = np.zeros((*path.shape[:axis], torus[axis], *path.shape[axis + 1 :]), np.complex128)
        waves[(*before, places)] = path
        path = np.fft.ifft(waves, axis=axis)[(*before, slice(shape[axis]))]
    return path


def _summed(waves: ComplexArray, size: int) -> Array:
    """Return the inverse real transform along the last axis, faster for few waves.

    With size = r m and no wave beyond m / 2, the places q, q + r, q + 2 r, ... are a transform of
    length m of the waves, rotated by q / size. So r short transforms replace a long one.
    """
    kept = waves.shape[-1]
    if waves.ndim > 1 or 4 * kept > size:
        return np.fft.irfft(waves, size)
    short = next(m for m in range(2 * kept, size + 1) if size % m == 0)
    every = size // short
    turned = np.empty((kept, every), np.complex128)
    turned[:, 0] = waves / every
    known = 1
    while known < every:
        more = min(known, every - known)
        turn = np.exp(2j * np.pi * (known / size) * np.arange(kept))[:, None]
        np.multiply(turned[:, :more], turn, out=turned[:, known : known + more])
        known += more
    return np.fft.irfft(turned, short, axis=0).reshape(size)


def _wave(size: int) -> npt.NDArray[np.int64]:
    """Return the unsigned frequency at each place of a transform."""
    place = np.arange(size)
    return np.minimum(place, size - place)


def _reach(kernel: Kernel) -> float:
    """Return a distance beyond which k is below 1e-16, to within a 16th."""
    scale = float(kernel.length_scale)
    distances = np.arange(16 * int(_REACH)) / 16 * scale
    near = np.flatnonzero(kernel.at(distances) > 1e-16)
    return float(distances[near[-1]]) + scale / 16


def _fast(size: int) -> int:
    """Return the least even number of small factors that is at least `size`."""
    from scipy.fft import next_fast_len

    return 2 * cast("int", next_fast_len(max(-(-size // 2), 1), real=True))
