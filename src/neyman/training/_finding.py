"""One fault in the privacy claim of a training."""

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
        name: name of the fault for programs, such as "shuffled_batches".
        seen: a sentence that says what was observed.
        holds: a sentence that says what you can claim instead, in numbers.
        write: a sentence that says what to change.
        curve: the guarantee that holds; None if none is known.
    """

    name: str
    seen: str
    holds: str
    write: str
    curve: TradeOff | None = None

    def __str__(self) -> str:
        """Return the name and the three sentences, each on its own line."""
        return f"{self.name}: {self.seen}\n  Holds: {self.holds}\n  Write: {self.write}"

    def to_json(self) -> dict[str, object]:
        """Return the record for JSON."""
        return {
            "name": self.name,
            "seen": self.seen,
            "holds": self.holds,
            "write": self.write,
            "curve": None if self.curve is None else self.curve.to_json(),
        }

    @staticmethod
    def from_json(record: object, where: str = "finding") -> "Finding":
        """Return the finding that `to_json` wrote.

        Args:
            record: what `to_json` gave.
            where: name of its place in a larger record, for errors.

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
    """A tuple of the faults that were found in a training, in order; empty if there are none.

    `str()` writes the text of each fault, one after another.
    """

    __slots__ = ()

    def __str__(self) -> str:
        """Return the text of all findings, one after another."""
        return "\n".join(map(str, self))
