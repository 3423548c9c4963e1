"""Pictures of released quantiles."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false

from typing import cast

import numpy as np
from matplotlib.figure import Figure

from neyman.errors import InvalidParameter
from neyman.plots._style import (
    ACCENT,
    INK,
    QUIET,
    clean,
    figure,
    plain,
    say_too_few,
    tick,
    turned,
    words,
)
from neyman.released import Release, noise_alone

__all__ = ["quantiles"]


@plain
def quantiles(release: Release) -> Figure:
    """Draw released quantiles, of each group rising from the least to the largest.

    The dark bars are intervals for the noise, the light ones for noise and sampling. A group whose
    number of rows is not told from its noise has no points, and bars from bound to bound.

    Args:
        release: of `publish.quantiles`.

    Raises:
        InvalidParameter: if it is a release of something else.
    """
    if release.query.get("statistic") != "quantile":
        raise InvalidParameter(
            f"a release of {release.query.get('statistic')!r} was to be drawn; write "
            "plots.quantiles(release) for one of publish.quantiles"
        )
    columns = release.columns
    read = {
        name: np.array(cast("list[float]", cells))
        for name, cells in columns.items()
        if name not in release.keys
    }
    shares = np.array(list(dict.fromkeys(read["probability"].tolist())))
    groups = len(read["quantile"]) // len(shares)
    picture = figure(6.4, 1.0 + max(0.5 * groups, 1.5))
    axes = clean(picture.add_subplot())
    few = np.array(noise_alone(release.query, release.columns), bool)
    hidden = few.reshape(groups, len(shares)).all(axis=1)
    for name in ("quantile", "lower", "upper", "total_lower", "total_upper"):
        read[name] = np.where(few, np.nan, read[name])
    for group in np.flatnonzero(hidden):
        say_too_few(axes, float(group))
    # Up within the row of a group, as a distribution function goes.
    rows = np.repeat(np.arange(groups), len(shares)) - 0.4 * (2 * read["probability"] - 1)
    for lower, upper, alpha, width in (
        ("total_lower", "total_upper", 0.25, 2.5),
        ("lower", "upper", 0.6, 1.5),
    ):
        axes.hlines(rows, read[lower], read[upper], color=ACCENT, alpha=alpha, linewidth=width)
    axes.plot(read["quantile"], rows, "o", color=ACCENT, markersize=2.5)
    axes.set_yticks(range(groups), [tick(group) for group in release.groups[:: len(shares)]])
    axes.set_ylim(groups - 0.5, -0.5)
    for edge in range(1, groups):
        axes.axhline(edge - 0.5, color=QUIET, alpha=0.3, linewidth=0.6)
    axes.grid(axis="x", color=QUIET, alpha=0.25)
    described = cast("list[str]", release.query.get("columns", ["the values"]))
    axes.set_xlabel(
        turned(
            f"{words(described[0])}: {len(shares)} quantiles, {100 * release.confidence:g} % "
            "intervals of noise (dark), with sampling (light)"
        ),
        color=INK,
        fontsize=9,
    )
    return picture
