"""Questions about records that can be counted at public nodes, and their previews."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, final

import numpy as np

from neyman.aggregate import (
    Adaptive,
    Aggregate,
    Countable,
    Counted,
    IntArray,
    MadeUp,
    Reading,
    Shape,
    Spreads,
    refuse_key_names,
    repeated,
)
from neyman.digests import digest
from neyman.errors import InvalidParameter
from neyman.nodes import Nodes
from neyman.numerics import TYPICAL, Array, Between
from neyman.sensitivity import Sensitivity

__all__ = ["ImaginedCounts", "NamedReading", "question_of"]

_MOST_INTEGERS: Final = 2**24
# So many records are divided over the places: a part of one is not lost.
_RECORDS: Final = 2**36
# Of a function of one number, the quantiles that are kept of public records.
_QUANTILES: Final = 200
# Of one of several numbers its integers are kept, where they are no more than these.
_MOST_SUMS: Final = 4096
_DIGITS: Final = 12


class NamedReading(Reading, Protocol):
    """A reading with the names of its columns and the number of rows of a group."""

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
    adaptive: Adaptive | None = None,
) -> Aggregate:
    """Return the question, not yet computed.

    Args:
        records: private; they know the privacy unit and the contribution limit.
        declared: the public record for JSON: the statistic, its rules and its arguments.
        rule: the map from counts to integers; its fields distinguish this question from others.
        axes: the axes of the places at which records are counted.
        one: the sensitivity of the integers to one record.
        size: the number of integers of each group.
        reading: the columns of the answer.
        sums: the map from counts, shape (groups, places), to integers, shape (groups, size).
        ends: whether a value that is moved to the end of an axis changes the answer.
        adaptive: the rounds of an adaptive question; None for others.

    Raises:
        InvalidParameter: if there are more than 2^24 integers.
        InvalidTable: if a key column has the name of a column of the answer.
    """
    groups = records.groups
    if size * groups > _MOST_INTEGERS:
        raise InvalidParameter(
            f"all groups together must have at most 2^24 integers; got {groups} groups of {size}. "
            "Write fewer groups, or a larger bandwidth or grid"
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
        adaptive=adaptive,
        keys=repeated(records.keys, reading.rows),
        # Where the number of records is public, groups of other sizes would not be read rightly.
        companion=None if companion is None else companion.after(made),
        check=counter.check,
        imagined=(
            ImaginedCounts(records, tuple(axes), size, sums) if records.records is None else None
        ),
    )


@final
@dataclass(frozen=True, slots=True)
class ImaginedCounts:
    """Imagined records of a question that counts at public nodes, for previews.

    Attributes:
        records: the private records, which are not counted.
        axes: the axes of the places.
        size: the number of integers of a group.
        sums: the map from counts, shape (1, places), to integers, shape (1, size).
    """

    records: Countable = field(repr=False)
    axes: tuple[Nodes, ...]
    size: int
    sums: Callable[[IntArray], IntArray] = field(repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the numbers of a record."""
        return self.records.names

    def made_up(self, spreads: Spreads) -> MadeUp:
        """Divide records over the places; the numbers of a record are independent."""
        places = math.prod(axis.number for axis in self.axes)
        guessed = [
            Between.of(name, *axis.spread(*spreads[name]), axis.start, axis.end)
            if name in spreads
            else TYPICAL
            for name, axis in zip(self.columns, self.axes, strict=True)
        ]
        typical = self._divided([TYPICAL] * len(self.axes))
        named = any(name in spreads for name in self.columns)
        return MadeUp(
            even=self._of(np.ones(places, np.int64)),
            typical=typical,
            spread=self._divided(guessed) if named else None,
            ends=None,
        )

    def counted(self, public: object) -> Counted:
        """Count public records: keep the quantiles of one number, or the sums of several."""
        alike, rows, limited = self.records.like(public)
        counts = alike.counter(self.axes).count().reshape(alike.groups, -1)
        together = counts.sum(axis=0)
        if not together.any():
            raise InvalidParameter(
                "a row of the public table must count in the question; none does. Write a table "
                "with rows in its groups, whose values are known"
            )
        return Counted(
            source=alike.source,
            rows=rows,
            kept=tuple(counts.sum(axis=1).tolist()),
            limited=limited,
            shape=self._shape(together),
        )

    def shaped(self, shape: Shape) -> Array:
        """Return the average contribution of one record."""
        last = math.prod(axis.number for axis in self.axes) - 1
        if "nodes" in shape:
            nodes = np.array(shape["nodes"])
            rising = nodes.size == _QUANTILES + 1 and bool(np.all(np.diff(nodes) >= 0))
            if rising and nodes[0] >= 0 and nodes[-1] <= last and len(self.axes) == 1:
                return self._of(_counts(nodes.astype(np.int64), last + 1))
        one = np.array(shape.get("one_row", ()), dtype=np.float64)
        if one.size != self.size or not np.all(np.isfinite(one)) or len(self.axes) == 1:
            raise InvalidParameter(
                "like must hold the quantiles or sums of this question; got those of another one. "
                "Write publish.likeness(question, table)"
            )
        return one

    def _shape(self, counts: IntArray) -> Shape:
        if len(self.axes) == 1:
            return {"nodes": tuple(_quantiles(counts).tolist())}
        if self.size > _MOST_SUMS:
            raise InvalidParameter(
                f"a likeness of a function of several columns can hold {_MOST_SUMS} integers; this "
                f"one has {self.size}. Leave like= out, or write a larger bandwidth"
            )
        return {"one_row": tuple(float(f"{mean:.{_DIGITS}g}") for mean in self._of(counts))}

    def _divided(self, laws: list[Between]) -> Array:
        shares = np.ones(1)
        for law, axis in zip(laws, self.axes, strict=True):
            shares = np.multiply.outer(shares, _at_nodes(law, axis)).reshape(-1)
        return self._of(np.rint(_RECORDS * shares).astype(np.int64))

    def _of(self, counts: IntArray) -> Array:
        return self.sums(counts[np.newaxis]).reshape(-1) / float(counts.sum())


def _at_nodes(law: Between, axis: Nodes) -> Array:
    """Return the share of values at each node; values beyond the outermost nodes count there."""
    places = np.arange(1, axis.inside, dtype=np.float64) - 0.5
    below = law.below(np.float64(axis.step / (axis.end - axis.start)) * places)
    found = np.diff(np.concatenate([np.zeros(1), below, np.ones(1)]))
    return np.concatenate([found, np.zeros(axis.number - axis.inside)])


def _quantiles(counts: IntArray) -> IntArray:
    """Return the nodes of the quantiles 0, 1/200, ..., 1 of the records."""
    reached = np.asarray(np.cumsum(counts), dtype=np.int64)
    ranks = np.maximum(np.arange(_QUANTILES + 1) * (reached[-1] / _QUANTILES), 0.5)
    found = np.asarray(np.searchsorted(reached, ranks), dtype=np.int64)
    return np.minimum(found, len(counts) - 1)


def _counts(nodes: IntArray, places: int) -> IntArray:
    """Return counts with these quantiles: uniform between two of them, heaped if they are equal."""
    counts = np.zeros(places)
    each = _RECORDS / _QUANTILES
    for low, high in zip(nodes[:-1].tolist(), nodes[1:].tolist(), strict=True):
        first = min(low + 1, high)
        counts[first : high + 1] += each / (high + 1 - first)
    return np.rint(counts).astype(np.int64)
