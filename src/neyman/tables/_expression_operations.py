"""What expressions are made of: a fixed list of operations, each total and alike on all engines.

Numbers are doubles and never NaN: a column's NaN is NULL, and its values beyond 2^200 and below
2^-200 are read as +-2^200 and 0 (`_expression_values`). From there types alone bound how far any
result can get (`_expression_types.Range`), so nothing overflows, nothing is rounded to zero, no
infinity and no NaN comes up. What is left of partial operations is the quotient by zero: NULL.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import pairwise
from typing import TypeAlias, cast, final

from sqlglot import exp

from neyman.tables import _sql as sql
from neyman.tables._expression_types import LARGEST, SMALLEST, Range, Type
from neyman.tables._sql import Tree

__all__ = ["OPERATIONS", "Operation", "Term", "Value"]

Value: TypeAlias = float | str | bool | date | None
Values: TypeAlias = Sequence[Value]
Shown: TypeAlias = Callable[[Sequence[str]], str]

_ALL = frozenset(Type)
_ORDERED = frozenset({Type.NUMBER, Type.TEXT, Type.DAY})
_CUT = frozenset({Type.NUMBER, Type.DAY})
_N, _X, _B, _D = Type.NUMBER, Type.TEXT, Type.TRUTH, Type.DAY
_MANY = 1000
_FIRST_DAY = "0001-01-01"
_UPPER, _LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"


@final
@dataclass(frozen=True, slots=True)
class Term:
    """A value as a tree.

    Attributes:
        tree: its tree.
        range: bounds of a number.
        value: of a literal.
        raw: of a column of doubles, the tree that is NULL for NaN and clips nothing: enough for
            comparisons with literals, and half the work.
    """

    tree: Tree
    range: Range = field(default_factory=lambda: Range.whole(0))
    value: Value = None
    raw: Tree | None = None

    def __call__(self) -> Tree:
        """Return a copy that can stand as a part of any tree."""
        return sql.part(self.tree)


Write: TypeAlias = Callable[[Type, Sequence[Term]], Term]


@final
@dataclass(frozen=True, slots=True)
class Operation:
    """One entry of the list.

    Attributes:
        name: in the record.
        takes: types of its arguments, by their number; None for one type T that they share.
        gives: its type; None for T.
        write: its tree, of T and of the arguments' terms.
        shown: its text, of the arguments' texts.
        least: fewest arguments.
        most: most of them.
        among: what T may be.
        literal: from which argument on they must be literals.
        wrong: what is wrong with the values of those, in words; empty if nothing is.
        odd: whether the number of arguments is.
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
    """The last one over and over."""
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


def _sum(_: Type, terms: Sequence[Term]) -> Term:
    a, b = terms
    return Term(exp.Add(this=a(), expression=b()), a.range + b.range)


def _difference(_: Type, terms: Sequence[Term]) -> Term:
    a, b = terms
    return Term(exp.Sub(this=a(), expression=b()), a.range + b.range)


def _product(_: Type, terms: Sequence[Term]) -> Term:
    a, b = terms
    return Term(exp.Mul(this=a(), expression=b()), a.range * b.range)


def _quotient(_: Type, terms: Sequence[Term]) -> Term:
    a, b = terms
    # In brackets, a literal too: such quotients are known to be in range.
    never_zero = type(b.value) is float and b.value != 0
    part = exp.Paren(this=b.tree.copy())
    divisor = part if never_zero else exp.Nullif(this=part, expression=sql.double(0.0))
    return Term(exp.Div(this=a(), expression=divisor), a.range / b.range)


def _floor(term: Term) -> Term:
    return Term(exp.Floor(this=term()), term.range.floor())


def _whole_quotient(t: Type, terms: Sequence[Term]) -> Term:
    return _floor(_quotient(t, terms))


def _remainder(t: Type, terms: Sequence[Term]) -> Term:
    """Write a - floor(a / b) b."""
    a, b = terms
    return _difference(t, [a, _product(t, [_whole_quotient(t, terms), b])])


