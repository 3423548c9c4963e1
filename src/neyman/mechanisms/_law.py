# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
"""The law of noise on the integers: exact tails, draws and widths."""

import importlib
from abc import ABC, abstractmethod
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Final, final

from neyman.aggregate import IntArray
from neyman.errors import MissingExtra
from neyman.mechanisms._bits import BitSource
from neyman.mechanisms._precision import working_precision

__all__ = ["NoiseLaw", "ball", "require_flint"]

if TYPE_CHECKING:
    from flint import arb

_FINEST: Final = 4096


def require_flint() -> None:
    """Refuse if python-flint is missing, which decides the draws that float64 cannot decide.

    Raises:
        MissingExtra: if python-flint is not installed.
    """
    with suppress(ImportError):
        importlib.import_module("flint")
        return
    raise MissingExtra(
        "exact noise needs python-flint, which is not installed; run pip install 'neyman[noise]'"
    )


def ball(value: Fraction) -> "arb":
    """Return a ball around an exact rational, at python-flint's working precision."""
    from flint import arb, fmpq

    return arb(fmpq(value.numerator, value.denominator))


class NoiseLaw(ABC):
    """|K| for noise K on the integers, symmetric about 0.

    t_j = P(|K| > j),  j = 0, 1, 2, ...
    """

    __slots__ = ()

    @abstractmethod
    def tail(self, j: int) -> "arb":
        """Return a ball that contains t_j, at python-flint's working precision."""

    @abstractmethod
    def draw(self, count: int, source: BitSource) -> IntArray:
        """Return `count` independent draws of K, exactly of this law, shape (count,)."""

    @abstractmethod
    def half_width(self, confidence: float) -> int:
        """Return an h with P(|K| <= h) >= confidence, the smallest one or the next."""

    @final
    def boundary(self, j: int, length: int) -> int:
        """Return floor(2^length t_j), exactly: the precision increases until the ball decides."""
        precision = length + 64
        while True:
            with working_precision(precision):
                cell = (self.tail(j) * 2**length).floor().unique_fmpz()
            if cell is not None:
                return int(cell)
            precision *= 2

    @final
    def upper_tail(self, least: int) -> Fraction:
        """Return P(K >= least): half of t_(least - 1), rounded up.

        Args:
            least: at least 1.

        Error: never too small; too large by less than 2^-52 relatively, or by 2^-4096.
        """
        length = 64
        while (cell := self.boundary(least - 1, length)) < 2**52 and length < _FINEST:
            length *= 2
        return Fraction(cell + 1, 2 ** (length + 1))
