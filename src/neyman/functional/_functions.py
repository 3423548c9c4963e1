"""Released functions of several groups, by key."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeAlias, TypeVar, cast, final

from neyman.arguments import given
from neyman.displayed import Displayed
from neyman.errors import InvalidParameter
from neyman.functional._abstract import FORMAT, Function, Released
from neyman.printable import printable

__all__ = ["Functions", "Key", "Part", "parts_of"]

Key: TypeAlias = tuple[str | int | bool, ...]

_Kind_co = TypeVar("_Kind_co", bound=Function, covariant=True)
_Other = TypeVar("_Other", bound=Function)

_VERSION: Final = 1
_SHOWN: Final = 20


@final
@dataclass(frozen=True, slots=True)
class Functions(Displayed, Mapping[Key, _Kind_co], Generic[_Kind_co]):
    """A function for each group: a mapping from tuples of keys, in the order of the release.

    A group without records also has a function, of noise alone. It raises an error if its released
    number of records is not positive.

    Attributes:
        columns: the names of the key columns.
        by_key: the functions by key.
    """

    kind = "functions"

    columns: tuple[str, ...]
    by_key: Mapping[Key, _Kind_co] = field(repr=False)

    def __getitem__(self, key: Key) -> _Kind_co:
        """Return the function of a group.

        Raises:
            InvalidParameter: if there is no such group.
        """
        found = self.by_key.get(key) if isinstance(key, tuple) else None  # pyright: ignore[reportUnnecessaryIsInstance]
        if found is None:
            some = ", ".join(map(repr, list(self.by_key)[:3]))
            raise InvalidParameter(
                f"{given('key', key)} is no group of these functions; write a tuple of "
                f"{', '.join(self.columns)}, such as {some}"
            )
        return found

    def __contains__(self, key: object) -> bool:
        return key in self.by_key

    def __iter__(self) -> Iterator[Key]:
        return iter(self.by_key)

    def __len__(self) -> int:
        return len(self.by_key)

    def __str__(self) -> str:
        lines = [f"{len(self)} functions by {printable(', '.join(self.columns))}"]
        for key, function in list(self.by_key.items())[:_SHOWN]:
            lines.append(f"  {printable(', '.join(map(str, key)))}: {type(function).__name__}")
        if len(self) > _SHOWN:
            lines.append(f"  ... {len(self) - _SHOWN} more")
        return "\n".join(lines)

    def map(self, change: Callable[[_Kind_co], _Other]) -> "Functions[_Other]":
        """Return the result of `change` for each function, such as a smoothed one."""
        return Functions(self.columns, {key: change(f) for key, f in self.by_key.items()})

    def to_json(self) -> dict[str, object]:
        """Return all functions for JSON; `read_functions` returns the same, bit for bit."""
        return {
            "format": FORMAT,
            "version": _VERSION,
            "kind": self.kind,
            "columns": list(self.columns),
            "keys": [list(key) for key in self.by_key],
            "functions": [function.to_json() for function in self.by_key.values()],
        }

    @staticmethod
    def of_record(
        record: Mapping[str, object], read: Callable[[Mapping[str, object]], Function]
    ) -> "Functions[Function]":
        """Return the functions of a record; `read` gives each one.

        Raises:
            InvalidParameter, KeyError, TypeError, ValueError: if the record is malformed.
        """
        keys = [tuple(key) for key in cast("list[list[str | int | bool]]", record["keys"])]
        records = cast("list[Mapping[str, object]]", record["functions"])
        columns = tuple(cast("list[str]", record["columns"]))
        return Functions(columns, {k: read(one) for k, one in zip(keys, records, strict=True)})


@final
@dataclass(frozen=True, slots=True)
class Part:
    """The rows of a release for one group."""

    query: Mapping[str, object]
    columns: Mapping[str, Sequence[object]]


def parts_of(release: Released) -> tuple[tuple[str, ...], dict[Key, Part]]:
    """Return the key columns, and the rows of each group; all groups have the same number of rows.

    Raises:
        KeyError, TypeError, ValueError: if the release has no groups.
    """
    described = cast("Mapping[str, object]", release.query["keys"])
    names = tuple(cast("list[str]", described["columns"]))
    groups = cast("int", described["count"] if "count" in described else len(_values(described)))
    total = len(release.columns["stddev"])
    rows, rest = divmod(total, groups)
    if rest or not rows:
        raise ValueError("groups of unlike length")
    parts: dict[Key, Part] = {}
    for first in range(0, total, rows):
        columns = {name: part[first : first + rows] for name, part in release.columns.items()}
        key = cast("Key", tuple(columns[name][0] for name in names))
        parts[key] = Part(release.query, columns)
    if len(parts) != groups:
        raise ValueError("groups of one key")
    return names, parts


def _values(described: Mapping[str, object]) -> list[object]:
    return cast("list[object]", described["values"])