def _rounded(t: Type, terms: Sequence[Term]) -> Term:
    """floor(x / grid + 1/2) grid, as bounds round."""
    x, grid = terms
    half = Term(sql.double(0.5), Range.of(0.5))
    return _product(t, [_floor(_sum(t, [_quotient(t, [x, grid]), half])), grid])


def _negative(_: Type, terms: Sequence[Term]) -> Term:
    return Term(exp.Neg(this=terms[0]()), terms[0].range)


def _magnitude(_: Type, terms: Sequence[Term]) -> Term:
    return Term(exp.Abs(this=terms[0]()), terms[0].range)


def _case(branches: Sequence[tuple[Tree, Tree]], default: Tree | None) -> Tree:
    ifs = [exp.If(this=condition, true=value) for condition, value in branches]
    return exp.Case(ifs=ifs, default=default)


def _smaller(_: Type, terms: Sequence[Term]) -> Term:
    a, b = terms
    first = exp.LTE(this=a(), expression=b()), a()
    second = exp.GT(this=a(), expression=b()), b()
    return Term(_case([first, second], None), a.range | b.range)


def _greater(_: Type, terms: Sequence[Term]) -> Term:
    a, b = terms
    first = exp.GTE(this=a(), expression=b()), a()
    second = exp.LT(this=a(), expression=b()), b()
    return Term(_case([first, second], None), a.range | b.range)


def _clipped(_: Type, terms: Sequence[Term]) -> Term:
    x, low, high = terms
    below = exp.LT(this=x(), expression=low()), low()
    above = exp.GT(this=x(), expression=high()), high()
    ends = low.range | high.range
    inside = Range(x.range.low, min(x.range.high, ends.high), x.range.unit)
    return Term(_case([below, above], x()), inside | ends)


def _compared(t: Type, term: Term) -> Tree:
    """Text is compared by its bytes in UTF-8, whatever the collation."""
    return sql.encoded(term.tree.copy()) if t is _X else term()


# Whether what is nearer to zero than SMALLEST counts as zero, said of the value before that.
_WITH_ZERO: Mapping[type[exp.Binary], tuple[type[exp.Binary], float]] = {
    exp.GT: (exp.GTE, SMALLEST),
    exp.GTE: (exp.GT, -SMALLEST),
    exp.LT: (exp.LTE, -SMALLEST),
    exp.LTE: (exp.LT, SMALLEST),
}


def _unclipped(x: Term, literals: Sequence[Term]) -> Term:
    """Return the value before clipping, where that compares alike with all of the literals."""
    values = [term.value for term in literals]
    alike = all(type(value) is float and SMALLEST < abs(value) < LARGEST for value in values)
    return Term(x.raw, x.range) if alike and x.raw is not None else x


def _comparison(node: type[exp.Binary]) -> Write:
    def write(t: Type, terms: Sequence[Term]) -> Term:
        x, bound = terms
        if x.raw is not None and bound.value == 0 and node in _WITH_ZERO:
            moved, least = _WITH_ZERO[node]
            return Term(moved(this=sql.part(x.raw), expression=sql.double(least)))
        first = _compared(t, _unclipped(x, [bound]))
        return Term(node(this=first, expression=_compared(t, bound)))

    return write


def _between(t: Type, terms: Sequence[Term]) -> Term:
    first, *ends = terms
    x, low, high = (_compared(t, term) for term in (_unclipped(first, ends), *ends))
    return Term(exp.Between(this=x, low=low, high=high))


def _is_in(t: Type, terms: Sequence[Term]) -> Term:
    first, *rest = terms
    first = _unclipped(first, rest)
    # Spark looks long lists up in a table of hashes, where -0 and 0 differ.
    first = _sum(t, [first, Term(sql.double(0.0))]) if t is _N else first
    return Term(exp.In(this=_compared(t, first), expressions=[_compared(t, x) for x in rest]))


def _is_null(_: Type, terms: Sequence[Term]) -> Term:
    value = terms[0].raw or terms[0].tree
    return Term(exp.Is(this=sql.part(value), expression=exp.null()))


