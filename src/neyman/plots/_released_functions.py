"""Pictures of releases of functions with their bands: small multiples by group."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias, cast

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from neyman.errors import InvalidParameter
from neyman.functional import (
    Band,
    Function,
    ProjectedField,
    RegressionCurve,
    ReleasedField,
    ReleasedFunction,
    SurvivalCurve,
    function,
    functions,
)
from neyman.functional._bands import bands_of, independent_records
from neyman.functional._curves._select import selected
from neyman.plots._fields import draw_field, heatmap
from neyman.plots._functions import draw_density, draw_regression, draw_survival
from neyman.plots._panels import panels
from neyman.plots._style import INK, clean, figure, tick
from neyman.released import Release

__all__ = ["FUNCTIONS"]

Draw: TypeAlias = Callable[[Axes, Function, Release], None]

# More panels make a picture that nobody can read.
_MOST_PANELS: Final = 12


def _drawn(release: Release, draw: Draw) -> Figure:
    """Draw the function of a release, or those of its groups, one panel each."""
    if release.query.get("keys") is None:
        picture = figure(6.4, 3.6)
        axes = clean(picture.add_subplot())
        found = function(release)
        found.require_records(release.confidence)
        draw(axes, found, release)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(frameon=False)
        return picture
    parts = functions(release)
    shown = list(parts.items())[:_MOST_PANELS]
    across = min(len(shown), 3)
    picture = figure(max(3.2 * across, 6.4), 2.4 * -(-len(shown) // across) + 0.3)
    for axes, (key, part) in zip(panels(picture, len(shown)), shown, strict=True):
        clean(axes).set_title(tick(" · ".join(map(str, key))), color=INK, fontsize=9, loc="left")
        try:
            part.require_records(release.confidence)
            draw(axes, part, release)
        except InvalidParameter:
            # The noise hides how many records there are: there is nothing to divide by.
            axes.set(xticks=[], yticks=[])
            axes.text(0.5, 0.5, "more noise than data", transform=axes.transAxes, ha="center")
    if len(parts) > len(shown):
        picture.suptitle(f"the first {len(shown)} of {len(parts)} groups", color=INK, fontsize=9)
    return picture


def _density(axes: Axes, found: Function, release: Release) -> None:
    match found:
        case ReleasedFunction():
            draw_density(
                axes,
                selected(found),
                release.confidence,
                label=_named(release, 0, "value"),
                independent=independent_records(release.query),
            )
        case _:
            raise _other(found)


def _survival(axes: Axes, curve: Function, release: Release) -> None:
    match curve:
        case SurvivalCurve():
            _, noise = _bands(curve, release)
            label = _named(release, 0, "time")
            draw_survival(axes, noise, release.confidence, label=label)
        case _:
            raise _other(curve)


def _regression(axes: Axes, curve: Function, release: Release) -> None:
    """Draw the curve, broken where too few records are."""
    match curve:
        case RegressionCurve():
            total, noise = _bands(curve, release)
            labels = _named(release, 0, "x"), f"mean of {_named(release, 1, 'the response')}"
            draw_regression(axes, total, noise, release.confidence, labels=labels)
        case _:
            raise _other(curve)


def _bands(curve: SurvivalCurve | RegressionCurve, release: Release) -> tuple[Band | None, Band]:
    """Return the band for noise and sampling, where records are independent, and that for noise."""
    found = bands_of(curve, release.confidence)
    return found.total if independent_records(release.query) else None, found.noise


def _named(release: Release, place: int, otherwise: str) -> str:
    """Return the name of a column of the question; an array has none."""
    names = cast("list[str]", release.query.get("columns", []))
    return names[place] if place < len(names) else otherwise


def _other(found: Function) -> InvalidParameter:
    return InvalidParameter(
        f"a {type(found).__name__} was to be drawn of a release; write plots.density, "
        "plots.survival or plots.regression of what functional.function(release) gives"
    )


def _field(release: Release) -> Figure:
    """Draw the nearest proper density of two columns; of three, of the first two of them."""
    names = cast("list[str]", release.query.get("columns", []))
    labels = (names[0], names[1]) if len(names) > 1 else ("first coordinate", "second coordinate")
    if release.query.get("keys") is None:
        found = function(release)
        found.require_records(release.confidence)
        return heatmap(_proper(found), labels=labels)
    return _drawn(release, lambda axes, found, _: draw_field(axes, _proper(found), labels))


def _proper(found: Function) -> ProjectedField:
    match found:
        case ReleasedField():
            smooth = selected(found)
            return (smooth.plane(0, 1) if len(smooth.basis.sides) > 2 else smooth).project()
        case _:
            raise _other(found)


FUNCTIONS: Final[Mapping[str, Callable[[Release], Figure]]] = {
    "density": lambda release: _drawn(release, _density),
    "field": _field,
    "survival": lambda release: _drawn(release, _survival),
    "regression": lambda release: _drawn(release, _regression),
}
