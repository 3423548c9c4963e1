"""A question as the ledger recorded it: the one reader of such records.

A record can come from a file that somebody else wrote. What does not stand in it as it should is
read as if it were not there.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, cast, final

from neyman.numerics import rational

__all__ = ["RecordedColumn", "RecordedGroups", "RecordedQuestion", "RecordedUnit", "group_name"]

_AMOUNTS: Final = ("count", "count_units", "crosstab", "sum", "sum_per_unit")
# Answers that a unit adds to once in each group.
_PER_UNIT: Final = ("count_units", "mean_per_unit", "sum_per_unit")
_ENDS: Final = ("_from", "_to")

# A word that a regular plural can be made of, alone or after others: "patient", "user_id".
_REGULAR: Final = re.compile(r"[A-Za-z_ ]*[A-Za-z][a-rt-z]")
_SIBILANT: Final = re.compile(r".*(?:x|z|ch|sh)")
_IES: Final = re.compile(r".*[^aeiou]y")
_IRREGULAR: Final = {
    "child": "children", "man": "men", "person": "people", "wife": "wives", "woman": "women",
}  # fmt: skip
# No nouns, plurals that do not look it, and words that have none.
_NO_PLURAL: Final = frozenset(
    ["who", "whom", "children", "data", "men", "people", "personnel", "police", "staff", "women"]
)


def _record(written: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", written) if isinstance(written, Mapping) else {}


def _list(written: object) -> list[object]:
    return list(cast("list[object]", written)) if isinstance(written, list | tuple) else []


def _texts(written: object) -> tuple[str, ...]:
    return tuple(map(str, _list(written)))


def _whole(written: object) -> int | None:
    return written if isinstance(written, int) else None


@final
@dataclass(frozen=True, slots=True)
class RecordedColumn:
    """A column of a table, with its bounds if it has some."""

    record: Mapping[str, object]

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.record.get("column"))

    @property
    def bounds(self) -> tuple[Fraction, Fraction] | None:
        """Lower and upper bound."""
        found = [rational(end) for end in _list(self.record.get("bounds"))]
        known = [end for end in found if end is not None]
        return (known[0], known[1]) if len(known) == len(found) == 2 else None


def _term(written: object) -> RecordedColumn:
    return RecordedColumn(_record(written) or {"column": written})


@final
@dataclass(frozen=True, slots=True)
class RecordedUnit:
    """Who is protected, and how much of one counts."""

    record: Mapping[str, object]

    @property
    def entity(self) -> str | None:
        """The column that names the units; None where each row is one."""
        entity = self.record.get("entity")
        return entity if isinstance(entity, str) else None

    @property
    def through(self) -> object:
        """The tables that rows find their unit by."""
        return self.record.get("through")

    @property
    def max_rows(self) -> int | None:
        """The most rows of one that count, all groups together."""
        return _whole(self.record.get("max_rows"))

    @property
    def max_rows_per_group(self) -> int | None:
        """The most rows of one that count in each group of the question."""
        return _whole(self.record.get("max_rows_per_group"))

    @property
    def max_rows_per(self) -> list[tuple[list[str], int]]:
        """The most rows of one that count in each group by some columns."""
        return cast("list[tuple[list[str], int]]", self.record.get("max_rows_per") or [])

    @property
    def many(self) -> str:
        """What they are called, such as "patients"."""
        return many_of(self.entity)


@final
@dataclass(frozen=True, slots=True)
class RecordedGroups:
    """The groups of a question."""

    record: Mapping[str, object]

    @property
    def columns(self) -> tuple[str, ...]:
        """The grouping columns."""
        return _texts(self.record.get("columns", self.record.get("unknown")))

    @property
    def declared(self) -> bool:
        """Whether somebody declared them."""
        return "unknown" not in self.record

    @property
    def types(self) -> dict[str, str]:
        """The type of the keys, by column; none in records that do not say it."""
        return dict(zip(self.columns, _texts(self.record.get("types")), strict=False))

    @property
    def bins(self) -> dict[str, Mapping[str, object]]:
        """The columns that are cut in bins: `edges`, and what becomes of rows `outside`."""
        return {name: _record(bins) for name, bins in _record(self.record.get("bins")).items()}

    def edges(self, column: str) -> list[object]:
        """Return the edges of a column's bins; none where it has keys."""
        return _list(self.bins.get(column, {}).get("edges"))

    @property
    def rest(self) -> dict[str, Mapping[str, object]]:
        """What the groups of rows with no value, `missing`, or an `other` one, are called."""
        return {name: _record(more) for name, more in _record(self.record.get("rest")).items()}

    def listed(self, column: str) -> list[object]:
        """Return all keys of a column, where the groups are some combinations of them."""
        return _list(_record(self.record.get("listed")).get(column))

    @property
    def size(self) -> int | None:
        """How many there are."""
        values = self.record.get("values")
        return len(_list(values)) if values is not None else _whole(self.record.get("count"))

    def keys_among(self, columns: Iterable[str]) -> tuple[str, ...]:
        """Return which columns of an answer are those of its groups."""
        whole = set(self.columns) - self.bins.keys()
        whole |= {name + end for name in self.bins for end in _ENDS}
        return tuple(column for column in columns if column in whole)