def _connected(node: type[exp.Connector]) -> Write:
    def write(_: Type, terms: Sequence[Term]) -> Term:
        parts = [term() for term in terms]
        tree = parts[0]
        for part in parts[1:]:
            tree = node(this=tree, expression=part)
        return Term(tree)

    return write


def _not(_: Type, terms: Sequence[Term]) -> Term:
    return Term(exp.Not(this=terms[0]()))


def _any_range(terms: Sequence[Term]) -> Range:
    found = terms[0].range
    for term in terms[1:]:
        found = found | term.range
    return found


def _when(_: Type, terms: Sequence[Term]) -> Term:
    values = [*terms[1::2], terms[-1]]
    pairs = [(c(), v()) for c, v in zip(terms[:-1:2], terms[1::2], strict=True)]
    return Term(_case(pairs, terms[-1]()), _any_range(values))


def _coalesced(_: Type, terms: Sequence[Term]) -> Term:
    first, *rest = terms
    return Term(
        exp.Coalesce(this=first(), expressions=[term() for term in rest]), _any_range(terms)
    )


def _same(_: Type, terms: Sequence[Term]) -> Term:
    return terms[0]


def _as_number(t: Type, terms: Sequence[Term]) -> Term:
    if t is _N:
        return terms[0]
    return Term(sql.cast(sql.cast(terms[0](), "INT"), "DOUBLE"), Range.whole(0))


def _place(x: Term, cuts: Sequence[Term], results: Sequence[Term]) -> Tree:
    """Return the result whose place is how many of the increasing cuts are at most x."""
    if not cuts:
        return results[0]()
    middle = len(cuts) // 2
    below = exp.LT(this=x(), expression=cuts[middle]())
    return _case(
        [(below, _place(x, cuts[:middle], results[: middle + 1]))],
        _place(x, cuts[middle + 1 :], results[middle + 1 :]),
    )


def _cut(x: Term, edges: Sequence[Term], results: Sequence[Term]) -> Tree:
    """[e0, e1), [e1, e2), ..., [em, en]; NULL outside."""
    inside = exp.Between(this=x(), low=edges[0](), high=edges[-1]())
    return _case([(inside, _place(x, edges[1:-1], results))], None)


def _numbered(_: Type, terms: Sequence[Term]) -> Term:
    x, *edges = terms
    results = [Term(sql.double(float(i))) for i in range(len(edges) - 1)]
    return Term(_cut(x, edges, results), Range.whole(len(edges).bit_length()))


def _labelled(_: Type, terms: Sequence[Term]) -> Term:
    x, *rest = terms
    return Term(_cut(x, rest[::2], rest[1::2]))


def _part_of_day(unit: str) -> Write:
    def write(_: Type, terms: Sequence[Term]) -> Term:
        part = exp.Extract(this=exp.var(unit), expression=terms[0]())
        return Term(sql.cast(part, "DOUBLE"), Range.whole(14))

    return write


def _days(_: Type, terms: Sequence[Term]) -> Term:
    a, b = terms
    days = exp.DateDiff(this=a(), expression=b(), unit=exp.var("DAY"))
    return Term(sql.cast(days, "DOUBLE"), Range.whole(22))


def _weekday(t: Type, terms: Sequence[Term]) -> Term:
    """The first day of year 1 was a Monday."""
    first = Term(sql.cast(sql.text(_FIRST_DAY), "DATE"))
    seven, one = (Term(sql.double(x), Range.of(x)) for x in (7.0, 1.0))
    day = _sum(t, [_remainder(t, [_days(t, [terms[0], first]), seven]), one])
    return Term(day.tree, Range.whole(3))


def _length(_: Type, terms: Sequence[Term]) -> Term:
    return Term(sql.cast(exp.Length(this=terms[0]()), "DOUBLE"), Range.whole(32))


def _lower(_: Type, terms: Sequence[Term]) -> Term:
    signs = sql.text(_UPPER), sql.text(_LOWER)
    return Term(exp.Anonymous(this="TRANSLATE", expressions=[terms[0](), *signs]))


def _first_signs(term: Term, number: int) -> Term:
    return Term(
        exp.Substring(this=term(), start=sql.integer(1), length=sql.integer(number)),
    )


