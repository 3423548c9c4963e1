"""What the rooms that see data hand to the door: exact integers with a typed sensitivity."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt

from neyman.arguments import check_type
from neyman.errors import InvalidParameter, InvalidTable
from neyman.nodes import Nodes
from neyman.sensitivity import Neighbors, Sensitivity

__all__ = [
    "COMPANION",
    "Aggregate",
    "Columns",
    "Companion",
    "Countable",
    "Counted",
    "Counter",
    "FoundGroups",
    "Imagined",
    "IntArray",
    "KeyText",
    "MadeUp",
    "Noise",
    "Reading",
    "Shape",
    "Spreads",
    "UnknownGroups",
    "refuse_key_names",
    "repeated",
]

# How many integers a companion has.
COMPANION: Final = 4

IntArray: TypeAlias = npt.NDArray[np.int64]
_Floats: TypeAlias = npt.NDArray[np.float64]
Columns: TypeAlias = dict[str, list[str] | list[int] | list[float] | list[bool]]


KeyText: TypeAlias = tuple[str, ...]
"""The key of a group that nobody declared: a canonical text for each column."""

Spreads: TypeAlias = Mapping[str, tuple[float, float]]
"""By column, a public guess of its mean and standard deviation, in its own units."""

Shape: TypeAlias = Mapping[str, Sequence[float]]
"""What the rows of a group are like, JSON-able: made by `Imagined.counted`, read by `shaped`."""


class Noise(Protocol):
    """What is known in public of the noise added to each integer, in lattice units."""

    @property
    def stddev(self) -> float:
        """Standard deviation of the noise on one integer."""
        ...

    @property
    def normal(self) -> bool:
        """Whether sums of it are normal, but for rounding."""
        ...

    def half_width(self, confidence: float) -> int:
        """Smallest integer h with P(|noise| <= h) >= confidence."""
        ...

    def ratio_interval(
        self, numerator: int, denominator: int, confidence: float
    ) -> tuple[float, float]:
        """Every s/n that the noisy pair does not reject at this confidence, as one interval.

        s and n are the integers before noise; the ends are infinite where the noisy
        denominator does not tell n from 0.
        """
        ...

    def radius(self, rank: int, size: int, confidence: float) -> float:
        """R with P(|P K| <= R) >= confidence, K the noise on `size` integers.

        P is any fixed orthogonal projection of this rank.
        """
        ...


class Reading(Protocol):
    """How public noisy integers become the columns that a person reads. Post-processing."""

    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        """Return named columns of equal length: values and noise intervals, group by group."""
        ...


@final
@dataclass(frozen=True, slots=True)
class Counter:
    """What counts private records at public nodes.

    Attributes:
        digest: of all that decides which record counts where, derived from what will run.
        count: gives one count for each place, int64, group by group, the last axis running fastest.
            The data are read when it is called, not before.
        check: as of an `Aggregate`.
    """

    digest: str
    count: Callable[[], IntArray] = field(repr=False)
    check: Callable[[], None] = field(default=lambda: None, repr=False)


class Countable(Protocol):
    """Private records with one or more numbers each, which can be counted at public nodes.

    An array in memory, or columns of a table: whoever asks for a function of the counts need not
    know which.
    """

    @property
    def source(self) -> str:
        """What stands for the records in the ledger: the `source` of an `Aggregate`."""
        ...

    @property
    def unit(self) -> str:
        """Who is protected, in words."""
        ...

    @property
    def neighbors(self) -> Neighbors:
        """The neighbouring relation."""
        ...

    @property
    def records(self) -> int | None:
        """Their number where it is public, under replace_one."""
        ...

    @property
    def whole(self) -> tuple[bool, ...]:
        """Of each of their numbers, whether its declared type has whole ones only."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """What each of their numbers is called."""
        ...

    @property
    def groups(self) -> int:
        """In how many groups they are counted apart; 1 where there is one of all."""
        ...

    @property
    def keys(self) -> Columns:
        """The public keys of the groups, in order; empty where there is one group of all."""
        ...

    @property
    def unit_records(self) -> int:
        """Most records of one unit that count in one group; they may all be alike."""
        ...

    def bound(self, one: Sensitivity) -> Sensitivity:
        """Return how far a unit moves what one record moves so far."""
        ...

    def describe(self) -> dict[str, object]:
        """Return what is public about them, JSON-able: a part of the query's record."""
        ...

    def like(self, public: object) -> "tuple[Countable, int, bool]":
        """Return public rows to be counted in the same way.

        Args:
            public: a table, as `open_table` gives it.

        Returns:
            The rows, how many there are before filters, and whether limits of a unit apply.

        Raises:
            InvalidParameter: if these are the private records, or are in arrays.
            InvalidTable: if the rows cannot be made in the steps of the private ones.
            UnknownColumn: if it lacks a column.
        """
        ...

    def companion(self, axes: Sequence[Nodes], *, ends: bool) -> "Companion | None":
        """Return what counts them and tells what limits did; None where a unit has one record.

        Args:
            axes: as of `counter`.
            ends: whether to tell of values that are moved to the ends of an axis, too.
        """
        ...

    def counter(self, axes: Sequence[Nodes]) -> Counter:
        """Return what counts them.

        Args:
            axes: one for each number. A record at no node of some axis counts for nothing.
        """
        ...


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MadeUp:
    """What one row adds to the integers of its group, on average over rows that are made up.

    Attributes:
        even: rows spread evenly over the bounds, columns independent: the best case.
        typical: skewed rows; each column has mean and standard deviation at 5 % of its range.
        spread: rows of the means and standard deviations that were given; None without any.
        ends: of rows that all lie at the lower bounds, and at the upper ones, between which the
            worst case of a mean or a variance lies; None where they say nothing.
    """

    even: _Floats
    typical: _Floats
    spread: _Floats | None
    ends: tuple[_Floats, _Floats] | None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What a question finds in public rows.

    Attributes:
        source: which dataset they are.
        rows: how many there are, before filters and limits.
        kept: how many of them count, in each group.
        limited: whether limits of a unit were applied, or each row counts as a unit.
        shape: what those are like.
    """

    source: str
    rows: int
    kept: tuple[int, ...]
    limited: bool
    shape: Shape


class Imagined(Protocol):
    """Rows that stand for the private ones in a preview: made up, or public. No row is private."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns whose values matter."""
        ...

    def made_up(self, spreads: Spreads) -> MadeUp:
        """Return what made-up rows add.

        Raises:
            InvalidParameter: if no values between the bounds have such a mean and deviation.
        """
        ...

    def counted(self, public: object) -> Counted:
        """Ask the question of a public table, as `open_table` gives it, under its own limits.

        Raises:
            InvalidParameter: if it holds the private rows, or no row of it counts.
            InvalidTable: if its rows cannot be made in the steps of the private ones.
            UnknownColumn: if it lacks a column.
        """
        ...

    def shaped(self, shape: Shape) -> _Floats:
        """Return what one row adds on average, of rows that `counted` found to be like this.

        Raises:
            InvalidParameter: if it is the shape of another question.
        """
        ...


