"""From which releases a number is combined, in sentences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import final

from neyman.publish._facts import columns_in
from neyman.publish._parts import Part
from neyman.publish._systems import Fixed, System
from neyman.publish._tables_agree import Tabled
from neyman.released import counted

__all__ = ["Told", "combined_notes", "table_note"]


@final
@dataclass(slots=True)
class Told:
    """What the numbers of a statistic are combined from.

    Attributes:
        part: the statistic.
        counts: the releases that tell the numbers of rows, in order.
        totals: those that tell the totals.
        groups: how many groups are combined.
    """

    part: Part
    counts: dict[str, None] = field(default_factory=dict[str, None])
    totals: dict[str, None] = field(default_factory=dict[str, None])
    groups: int = 0

    def add(self, system: System, fixed: Fixed | None) -> None:
        """Add a group."""
        self.groups += 1
        counts = [part.name for part in system.telling]
        if self.part.counts is not None:
            self.counts |= dict.fromkeys(counts if fixed is None else fixed.names)
        if self.part.variable in system.variables:
            own = [part.name for part in system.parts if part.variable == self.part.variable]
            self.totals |= dict.fromkeys(own)


def table_note(name: str, table: Tabled | None) -> Iterator[str]:
    """Say from which releases a contingency table is made, if there are others."""
    if table is not None and table.names != (name,):
        yield f"The counts are combined from {_releases(table.names)}, and add up."


def combined_notes(told: Sequence[Told]) -> list[str]:
    """Say it of each statistic of a release, each sentence once."""
    return list(dict.fromkeys(sentence for one in told for sentence in _sentences(one)))


def _sentences(told: Told) -> Iterator[str]:
    part, some = told.part, ""
    if told.groups < len(part.facts):
        some = f" in {told.groups:,} of {len(part.facts):,} groups"
    if told.counts:
        yield (
            f"The counts of {_rows(part)}{some} are combined from {_releases(tuple(told.counts))}, "
            "which show the same number."
        )
    if len(told.totals) > 1:
        column = _and(columns_in(part.query))
        yield f"The total of {column}{some} is combined from {_releases(tuple(told.totals))}."


def _rows(part: Part) -> str:
    known = columns_in(part.query)
    of = f" with a known {_and(known)}" if part.facts[0].rows.known else ""
    return f"{counted(part.query)}{of}"


def _releases(names: tuple[str, ...]) -> str:
    if len(names) == 1:
        return f"the release {names[0]}"
    return f"{len(names):,} releases ({', '.join(names)})"


def _and(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
