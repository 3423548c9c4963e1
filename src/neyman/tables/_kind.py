"""What can be done with a column of each type: add it up, name a unit by it, group by it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from typing import TypeAlias, final

from neyman.tables._keys import Key
from neyman.tables._sql import Tree, cast, encoded, try_cast

__all__ = ["FREE_TEXT", "Cast", "Kind", "kind_of"]

Cast: TypeAlias = Callable[[Tree], Tree]


@final
@dataclass(frozen=True, slots=True)
class Kind:
    """A family of column types. A use that makes no sense is None.

    Attributes:
        label: the family in words.
        number: the value as a double.
        identity: the canonical bytes that tell units apart.
        key: the value as it is compared with keys.
        parse: a key's text as it is compared with values.
        keys: the Python types that its keys have.
        absent: keys that stand for NULL, and so for no group.
        spelled: what else to say to whoever writes keys of another type.
    """

    label: str
    number: Cast | None = field(default=None, repr=False)
    identity: Cast | None = field(default=None, repr=False)
    key: Cast | None = field(default=None, repr=False)
    parse: Cast | None = field(default=None, repr=False)
    keys: tuple[type[Key], ...] = ()
    absent: frozenset[Key] = frozenset()
    spelled: str = field(default="", repr=False)


def _same(value: Tree) -> Tree:
    return value


def _double(value: Tree) -> Tree:
    return cast(value, "DOUBLE")


def _double_by_text(value: Tree) -> Tree:
    # Engines differ in how they round wide integers and decimals; all read text correctly.
    return try_cast(cast(value, "TEXT"), "DOUBLE")


def _double_or_null(value: Tree) -> Tree:
    return try_cast(value, "DOUBLE")


def _double_of_truth(value: Tree) -> Tree:
    return cast(cast(value, "INT"), "DOUBLE")


def _bigint(value: Tree) -> Tree:
    # An unsigned or wide value beyond 64 bits is no key, and must not raise.
    return try_cast(value, "BIGINT")


def _boolean(value: Tree) -> Tree:
    return cast(value, "BOOLEAN")


def _date(value: Tree) -> Tree:
    return cast(value, "DATE")


FREE_TEXT = Kind(
    "text of a CSV file",
    _double_or_null,
    encoded,
    encoded,
    encoded,
    (str, int),
    absent=frozenset({""}),
    spelled=', spelled as in the file: "true", "2020-02-29"; an integer matches its plain '
    "decimal text only",
)
_TEXT = Kind("text", None, encoded, encoded, encoded, (str,))
_INTEGER = Kind("integer", _double, encoded, _bigint, _bigint, (int,))
_WIDE = Kind("integer", _double_by_text, encoded, _bigint, _bigint, (int,))
_DECIMAL = Kind("decimal", _double_by_text)
_FLOAT = Kind("float", _double)
_BOOLEAN = Kind("boolean", _double_of_truth, encoded, _same, _boolean, (bool,))
_DATE = Kind("date", None, encoded, _same, _date, (date,))

_KINDS = {
    **dict.fromkeys(("VARCHAR", "ENUM", "UUID"), _TEXT),
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT"), _INTEGER),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"), _INTEGER),
    **dict.fromkeys(("HUGEINT", "UHUGEINT"), _WIDE),
    **dict.fromkeys(("FLOAT", "DOUBLE"), _FLOAT),
    "DECIMAL": _DECIMAL,
    "BOOLEAN": _BOOLEAN,
    "DATE": _DATE,
}


def kind_of(declared: str) -> Kind:
    """Return the family of an engine's type name; parameters in brackets do not matter."""
    if declared.endswith("]"):
        return Kind("list")
    family = declared.partition("(")[0]
    return _KINDS.get(family, Kind(family.lower()))
