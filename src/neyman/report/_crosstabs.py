"""A contingency table as an HTML table with margins; with three columns, one for each value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, cast, final

from neyman.publish import Presented
from neyman.report._html import safe

__all__ = ["Crosstab", "crosstab_of"]

# The value of each column; None where a margin sums over the column.
Place: TypeAlias = tuple[str | None, ...]

_COLUMNS: Final = (2, 3)
_MOST_ACROSS: Final = 20


@final
@dataclass(frozen=True, slots=True)
class Crosstab:
    """The layout of a contingency table.

    Attributes:
        names: the labels of the columns: those of the blocks if there are three, down, across.
        values: the values of each column, in order.
        rows: the row of the release for each cell and margin.
    """

    names: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    rows: Mapping[Place, int]

    def html(self, cells: Sequence[str], words: Mapping[str, str]) -> str:
        """Return one table, or one for each block.

        Args:
            cells: the HTML of each row of the release.
            words: the texts "crosstab", with fields rows and columns, and "total".
        """
        if len(self.names) == 2:
            return self._block((), "", cells, words)
        blocks = [*((value, value) for value in self.values[0]), (None, words["total"])]
        return "".join(
            self._block((value,), f"{self.names[0]}: {label}. ", cells, words)
            for value, label in blocks
        )

    def _block(
        self, before: Place, label: str, cells: Sequence[str], words: Mapping[str, str]
    ) -> str:
        down, across = self._shape(before)
        if not down:
            return ""
        lines = [
            self._line(
                words["total"] if value is None else value,
                value is None,
                [self._cell((*before, value, column), cells) for column in across],
            )
            for value in down
        ]
        whole = self.rows.get((*before, None, None))
        if whole is not None and None not in (*down, *across):
            # A total is released, but not the sums of rows or columns.
            total = f'<td colspan="{len(across)}">{cells[whole]}</td>'
            lines.append(self._line(words["total"], True, [total]))
        heads = "".join(
            f'<th scope="col">{safe(words["total"] if one is None else one)}</th>' for one in across
        )
        name = label + words["crosstab"].format(rows=self.names[-2], columns=self.names[-1])
        return (
            f'<div class="scroll" tabindex="0" role="region" aria-label="{safe(name)}"><table>'
            f"<caption>{safe(name)}</caption><thead><tr>"
            f'<th scope="col" class="text">{safe(self.names[-2])}</th>{heads}</tr></thead>'
            f"<tbody>{''.join(lines)}</tbody></table></div>"
        )

    def _shape(self, before: Place) -> tuple[list[str | None], list[str | None]]:
        """Return the heads of rows and columns: values, and None for sums that were released."""
        down, across = self.values[-2:]

        def known(values: Sequence[str], others: Sequence[str | None]) -> bool:
            return any((*before, one, other) in self.rows for one in values for other in others)

        cells, right = known(down, across), known(down, [None])
        below = any((*before, None, one) in self.rows for one in across)
        corner = (*before, None, None) in self.rows
        alone = corner and not (cells or right or below)
        shown_down = cells or right
        shown_across = cells or below
        return (
            [
                *(down if shown_down else ()),
                *([None] if below or (corner and right) or alone else ()),
            ],
            [
                *(across if shown_across else ()),
                *([None] if right or (corner and below) or alone else ()),
            ],
        )

    def _line(self, head: str, summed: bool, row: Sequence[str]) -> str:
        kind = ' class="sum"' if summed else ""
        return f'<tr{kind}><th scope="row" class="text">{safe(head)}</th>{"".join(row)}</tr>'

    def _cell(self, place: Place, cells: Sequence[str]) -> str:
        row = self.rows.get(place)
        kind = ' class="sum"' if place[-1] is None else ""
        return "<td></td>" if row is None else f"<td{kind}>{cells[row]}</td>"


def crosstab_of(shown: Presented) -> Crosstab | None:
    """Return the layout of a contingency table of two or three columns.

    None for any other answer, and for a table that is too wide to read.
    """
    release, groups = shown.release, [*shown.key_columns]
    if release.question.statistic != "crosstab" or len(groups) not in _COLUMNS:
        return None
    runs = _runs(cast("Sequence[str]", release.columns["margin"]))
    summed = [groups, *release.question.margins]
    if len(runs) != len(summed):
        return None
    places: dict[Place, int] = {}
    for rows, names in zip(runs, summed, strict=True):
        for row in rows:
            words = zip(groups, shown.group(row), strict=True)
            places[tuple(word if name in names else None for name, word in words)] = row
    values = tuple(
        tuple(dict.fromkeys(word for place in places if (word := place[at]) is not None))
        for at in range(len(groups))
    )
    if len(values[-1]) > _MOST_ACROSS or len(places) != len(release.groups):
        return None
    return Crosstab(tuple(map(shown.with_unit, groups)), values, places)


def _runs(labels: Sequence[str]) -> list[range]:
    """Return the rows of the cells, then those of each margin."""
    starts = [i for i, label in enumerate(labels) if i == 0 or label != labels[i - 1]]
    return [range(a, b) for a, b in zip(starts, [*starts[1:], len(labels)], strict=True)]
