"""The kinds of expressions: columns, literals, and operations on others."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import final

from neyman.errors import InvalidParameter, InvalidTable
from neyman.overriding import override
from neyman.tables import _sql as sql
from neyman.tables._expressions._calendar import as_time, iso_value
from neyman.tables._expressions._expression import Expression, Form, Given
from neyman.tables._expressions._given import check_text, value_of
from neyman.tables._expressions._operations import OPERATIONS, Operation
from neyman.tables._expressions._term import Term, Value
from neyman.tables._expressions._values import column_term, literal_term
from neyman.tables._schema import Schema
from neyman.tables._types import LARGEST, Beyond, Type, in_words

__all__ = ["Call", "Literal", "Named", "called", "col", "expression_of", "joined", "lit"]

_MOST_PARTS = 5_000
_MOST_DEEP = 30
_MOST_NODES = 50_000
# Beyond some 500, walking the tree could exceed Python's stack.
_MOST_LEVELS = 200


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Named(Expression):
    """A column."""

    name: str

    def __post_init__(self) -> None:
        """Check the name."""
        check_text(self.name, "a column's name")

    def __repr__(self) -> str:
        return f"col({self.name!r})"

    @override
    def form(self) -> Form:
        return ["col", self.name]

    @property
    @override
    def parts(self) -> int:
        return 1

    @property
    @override
    def depth(self) -> int:
        return 0

    @override
    def types(self, schema: Schema) -> frozenset[Type]:
        schema[self.name].refuse_coded()
        kind = schema[self.name].kind
        if not kind.types:
            raise InvalidTable(
                f"column {self.name!r} is of type {kind.label}, of which no expression is made; "
                "write one of numbers, text, booleans, dates or timestamps"
            )
        return frozenset(kind.types)

    @override
    def term(self, schema: Schema, wanted: Type) -> Term:
        return column_term(schema[self.name], wanted)


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Literal(Expression):
    """A value that is equal for all rows; None is NULL, of any type."""

    value: Value

    def __repr__(self) -> str:
        if type(self.value) is float and self.value.is_integer() and abs(self.value) < LARGEST:
            return repr(int(self.value))
        return repr(self.value)

    @override
    def form(self) -> Form:
        match self.value:
            case None:
                return ["null"]
            case datetime():
                return ["timestamp", self.value.isoformat()]
            case date():
                return ["date", self.value.isoformat()]
            case value:
                return value

    @property
    @override
    def parts(self) -> int:
        return 1

    @property
    @override
    def depth(self) -> int:
        return 0

    @override
    def types(self, schema: Schema) -> frozenset[Type]:  # noqa: ARG002
        if self.value is None:
            return frozenset(Type)
        return frozenset({_TYPES[type(self.value)]})

    @override
    def term(self, schema: Schema, wanted: Type) -> Term:  # noqa: ARG002
        return literal_term(self.value, wanted)


_TYPES: dict[type, Type] = {
    float: Type.NUMBER,
    str: Type.TEXT,
    bool: Type.TRUTH,
    date: Type.DAY,
    datetime: Type.TIME,
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
        """Check number, literals and size; types need a schema.

        Raises:
            InvalidParameter: if one of these is wrong.
        """
        operation, n = OPERATIONS[name], len(arguments)
        if not operation.least <= n <= operation.most:
            among = range(operation.least, operation.most + 1)
            count = f"{among[0]} to {among[-1]}" if len(among) > 1 else f"{among[0]}"
            raise InvalidParameter(f"{name!r} takes {count} arguments; got {n}")
        if operation.odd and n % 2 == 0:
            raise InvalidParameter(
                f"{name!r} takes conditions, each with its value, and the value of all other rows "
                f"at the end; got {n} arguments"
            )
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "arguments", tuple(arguments))
        object.__setattr__(self, "parts", 1 + sum(part.parts for part in arguments))
        object.__setattr__(self, "depth", 1 + max(part.depth for part in arguments))
        if self.parts > _MOST_PARTS or self.depth > _MOST_DEEP:
            raise InvalidParameter(
                f"an expression must have at most {_MOST_PARTS} parts, {_MOST_DEEP} deep; got "
                f"{self.parts} parts, {self.depth} deep"
            )
        values: list[Value] = []
        for part in arguments[operation.literal :]:
            if not isinstance(part, Literal):
                raise InvalidParameter(f"{name!r} takes a literal there; got {part!r}")
            values.append(part.value)
        wrong = operation.wrong(values) if values else ""
        if wrong:
            raise InvalidParameter(f"{name!r}: {wrong}")

    @property
    def operation(self) -> Operation:
        """Its operation in the list."""
        return OPERATIONS[self.name]

    def __repr__(self) -> str:
        return self.operation.shown([repr(part) for part in self.arguments])

    @override
    def form(self) -> Form:
        return [self.name, *(part.form() for part in self.arguments)]

    @override
    def types(self, schema: Schema) -> frozenset[Type]:
        shared = self._shared(schema)
        gives = self.operation.gives
        return shared if gives is None else frozenset({gives})

    @override
    def term(self, schema: Schema, wanted: Type) -> Term:
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
            part.term(schema, type_) if type_ is not None else _read_as(part, schema, same)
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
        """Return the possible types T; any type if no argument has it."""
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
            shared = self._read_alike(found)
        if not shared:
            said = ", ".join(
                dict.fromkeys(f"{part!r} is {in_words(types)}" for part, types in found)
            )
            raise InvalidTable(
                f"all sides of {self!r} must have one type, "
                f"{in_words(self.operation.among)}; {said}{_of_text(found)}"
            )
        return shared if found else frozenset({Type.NUMBER})

    def _read_alike(self, found: Sequence[tuple[Expression, frozenset[Type]]]) -> frozenset[Type]:
        """Return the one type of all arguments after conversion: dates before timestamps."""
        shared = self.operation.among
        for part, types in found:
            shared = shared & (types | _read_too(part, types))
        return frozenset({Type.DAY}) if Type.DAY in shared else shared


def _read_too(part: Expression, types: frozenset[Type]) -> frozenset[Type]:
    """Return other possible types of an argument that would not fit otherwise.

    A text literal in ISO 8601 can be a date or a timestamp, and a date the timestamp at which it
    begins.
    """
    value = part.value if isinstance(part, Literal) else None
    written = iso_value(value) if isinstance(value, str) else None
    more = {_TYPES[type(written)]} if written is not None else set[Type]()
    return frozenset({*more, Type.TIME}) if Type.DAY in types | more else frozenset(more)


def _read_as(part: Expression, schema: Schema, wanted: Type) -> Term:
    types = part.types(schema) if wanted in (Type.DAY, Type.TIME) else frozenset({wanted})
    if wanted in types:
        return part.term(schema, wanted)
    if isinstance(part, Literal) and isinstance(part.value, str):
        part = Literal(iso_value(part.value))
        types = part.types(schema)
    if wanted in types:
        return part.term(schema, wanted)
    return as_time(part.term(schema, Type.DAY))


def _of_text(found: Sequence[tuple[Expression, frozenset[Type]]]) -> str:
    """Return how text becomes a date, if an argument is text and not a literal."""
    texts = any(Type.TEXT in types and not isinstance(part, Literal) for part, types in found)
    if not texts or any(types <= {Type.NUMBER, Type.TRUTH} for _, types in found):
        return ""
    return '; of text that holds dates, write .to_date("%Y-%m-%d") after it, or another format'


def _instead(types: frozenset[Type], wanted: Type) -> str:
    match wanted:
        case Type.NUMBER if Type.TRUTH in types:
            return "write .as_number() after it"
        case Type.TRUTH:
            return "write a comparison, such as col(...) > 0"
        case _:
            return f"write {wanted.value} there"


def expression_of(given: Given) -> Expression:
    """Return an expression unchanged, and a value as a literal."""
    return given if isinstance(given, Expression) else Literal(value_of(given))


def called(name: str, *arguments: Given) -> Expression:
    """Return an operation of the list on expressions and values."""
    return Call(name, [expression_of(part) for part in arguments])


def joined(name: str, *arguments: Given) -> Expression:
    """Return one flat call for a chain, so that it is not deep."""
    parts: list[Expression] = []
    for given in map(expression_of, arguments):
        if isinstance(given, Call) and given.name == name:
            parts += given.arguments
        else:
            parts.append(given)
    return Call(name, parts)


def col(name: str) -> Expression:
    """Return the column with a name, as an expression.

    >>> col("arr_delay") > 15
    (col('arr_delay') > 15)
    """
    return Named(name)


def lit(value: Given) -> Expression:
    """Return a literal, equal for all rows; operators also take plain values."""
    return expression_of(value)
