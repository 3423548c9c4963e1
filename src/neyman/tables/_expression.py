"""Expressions over a row: what a condition or a new column is made of."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import Any, TypeAlias, cast, final

from neyman.errors import InvalidParameter, InvalidTable
from neyman.tables import _sql as sql
from neyman.tables._expression_operations import OPERATIONS, Operation
from neyman.tables._expression_term import Term, Value
from neyman.tables._expression_types import LARGEST, SMALLEST, Beyond, Type, in_words
from neyman.tables._expression_values import column_term, literal_term
from neyman.tables._schema import Schema

__all__ = ["Call", "Expression", "Form", "Literal", "Named", "check_text", "col", "lit", "when"]

Form: TypeAlias = "float | str | bool | list[Form]"
Given: TypeAlias = "Expression | float | Decimal | Fraction | str | date | None"

_MOST_PARTS = 5_000
_MOST_DEEP = 30
_MOST_NODES = 50_000
# Beyond some 500, walking the tree could exceed Python's stack.
_MOST_LEVELS = 200


class Expression(ABC):
    """A value of each row, made of its columns: immutable, and known by its record.

    Types are checked against a table's schema before anything runs. Every operation is defined for
    all values, so no row can make an engine fail, and all engines give the same bits:

    * numbers are doubles; NaN is NULL; a column's values beyond 2^200 (1.6e60) count as +-2^200,
      and those nearer to zero than 2^-200 as 0;
    * a / 0, a // 0 and a % 0 are NULL, and NULL makes NULL of all but `coalesce`, `is_null`,
      `when`, and `&` and `|` where the other side decides;
    * a // b = floor(a / b) and a % b = a - (a // b) b, of the rounded quotient;
    * text is compared by its bytes in UTF-8;
    * dates outside the years 1 to 9999 are NULL.

    `==` makes an expression; two of them are the same if their `form()` is.

    >>> col("delay").clip(0, 60) / 60 > 0.25
    ((col('delay').clip(0, 60) / 60) > 0.25)
    """

    __slots__ = ()
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    @abstractmethod
    def form(self) -> Form:
        """Return it as nested lists, for JSON and TOML: `read_expression` reads them."""

    @property
    @abstractmethod
    def parts(self) -> int:
        """Columns, literals and operations that it is made of."""

    @property
    @abstractmethod
    def depth(self) -> int:
        """Longest chain of operations."""

    @abstractmethod
    def types(self, schema: Schema) -> frozenset[Type]:
        """Return what it can be, its operations checked.

        Raises:
            UnknownColumn: if there is no such column.
            InvalidTable: if a type does not fit its use.
        """

    @abstractmethod
    def term(self, schema: Schema, wanted: Type) -> Term:
        """Return its tree, as one of `types`."""

    def __bool__(self) -> bool:
        """Refuse: `and`, `or`, `not`, `in` and a < b < c ask for a truth that rows have."""
        raise InvalidParameter(
            f"{self!r} was asked whether it is true, which differs from row to row; write &, |, ~ "
            "with brackets around comparisons in place of and, or, not; .between(a, b) in place "
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
        """Whether it is NULL, as NaN is."""
        return _call("is_null", self)

    def coalesce(self, *others: Given) -> "Expression":
        """The first that is not NULL."""
        return _call("coalesce", self, *others)

    def cut(self, edges: Iterable[Given], labels: Iterable[str] | None = None) -> "Expression":
        """The number of the bin from 0, or its label: [e0, e1), ..., the last one closed.

        Args:
            edges: increasing numbers or dates; outside of them it is NULL.
            labels: one text a bin.
        """
        ends = _listed(edges, "cut")
        if labels is None:
            return _call("cut", self, *ends)
        names = _listed(labels, "cut")
        if len(names) != len(ends) - 1:
            raise InvalidParameter(
                f"{len(names)} labels were given for {len(ends)} edges; write one a bin, one less "
                "than edges"
            )
        pairs = [part for pair in zip(ends, names, strict=False) for part in pair]
        return _call("label", self, *pairs, ends[-1])

    def year(self) -> "Expression":
        """The year of a date, 1 to 9999."""
        return _call("year", self)

    def month(self) -> "Expression":
        """The month of a date, 1 to 12."""
        return _call("month", self)

    def day(self) -> "Expression":
        """The day of a date's month, 1 to 31."""
        return _call("day", self)

    def weekday(self) -> "Expression":
        """The day of a date's week, Monday 1 to Sunday 7."""
        return _call("weekday", self)

    def days_since(self, other: Given) -> "Expression":
        """Days from another date to this one."""
        return _call("days_since", self, other)

    def lower(self) -> "Expression":
        """The text with A to Z in lower case; other letters stay, for engines differ in them."""
        return _call("lower", self)

    def length(self) -> "Expression":
        """The number of a text's code points."""
        return _call("length", self)

    def starts_with(self, start: str) -> "Expression":
        """Whether the text begins with a literal one."""
        return _call("starts_with", self, start)

    def prefix(self, length: int) -> "Expression":
        """The first code points of a text, at most 1000."""
        return _call("prefix", self, length)

    def as_number(self) -> "Expression":
        """True as 1 and false as 0; a field of a CSV file as a number, NULL where it is none."""
        return _call("as_number", self)

    def as_text(self) -> "Expression":
        """A field of a CSV file as the text that it is."""
        return _call("as_text", self)


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Named(Expression):
    """A column."""

    name: str

    def __post_init__(self) -> None:
        """Refuse what is no name."""
        check_text(self.name, "a column's name")

    def __repr__(self) -> str:
        return f"col({self.name!r})"

    def form(self) -> Form:
        """["col", name]."""
        return ["col", self.name]

    @property
    def parts(self) -> int:
        """One."""
        return 1

    @property
    def depth(self) -> int:
        """None."""
        return 0

    def types(self, schema: Schema) -> frozenset[Type]:
        """What its kind can be."""
        kind = schema[self.name].kind
        if not kind.types:
            raise InvalidTable(
                f"column {self.name!r} is of type {kind.label}, of which no expression is made; "
                "write one of numbers, text, booleans or dates"
            )
        return frozenset(kind.types)

    def term(self, schema: Schema, wanted: Type) -> Term:
        """The column as it is read."""
        return column_term(schema[self.name], wanted)


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Literal(Expression):
    """A value that is the same for all rows; None is NULL, of any type."""

    value: Value

    def __repr__(self) -> str:
        if type(self.value) is float and self.value.is_integer() and abs(self.value) < LARGEST:
            return repr(int(self.value))
        return repr(self.value)

    def form(self) -> Form:
        """The value itself; ["date", text] and ["null"]."""
        match self.value:
            case None:
                return ["null"]
            case date():
                return ["date", self.value.isoformat()]
            case value:
                return value

    @property
    def parts(self) -> int:
        """One."""
        return 1

    @property
    def depth(self) -> int:
        """None."""
        return 0

    def types(self, schema: Schema) -> frozenset[Type]:  # noqa: ARG002
        """The value's own."""
        if self.value is None:
            return frozenset(Type)
        return frozenset({_TYPES[type(self.value)]})

    def term(self, schema: Schema, wanted: Type) -> Term:  # noqa: ARG002
        """The value, and its tree."""
        return literal_term(self.value, wanted)


