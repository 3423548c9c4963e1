"""The trees of operations, each total and equal on all engines."""

from collections.abc import Mapping, Sequence
from typing import cast

from sqlglot import exp

from neyman.tables import _sql as sql
from neyman.tables._expressions._term import Term, Write
from neyman.tables._sql import Tree
from neyman.tables._types import LARGEST, SMALLEST, Range, Type

__all__ = [
    "added",
    "as_number",
    "between",
    "clipped",
    "coalesced",
    "comparison",
    "connected",
    "difference",
    "greater",
    "is_in",
    "is_null",
    "labelled",
    "length",
    "lower",
    "magnitude",
    "negated",
    "negative",
    "numbered",
    "prefix",
    "product",
    "quotient",
    "remainder",
    "rounded",
    "same",
    "smaller",
    "starts",
    "when",
    "whole_quotient",
]

_N, _X = Type.NUMBER, Type.TEXT
_UPPER, _LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"


def added(_: Type, terms: Sequence[Term]) -> Term:
    a, b = terms
    return Term(exp.Add(this=a(), expression=b()), a.range + b.range)


def difference(_: Type, terms: Sequence[Term]) -> Term:
    a, b = terms
    return Term(exp.Sub(this=a(), expression=b()), a.range + b.range)


def product(_: Type, terms: Sequence[Term]) -> Term:
    a, b = terms
    return Term(exp.Mul(this=a(), expression=b()), a.range * b.range)


def quotient(_: Type, terms: Sequence[Term]) -> Term:
    a, b = terms
    # In brackets, a literal too: such quotients are known to be in range.
    never_zero = type(b.value) is float and b.value != 0
    part = exp.Paren(this=b.tree.copy())
    divisor = part if never_zero else exp.Nullif(this=part, expression=sql.double(0.0))
    return Term(exp.Div(this=a(), expression=divisor), a.range / b.range)


def _floor(term: Term) -> Term:
    return Term(exp.Floor(this=term()), term.range.floor())


def whole_quotient(t: Type, terms: Sequence[Term]) -> Term:
    return _floor(quotient(t, terms))


def remainder(t: Type, terms: Sequence[Term]) -> Term:
    """Write a - floor(a / b) b."""
    a, b = terms
    return difference(t, [a, product(t, [whole_quotient(t, terms), b])])


def rounded(t: Type, terms: Sequence[Term]) -> Term:
    """Write floor(x / grid + 1/2) grid, as bounds round."""
    x, grid = terms
    half = Term(sql.double(0.5), Range.of(0.5))
    return product(t, [_floor(added(t, [quotient(t, [x, grid]), half])), grid])


def negative(_: Type, terms: Sequence[Term]) -> Term:
    return Term(exp.Neg(this=terms[0]()), terms[0].range)


def magnitude(_: Type, terms: Sequence[Term]) -> Term:
    return Term(exp.Abs(this=terms[0]()), terms[0].range)


def _case(branches: Sequence[tuple[Tree, Tree]], default: Tree | None) -> Tree:
    ifs = [exp.If(this=condition, true=value) for condition, value in branches]
    return exp.Case(ifs=ifs, default=default)


def smaller(_: Type, terms: Sequence[Term]) -> Term:
    a, b = terms
    first = exp.LTE(this=a(), expression=b()), a()
    second = exp.GT(this=a(), expression=b()), b()
    return Term(_case([first, second], None), a.range | b.range)


def greater(_: Type, terms: Sequence[Term]) -> Term:
    a, b = terms
    first = exp.GTE(this=a(), expression=b()), a()
    second = exp.LT(this=a(), expression=b()), b()
    return Term(_case([first, second], None), a.range | b.range)


def clipped(_: Type, terms: Sequence[Term]) -> Term:
    x, low, high = terms
    below = exp.LT(this=x(), expression=low()), low()
    above = exp.GT(this=x(), expression=high()), high()
    ends = low.range | high.range
    inside = Range(x.range.low, min(x.range.high, ends.high), x.range.unit)
    return Term(_case([below, above], x()), inside | ends)


def _compared(t: Type, term: Term) -> Tree:
    """Write a comparable value: text is compared by its UTF-8 bytes under any collation."""
    return sql.encoded(term.tree.copy()) if t is _X else term()


# Whether what is nearer to zero than SMALLEST counts as zero, said of the value before that.
_WITH_ZERO: Mapping[type[exp.Binary], tuple[type[exp.Binary], float]] = {
    exp.GT: (exp.GTE, SMALLEST),
    exp.GTE: (exp.GT, -SMALLEST),
    exp.LT: (exp.LTE, -SMALLEST),
    exp.LTE: (exp.LT, SMALLEST),
}


def _unclipped(x: Term, literals: Sequence[Term]) -> Term:
    """Return the value before clipping, if all comparisons with the literals give the same."""
    values = [term.value for term in literals]
    alike = all(type(value) is float and SMALLEST < abs(value) < LARGEST for value in values)
    return Term(x.raw, x.range) if alike and x.raw is not None else x


