"""A question of whatever can be counted at public nodes."""

from collections.abc import Callable, Mapping

from neyman.aggregate import Aggregate, Countable, IntArray, Reading
from neyman.sensitivity import Sensitivity

__all__ = ["asked"]


def asked(
    records: Countable,
    declared: Mapping[str, object],
    *,
    one: Sensitivity,
    size: int,
    reading: Reading,
    compute: Callable[[], IntArray],
) -> Aggregate:
    """Return the question, not yet computed.

    Args:
        records: private; they say who is protected and how much of one unit counts.
        declared: the statistic, its rules and what was declared: the public record, JSON-able.
        one: how far one record moves the integers.
        size: how many integers.
        reading: how they are read.
        compute: counts and adds up.
    """
    return Aggregate(
        query={**declared, "records": records.records, **records.describe()},
        source=records.source,
        unit=records.unit,
        sensitivity=records.bound(one),
        size=size,
        reading=reading,
        compute=compute,
    )
