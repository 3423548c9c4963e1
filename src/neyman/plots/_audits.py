"""Pictures of audits: a claim with the evidence of scores, bets over time, one run."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false

from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties

from neyman.arguments import brief, check_type
from neyman.audit import CurveBand, ErrorRates, OneRun, Sequential, Verdict
from neyman.numerics import Array, at_most
from neyman.plots._axes import number_axis
from neyman.plots._style import (
    ACCENT,
    INK,
    NOTE,
    QUIET,
    TRUTH,
    clean,
    figure,
    legend,
    plain,
    signs,
    turned,
    words,
)

__all__ = ["audit", "one_run", "wealth"]

_POINTS: Final = 161
# More points of a path are closer than a pixel.
_MOST_POINTS: Final = 2000
# Of a title, and of the room that wide letters take.
_TITLE: Final = 120
_ROOM: Final = 0.9


@plain
def audit(verdict: Verdict, *, band: CurveBand | None = None) -> Figure:
    """Draw a claim, the error rates of the tested rule, and the rates that the scores allow.

    The left panel has both errors. The right panel has the records found at each false positive
    rate, on logarithmic axes. The shaded region contains the true rates of the rule, at the
    confidence of the test. The claim is refuted if its whole curve misses the region.

    Args:
        verdict: a result of `neyman.audit.refute`.
        band: a result of `neyman.audit.curve_band` for the same scores, over all thresholds.

    Raises:
        InvalidParameter: if these are other objects.
    """
    check_type("verdict", verdict, Verdict, "what neyman.audit.refute(...) returns")
    if band is not None:
        check_type("band", band, CurveBand, "what neyman.audit.curve_band(...) returns")
    picture = figure(8.6, 5.0)
    left, right = picture.subplots(1, 2)
    found = "is refuted" if verdict.refuted else "is not refuted"
    c = verdict.counts
    least = 0.3 / max(c.inside, c.outside)
    _errors(clean(left), verdict, band)
    _found(clean(right), verdict, band, least)
    said = f"{words(brief(verdict.claim), _TITLE)} {found} at level {verdict.level:g}"
    _titled(picture, f"{said}: p = {at_most(verdict.p_value, 3)}")
    return picture


def _errors(axes: Axes, verdict: Verdict, band: CurveBand | None) -> None:
    """Draw both errors on linear axes."""
    axes.plot([0, 1], [1, 0], color=QUIET, linewidth=1, linestyle="--", label="guessing")
    alpha = np.linspace(0, 1, _POINTS)
    region, level = verdict.region(), f"{100 * (1 - verdict.level):g}"
    axes.fill_between(
        *_closed(region),
        color=TRUTH,
        alpha=0.25,
        linewidth=0,
        label=f"rates of this rule that are not excluded ({level} %)",
    )
    axes.plot(*region, color=TRUTH, linewidth=1)
    if band is not None:
        kept = f"at all thresholds at once ({100 * (1 - band.level):g} % each end)"
        axes.plot(*band.upper, color=INK, linewidth=1, linestyle=":", label=kept)
        axes.plot(*band.lower, color=INK, linewidth=1, linestyle=":")
    axes.plot(alpha, _beta(verdict, alpha), color=ACCENT, linewidth=1.8, label="the claim")
    x, y = _rates(verdict)
    axes.plot([x], [y], "o", color=INK, markersize=5, label="the rule, as counted")
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes.set_xlabel("false positive rate", color=INK)
    axes.set_ylabel("false negative rate", color=INK)


def _found(axes: Axes, verdict: Verdict, band: CurveBand | None, least: float) -> None:
    """Draw the true positive rate on logarithmic axes."""
    alpha = np.geomspace(least, 1, _POINTS)
    axes.plot(alpha, alpha, color=QUIET, linewidth=1, linestyle="--")
    x, y = _rates(verdict)
    region = _closed(verdict.region())
    rates = np.interp(alpha, *region)
    axes.fill_between(alpha, 1 - rates, 1.0, color=TRUTH, alpha=0.25, linewidth=0)
    axes.plot(alpha, 1 - rates, color=TRUTH, linewidth=1)
    if band is not None:
        for line in (band.upper, band.lower):
            axes.plot(alpha, 1 - np.interp(alpha, *line), color=INK, linewidth=1, linestyle=":")
    claimed = 1 - _beta(verdict, alpha)
    axes.plot(alpha, claimed, color=ACCENT, linewidth=1.8)
    axes.plot([max(x, least)], [1 - y], "<" if x < least else "o", color=INK, markersize=5)
    low = min(0.5 * float(claimed[0]), 0.5 * max(1 - y, least))
    axes.set(xscale="log", yscale="log", xlim=(least, 1), ylim=(max(low, least), 1.05))
    axes.set_xlabel("false positive rate", color=INK)
    axes.set_ylabel("true positive rate", color=INK)


def _beta(verdict: Verdict, alpha: Array) -> Array:
    return np.asarray(verdict.claim.beta(alpha))


def _rates(verdict: Verdict) -> tuple[float, float]:
    c = verdict.counts
    return c.false_positives / c.outside, c.false_negatives / c.inside


def _closed(line: ErrorRates) -> ErrorRates:
    """Return a line that continues to the right with error 0."""
    return ErrorRates(np.append(line.alpha, 1.0), np.append(line.beta, 0.0))


@plain
def wealth(test: Sequential) -> Figure:
    """Draw the wealth of a bet against a claim, after each pair of scores.

    Args:
        test: a `neyman.audit.Sequential`.

    Raises:
        InvalidParameter: if it is another object.
    """
    check_type("test", test, Sequential, "a neyman.audit.Sequential")
    path = np.concatenate([[1.0], test.wealth])
    pairs = test.pairs - path.size + 1 + np.arange(path.size)
    if path.size > _MOST_POINTS:
        kept = np.unique(np.linspace(0, path.size - 1, _MOST_POINTS).astype(np.intp))
        path, pairs = path[kept], pairs[kept]
    picture = figure(6.4, 3.8)
    axes = clean(picture.add_subplot())
    needed = 1 / test.level
    axes.axhline(1, color=QUIET, linewidth=0.8)
    axes.axhline(needed, color=TRUTH, linewidth=1.2, linestyle="--", label="refutes the claim")
    axes.plot(pairs, path, color=ACCENT, linewidth=1.6, label="wealth, of 1 at the start")
    axes.set_yscale("log")
    axes.set_ylim(min(0.5, 0.8 * float(path.min())), max(2 * needed, 1.5 * float(path.max())))
    axes.set_xlim(left=0)
    number_axis(axes.xaxis)
    axes.set_xlabel("pairs of scores", color=INK)
    axes.set_ylabel("wealth (e-value)", color=INK)
    found = "is refuted" if test.refuted else "is not refuted so far"
    said = f"{words(brief(test.claim), _TITLE)} {found} at level {test.level:g}, at any time"
    _titled(picture, f"{said}: {test.pairs:,} pairs of scores, p = {at_most(test.p_value, 3)}")
    return picture


@plain
def one_run(result: OneRun) -> Figure:
    """Draw the bounds of one run below the largest detectable ones, and the guesses.

    Args:
        result: a result of `neyman.audit.one_run`.

    Raises:
        InvalidParameter: if it is another object.
    """
    check_type("result", result, OneRun, "what neyman.audit.one_run(...) returns")
    picture = figure(8.6, 3.6)
    left, right = picture.subplots(1, 2, width_ratios=(1.2, 1))
    rows = (result.mu, result.epsilon), (result.most_mu, result.most_epsilon)
    names = "mu", f"epsilon at delta = {result.delta:g}"
    clean(left).barh((1, 0), rows[0], height=0.36, color=ACCENT, label="lost at least", zorder=2)
    left.barh(
        (1, 0), rows[1], height=0.36, color="none", edgecolor=NOTE, label="most that could be seen"
    )
    for row, value in zip((1, 0), rows[0], strict=True):
        left.annotate(
            f"{value:.3g}", (0, row), (3, 18), textcoords="offset points", color=INK, fontsize=9
        )
    left.set(yticks=(1, 0), ylim=(-0.6, 1.7), xlim=(0, 1.04 * max(rows[1])))
    left.set_yticklabels(names)
    number_axis(left.xaxis)
    left.set_xlabel("lower bound", color=INK)
    _guesses(clean(right), result)
    level = f"{100 * (1 - result.level):g}"
    of = result.guesses[0].of
    said = f"mu >= {result.mu:.3g} and epsilon >= {result.epsilon:.3g}, at {level} %"
    _titled(picture, f"{of:,} canaries in one run, if included by fair coins, show {said}")
    return picture


def _guesses(axes: Axes, result: OneRun) -> None:
    made = np.array([one.made for one in result.guesses])
    right = np.array([one.right for one in result.guesses]) / made
    axes.axhline(50, color=QUIET, linewidth=1, linestyle="--")
    axes.plot(made, 100 * right, "o-", color=ACCENT, linewidth=1.2, markersize=4)
    axes.set_xscale("log")
    axes.set_ylim(min(40.0, 90 * float(right.min())), 102)
    axes.set_xlabel("guesses, the surest first", color=INK)
    axes.set_ylabel("right, in % (dashed: coins)", color=INK)


def _titled(picture: Figure, sentence: str) -> None:
    """Write the finding as title, with the meaning of the lines below."""
    legend(picture)
    line = int(_ROOM * signs(picture.get_figwidth()))
    (said,) = picture.legends
    said.set_title(turned(sentence, line), prop=FontProperties(size=10))
    said.get_title().set_color(INK)
    said.set_alignment("left")
