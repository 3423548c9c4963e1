"""Pictures of releases of functions with their bands: small multiples by group."""

# matplotlib's stubs leave many parameters untyped.
# pyright: reportUnknownMemberType=false

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from neyman.errors import InvalidParameter
from neyman.functional import (
    Band,
    DensityFunction,
    Function,
    RegressionCurve,
    SurvivalCurve,
    function,
    functions,
)
from neyman.functional._curve_bands import bands_of, independent_records
from neyman.plots._fields import draw_field, heatmap
from neyman.plots._functions import draw_density, draw_regression, draw_survival
from neyman.plots._panels import panels
from neyman.plots._style import INK, clean, figure, legend, tick
from neyman.publish import Presented
from neyman.released import Release

__all__ = ["FUNCTIONS"]

Draw: TypeAlias = Callable[[Axes, Function, Presented], None]

# More panels make a picture that nobody can read.
_MOST_PANELS: Final = 12


def _drawn(shown: Presented, draw: Draw) -> Figure:
    """Draw the function of a release, or those of its groups, one panel each."""
    release = shown.release
    if not release.question.grouped:
        picture = figure(6.4, 4.0)
        axes = clean(picture.add_subplot())
        found = function(release)
        found.require_records(release.confidence)
        draw(axes, found, shown)
        _percent(axes, shown)
        legend(picture)
        return picture
    parts = functions(release)
    first = list(parts.items())[:_MOST_PANELS]
    across = min(len(first), 3)
    picture = figure(max(3.2 * across, 6.4), 2.4 * -(-len(first) // across) + 0.3)
    for axes, (key, part) in zip(panels(picture, len(first)), first, strict=True):
        named = map(shown.word, parts.columns, key)
        clean(axes).set_title(tick(" · ".join(named)), color=INK, fontsize=9, loc="left")
        try:
            part.require_records(release.confidence)
            draw(axes, part, shown)
            _percent(axes, shown)
        except InvalidParameter:
            # The noise hides how many records there are: there is nothing to divide by.
            axes.set(xticks=[], yticks=[])
            axes.text(0.5, 0.5, "more noise than data", transform=axes.transAxes, ha="center")
    if len(parts) > len(first):
        picture.suptitle(f"the first {len(first)} of {len(parts)} groups", color=INK, fontsize=9)
    return picture


def _percent(axes: Axes, shown: Presented) -> None:
    """Write shares in percent, where they are asked for so."""
    if shown.display.percent:
        axes.yaxis.set_major_formatter(PercentFormatter(1, symbol=" %"))


def _density(axes: Axes, found: Function, shown: Presented) -> None:
    match found:
        case DensityFunction():
            draw_density(
                axes,
                found,
                shown.release.confidence,
                label=_named(shown, 0, "value"),
                independent=independent_records(shown.release.query),
            )
        case _:
            raise _other(found)


def _survival(axes: Axes, curve: Function, shown: Presented) -> None:
    match curve:
        case SurvivalCurve():
            total, noise = _bands(curve, shown.release)
            label = _named(shown, 0, "time")
            draw_survival(axes, total, noise, shown.release.confidence, label=label)
        case _:
            raise _other(curve)


def _regression(axes: Axes, curve: Function, shown: Presented) -> None:
    """Draw the curve, broken where too few records are."""
    match curve:
        case RegressionCurve():
            total, noise = _bands(curve, shown.release)
            labels = _named(shown, 0, "x"), f"mean of {_named(shown, 1, 'the response')}"
            draw_regression(axes, total, noise, shown.release.confidence, labels=labels)
        case _:
            raise _other(curve)


def _bands(curve: SurvivalCurve | RegressionCurve, release: Release) -> tuple[Band | None, Band]:
    """Return the band for noise and sampling, where records are independent, and that for noise."""
    found = bands_of(curve, release.confidence)
    return found.total if independent_records(release.query) else None, found.noise


def _named(shown: Presented, place: int, otherwise: str) -> str:
    """Return what a column of the question is called, with its unit; an array has no columns."""
    names = shown.release.question.columns
    return shown.with_unit(names[place]) if place < len(names) else otherwise


def _other(found: Function) -> InvalidParameter:
    return InvalidParameter(
        f"a {type(found).__name__} was to be drawn of a release; write plots.density, "
        "plots.survival or plots.regression of what functional.function(release) gives"
    )


def _field(shown: Presented) -> Figure:
    """Draw the nearest proper density of two columns; of three, of the first two of them."""
    release = shown.release
    labels = _named(shown, 0, "first coordinate"), _named(shown, 1, "second coordinate")
    if not release.question.grouped:
        found = function(release)
        found.require_records(release.confidence)
        return heatmap(_proper(found), labels=labels)
    return _drawn(shown, lambda axes, found, _: draw_field(axes, _proper(found), labels))


def _proper(found: Function) -> DensityFunction:
    match found:
        case DensityFunction():
            return found.plane(0, 1) if len(found.sides) > 2 else found
        case _:
            raise _other(found)


FUNCTIONS: Final[Mapping[str, Callable[[Presented], Figure]]] = {
    "density": lambda shown: _drawn(shown, _density),
    "field": _field,
    "survival": lambda shown: _drawn(shown, _survival),
    "regression": lambda shown: _drawn(shown, _regression),
}