@final
@dataclass(frozen=True, slots=True)
class FoundGroups:
    """Groups that nobody declared, and their exact integers: private, all of it.

    Attributes:
        keys: of each group, a canonical text for each column.
        integers: of each group, shape (groups, width).
    """

    keys: tuple[KeyText, ...] = field(repr=False)
    integers: IntArray = field(repr=False)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownGroups:
    """What is public of groups that nobody declared: all but which there are.

    Attributes:
        parsers: by column, what makes of a key's text the key that people read.
        width: how many integers a group has.
        count: which of them counts its rows, and so decides whether it is shown.
        rows: how many rows of the answer a group has.
        find: runs the query; called inside the door, after the charge.
    """

    parsers: Mapping[str, Callable[[str], str | int | bool]]
    width: int
    count: int
    rows: int
    find: Callable[[], FoundGroups] = field(repr=False)

    def place(self, key: KeyText) -> tuple[str | int | bool, ...]:
        """Return where a group comes in the answer: in the order of its keys."""
        return tuple(parse(part) for parse, part in zip(self.parsers.values(), key, strict=True))

    def columns(self, keys: Sequence[KeyText]) -> Columns:
        """Return the keys of an answer's groups, a list for each column."""
        parts = zip(*keys, strict=True) if keys else [()] * len(self.parsers)
        made = {
            name: [parse(text) for text in part]
            for (name, parse), part in zip(self.parsers.items(), parts, strict=True)
        }
        return repeated(cast("Columns", made), self.rows)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Companion:
    """Four integers beside a question, which tell what contribution limits and bounds did to it.

    They are summed over units, in 1024ths: 1 of a unit that no limit cuts; of one that is cut the
    part of its rows that is kept, and the part that is lost; and the part of its rows whose values
    bounds moved. The same statement gives them.

    Attributes:
        about: equal for questions whose companions are the same integers: of the same rows of one
            source, counted under the same limits.
        record: what is public of them, JSON-able: what a unit is called, the limit and what it is
            of ("rows" or "groups"), the least that is kept of a unit that is cut, and whether there
            are bounds.
        sensitivity: of the four integers to one unit: in units of 1 both l1 and l2 squared are 2.
        compute: runs the query; returns what its question's own `compute`, or `unknown.find`,
            gives, and the four integers.
    """

    about: str
    record: Mapping[str, object]
    sensitivity: Sensitivity
    compute: Callable[[], tuple["IntArray | FoundGroups", IntArray]] = field(repr=False)

    def after(self, step: Callable[[IntArray], IntArray]) -> "Companion":
        """Return the same beside a question whose integers are made of this one's."""

        def compute() -> tuple[IntArray, IntArray]:
            found, own = self.compute()
            return step(cast("IntArray", found)), own

        return replace(self, compute=compute)


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """An exact integer answer that has not been computed yet, and all that is public about it.

    The integers are computed inside the door, after the charge: a query that is refused never
    touches the data, and one that has touched the data is always charged
    (docs/decisions/0001-lazy-aggregate.md).

    Attributes:
        query: public record of the question, JSON-able, and the entry's identity. Under
            "computation" it holds a digest of what makes integers of rows, derived from what will
            run: two questions whose integers can differ have two records, whatever the rest says.
        source: which dataset it is asked of. Hidden: a digest of private rows is not public.
        unit: who is protected, in words.
        sensitivity: of the integers to one unit.
        size: how many integers.
        reading: turns the noisy integers into columns.
        keys: of the groups, in the order of the integers; put before the reading's columns. Empty
            where there is one group of all.
        unknown: the groups, where nobody declared them: `compute` then returns the integers of as
            many as there are, `size` is 0, and `unknown.find` gives the keys with them.
        sql: gives the text of the statement that is run, where there is one; public.
        imagined: rows that stand for the private ones in previews. Public, for no private row has
            a part in it.
        compute: runs the query; returns an int64 vector of length `size`.
        companion: tells what limits and bounds did to the answer, where a unit can have several
            rows.
        check: looks once more, before the charge, whether the query can be run as it was built: an
            engine may have other functions by now. No row is read.
    """

    query: Mapping[str, object]
    source: str = field(repr=False)
    unit: str
    sensitivity: Sensitivity
    size: int
    reading: Reading = field(repr=False)
    compute: Callable[[], IntArray] = field(repr=False)
    keys: Columns = field(default_factory=Columns, repr=False)
    sql: Callable[[], str] | None = field(default=None, repr=False)
    unknown: UnknownGroups | None = field(default=None, repr=False)
    imagined: Imagined | None = field(default=None, repr=False)
    companion: Companion | None = field(default=None, repr=False)
    check: Callable[[], None] = field(default=lambda: None, repr=False)

    def __post_init__(self) -> None:
        """Refuse a question that protects nobody in words.

        Raises:
            InvalidParameter: if the unit is no text, or empty.
        """
        instead = 'who is protected, in the words of the ledger, such as "one patient"'
        check_type("unit", self.unit, str, instead)
        if not self.unit:
            raise InvalidParameter(f"unit of 0 characters was given; write {instead}")

    @property
    def count_weight(self) -> int | None:
        """How much one row adds to the count that a group is shown by; None of declared groups."""
        if self.unknown is None or self.imagined is None:
            return None
        return round(float(self.imagined.made_up({}).even[self.unknown.count]))


def repeated(keys: Columns, rows: int) -> Columns:
    """Return key columns for answers that have so many rows a group."""
    made = {name: [key for key in column for _ in range(rows)] for name, column in keys.items()}
    return cast("Columns", made)


def refuse_key_names(keys: Iterable[str], names: Collection[str]) -> None:
    """Refuse key columns that would stand twice in an answer.

    Args:
        keys: what they are called.
        names: what the columns of the reading are called.

    Raises:
        InvalidTable: naming the first.
    """
    for name in keys:
        if name in names:
            raise InvalidTable(
                f"the grouping column {name!r} is called like a column of the answer; rename it"
            )
