"""An exact integer answer that has not been computed yet."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast, final

from neyman.aggregate._imagined import Imagined
from neyman.aggregate._readings import (
    Adaptive,
    Columns,
    DrawnNoise,
    IntArray,
    KeyText,
    Noise,
    Reading,
)
from neyman.arguments import check_type
from neyman.displayed import Displayed
from neyman.errors import InvalidParameter, InvalidTable
from neyman.printable import printable
from neyman.sensitivity import Sensitivity

__all__ = ["Aggregate", "Companion", "FoundGroups", "UnknownGroups", "refuse_key_names", "repeated"]


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
            of ("rows" or "groups", None where it can cut nothing), the least that is kept of a unit
            that is cut, and whether there are bounds.
        sensitivity: of the four integers to one unit: in units of 1 both l1 and l2 squared are 2.
        digest: of the statement that gives them, as that of a question's own integers.
        check: as of an `Aggregate`, of that statement.
        compute: runs the query; returns what its question's own `compute`, or `unknown.find`,
            gives, and the four integers.
    """

    about: str
    digest: str
    record: Mapping[str, object]
    sensitivity: Sensitivity
    check: Callable[[], None] = field(repr=False)
    compute: Callable[[], tuple["IntArray | FoundGroups", IntArray]] = field(repr=False)

    @property
    def tells(self) -> bool:
        """Whether limits can cut something, or bounds can move something."""
        return self.record["of"] is not None or bool(self.record["bounds"])

    def after(self, step: Callable[[IntArray], IntArray]) -> "Companion":
        """Return the same beside a question whose integers are made of this one's."""

        def compute() -> tuple[IntArray, IntArray]:
            found, own = self.compute()
            return step(cast("IntArray", found)), own

        return replace(self, compute=compute)


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate(Displayed):
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
        adaptive: the rounds in which noisy sums of the integers are asked for; None where noise is
            added to the integers themselves.
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
    adaptive: Adaptive | None = field(default=None, repr=False)
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
            raise InvalidParameter(f"unit must not be empty; write {instead}")

    def __repr__(self) -> str:
        return (
            f"Aggregate({printable(self.query.get('statistic'))}, unit={self.unit!r}, "
            f"sensitivity={self.sensitivity!r}, size={self.size})"
        )

    @property
    def kept(self) -> int:
        """How many integers are kept of an answer of declared groups."""
        if self.adaptive is None:
            return self.size
        return self.size // self.adaptive.nodes * self.adaptive.size

    def noised(self, integers: IntArray, noise: DrawnNoise) -> IntArray:
        """Return what is kept of exact integers, with noise.

        Args:
            integers: one answer's, or those of several, one after the other along the first axis.
            noise: the mechanism.
        """
        if self.adaptive is None:
            return noise.add_noise(integers)
        made = self.adaptive.drawn(integers.reshape(-1), noise)
        return made.reshape(*integers.shape[:-1], -1)

    def exactly(self, integers: IntArray, noise: Noise, confidence: float) -> Columns:
        """Return the columns of exact integers, read as if noise had happened to be 0.

        NOT private: for rows that are made up or public.
        """
        kept = integers if self.adaptive is None else self.adaptive.expected(integers, noise)
        return self.reading.columns(kept, noise, confidence)

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
