"""Columns as other libraries hold them."""

# pyarrow and pandas carry no types of their own.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false

from pathlib import Path
from typing import Any

from neyman.aggregate import Columns
from neyman.errors import MissingExtra

__all__ = ["arrow_table", "data_frame", "write_parquet"]


def arrow_table(columns: Columns, metadata: dict[str, str]) -> Any:
    """Return a `pyarrow.Table`.

    Raises:
        MissingExtra: if pyarrow is not installed.
    """
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingExtra(
            "an Arrow table was asked for and pyarrow is not installed; "
            "run pip install 'neyman[tables]'"
        ) from error
    return pa.table(dict(columns)).replace_schema_metadata(metadata)


def data_frame(columns: Columns) -> Any:
    """Return a `pandas.DataFrame`.

    Raises:
        MissingExtra: if pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtra(
            "a pandas data frame was asked for and pandas is not installed; run pip install pandas"
        ) from error
    return pd.DataFrame(dict(columns))


def write_parquet(table: Any, path: str | Path) -> None:
    """Write a `pyarrow.Table` to a Parquet file."""
    from pyarrow import parquet

    parquet.write_table(table, path)
