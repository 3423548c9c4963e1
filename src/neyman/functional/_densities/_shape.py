"""The shape of the kernels for a density of several coordinates: its long directions.

The squared means of the waves of a normal cloud of covariance S are exp(-w' S w), on a line and
wrapped around a circle. S is fitted to those of the release, whose noise is known:

    sum_j m_j (t_j - exp(-w_j' S w_j))^2 / (b + v_j + e)^2,     t_j = |c_j|^2 - b - v_j,  e = 1/20

A first density would not give S: with a kernel that is too wide across, a narrow cloud looks as
wide as that kernel. The lowest waves hardly vary; e keeps them from deciding alone for clouds that
are not normal.
"""

from typing import Any, Final

import numpy as np

from neyman.functional._densities._coefficients import Coefficients
from neyman.numerics import Array

__all__ = ["fitted_shape", "half_as_long"]

# How far the squared means of clouds that are not normal are from those of a normal one.
_MISFIT: Final = 0.05
# Waves that weigh less than this, relatively, say nothing of the shape.
_LEAST_WEIGHT: Final = 1e-5
# Standard deviations, in bandwidths of the release, from which the fit may begin.
_STARTS: Final = (0.3, 300.0, 50)
# Squared lengths of axes may differ by this factor from their mean.
_LONGEST: Final = 1e4


def fitted_shape(waves: Coefficients, *, askew: bool) -> Array:
    """Return S in units of the release's bandwidths, scaled to determinant 1.

    Args:
        waves: the waves of the circles of a release, not folded.
        askew: whether S can be oblique to the axes; if not, it is diagonal.
    """
    from scipy import optimize  # pyright: ignore[reportMissingTypeStubs]

    d = len(waves.sides)
    turns, squares, weights = _informative(waves)
    rows = np.tril_indices(d) if askew else np.diag_indices(d)

    def misfit(entries: Array) -> tuple[float, Array]:
        root = np.zeros((d, d))
        root[rows] = entries
        seen = root.T @ turns
        with np.errstate(under="ignore"):
            normal = np.exp(-(seen * seen).sum(axis=0))
        off = normal - squares
        slope = -4 * (turns * (weights * off * normal)) @ seen.T
        return float(weights @ (off * off)), slope[rows]

    first, last, number = _STARTS
    starts = np.multiply.outer(np.geomspace(first, last, number), np.eye(d)[rows])
    start = min(starts, key=lambda entries: misfit(entries)[0])
    solver: Any = optimize
    root = np.zeros((d, d))
    root[rows] = solver.minimize(misfit, start, jac=True, method="BFGS").x
    return _scaled(root @ root.T)


def half_as_long(shape: Array) -> Array:
    """Return the shape half way to a round one, for clouds that an end cuts off."""
    lengths, axes = np.linalg.eigh(shape)
    return (axes * np.sqrt(lengths)) @ axes.T


def _informative(waves: Coefficients) -> tuple[Array, Array, Array]:
    """Return w with shape (d, waves), t and weights, for the waves that show the shape."""
    used = waves.weight > 0
    error = 1 / waves.count + waves.noise[used]
    weights = waves.weight[used] / (error + _MISFIT) ** 2
    kept = weights > _LEAST_WEIGHT * weights.max()
    mesh = np.meshgrid(*waves.frequencies, indexing="ij", sparse=False)
    turns = np.stack([axis[used][kept] for axis in mesh])
    squares = np.abs(waves.values[used]) ** 2 - error
    return turns, np.asarray(squares[kept], np.float64), weights[kept] / weights.max()


def _scaled(shape: Array) -> Array:
    """Return a shape of determinant 1, without extremely long or short axes."""
    lengths, axes = np.linalg.eigh(shape)
    logs = np.log(np.maximum(lengths, 1e-300))
    logs = np.clip(logs - logs.mean(), -np.log(_LONGEST), np.log(_LONGEST))
    return (axes * np.exp(logs - logs.mean())) @ axes.T
