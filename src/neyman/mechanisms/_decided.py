# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Exact random decisions: uniforms with as many bits as the decision needs.

This is the adapter to python-flint for selection. Floating point only finds the clear cases.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeVar, final

from neyman.errors import BrokenRandomness
from neyman.mechanisms._bits import BitSource
from neyman.mechanisms._precision import working_precision

if TYPE_CHECKING:
    from flint import arb

__all__ = ["LazyUniform", "ball", "below", "decided"]

_LONGEST: Final = 10_000
_Answer = TypeVar("_Answer")


@final
@dataclass(slots=True)
class LazyUniform:
    """U in [bits, bits + 1) / 2^length; more bits are drawn when a decision needs them."""

    bits: int
    length: int
    source: BitSource

    def lengthen(self) -> None:
        """Draw 64 more bits."""
        if self.length > _LONGEST:
            raise BrokenRandomness(
                f"the source of bits, a {type(self.source).__name__}, left a decision open after "
                f"{_LONGEST} bits, so it is broken; write source=OperatingSystem()"
            )
        self.bits = self.bits << 64 | int(self.source.uint64(1)[0])
        self.length += 64

    def ends(self) -> "tuple[arb, arb]":
        """Return balls around the two ends."""
        whole = 1 << self.length
        return ball(Fraction(self.bits, whole)), ball(Fraction(self.bits + 1, whole))


def decided(uniforms: Sequence[LazyUniform], ask: Callable[[], _Answer | None]) -> _Answer:
    """Return the first answer of `ask` that is not None, adding precision and bits until then."""
    while True:
        with working_precision(max(uniform.length for uniform in uniforms) + 128):
            answer = ask()
        if answer is not None:
            return answer
        for uniform in uniforms:
            uniform.lengthen()


def below(count: int, source: BitSource) -> int:
    """Return a uniform integer from 0 to count - 1, count <= 2^63, by rejection."""
    fair = (1 << 64) // count * count
    while True:
        word = int(source.uint64(1)[0])
        if word < fair:
            return word % count


def ball(value: Fraction) -> "arb":
    """Return a ball that contains a rational, at the working precision."""
    from flint import arb, fmpq

    return arb(fmpq(value.numerator, value.denominator))
