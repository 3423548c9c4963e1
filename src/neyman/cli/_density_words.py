"""A released density in words and in JSON."""

import argparse
from typing import Final

import numpy as np

from neyman.functional import Band, ReleasedFunction
from neyman.ledger import store_of
from neyman.numerics import Array, at_least, at_most
from neyman.printable import printable, shortened
from neyman.released import Release

__all__ = ["LEVEL", "head", "record", "text"]

LEVEL: Final = 0.95
_PLACES: Final = 13
_SHARES: Final = (0.05, 0.25, 0.5, 0.75, 0.95)


def _band_at(f: ReleasedFunction, places: int) -> Band:
    """Return the noise band at equally spaced places of the whole domain."""
    width = f.band(LEVEL, "noise").width
    x, estimate = f.grid(places)
    reach = width * f.noise_sd(x)
    return Band((x,), estimate, estimate - reach, estimate + reach, width)


def _total_at(f: ReleasedFunction, x: Array) -> tuple[Array, Array]:
    """Return the band for noise and sampling at places of the domain, between those it is for."""
    band = f.band(LEVEL, "total")
    return np.interp(x, band.x, band.lower), np.interp(x, band.x, band.upper)


def _quantiles(f: ReleasedFunction) -> dict[str, float]:
    """Return quantiles of the nearest density; a circle has none, for it begins nowhere."""
    if f.side.closed:
        return {}
    values = f.project().quantile(_SHARES)
    return {f"{share:g}": float(value) for share, value in zip(_SHARES, values, strict=True)}


def record(f: ReleasedFunction, release: Release) -> dict[str, object]:
    """Return the release, the function, and some of what can be read off it, JSON-able."""
    band = _band_at(f, _PLACES)
    total = _total_at(f, band.x)
    return {
        "format": "neyman.density",
        "version": 1,
        "release": release.to_json(),
        "replayed": release.replayed,
        "function": f.to_json(),
        "band": {
            "level": LEVEL,
            "x": band.x.tolist(),
            "density": band.estimate.tolist(),
            "lower": band.lower.tolist(),
            "upper": band.upper.tolist(),
            "total_lower": total[0].tolist(),
            "total_upper": total[1].tolist(),
        },
        "quantiles": _quantiles(f),
    }


def text(f: ReleasedFunction, release: Release, options: argparse.Namespace) -> str:
    """Return a page of text: the curve with its band, quantiles, and what was paid."""
    band = _band_at(f, _PLACES)
    read, (least, _) = f.bandwidth, f.bandwidths
    lines = [
        head(options),
        f"bandwidth {float(read):.4g}, chosen from the release; free from {least:.4g} on",
        f"records {f.count:.0f}, noise {f.count_sd:.1f}",
        "",
        f"{shortened(options.column, 14):>14} {'density':>12} {'lower':>12} {'upper':>12} "
        f"{'total lower':>12} {'total upper':>12}",
    ]
    rows = np.column_stack([band.x, *band[1:4], *_total_at(f, band.x)])
    lines += [f"{x:>14.6g} " + " ".join(f"{v:>12.4g}" for v in values) for x, *values in rows]
    lines += [
        f"Without noise the curve is between lower and upper everywhere at once, {100 * LEVEL:g} %",
        "of the time: an estimate, for the bandwidth was chosen from the release. Total: what the",
        "curve is expected to be, with the sampling of the records; without the bias of smoothing.",
    ]
    found = _quantiles(f)
    if found:
        shares = "".join(f"{100 * float(share):>9.3g} %" for share in found)
        values = "".join(f"{value:>11.5g}" for value in found.values())
        lines += ["", f"quantiles    {shares}", f"             {values}"]
    return "\n".join([*lines, "", *_paid(release, options)])


def head(options: argparse.Namespace) -> str:
    """Return the first line of the page."""
    return f"density of {printable(options.column)} on {_domain(options)}"


def _domain(options: argparse.Namespace) -> str:
    if options.period is not None:
        return f"a circle of {options.period}"
    if options.domain is None:
        return "its bounds, values outside moved to their ends"
    moved = "left out" if options.outside == "drop" else "moved to its ends"
    return f"[{options.domain.replace(':', ', ')}], values outside {moved}"


def _paid(release: Release, options: argparse.Namespace) -> list[str]:
    """Say what was promised, what was charged for it, and what remains."""
    spending, guarantee = release.spending, release.guarantee
    cost = f"{at_most(100 * spending.cost / spending.cap, 5)} % of {store_of(options.ledger)}"
    left = at_least(100 * spending.remaining / spending.cap, 5)
    return [
        f"guarantee  {guarantee.curve}, {printable(guarantee.unit)} ({guarantee.neighbors})",
        f"charged    {'earlier, ' if release.replayed else ''}{cost}; {left} % remain",
    ]
