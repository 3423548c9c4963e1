"""A rehearsal as one HTML file that needs no network."""

from neyman.publish import NOTICE, Rehearsal, RehearsedNumber
from neyman.released import group_name
from neyman.report._html import framed, listed, safe
from neyman.report._tables import rows_table

__all__ = ["rehearsal_html"]

_HEAD = ("Group", "Truth", "Within limits", "Noise ±", "Interval holds the truth")

_MEANING = {
    "truth": "the number without limits, within bounds so wide that they move no value.",
    "within limits": "what the query gives, before noise.",
    "kept": "the share of the rows that the limits keep.",
    "moved": "the share of the values that the bounds move.",
    "noise ±": "half the width of the interval that a release would show.",
    "off/±": "how far limits and bounds move the number, in such half-widths. Above 1, the "
    "interval misses the truth even without noise.",
    "held": "how often the interval held the truth, of many answers with noise.",
    "total held": "the same for the interval of noise and sampling.",
}


def rehearsal_html(rehearsal: Rehearsal) -> str:
    """Return the page of a rehearsal. It says first that it is not private."""
    columns = rehearsal.to_columns()
    body = [
        f'<p class="headline"><strong>{safe(NOTICE)}</strong></p>',
        f"<h1>{safe(rehearsal.title)}</h1>",
        '<p class="quiet">Nothing was charged. Every number is of public rows, most of them '
        "without noise. The private rows give others.</p>",
        listed(rehearsal.notes) if rehearsal.notes else "",
        "<h2>Every number</h2>",
        rows_table(
            list(columns), list(zip(*columns.values(), strict=True)), 2, "Every number, rehearsed"
        ),
        '<p class="quiet">Of several groups, the numbers are those of the group in the middle. '
        "After a semicolon stands the worst group.</p>",
        "<details><summary>What the columns mean</summary>",
        listed(f"{name}: {said}" for name, said in _MEANING.items() if name in columns),
        "</details>",
        "<h2>Verdicts</h2>",
        listed(rehearsal.verdicts()),
        *(_groups(row) for row in rehearsal.rows if len(row.groups) > 1),
    ]
    return framed(f"REHEARSAL: {rehearsal.title}", body, language="en")


def _groups(row: RehearsedNumber) -> str:
    """Return a number in all its groups, opened on demand."""
    rows = [
        (group_name(one.key), *map(_cell, (one.truth, one.limited, one.half_width, one.held)))
        for one in row.groups
    ]
    said = f"{row.entry}, {row.number}: {len(rows):,} groups"
    return f"<details><summary>{safe(said)}</summary>{rows_table(_HEAD, rows, 1, said)}</details>"


def _cell(value: float | None) -> float | str:
    return "" if value is None else value
