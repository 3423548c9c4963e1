"""CSV by lines: the values of a line depend on the bytes of that line only.

A line ends at LF; a CR before it does not belong to it. A comma divides fields unless an odd number
of quotes precedes it in the line. A field that begins and ends with a quote loses both, and then
two quotes in a row are one quote. A line is not a row if it is empty, has an odd number of quotes,
has another number of fields than the header, or is longer than 1 MiB. A field that is empty or not
UTF-8 is NULL. No line raises an error, and no field has a line break.
"""
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# pyright: reportAttributeAccessIssue=false

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neyman.aggregate import IntArray
from neyman.errors import InvalidTable
from neyman.tables._sources._utf8 import in_utf8

__all__ = ["header", "tables"]

_LONGEST = 2**20
_BLOCK = 2**22
_BOM = b"\xef\xbb\xbf"
_LF, _CR, _QUOTE, _COMMA = b'\n\r",'


def header(path: str) -> tuple[str, ...]:
    """Return the names of the columns from the first line, by the same rules.

    Raises:
        InvalidTable: if it is not a row, is not UTF-8, or has control characters.
    """
    with Path(path).open("rb") as file:
        line = file.readline(_LONGEST + len(_BOM) + 1).removeprefix(_BOM)
    cut = _Cut.of(line if line.endswith(b"\n") else line + b"\n")
    names = cut.texts() if cut.sound[0] else ()
    if not names or any("\0" in name or not name.isprintable() for name in names):
        raise InvalidTable(
            f"the first line of the CSV file {Path(path).name!r} is no header; write the "
            "columns' names there, "
            "in UTF-8, separated by commas, and end lines with LF or CR LF"
        )
    return names


def tables(path: str, width: int, wanted: Sequence[int]) -> Iterator[Any]:
    """Yield the rows of `width` fields below the header: some columns, as Arrow tables."""
    with Path(path).open("rb") as file:
        skipped = 1
        for block in _blocks(file):
            yield _Cut.of(block).table(width, wanted, skipped)
            skipped = 0


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    """Yield whole lines; only the start of a line that is too long."""
    rest = file.read(len(_BOM)).removeprefix(_BOM)
    while read := file.read(_BLOCK):
        rest += read
        whole = rest.rfind(b"\n") + 1
        if whole:
            yield rest[:whole]
        rest = rest[whole:][: _LONGEST + 1]
    if rest:
        yield rest + b"\n"


@final
@dataclass(frozen=True, slots=True)
class _Cut:
    """The positions of the fields in some whole lines.

    Attributes:
        block: the lines.
        starts: the first byte of each field, without quotes around it.
        ends: the byte after the last of each field.
        last: index of the last field of each line.
        counts: number of fields of each line.
        sound: whether each line can be a row.
        quoted: whether there is a quote anywhere.
    """

    block: bytes
    starts: IntArray
    ends: IntArray
    last: IntArray
    counts: IntArray
    sound: npt.NDArray[np.bool_]
    quoted: bool

    @classmethod
    def of(cls, block: bytes) -> "_Cut":
        """Cut lines; the last one also ends in LF."""
        data = np.frombuffer(block, np.uint8)
        marks = np.flatnonzero((data == _COMMA) | (data == _LF) | (data == _QUOTE))
        kinds = data[marks]
        breaks, quotes = kinds == _LF, kinds == _QUOTE
        so_far = np.cumsum(quotes)
        inside = np.diff(so_far[breaks], prepend=0)
        before = (so_far[breaks] - inside)[np.cumsum(breaks) - breaks]
        divides = breaks | ((kinds == _COMMA) & ((so_far - before) % 2 == 0))
        ends = marks[divides]
        starts = np.concatenate(([0], ends[:-1] + 1))
        last = np.flatnonzero(breaks[divides])
        length = np.diff(ends[last], prepend=-1) - 1
        returns = (ends[last] > starts[last]) & (data[ends[last] - 1] == _CR)
        ends[last] -= returns
        sound = (inside % 2 == 0) & (length > returns) & (length <= _LONGEST)
        around = (ends - starts >= 2) & (data[starts] == _QUOTE) & (data[ends - 1] == _QUOTE)
        return cls(
            block=block,
            starts=starts + around,
            ends=ends - around,
            last=last,
            counts=np.diff(last, prepend=-1),
            sound=sound,
            quoted=bool(quotes.any()),
        )

    def texts(self) -> tuple[str, ...]:
        """Return the fields; none if the bytes are not UTF-8."""
        try:
            fields = [
                self.block[start:end].decode()
                for start, end in zip(self.starts.tolist(), self.ends.tolist(), strict=True)
            ]
        except UnicodeDecodeError:
            return ()
        return tuple(field.replace('""', '"') for field in fields)

    def table(self, width: int, wanted: Sequence[int], skipped: int) -> Any:
        """Return columns of the rows of `width` fields, without the first lines."""
        rows = np.flatnonzero(self.sound & (self.counts == width))
        first = self.last[rows[rows >= skipped]] - width + 1
        # Fields, and what lies between them, in turn: Arrow can point at both where they are.
        offsets = np.append(np.column_stack((self.starts, self.ends)).ravel(), len(self.block))
        buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(self.block)]
        parts = pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)
        empty = self.starts == self.ends
        columns: dict[str, Any] = {}
        for i in wanted:
            found = parts.take(_places(2 * (first + i), empty[first + i]))
            column = in_utf8(pa.chunked_array([found]))
            columns[f"c{i}"] = pc.replace_substring(column, '""', '"') if self.quoted else column
        return pa.table(columns)


def _places(values: IntArray, absent: npt.NDArray[np.bool_]) -> Any:
    """Return integers for Arrow, NULL if absent; `pa.array` would import pandas."""
    known = pa.py_buffer(np.packbits(~absent, bitorder="little"))
    whole = pa.py_buffer(np.ascontiguousarray(values, np.int64))
    return pa.Array.from_buffers(pa.int64(), len(values), [known, whole])
