"""Pictures of guarantees."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from neyman.curves import TradeOff
from neyman.plots._labelled import labelled
from neyman.plots._style import INK, PALETTE, QUIET, clean, figure, legend, plain, words

__all__ = ["tradeoff"]


@plain
def tradeoff(curves: TradeOff | Mapping[str, TradeOff]) -> Figure:
    """Draw trade-off functions: the least type II error at each type I error.

    Each curve has a band between its proved bounds, which is thinner than the line for closed
    forms. The dashed diagonal is guessing.

    Args:
        curves: a trade-off function, or several by label.

    Raises:
        InvalidParameter: if they are anything else.
    """
    alpha = np.concatenate([[0.0], np.geomspace(1e-5, 0.02, 120), np.linspace(0.021, 1.0, 280)])
    picture = figure(4.6, 4.7)
    axes = clean(picture.add_subplot())
    axes.plot([0, 1], [1, 0], color=QUIET, linewidth=1, linestyle="--", label="guessing")
    for i, (label, curve) in enumerate(labelled(curves).items()):
        colour = PALETTE[i % len(PALETTE)]
        if curve.certified:
            lower, upper = curve.beta(alpha, bracket=True)
            axes.fill_between(alpha, lower, upper, color=colour, alpha=0.35, linewidth=0)
        axes.plot(alpha, curve.beta(alpha), color=colour, linewidth=1.8, label=words(label))
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes.set_xlabel("false accusations of the absent (type I error)", color=INK)
    axes.set_ylabel("missed among the present (type II error)", color=INK)
    legend(picture)
    return picture