def _prefix(_: Type, terms: Sequence[Term]) -> Term:
    return _first_signs(terms[0], int(cast("float", terms[1].value)))


def _starts(t: Type, terms: Sequence[Term]) -> Term:
    x, start = terms
    first = _first_signs(x, len(str(start.value)))
    return Term(exp.EQ(this=_compared(t, first), expression=_compared(t, start)))


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
    days = [value.toordinal() for value in values if isinstance(value, date)]
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


def _compare(name: str, node: type[exp.Binary], among: frozenset[Type] = _ORDERED) -> Operation:
    return Operation(name, _each(None), _B, _comparison(node), _infix(name), 2, 2, among)


_LISTED = (
    _two("+", _sum, _infix("+")),
    _two("-", _difference, _infix("-")),
    _two("*", _product, _infix("*")),
    _two("/", _quotient, _infix("/")),
    _two("//", _whole_quotient, _infix("//")),
    _two("%", _remainder, _infix("%")),
    _two("minimum", _smaller, _method("minimum")),
    _two("maximum", _greater, _method("maximum")),
    _one("neg", _N, _N, _negative, lambda parts: f"(-{parts[0]})"),
    _one("abs", _N, _N, _magnitude, lambda parts: f"abs({parts[0]})"),
    Operation("clip", _each(_N), _N, _clipped, _method("clip"), 3, 3, literal=1, wrong=_no_clip),
    Operation("round", _each(_N), _N, _rounded, _method("round"), 2, 2, literal=1, wrong=_no_grid),
    _compare("==", exp.EQ, _ALL),
    _compare("!=", exp.NEQ, _ALL),
    _compare("<", exp.LT),
    _compare("<=", exp.LTE),
    _compare(">", exp.GT),
    _compare(">=", exp.GTE),
    Operation("between", _each(None), _B, _between, _method("between"), 3, 3, _ORDERED),
    Operation(
        "in", _each(None), _B, _is_in, _method("is_in", 1), 2, _MANY + 1, literal=1, wrong=_no_null
    ),
    Operation("is_null", _each(None), _B, _is_null, _method("is_null"), 1, 1),
    Operation("and", _each(_B), _B, _connected(exp.And), _infix("&"), 2, _MANY),
    Operation("or", _each(_B), _B, _connected(exp.Or), _infix("|"), 2, _MANY),
    _one("not", _B, _B, _not, lambda parts: f"(~{parts[0]})"),
    Operation("when", _branches, None, _when, _shown_when, 3, _MANY, odd=True),
    Operation("coalesce", _each(None), None, _coalesced, _method("coalesce"), 2, _MANY),
    Operation(
        "as_number",
        _each(None),
        _N,
        _as_number,
        _method("as_number"),
        1,
        1,
        frozenset({_N, _B}),
    ),
    _one("as_text", _X, _X, _same, _method("as_text")),
    Operation(
        "cut",
        _each(None),
        _N,
        _numbered,
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
        _labelled,
        _shown_labels,
        4,
        2 * _MANY + 2,
        _CUT,
        literal=1,
        wrong=_no_labels,
    ),
    _one("year", _D, _N, _part_of_day("YEAR"), _method("year")),
    _one("month", _D, _N, _part_of_day("MONTH"), _method("month")),
    _one("day", _D, _N, _part_of_day("DAY"), _method("day")),
    _one("weekday", _D, _N, _weekday, _method("weekday")),
    Operation("days_since", _each(_D), _N, _days, _method("days_since"), 2, 2),
    _one("lower", _X, _X, _lower, _method("lower")),
    _one("length", _X, _N, _length, _method("length")),
    Operation(
        "starts_with",
        _each(_X),
        _B,
        _starts,
        _method("starts_with"),
        2,
        2,
        literal=1,
        wrong=_no_start,
    ),
    Operation(
        "prefix", _each(_X, _N), _X, _prefix, _method("prefix"), 2, 2, literal=1, wrong=_no_size
    ),
)
OPERATIONS: Mapping[str, Operation] = {operation.name: operation for operation in _LISTED}
