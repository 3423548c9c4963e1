"""Connections of DuckDB that statements run on: a private one, and one to a user's database."""

import tempfile
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager

import duckdb

from neyman.errors import InvalidTable
from neyman.tables._engines._room import Room

__all__ = ["own_session", "private_session"]

_CLOSED = {
    # No extension is fetched or loaded: Parquet is built in.
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    # No name in a statement stands for a variable of the program.
    "python_enable_replacements": False,
    "python_scan_all_frames": False,
}


@contextmanager
def private_session(
    room: Room, files: Sequence[str] = ()
) -> Generator[duckdb.DuckDBPyConnection, None, None]:
    """Open an in-memory database; what it spills goes to a directory of its own, then away.

    The directory is the user's alone (mode 0700). Left to itself DuckDB would write rows to `.tmp`
    in the working directory, which others may read.

    Guarantee: no statement opens another file, network address or extension, or sees a variable of
    the program, and no statement changes these settings. What Python registers is read.

    Args:
        room: memory, and where the directory is made.
        files: the paths that a statement may read.

    Raises:
        InvalidTable: if DuckDB refuses a setting. It says so in DuckDB's words, which are about the
            setting: no row has been read yet.
    """
    with tempfile.TemporaryDirectory(prefix="neyman-", dir=room.folder) as spill:
        settings: dict[str, str | bool | int | float | list[str]] = {
            **_CLOSED,
            "temp_directory": spill,
        }
        if room.counted is not None:
            settings["memory_limit"] = f"{room.counted}B"
        try:
            connection = duckdb.connect(":memory:", config=settings)
        except duckdb.Error as error:
            raise _refused(error) from error
        try:
            _close_off(connection, files, spill)
            yield connection
        finally:
            connection.close()


def _close_off(connection: duckdb.DuckDBPyConnection, files: Sequence[str], spill: str) -> None:
    try:
        _draw_no_progress(connection)
        for setting in (
            # The least and greatest values that a Parquet file tells of leave NaN out, and by them
            # the optimizer takes it for decided that no value is NaN.
            "SET disabled_optimizers = 'statistics_propagation'",
            f"SET allowed_paths = [{', '.join(map(_text, files))}]",
            f"SET allowed_directories = [{_text(spill)}]",
            "SET enable_external_access = false",
            "SET lock_configuration = true",
        ):
            connection.execute(setting)
    except duckdb.Error as error:
        raise _refused(error) from error


def _draw_no_progress(connection: duckdb.DuckDBPyConnection) -> None:
    """Have no progress bar drawn: how far a query is tells of the rows.

    Where none is drawn nothing is set: in a notebook without ipywidgets, DuckDB refuses every
    statement about its bar, also one that turns it off.
    """
    ((drawn,),) = connection.execute("SELECT current_setting('enable_progress_bar')").fetchall()
    if drawn:
        connection.execute("SET enable_progress_bar = false")


def _refused(error: duckdb.Error) -> InvalidTable:
    return InvalidTable(
        "DuckDB must take the settings that keep private rows in, and it refused one before any "
        f'row was read. It says: "{error}". Mend what it names, or install the version of DuckDB '
        "that neyman was tested with: pip install 'neyman[tables]'"
    )


def _text(path: str) -> str:
    return "'" + path.replace("'", "''") + "'"


@contextmanager
def own_session(
    host: duckdb.DuckDBPyConnection,
) -> Generator[duckdb.DuckDBPyConnection, None, None]:
    """Open a cursor of the user's connection, in a transaction that is rolled back at the end.

    All that is looked up through it is of one moment: rows, tables and functions. It has no
    temporary objects, those of the user's connection included.

    Guarantee: a name without a schema means what DuckDB itself means by it, whatever macros and
    types the databases have.
    """
    with closing(host.cursor()) as cursor:
        cursor.execute("SET SESSION search_path = 'system.main'")
        cursor.execute("BEGIN TRANSACTION")
        yield cursor
