"""Bits that repeat, for tests."""

from typing import final

import numpy as np
import numpy.typing as npt

__all__ = ["SeededBits"]


@final
class SeededBits:
    """A BitSource that gives the same bits for the same seed. NEVER for a release.

    NOT PRIVATE: whoever knows or guesses the seed subtracts the noise and reads the data. It
    exists so that tests can repeat a draw; nothing outside tests may take it.

    The words are those of the Philox-4x64 counter generator with `seed` as its key, a stream that
    NumPy keeps unchanged; reading 3 words and then 2 is reading 5.

    Args:
        seed: from 0 to 2^128 - 1.
    """

    __slots__ = ("_generator",)

    def __init__(self, seed: int) -> None:
        self._generator = np.random.Philox(key=seed)

    def uint64(self, n: int) -> npt.NDArray[np.uint64]:
        """Return the next `n` words of 64 bits, shape (n,)."""
        return self._generator.random_raw(n)
