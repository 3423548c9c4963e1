"""An exact integer answer that is not computed yet."""

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
    """Undeclared groups and their exact integers: all of it is private.

    Attributes:
        keys: of each group, a canonical text for each column.
        integers: of each group, shape (groups, width).
    """

    keys: tuple[KeyText, ...] = field(repr=False)
    integers: IntArray = field(repr=False)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownGroups:
    """The public part of a question with undeclared groups: everything except which groups exist.

    Attributes:
        parsers: by column, a function from a key's text to the key in the answer.
        width: how many integers a group has.
        count: the index of the integer that counts its rows, and so decides whether it is
            published.
        rows: how many rows of the answer a group has.
        find: runs the query; called only inside a release, after the charge.
    """

    parsers: Mapping[str, Callable[[str], str | int | bool]]
    width: int
    count: int
    rows: int
    find: Callable[[], FoundGroups] = field(repr=False)

    def place(self, key: KeyText) -> tuple[str | int | bool, ...]:
        """Return the sort key of a group: groups are in the order of their keys."""
        return tuple(parse(part) for parse, part in zip(self.parsers.values(), key, strict=True))

    def columns(self, keys: Sequence[KeyText]) -> Columns:
        """Return the keys of an answer's groups, as one list for each column."""
        parts = zip(*keys, strict=True) if keys else [()] * len(self.parsers)
        made = {
            name: [parse(text) for text in part]
            for (name, parse), part in zip(self.parsers.items(), parts, strict=True)
        }
        return repeated(cast("Columns", made), self.rows)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Companion:
    """Four integers beside a question: the effect of contribution limits and bounds on it.

    They are sums over units, in 1024ths: 1 for a unit that no limit cuts; for a unit that is cut,
    the share of its rows that is kept, and the share that is lost; and the share of its rows whose
    values the bounds moved. The question's own statement computes them too.

    Attributes:
        about: equal for questions with the same companion integers: for the same rows of one
            source, counted under the same limits.
        record: the public part, for JSON: the name of a unit, the limit and what it counts ("rows"
            or "groups", None if it can cut nothing), the least that is kept of a unit that is cut,
            and whether there are bounds.
        sensitivity: of the four integers to one unit: in units of 1, both l1 and l2 squared are 2.
        digest: of the statement that computes them, like that of a question's own integers.
        check: as for an `Aggregate`, of that statement.
        compute: runs the query. It returns the result of the question's own `compute` or
            `unknown.find`, and the four integers.
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
        """Return the companion of a question whose integers are computed from this one's."""

        def compute() -> tuple[IntArray, IntArray]:
            found, own = self.compute()
            return step(cast("IntArray", found)), own

        return replace(self, compute=compute)


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate(Displayed):
    """An exact integer answer that is not computed yet, with everything public about it.

    The integers are computed inside a release, after the charge. A query that is refused never
    touches the data, and one that has touched the data is always charged
    (docs/decisions/0001-lazy-aggregate.md).

    Attributes:
        query: public record of the question, for JSON; it identifies the entry. Its "computation"
            is a digest of the computation from rows to integers, derived from what will run. Two
            questions whose integers can differ have different records, whatever the rest contains.
        source: the dataset. Hidden, because a digest of private rows is not public.
        unit: the privacy unit, in words.
        sensitivity: of the integers to one unit.
        size: how many integers.
        reading: converts the noisy integers to columns.
        keys: of the groups, in the order of the integers; they come before the other columns. Empty
            if there are no groups.
        unknown: the undeclared groups, if any. Then `size` is 0, and `unknown.find` returns the
            keys and the integers of the groups that exist.
        sql: returns the text of the statement that is run, if there is one; public.
        imagined: rows for previews in place of the private ones. Public, because they do not depend
            on private rows.
        compute: runs the query; returns an int64 vector of length `size`.
        adaptive: the rounds that request noisy sums of the integers; None if noise is added to the
            integers themselves.
        companion: the effect of limits and bounds on the answer, if a unit can have several rows.
        check: checks before the charge that the query can still run as it was built, because an
            engine may have other functions by now. It reads no row.
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
        """Refuse a question without a privacy unit in words.

        Raises:
            InvalidParameter: if the unit is not text, or is empty.
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
        """How many integers are kept for an answer with declared groups."""
        if self.adaptive is None:
            return self.size
        return self.size // self.adaptive.nodes * self.adaptive.size

    def noised(self, integers: IntArray, noise: DrawnNoise) -> IntArray:
        """Return the integers to keep, with noise.

        Args:
            integers: exact; of one answer, or of several along the first axis.
            noise: the mechanism.
        """
        if self.adaptive is None:
            return noise.add_noise(integers)
        made = self.adaptive.drawn(integers.reshape(-1), noise)
        return made.reshape(*integers.shape[:-1], -1)

    def exactly(self, integers: IntArray, noise: Noise, confidence: float) -> Columns:
        """Return the columns of exact integers, as if all noise were 0.

        NOT private: for rows that are made up or public.
        """
        kept = integers if self.adaptive is None else self.adaptive.expected(integers, noise)
        return self.reading.columns(kept, noise, confidence)

    @property
    def count_weight(self) -> int | None:
        """How much one row adds to the count that selects a group; None for declared groups."""
        if self.unknown is None or self.imagined is None:
            return None
        return round(float(self.imagined.made_up({}).even[self.unknown.count]))


def repeated(keys: Columns, rows: int) -> Columns:
    """Return key columns for answers with this many rows for each group."""
    made = {name: [key for key in column for _ in range(rows)] for name, column in keys.items()}
    return cast("Columns", made)


def refuse_key_names(keys: Iterable[str], names: Collection[str]) -> None:
    """Refuse key columns whose names occur twice in an answer.

    Args:
        keys: their names.
        names: the names of the other columns of the answer.

    Raises:
        InvalidTable: if a name occurs twice; the message gives the first.
    """
    for name in keys:
        if name in names:
            raise InvalidTable(
                f"the grouping column {name!r} is called like a column of the answer; rename it"
            )
