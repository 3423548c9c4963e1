"""Conversions to tables of other libraries."""

# pyarrow and pandas carry no types of their own.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

import json
from abc import ABC, abstractmethod
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from neyman.aggregate import Columns
from neyman.displayed import Displayed
from neyman.errors import InvalidParameter, MissingExtra

__all__ = ["Tabular", "arrow_columns", "pandas_frame", "read_parquet"]

# The key of the columns' record in the metadata of Arrow and pandas.
_PLACE: Final = "neyman.release"


def _arrow_table(columns: Columns, metadata: dict[str, object]) -> Any:
    """Return a `pyarrow.Table` with its metadata as JSON text.

    Raises:
        MissingExtra: if pyarrow is not installed.
    """
    return _pyarrow().table(dict(columns)).replace_schema_metadata({_PLACE: json.dumps(metadata)})


def arrow_columns(table: Any) -> tuple[Columns, object]:
    """Return the columns and the metadata of a table from `Tabular.to_arrow`.

    Raises:
        InvalidParameter: if it has no metadata.
    """
    known = getattr(getattr(table, "schema", None), "metadata", None) or {}
    written = known.get(_PLACE.encode())
    if written is None:
        raise InvalidParameter(
            "the table must carry the metadata of a release; got a "
            f"{type(table).__name__} without it. Write what Release.to_arrow or "
            "Release.to_parquet gives"
        )
    return table.to_pydict(), json.loads(written)


def pandas_frame(columns: Columns, metadata: dict[str, object]) -> Any:
    """Return a `pandas.DataFrame` with its metadata in `attrs`.

    Raises:
        MissingExtra: if pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtra(
            "to_pandas needs pandas, which is not installed; run pip install pandas"
        ) from error
    frame = pd.DataFrame(dict(columns))
    frame.attrs[_PLACE] = metadata
    return frame


def _polars_frame(columns: Columns) -> Any:
    """Return a `polars.DataFrame`.

    Raises:
        MissingExtra: if polars is not installed.
    """
    try:
        import polars as pl
    except ImportError as error:
        raise MissingExtra(
            "to_polars needs Polars, which is not installed; run pip install polars"
        ) from error
    return pl.DataFrame(dict(columns), strict=False)


def read_parquet(path: str | Path) -> Any:
    """Return the `pyarrow.Table` of a Parquet file.

    Raises:
        InvalidParameter: if it cannot be read.
        MissingExtra: if pyarrow is not installed.
    """
    pa = _pyarrow()
    from pyarrow import parquet

    try:
        return parquet.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise InvalidParameter(
            f"{path} cannot be read as Parquet; write the path that to_parquet wrote to"
        ) from error


def _write_parquet(table: Any, path: str | Path) -> None:
    """Write a `pyarrow.Table` to a Parquet file."""
    from pyarrow import parquet

    parquet.write_table(table, path)


def _pyarrow() -> ModuleType:
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingExtra(
            "an Arrow table needs pyarrow, which is not installed; run pip install 'neyman[tables]'"
        ) from error
    return pa


class Tabular(Displayed, ABC):
    """Columns of equal length, with a record of everything else."""

    __slots__ = ()

    @abstractmethod
    def framed(self) -> tuple[Columns, dict[str, object]]:
        """Return the columns, and their record for JSON."""

    def to_arrow(self) -> Any:
        """Return the columns as a `pyarrow.Table`, with everything else in its metadata.

        Raises:
            MissingExtra: if pyarrow is not installed.
        """
        return _arrow_table(*self.framed())

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """Pass the result of `to_arrow` to any library that uses Arrow's C interface.

        So `pyarrow.table(release)`, `polars.DataFrame(release)` and `duckdb.sql("FROM release")`
        have the same rows.

        Args:
            requested_schema: types that the library prefers, as a capsule.

        Raises:
            MissingExtra: if pyarrow is not installed.
        """
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:
        """Return the columns as a `pandas.DataFrame`, with everything else in its `attrs`.

        Raises:
            MissingExtra: if pandas is not installed.
        """
        return pandas_frame(*self.framed())

    def to_polars(self) -> Any:
        """Return the columns as a `polars.DataFrame`, which has nothing else.

        Raises:
            MissingExtra: if polars is not installed.
        """
        return _polars_frame(self.framed()[0])

    def to_parquet(self, path: str | Path) -> None:
        """Write `to_arrow()` to a Parquet file, including the metadata.

        Args:
            path: of the file.

        Raises:
            MissingExtra: if pyarrow is not installed.
        """
        _write_parquet(self.to_arrow(), path)
