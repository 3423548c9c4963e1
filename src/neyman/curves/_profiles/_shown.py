"""Lower bounds of epsilon, by the tests that prove them."""

from collections.abc import Callable

import numpy as np

from neyman.numerics import Array, Bracket, Interval, log

__all__ = ["epsilon_shown"]

# Sizes of the tests that are tried first, and how often a gap is filled by how many.
_SIZES = np.concatenate([np.geomspace(1e-300, 1e-3, 128), np.linspace(1e-3, 1.0, 128)[1:]])
_REFINEMENTS, _FINER = 4, 17


def epsilon_shown(power: Callable[[Array], Bracket], delta: Array) -> Array:
    """Bound from below the smallest epsilon >= 0 with delta(epsilon) <= delta.

    Any size a shows delta(epsilon) >= tpr(a) - e^epsilon a, so that epsilon is at least

        log((tpr(a) - delta) / a),

    which is sought along a where it is largest.

    Args:
        power: brackets tpr at sizes in (0, 1].
        delta: the targets, one dimension.
    """
    target = Interval.decimal(delta).upper[:, None]
    sizes = np.broadcast_to(_SIZES, (delta.size, _SIZES.size))
    tpr = np.broadcast_to(power(_SIZES).lower, sizes.shape)
    best = np.zeros(delta.shape)
    for _ in range(_REFINEMENTS):
        reach = _reach(tpr, target, sizes)
        best = np.maximum(best, reach.max(axis=1))
        at = np.argmax(reach, axis=1)[:, None]
        left = np.take_along_axis(sizes, np.maximum(at - 1, 0), axis=1)
        right = np.take_along_axis(sizes, np.minimum(at + 1, sizes.shape[1] - 1), axis=1)
        share = np.linspace(0.0, 1.0, _FINER)
        sizes = np.minimum(left * (right / left) ** share, 1.0)
        tpr = power(sizes.ravel()).lower.reshape(sizes.shape)
    return np.maximum(best, _reach(tpr, target, sizes).max(axis=1))


def _reach(tpr: Array, delta: Array, sizes: Array) -> Array:
    """Return log((tpr - delta) / a), rounded down; -inf where it proves nothing."""
    return log((Interval.exactly(tpr) - delta).larger(0.0) / Interval.exactly(sizes)).lower
