"""A private answer."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from neyman.aggregate import Columns
from neyman.released._frames import arrow_table, data_frame, write_parquet
from neyman.released._guarantee import Guarantee, Spending

__all__ = ["Release"]

_SHOWN = 20


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A private answer. Public: print it, store it, plot it.

    Attributes:
        entry: its id in the ledger.
        query: the question, as the ledger records it.
        mechanism: the noise, as the ledger records it.
        guarantee: of this release alone.
        spending: what it cost and what remains.
        confidence: of the noise intervals.
        columns: keys, values and noise intervals, columns of equal length.
        replayed: whether it was stored before and cost nothing this time.
    """

    entry: str
    query: Mapping[str, object]
    mechanism: Mapping[str, object]
    guarantee: Guarantee
    spending: Spending
    confidence: float
    columns: Columns
    replayed: bool

    def __str__(self) -> str:
        return self.to_text(rows=_SHOWN)

    def to_text(self, *, rows: int | None = None) -> str:
        """Return a table for people, with the guarantee and the cost.

        Args:
            rows: how many to show at most; None for all.
        """
        cells = [[_cell(cell) for cell in column] for column in self.columns.values()]
        length = max((len(column) for column in cells), default=0)
        shown = [list(self.columns), *zip(*(column[:rows] for column in cells), strict=True)]
        widths = [max(len(row[i]) for row in shown) for i in range(len(self.columns))]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in shown
        ]
        if rows is not None and length > rows:
            lines.append(f"... {length - rows} more rows; .columns holds them all")
        lines += [
            f"lower, upper: {100 * self.confidence:g} % noise interval (not sampling error)",
            f"guarantee: {self.guarantee.curve}, unit: {self.guarantee.unit} "
            f"({self.guarantee.neighbors})",
            f"entry {self.entry!r}: {self.spending}"
            + ("; stored before, free this time" if self.replayed else ""),
        ]
        return "\n".join(lines)

    def to_json(self) -> dict[str, object]:
        """Return everything, JSON-able; a number that is not finite is written as null."""
        return {
            "format": "neyman.release",
            "version": 1,
            "entry": self.entry,
            "query": dict(self.query),
            "mechanism": dict(self.mechanism),
            "guarantee": self.guarantee.to_json(),
            "spending": {
                "account": self.spending.account,
                "cost": str(self.spending.cost),
                "remaining": str(self.spending.remaining),
                "cap": str(self.spending.cap),
                "delta": str(self.spending.delta),
                "delta_remaining": str(self.spending.delta_remaining),
            },
            "confidence": self.confidence,
            "columns": {name: [_finite(x) for x in cells] for name, cells in self.columns.items()},
        }

    def to_arrow(self) -> Any:
        """Return the columns as a `pyarrow.Table`; all the rest is in its metadata.

        Raises:
            MissingExtra: if pyarrow is not installed.
        """
        record = self.to_json()
        del record["columns"]
        return arrow_table(self.columns, {"neyman.release": json.dumps(record)})

    def to_pandas(self) -> Any:
        """Return the columns as a `pandas.DataFrame`.

        Raises:
            MissingExtra: if pandas is not installed.
        """
        return data_frame(self.columns)

    def to_parquet(self, path: str | Path) -> None:
        """Write `to_arrow()` to a Parquet file, metadata included.

        Raises:
            MissingExtra: if pyarrow is not installed.
        """
        write_parquet(self.to_arrow(), path)


def _cell(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:.0f}" if 1e5 <= abs(value) < 1e15 else f"{value:.6g}"


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value
