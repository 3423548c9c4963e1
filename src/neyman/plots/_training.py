"""Pictures of trainings."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false

from itertools import pairwise
from typing import Final

import numpy as np
from matplotlib.figure import Figure

from neyman.arguments import check_type
from neyman.numerics import Real, exact, text
from neyman.plots._axes import number_axis
from neyman.plots._style import ACCENT, INK, QUIET, clean, figure, plain
from neyman.training import RunRecord

__all__ = ["epsilon_over_steps"]

# More phases are too narrow to be seen apart.
_MOST_SHADED: Final = 40


@plain
def epsilon_over_steps(run: RunRecord, *, delta: Real, points: int = 100) -> Figure:
    """Draw epsilon during a training, with every second phase shaded.

    The line is an upper bound at each step, for all steps up to it.

    Args:
        run: the training.
        delta: the delta of epsilon, in [0, 1).
        points: the number of points of the line.

    Raises:
        InvalidParameter: if it is no run record, or a number is out of range.
    """
    check_type("run", run, RunRecord, "a RunRecord, such as training.RunRecord.read(path)")
    chance = exact(delta, "delta")
    along = run.epsilon_over_steps(float(chance), points)
    picture = figure(5.4, 3.6)
    axes = clean(picture.add_subplot())
    ends = np.cumsum([0, *(phase.steps for phase in run.phases)]).tolist()
    if len(run.phases) <= _MOST_SHADED:
        for first, last in list(pairwise(ends))[1::2]:
            axes.axvspan(first, last, color=QUIET, alpha=0.18, linewidth=0)
    axes.plot(along.steps, along.epsilon, color=ACCENT, linewidth=1.8)
    axes.set_xlim(0, max(float(ends[-1]), 1.0))
    axes.set_ylim(bottom=0)
    number_axis(axes.xaxis)
    number_axis(axes.yaxis)
    axes.set_xlabel("steps", color=INK)
    axes.set_ylabel(f"ε at δ = {text(chance).replace('e-0', 'e-')}", color=INK)
    return picture
