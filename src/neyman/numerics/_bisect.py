"""The first double at which a monotone predicate holds, to the last bit."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from neyman.numerics._bracket import Array

__all__ = ["first_double"]

_INFINITY = np.float64(np.inf).view(np.int64)


def first_double(
    predicate: Callable[[Array], npt.NDArray[np.bool_]], shape: tuple[int, ...]
) -> Array:
    """Return the smallest x >= 0 at which `predicate` holds, for each element; inf if none does.

    Non-negative doubles are ordered as their bit patterns are, so that 63 halvings of the integers
    find the place to the last bit over the whole range. The predicate was seen to hold at every
    finite value returned, even where rounding makes it waver.

    Args:
        predicate: takes and returns arrays of `shape`; false, then true, as x grows.
        shape: of the answer.
    """
    low = np.full(shape, -1, dtype=np.int64)
    high = np.full(shape, _INFINITY, dtype=np.int64)
    while np.any(high - low > 1):
        middle = np.where(high - low > 1, low + (high - low) // 2, high)
        holds = predicate(middle.view(np.float64)) | (middle == high)
        high = np.where(holds, middle, high)
        low = np.where(holds, low, middle)
    return high.view(np.float64)