_TYPES: dict[type, Type] = {
    float: Type.NUMBER,
    str: Type.TEXT,
    bool: Type.TRUTH,
    date: Type.DAY,
}


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Call(Expression):
    """An operation of the list on other expressions."""

    name: str
    arguments: tuple[Expression, ...]
    parts: int  # pyright: ignore[reportIncompatibleMethodOverride]
    depth: int  # pyright: ignore[reportIncompatibleMethodOverride]

    def __init__(self, name: str, arguments: Sequence[Expression]) -> None:
        """Check number, literals and size; types wait for a schema.

        Raises:
            InvalidParameter: if one does not fit.
        """
        operation, n = OPERATIONS[name], len(arguments)
        if not operation.least <= n <= operation.most:
            raise InvalidParameter(
                f"{name!r} was given {n} arguments; write {operation.least} to {operation.most}"
            )
        if operation.odd and n % 2 == 0:
            raise InvalidParameter(
                f"{name!r} was given {n} arguments; write conditions each with its value, and the "
                "value of all other rows at the end"
            )
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "arguments", tuple(arguments))
        object.__setattr__(self, "parts", 1 + sum(part.parts for part in arguments))
        object.__setattr__(self, "depth", 1 + max(part.depth for part in arguments))
        if self.parts > _MOST_PARTS or self.depth > _MOST_DEEP:
            raise InvalidParameter(
                f"an expression of {self.parts} parts, {self.depth} deep, was asked for; write at "
                f"most {_MOST_PARTS}, {_MOST_DEEP} deep"
            )
        values: list[Value] = []
        for part in arguments[operation.literal :]:
            if not isinstance(part, Literal):
                raise InvalidParameter(
                    f"{part!r} was given to {name!r}, which takes a literal there; write one"
                )
            values.append(part.value)
        wrong = operation.wrong(values) if values else ""
        if wrong:
            raise InvalidParameter(f"{name!r}: {wrong}")

    @property
    def operation(self) -> Operation:
        """The list's entry."""
        return OPERATIONS[self.name]

    def __repr__(self) -> str:
        return self.operation.shown([repr(part) for part in self.arguments])

    def form(self) -> Form:
        """[operation, argument, ...]."""
        return [self.name, *(part.form() for part in self.arguments)]

    def types(self, schema: Schema) -> frozenset[Type]:
        """What the operation gives of what its arguments can be."""
        shared = self._shared(schema)
        gives = self.operation.gives
        return shared if gives is None else frozenset({gives})

    def term(self, schema: Schema, wanted: Type) -> Term:
        """The operation on the arguments' terms."""
        shared = self._shared(schema)
        if self.operation.gives is None:
            shared = shared & {wanted}
        if len(shared) != 1:
            raise InvalidTable(
                f"{self!r} could be about {in_words(shared)}; write .as_number() or .as_text() "
                "after a column of a CSV file, and no None alone"
            )
        (same,) = shared
        takes = self.operation.takes(len(self.arguments))
        terms = [
            part.term(schema, same if type_ is None else type_)
            for part, type_ in zip(self.arguments, takes, strict=True)
        ]
        try:
            term = self.operation.write(same, terms)
        except Beyond as beyond:
            raise InvalidTable(
                f"{self!r} could leave the range of doubles, for its columns allow results of "
                f"{beyond}; write .clip(lower, upper) or .round(grid) after its factors"
            ) from None
        nodes, deep = sql.size(term.tree)
        if nodes > _MOST_NODES or deep > _MOST_LEVELS:
            raise InvalidTable(
                f"an expression of {self.parts} parts comes to {nodes}, {deep} deep, when it is "
                f"written out, at most {_MOST_NODES}, {_MOST_LEVELS} deep: made columns stand for "
                "what they are made of, and bins, clip, minimum, when and the like name their "
                "argument several times; write a shorter one"
            )
        return term

    def _shared(self, schema: Schema) -> frozenset[Type]:
        """Return what T can be; one of any kind where no argument has it."""
        takes = self.operation.takes(len(self.arguments))
        shared = self.operation.among
        found: list[tuple[Expression, frozenset[Type]]] = []
        for part, type_ in zip(self.arguments, takes, strict=True):
            types = part.types(schema)
            if type_ is None:
                found.append((part, types))
                shared = shared & types
            elif type_ not in types:
                raise InvalidTable(
                    f"{part!r} in {self!r} is {in_words(types)} and must be {type_.value}; "
                    f"{_instead(types, type_)}"
                )
        if not shared:
            said = ", ".join(
                dict.fromkeys(f"{part!r} is {in_words(types)}" for part, types in found)
            )
            raise InvalidTable(
                f"{self!r} was asked for, and {said}; write one type on all sides: "
                f"{in_words(self.operation.among)}"
            )
        return shared if found else frozenset({Type.NUMBER})


