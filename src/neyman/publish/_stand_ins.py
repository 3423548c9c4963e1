"""Rows that stand for the private ones in a preview: how many in a group, and what they add."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, cast, final

import numpy as np

from neyman.aggregate import Aggregate, IntArray, Spreads
from neyman.arguments import check_type, whole
from neyman.errors import InvalidParameter
from neyman.numerics import Array, Real, exact
from neyman.publish._likeness import Likeness, Public, likeness_of

__all__ = [
    "BEST",
    "LIKE",
    "SPREAD",
    "TYPICAL",
    "WORST",
    "Group",
    "StandIns",
    "of_question",
    "refuse_unknown",
    "spreads_of",
]

# Rows of a table for which intervals are shown where no number is named.
_SIZES: Final = (100, 1_000, 10_000, 100_000)

BEST: Final = "at best"
# Of a function, such as quantiles, rows in one place can do better.
EVENLY: Final = "spread evenly"
TYPICAL: Final = "typical"
WORST: Final = "at worst"
SPREAD: Final = "spread"
LIKE: Final = "like"

_MOST: Final = 2**62
# The worst rows lie at both bounds, most of them at one: shares at the other.
_SHARES: Final = (0.0, *(2.0**-k for k in range(24, 0, -1)))


class Group(NamedTuple):
    """So many rows, and whose they are, for people: "" where there is one group."""

    records: int
    label: str


@final
@dataclass(frozen=True, slots=True)
class StandIns:
    """What a preview of a question is made of, whatever the noise.

    Attributes:
        aggregate: the question.
        groups: those that are shown.
        cases: by name, what one row adds, rows spread evenly first; of several the widest interval
            is that of the case.
        like: what the public rows are like, where some were given.
    """

    aggregate: Aggregate
    groups: tuple[Group, ...]
    cases: Mapping[str, tuple[Array, ...]]
    like: Likeness | None

    @property
    def answered(self) -> int:
        """How many groups there is an answer for; 0 where nobody declared them."""
        width = next((case[0].size for case in self.cases.values() if case), self.aggregate.size)
        return self.aggregate.size // width

    def integers(self, case: str, records: int) -> IntArray:
        """Return what so many rows of a case add up to, a group for each part of the case."""
        summed = np.rint(records * np.concatenate(self.cases[case]))
        return np.clip(summed, -_MOST, _MOST).astype(np.int64)


def of_question(
    aggregate: Aggregate,
    records: int | Sequence[int] | None,
    public: Public | None,
    spreads: Spreads,
    label: str = "the public table",
) -> StandIns:
    """Make rows up, and ask the public ones.

    Args:
        aggregate: the question.
        records: how many rows the table has.
        public: a public table, or what is known of one.
        spreads: by column; those of other questions are passed over.
        label: what the public rows are called.

    Raises:
        InvalidParameter: if a number of rows is none, or a mean or deviation impossible.
        InvalidTable: if the public table cannot be asked.
    """
    known = None if public is None else likeness_of(aggregate, public, label)
    imagined = aggregate.imagined
    if imagined is None:
        return StandIns(aggregate, _groups(0, records, known), {}, known)
    made = imagined.made_up({name: spreads[name] for name in imagined.columns if name in spreads})
    first = EVENLY if made.ends is None else BEST
    cases: dict[str, tuple[Array, ...]] = {first: (made.even,), TYPICAL: (made.typical,)}
    cases[WORST] = () if made.ends is None else tuple(_between(*made.ends))
    if made.spread is not None:
        cases[SPREAD] = (made.spread,)
    if known is not None:
        cases[LIKE] = (imagined.shaped(known.shape),)
    groups = aggregate.size // made.even.size
    return StandIns(aggregate, _groups(groups, records, known), cases, known)


def spreads_of(spread: Mapping[str, tuple[Real, Real]]) -> Spreads:
    """Check means and standard deviations by column.

    Raises:
        InvalidParameter: if they are no pairs of finite numbers.
    """
    instead = 'a mean and a standard deviation by column, such as {"minutes": (35, 20)}'
    check_type("spread", spread, Mapping, instead)
    found: dict[str, tuple[float, float]] = {}
    for column, pair in spread.items():
        check_type(f"spread of {column!r}", pair, tuple | list, instead)
        if len(cast("Sequence[object]", pair)) != 2:
            raise InvalidParameter(
                f"spread of {column!r} must be a mean and a standard deviation; {len(pair)} "
                f"numbers were given. Write {instead}"
            )
        mean, sd = (float(exact(part, f"spread of {column!r}")) for part in pair)
        found[column] = (mean, sd)
    return found


def _between(low: Array, high: Array) -> Iterator[Array]:
    for share in _SHARES:
        yield (1 - share) * low + share * high


def refuse_unknown(spread: Spreads, questions: Sequence[Aggregate]) -> None:
    """Refuse a column that none of the questions is about.

    Raises:
        InvalidParameter: naming it.
    """
    imagined = [question.imagined for question in questions]
    columns = dict.fromkeys(name for one in imagined if one is not None for name in one.columns)
    for column in spread:
        if column not in columns:
            known = ", ".join(map(repr, columns)) or "none whose values matter"
            raise InvalidParameter(
                f"spread must be of columns that are asked about: {known}; {column!r} was given. "
                "Write one of them, or leave it out"
            )


def _groups(
    groups: int, records: int | Sequence[int] | None, like: Likeness | None
) -> tuple[Group, ...]:
    """Return the groups to show for tables of so many rows: with `like`, smallest and largest."""
    if records is None:
        tables: Sequence[object] = _SIZES if like is None else [like.rows]
    elif isinstance(records, Sequence) and not isinstance(records, str):
        tables = records
    else:
        tables = [records]
    sizes = sorted({whole("records", size, 1, 2**53) for size in tables})
    if not sizes:
        raise InvalidParameter(
            "records must name at least one number of rows; an empty list was given. Write one, "
            "such as records=1000"
        )
    return tuple(dict.fromkeys(group for size in sizes for group in _of_table(groups, size, like)))


def _of_table(groups: int, size: int, like: Likeness | None) -> Iterator[Group]:
    if like is None:
        # Of groups that nobody declared it is not known how many there are: one is shown.
        label = f"each of {groups:,}" if groups > 1 else "" if groups else "one group"
        yield Group(max(1, size // max(groups, 1)), label)
        return
    shares, many = [share for share in like.groups if share], f"of {len(like.groups):,}"
    ends = {f"the smallest {many}": min(shares), f"the largest {many}": max(shares)}
    if len(set(shares)) == 1:
        ends = {f"each {many}" if len(shares) > 1 else "": shares[0]}
    for label, share in ends.items():
        yield Group(max(1, math.floor(size * like.kept * share + 0.5)), label)
