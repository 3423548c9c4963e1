"""Contingency tables: noisy counts of cells and margins, made to add up. Post-processing, free."""

from collections.abc import Iterable, Sequence
from typing import Final, cast

import numpy as np

from neyman.errors import InvalidParameter, InvalidTable
from neyman.publish._cells import Cells, Floats
from neyman.publish._contingency_table import ContingencyTable
from neyman.publish._spectrum import least_squares
from neyman.released import Release
from neyman.tables import Keys

__all__ = ["contingency", "put_together"]

# Noise whose sums are normal, but for rounding.
_NORMAL: Final = "gaussian"


def contingency(
    releases: Iterable[Release], by: Keys, *, confidence: float = 0.95
) -> ContingencyTable:
    """Put released counts of cells and of their margins together into one table that adds up.

    Generalised least squares: of all unbiased linear estimates each count has the least variance,
    never more than that of the release that asked for it. Noise variances are public and exact.

    Args:
        releases: of `publish.margins(table, by, ...)`, or of `table.count(by)`; the cells must be
            among them. All are of one table, which their records cannot show.
        by: the cells, every combination of its keys.
        confidence: of the noise intervals, in (0, 1).

    Raises:
        InvalidTable: if `by` is not every combination, a release is of something else or comes
            twice, or none is of the cells.
        InvalidParameter: if the confidence is not in (0, 1).

    Guarantee: a function of public numbers; it costs nothing.
    Error: counts are rounded to 2^-digits, at most 2^-40 or 2^-52 of the sum of their sizes.

    Source: Gauss and Markov's theorem; Hay, Rastogi, Miklau and Suciu (2010), "Boosting the
        accuracy of differentially private histograms through consistency", for sums of cells.
    """
    if not 0 < confidence < 1:
        raise InvalidParameter(f"confidence={confidence!r} was given; write one in (0, 1)")
    if by.chosen is not None:
        raise InvalidTable(
            f"{by!r} are chosen combinations, and a contingency table has every one; count by the "
            "whole product, Keys({column: keys, ...}), and cells without rows will be near 0"
        )
    listed = list(releases)
    _check(listed, by)
    shape = tuple(map(len, by.domains))
    margins = [_margin(release, by, shape) for release in listed]
    if not any(len(axes) == len(shape) for axes, _, _ in margins):
        raise InvalidTable(
            f"no release of the cells, {', '.join(by.columns)}, is among {len(listed)} releases; "
            "release them too, or write `by` of fewer columns"
        )
    normal = all(release.mechanism.get("mechanism") == _NORMAL for release in listed)
    return put_together(by, margins, confidence, normal)


def put_together(
    by: Keys,
    margins: Sequence[tuple[frozenset[int], Floats, float]],
    confidence: float,
    normal: bool,
) -> ContingencyTable:
    """Return the table of least squares.

    Args:
        by: the cells, every combination of its keys.
        margins: as for `least_squares`.
        confidence: of the intervals.
        normal: whether all noise is Gaussian.
    """
    values, precision = least_squares(tuple(map(len, by.domains)), margins)
    return ContingencyTable(Cells.of(by, values), precision, confidence, normal)


def _check(releases: Sequence[Release], by: Keys) -> None:
    asked = by.describe()
    first: dict[str, object] | None = None
    for i, release in enumerate(releases):
        base = {key: x for key, x in release.query.items() if key != "margin"}
        if base.get("statistic") != "count" or base.get("keys") != asked:
            raise InvalidTable(
                f"release {release.entry!r} is no count by {by!r} nor a margin of it; ask "
                "publish.margins(table, by, [...]), and release what it returns"
            )
        first = base if first is None else first
        if base != first:
            raise InvalidTable(
                f"release {release.entry!r} has another unit or other limits than the first, and "
                "their counts need not add up; ask all of them of one table"
            )
        for other in releases[:i]:
            if (other.entry, other.columns) == (release.entry, release.columns):
                raise InvalidTable(f"release {release.entry!r} was given twice; write it once")


def _margin(
    release: Release, by: Keys, shape: tuple[int, ...]
) -> tuple[frozenset[int], Floats, float]:
    named = cast("Sequence[str]", release.query.get("margin", by.columns))
    axes = [by.columns.index(name) for name in named]
    counts = np.array(release.columns["count"], np.float64)
    counts = counts.reshape([shape[i] for i in axes])
    (stddev,) = set(release.columns["stddev"])
    return frozenset(axes), np.transpose(counts, np.argsort(axes)), float(stddev) ** 2
