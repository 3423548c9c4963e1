"""What can be had as a table of other libraries."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from neyman.aggregate import Columns
from neyman.displayed import Displayed
from neyman.released._frames import arrow_table, pandas_frame, polars_frame, write_parquet

__all__ = ["Tabular"]


class Tabular(Displayed, ABC):
    """Columns of equal length, and a record of all the rest."""

    __slots__ = ()

    @abstractmethod
    def framed(self) -> tuple[Columns, dict[str, object]]:
        """Return the columns, and what is said of them, JSON-able."""

    def to_arrow(self) -> Any:
        """Return the columns as a `pyarrow.Table`; all the rest is in its metadata.

        Raises:
            MissingExtra: if pyarrow is not installed.
        """
        return arrow_table(*self.framed())

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """Hand over what `to_arrow` returns to any library that speaks Arrow's C interface.

        So `pyarrow.table(release)`, `polars.DataFrame(release)` and `duckdb.sql("FROM release")`
        hold the same rows.

        Args:
            requested_schema: types that the library would rather have, as a capsule.

        Raises:
            MissingExtra: if pyarrow is not installed.
        """
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:
        """Return the columns as a `pandas.DataFrame`; all the rest is in its `attrs`.

        Raises:
            MissingExtra: if pandas is not installed.
        """
        return pandas_frame(*self.framed())

    def to_polars(self) -> Any:
        """Return the columns as a `polars.DataFrame`, which holds nothing else.

        Raises:
            MissingExtra: if polars is not installed.
        """
        return polars_frame(self.framed()[0])

    def to_parquet(self, path: str | Path) -> None:
        """Write `to_arrow()` to a Parquet file, metadata included.

        Raises:
            MissingExtra: if pyarrow is not installed.
        """
        write_parquet(self.to_arrow(), path)