def _instead(types: frozenset[Type], wanted: Type) -> str:
    match wanted:
        case Type.NUMBER if Type.TRUTH in types:
            return "write .as_number() after it"
        case Type.TRUTH:
            return "write a comparison, such as col(...) > 0"
        case _:
            return f"write {wanted.value} there"


def check_text(text: object, what: str) -> None:
    """Refuse what no engine can hold."""
    if type(text) is not str or "\0" in text or text != text.encode("utf-8", "replace").decode():
        raise InvalidParameter(
            f"{text!r} was given as {what}; write text without NUL and without half surrogates"
        )


def _value(given: object) -> Value:
    """Return a literal's value: a double, text, a boolean, a date, or None."""
    match given:
        case None | bool():
            return given
        case datetime():
            pass
        case date():
            return date(given.year, given.month, given.day)
        case str():
            check_text(str(given), "text")
            return str(given)
        case float() | Integral() | Decimal() | Fraction():
            return _double(given)
        case _:
            pass
    if type(given).__module__ == "numpy":
        return _value(cast("Any", given).tolist())
    raise InvalidParameter(
        f"a {type(given).__name__} was given in an expression; write a number, text, a boolean, a "
        "date, None, or col(name)"
    )


def _double(given: Any) -> float:
    try:
        value = float(given)
    except (OverflowError, ValueError, TypeError):
        value = float("inf")
    if value and not SMALLEST <= abs(value) <= LARGEST:
        raise InvalidParameter(
            f"the number {given!r:.40} is not 0 nor of a magnitude in [2^-200, 2^200]; write one"
        )
    if isinstance(given, Integral) and value != int(given):
        raise InvalidParameter(
            f"the integer {given!r} is no double, and numbers are compared as doubles: columns of "
            "integers beyond 2^53 are told apart by keys alone; write Keys(...)"
        )
    return value + 0.0


