"""The kinds of column types, and their uses: sums, units, groups."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from typing import TypeAlias, final

from sqlglot import exp

from neyman.tables._key import (
    LARGEST_HALF,
    LARGEST_NARROW,
    LARGEST_WHOLE,
    WHOLE_TEXT,
    ZEROS,
    Key,
    plain_text,
)
from neyman.tables._sql import Tree, cast, clamped, double, encoded, text, try_cast
from neyman.tables._types import Range, Type

__all__ = [
    "BOOLEAN",
    "DATE",
    "FLOAT",
    "FREE_TEXT",
    "HALF_FLOAT",
    "INTEGER",
    "MADE_TIMESTAMP",
    "NARROW_FLOAT",
    "TEXT",
    "WIDE_INTEGER",
    "Cast",
    "Kind",
    "coded",
    "decimal",
    "double_by_text",
    "exact",
    "kind_of",
    "made_number",
    "timestamp",
]

Cast: TypeAlias = Callable[[Tree], Tree]

_NARROW = 18
_MOST = 2.0**62


def _same(value: Tree) -> Tree:
    return value


@final
@dataclass(frozen=True, slots=True)
class Kind:
    """A family of column types. None marks a use that is not possible.

    Attributes:
        label: the family in words.
        number: the value as a double.
        identity: the canonical bytes that identify units.
        unnamed: why values of this type cannot name units, and what to write.
        key: the value for comparison with keys.
        parse: a key's text for comparison with values.
        keys: the Python types of its keys.
        canonical: the canonical text of a key's text; None if different texts are always different
            values.
        absent: keys that are NULL, so in no group.
        group: the canonical bytes that identify groups; NULL for values in no group.
        group_key: the key of a group's text.
        spelled: a further hint in errors about keys of another type.
        types: its possible types in an expression.
        instant: a timestamp as in `_instant`; NULL outside the years 1 to 9999.
        present: the value; NULL if it is no value, such as NaN.
        range: bounds of its numbers by the type alone; None if there are none.
        coded: whether only its bytes are known, as for a column that names the unit in another
            table.
    """

    label: str
    number: Cast | None = field(default=None, repr=False)
    identity: Cast | None = field(default=None, repr=False)
    key: Cast | None = field(default=None, repr=False)
    parse: Cast | None = field(default=None, repr=False)
    keys: tuple[type[Key], ...] = ()
    absent: frozenset[Key] = frozenset()
    canonical: Callable[[str], str] | None = field(default=None, repr=False)
    group: Cast | None = field(default=None, repr=False)
    group_key: Callable[[str], str | int | bool] = field(default=str, repr=False)
    spelled: str = field(default="", repr=False)
    types: tuple[Type, ...] = field(default=(), repr=False)
    instant: Cast | None = field(default=None, repr=False)
    present: Cast = field(default=_same, repr=False)
    range: Range | None = field(default=None, repr=False)
    coded: bool = field(default=False, repr=False)
    unnamed: str = field(default="", repr=False)


def _code(value: Tree) -> Tree:
    # Another function than of what is a key as it is: bytes are compared with bytes.
    return value


def _double(value: Tree) -> Tree:
    return cast(value, "DOUBLE")


def double_by_text(value: Tree) -> Tree:
    """Return the double nearest to a wide integer or a decimal.

    Engines round these differently, but all read text correctly.
    """
    return try_cast(cast(value, "TEXT"), "DOUBLE")


def _double_or_null(value: Tree) -> Tree:
    return try_cast(value, "DOUBLE")


def _double_of_truth(value: Tree) -> Tree:
    return cast(cast(value, "INT"), "DOUBLE")


def _bigint(value: Tree) -> Tree:
    # An unsigned or wide value beyond 64 bits is no key, and must not raise.
    return try_cast(value, "BIGINT")


def _bigint_of_double(value: Tree, most: float = _MOST) -> Tree:
    # Beyond there is no key. Clamped as well, for an engine may cast before it compares.
    inside = exp.Between(this=value, low=double(-most), high=double(most))
    clamp = clamped(double(-most), value.copy(), double(most))
    return exp.Case(ifs=[exp.If(this=inside, true=cast(clamp, "BIGINT"))])


def _bigint_of_float(most: int) -> Cast:
    """Return the conversion of a float to its integer; NULL if not whole, or above `most`."""

    def whole(value: Tree) -> Tree:
        number = _double(value)
        same = exp.EQ(this=exp.Floor(this=number), expression=number.copy())
        found = _bigint_of_double(number.copy(), float(most))
        return exp.Case(ifs=[exp.If(this=same, true=found)])

    return whole


def _boolean(value: Tree) -> Tree:
    return cast(value, "BOOLEAN")


def _date(value: Tree) -> Tree:
    return cast(value, "DATE")


def _filled(value: Tree) -> Tree:
    # An empty field of a CSV file is NULL.
    return _canonical(exp.Nullif(this=cast(value, "TEXT"), expression=text("")))


def _canonical(value: Tree) -> Tree:
    """Write the bytes of the value's `plain_text`."""
    whole = exp.RegexpLike(this=value, expression=text(WHOLE_TEXT))
    cut = exp.RegexpReplace(this=value.copy(), expression=text(ZEROS), replacement=text(""))
    return encoded(exp.Case(ifs=[exp.If(this=whole, true=cut)], default=value.copy()))


