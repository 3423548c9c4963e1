"""A released density in words and in JSON."""

import argparse
from typing import Final

import numpy as np

from neyman.functional import DensityFunction
from neyman.ledger import store_of
from neyman.numerics import Array, at_least, at_most
from neyman.printable import printable, shortened
from neyman.released import Release

__all__ = ["LEVEL", "head", "record", "text"]

LEVEL: Final = 0.95
_PLACES: Final = 13
_SHARES: Final = (0.05, 0.25, 0.5, 0.75, 0.95)


def _at(f: DensityFunction, places: int) -> dict[str, Array]:
    """Return the density and its bands at equally spaced places of the whole domain."""
    x = f.sides[0].grid(places)
    found = {"x": x, "density": f(x)}
    for kind, said in (("density", ""), ("noise", "noise_")):
        band = f.band(LEVEL, kind)
        found[f"{said}lower"] = np.interp(x, band.x, band.lower)
        found[f"{said}upper"] = np.interp(x, band.x, band.upper)
    return found


def _quantiles(f: DensityFunction) -> dict[str, float]:
    """Return quantiles; a circle has none, for it begins nowhere."""
    if f.sides[0].closed:
        return {}
    values = f.ppf(_SHARES)
    return {f"{share:g}": float(value) for share, value in zip(_SHARES, values, strict=True)}


def record(f: DensityFunction, release: Release) -> dict[str, object]:
    """Return the release, the function, and some of what can be read off it, JSON-able."""
    return {
        "format": "neyman.density",
        "version": 2,
        "release": release.to_json(),
        "replayed": release.replayed,
        "function": f.to_json(),
        "unresolved": f.unresolved,
        "band": {
            "level": LEVEL,
            **{name: values.tolist() for name, values in _at(f, _PLACES).items()},
        },
        "quantiles": _quantiles(f),
    }


def text(f: DensityFunction, release: Release, options: argparse.Namespace) -> str:
    """Return a page of text: the curve with its bands, quantiles, and what was paid."""
    found = _at(f, _PLACES)
    heads = [name.replace("_", " ") for name in list(found)[1:]]
    lines = [
        head(options),
        f"records {f.count:.0f}, noise {f.count_sd:.1f}",
        *_outside(f),
        *([f.unresolved] if f.unresolved else []),
        "",
        f"{shortened(options.column, 14):>14} " + " ".join(f"{name:>12}" for name in heads),
    ]
    rows = np.column_stack(list(found.values()))
    lines += [f"{x:>14.6g} " + " ".join(f"{v:>12.4g}" for v in values) for x, *values in rows]
    lines += [
        "The density of the population is between lower and upper everywhere at once,",
        f"{100 * LEVEL:g} % of the time: an estimate, without features that so few records do not",
        "show. Between noise lower and noise upper is what these records would give without noise.",
    ]
    quantiles = _quantiles(f)
    if quantiles:
        shares = "".join(f"{100 * float(share):>9.3g} %" for share in quantiles)
        values = "".join(f"{value:>11.5g}" for value in quantiles.values())
        lines += ["", f"quantiles    {shares}", f"             {values}"]
    return "\n".join([*lines, "", *_paid(release, options)])


def _outside(f: DensityFunction) -> list[str]:
    """Say how many records lie outside, where they were counted."""
    if not f.outside:
        return []
    below, above, nowhere = f.outside
    return [
        f"outside {round(below.count)} below, {round(above.count)} above, "
        f"{round(nowhere.count)} without a number, noise {below.stddev:.1f}"
    ]


def head(options: argparse.Namespace) -> str:
    """Return the first line of the page."""
    return f"density of {printable(options.column)} on {_domain(options)}"


def _domain(options: argparse.Namespace) -> str:
    if options.period is not None:
        return f"a circle of {options.period}"
    if options.domain is None:
        return "its bounds, values outside counted apart"
    moved = {"drop": "left out", "clip": "moved to its ends"}
    said = moved.get(options.outside, "counted apart")
    return f"[{options.domain.replace(':', ', ')}], values outside {said}"


def _paid(release: Release, options: argparse.Namespace) -> list[str]:
    """Say what was promised, what was charged for it, and what remains."""
    spending, guarantee = release.spending, release.guarantee
    cost = f"{at_most(100 * spending.cost / spending.cap, 5)} % of {store_of(options.ledger)}"
    left = at_least(100 * spending.remaining / spending.cap, 5)
    return [
        f"guarantee  {guarantee.curve}, {printable(guarantee.unit)} ({guarantee.neighbors})",
        f"charged    {'earlier, ' if release.replayed else ''}{cost}; {left} % remain",
    ]
