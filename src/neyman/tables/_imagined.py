"""What a statistic would add up of made-up rows: for previews, which touch no others."""
# pyarrow carries no types of its own.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from neyman.aggregate import IntArray
from neyman.numerics import Array
from neyman.tables._engines._duckdb_engine import DuckDB
from neyman.tables._sources._frames import frame
from neyman.tables._statements._statement import Question
from neyman.tables._statistics._statistic import Measured, Statistic
from neyman.tables._unit import Rows
from neyman.tables._view import View

__all__ = ["imagined"]

_ROWS: Final = 1024
_MOST: Final = 2**62
# Fractional parts of multiples of these fill a square and a cube evenly.
_STEPS: Final = (1 / _ROWS, *(np.sqrt([2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0, 19.0]) % 1).tolist())


def imagined(statistic: Statistic, sizes: Sequence[int]) -> list[IntArray]:
    """Return the integers of one group of each size, its rows spread evenly over the bounds.

    The very statement that is run of private rows is run of 1024 made-up ones, and its sums are
    scaled; columns vary independently of each other.
    """
    import pyarrow as pa

    columns = {
        measured.column: _spread(measured, _STEPS[i % len(_STEPS)])
        for i, measured in enumerate(statistic.columns)
    }
    rows = pa.table(columns or {"neyman_none": np.zeros(_ROWS)})
    source = frame(rows, "made up")
    engine = DuckDB((source,), source.schema())
    limit = max(component.limit for component in statistic.components)
    # Where sums of so many rows would not fit, they are clamped, as those of private rows.
    question = Question(statistic, Rows(), None, "", min(_ROWS, max(_MOST // limit, 1)))
    statement = question.statement(View(engine.schema, engine.relation))
    (sums,) = engine.integers(statement, 1 + len(statistic.components))[:, 1:].tolist()
    return [np.array([_scaled(total, size) for total in sums], dtype=np.int64) for size in sizes]


def _scaled(total: int, size: int) -> int:
    return min(max(-_MOST, round(Fraction(total * size, _ROWS))), _MOST)


def _spread(measured: Measured, step: float) -> Array:
    lower, upper = float(measured.bounds.lower), float(measured.bounds.upper)
    places = (np.arange(_ROWS) + 0.5) * step % 1.0
    return np.asarray(lower + (upper - lower) * places, dtype=np.float64)
