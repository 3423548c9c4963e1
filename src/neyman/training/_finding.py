"""One thing that is wrong with a training's privacy claim."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast, final

from neyman.curves import TradeOff
from neyman.displayed import Displayed
from neyman.training._fields import Fields

__all__ = ["Finding", "Findings"]

_KEYS: Final = {"name", "seen", "holds", "write", "curve"}


@final
@dataclass(frozen=True, slots=True)
class Finding(Displayed):
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

    def to_json(self) -> dict[str, object]:
        """Return the record, JSON-able."""
        return {
            "name": self.name,
            "seen": self.seen,
            "holds": self.holds,
            "write": self.write,
            "curve": None if self.curve is None else self.curve.to_json(),
        }

    @staticmethod
    def from_json(record: object, where: str = "finding") -> "Finding":
        """Rebuild what `to_json` wrote.

        Args:
            record: what was found.
            where: it stands, for errors.

        Raises:
            InvalidParameter: if the record is malformed.
        """
        found = Fields(record, where, _KEYS)
        curve = found.any("curve")
        return Finding(
            name=found.text("name"),
            seen=found.text("seen"),
            holds=found.text("holds"),
            write=found.text("write"),
            curve=(
                None if curve is None else TradeOff.from_json(cast("Mapping[str, object]", curve))
            ),
        )


@final
class Findings(tuple[Finding, ...], Displayed):
    """What was found, in order; empty if nothing was. `str()` is the text of all."""

    __slots__ = ()

    def __str__(self) -> str:
        """Write one finding after another."""
        return "\n".join(map(str, self))
