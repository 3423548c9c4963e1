"""What expressions mean, row by row, in plain Python; and hypothesis strategies of them.

The interpreter reads forms (nested lists) and knows nothing of trees, ranges or engines.
"""

import math
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

EDGE = 2.0**200


def read(value: Any) -> Any:
    """A column's value as expressions see it."""
    match value:
        case bool() | None | str() | date():
            return value
        case int() | Decimal():
            return inside(float(value))
        case float():
            return inside(value)
    raise AssertionError(value)


def inside(x: float) -> float | None:
    if math.isnan(x):
        return None
    if abs(x) < 1 / EDGE:
        return 0.0
    return math.copysign(min(abs(x), EDGE), x)


def floor(x: float) -> float:
    return float(math.floor(x))


def order(x: Any) -> Any:
    return x.encode() if isinstance(x, str) else x


def compared(op: str, a: Any, b: Any) -> bool:
    a, b = order(a), order(b)
    match op:
        case "==":
            return a == b
        case "!=":
            return a != b
        case "<":
            return a < b
        case "<=":
            return a <= b
        case ">":
            return a > b
        case _:
            return a >= b


def place(x: Any, edges: list[Any]) -> int | None:
    if not edges[0] <= x <= edges[-1]:
        return None
    return sum(edge <= x for edge in edges[1:-1])


def total(form: Any, row: Mapping[str, Any]) -> Any:
    """Evaluate a form on a row whose values are those of `read`."""
    if not isinstance(form, list):
        return form
    op, *arguments = form
    match op:
        case "col":
            return row[arguments[0]]
        case "date":
            return date.fromisoformat(arguments[0])
        case "null":
            return None
        case "and" | "or":
            parts = [total(part, row) for part in arguments]
            decides = op == "or"
            return decides if decides in parts else (None if None in parts else not decides)
        case "when":
            *pairs, last = arguments
            for condition, value in zip(pairs[::2], pairs[1::2], strict=True):
                if total(condition, row) is True:
                    return total(value, row)
            return total(last, row)
        case "coalesce":
            found = (total(part, row) for part in arguments)
            return next((value for value in found if value is not None), None)
        case "is_null":
            return total(arguments[0], row) is None
    values = [total(part, row) for part in arguments]
    return None if None in values else strict(op, values)


def strict(op: str, values: list[Any]) -> Any:
    """Operations that are NULL where an argument is."""
    a, b = (values[0], values[1] if len(values) > 1 else None)
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return a / b if b else None
        case "//":
            return floor(a / b) if b else None
        case "%":
            return a - floor(a / b) * b if b else None
        case "minimum":
            return min(a, b)
        case "maximum":
            return max(a, b)
        case "neg":
            return -a
        case "abs":
            return abs(a)
        case "clip":
            return min(max(a, b), values[2])
        case "round":
            return floor(a / b + 0.5) * b
        case "==" | "!=" | "<" | "<=" | ">" | ">=":
            return compared(op, a, b)
        case "between":
            return order(b) <= order(a) <= order(values[2])
        case "in":
            return a in values[1:]
        case "not":
            return not a
        case "as_number":
            return float(a)
        case "as_text":
            return a
    return named(op, a, values[1:])


def named(op: str, a: Any, rest: list[Any]) -> Any:
    match op:
        case "cut":
            bin_ = place(a, rest)
            return None if bin_ is None else float(bin_)
        case "label":
            bin_ = place(a, rest[::2])
            return None if bin_ is None else rest[1::2][bin_]
        case "year" | "month" | "day":
            return float(getattr(a, op))
        case "weekday":
            return float(a.isoweekday())
        case "days_since":
            return float((a - rest[0]).days)
        case "lower":
            return "".join(x.lower() if "A" <= x <= "Z" else x for x in a)
        case "length":
            return float(len(a))
        case "starts_with":
            return a.startswith(rest[0])
        case "prefix":
            return a[: int(rest[0])]
    raise AssertionError(op)


WORDS = ["a", "A", "a ", "", "ä", "a\u0308", "ß'\"; --", "\\Q.\\E\n\t", "${env:HOME}", "\U0001f600"]
LITERALS = [0.0, 1.0, -1.0, 0.1, 2.0, 3.0, 7.0, -2.5, 1e-3, 2.0**53, 1e9, 0.5, -32768.0]
DAYS = ["0001-01-01", "1582-10-10", "2020-02-29", "2021-01-03", "9999-12-31"]

number_literals = st.one_of(
    st.sampled_from(LITERALS), st.floats(-1e6, 1e6).filter(lambda x: not x or abs(x) > 1e-9)
)
text_literals = st.one_of(
    st.sampled_from(WORDS),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=3),
)
days = st.sampled_from(DAYS).map(lambda day: ["date", day])
null = st.just(["null"])


