"""A row expression is the same value on every engine, and in plain Python, to the last bit."""

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from operator import eq, ge, gt, le, lt, ne
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlglot import exp

from neyman.errors import InvalidTable
from neyman.tables import (
    Rows,
    expression_from_json,
    expression_to_json,
    open_table,
    read_expression,
)
from neyman.tables import _sql as sql
from neyman.tables._engines._postgres_engine import session
from neyman.tables._schema import SOURCE

EDGE = 2.0**200


def read(value: Any) -> Any:
    """A column's value as expressions see it."""
    match value:
        case datetime():
            return value.replace(tzinfo=None)
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


def order(a: Any, b: Any) -> tuple[Any, Any]:
    """What is compared: text by its bytes."""
    return (a.encode(), b.encode()) if isinstance(a, str) else (a, b)


COMPARED = {"==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


def place(x: Any, edges: Sequence[Any]) -> float | None:
    if not edges[0] <= x <= edges[-1]:
        return None
    return float(sum(edge <= x for edge in edges[1:-1]))


def total(form: Any, row: Mapping[str, Any]) -> Any:  # noqa: C901
    """Evaluate a form on a row whose values are those of `read`."""
    if not isinstance(form, list):
        return form
    op, *arguments = form
    match op:
        case "col":
            return row[arguments[0]]
        case "date":
            return date.fromisoformat(arguments[0])
        case "timestamp":
            return datetime.fromisoformat(arguments[0])
        case "null":
            return None
        case "between":
            x, low, high = arguments
            return total(["and", [">=", x, low], ["<=", x, high]], row)
    values = [total(part, row) for part in arguments]
    if op in LENIENT:
        return LENIENT[op](values)
    if None in values:
        return None
    if op not in OF_TEXT:
        values = alike(values)
    if op in COMPARED:
        return COMPARED[op](*order(*values))
    return STRICT[op](*values)


OF_TEXT = {"at_offset", "truncate", "label"}


def alike(values: Sequence[Any]) -> Sequence[Any]:
    """A text beside a date is one, and a date beside a timestamp the one at which it begins."""
    if not any(isinstance(value, date) for value in values):
        return values
    found = [datetime.fromisoformat(v) if isinstance(v, str) else v for v in values]
    written = [isinstance(v, str) and len(v) == len(DAYS[0]) for v in values]
    found = [v.date() if only else v for v, only in zip(found, written, strict=True)]
    if not any(type(value) is datetime for value in found):
        return found
    return [datetime(v.year, v.month, v.day) if type(v) is date else v for v in found]


def since(size: float, a: Any, b: Any) -> float:
    if type(a) is date:
        return float((a - b).days) * (86400e6 / size)
    return float((a - b) // timedelta(microseconds=1)) / size


def difference(a: Any, b: Any) -> float:
    return a - b if isinstance(a, float) else since(86400e6, a, b)


def day_of(a: date) -> date:
    return a.date() if isinstance(a, datetime) else a


def truncated(a: date, unit: str) -> date:
    day = day_of(a)
    match unit:
        case "year":
            return day.replace(month=1, day=1)
        case "quarter":
            return day.replace(month=day.month - (day.month - 1) % 3, day=1)
        case "month":
            return day.replace(day=1)
        case "week":
            return day - timedelta(days=day.weekday())
    return day


def moved(a: datetime, offset: str) -> datetime | None:
    hours, minutes = offset[1:].split(":")
    by = timedelta(hours=int(hours), minutes=int(minutes))
    try:
        return a - by if offset[0] == "-" else a + by
    except OverflowError:
        return None


def either(decides: bool) -> Any:
    def connected(parts: list[Any]) -> bool | None:
        return decides if decides in parts else (None if None in parts else not decides)

    return connected


def chosen(values: list[Any]) -> Any:
    *pairs, last = values
    cases = zip(pairs[::2], pairs[1::2], strict=True)
    return next((value for condition, value in cases if condition is True), last)


def labelled_place(x: Any, *rest: Any) -> str | None:
    found = place(x, rest[::2])
    return None if found is None else rest[1::2][int(found)]


LENIENT = {
    "and": either(False),
    "or": either(True),
    "when": chosen,
    "coalesce": lambda values: next((value for value in values if value is not None), None),
    "is_null": lambda values: values[0] is None,
}
# NULL where an argument is.
STRICT = {
    "+": lambda a, b: a + b,
    "-": difference,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b if b else None,
    "//": lambda a, b: floor(a / b) if b else None,
    "%": lambda a, b: a - floor(a / b) * b if b else None,
    "minimum": min,
    "maximum": max,
    "neg": lambda a: -a,
    "abs": abs,
    "clip": lambda a, low, high: min(max(a, low), high),
    "round": lambda a, grid: floor(a / grid + 0.5) * grid,
    "in": lambda a, *rest: a in rest,
    "not": lambda a: not a,
    "as_number": float,
    "as_text": str,
    "cut": lambda a, *edges: place(a, edges),
    "label": labelled_place,
    "year": lambda a: float(a.year),
    "month": lambda a: float(a.month),
    "day": lambda a: float(a.day),
    "weekday": lambda a: float(a.isoweekday()),
    "week": lambda a: float(a.isocalendar().week),
    "date_of": day_of,
    "truncate": truncated,
    "hour": lambda a: float(a.hour),
    "minute": lambda a: float(a.minute),
    "second": lambda a: float(a.second),
    "days_since": lambda a, b: since(86400e6, a, b),
    "hours_since": lambda a, b: since(3600e6, a, b),
    "minutes_since": lambda a, b: since(60e6, a, b),
    "seconds_since": lambda a, b: since(1e6, a, b),
    "at_offset": moved,
    "lower": lambda a: "".join(x.lower() if "A" <= x <= "Z" else x for x in a),
    "length": lambda a: float(len(a)),
    "starts_with": lambda a, start: a.startswith(start),
    "prefix": lambda a, size: a[: int(size)],
}


WORDS = ["a", "A", "a ", "", "ä", "a\u0308", "ß'\"; --", "\\Q.\\E\n\t", "${env:HOME}", "\U0001f600"]
LITERALS = [0.0, 1.0, -1.0, 0.1, 2.0, 3.0, 7.0, -2.5, 1e-3, 2.0**53, 1e9, 0.5, -32768.0]
DAYS = ["0001-01-01", "1582-10-10", "2020-02-29", "2021-01-03", "9999-12-31"]
TIMES = ["0001-01-01T00:00:00", "1969-12-31T23:59:59.999999", "2020-02-29T12:30:45.500000"]
TIMES += ["1582-10-04T23:00:00", "9999-12-31T23:59:59.999999"]

number_literals = st.one_of(
    st.sampled_from(LITERALS), st.floats(-1e6, 1e6).filter(lambda x: not x or abs(x) > 1e-9)
)
text_literals = st.one_of(
    st.sampled_from(WORDS),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=3),
)
days = st.sampled_from(DAYS).map(lambda day: ["date", day])
times = st.sampled_from(TIMES).map(lambda time: ["timestamp", time])
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
        time = self.time(depth - 1)
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
            calls("year month day week weekday", st.one_of(day, time)),
            calls("hour minute second", time),
            calls("- days_since hours_since minutes_since seconds_since", day, day),
            calls("- days_since hours_since minutes_since seconds_since", time, time),
            calls("- days_since", time, day),
            st.tuples(time, increasing(times)).map(lambda p: ["cut", p[0], *p[1]]),
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
        if depth == 0:
            return leaf
        day, time = self.day(depth - 1), self.time(depth - 1)
        units = st.sampled_from(["year", "quarter", "month", "week", "day"])
        return st.one_of(
            leaf,
            self.choice(depth, day),
            call("date_of", time),
            call("truncate", st.one_of(day, time), units),
        )

    def time(self, depth: int) -> st.SearchStrategy:
        leaf = self.leaf("time", times)
        if depth == 0:
            return leaf
        time = self.time(depth - 1)
        offsets = st.sampled_from(["+09:00", "-05:30", "+00:00", "-14:59"])
        return st.one_of(leaf, self.choice(depth, time), call("at_offset", time, offsets))

    def truth(self, depth: int) -> st.SearchStrategy:
        leaf = self.leaf("truth", st.booleans())
        if depth <= 0:
            return leaf
        n, text, day = self.number(depth - 1), self.text(depth - 1), self.day(depth - 1)
        truth, time = self.truth(depth - 1), self.time(depth - 1)
        compare = "== != < <= > >="
        return st.one_of(
            leaf,
            calls(compare, n, n),
            calls(compare, text, text),
            calls(compare, day, day),
            calls(compare, time, time),
            calls(compare, time, st.one_of(day, st.sampled_from(DAYS + TIMES))),
            calls(compare, day, st.sampled_from(DAYS)),
            calls("== !=", truth, truth),
            calls("between", n, n, n),
            calls("between", text, text, text),
            several("in", n, number_literals, size=14),
            several("in", text, text_literals, size=14),
            several("in", day, days),
            several("in", time, times),
            *(calls("is_null", part) for part in (n, text, day, time, truth)),
            several("and", truth, truth),
            several("or", truth, truth),
            call("not", truth),
            call("starts_with", text, text_literals.filter(bool)),
        )

    def any(self, depth: int) -> st.SearchStrategy:
        return st.one_of(
            self.number(depth),
            self.number(depth),
            self.truth(depth),
            self.text(depth),
            self.day(depth),
        )


INF, NAN = math.inf, math.nan
NUMBERS = [NAN, INF, -INF, 1e308, -1e308, 5e-324, -5e-324, 0.25, -0.25, -0.0, 0.5, 1.0, 2**53 + 2.0]
NUMBERS += [EDGE, -EDGE, EDGE * 2, 1 / EDGE, 0.9 / EDGE, 1e-61, 2.0, 3.0, 7.0, 0.1, 0.3]
INTEGERS = [-(2**63), 2**63 - 1, 2**53 + 1, -(2**53) - 1, 2**62 + 1, 0, 1, -3, 7]
DECIMALS = [Decimal(10) ** 28, -(Decimal(10) ** 28), Decimal("0.05"), Decimal("-1.5"), Decimal(0)]
DATES = [date.fromisoformat(day) for day in DAYS]
MOMENTS = [datetime.fromisoformat(time) for time in TIMES]
SCHEMA = pa.schema(
    [
        ("i", pa.int32()),
        ("text", pa.string()),
        ("Group", pa.string()),
        ("whole", pa.int64()),
        ("small", pa.int16()),
        ("truth", pa.bool_()),
        ("day", pa.date32()),
        ("other day", pa.date32()),
        ("clock", pa.timestamp("us")),
        ("instant", pa.timestamp("us", "UTC")),
        ("real", pa.float64()),
        ("single", pa.float32()),
        ("money", pa.decimal128(38, 9)),
    ]
)
COLUMNS = {
    "number": ["whole", "small", "real", "real", "single", "money"],
    "text": ["text", "Group"],
    "truth": ["truth"],
    "day": ["day", "other day"],
    "time": ["clock", "instant"],
}


def single(value: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def or_null(*values: object, more: st.SearchStrategy = st.nothing()) -> st.SearchStrategy:  # noqa: B008
    return st.one_of(st.none(), st.sampled_from(values), more)


def in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC)


ROWS = st.tuples(
    or_null(*WORDS, more=st.text(st.characters(exclude_characters="\0"), max_size=3)),
    or_null(*WORDS[:4]),
    or_null(*INTEGERS, more=st.integers(-(2**63), 2**63 - 1)),
    or_null(-(2**15), 2**15 - 1, 0, 1, 2),
    or_null(True, False),
    or_null(*DATES, more=st.dates()),
    or_null(*DATES[1:4]),
    or_null(*MOMENTS, more=st.datetimes()),
    or_null(*(x.replace(tzinfo=UTC) for x in MOMENTS), more=st.datetimes().map(in_utc)),
    or_null(*NUMBERS, more=st.floats(-4, 5)),
    or_null(*map(single, NUMBERS), more=st.floats(-4, 5, width=32)),
    or_null(*DECIMALS, more=st.decimals(-4, 5, places=9)),
)
FORMS = Words(COLUMNS)


def arrow(rows) -> pa.Table:
    rows = [(i, *row) for i, row in enumerate(rows)]
    columns = zip(*rows, strict=True) if rows else [()] * len(SCHEMA)
    return pa.table(
        [pa.array(list(part), field.type) for part, field in zip(columns, SCHEMA, strict=True)],
        schema=SCHEMA,
    )


def fetched(table, names) -> list[tuple]:
    """The values themselves, which no question gives: straight from the engine."""
    engine, view = table.engine, table.view
    columns = [
        sql.named(view.schema[name].value(), f"v{i}") for i, name in enumerate(["i", *names])
    ]
    statement = view.rows().select(*columns)
    text = engine.text(statement)
    match engine.name:
        case "DuckDB":
            wanted = {n.name for n in statement.find_all(exp.Column) if n.table == SOURCE}
            with engine.sources[0].session(wanted) as connection:
                rows = connection.execute(text).fetchall()
        case "Spark":
            rows = [tuple(row) for row in engine._planned(text).collect()]
        case _:
            with session(engine.access) as connection:
                rows = connection.execute(text.encode()).fetchall()
    rows.sort()
    return [row[1:] for row in rows]


def expected(forms, rows) -> list[tuple]:
    seen = [{name: read(v) for name, v in row.items()} for row in arrow(rows).to_pylist()]
    return [tuple(total(form, row) for form in forms) for row in seen]


def fitting(forms):
    """Those that do not multiply beyond the doubles: others are refused, whatever the rows."""
    empty = open_table(arrow([]), unit=Rows(), name="t")
    for form in forms:
        try:
            empty.with_columns(made=read_expression(form))
        except InvalidTable as refused:
            if not re.search("range of doubles|written out", str(refused)):
                raise
        else:
            yield form


def same(left, right) -> bool:
    return type(left) is type(right) and left == right


def differing(store, rows, forms) -> list[tuple[Any, Any, Any]]:
    """Forms, with the value that the engine gives where it should be another, and that other."""
    made = {f"m{i}": read_expression(form) for i, form in enumerate(forms)}
    table = open_table(**store.fill(arrow(rows)), unit=Rows()).with_columns(**made)
    return [
        (form, a, b)
        for found, right in zip(fetched(table, list(made)), expected(forms, rows), strict=True)
        for form, a, b in zip(forms, found, right, strict=True)
        if not same(a, b)
    ]


def rewritten(form):
    return expression_from_json(expression_to_json(read_expression(form))).form()


def many(examples: int):
    # No shrinking: a cluster is slow, and the table is printed whole.
    return settings(
        max_examples=examples,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        deadline=None,
    )


TABLES = st.lists(ROWS, max_size=30)


@pytest.mark.shows("engines")
def test_same_values(store):
    def same(rows, forms):
        forms = list(fitting(forms))
        assert differing(store, rows, forms) == []
        assert [rewritten(form) for form in forms] == forms

    store.try_tables(10, same, rows=TABLES, forms=st.lists(FORMS.any(2), min_size=6, max_size=6))


@pytest.mark.soak
@many(120)
@given(rows=TABLES, forms=st.lists(FORMS.any(3), min_size=8, max_size=8))
def test_same_values_of_many_forms(store, rows, forms):
    forms = list(fitting(forms))
    assert differing(store, rows, forms) == []
    assert [rewritten(form) for form in forms] == forms
