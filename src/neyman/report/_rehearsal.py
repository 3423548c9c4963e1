"""A rehearsal as one HTML file that needs no network."""

from neyman.publish import NOTICE, Rehearsal, RehearsedNumber
from neyman.released import group_name
from neyman.report._html import framed, listed, safe
from neyman.report._tables import rows_table

__all__ = ["rehearsal_html"]

_HEAD = ("Group", "Truth", "Within limits", "Noise ±", "Interval holds the truth")

_MEANING = {
    "truth": "the exact number, without contribution limits and without clipping.",
    "within limits": "the answer of the query before noise.",
    "kept": "the share of rows that the limits keep.",
    "moved": "the share of values that are clipped to the bounds.",
    "noise ±": "half the width of the noise interval of a release.",
    "off/±": "the error from limits and bounds, divided by that half-width. Above 1, the interval "
    "misses the truth even without noise.",
    "held": "the share of simulated answers whose noise interval contains the truth.",
    "total held": "the same for the interval for noise and sampling.",
}


def rehearsal_html(rehearsal: Rehearsal) -> str:
    """Return the page of a rehearsal, which begins with the notice that it is not private."""
    columns = rehearsal.to_columns()
    body = [
        f'<p class="headline"><strong>{safe(NOTICE)}</strong></p>',
        f"<h1>{safe(rehearsal.title)}</h1>",
        '<p class="quiet">Nothing was charged. Every number comes from public rows, most of '
        "them without noise. Your private rows will give other numbers.</p>",
        listed(rehearsal.notes) if rehearsal.notes else "",
        "<h2>Every number</h2>",
        rows_table(
            list(columns), list(zip(*columns.values(), strict=True)), 2, "Every number, rehearsed"
        ),
        '<p class="quiet">If there are several groups, the numbers are those of the median group. '
        "After the semicolon comes the worst group.</p>",
        "<details><summary>What the columns mean</summary>",
        listed(f"{name}: {meaning}" for name, meaning in _MEANING.items() if name in columns),
        "</details>",
        "<h2>Verdicts</h2>",
        listed(rehearsal.verdicts()),
        *(_groups(row) for row in rehearsal.rows if len(row.groups) > 1),
    ]
    return framed(f"REHEARSAL: {rehearsal.title}", body, language="en")


def _groups(row: RehearsedNumber) -> str:
    """Return the groups of a number, in a part of the page that the reader opens."""
    rows = [
        (group_name(one.key), *map(_cell, (one.truth, one.limited, one.half_width, one.held)))
        for one in row.groups
    ]
    title = f"{row.entry}, {row.number}: {len(rows):,} groups"
    return f"<details><summary>{safe(title)}</summary>{rows_table(_HEAD, rows, 1, title)}</details>"


def _cell(value: float | None) -> float | str:
    return "" if value is None else value