@final
@dataclass(frozen=True, slots=True)
class RecordedQuestion:
    """What was asked, read from a record of the ledger.

    Attributes:
        record: the record itself.
    """

    record: Mapping[str, object]

    @property
    def statistic(self) -> str:
        """What it is called, such as "mean"."""
        return str(self.record.get("statistic"))

    @property
    def parts(self) -> "tuple[RecordedQuestion, ...]":
        """The statistics asked together, each with the rest of the question; or itself."""
        rest = {
            name: part for name, part in self.record.items() if name not in ("parts", "weights")
        }
        parts = [rest | dict(_record(part)) for part in _list(self.record.get("parts"))]
        return tuple(map(RecordedQuestion, parts)) or (self,)

    @property
    def together(self) -> bool:
        """Whether several statistics were asked in one question."""
        return self.statistic == "together"

    @property
    def amount(self) -> bool:
        """Whether it is an amount with noise added, and no quotient."""
        return self.statistic in _AMOUNTS

    @property
    def per_unit(self) -> bool:
        """Whether a unit adds to it once in each group, however many rows it has."""
        return self.statistic in _PER_UNIT

    @property
    def counts_units(self) -> bool:
        """Whether it counts units."""
        return self.statistic == "count_units"

    @property
    def counts(self) -> bool:
        """Whether it is a number of rows or units, or a table of such."""
        return self.statistic in ("count", "count_units", "crosstab")

    @property
    def unit(self) -> RecordedUnit:
        """Who is protected."""
        return RecordedUnit(_record(self.record.get("unit")))

    @property
    def counted(self) -> str:
        """What its groups are counted in: "rows", or what the units are called."""
        return self.unit.many if self.per_unit else "rows"

    @property
    def grouped(self) -> bool:
        """Whether it has an answer for each of several groups."""
        return self.record.get("keys") is not None

    @property
    def groups(self) -> RecordedGroups:
        """Its groups; without columns where it has one answer for all rows."""
        return RecordedGroups(_record(self.record.get("keys")))

    @property
    def own_columns(self) -> tuple[str, ...]:
        """The one or two columns that a statistic is of; none of a function."""
        both = (self.record, self.other.record)
        return tuple(str(one["column"]) for one in both if "column" in one)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it is of: one or two of a statistic, those of a function in order."""
        return self.own_columns or _texts(self.record.get("columns"))

    @property
    def other(self) -> "RecordedQuestion":
        """The second column of a statistic of two."""
        return RecordedQuestion(_record(self.record.get("other")))

    @property
    def response(self) -> RecordedColumn | None:
        """The column that a linear regression explains."""
        return _term(self.record["response"]) if "response" in self.record else None

    @property
    def features(self) -> tuple[RecordedColumn, ...]:
        """The columns that a linear regression explains it by."""
        return tuple(map(_term, _list(self.record.get("features"))))

    @property
    def summed(self) -> tuple[str, ...]:
        """The columns that are added up: a row without a value in one of them does not count."""
        terms = [*([] if self.response is None else [self.response]), *self.features]
        return (*self.columns, *(term.name for term in terms))

    @property
    def named_columns(self) -> set[str]:
        """Every column of a table that it names."""
        return {name for part in self.parts for name in part.summed}.union(self.groups.columns)

    @property
    def bounds(self) -> tuple[Fraction, Fraction] | None:
        """The bounds of its column, or of the grid of quantiles."""
        basis = _record(self.record.get("basis"))
        ends = _list(self.record.get("bounds")) or [basis.get("lower"), basis.get("upper")]
        return RecordedColumn({"bounds": ends}).bounds

    @property
    def grid(self) -> Fraction | None:
        """The step between values that are told apart; of quantiles, where it was made coarser."""
        return rational(self.record.get("grid"))

    @property
    def basis_grid(self) -> Fraction | None:
        """The step between values that one release of quantiles tells apart."""
        return rational(_record(self.record.get("basis")).get("grid"))

    @property
    def margins(self) -> tuple[tuple[str, ...], ...]:
        """The margins that a contingency table shows, each by its columns."""
        return tuple(map(_texts, _list(self.record.get("margins"))))

    @property
    def margin(self) -> tuple[str, ...] | None:
        """The columns of the one margin that it is, of cells that others count."""
        return _texts(self.record["margin"]) if "margin" in self.record else None

    @property
    def steps(self) -> list[Mapping[str, object]]:
        """The filters, made columns and joins before it, in order."""
        return [_record(step) for step in _list(self.record.get("made"))]

    @property
    def limits(self) -> str | None:
        """How much of one unit counts: "at most 5 rows of each patient, at most 1 per year".

        None where each row is a unit.
        """
        unit = self.unit
        entity, rows, in_each = unit.entity, unit.max_rows, unit.max_rows_per_group
        if entity is None or rows is None:
            return None
        once = self.per_unit or (in_each == 1 and self.statistic == "count")
        if not self.grouped:
            most = rows if in_each is None else min(rows, in_each)
            return (
                f"each {entity} once" if once else f"at most {_many(most, 'row')} of each {entity}"
            )
        if once:
            there = self.groups.size
            more = (
                "" if there is not None and there <= rows else f", at most {_many(rows, 'group')}"
            )
            return f"each {entity} once in each group{more}"
        said = f"at most {_many(rows, 'row')} of each {entity}"
        least = min([rows, *(most for _, most in unit.max_rows_per)])
        if in_each is not None and in_each < rows and in_each <= least:
            return f"{said}, at most {in_each:,} in each group"
        acting = [
            f"at most {most:,} per {' and '.join(columns)}"
            for columns, most in unit.max_rows_per
            if most == least < rows
        ]
        return ", ".join([said, *acting])


def group_name(keys: Mapping[str, object]) -> str:
    """Return the name of a group, such as "JFK · -60 to 0" of a text and a bin."""
    first, last = _ENDS
    words: list[str] = []
    for name, key in keys.items():
        start = name.removesuffix(first)
        if f"{start}{last}" in keys and start != name:
            words.append(f"{key} to {keys[start + last]}")
        elif f"{name.removesuffix(last)}{first}" not in keys or not name.endswith(last):
            words.append(str(key))
    return " · ".join(words)


def many_of(entity: object) -> str:
    """Return the plural for the column that names a unit, or words that need none.

    >>> [many_of(name) for name in ("patient", "user_id", "company", "person")]
    ['patients', 'user_ids', 'companies', 'people']
    >>> [many_of(name) for name in ("customers", "p2", None)]
    ['values of customers', 'values of p2', 'units']
    """
    if not isinstance(entity, str):
        return "units"
    start, last = re.fullmatch(r"(.*[_ ])?(.*)", entity, re.DOTALL).groups(default="")  # pyright: ignore[reportOptionalMemberAccess]
    known = last.lower()
    if known in _NO_PLURAL or not _REGULAR.fullmatch(entity):
        return f"values of {entity}"
    if known in _IRREGULAR:
        return f"{start}{last[0]}{_IRREGULAR[known][1:]}"
    if _IES.fullmatch(last):
        return f"{entity[:-1]}ies"
    return f"{entity}{'es' if _SIBILANT.fullmatch(last) else 's'}"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
