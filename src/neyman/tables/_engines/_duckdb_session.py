"""Connections of DuckDB for statements: a private one, and one to a user's database."""

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
    """Open an in-memory database; its spilled rows go to a directory that is removed afterwards.

    Only the user can read the directory (mode 0700). By default DuckDB would write rows to `.tmp`
    in the working directory, which others may be able to read.

    Guarantee: no statement can open another file, network address or extension, see a variable of
        the program, or change these settings. Tables that Python registers can be read.

    Args:
        room: the memory limit, and the parent of the directory.
        files: the paths that a statement can read.

    Raises:
        InvalidTable: if DuckDB refuses a setting, with DuckDB's message. That is safe, because no
            row has been read yet.
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
    """Turn off the progress bar, because it reveals information about the rows.

    If it is off, nothing is set: in a notebook without ipywidgets, DuckDB refuses every statement
    about the bar.
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

    Rows, tables and functions are those of one moment. It sees no temporary objects, not even those
    of the user's connection.

    Guarantee: a name without a schema is DuckDB's own, for any macros and types of the databases.
    """
    with closing(host.cursor()) as cursor:
        cursor.execute("SET SESSION search_path = 'system.main'")
        cursor.execute("BEGIN TRANSACTION")
        yield cursor
