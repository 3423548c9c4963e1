"""Checks of arguments and records: numbers and levels."""

from collections.abc import Sequence
from fractions import Fraction
from typing import cast

import numpy as np
import numpy.typing as npt

from neyman.arguments import got
from neyman.errors import InvalidParameter
from neyman.numerics import Array, Real, exact, rational

__all__ = ["check_level", "each", "number", "numbers"]


def numbers(name: str, value: npt.ArrayLike) -> Array:
    """Return a number or an array of numbers as doubles; infinite numbers are allowed.

    Raises:
        InvalidParameter: if the value has text, dates, complex numbers, booleans, rows of different
            lengths, or NaN.
    """
    array = None
    try:
        found = np.asarray(value)
        # Fractions and Decimals are objects.
        array = found.astype(np.float64) if found.dtype.kind in "fiuO" else None
    except (TypeError, ValueError, OverflowError):
        array = None
    if array is None:
        raise InvalidParameter(
            f"{name} must be a number or an array of numbers; got {got(value)}. Write a number, or "
            "numbers"
        )
    if np.isnan(array).any():
        raise InvalidParameter(f"{name} must have numbers only; got NaN or None. Write numbers")
    return array


def check_level(level: object) -> float:
    """Return the level of a band, checked.

    Raises:
        InvalidParameter: if it is not a number in (0, 1).
    """
    share = float(exact(level, "level"))
    if not 0 < share < 1:
        raise InvalidParameter(
            f"level must be in (0, 1); got {level!r}. Write a probability such as 0.95"
        )
    return share


def each(name: str, value: object, axes: int) -> tuple[Fraction, ...]:
    """Return one exact number for each axis; for one axis, the value can be a plain number.

    Raises:
        InvalidParameter: if there are more or fewer numbers, or one is not finite.
    """
    alone = () if axes > 1 else (cast("Real", value),)
    found = cast("Sequence[Real]", value) if isinstance(value, tuple | list) else alone
    if len(found) != axes:
        raise InvalidParameter(
            f"{name} must be {'one number' if axes == 1 else f'{axes} numbers, one for each axis'}"
            f"; got {got(cast('object', value))}"
        )
    return tuple(exact(one, name) for one in found)


def number(value: object) -> Fraction:
    """Return the rational number of a text in a record: a decimal or a ratio.

    Raises:
        ValueError: if the value is not such a text, not finite, or too long.
    """
    found = rational(value)
    if found is None:
        raise ValueError("no number")
    return exact(found, "a number")
