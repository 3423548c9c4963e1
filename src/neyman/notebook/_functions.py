"""Released functions: a summary and a small picture, without coefficients."""

from collections.abc import Callable, Iterator
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np

from neyman.errors import NeymanError
from neyman.functional import (
    AdditiveCurve,
    Band,
    DensityFunction,
    Function,
    Functions,
    RegressionCurve,
    RegressionFit,
    SurvivalCurve,
    TabulatedDensity,
)
from neyman.functional._curve_bands import bands_of
from neyman.functional._generator import public_generator
from neyman.notebook._card import ROWS, card, facts, lines, quiet, table, warning
from neyman.notebook._drawn import curve, heat

__all__ = ["Labels", "html", "parts"]

_LEVEL: Final = 0.95
_REPETITIONS: Final = 100
_POINTS: Final = 120
_PLANE: Final = 2
_COARSE: Final = 65


class Labels(NamedTuple):
    """The labels of the axes of a picture."""

    x: str = "x"
    y: str = "mean response"


def html(shown: object) -> str:
    """Return the HTML of a released function, or of functions by group."""
    match shown:
        case Functions():
            names = ", ".join(shown.columns)
            return card(f"{len(shown):,} functions by {names}", _by_group(shown))
        case TabulatedDensity(sides=[_]):
            ends = float(shown.points[0]), float(shown.points[-1])
            x = np.linspace(*ends, _POINTS)
            drawn = curve(x, shown(x), None, labels=("x", "density"), zero=True)
            return card("Density: not negative, with integral 1", [drawn])
        case Function():
            return card(f"Released {shown.kind}", parts(shown, _LEVEL, Labels()))
        case RegressionFit():
            source = public_generator()
            band = shown.band(_LEVEL, "noise", generator=source, repetitions=_REPETITIONS)
            return card(f"Curve by {shown.smoother.words}", _drawn(band, _LEVEL, Labels()))
        case _:
            return card(type(shown).__name__, [lines(str(shown))])


def parts(shown: Function, level: float, labels: Labels) -> Iterator[str]:
    """Return the number of records of a function, and its picture with a band for the noise.

    Args:
        shown: the released function.
        level: the coverage of the band.
        labels: the labels of the axes.
    """
    count = shown.noisy_count
    if count is not None:
        width = f" ± {count.half_width(level):.4g}" if count.stddev else ""
        yield facts({"Records": f"{count.count:,.6g}{width}"})
    draw = _DRAWN.get(type(shown))
    if draw is None:
        return
    try:
        shown.require_records(level)
        yield from draw(shown, level, labels)
    except NeymanError as error:
        yield warning(str(error))


def _density(shown: Function, level: float, labels: Labels) -> Iterator[str]:
    match shown:
        case DensityFunction(sides=[_]):
            band = shown.band(level, "density")
            yield curve(
                band.x, band.estimate, (band.lower, band.upper), labels=("x", "density"), zero=True
            )
            yield quiet(
                f"{labels.x}: density, with a {100 * level:g} % band for the density itself, "
                "everywhere at once. It is an estimate."
            )
            if shown.unresolved is not None:
                yield warning(shown.unresolved)
        case DensityFunction(sides=sides):
            yield facts({"Coordinates": len(sides)})
            if len(sides) == _PLANE:
                _, values = shown.grid(_COARSE)
                about = "The density: first coordinate to the right, second upwards."
                yield heat(values, about) + quiet(about)
        case _:
            return


def _survival(shown: Function, level: float, labels: Labels) -> Iterator[str]:
    match shown:
        case SurvivalCurve():
            yield facts({"Known until": f"{shown.until:.4g}"})
            band = bands_of(shown, level).noise
            yield from _drawn(band, level, Labels(labels.x, "share without the event"), zero=True)
        case _:
            return


def _regression(shown: Function, level: float, labels: Labels) -> Iterator[str]:
    match shown:
        case RegressionCurve():
            yield from _drawn(bands_of(shown, level).noise, level, labels)
        case _:
            return


def _effects(shown: Function, level: float, labels: Labels) -> Iterator[str]:
    match shown:
        case AdditiveCurve():
            wide = NormalDist().inv_cdf((1 + level) / 2)
            for effect in shown.effects:
                axis, *others = effect.features
                if others:
                    continue
                x, y = effect.grid(_POINTS)
                reach = wide * effect.sd(x)
                yield curve(x, y, (y - reach, y + reach), labels=(f"feature {axis}", labels.y))
            yield quiet(
                f"The contribution of each feature to the mean response, with {100 * level:g} % "
                "intervals at each point. They are estimates."
            )
        case _:
            return


_DRAWN: Final[dict[type[Function], Callable[[Function, float, Labels], Iterator[str]]]] = {
    DensityFunction: _density,
    SurvivalCurve: _survival,
    RegressionCurve: _regression,
    AdditiveCurve: _effects,
}


def _drawn(band: Band, level: float, labels: Labels, *, zero: bool = False) -> Iterator[str]:
    yield curve(band.x, band.estimate, (band.lower, band.upper), labels=labels, zero=zero)
    yield quiet(
        f"{labels.y}, with a {100 * level:g} % band for the noise only, for the whole curve at "
        "once."
    )


def _by_group(shown: Functions[Function]) -> Iterator[str]:
    rows = [(*key, one.kind) for key, one in list(shown.items())[: ROWS + 1]]
    yield table((*shown.columns, "kind"), rows, len(shown.columns) + 1)
    yield quiet("functions[key] is the function of a group.")
