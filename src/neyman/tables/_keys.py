"""The groups of an answer, declared in public: never read off the data."""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import product
from numbers import Integral
from typing import TypeAlias, final

from neyman.errors import InvalidTable

__all__ = ["Key", "Keys", "key_text"]

Key: TypeAlias = str | int | bool | date

_MOST = 10**6
_SHOWN = 1000
_INT64 = 2**63


def key_text(key: Key) -> str:
    """Write a key as its one canonical text."""
    match key:
        case bool():
            return "true" if key else "false"
        case date():
            return key.isoformat()
        case _:
            return str(key)


def _key(value: object, column: str) -> Key:
    match value:
        case datetime():
            fix = "write a date"
        case bool() | date():
            return value
        case str():
            if "\0" not in value and value == value.encode("utf-8", "replace").decode():
                return str(value)
            fix = "write text without NUL and without half surrogates"
        case Integral():
            if -_INT64 <= int(value) < _INT64:
                return int(value)
            fix = "write an integer of 64 bits"
        case None:
            fix = "rows without a key are dropped and cannot be asked for; leave it out"
        case _:
            fix = "write text, integers, booleans or dates"
    raise InvalidTable(f"{value!r} is no key of column {column!r}; {fix}")


def _domain(column: str, values: Iterable[object]) -> tuple[Key, ...]:
    if isinstance(values, str | bytes):
        raise InvalidTable(
            f"the keys of column {column!r} are the text {values!r}, not a list; write [{values!r}]"
        )
    if not isinstance(values, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidTable(
            f"the keys of column {column!r} are {values!r}, not a list; write [{values!r}]"
        )
    keys = tuple(_key(value, column) for value in values)
    if not keys:
        raise InvalidTable(f"column {column!r} was given no keys; write at least one")
    kinds = sorted({type(key).__name__ for key in keys})
    if len(kinds) > 1:
        raise InvalidTable(
            f"the keys of column {column!r} mix {' and '.join(kinds)}; write one type a column"
        )
    return keys


def _refuse_no_mapping(domains: object) -> None:
    if not isinstance(domains, Mapping):
        raise InvalidTable(
            f"a {type(domains).__name__} does not say which column its keys are of; "
            'write Keys({"ward": ["north", "south"]}), with your column and its keys'
        )


def _refuse_repeats(keys: Sequence[object], where: str) -> None:
    seen: set[object] = set()
    for key in keys:
        if key in seen:
            raise InvalidTable(f"{key!r} appears twice in the keys of {where}; write it once")
        seen.add(key)


def _refuse_names(columns: Sequence[str]) -> None:
    if isinstance(columns, str):
        raise InvalidTable(f"the columns are the text {columns!r}; write ({columns!r},)")
    if not columns:
        raise InvalidTable("keys without a column; write Keys({column: [key, ...]}), or by=None")
    for column in columns:
        if not isinstance(column, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidTable(f"{column!r} is no column name; write text")
    _refuse_repeats(columns, "the column names")


def _parts(key: object) -> tuple[object, ...]:
    if isinstance(key, Iterable) and not isinstance(key, str | bytes):
        return tuple(key)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    raise InvalidTable(f"{key!r} is no tuple of keys; write one key a column, as in ({key!r},)")


@final
@dataclass(frozen=True, slots=True)
class Keys:
    """Groups that an answer is given for: all of them, in this order, and no others.

    `Keys({"carrier": ["AA", "UA"], "month": [1, 2]})` is every combination, the last column
    running fastest; `Keys.tuples` takes chosen combinations. Rows of other groups are dropped
    before anything is bounded, and a declared group without rows is zero before noise.

    Attributes:
        columns: the grouping columns.
        domains: the distinct keys of each.
        chosen: codes of the chosen combinations, or None for all of them.

    >>> len(Keys({"carrier": ["AA", "UA"], "month": [1, 2, 3]}))
    6
    >>> Keys.tuples(("carrier", "month"), [("UA", 2), ("AA", 1)]).to_columns()
    {'carrier': ['UA', 'AA'], 'month': [2, 1]}
    """

    columns: tuple[str, ...]
    domains: tuple[tuple[Key, ...], ...] = field(repr=False)
    chosen: tuple[int, ...] | None = field(repr=False)

    def __init__(self, domains: Mapping[str, Iterable[object]]) -> None:
        """Take every combination of the keys of each column.

        Raises:
            InvalidTable: if there is no key, a key repeats, is NULL or a float, types mix, or
                there are more than 10^6 combinations.
        """
        _refuse_no_mapping(domains)
        columns = tuple(domains)
        _refuse_names(columns)
        found = tuple(_domain(column, domains[column]) for column in columns)
        for column, keys in zip(columns, found, strict=True):
            _refuse_repeats(keys, f"column {column!r}")
        self._fill(columns, found, None)

    @classmethod
    def tuples(cls, columns: Sequence[str], keys: Iterable[Sequence[object]]) -> "Keys":
        """Take chosen combinations only, one tuple each, in the order of `columns`.

        Raises:
            InvalidTable: as for all combinations, or if a tuple has another length.
        """
        _refuse_names(columns)
        rows = [_parts(key) for key in keys]
        for row in rows:
            if len(row) != len(columns):
                raise InvalidTable(
                    f"the key {row!r} has {len(row)} parts for {len(columns)} columns; "
                    f"write one for each of {', '.join(columns)}"
                )
        full = [_domain(name, [row[i] for row in rows]) for i, name in enumerate(columns)]
        _refuse_repeats(list(zip(*full, strict=True)), ", ".join(columns))
        domains = tuple(tuple(dict.fromkeys(given)) for given in full)
        codes = [0] * len(rows)
        for given, domain in zip(full, domains, strict=True):
            place = {key: i for i, key in enumerate(domain)}
            codes = [
                code * len(domain) + place[key] for code, key in zip(codes, given, strict=True)
            ]
        made = object.__new__(cls)
        made._fill(tuple(columns), domains, tuple(codes))
        return made

    def _fill(
        self,
        columns: tuple[str, ...],
        domains: tuple[tuple[Key, ...], ...],
        chosen: tuple[int, ...] | None,
    ) -> None:
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "domains", domains)
        object.__setattr__(self, "chosen", chosen)
        if len(self) > _MOST:
            raise InvalidTable(
                f"{len(self)} groups were asked for, at most {_MOST} are answered at once; "
                "write fewer keys, or Keys.tuples with the combinations that matter"
            )
        if math.prod(map(len, domains)) >= _INT64 // 2:
            raise InvalidTable(
                f"the keys of {', '.join(columns)} have 2^62 combinations or more; "
                "write fewer columns"
            )

    def __repr__(self) -> str:
        many = "group" if len(self) == 1 else "groups"
        return f"Keys({', '.join(map(repr, self.columns))}: {len(self)} {many})"

    def __len__(self) -> int:
        if self.chosen is not None:
            return len(self.chosen)
        return math.prod(map(len, self.domains))

    def rows(self) -> list[tuple[Key, ...]]:
        """Return the groups in their order."""
        if self.chosen is None:
            return list(product(*self.domains))
        return [self._row(code) for code in self.chosen]

    def _row(self, code: int) -> tuple[Key, ...]:
        parts: list[Key] = []
        for domain in reversed(self.domains):
            code, place = divmod(code, len(domain))
            parts.append(domain[place])
        return tuple(reversed(parts))

    def to_columns(self) -> dict[str, list[str] | list[int] | list[float] | list[bool]]:
        """Return one list a column, dates as ISO text."""
        parts = zip(*self.rows(), strict=True)
        return {
            name: [key.isoformat() if isinstance(key, date) else key for key in part]
            for name, part in zip(self.columns, parts, strict=True)
        }

    def describe(self) -> dict[str, object]:
        """Return the public record: the keys, or their digest where they are many."""
        types = [type(domain[0]).__name__ for domain in self.domains]
        rows = [[key_text(part) for part in row] for row in self.rows()]
        record: dict[str, object] = {"columns": list(self.columns), "types": types}
        if len(rows) <= _SHOWN:
            return record | {"values": rows}
        digest = hashlib.sha256(json.dumps(rows).encode()).hexdigest()
        return record | {"count": len(rows), "sha256": digest}
