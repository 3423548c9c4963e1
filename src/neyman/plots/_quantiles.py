"""Pictures of released quantiles."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false

from typing import cast

import numpy as np
from matplotlib.figure import Figure

from neyman.arguments import check_type
from neyman.errors import InvalidParameter
from neyman.functional._abstract import Released
from neyman.functional._answers import Answer, release_of
from neyman.plots._axes import number_axis
from neyman.plots._rows import interval_of, label_width, numbers_of, tick_labels
from neyman.plots._style import (
    ACCENT,
    INK,
    QUIET,
    SENTENCE,
    clean,
    figure,
    plain,
    say_instead,
    signs,
    turned,
    words,
)
from neyman.publish import Presented
from neyman.released import Release

__all__ = ["presented", "quantiles"]


def presented(release: Released | Answer) -> Presented:
    """Return a release, or the release of a session's answer, with the default presentation.

    Raises:
        InvalidParameter: if it is anything else.
    """
    own = release_of(release)
    check_type("release", own, Release, "what release(query, noise, ledger, entry=...) returned")
    found = cast("Release", own)
    return Presented(found.entry, found)


@plain
def quantiles(release: Release | Presented | Answer) -> Figure:
    """Draw released quantiles, for each group from the least to the largest.

    Dark bars are intervals for the noise, light ones for noise and sampling. If noise hides the
    number of rows of a group, or a rule suppresses it, the picture says so instead.

    Args:
        release: a release of quantiles, or a presented one from `publication.presented()`.

    Raises:
        InvalidParameter: if it is a release of something else.
    """
    shown = release if isinstance(release, Presented) else presented(release)
    question = shown.release.question
    if question.statistic != "quantile":
        raise InvalidParameter(
            "plots.quantiles draws a release of publish.quantiles; got a release of "
            f"{question.statistic!r}"
        )
    (side,) = shown.release.sides
    states = shown.states(side)
    gone = np.array([state.left_out for state in states], bool)
    read = {
        name: np.where(gone, np.nan, numbers_of(shown, side, name))
        for name in ("quantile", "lower", "upper", "total_lower", "total_upper")
    }
    probability = np.array(cast("list[float]", side.columns["probability"]))
    shares = np.array(list(dict.fromkeys(probability.tolist())))
    groups = len(probability) // len(shares)
    labels = tick_labels(shown)[:: len(shares)]
    picture = figure(6.4, 1.0 + max(0.5 * groups, 1.5))
    axes = clean(picture.add_subplot())
    for group in np.flatnonzero(gone.reshape(groups, len(shares)).all(axis=1)):
        say_instead(axes, float(group), shown.rule.instead_of(states[group * len(shares)]))
    # Up within the row of a group, as a distribution function goes.
    rows = np.repeat(np.arange(groups), len(shares)) - 0.4 * (2 * probability - 1)
    for lower, upper, alpha, width in (
        ("total_lower", "total_upper", 0.25, 2.5),
        ("lower", "upper", 0.6, 1.5),
    ):
        axes.hlines(rows, read[lower], read[upper], color=ACCENT, alpha=alpha, linewidth=width)
    axes.plot(read["quantile"], rows, "o", color=ACCENT, markersize=2.5)
    axes.set_yticks(range(groups), labels)
    axes.set_ylim(groups - 0.5, -0.5)
    for edge in range(1, groups):
        axes.axhline(edge - 0.5, color=QUIET, alpha=0.3, linewidth=0.6)
    axes.grid(axis="x", color=QUIET, alpha=0.25)
    number_axis(axes.xaxis)
    what = shown.display.label or shown.with_unit(
        question.columns[0] if question.columns else "the values"
    )
    axes.set_xlabel(
        turned(
            f"{words(what, SENTENCE)}: {len(shares)} quantiles, {interval_of(shown)}s "
            "(dark), those of noise and sampling (light)",
            signs(6.4 - label_width(labels)),
        ),
        color=INK,
        fontsize=9,
    )
    return picture
