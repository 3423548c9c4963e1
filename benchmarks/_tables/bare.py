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
# The first 10 places of a plane, and where it matters 20 rows of each, in the order of a digest.
_KEPT = """
WITH pairs AS (
    SELECT {unit} AS u, dest, count(*) AS n FROM {file} WHERE {unit} IS NOT NULL{known} GROUP BY ALL
), kept AS (
    SELECT u, dest, n FROM pairs
    QUALIFY row_number() OVER (PARTITION BY u ORDER BY {digest}(dest || ':' || u)) <= 10
)"""
_COUNT = "SELECT dest, sum(least(n, 20)) FROM kept GROUP BY dest"
_MEAN = """, chosen AS (
    SELECT kept.dest, arr_delay FROM {file} AS t JOIN kept ON t.{unit} = u AND t.dest = kept.dest
    WHERE arr_delay IS NOT NULL
    QUALIFY row_number() OVER (
        PARTITION BY u, kept.dest ORDER BY {digest}(arr_delay || ':' || kept.dest || ':' || u)
    ) <= 20
) SELECT dest, {value} FROM chosen GROUP BY dest"""


def statement(asked: str, unit: str, path: Path, digest: str) -> str:
    """Return the statement; of a unit's rows those are kept that come first by `digest`."""
    file = f"'{path}'"
    if not unit:
        return _ROWS[asked].format(file)
    by_rows = asked.startswith("mean")
    known = " AND arr_delay IS NOT NULL" if by_rows else ""
    text = _KEPT + (_MEAN if by_rows else _COUNT)
    return text.format(unit=unit, file=file, known=known, digest=digest, value=_VALUE)
