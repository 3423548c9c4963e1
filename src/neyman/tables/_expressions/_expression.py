"""Expressions over a row, for conditions and new columns."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from neyman.errors import InvalidParameter
from neyman.tables._expressions._term import Term
from neyman.tables._schema import Schema
from neyman.tables._types import Type

__all__ = ["Expression", "Form", "Given"]

Form: TypeAlias = "float | str | bool | list[Form]"
Given: TypeAlias = "Expression | float | Decimal | Fraction | str | date | None"


class Expression(ABC):
    """A value of each row, computed from its columns; immutable, and equal by its record.

    Types are checked against a table's schema before anything runs. Every operation is defined for
    all values, so no row can cause an error, and all engines give equal bits:

    * numbers are doubles; NaN is NULL; a column's values beyond 2^200 (1.6e60) count as +-2^200,
      and values below 2^-200 in magnitude as 0;
    * a / 0, a // 0 and a % 0 are NULL; an operation with NULL is NULL, except `coalesce`,
      `is_null`, `when`, and `&` and `|` if the other side decides;
    * a // b = floor(a / b) and a % b = a - (a // b) b, with the rounded quotient;
    * text is compared by its UTF-8 bytes;
    * dates and timestamps outside the years 1 to 9999 are NULL; timestamps are in UTC, rounded down
      to the microsecond;
    * a - b of dates or timestamps is in days, with a fraction if one is a timestamp.

    `==` gives an expression; two expressions are equal if their `form()` is.

    >>> from neyman.tables import col
    >>> col("delay").clip(0, 60) / 60 > 0.25
    ((col('delay').clip(0, 60) / 60) > 0.25)
    """

    __slots__ = ()
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    @abstractmethod
    def form(self) -> Form:
        """Return nested lists, for JSON and TOML; `read_expression` reads them."""

    @property
    @abstractmethod
    def parts(self) -> int:
        """The number of its columns, literals and operations."""

    @property
    @abstractmethod
    def depth(self) -> int:
        """The length of the longest chain of operations."""

    @abstractmethod
    def types(self, schema: Schema) -> frozenset[Type]:
        """Return its possible types, with its operations checked.

        Raises:
            UnknownColumn: if there is no such column.
            InvalidTable: if a type does not fit its use.
        """

    @abstractmethod
    def term(self, schema: Schema, wanted: Type) -> Term:
        """Return its tree as one of `types`."""

    def __bool__(self) -> bool:
        """Refuse, because `and`, `or`, `not`, `in` and a < b < c need one truth value."""
        raise InvalidParameter(
            f"{self!r} has no single truth value, because it differs from row to row. Write &, |, "
            "~ with brackets around comparisons in place of and, or, not; .between(a, b) in place "
            "of a <= x <= b; .is_in([...]) in place of in"
        )

    def __add__(self, other: Given) -> "Expression":
        return _call("+", self, other)

    def __radd__(self, other: Given) -> "Expression":
        return _call("+", other, self)

    def __sub__(self, other: Given) -> "Expression":
        return _call("-", self, other)

    def __rsub__(self, other: Given) -> "Expression":
        return _call("-", other, self)

    def __mul__(self, other: Given) -> "Expression":
        return _call("*", self, other)

    def __rmul__(self, other: Given) -> "Expression":
        return _call("*", other, self)

    def __truediv__(self, other: Given) -> "Expression":
        return _call("/", self, other)

    def __rtruediv__(self, other: Given) -> "Expression":
        return _call("/", other, self)

    def __floordiv__(self, other: Given) -> "Expression":
        return _call("//", self, other)

    def __rfloordiv__(self, other: Given) -> "Expression":
        return _call("//", other, self)

    def __mod__(self, other: Given) -> "Expression":
        return _call("%", self, other)

    def __rmod__(self, other: Given) -> "Expression":
        return _call("%", other, self)

    def __neg__(self) -> "Expression":
        return _call("neg", self)

    def __abs__(self) -> "Expression":
        return _call("abs", self)

    def __eq__(self, other: Given) -> "Expression":  # pyright: ignore[reportIncompatibleMethodOverride]
        return _call("==", self, other)

    def __ne__(self, other: Given) -> "Expression":  # pyright: ignore[reportIncompatibleMethodOverride]
        return _call("!=", self, other)

    def __lt__(self, other: Given) -> "Expression":
        return _call("<", self, other)

    def __le__(self, other: Given) -> "Expression":
        return _call("<=", self, other)

    def __gt__(self, other: Given) -> "Expression":
        return _call(">", self, other)

    def __ge__(self, other: Given) -> "Expression":
        return _call(">=", self, other)

    def __and__(self, other: Given) -> "Expression":
        return _joined("and", self, other)

    def __rand__(self, other: Given) -> "Expression":
        return _joined("and", other, self)

    def __or__(self, other: Given) -> "Expression":
        return _joined("or", self, other)

    def __ror__(self, other: Given) -> "Expression":
        return _joined("or", other, self)

    def __invert__(self) -> "Expression":
        return _call("not", self)

    def minimum(self, other: Given) -> "Expression":
        """The smaller of two numbers."""
        return _call("minimum", self, other)

    def maximum(self, other: Given) -> "Expression":
        """The larger of two numbers."""
        return _call("maximum", self, other)

    def clip(self, lower: float, upper: float) -> "Expression":
        """The number moved into [lower, upper]."""
        return _call("clip", self, lower, upper)

    def round(self, grid: float) -> "Expression":
        """floor(x / grid + 1/2) grid: the nearest multiple of grid, halves upwards."""
        return _call("round", self, grid)

    def between(self, lower: Given, upper: Given) -> "Expression":
        """Whether lower <= x <= upper: numbers, text or dates."""
        return _call("between", self, lower, upper)

    def is_in(self, values: Iterable[Given]) -> "Expression":
        """Whether it equals one of the literals, at most 1000."""
        return _call("in", self, *_listed(values, "is_in"))

    def is_null(self) -> "Expression":
        """Whether it is NULL; NaN is NULL too."""
        return _call("is_null", self)

    def coalesce(self, *others: Given) -> "Expression":
        """The first value that is not NULL."""
        return _call("coalesce", self, *others)

    def cut(self, edges: Iterable[Given], labels: Iterable[str] | None = None) -> "Expression":
        """The number of the bin from 0, or its label: [e0, e1), ..., the last one closed.

        Args:
            edges: increasing numbers or dates; values outside are NULL.
            labels: one text for each bin.
        """
        ends = _listed(edges, "cut")
        if labels is None:
            return _call("cut", self, *ends)
        names = _listed(labels, "cut")
        if len(names) != len(ends) - 1:
            raise InvalidParameter(
                f"there must be one label for each bin, {len(ends) - 1}; got {len(names)}"
            )
        pairs = [part for pair in zip(ends, names, strict=False) for part in pair]
        return _call("label", self, *pairs, ends[-1])

    def year(self) -> "Expression":
        """The year of a date or a timestamp, 1 to 9999."""
        return _call("year", self)

    def month(self) -> "Expression":
        """The month, 1 to 12."""
        return _call("month", self)

    def day(self) -> "Expression":
        """The day of the month, 1 to 31."""
        return _call("day", self)

    def week(self) -> "Expression":
        """The week of the year by ISO 8601, 1 to 53; the first week has the first Thursday."""
        return _call("week", self)

    def weekday(self) -> "Expression":
        """The day of the week, Monday 1 to Sunday 7."""
        return _call("weekday", self)

    def date(self) -> "Expression":
        """The date of a timestamp."""
        return _call("date_of", self)

    def truncate(self, unit: str) -> "Expression":
        """The first day of a date's "year", "quarter", "month" or "week"; for "day" the date."""
        return _call("truncate", self, unit)

    def hour(self) -> "Expression":
        """The hour of a timestamp, 0 to 23."""
        return _call("hour", self)

    def minute(self) -> "Expression":
        """The minute of a timestamp's hour, 0 to 59."""
        return _call("minute", self)

    def second(self) -> "Expression":
        """The second of a timestamp's minute, 0 to 59, without its fraction."""
        return _call("second", self)

    def days_since(self, other: Given) -> "Expression":
        """The days from another date to this one, with a fraction if one is a timestamp."""
        return _call("days_since", self, other)

    def hours_since(self, other: Given) -> "Expression":
        """The hours from another date or timestamp to this one, with a fraction."""
        return _call("hours_since", self, other)

    def minutes_since(self, other: Given) -> "Expression":
        """The minutes from another date or timestamp to this one, with a fraction."""
        return _call("minutes_since", self, other)

    def seconds_since(self, other: Given) -> "Expression":
        """The seconds from another date or timestamp to this one, with a fraction."""
        return _call("seconds_since", self, other)

    def at_offset(self, offset: str) -> "Expression":
        """The local time at a fixed offset from UTC, such as "+09:00"."""
        return _call("at_offset", self, offset)

    def to_date(self, format: str) -> "Expression":  # noqa: A002
        """The date of a text by a format such as "%d.%m.%Y"; NULL for other text."""
        return _call("to_date", self, format)

    def to_timestamp(self, format: str) -> "Expression":  # noqa: A002
        """The timestamp of a text by a format such as "%Y-%m-%d %H:%M"; NULL for other text."""
        return _call("to_timestamp", self, format)

    def lower(self) -> "Expression":
        """The text with A to Z in lower case; other letters stay, because engines differ there."""
        return _call("lower", self)

    def length(self) -> "Expression":
        """The number of a text's code points."""
        return _call("length", self)

    def starts_with(self, start: str) -> "Expression":
        """Whether the text begins with a literal one."""
        return _call("starts_with", self, start)

    def prefix(self, length: int) -> "Expression":
        """The first `length` code points of a text, at most 1000."""
        return _call("prefix", self, length)

    def as_number(self) -> "Expression":
        """True as 1 and false as 0; a field of a CSV file as a number, NULL if it is not one."""
        return _call("as_number", self)

    def as_text(self) -> "Expression":
        """A field of a CSV file as text."""
        return _call("as_text", self)


def _call(name: str, *arguments: Given) -> Expression:
    # What expressions are made of are expressions themselves.
    from neyman.tables._expressions._parts import called

    return called(name, *arguments)


def _joined(name: str, *arguments: Given) -> Expression:
    from neyman.tables._expressions._parts import joined

    return joined(name, *arguments)


def _listed(values: Iterable[Given], method: str) -> list[Given]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidParameter(
            f".{method} takes a list; got a {type(values).__name__}. Write [...]"
        )
    return list(values)
