"""One answer for each fact of a publication, from everything that was released of it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import final

from neyman.aggregate import Columns
from neyman.publish._combined_said import Told, combined_notes, other_notes, table_note
from neyman.publish._fitted import Fit, fitted
from neyman.publish._parts import Part, parts_of
from neyman.publish._solved import solved
from neyman.publish._tables_agree import Tabled, tabled
from neyman.released import Release

__all__ = ["reconciled"]


def reconciled(names: Sequence[str], releases: Sequence[Release]) -> tuple[Release, ...]:
    """Return releases that show one number for each fact.

    Where several tell the number of rows of a group, or the total of a column over them, all show
    the estimate of least variance that they give together, a whole number; means and totals are
    those of the numbers shown, so that a mean times its count is the total. A contingency table
    goes on adding up, and what it shows of a cell the others show. What only one release tells
    stays as it is.

    Args:
        names: of the releases.
        releases: what was released together.

    Guarantee: a function of public numbers; it costs nothing.
    Error: intervals are exact for Gaussian noise, but for rounding, and conservative for any other
        (`neyman.publish._combined`). Where contribution limits cut rows, two statistics of one
        group may keep different rows of a unit; intervals do not cover that, nor did they before.
    """
    alone = [release.alone for release in releases]
    # The same draw twice tells nothing more; equal answers of one entry are taken for one.
    first = [alone.index(release) for release in alone]
    kept = sorted(set(first))
    made = dict(zip(kept, _made([(names[i], alone[i]) for i in kept]), strict=True))
    return tuple(
        made[i]
        if i == place
        else replace(alone[place], columns=made[i].columns, notes=made[i].notes)
        for place, i in enumerate(first)
    )


def _made(named: Sequence[tuple[str, Release]]) -> list[Release]:
    """Return releases, no two of which are one draw, that show one number for each fact."""
    parts = [
        part
        for place, (name, release) in enumerate(named)
        for part in parts_of(name, place, _with_companion(release, named))
    ]
    tables = tabled([(name, _with_companion(release, named)) for name, release in named], parts)
    facts = {fact: fixed for table in tables.values() for fact, fixed in table.fixed.items()}
    answers = [_Answer.of(release, tables.get(name)) for name, release in named]
    told: dict[int, Told] = {}
    fits: defaultdict[int, list[Fit]] = defaultdict(list)
    for one in solved(parts, facts):
        numbers = one.system.numbers(one.estimates, one.count)
        for part, group in one.held:
            if one.moved or one.system.changes(part):
                fits[id(part)].append(Fit(group, one.system, numbers, one.fixed))
                told.setdefault(id(part), Told(part)).add(one)
    for part in parts:
        own = fits[id(part)]
        for fit, cells in zip(own, fitted(part, own) if own else (), strict=True):
            answers[part.place].put(part, fit.group, cells)
    others = other_notes(parts)
    for place, (name, _) in enumerate(named):
        own = [part for part in parts if part.place == place]
        combined = combined_notes([told[id(part)] for part in own if id(part) in told])
        notes = [note for part in own for note in others[id(part)]]
        answers[place].notes += dict.fromkeys(
            [*table_note(name, tables.get(name)), *combined, *notes]
        )
    return [answer.release() for answer in answers]


def _with_companion(release: Release, named: Sequence[tuple[str, Release]]) -> Release:
    """Return a release with the companion that tells of it, if another of its batch has it."""
    batch = [other for _, other in named if other.entry == release.entry]
    at = release.companion_at
    if at is None or at >= len(batch) or release.companion is not None:
        return release
    return replace(release, companion=batch[at].companion)


@final
@dataclass(slots=True)
class _Answer:
    """A release that is being changed."""

    own: Release
    columns: dict[str, list[object]]
    notes: list[str] = field(default_factory=list[str])

    @staticmethod
    def of(release: Release, table: Tabled | None) -> "_Answer":
        columns = release.columns | ({} if table is None else table.columns)
        return _Answer(release, {name: list[object](cells) for name, cells in columns.items()})

    def put(self, part: Part, group: int, cells: Mapping[str, Sequence[object]]) -> None:
        for own, column in cells.items():
            start = group * len(column)
            self.columns[part.names[own]][start : start + len(column)] = column

    def release(self) -> Release:
        if not self.notes:
            return self.own
        return replace(self.own, columns=_columns(self.columns), notes=tuple(self.notes))


def _columns(columns: Mapping[str, list[object]]) -> Columns:
    return dict(columns)  # pyright: ignore[reportReturnType]
