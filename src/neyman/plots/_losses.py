"""Pictures of the privacy loss."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from neyman.arguments import check_type
from neyman.curves import TradeOff
from neyman.errors import InvalidParameter
from neyman.numerics import at_most
from neyman.plots._loss_law import DrawnLoss
from neyman.plots._style import ACCENT, INK, QUIET, TRUTH, clean, figure

__all__ = ["privacy_loss"]

_NULL, _ALTERNATIVE, _FAINT = "#6b7280", ACCENT, 0.3
_GAP = 4


def privacy_loss(curve: TradeOff, *, epsilon: float) -> Figure:
    """Draw the distribution of the privacy loss L = log dQ/dP, and delta at an epsilon.

    Lines are densities, stems are atoms with their mass, and masses at infinity are in words.
    Beyond epsilon, the area between q and e^epsilon p, with the atoms and infinity, is delta:

        delta(epsilon) = integral of (1 - e^(epsilon - L)) over L > epsilon, under Q

    If the two directions differ, both are drawn. The laws are estimates; delta is a proved bound.

    Args:
        curve: the guarantee.
        epsilon: a finite number of at least 0.

    Raises:
        InvalidParameter: if epsilon is not in [0, infinity).
    """
    check_type("curve", curve, TradeOff, "a guarantee, such as gdp(1)")
    if not 0 <= epsilon < math.inf:
        raise InvalidParameter(f"epsilon must be a number of at least 0; got {epsilon!r}")
    remove = DrawnLoss.of(curve.remove, float(epsilon))
    drawn = [(curve.remove, remove, "")]
    if curve.add != curve.remove:
        mirror = curve.add == curve.remove.swap()
        add = remove.mirrored() if mirror else DrawnLoss.of(curve.add, float(epsilon))
        drawn = [
            (curve.remove, remove, ", P without the record, Q with it"),
            (curve.add, add, ", P with the record, Q without it"),
        ]
    picture = figure(6.0 * len(drawn), 3.9)
    for i, (pair, loss, which) in enumerate(drawn):
        axes = clean(picture.add_subplot(1, len(drawn), i + 1))
        _draw(axes, loss, float(epsilon))
        _words(axes, loss, float(pair.delta(epsilon)))
        axes.set_xlabel(f"privacy loss L = log dQ/dP{which}", color=INK)
    return picture


def _draw(axes: Axes, loss: DrawnLoss, epsilon: float) -> None:
    low, high = loss.edges[0], loss.edges[-1]
    shift = 0.002 * float(high - low)
    beside = _beside(axes) if loss.smooth and loss.places.size else axes
    sides = ((-shift, _NULL, "under P"), (shift, _ALTERNATIVE, "under Q"))
    for (apart, colour, label), density, atoms in zip(sides, loss.lines(), loss.atoms, strict=True):
        axes.plot([], [], color=colour, linewidth=1.8, label=label)
        if loss.smooth:
            axes.plot(loss.centres, density, color=colour, linewidth=1.6)
        if loss.places.size:
            beside.vlines(loss.places + apart, 0, atoms, color=colour, linewidth=1.8)
            beside.plot(loss.places + apart, atoms, "o", color=colour, markersize=4)
    if loss.smooth:
        _area(axes, loss, epsilon)
        axes.set_ylabel("density", color=INK)
    if loss.places.size:
        _taken(beside, loss, epsilon, shift)
        beside.set_ylabel("mass of atoms (stems)", color=INK)
    axes.axvline(epsilon, color=TRUTH, linewidth=1.2, linestyle="--", label=f"ε = {epsilon:g}")
    for each in {axes, beside}:
        each.set_ylim(bottom=0)
    if not loss.smooth and not loss.places.size:
        axes.set_yticks([])
    axes.set_xlim(low, high)


def _beside(axes: Axes) -> Axes:
    """Return a second scale, at the right: densities and masses have none in common."""
    beside = axes.twinx()
    beside.spines[["top", "left", "bottom"]].set_visible(False)
    beside.spines["right"].set_color(QUIET)
    beside.tick_params(colors=INK, color=QUIET)
    return beside


def _area(axes: Axes, loss: DrawnLoss, epsilon: float) -> None:
    """Shade what delta takes of the densities."""
    p, q = loss.lines()
    seen = np.isfinite(p) & np.isfinite(q)
    if not np.any(seen):
        return
    known = loss.centres[seen]
    t = np.concatenate([[epsilon], known[known > epsilon]])
    p, q = (np.interp(t, known, density[seen]) for density in (p, q))
    # q = e^L p beyond epsilon is more than e^epsilon p, but for the width of a cell.
    under = np.minimum(math.exp(epsilon) * p, q)
    # Nothing where there is a gap: a line across it would not be there either.
    near = np.diff(t, prepend=epsilon) < _GAP * (loss.edges[1] - loss.edges[0])
    axes.fill_between(t, under, q, where=near, color=_ALTERNATIVE, alpha=_FAINT, linewidth=0)


def _taken(axes: Axes, loss: DrawnLoss, epsilon: float, shift: float) -> None:
    """Thicken what delta takes of the atoms."""
    beyond = loss.places > epsilon
    places, masses = loss.places[beyond], loss.atoms.q[beyond]
    kept = masses * np.exp(epsilon - places)
    axes.vlines(places + shift, kept, masses, color=_ALTERNATIVE, linewidth=8, alpha=_FAINT)


def _words(axes: Axes, loss: DrawnLoss, delta: float) -> None:
    """Name what is shaded, and what lies outside the picture."""
    said = f"shaded: δ(ε) ≤ {at_most(delta, 3)}"
    down, up = loss.endless
    for mass, where in ((up, "+∞ under Q"), (down, "−∞ under P")):
        if mass > 0:
            axes.plot([], [], " ", label=f"mass {mass:.3g} at {where}")
    if up > 0:
        said = f"{said}, with {up:.3g} at +∞"
    axes.plot([], [], color=_ALTERNATIVE, alpha=_FAINT, linewidth=8, label=said)
    axes.legend(frameon=False, fontsize=8.5, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