def call(op: str, *parts: Any) -> st.SearchStrategy:
    return st.tuples(*parts).map(lambda found: [op, *found])


def calls(ops: str, *parts: Any) -> st.SearchStrategy:
    return st.sampled_from(ops.split()).flatmap(lambda op: call(op, *parts))


def several(op: str, *parts: Any, size: int = 3) -> st.SearchStrategy:
    head, last = parts[:-1], parts[-1]
    return st.tuples(*head, st.lists(last, min_size=1, max_size=size)).map(
        lambda found: [op, *found[:-1], *found[-1]]
    )


def increasing(literals: Any, size: int = 4) -> st.SearchStrategy:
    key = lambda x: x[1] if isinstance(x, list) else x  # noqa: E731
    return st.lists(literals, min_size=2, max_size=size, unique_by=key).map(
        lambda found: sorted(found, key=key)
    )


def labelled(pair: Any) -> list[Any]:
    x, edges, labels = pair
    flat = [part for two in zip(edges, labels, strict=False) for part in two]
    return ["label", x, *flat[: 2 * len(edges) - 2], edges[-1]]


class Words:
    """Forms over columns, of each type, down to a depth."""

    def __init__(self, columns: Mapping[str, list[str]]) -> None:
        self.columns = columns

    def leaf(self, type_: str, literals: Any) -> st.SearchStrategy:
        names = st.sampled_from(self.columns[type_]).map(lambda name: ["col", name])
        return st.one_of(names, names, names, literals)

    def choice(self, depth: int, of: Any) -> st.SearchStrategy:
        truth = self.truth(depth - 1)
        return st.one_of(
            call("when", truth, of, of),
            call("when", truth, of, truth, of, null),
            several("coalesce", of, of),
        )

    def number(self, depth: int) -> st.SearchStrategy:
        leaf = self.leaf("number", number_literals)
        if depth == 0:
            return leaf
        n, day, text = self.number(depth - 1), self.day(depth - 1), self.text(depth - 1)
        grids = st.sampled_from([0.1, 0.5, 1.0, 10.0, 1e-3])
        ends = st.tuples(number_literals, number_literals).map(sorted)
        return st.one_of(
            leaf,
            calls("+ - * / // %", n, n),
            calls("minimum maximum", n, n),
            calls("neg abs", n),
            call("round", n, grids),
            st.tuples(n, ends).map(lambda found: ["clip", found[0], *found[1]]),
            st.tuples(n, increasing(number_literals)).map(lambda p: ["cut", p[0], *p[1]]),
            st.tuples(day, increasing(days)).map(lambda p: ["cut", p[0], *p[1]]),
            calls("year month day weekday", day),
            call("days_since", day, day),
            call("length", text),
            call("as_number", self.truth(depth - 1)),
            self.choice(depth, n),
        )

    def text(self, depth: int) -> st.SearchStrategy:
        leaf = self.leaf("text", text_literals)
        if depth == 0:
            return leaf
        t, n = self.text(depth - 1), self.number(depth - 1)
        labels = st.lists(text_literals, min_size=4, max_size=4)
        return st.one_of(
            leaf,
            calls("lower as_text", t),
            call("prefix", t, st.sampled_from([1.0, 2.0, 5.0])),
            st.tuples(n, increasing(number_literals), labels).map(labelled),
            self.choice(depth, t),
        )

    def day(self, depth: int) -> st.SearchStrategy:
        leaf = self.leaf("day", days)
        return leaf if depth == 0 else st.one_of(leaf, self.choice(depth, self.day(depth - 1)))

    def truth(self, depth: int) -> st.SearchStrategy:
        leaf = self.leaf("truth", st.booleans())
        if depth <= 0:
            return leaf
        n, text, day = self.number(depth - 1), self.text(depth - 1), self.day(depth - 1)
        truth = self.truth(depth - 1)
        compare = "== != < <= > >="
        return st.one_of(
            leaf,
            calls(compare, n, n),
            calls(compare, text, text),
            calls(compare, day, day),
            calls("== !=", truth, truth),
            calls("between", n, n, n),
            calls("between", text, text, text),
            several("in", n, number_literals, size=14),
            several("in", text, text_literals, size=14),
            several("in", day, days),
            *(calls("is_null", part) for part in (n, text, day, truth)),
            several("and", truth, truth),
            several("or", truth, truth),
            call("not", truth),
            call("starts_with", text, text_literals.filter(bool)),
        )

    def any(self, depth: int) -> st.SearchStrategy:
        return st.one_of(
            self.number(depth), self.number(depth), self.truth(depth), self.text(depth)
        )
