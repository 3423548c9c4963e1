"""What levels, deltas, seeds and other numbers of an audit must be."""

import secrets
from decimal import Decimal
from fractions import Fraction
from typing import Final, TypeGuard

import numpy as np

from neyman.arguments import got, whole
from neyman.errors import InvalidParameter

__all__ = ["check_delta", "check_level", "is_number", "seed_of"]

_SEEDS: Final = 2**64


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a real number; NaN is one, and a truth value is none."""
    kinds = int, float, np.integer, np.floating, Fraction, Decimal
    return isinstance(value, kinds) and not isinstance(value, bool)


def check_level(level: object) -> None:
    """Refuse an invalid level of a test.

    Raises:
        InvalidParameter: if it is outside (0, 1/2).
    """
    if not is_number(level) or not 0 < level < 0.5:
        raise InvalidParameter(
            f"level must be in (0, 0.5); got {got(level)}. Write the probability of a "
            "false alarm that you accept, such as 0.05"
        )


def check_delta(delta: object) -> None:
    """Refuse an invalid delta.

    Raises:
        InvalidParameter: if it is outside [0, 1).
    """
    if not is_number(delta) or not 0 <= delta < 1:
        raise InvalidParameter(
            f"delta must be in [0, 1); got {got(delta)}. Write a probability such as 1e-6"
        )


def seed_of(seed: object) -> int:
    """Return the seed that was given, or a new one for None.

    Raises:
        InvalidParameter: if it is no whole number of at least 0.
    """
    return secrets.randbits(63) if seed is None else whole("seed", seed, 0, _SEEDS)
