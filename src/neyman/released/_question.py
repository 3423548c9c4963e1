"""A question as recorded in the ledger; all code reads such records here.

A record can come from a file that someone else wrote. A part that is not as it should be is treated
as missing.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Self, cast, final

from neyman.numerics import rational

__all__ = ["RecordedColumn", "RecordedGroups", "RecordedQuestion", "RecordedUnit", "group_name"]

_COUNTS: Final = ("count", "count_units", "crosstab")
_AMOUNTS: Final = (*_COUNTS, "sum", "sum_per_unit")
# Statistics to which a unit adds once in each group.
_PER_UNIT: Final = ("count_units", "mean_per_unit", "sum_per_unit")
_ENDS: Final = ("_from", "_to")

# A word with a regular plural, alone or after others: "patient", "user_id".
_REGULAR: Final = re.compile(r"[A-Za-z_ ]*[A-Za-z][a-rt-z]")
_SIBILANT: Final = re.compile(r".*(?:x|z|ch|sh)")
_IES: Final = re.compile(r".*[^aeiou]y")
_IRREGULAR: Final = {
    "child": "children", "man": "men", "person": "people", "wife": "wives", "woman": "women",
}  # fmt: skip
# Words that are no nouns, are already plurals, or have no plural.
_NO_PLURAL: Final = frozenset(
    ["who", "whom", "children", "data", "men", "people", "personnel", "police", "staff", "women"]
)


def _record(written: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", written) if isinstance(written, Mapping) else {}


def _records(written: object) -> dict[str, Mapping[str, object]]:
    return {name: _record(part) for name, part in _record(written).items()}


def _list(written: object) -> list[object]:
    return list(cast("list[object]", written)) if isinstance(written, list | tuple) else []


def _texts(written: object) -> tuple[str, ...]:
    return tuple(map(str, _list(written)))


def _whole(written: object) -> int | None:
    return written if isinstance(written, int) else None


@final
@dataclass(frozen=True, slots=True)
class RecordedColumn:
    """A column of a table.

    Attributes:
        name: its name; "" if a record has only bounds.
        bounds: lower and upper; None if it has none.
    """

    name: str
    bounds: tuple[Fraction, Fraction] | None

    @classmethod
    def of(cls, written: object) -> Self:
        """Return the column of a record, or of a name alone."""
        record = _record(written) or {"column": written}
        ends = [rational(end) for end in _list(record.get("bounds"))]
        known = [end for end in ends if end is not None]
        both = (known[0], known[1]) if len(known) == len(ends) == 2 else None
        return cls(str(record.get("column", "")), both)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedUnit:
    """The privacy unit, and its contribution limits.

    Attributes:
        record: the record itself.
        entity: the column that names the units; None if each row is one.
        max_rows: the most rows of a unit that count, in all groups together.
        max_rows_per_group: the most in each group of the question.
        max_rows_per: the most in each group by some columns.
    """

    record: Mapping[str, object]
    entity: str | None
    max_rows: int | None
    max_rows_per_group: int | None
    max_rows_per: list[tuple[list[str], int]]

    @classmethod
    def of(cls, record: Mapping[str, object]) -> Self:
        """Return the unit of a record."""
        entity = record.get("entity")
        return cls(
            record=record,
            entity=entity if isinstance(entity, str) else None,
            max_rows=_whole(record.get("max_rows")),
            max_rows_per_group=_whole(record.get("max_rows_per_group")),
            max_rows_per=cast("list[tuple[list[str], int]]", record.get("max_rows_per") or []),
        )

    @property
    def many(self) -> str:
        """The plural name of the units, such as "patients"."""
        return many_of(self.entity)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedGroups:
    """The groups of a question.

    Attributes:
        record: the record itself; empty if there is one answer for all rows.
        columns: the grouping columns.
        declared: whether the groups were declared.
        types: of the keys, by column; empty in records that do not have them.
        bins: by column that is divided into bins, their `edges`, and how rows `outside` are
            treated.
        rest: by column, the names of the groups of rows with no value, `missing`, or with an
            `other` one.
        listed: by column all its keys, if the groups are some combinations of them.
        size: how many there are; None if it is not known.
    """

    record: Mapping[str, object]
    columns: tuple[str, ...]
    declared: bool
    types: dict[str, str]
    bins: dict[str, Mapping[str, object]]
    rest: dict[str, Mapping[str, object]]
    listed: Mapping[str, object]
    size: int | None

    @classmethod
    def of(cls, record: Mapping[str, object]) -> Self:
        """Return the groups of a record."""
        columns = _texts(record.get("columns", record.get("unknown")))
        values = record.get("values")
        return cls(
            record=record,
            columns=columns,
            declared="unknown" not in record,
            types=dict(zip(columns, _texts(record.get("types")), strict=False)),
            bins=_records(record.get("bins")),
            rest=_records(record.get("rest")),
            listed=_record(record.get("listed")),
            size=_whole(record.get("count")) if values is None else len(_list(values)),
        )

    def edges(self, column: str) -> list[object]:
        """Return the edges of a column's bins; empty if it has keys."""
        return _list(self.bins.get(column, {}).get("edges"))

    def listed_keys(self, column: str) -> list[object]:
        """Return all keys of a column, if the groups are some combinations of them."""
        return _list(self.listed.get(column))

    def keys_among(self, columns: Iterable[str]) -> tuple[str, ...]:
        """Return the columns of an answer that identify its groups."""
        whole = set(self.columns) - self.bins.keys()
        whole |= {name + end for name in self.bins for end in _ENDS}
        return tuple(column for column in columns if column in whole)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedQuestion:
    """A question, from a record of the ledger.

    Attributes:
        record: the record itself.
        statistic: its name, such as "mean".
        unit: the privacy unit.
        grouped: whether it has an answer for each of several groups.
        groups: these groups.
        own: the one or two columns of a statistic; empty for a function.
        other: the second of the two, with its bounds.
        columns: the same, and those of a function in order.
        bounds: of the first column, or of the grid of quantiles.
        grid: the step between values that are distinguished; for quantiles, the one that was
            requested.
        basis_grid: the step between values that one release of quantiles distinguishes.
        response: the column that a linear regression explains.
        features: the columns that it uses to explain it.
        margins: the margins that a contingency table has beside its cells, each by its columns.
        margin: the columns of the margin, if the question is one margin of cells that others count.
        steps: the filters, computed columns and joins before it, in order.
    """

    record: Mapping[str, object]
    statistic: str
    unit: RecordedUnit
    grouped: bool
    groups: RecordedGroups
    own: tuple[RecordedColumn, ...]
    other: RecordedColumn | None
    columns: tuple[str, ...]
    bounds: tuple[Fraction, Fraction] | None
    grid: Fraction | None
    basis_grid: Fraction | None
    response: RecordedColumn | None
    features: tuple[RecordedColumn, ...]
    margins: tuple[tuple[str, ...], ...]
    margin: tuple[str, ...] | None
    steps: tuple[Mapping[str, object], ...]

    @classmethod
    def of(cls, record: Mapping[str, object]) -> Self:
        """Return the question of a record."""
        basis, both = _record(record.get("basis")), (record, _record(record.get("other")))
        own = tuple(RecordedColumn.of(one) for one in both if "column" in one)
        ends = _list(record.get("bounds")) or [basis.get("lower"), basis.get("upper")]
        return cls(
            record=record,
            statistic=str(record.get("statistic")),
            unit=RecordedUnit.of(_record(record.get("unit"))),
            grouped=record.get("keys") is not None,
            groups=RecordedGroups.of(_record(record.get("keys"))),
            own=own,
            other=RecordedColumn.of(record["other"]) if "other" in record else None,
            columns=tuple(one.name for one in own) or _texts(record.get("columns")),
            bounds=RecordedColumn.of({"bounds": ends}).bounds,
            grid=rational(record.get("grid")),
            basis_grid=rational(basis.get("grid")),
            response=RecordedColumn.of(record["response"]) if "response" in record else None,
            features=tuple(map(RecordedColumn.of, _list(record.get("features")))),
            margins=tuple(map(_texts, _list(record.get("margins")))),
            margin=_texts(record["margin"]) if "margin" in record else None,
            steps=tuple(map(_record, _list(record.get("made")))),
        )

    @property
    def parts(self) -> "tuple[RecordedQuestion, ...]":
        """The statistics of a joint question, each with the rest of the question; or itself."""
        rest = {
            name: part for name, part in self.record.items() if name not in ("parts", "weights")
        }
        parts = [rest | dict(_record(part)) for part in _list(self.record.get("parts"))]
        return tuple(map(RecordedQuestion.of, parts)) or (self,)

    @property
    def together(self) -> bool:
        """Whether one question has several statistics."""
        return self.statistic == "together"

    @property
    def amount(self) -> bool:
        """Whether it is an amount with noise added, and not a quotient."""
        return self.statistic in _AMOUNTS

    @property
    def per_unit(self) -> bool:
        """Whether a unit adds to it once in each group, however many rows it has."""
        return self.statistic in _PER_UNIT

    @property
    def counts(self) -> bool:
        """Whether it is a number of rows or units, or a table of such numbers."""
        return self.statistic in _COUNTS

    @property
    def counted(self) -> str:
        """What its groups count: "rows", or the plural name of the units."""
        return self.unit.many if self.per_unit else "rows"

    @property
    def summed(self) -> tuple[str, ...]:
        """The columns that are added up: a row without a value in one of them does not count."""
        terms = [*([] if self.response is None else [self.response]), *self.features]
        return (*self.columns, *(term.name for term in terms))

    @property
    def named_columns(self) -> set[str]:
        """All columns of a table that it names."""
        return {name for part in self.parts for name in part.summed}.union(self.groups.columns)

    @property
    def limits(self) -> str | None:
        """How much of one unit counts: "at most 5 rows of each patient, at most 1 per year".

        None if each row is a unit.
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
    """Return the name of a group, such as "JFK · -60 to 0" for a text and a bin."""
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
    """Return the plural of the column that names a unit, or words that need no plural.

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
