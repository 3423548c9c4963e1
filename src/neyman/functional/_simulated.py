"""Gaussian processes at many points at once, in floating point: for simulation, not for release.

What is drawn here comes from a public generator and is added to nothing private: error bands,
studies of accuracy, tests. The noise of a release is drawn as integers, behind the door.
"""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from neyman.arguments import check_type, whole
from neyman.errors import InvalidParameter
from neyman.functional._generator import Generator, check_generator
from neyman.functional._kernels import (
    Kernel,
    Matern,
    SquaredExponential,
    check_kernel,
    check_length,
    table,
)
from neyman.functional._markov import stationary_root, step_noise, transition
from neyman.numerics import Array, Real

__all__ = ["simulate_axes", "simulate_grid", "simulate_line"]

_MOST_CELLS: Final = 1 << 26
# Beyond this many length scales every kernel here is below 1e-16.
_REACH: Final = 44.0
_NEGLIGIBLE: Final = 80.0


def simulate_grid(
    kernel: Kernel, *, step: Real, shape: Sequence[int], generator: Generator
) -> Array:
    """Return one path at an equally spaced grid. Not private: floats, of a public generator.

    The grid is laid on a torus with so much room that the kernel vanishes across it, where the
    covariance is diagonal in waves: one Fourier transform.

    Args:
        kernel: the covariance.
        step: between neighbouring grid points, along every axis.
        shape: grid points along each axis.
        generator: of normal numbers.

    Raises:
        InvalidParameter: if the torus would have more than 2^26 points.

    Error: an estimate: the covariance is within 1e-13.
    Source: Wood and Chan, *Simulation of stationary Gaussian processes in [0, 1]^d*, Journal of
        Computational and Graphical Statistics 1994.
    """
    check_kernel(kernel)
    check_generator(generator)
    spacing = float(check_length(step, "step"))
    check_type("shape", shape, Sequence, "grid points along each axis, such as (64, 64)")
    shape = tuple(whole("shape", n, 1, _MOST_CELLS) for n in shape)
    if not shape:
        raise InvalidParameter("shape=() was given; write grid points along each axis, as (64, 64)")
    room = math.ceil(min(_reach(kernel) / spacing, float(_MOST_CELLS)))
    torus = [_fast(max(n - 1 + room, 2 * room)) for n in shape]
    if math.prod(torus) > _MOST_CELLS:
        raise InvalidParameter(
            f"a grid of shape {shape} takes a torus of shape {tuple(torus)}, more than "
            f"{_MOST_CELLS} points; write a coarser step, or points of a shorter stretch"
        )
    squares = np.zeros(())
    for axis, size in enumerate(torus):
        lags = np.minimum(np.arange(size), size - np.arange(size)) * spacing
        squares = squares[..., None] + (lags**2).reshape((1,) * axis + (size,))
    # Rounding makes small ones negative.
    spectrum = np.maximum(np.fft.fftn(kernel.at(np.sqrt(squares))).real, 0.0)
    normal = generator.standard_normal((2, *torus))
    waves = np.sqrt(spectrum / math.prod(torus)) * (normal[0] + 1j * normal[1])
    return np.ascontiguousarray(np.fft.fftn(waves).real[tuple(slice(n) for n in shape)])


def simulate_axes(
    kernel: SquaredExponential, axes: Sequence[npt.ArrayLike], *, generator: Generator
) -> Array:
    """Return one path at all combinations of coordinates. Not private: floats, public generator.

    The squared exponential is a product over axes, so its square root is one for each axis.

    Args:
        kernel: the covariance.
        axes: coordinates along each axis, in any order and spacing.
        generator: of normal numbers.

    Returns:
        Shape: the length of each axis.

    Error: an estimate: the covariance is within 1e-13 times the sizes of the axes.
    """
    check_type("kernel", kernel, SquaredExponential, "SquaredExponential(length_scale)")
    check_generator(generator)
    check_type("axes", axes, Sequence, "a list of coordinates for each axis")
    places = [table(axis, "axes") for axis in axes]
    path = generator.standard_normal(tuple(len(axis) for axis in places))
    for k, axis in enumerate(places):
        values, vectors = np.linalg.eigh(kernel.covariance(axis, axis))
        root = vectors * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
        path = np.moveaxis(np.tensordot(root, path, axes=(1, k)), 0, k)
    return path


def simulate_line(kernel: Matern, points: npt.ArrayLike, *, generator: Generator) -> Array:
    """Return one path at any points of the line. Not private: floats, of a public generator.

    A Matern process and its derivatives have no memory: from point to point x <- A x + Q^(1/2) z,
    all steps of it together in log2(m) rounds, for A over two steps is A of their sum.

    Args:
        kernel: the covariance.
        points: shape (m,), in any order; equal ones get equal values.
        generator: of normal numbers.

    Error: an estimate: the covariance is within 1e-12; increments over short steps keep their
        relative accuracy.
    Source: Hartikainen and Sarkka, *Kalman filtering and smoothing solutions to temporal Gaussian
        process regression models*, MLSP 2010.
    """
    check_type("kernel", kernel, Matern, "Matern(smoothness, length_scale)")
    check_generator(generator)
    places = table(points)
    if places.shape[1] != 1:
        raise InvalidParameter(
            f"points of {places.shape[1]} coordinates were given; write shape (m,)"
        )
    unique, inverse = np.unique(places[:, 0], return_inverse=True)
    normal = generator.standard_normal((unique.size, kernel.states))
    roots = np.concatenate([stationary_root(kernel)[None], step_noise(kernel, np.diff(unique))])
    state = np.einsum("nij,nj->ni", roots, normal)
    far = 1
    while far < unique.size:
        apart = unique[far:] - unique[:-far]
        state[far:] += np.einsum("nij,nj->ni", transition(kernel, apart), state[:-far])
        if float(apart.min()) * kernel.rate > _NEGLIGIBLE:
            break
        far *= 2
    return state[inverse.reshape(-1), 0]


def _reach(kernel: Kernel) -> float:
    """Return a distance from which on k is below 1e-16, to within a 16th."""
    scale = float(kernel.length_scale)
    distances = np.arange(16 * int(_REACH)) / 16 * scale
    near = np.flatnonzero(kernel.at(distances) > 1e-16)
    return float(distances[near[-1]]) + scale / 16


def _fast(size: int) -> int:
    """Return the least 2^a or 3 2^a that is at least `size`."""
    power = 1 << max(size - 1, 0).bit_length()
    return 3 * power // 4 if power >= 4 and 3 * power // 4 >= size else power
