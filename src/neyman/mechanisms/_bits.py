"""Where random bits come from: the operating system, and nowhere else in a release."""

import os
from dataclasses import dataclass
from typing import Protocol, TypeAlias, final

import numpy as np
import numpy.typing as npt

__all__ = ["OPERATING_SYSTEM", "BitSource", "OperatingSystem", "Words"]

Words: TypeAlias = npt.NDArray[np.uint64]


class BitSource(Protocol):
    """A stream of independent fair bits.

    Guarantee: a release is as private as its formula only if the bits are uniform, independent
    and unknown to whoever reads the release.
    """

    def uint64(self, n: int) -> Words:
        """Return the next `n` words of 64 bits, shape (n,)."""
        ...


@final
@dataclass(frozen=True, slots=True)
class OperatingSystem:
    """The operating system's cryptographic generator, read anew at every call.

    Nothing is buffered, so that threads and forked children never share a bit.
    """

    def uint64(self, n: int) -> Words:
        """Return `n` fresh words of 64 bits, shape (n,)."""
        return np.frombuffer(os.urandom(8 * n), dtype=np.uint64)


OPERATING_SYSTEM = OperatingSystem()
