"""Timestamps of Arrow in microseconds without a zone; values out of range are NULL.

DuckDB fails to convert some, which would reveal information about the row. The result for a value
depends on that value only.
"""
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# pyright: reportAttributeAccessIssue=false

from typing import Any, Final

import numpy as np
import pyarrow as pa

__all__ = ["in_microseconds", "is_timestamp"]

_IN_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_MOST: Final = 2**62


def is_timestamp(type_: Any) -> bool:
    """Return whether a type is a timestamp, with or without a zone, in any unit."""
    return pa.types.is_timestamp(type_)


def in_microseconds(column: Any) -> Any:
    """Return a chunked array of timestamps in microseconds of UTC, rounded down.

    Values beyond 2^62 microseconds from 1970 are NULL.
    """
    unit = column.type.unit
    converted = [_converted(chunk, unit) for chunk in column.chunks]
    return pa.chunked_array(converted, type=pa.timestamp("us"))


def _converted(chunk: Any, unit: str) -> Any:
    if unit == "us":
        # Only the zone goes, which changes no value.
        return chunk.view(pa.timestamp("us"))
    values = chunk.view(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    known = chunk.is_valid().to_numpy(zero_copy_only=False)
    if unit == "ns":
        found = np.floor_divide(values, 1000)
        # DuckDB, which reads all other sources, takes these for infinities.
        known = known & (np.abs(values) != np.iinfo(np.int64).max)
    else:
        times = _IN_SECOND["us"] // _IN_SECOND[unit]
        inside = np.abs(values) <= _MOST // times
        # The least integer has no magnitude, and is beyond.
        known = known & inside & (values != np.iinfo(np.int64).min)
        found = np.where(known, values, 0) * times
    return pa.array(found, type=pa.timestamp("us"), mask=~known)
