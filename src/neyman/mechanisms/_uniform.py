"""A uniform number whose bits are drawn as a comparison needs them."""

from dataclasses import dataclass
from typing import Final, Protocol

from neyman.errors import BrokenRandomness
from neyman.mechanisms._bits import BitSource

__all__ = ["Tails", "Uniform"]

_LONGEST: Final = 1000


class Tails(Protocol):
    """The exact tails t_j = P(|K| > j) of a law, to the precision of a comparison."""

    def boundary(self, j: int, length: int) -> int:
        """Return floor(2^length t_j)."""
        ...


@dataclass(slots=True)
class Uniform:
    """V in [bits, bits + 1) / 2^length; more bits are drawn when a comparison needs them."""

    bits: int
    length: int
    source: BitSource

    def lengthen(self) -> None:
        """Draw 64 more bits.

        Raises:
            BrokenRandomness: if the first thousand bits were all zero.
        """
        if self.bits == 0 and self.length > _LONGEST:
            raise BrokenRandomness(
                f"the source of bits, a {type(self.source).__name__}, gave {_LONGEST} zero bits in "
                "a row, so it is broken; write source=OperatingSystem()"
            )
        self.bits = self.bits << 64 | int(self.source.uint64(1)[0])
        self.length += 64

    def below(self, law: Tails, j: int) -> bool:
        """Return whether V < t_j, that is |K| > j."""
        while (boundary := law.boundary(j, self.length)) == self.bits:
            self.lengthen()
        return self.bits < boundary

    def nearest(self, law: Tails, guess: int) -> int:
        """Return |K|, the number of j with V < t_j; a wrong guess only costs time."""
        while self.below(law, guess):
            guess += 1
        while guess > 0 and not self.below(law, guess - 1):
            guess -= 1
        return guess