def _whole(value: Tree) -> Tree:
    return encoded(_bigint(value))


def _number_or_null(value: Tree) -> Tree:
    number = _double(value)
    return exp.Case(ifs=[exp.If(this=exp.Not(this=exp.IsNan(this=number)), true=number.copy())])


def _whole_double(value: Tree) -> Tree:
    return encoded(_bigint_of_double(value))


def _written_date(value: Tree) -> Tree:
    # Engines write years beyond these, and dates at infinity, each in its own way.
    first, last = (_date(text(day)) for day in ("0001-01-01", "9999-12-31"))
    inside = exp.and_(
        exp.GTE(this=value, expression=first), exp.LTE(this=value.copy(), expression=last)
    )
    return encoded(exp.Case(ifs=[exp.If(this=inside, true=value.copy())]))


def _is_true(written: str) -> bool:
    return written == "true"


# What a code such as 1.0 is.
_WHOLE_KEYS = " for its whole numbers, or cut it into Bins"

FREE_TEXT = Kind(
    "text of a CSV file",
    _double_or_null,
    _canonical,
    _canonical,
    _canonical,
    (str, int),
    absent=frozenset({""}),
    canonical=plain_text,
    group=_filled,
    spelled=', spelled as in the file: "true", "2020-02-29"; an integer matches its plain '
    "decimal text, such as 1 or 1.0, only",
    types=(Type.TEXT, Type.NUMBER),
)
TEXT = Kind("text", None, encoded, encoded, encoded, (str,), group=encoded, types=(Type.TEXT,))
INTEGER = Kind(
    "integer",
    _double,
    encoded,
    _bigint,
    _bigint,
    (int,),
    group=_whole,
    group_key=int,
    types=(Type.NUMBER,),
    range=Range.whole(64),
)
WIDE_INTEGER = replace(INTEGER, number=double_by_text, range=Range.whole(128))


def exact(declared: str, number: Cast) -> Kind:
    """Return the family of decimals; whole ones can name units and groups.

    Args:
        declared: the type, such as DECIMAL(38,3).
        number: the value as a double; NULL if it is not a number.
    """

    def whole(value: Tree) -> Tree:
        found = try_cast(value, "BIGINT")
        # Engines round, or cut: what comes back as it was is whole.
        same = exp.EQ(this=try_cast(found, declared), expression=value.copy())
        inside = exp.Between(this=number(value.copy()), low=double(-_MOST), high=double(_MOST))
        kept = exp.Case(ifs=[exp.If(this=same, true=found.copy())])
        return exp.Case(ifs=[exp.If(this=inside, true=kept)])

    return _codes("decimal", number, whole, number)


