"""A question of whatever can be counted at public nodes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from neyman.aggregate import (
    Aggregate,
    Countable,
    IntArray,
    Reading,
    refuse_key_names,
    repeated,
)
from neyman.digests import digest
from neyman.errors import InvalidParameter
from neyman.functional._imagined import ImaginedCounts
from neyman.nodes import Nodes
from neyman.sensitivity import Sensitivity

__all__ = ["NamedReading", "question_of"]

_MOST_INTEGERS: Final = 2**24


class NamedReading(Reading, Protocol):
    """A reading that says what its columns are called, and how many rows it has a group."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def rows(self) -> int: ...


def question_of(
    records: Countable,
    declared: Mapping[str, object],
    *,
    rule: object,
    axes: Sequence[Nodes],
    one: Sensitivity,
    size: int,
    reading: NamedReading,
    sums: Callable[[IntArray], IntArray],
    ends: bool = True,
) -> Aggregate:
    """Return the question, not yet computed.

    Args:
        records: private; they say who is protected and how much of one unit counts.
        declared: the statistic, its rules and what was declared: the public record, JSON-able.
        rule: what makes integers of counts; all that it holds tells this question from others.
        axes: of the places that records are counted at.
        one: how far one record moves the integers.
        size: how many integers, of each group.
        reading: how they are read.
        sums: from counts, shape (groups, places), to integers, shape (groups, size).
        ends: whether a value that is moved to the end of an axis counts otherwise than it is.

    Raises:
        InvalidParameter: if there are more than 2^24 integers.
        InvalidTable: if a key column is called like one of the answer.
    """
    groups = records.groups
    if size * groups > _MOST_INTEGERS:
        raise InvalidParameter(
            f"{groups} groups of {size} integers each were asked for; write fewer groups or a "
            "larger bandwidth or grid, at most 2^24 integers together"
        )
    refuse_key_names(records.keys, reading.names)
    counter, companion = records.counter(axes), records.companion(axes, ends=ends)

    def made(counts: IntArray) -> IntArray:
        return sums(counts.reshape(groups, -1)).reshape(-1)

    return Aggregate(
        query={
            **declared,
            "records": records.records,
            **records.describe(),
            "unit_records": records.unit_records,
            "computation": digest(counter.digest, rule),
        },
        source=records.source,
        unit=records.unit,
        sensitivity=records.bound(one),
        size=size * groups,
        reading=reading,
        compute=lambda: made(counter.count()),
        keys=repeated(records.keys, reading.rows),
        # Where the number of records is public, groups of other sizes would not be read rightly.
        companion=None if companion is None else companion.after(made),
        check=counter.check,
        imagined=(
            ImaginedCounts(records, tuple(axes), size, sums) if records.records is None else None
        ),
    )
