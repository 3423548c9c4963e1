"""The fixed list of operations of expressions, each total and equal on all engines.

Numbers are doubles and never NaN: a column's NaN is NULL, and its values beyond 2^200 and below
2^-200 count as +-2^200 and 0 (`_values`). Then types alone bound every result (`_types.Range`), so
there is no overflow, no underflow, no infinity and no NaN. The only partial operation left is the
quotient by zero, which is NULL.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import TypeAlias, final

from sqlglot import exp

from neyman.tables._expressions import _calendar as calendar
from neyman.tables._expressions import _trees as trees
from neyman.tables._expressions import _written as written
from neyman.tables._expressions._term import Value, Write
from neyman.tables._instant import since_year_1
from neyman.tables._types import Type

__all__ = ["OPERATIONS", "Operation"]

Values: TypeAlias = Sequence[Value]
Shown: TypeAlias = Callable[[Sequence[str]], str]

_ALL = frozenset(Type)
_N, _X, _B, _D, _T = Type.NUMBER, Type.TEXT, Type.TRUTH, Type.DAY, Type.TIME
_ORDERED = frozenset({_N, _X, _D, _T})
_CUT = frozenset({_N, _D, _T})
_DAYS = frozenset({_D, _T})
_MANY = 1000


@final
@dataclass(frozen=True, slots=True)
class Operation:
    """One entry of the list.

    Attributes:
        name: its name in the record.
        takes: the types of its arguments, by their number; None for a common type T.
        gives: the type of its result; None for T.
        write: a function from T and the arguments' terms to its tree.
        shown: a function from the arguments' texts to its text.
        least: the smallest number of arguments.
        most: the largest number of arguments.
        among: the possible types T.
        literal: the first argument from which all must be literals.
        wrong: a function that describes a fault in their values; empty if there is none.
        odd: whether the number of arguments must be odd.
    """

    name: str
    takes: Callable[[int], Sequence[Type | None]]
    gives: Type | None
    write: Write
    shown: Shown
    least: int
    most: int
    among: frozenset[Type] = _ALL
    literal: int = _MANY
    wrong: Callable[[Values], str] = lambda _: ""
    odd: bool = False


def _each(*types: Type | None) -> Callable[[int], Sequence[Type | None]]:
    """Return types by number of arguments, where the last one repeats."""
    return lambda n: [*types[:n], *[types[-1]] * (n - len(types))]


def _infix(sign: str) -> Shown:
    return lambda parts: f"({f' {sign} '.join(parts)})"


def _method(name: str, listed: int = _MANY) -> Shown:
    def shown(parts: Sequence[str]) -> str:
        given = [*parts[1:listed]]
        if len(parts) > listed:
            given.append(f"[{', '.join(parts[listed:])}]")
        return f"{parts[0]}.{name}({', '.join(given)})"

    return shown


def _no_null(values: Values) -> str:
    return "None is among them; write .is_null() for it" if None in values else ""


def _no_grid(values: Values) -> str:
    good = type(values[0]) is float and values[0] > 0
    return "" if good else f"the grid is {values[0]!r}; write a positive number"


def _no_clip(values: Values) -> str:
    low, high = values
    good = type(low) is float and type(high) is float and low <= high
    return "" if good else f"the ends are {low!r} and {high!r}; write two numbers, the lower first"


def _no_edges(values: Values) -> str:
    numbers = [value for value in values if type(value) is float]
    days = [since_year_1(value) for value in values if isinstance(value, date)]
    edges = numbers or days
    if len(edges) != len(values) or any(low >= high for low, high in pairwise(edges)):
        return "the edges are not increasing numbers or dates; write such"
    return ""


def _no_labels(values: Values) -> str:
    labels = values[1::2]
    if len(values) % 2 == 0 or not all(type(label) is str for label in labels):
        return "one text label a bin is needed, one less than edges; write such"
    return _no_edges(values[::2])


def _no_size(values: Values) -> str:
    size = values[0]
    good = type(size) is float and size.is_integer() and 1 <= size <= _MANY
    return "" if good else f"the length is {size!r}; write an integer in [1, {_MANY}]"


def _no_start(values: Values) -> str:
    good = type(values[0]) is str and bool(values[0])
    return "" if good else f"the start is {values[0]!r}; write text of a letter at least"


def _no_unit(values: Values) -> str:
    units = ", ".join(map(repr, calendar.UNITS))
    good = values[0] in calendar.UNITS
    return "" if good else f"the unit is {values[0]!r}; write one of {units}"


def _no_format(known: Sequence[str]) -> Callable[[Values], str]:
    def wrong(values: Values) -> str:
        if values[0] in known:
            return ""
        shown = ", ".join(map(repr, known))
        return f"the format is {values[0]!r}; write one of {shown}"

    return wrong


def _parsed(name: str, gives: Type, write: Write, known: Sequence[str]) -> Operation:
    wrong = _no_format(known)
    return Operation(name, _each(_X, _X), gives, write, _method(name), 2, 2, literal=1, wrong=wrong)


def _no_offset(values: Values) -> str:
    if calendar.offset_of(values[0]) is not None:
        return ""
    return (
        f"the zone is {values[0]!r}; write a fixed offset from '-14:59' to '+14:59', such as "
        "'+09:00': the hours of a named zone depend on the machine that looks them up"
    )


def _branches(n: int) -> Sequence[Type | None]:
    return [_B if i % 2 == 0 and i < n - 1 else None for i in range(n)]


def _shown_when(parts: Sequence[str]) -> str:
    pairs = zip(parts[:-1:2], parts[1::2], strict=False)
    return "".join(
        [f"{'.' if i else ''}when({c}).then({v})" for i, (c, v) in enumerate(pairs)]
        + [f".otherwise({parts[-1]})"]
    )


def _shown_labels(parts: Sequence[str]) -> str:
    x, *rest = parts
    return f"{x}.cut([{', '.join(rest[::2])}], labels=[{', '.join(rest[1::2])}])"


def _two(name: str, write: Write, shown: Shown) -> Operation:
    return Operation(name, _each(_N), _N, write, shown, 2, 2)


def _one(name: str, of: Type, gives: Type, write: Write, shown: Shown) -> Operation:
    return Operation(name, _each(of), gives, write, shown, 1, 1)


def _of_day(name: str, write: Write) -> Operation:
    return Operation(name, _each(None), _N, write, _method(name), 1, 1, _DAYS)


def _since(unit: str) -> Operation:
    name = f"{unit}s_since"
    return Operation(name, _each(None), _N, calendar.since(unit), _method(name), 2, 2, _DAYS)


def _compare(name: str, node: type[exp.Binary], among: frozenset[Type] = _ORDERED) -> Operation:
    return Operation(name, _each(None), _B, trees.comparison(node), _infix(name), 2, 2, among)


_LISTED = (
    _two("+", trees.added, _infix("+")),
    Operation("-", _each(None), _N, calendar.difference, _infix("-"), 2, 2, _CUT),
    _two("*", trees.product, _infix("*")),
    _two("/", trees.quotient, _infix("/")),
    _two("//", trees.whole_quotient, _infix("//")),
    _two("%", trees.remainder, _infix("%")),
    _two("minimum", trees.smaller, _method("minimum")),
    _two("maximum", trees.greater, _method("maximum")),
    _one("neg", _N, _N, trees.negative, lambda parts: f"(-{parts[0]})"),
    _one("abs", _N, _N, trees.magnitude, lambda parts: f"abs({parts[0]})"),
    Operation(
        "clip", _each(_N), _N, trees.clipped, _method("clip"), 3, 3, literal=1, wrong=_no_clip
    ),
    Operation(
        "round", _each(_N), _N, trees.rounded, _method("round"), 2, 2, literal=1, wrong=_no_grid
    ),
    _compare("==", exp.EQ, _ALL),
    _compare("!=", exp.NEQ, _ALL),
    _compare("<", exp.LT),
    _compare("<=", exp.LTE),
    _compare(">", exp.GT),
    _compare(">=", exp.GTE),
    Operation("between", _each(None), _B, trees.between, _method("between"), 3, 3, _ORDERED),
    Operation(
        "in",
        _each(None),
        _B,
        trees.is_in,
        _method("is_in", 1),
        2,
        _MANY + 1,
        literal=1,
        wrong=_no_null,
    ),
    Operation("is_null", _each(None), _B, trees.is_null, _method("is_null"), 1, 1),
    Operation("and", _each(_B), _B, trees.connected(exp.And), _infix("&"), 2, _MANY),
    Operation("or", _each(_B), _B, trees.connected(exp.Or), _infix("|"), 2, _MANY),
    _one("not", _B, _B, trees.negated, lambda parts: f"(~{parts[0]})"),
    Operation("when", _branches, None, trees.when, _shown_when, 3, _MANY, odd=True),
    Operation("coalesce", _each(None), None, trees.coalesced, _method("coalesce"), 2, _MANY),
    Operation(
        "as_number",
        _each(None),
        _N,
        trees.as_number,
        _method("as_number"),
        1,
        1,
        frozenset({_N, _B}),
    ),
    _one("as_text", _X, _X, trees.same, _method("as_text")),
    Operation(
        "cut",
        _each(None),
        _N,
        trees.numbered,
        _method("cut", 1),
        3,
        _MANY + 2,
        _CUT,
        literal=1,
        wrong=_no_edges,
    ),
    Operation(
        "label",
        lambda n: [None, *(None if i % 2 == 0 else _X for i in range(n - 1))],
        _X,
        trees.labelled,
        _shown_labels,
        4,
        2 * _MANY + 2,
        _CUT,
        literal=1,
        wrong=_no_labels,
    ),
    *(_of_day(unit, calendar.part_of_day(unit.upper())) for unit in ("year", "month", "day")),
    _of_day("week", calendar.part_of_day("WEEK")),
    _of_day("weekday", calendar.weekday),
    Operation("date_of", _each(None), _D, calendar.to_day, _method("date"), 1, 1, _DAYS),
    Operation(
        "truncate",
        _each(None, _X),
        _D,
        calendar.truncated,
        _method("truncate"),
        2,
        2,
        _DAYS,
        literal=1,
        wrong=_no_unit,
    ),
    _one("hour", _T, _N, calendar.clock("day", "hour"), _method("hour")),
    _one("minute", _T, _N, calendar.clock("hour", "minute"), _method("minute")),
    _one("second", _T, _N, calendar.clock("minute", "second"), _method("second")),
    *(_since(unit) for unit in ("day", "hour", "minute", "second")),
    Operation(
        "at_offset",
        _each(_T, _X),
        _T,
        calendar.moved,
        _method("at_offset"),
        2,
        2,
        literal=1,
        wrong=_no_offset,
    ),
    _parsed("to_date", _D, written.to_date, written.DATE_FORMATS),
    _parsed("to_timestamp", _T, written.to_timestamp, written.TIMESTAMP_FORMATS),
    _one("lower", _X, _X, trees.lower, _method("lower")),
    _one("length", _X, _N, trees.length, _method("length")),
    Operation(
        "starts_with",
        _each(_X),
        _B,
        trees.starts,
        _method("starts_with"),
        2,
        2,
        literal=1,
        wrong=_no_start,
    ),
    Operation(
        "prefix",
        _each(_X, _N),
        _X,
        trees.prefix,
        _method("prefix"),
        2,
        2,
        literal=1,
        wrong=_no_size,
    ),
)
OPERATIONS: Mapping[str, Operation] = {operation.name: operation for operation in _LISTED}
