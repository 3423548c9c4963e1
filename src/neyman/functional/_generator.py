"""The generator of random numbers that simulations use."""

from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from neyman.arguments import check_type
from neyman.numerics import Array

__all__ = ["Generator", "check_generator", "public_generator"]

_SEED = 1


@runtime_checkable
class Generator(Protocol):
    """A source of random numbers for simulation, such as a NumPy Generator; never for noise."""

    def standard_normal(self, size: int | tuple[int, ...]) -> Array:
        """Return independent standard normal numbers of this shape."""
        ...

    def random(self, size: int) -> Array:
        """Return independent numbers in [0, 1)."""
        ...

    def multinomial(self, n: int, pvals: Array) -> npt.NDArray[np.int64]:
        """Return the number of n draws that fall on each of the shares."""
        ...


def check_generator(generator: object) -> None:
    """Check that an object is a generator.

    Raises:
        InvalidParameter: if it is not.
    """
    check_type("generator", generator, Generator, "a NumPy Generator, such as default_rng(1)")


def public_generator() -> Generator:
    """Return the generator of pictures and pages, with a fixed seed: bands are always the same.

    It simulates releases of values that are already public, so the seed can be public too.
    """
    return np.random.default_rng(_SEED)
