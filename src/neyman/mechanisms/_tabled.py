# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
"""Exact draws by comparing integers: |K| is the number of j with V < t_j, V uniform.

Of 64 bits, one is the sign and 63, the integer m, are the first bits of V in [m, m + 1) / 2^63.
With the table b_j = floor(2^63 t_j), which ball arithmetic decides,

    m < b_j  gives  V < (m + 1) / 2^63 <= b_j / 2^63 <= t_j,
    m > b_j  gives  V >= m / 2^63 >= (b_j + 1) / 2^63 > t_j.

If m = b_j, which has probability 2^-63 for each j, more bits are drawn until they decide. No floats
are used, so nothing about floats is assumed.
"""

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, final

import numpy as np

from neyman.aggregate import IntArray
from neyman.mechanisms._bits import BitSource
from neyman.mechanisms._law import NoiseLaw, require_flint
from neyman.mechanisms._precision import working_precision
from neyman.mechanisms._uniform import Uniform
from neyman.numerics import Array
from neyman.overriding import override

__all__ = ["TabledLaw"]

if TYPE_CHECKING:
    from flint import arb

_BLOCK: Final = 1 << 16
_LENGTH: Final = 63
_PRECISION: Final = 192
# The relative error that `approximate_tails` may have.
_SLACK: Final = 2.0**-38


class TabledLaw(NoiseLaw):
    """Noise on few enough integers that a table holds all but 2^-63 of it."""

    __slots__ = ()

    @abstractmethod
    def tails(self) -> "Iterator[arb]":
        """Yield balls that contain t_0, t_1, ..., at python-flint's working precision."""

    @abstractmethod
    def approximate_tails(self) -> Array:
        """Return t_0, t_1, ... as doubles, down to 2^-54; relative error below 2^-38."""

    @final
    def table(self) -> IntArray:
        """Return b_0 >= b_1 >= ... >= 0 up to the first 0, shape (m,)."""
        require_flint()
        found: list[int | None] = []
        with working_precision(_PRECISION):
            for tail in self.tails():
                cell = (tail * 2**_LENGTH).floor().unique_fmpz()
                found.append(None if cell is None else int(cell))
                if found[-1] == 0:
                    break
        decided = [self.boundary(j, _LENGTH) if b is None else b for j, b in enumerate(found)]
        return np.array(decided, dtype=np.int64)

    @final
    def draw(self, count: int, source: BitSource) -> IntArray:
        """Return `count` independent draws of K, shape (count,).

        Guarantee: exactly this law, given fair bits; the module docstring has the proof.
        """
        noise = np.empty(count, dtype=np.int64)
        if count:
            rising = self.table()[::-1].copy()
            for start in range(0, count, _BLOCK):
                self._fill(noise[start : start + _BLOCK], rising, source)
        return noise

    def _fill(self, noise: IntArray, rising: IntArray, source: BitSource) -> None:
        words = source.uint64(noise.size)
        leading = (words >> np.uint64(1)).view(np.int64)
        reached = np.searchsorted(rising, leading, side="right")
        noise[:] = rising.size - reached
        # The table ends with a 0, so at least one entry is reached.
        for i in np.flatnonzero(rising[reached - 1] == leading).tolist():
            uniform = Uniform(int(leading[i]), _LENGTH, source)
            noise[i] = uniform.nearest(self, int(noise[i]))
        sign = (words & np.uint64(1)).view(np.int64)
        noise ^= -sign
        noise += sign

    @final
    @override
    def half_width(self, confidence: float) -> int:
        safe = self.approximate_tails() * (1 + 2 * _SLACK)
        return int(np.count_nonzero(safe > 1 - confidence))
