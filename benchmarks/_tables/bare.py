"""The shortest DuckDB that does the same by hand, without noise, rounding, or care of NaN."""

from pathlib import Path

__all__ = ["statement"]

_VALUE = "avg(greatest(-60, least(180, arr_delay)))"
_ROWS = {
    "count by carrier": "SELECT carrier, count(*) FROM {0} GROUP BY carrier",
    "count by dest": "SELECT dest, count(*) FROM {0} GROUP BY dest",
    "mean by dest": f"SELECT dest, {_VALUE} FROM {{0}} GROUP BY dest",
    "mean": f"SELECT {_VALUE} FROM {{0}}",
    "sum": "SELECT sum(least(5000, greatest(0, distance))) FROM {0}",
}
# At most 20 rows of a plane in a place and 200 in all, in the order of a digest.
_COUNT = """
WITH pairs AS (
    SELECT {unit} AS u, dest, least(20, count(*)) AS n FROM {file}
    WHERE {unit} IS NOT NULL GROUP BY ALL
), filled AS (
    SELECT dest, n, sum(n) OVER (PARTITION BY u ORDER BY {digest}(dest || ':' || u)) AS so_far
    FROM pairs
) SELECT dest, sum(greatest(0, least(n, 200 - so_far + n))) FROM filled GROUP BY dest"""
_MEAN = """
WITH chosen AS (
    SELECT {unit} AS u, dest, arr_delay FROM {file}
    WHERE {unit} IS NOT NULL AND arr_delay IS NOT NULL
    QUALIFY row_number() OVER (
        PARTITION BY u, dest ORDER BY {digest}(arr_delay || ':' || dest || ':' || u)
    ) <= 20
), kept AS (
    SELECT dest, arr_delay FROM chosen
    QUALIFY row_number() OVER (
        PARTITION BY u ORDER BY {digest}(u || ':' || dest || ':' || arr_delay)
    ) <= 200
) SELECT dest, {value} FROM kept GROUP BY dest"""


def statement(asked: str, unit: str, path: Path, digest: str) -> str:
    """Return the statement; of a unit's rows those are kept that come first by `digest`."""
    file = f"'{path}'"
    if not unit:
        return _ROWS[asked].format(file)
    text = _MEAN if asked.startswith("mean") else _COUNT
    return text.format(unit=unit, file=file, digest=digest, value=_VALUE)