def _codes(name: str, number: Cast, whole: Cast, present: Cast) -> Kind:
    """Return a family of numbers; whole ones can name units and groups.

    Args:
        name: the name of the family.
        number: the value as a double.
        whole: the value as an integer; NULL if it is not whole.
        present: the value; NULL if it is not a number.
    """

    def written(value: Tree) -> Tree:
        return encoded(whole(value))

    return Kind(
        name,
        number,
        written,
        whole,
        _bigint,
        (int,),
        group=written,
        group_key=int,
        spelled=_WHOLE_KEYS,
        types=(Type.NUMBER,),
        present=present,
    )


@cache
def decimal(declared: str) -> Kind:
    """Return the family of decimals of a type; a value with more digits than a wide type is NULL.

    Files and frames can have such values, and DuckDB cannot write the smallest 128-bit integer as
    text. Types with at most 18 digits have fewer bits, and need no check.

    Args:
        declared: the type, such as DECIMAL(38,3).
    """
    width, scale = map(int, re.findall("[0-9]+", declared))
    if width <= _NARROW:
        return exact(declared, double_by_text)
    digits = "9" * width
    most = f"{digits[scale:]}.{digits[:scale]}"

    def number(value: Tree) -> Tree:
        low, high = (cast(text(sign + most), declared) for sign in ("-", ""))
        inside = exp.Between(this=value, low=low, high=high)
        return exp.Case(ifs=[exp.If(this=inside, true=double_by_text(value.copy()))])

    return exact(declared, number)


def _float(most: int) -> Kind:
    """Return the family of floats that distinguish whole numbers up to `most`."""
    return _codes("float", _double, _bigint_of_float(most), _number_or_null)


FLOAT, NARROW_FLOAT = _float(LARGEST_WHOLE), _float(LARGEST_NARROW)
HALF_FLOAT = _float(LARGEST_HALF)
BOOLEAN = Kind(
    "boolean",
    _double_of_truth,
    encoded,
    _same,
    _boolean,
    (bool,),
    group=encoded,
    group_key=_is_true,
    types=(Type.TRUTH,),
)
DATE = Kind("date", None, encoded, _same, _date, (date,), group=_written_date, types=(Type.DAY,))


def timestamp(instant: Cast) -> Kind:
    """Return the kind of timestamps with `instant` as their integer; not for keys or units."""
    return Kind("timestamp", types=(Type.TIME,), instant=instant)


MADE_TIMESTAMP = timestamp(_same)


def made_number(bounds: Range) -> Kind:
    """Return the kind of doubles from an expression; integers can also be groups."""
    if not bounds.is_whole:
        return Kind("number with a fraction", _same, types=(Type.NUMBER,), range=bounds)
    return replace(
        INTEGER,
        number=_same,
        identity=None,
        key=_bigint_of_double,
        group=_whole_double,
        range=bounds,
    )


def coded(kind: Kind) -> Kind:
    """Return the family of the canonical bytes that `identity` gives."""
    return Kind(
        kind.label,
        identity=_code,
        key=_code,
        parse=encoded if kind.canonical is None else kind.parse,
        keys=kind.keys,
        canonical=kind.canonical,
        absent=kind.absent,
        spelled=kind.spelled,
        coded=True,
    )


def kind_of(declared: str, kinds: Mapping[str, Kind]) -> Kind:
    """Return the family of an engine's type name; it ignores parameters in brackets.

    Args:
        declared: the type as the engine writes it.
        kinds: the families by the engine's type names.
    """
    if declared.endswith("]"):
        return Kind("list")
    family = declared.partition("(")[0]
    return kinds.get(family, Kind(family.lower()))
