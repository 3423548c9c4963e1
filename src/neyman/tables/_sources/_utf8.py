"""Text of Arrow that is not UTF-8 becomes NULL, value by value.

Arrow does not check the bytes of text, nor do programs that write Parquet with it. DuckDB does, and
fails on some, which would reveal information about the row. The result for a value depends on its
own bytes only.
"""
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# pyright: reportAttributeAccessIssue=false, reportUnknownLambdaType=false

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from neyman.tables._sources._timestamps import in_microseconds, is_timestamp

__all__ = ["in_utf8", "texts_of"]

# Values that are looked at one by one where any of so many is bad.
_FEW = 4096
_BLOCK = 2**14


def in_utf8(column: Any) -> Any:
    """Return a chunked array with NULL for text that is not UTF-8; a valid one unchanged.

    An entry that points beyond the values of its dictionary is also NULL.
    """
    if _sound(column):
        return column
    return pa.chunked_array([part for chunk in column.chunks for part in _parts(_plain(chunk))])


def texts_of(path: str, places: Mapping[int, str]) -> Iterator[Any]:
    """Yield columns of a Parquet file, block by block, with the number of each row as `n`.

    Args:
        path: path of the file.
        places: the positions of the columns, with their names in the result.
    """
    first = 0
    with pq.ParquetFile(path) as file:
        names = file.schema_arrow.names
        for block in file.iter_batches(_BLOCK, columns=[names[place] for place in places]):
            last = first + block.num_rows
            found = {
                called: _mended(pa.chunked_array([block.column(names[place])]))
                for place, called in places.items()
            }
            yield pa.table({"n": pa.array(range(first, last), pa.int64()), **found})
            first = last


def _mended(column: Any) -> Any:
    if not is_timestamp(column.type):
        return in_utf8(column)
    found = in_microseconds(column)
    # A zone stays: between the two types DuckDB converts by the zone of the machine.
    return found if column.type.tz is None else found.cast(pa.timestamp("us", "UTC"))


def _sound(array: Any) -> bool:
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _plain(array: Any) -> Any:
    """Return the plain values of any array encoding."""
    match array:
        case pa.ExtensionArray():
            return _plain(array.storage)
        case pa.DictionaryArray():
            values, at = _plain(array.dictionary), array.indices
            inside = pc.and_(pc.greater_equal(at, 0), pc.less(at, len(values)))
            return pa.concat_arrays(_parts(values)).take(pc.if_else(inside, at, None))
        case pa.RunEndEncodedArray():
            return pc.run_end_decode(array)
        case _:
            return array


def _parts(array: Any) -> Iterator[Any]:
    for start in range(0, max(len(array), 1), _FEW):
        part = array.slice(start, _FEW)
        yield part if _sound(part) else _read(part)


def _read(array: Any) -> Any:
    to_bytes = _BYTES.get(array.type)
    if to_bytes is None:
        return array
    return pa.array(map(_text, array.view(to_bytes).to_pylist()), type=array.type)


def _text(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None


_BYTES = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}
# From version 16 on.
if (_views := getattr(pa, "string_view", None)) is not None:
    _BYTES[_views()] = pa.binary_view()