def comparison(node: type[exp.Binary]) -> Write:
    def write(t: Type, terms: Sequence[Term]) -> Term:
        x, bound = terms
        if x.raw is not None and bound.value == 0 and node in _WITH_ZERO:
            moved, least = _WITH_ZERO[node]
            return Term(moved(this=sql.part(x.raw), expression=sql.double(least)))
        first = _compared(t, _unclipped(x, [bound]))
        return Term(node(this=first, expression=_compared(t, bound)))

    return write


def between(t: Type, terms: Sequence[Term]) -> Term:
    first, *ends = terms
    x, low, high = (_compared(t, term) for term in (_unclipped(first, ends), *ends))
    return Term(exp.Between(this=x, low=low, high=high))


def is_in(t: Type, terms: Sequence[Term]) -> Term:
    first, *rest = terms
    first = _unclipped(first, rest)
    # Spark looks long lists up in a table of hashes, where -0 and 0 differ.
    first = added(t, [first, Term(sql.double(0.0))]) if t is _N else first
    return Term(exp.In(this=_compared(t, first), expressions=[_compared(t, x) for x in rest]))


def is_null(_: Type, terms: Sequence[Term]) -> Term:
    value = terms[0].raw or terms[0].tree
    return Term(exp.Is(this=sql.part(value), expression=exp.null()))


def connected(node: type[exp.Connector]) -> Write:
    def write(_: Type, terms: Sequence[Term]) -> Term:
        parts = [term() for term in terms]
        tree = parts[0]
        for part in parts[1:]:
            tree = node(this=tree, expression=part)
        return Term(tree)

    return write


def negated(_: Type, terms: Sequence[Term]) -> Term:
    return Term(exp.Not(this=terms[0]()))


def _any_range(terms: Sequence[Term]) -> Range:
    found = terms[0].range
    for term in terms[1:]:
        found = found | term.range
    return found


def when(_: Type, terms: Sequence[Term]) -> Term:
    values = [*terms[1::2], terms[-1]]
    pairs = [(c(), v()) for c, v in zip(terms[:-1:2], terms[1::2], strict=True)]
    return Term(_case(pairs, terms[-1]()), _any_range(values))


def coalesced(_: Type, terms: Sequence[Term]) -> Term:
    first, *rest = terms
    return Term(
        exp.Coalesce(this=first(), expressions=[term() for term in rest]), _any_range(terms)
    )


def same(_: Type, terms: Sequence[Term]) -> Term:
    return terms[0]


def as_number(t: Type, terms: Sequence[Term]) -> Term:
    if t is _N:
        return terms[0]
    return Term(sql.cast(sql.cast(terms[0](), "INT"), "DOUBLE"), Range.whole(0))


def _place(x: Term, cuts: Sequence[Term], results: Sequence[Term]) -> Tree:
    """Return the result whose place is the number of increasing cuts that are at most x."""
    if not cuts:
        return results[0]()
    middle = len(cuts) // 2
    below = exp.LT(this=x(), expression=cuts[middle]())
    return _case(
        [(below, _place(x, cuts[:middle], results[: middle + 1]))],
        _place(x, cuts[middle + 1 :], results[middle + 1 :]),
    )


def _cut(x: Term, edges: Sequence[Term], results: Sequence[Term]) -> Tree:
    """Write the bin of [e0, e1), [e1, e2), ..., [em, en]; NULL outside."""
    inside = exp.Between(this=x(), low=edges[0](), high=edges[-1]())
    return _case([(inside, _place(x, edges[1:-1], results))], None)


def numbered(_: Type, terms: Sequence[Term]) -> Term:
    x, *edges = terms
    results = [Term(sql.double(float(i))) for i in range(len(edges) - 1)]
    return Term(_cut(x, edges, results), Range.whole(len(edges).bit_length()))


def labelled(_: Type, terms: Sequence[Term]) -> Term:
    x, *rest = terms
    return Term(_cut(x, rest[::2], rest[1::2]))


def length(_: Type, terms: Sequence[Term]) -> Term:
    return Term(sql.cast(exp.Length(this=terms[0]()), "DOUBLE"), Range.whole(32))


def lower(_: Type, terms: Sequence[Term]) -> Term:
    signs = sql.text(_UPPER), sql.text(_LOWER)
    return Term(exp.Anonymous(this="TRANSLATE", expressions=[terms[0](), *signs]))


def _first_signs(term: Term, number: int) -> Term:
    return Term(
        exp.Substring(this=term(), start=sql.integer(1), length=sql.integer(number)),
    )


def prefix(_: Type, terms: Sequence[Term]) -> Term:
    return _first_signs(terms[0], int(cast("float", terms[1].value)))


def starts(t: Type, terms: Sequence[Term]) -> Term:
    x, start = terms
    first = _first_signs(x, len(str(start.value)))
    return Term(exp.EQ(this=_compared(t, first), expression=_compared(t, start)))
