"""What simulations ask of a generator of random numbers."""

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
        """Return how many of n fall to each of the shares."""
        ...


def check_generator(generator: object) -> None:
    """Refuse what draws nothing.

    Raises:
        InvalidParameter: if it is something else.
    """
    check_type("generator", generator, Generator, "a NumPy Generator, such as default_rng(1)")


def public_generator() -> Generator:
    """Return the generator of pictures and pages, of a fixed seed: the same bands each time.

    What is drawn with it simulates releases of what is released already. It hides nothing, so
    everybody may know the seed.
    """
    return np.random.default_rng(_SEED)
