"""One thing that is wrong with a training's privacy claim."""

from dataclasses import dataclass
from typing import final

from neyman.curves import TradeOff

__all__ = ["Finding"]


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """One reason why a training does not have the guarantee that it claims.

    Attributes:
        name: of the fault, a word for programs, such as "shuffled_batches".
        seen: what was observed, a sentence.
        holds: what can be claimed instead, with its number; a sentence.
        write: what to change, a sentence.
        curve: the guarantee that does hold; None where none is known.
    """

    name: str
    seen: str
    holds: str
    write: str
    curve: TradeOff | None = None

    def __str__(self) -> str:
        """Write the three sentences on a line each, after the name."""
        return f"{self.name}: {self.seen}\n  Holds: {self.holds}\n  Write: {self.write}"
