"""A release as text for people."""

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from neyman.printable import printable
from neyman.released._limits_said import limits_said
from neyman.released._side_by_side import side_by_side
from neyman.released._text import text_of
from neyman.released._too_few import MARKED, TOO_FEW, is_amount, noise_alone, readable

if TYPE_CHECKING:
    from neyman.released._release import Release

__all__ = ["release_text"]

_NO_ROWS: Final = (
    "the interval is wider than half of what the bounds allow, so noise alone could have made the "
    "number; .columns holds it"
)
_WIDEST: Final = 100


def release_text(release: "Release", *, rows: int | None, batch: Sequence[str]) -> str:
    """Return a table for people, with the guarantee and the cost; as `Release.to_text`."""
    lines = []
    if rows != 0:
        lines = [*_counted(release), *_tables(release, rows), *_notes(release, batch)]
    lines += [
        f"guarantee: {printable(release.guarantee.curve)}, "
        f"unit: {printable(release.guarantee.unit)} ({release.guarantee.neighbors})",
        f"entry '{printable(release.entry)}': {printable(release.spending)}"
        + ("; a stored answer, not charged again" if release.replayed else ""),
    ]
    return "\n".join(lines)


def _counted(release: "Release") -> list[str]:
    """Return how much of one unit counts, unless each row is one."""
    limits = limits_said(release.query)
    return [] if limits is None else [f"counted: {printable(limits)}"]


def _tables(release: "Release", rows: int | None) -> list[str]:
    """Return the answer as a table; of several statistics one each."""
    if not release.groups:
        return ["no group is shown: no noisy count reached the threshold"]
    if "coefficient" in release.columns:
        reader = "functions" if release.keys else "function"
        number = max(map(len, release.columns.values()))
        return [f"{number:,} coefficients; functional.{reader}(release) reads them"]
    keys, sides = len(release.keys), release.sides
    tables = [
        text_of(readable(side.query, side.columns, release.keys), rows=rows, keys=keys)
        for side in sides
    ]
    if side_by_side(release.query, release.columns, release.keys):
        return [
            f"{printable(side.name)}\n{table}" for side, table in zip(sides, tables, strict=True)
        ]
    return tables or [text_of(release.columns, rows=rows, keys=keys)]


def _notes(release: "Release", batch: Sequence[str]) -> list[str]:
    """Return what the columns mean."""
    notes = [*_marks(release), *release.limit_notes(batch), *release.interval_notes]
    lines = [line for note in notes for line in wrap(printable(note), _WIDEST)]
    if release.shown_from is None:
        return lines
    return [f"groups: those whose noisy count is {release.shown_from} or more", *lines]


def _marks(release: "Release") -> list[str]:
    """Say what the words and marks of rows that noise alone could have made mean."""
    found = {is_amount(s.query) for s in release.sides if any(noise_alone(s.query, s.columns))}
    marks = [(True, MARKED), (False, f"{TOO_FEW}: {_NO_ROWS}")]
    return [sentence for amount, sentence in marks if amount in found]
