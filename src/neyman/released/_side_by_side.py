"""The statistics of an answer to several at once, each by itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast, final

from neyman.aggregate import Columns
from neyman.released._too_few import value_of
from neyman.released._written import list_of, record_of

__all__ = ["Side", "columns_asked", "columns_of", "side_by_side"]


@final
@dataclass(frozen=True, slots=True)
class Side:
    """One statistic of an answer.

    Attributes:
        query: what is recorded of it, and of its groups.
        name: what its columns begin with.
        columns: keys and its own, called as if it had been asked alone.
        names: of these in the answer, by what they are called alone.
    """

    query: Mapping[str, object]
    name: str
    columns: Columns
    names: Mapping[str, str]

    @property
    def value(self) -> str:
        """Which of its columns holds its own values."""
        return value_of(self.query, self.columns) or self.name


def side_by_side(
    query: Mapping[str, object], columns: Columns, keys: tuple[str, ...]
) -> tuple[Side, ...]:
    """Return the parts of an answer to `table.statistics([...])`; of any other answer none."""
    parts = [record_of(part) for part in cast("list[object]", query.get("parts") or [])]
    heads = [_head(part) for part in parts]
    if query.get("statistic") != "together" or not all(head in columns for head in heads):
        return ()
    shared = {name: columns[name] for name in keys}
    rest = {name: part for name, part in query.items() if name not in ("parts", "weights")}
    names = [name for name in columns if name not in keys]
    starts = [names.index(head) for head in heads]
    found: list[Side] = []
    for part, head, first, last in zip(
        parts, heads, starts, [*starts[1:], len(names)], strict=True
    ):
        called = {str(part["statistic"]): head}
        called |= {name.removeprefix(f"{head}_"): name for name in names[first + 1 : last]}
        own = {alone: columns[name] for alone, name in called.items()}
        found.append(Side(rest | dict(part), head, shared | own, called))
    return tuple(found)


def columns_of(query: Mapping[str, object]) -> tuple[str, ...]:
    """Return the one or two columns of a table that a statistic is of; none of a count."""
    both = (query, record_of(query.get("other")))
    return tuple(str(one["column"]) for one in both if "column" in one)


def columns_asked(query: Mapping[str, object]) -> set[str]:
    """Return every column of a table that a question names."""
    keys = record_of(query.get("keys"))
    parts = [record_of(part) for part in list_of(query.get("parts"))]
    named = {name for one in (query, *parts) for name in columns_of(one)}
    groups = list_of(keys.get("columns", keys.get("unknown")))
    terms = [query.get("response"), *list_of(query.get("features"))]
    columns = [record_of(term).get("column", term) for term in terms if term is not None]
    return named.union(map(str, (*groups, *list_of(query.get("columns")), *columns)))


def _head(part: Mapping[str, object]) -> str:
    """Return e.g. mean_delay, correlation_delay_distance: as `Together` names its columns."""
    return "_".join([str(part.get("statistic")), *columns_of(part)])
