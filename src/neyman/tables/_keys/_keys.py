"""The declared groups of an answer; the data do not affect them."""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import cast, final

import numpy as np

from neyman.aggregate import Columns, IntArray
from neyman.calls import plain_calls_of
from neyman.errors import InvalidTable
from neyman.tables._key import Key
from neyman.tables._keys._bins import Bins
from neyman.tables._keys._codes import coded, decoded, refuse_many
from neyman.tables._keys._domain import Domain
from neyman.tables._keys._key_mistakes import (
    parts_of,
    refuse_names,
    refuse_no_mapping,
    refuse_repeats,
)
from neyman.tables._keys._listed import Listed
from neyman.tables._keys._values import OTHER, Values

__all__ = ["Key", "Keys"]

_MOST = 10**6
_SHOWN = 1000


@plain_calls_of
@final
@dataclass(frozen=True, slots=True)
class Keys:
    """The groups of an answer: all of these, in this order, and no others.

    `Keys({"carrier": ["AA", "UA"], "month": [1, 2]})` has every combination, with the last column
    fastest. A column can be cut into `Bins`. `Keys.tuples` takes chosen combinations. Rows of other
    groups are dropped before contributions are limited. A declared group without rows is zero
    before noise. The key None is the group of rows without a value, and `other=True` adds a group
    of all other values (`Values` names both).

        a * b       every row of a with every row of b, with those of b fastest
        a | b       the rows of a, then those of b that are not in a
        a & b       the rows of a that are in b
        a - b       the rows of a that are not in b

    The last three need the same columns in the same order (`project` reorders them). Keys are equal
    if their columns, rows and order are equal.

    Attributes:
        columns: the grouping columns.
        domains: the places of each column.
        chosen: codes of the chosen combinations; None for all of them.

    >>> len(Keys({"carrier": ["AA", "UA"], "month": [1, 2, 3]}))
    6
    >>> Keys.tuples(("carrier", "month"), [("UA", 2), ("AA", 1)]).to_columns()
    {'carrier': ['UA', 'AA'], 'month': [2, 1]}
    >>> Keys({"delay": Bins([0, 15, 60], outside="drop")}).to_columns()
    {'delay_from': [0, 15], 'delay_to': [15, 60]}
    >>> (Keys({"month": [1, 2, 3]}) - Keys({"month": [2]})).rows()
    [(1,), (3,)]
    """

    columns: tuple[str, ...]
    domains: tuple[Domain, ...] = field(repr=False)
    chosen: tuple[int, ...] | None = field(repr=False)

    def __init__(
        self, domains: Mapping[str, Iterable[object] | Bins | Values], *, other: bool | str = False
    ) -> None:
        """Take every combination of the keys, or bins, of each column.

        Args:
            domains: for each column, keys (None for rows without a value), `Values` or `Bins`.
            other: whether each column of keys has one more group, for rows with any other value; or
                the name of that group.

        Raises:
            InvalidTable: if there is no key, a key repeats or is not whole, types are mixed, or
                there are more than 10^6 combinations.
        """
        refuse_no_mapping(domains)
        columns = tuple(domains)
        refuse_names(columns)
        rest = OTHER if other is True else other or None
        self._fill(columns, tuple(_domain(name, domains[name], rest) for name in columns), None)

    @classmethod
    def tuples(cls, columns: Sequence[str], keys: Iterable[Sequence[object]]) -> "Keys":
        """Return chosen combinations only, one tuple each, in the order of `columns`.

        Raises:
            InvalidTable: as for all combinations, or if a tuple has another length.
        """
        refuse_names(columns)
        rows = [parts_of(key) for key in keys]
        for row in rows:
            if len(row) != len(columns):
                raise InvalidTable(
                    f"the key {row!r} has {len(row)} parts for {len(columns)} columns; "
                    f"write one for each of {', '.join(columns)}"
                )
        full = [Listed.of(name, [row[i] for row in rows]) for i, name in enumerate(columns)]
        domains = tuple(domain for domain, _ in full)
        codes = coded(tuple(columns), domains, [np.array(places) for _, places in full])
        distinct, first = np.unique(codes, return_index=True)
        if len(distinct) < len(codes):
            again = np.setdiff1d(np.arange(len(codes)), first)[0]
            raise InvalidTable(
                f"{rows[again]!r} appears twice in the keys of {', '.join(columns)}; write it once"
            )
        return cls._of(tuple(columns), domains, codes)

    @classmethod
    def of_public(cls, source: object, *columns: str) -> "Keys":
        """Return the distinct keys of a PUBLIC table, sorted; it is read at once, without cost.

        Everybody who sees an answer sees these keys. So name a table without private rows, such as
        a list of airports. Rows with NULL in one of the columns are left out.

        Args:
            source: a mapping of columns to lists, the path of a .parquet or .csv file, a frame of
                pyarrow, pandas or Polars, or (connection, "table") of DuckDB.
            columns: one or more columns of text, integers, booleans or dates.

        Raises:
            InvalidTable: if the source or a column cannot be used, or there are no keys or more
                than 10^6.
            UnknownColumn: if the table does not have a column.
        """
        from neyman.tables._sources._public import PublicTable

        refuse_names(columns)
        return cls.tuples(columns, PublicTable.of(source).keys(columns, _MOST + 1))

    @classmethod
    def _of(cls, columns: tuple[str, ...], domains: tuple[Domain, ...], codes: IntArray) -> "Keys":
        """Return keys of distinct codes, in their canonical form."""
        if len(codes) == 0:
            raise InvalidTable(
                f"no keys of {', '.join(columns)} are left, and an answer has one group at least; "
                "leave the question out"
            )
        kept: list[Domain] = []
        places: list[IntArray] = []
        for domain, part in zip(domains, decoded(domains, codes), strict=True):
            used, first, inverse = np.unique(part, return_index=True, return_inverse=True)
            order = np.argsort(first)
            small = domain.only(used[order])
            kept.append(small)
            # Bins stay where they are; what is listed stands in the order of its appearance.
            places.append(part if small == domain else np.argsort(order)[inverse])
        found = coded(columns, kept, places)
        whole = len(found) == math.prod(map(len, kept))
        plain = whole and bool(np.array_equal(found, np.arange(len(found))))
        made = object.__new__(cls)
        made._fill(columns, tuple(kept), None if plain else tuple(found.tolist()))
        return made

    def _fill(
        self,
        columns: tuple[str, ...],
        domains: tuple[Domain, ...],
        chosen: tuple[int, ...] | None,
    ) -> None:
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "domains", domains)
        object.__setattr__(self, "chosen", chosen)
        refuse_repeats(self.names, "the columns of an answer")
        if len(self) > _MOST:
            raise InvalidTable(
                f"one query must have at most {_MOST} groups; got {len(self)}. Write fewer keys, "
                "or Keys.tuples with the combinations that matter"
            )
        refuse_many(columns, domains)

    @property
    def by_value(self) -> tuple[str, ...]:
        """The columns where each group has one value, not all values of a bin or all others."""
        pairs = zip(self.columns, self.domains, strict=True)
        return tuple(name for name, domain in pairs if domain.by_value)

    def __repr__(self) -> str:
        many = "group" if len(self) == 1 else "groups"
        return f"Keys({', '.join(map(repr, self.columns))}: {len(self)} {many})"

    def __len__(self) -> int:
        if self.chosen is not None:
            return len(self.chosen)
        return math.prod(map(len, self.domains))

    def __mul__(self, other: object) -> "Keys":
        if not isinstance(other, Keys):
            return NotImplemented
        both = sorted(set(self.columns) & set(other.columns))
        if both:
            raise InvalidTable(
                f"both factors of a product have the column {both[0]!r}; write | for the keys of "
                "either, & for those of both"
            )
        many = len(self) * len(other)
        if many > _MOST:
            raise InvalidTable(
                f"a product of {len(self)} and {len(other)} groups has {many}, and at most "
                f"{_MOST} are answered at once; write fewer keys"
            )
        span = math.prod(map(len, other.domains))
        columns, domains = self.columns + other.columns, self.domains + other.domains
        refuse_many(columns, domains)
        codes = np.add.outer(self.codes * span, other.codes).reshape(-1)
        return Keys._of(columns, domains, codes)

    def __or__(self, other: object) -> "Keys":
        if not isinstance(other, Keys):
            return NotImplemented
        domains, mine, theirs = self._with(other)
        more = theirs[np.isin(theirs, mine, invert=True)]
        return Keys._of(self.columns, domains, np.concatenate((mine, more)))

    def __and__(self, other: object) -> "Keys":
        if not isinstance(other, Keys):
            return NotImplemented
        domains, mine, theirs = self._with(other)
        return Keys._of(self.columns, domains, mine[np.isin(mine, theirs)])

    def __sub__(self, other: object) -> "Keys":
        if not isinstance(other, Keys):
            return NotImplemented
        domains, mine, theirs = self._with(other)
        return Keys._of(self.columns, domains, mine[np.isin(mine, theirs, invert=True)])

    def filter(self, predicate: Callable[[Mapping[str, object]], bool]) -> "Keys":
        """Return the rows for which `predicate({column: key, ...})` is true, in their order.

        A bin is a pair: `row["delay"].lower`, `row["delay"].upper`.

        Raises:
            InvalidTable: if no row is left.
        """
        names = self.columns
        kept = [bool(predicate(dict(zip(names, row, strict=True)))) for row in self._cells()]
        return Keys._of(names, self.domains, self.codes[np.array(kept)])

    def project(self, *columns: str) -> "Keys":
        """Return the distinct keys of some columns.

        If the keys have every combination, it has every combination of these columns, with the last
        one fastest. For chosen combinations, it has those that occur, in the order of first
        appearance.

        Raises:
            InvalidTable: if a column is not among them, or is named twice.
        """
        refuse_names(columns)
        for name in columns:
            if name not in self.columns:
                raise InvalidTable(
                    f"the keys have no column {name!r}; theirs are {', '.join(self.columns)}"
                )
        places = dict(zip(self.columns, self.places(), strict=True))
        found = dict(zip(self.columns, self.domains, strict=True))
        domains = tuple(found[name] for name in columns)
        if self.chosen is None:
            made = object.__new__(Keys)
            made._fill(columns, domains, None)
            return made
        codes = coded(columns, domains, [places[name] for name in columns])
        _, first = np.unique(codes, return_index=True)
        return Keys._of(columns, domains, codes[np.sort(first)])

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the key columns of an answer; a column in bins has two."""
        parts = zip(self.columns, self.domains, strict=True)
        return tuple(name for column, domain in parts for name in domain.names(column))

    @property
    def codes(self) -> IntArray:
        """Each group's place among all combinations of the domains."""
        if self.chosen is None:
            return np.arange(len(self))
        return np.array(self.chosen, np.int64)

    def places(self) -> tuple[IntArray, ...]:
        """Return the places of each group, one array for each column."""
        return decoded(self.domains, self.codes)

    def rows(self) -> list[tuple[object, ...]]:
        """Return the groups in their order: keys, or bins as pairs of edges."""
        return list(self._cells())

    def _cells(self) -> Iterator[tuple[object, ...]]:
        return self._of_each([domain.cells for domain in self.domains])

    def _of_each(self, lists: Sequence[Sequence[object]]) -> Iterator[tuple[object, ...]]:
        if self.chosen is None:
            return product(*lists)
        parts = zip(lists, self.places(), strict=True)
        return zip(*([cells[i] for i in place.tolist()] for cells, place in parts), strict=True)

    def _with(self, other: "Keys") -> tuple[tuple[Domain, ...], IntArray, IntArray]:
        """Return domains that cover both, and the codes of each in them."""
        if self.columns != other.columns:
            fix = f"write .project({', '.join(map(repr, self.columns))}) of the other"
            same = sorted(self.columns) == sorted(other.columns)
            raise InvalidTable(
                f"keys of {', '.join(self.columns)} and of {', '.join(other.columns)} are not of "
                f"the same columns in the same order; "
                + (fix if same else "write * for their product")
            )
        found: list[Domain] = []
        moved: list[IntArray] = []
        parts = zip(self.columns, self.domains, other.domains, other.places(), strict=True)
        for name, mine, theirs, place in parts:
            if mine.kind != theirs.kind:
                raise InvalidTable(
                    f"the keys of column {name!r} are {mine.kind} on one side and {theirs.kind} on "
                    "the other; write one type a column"
                )
            both = mine.joined(theirs, name)
            rank = {cell: i for i, cell in enumerate(both.cells)}
            found.append(both)
            moved.append(np.array([rank[cell] for cell in theirs.cells])[place])
        refuse_many(self.columns, found)
        return (
            tuple(found),
            coded(self.columns, found, self.places()),
            coded(self.columns, found, moved),
        )

    def to_columns(self) -> Columns:
        """Return one list for each column, dates as ISO text; bins have two, for their edges."""
        found: Columns = {}
        for name, domain, place in zip(self.columns, self.domains, self.places(), strict=True):
            found |= domain.columns(name, place)
        return found

    def describe(self) -> dict[str, object]:
        """Return the public record: the keys, or their digest if there are many.

        If there is a group of all other values and some keys are left out, the record lists those
        too, because their rows are not among the others.
        """
        record: dict[str, object] = {
            "columns": list(self.columns),
            "types": [domain.kind for domain in self.domains],
        }
        for name, domain in zip(self.columns, self.domains, strict=True):
            for word, told in domain.describe().items():
                cast("dict[str, object]", record.setdefault(word, {}))[name] = told
        for name, domain, place in zip(self.columns, self.domains, self.places(), strict=True):
            others = isinstance(domain, Listed) and domain.other is not None
            if others and len(np.unique(place)) < len(domain):
                cast("dict[str, object]", record.setdefault("listed", {}))[name] = domain.texts()
        rows = [list(row) for row in self._of_each([domain.texts() for domain in self.domains])]
        if len(rows) <= _SHOWN:
            return record | {"values": rows}
        digest = hashlib.sha256(json.dumps(rows).encode()).hexdigest()
        return record | {"count": len(rows), "sha256": digest}


def _domain(
    column: str, given: Iterable[object] | Bins | Values, other: str | None = None
) -> Domain:
    if isinstance(given, Bins):
        return given
    domain, places = Listed.of(column, given, other)
    refuse_repeats([domain.keys[i] for i in places], f"column {column!r}")
    return domain
