"""The synthetic rows of a preview: their number in a group, and what they add."""

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
    "SyntheticRows",
    "of_question",
    "refuse_unknown",
    "spreads_of",
]

# The numbers of rows of a preview without `records`.
_SIZES: Final = (100, 1_000, 10_000, 100_000)

BEST: Final = "at best"
# For functions, such as quantiles, rows in one place can do better.
EVENLY: Final = "spread evenly"
TYPICAL: Final = "typical"
WORST: Final = "at worst"
SPREAD: Final = "spread"
LIKE: Final = "like"

_MOST: Final = 2**62
# The worst rows are at both bounds, most at one of them; these are shares at the other.
_SHARES: Final = (0.0, *(2.0**-k for k in range(24, 0, -1)))


class Group(NamedTuple):
    """The number of rows of a group, and its label: "" if there is only one."""

    records: int
    label: str


@final
@dataclass(frozen=True, slots=True)
class SyntheticRows:
    """The synthetic rows of a question, for any noise.

    Attributes:
        aggregate: the question.
        groups: the groups of the preview.
        cases: what one row adds in each case, by name, with even rows first; if a case has several,
            its interval is the widest.
        like: a summary of the public rows, if some were given.
    """

    aggregate: Aggregate
    groups: tuple[Group, ...]
    cases: Mapping[str, tuple[Array, ...]]
    like: Likeness | None

    @property
    def answered(self) -> int:
        """The number of groups; 0 if they are not declared."""
        width = next((case[0].size for case in self.cases.values() if case), self.aggregate.size)
        return self.aggregate.size // width

    def integers(self, case: str, records: int) -> IntArray:
        """Return the integers of so many rows in a case, one group for each of its parts."""
        summed = np.rint(records * np.concatenate(self.cases[case]))
        return np.clip(summed, -_MOST, _MOST).astype(np.int64)


def of_question(
    aggregate: Aggregate,
    records: int | Sequence[int] | None,
    public: Public | None,
    spreads: Spreads,
    label: str = "the public table",
) -> SyntheticRows:
    """Return the synthetic rows of a question, and those of public data.

    Args:
        aggregate: the question.
        records: the number of rows of the table.
        public: a public table, or summaries of one.
        spreads: means and standard deviations by column; other columns are ignored.
        label: the label of the public rows.

    Raises:
        InvalidParameter: if a number of rows, a mean or a deviation is impossible.
        InvalidTable: if the question does not fit the public table.
    """
    known = None if public is None else likeness_of(aggregate, public, label)
    imagined = aggregate.imagined
    if imagined is None:
        return SyntheticRows(aggregate, _groups(0, records, known), {}, known)
    made = imagined.made_up({name: spreads[name] for name in imagined.columns if name in spreads})
    first = EVENLY if made.ends is None else BEST
    cases: dict[str, tuple[Array, ...]] = {first: (made.even,), TYPICAL: (made.typical,)}
    cases[WORST] = () if made.ends is None else tuple(_between(*made.ends))
    if made.spread is not None:
        cases[SPREAD] = (made.spread,)
    if known is not None:
        cases[LIKE] = (imagined.shaped(known.shape),)
    groups = aggregate.size // made.even.size
    return SyntheticRows(aggregate, _groups(groups, records, known), cases, known)


def spreads_of(spread: Mapping[str, tuple[Real, Real]]) -> Spreads:
    """Return checked means and standard deviations by column.

    Raises:
        InvalidParameter: if they are not pairs of finite numbers.
    """
    instead = 'a mean and a standard deviation by column, such as {"minutes": (35, 20)}'
    check_type("spread", spread, Mapping, instead)
    found: dict[str, tuple[float, float]] = {}
    for column, pair in spread.items():
        check_type(f"spread of {column!r}", pair, tuple | list, instead)
        if len(cast("Sequence[object]", pair)) != 2:
            raise InvalidParameter(
                f"spread of {column!r} must be a mean and a standard deviation; got {len(pair)} "
                f"numbers. Write {instead}"
            )
        mean, sd = (float(exact(part, f"spread of {column!r}")) for part in pair)
        found[column] = (mean, sd)
    return found


def _between(low: Array, high: Array) -> Iterator[Array]:
    for share in _SHARES:
        yield (1 - share) * low + share * high


def refuse_unknown(spread: Spreads, questions: Sequence[Aggregate]) -> None:
    """Refuse a column that no question uses.

    Raises:
        InvalidParameter: if there is one; the error names it.
    """
    imagined = [question.imagined for question in questions]
    columns = dict.fromkeys(name for one in imagined if one is not None for name in one.columns)
    for column in spread:
        if column not in columns:
            known = ", ".join(map(repr, columns)) or "none whose values matter"
            raise InvalidParameter(
                f"spread must have only columns of the question: {known}; got {column!r}. Write "
                "one of them, or leave it out"
            )


def _groups(
    groups: int, records: int | Sequence[int] | None, like: Likeness | None
) -> tuple[Group, ...]:
    """Return the groups of a preview for tables of so many rows: with `like` two of them."""
    if records is None:
        tables: Sequence[object] = _SIZES if like is None else [like.rows]
    elif isinstance(records, Sequence) and not isinstance(records, str):
        tables = records
    else:
        tables = [records]
    sizes = sorted({whole("records", size, 1, 2**53) for size in tables})
    if not sizes:
        raise InvalidParameter(
            "records must have at least one number of rows; got an empty list. Write one, such as "
            "records=1000"
        )
    return tuple(dict.fromkeys(group for size in sizes for group in _of_table(groups, size, like)))


def _of_table(groups: int, size: int, like: Likeness | None) -> Iterator[Group]:
    if like is None:
        # The number of undeclared groups is unknown, so the preview has one.
        label = f"each of {groups:,}" if groups > 1 else "" if groups else "one group"
        yield Group(max(1, size // max(groups, 1)), label)
        return
    shares, many = [share for share in like.groups if share], f"of {len(like.groups):,}"
    ends = {f"the smallest {many}": min(shares), f"the largest {many}": max(shares)}
    if len(set(shares)) == 1:
        ends = {f"each {many}" if len(shares) > 1 else "": shares[0]}
    for label, share in ends.items():
        yield Group(max(1, math.floor(size * like.kept * share + 0.5)), label)
