"""Functions of tables, with their parameters drawn as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from neyman import functional, publish
from neyman.aggregate import Aggregate
from neyman.functional import Box, Circle, Cumulative, Density, Interval, Octaves, Scales, Weights
from neyman.tables import Bounds, Keys, Table

__all__ = ["FUNCTIONS", "SIDES", "TARGETS", "function", "side"]

TARGETS = {
    "density": Density(),
    "cumulative": Cumulative(),
    "octaves": Octaves(6),
    "scales": Scales(),
    "weights": Weights(2, 1, 3),
}
SIDES = ("clip", "drop", "circle")
# More quantiles than are searched for: the integers are then those that noise is added to.
_NINE = tuple(k / 8 for k in range(9))


def side(kind: str, lower: int, upper: int) -> Any:
    """Make an interval or a circle."""
    return Circle(upper - lower) if kind == "circle" else Interval(lower, upper, outside=kind)


def _quantiles(table: Table, by: Any, *, column: str, bounds: Any, shares: Any) -> Aggregate:
    return publish.quantiles(table, column, shares, by=by, bounds=Bounds(*bounds))


def _density(
    table: Table, by: Any, *, column: str, over: Any, bandwidth: Any, target: str
) -> Aggregate:
    return publish.density(
        table, column, domain=side(*over), bandwidth=bandwidth, target=TARGETS[target], by=by
    )


def _field(
    table: Table, by: Any, *, columns: Any, over: Any, bandwidth: Any, target: str
) -> Aggregate:
    return publish.density(
        table,
        columns,
        domain=Box(*(side(*one) for one in over)),
        bandwidth=bandwidth,
        target=TARGETS[target],
        by=by,
    )


def _survival(table: Table, by: Any, *, columns: Any, horizon: Any, bandwidth: Any) -> Aggregate:
    duration, observed = columns
    return publish.survival(
        table, duration=duration, observed=observed, horizon=horizon, bandwidth=bandwidth, by=by
    )


def _regression(
    table: Table, by: Any, *, columns: Any, over: Any, response: Any, bandwidth: Any
) -> Aggregate:
    x, y = columns
    return publish.regression(
        table,
        x=x,
        y=y,
        domain=side(*over),
        bandwidth=bandwidth,
        response=functional.Interval(*response, outside="clip"),
        by=by,
    )


def _crosstab(table: Table, by: Keys, *, margins: Any, shares: Any) -> Aggregate:
    return publish.crosstab(table, by, margins, shares=shares, whole=True)


def _margins(table: Table, by: Keys, *, margin: Any) -> Aggregate:
    return publish.margins(table, by, [margin])[0]


FUNCTIONS: Mapping[str, Callable[..., Aggregate]] = {
    "quantiles": _quantiles,
    "density": _density,
    "field": _field,
    "survival": _survival,
    "regression": _regression,
    "crosstab": _crosstab,
    "margins": _margins,
}


_OF_CELLS = ("crosstab", "margins")


def _columns_of(by: Any) -> list[str]:
    """Return the columns of declared groups of which there is every combination."""
    word, *given = by or ("none",)
    listed = [pair[0] for pair in given if isinstance(pair, tuple)]
    found = {"keys": listed, "rest": listed, "bins": given[:1]}
    found |= {"both": [*given[:1], "x"], "public": given[:1]}
    return list(found.get(word, []))


def function(draw: Random, columns: list[str], by: Any) -> Any:
    """Draw a function and its parameters."""
    cells = _columns_of(by)
    name = draw.choice([name for name in sorted(FUNCTIONS) if cells or name not in _OF_CELLS])
    one, two = draw.choice(columns), draw.choice(columns)
    target, bandwidth = draw.choice(sorted(TARGETS)), draw.choice([0.3, 0.5, 0.8])
    over = (draw.choice(SIDES), draw.choice([0, -1]), draw.choice([9, 10]))
    if name in _OF_CELLS:
        margin = tuple(draw.sample(cells, draw.randint(0, len(cells) - 1)))
        shares = draw.choice([(), (1, 1), (2, 1), (1, 0)])
        of_cells = {
            "margins": {"margin": margin},
            "crosstab": {"margins": (margin,), "shares": shares},
        }
        return name, tuple(of_cells[name].items())
    given = {
        "quantiles": {
            "column": one,
            "bounds": (-1, 9, 0.5),
            "shares": _NINE,
        },
        "density": {"column": one, "over": over, "bandwidth": bandwidth, "target": target},
        "field": {
            "columns": (one, two),
            "over": (over, (draw.choice(SIDES), 0, 8)),
            "bandwidth": (bandwidth, 0.8),
            "target": draw.choice(["density", "octaves", "scales"]),
        },
        "survival": {"columns": (one, two), "horizon": 9, "bandwidth": bandwidth},
        "regression": {
            "columns": (one, two),
            "over": over,
            "response": draw.choice([(-1, 2), (0, 1)]),
            "bandwidth": bandwidth,
        },
    }[name]
    return name, tuple(given.items())