def _expression(given: Given) -> Expression:
    return given if isinstance(given, Expression) else Literal(_value(given))


def _call(name: str, *arguments: Given) -> Expression:
    return Call(name, [_expression(part) for part in arguments])


def _joined(name: str, *arguments: Given) -> Expression:
    """Join a chain into one call, so that it is not deep."""
    parts: list[Expression] = []
    for given in map(_expression, arguments):
        if isinstance(given, Call) and given.name == name:
            parts += given.arguments
        else:
            parts.append(given)
    return Call(name, parts)


def _listed(values: Iterable[Given], method: str) -> list[Given]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidParameter(
            f"a {type(values).__name__} was given to .{method}, which takes a list; write [...]"
        )
    return list(values)


def col(name: str) -> Expression:
    """Return a column of each row, by its name.

    >>> col("arr_delay") > 15
    (col('arr_delay') > 15)
    """
    return Named(name)


def lit(value: Given) -> Expression:
    """Return a value that is the same for all rows; operators take such values as they are."""
    return _expression(value)


@final
@dataclass(frozen=True, slots=True)
class Condition:
    """What `when` returns: a condition that waits for its value."""

    before: tuple[Expression, ...]
    condition: Expression

    def then(self, value: Given) -> "Branches":
        """Return the value's branch."""
        return Branches((*self.before, self.condition, _expression(value)))


@final
@dataclass(frozen=True, slots=True)
class Branches:
    """What `then` returns: conditions with their values."""

    so_far: tuple[Expression, ...]

    def when(self, condition: Given) -> Condition:
        """Add a condition, for rows where those before are not true."""
        return Condition(self.so_far, _expression(condition))

    def otherwise(self, value: Given) -> Expression:
        """Return the expression, with the value of all other rows; None for NULL."""
        return _call("when", *self.so_far, value)


def when(condition: Given) -> Condition:
    """Start a choice between values: the first condition that is true decides.

    >>> when(col("delay") > 15).then("late").otherwise("in time")
    when((col('delay') > 15)).then('late').otherwise('in time')
    """
    return Condition((), _expression(condition))
