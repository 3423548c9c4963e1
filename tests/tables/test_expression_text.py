"""Expressions as text: the operations that they are, and what is refused by its name."""

from datetime import date

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neyman import col, when
from neyman.errors import InvalidParameter, InvalidTable, UnknownColumn
from neyman.tables import (
    Expression,
    Rows,
    expression_from_json,
    expression_of_text,
    expression_to_json,
    lit,
    open_table,
)
from neyman.tables._expressions._operations import OPERATIONS
from neyman.tables._expressions._text import _FUNCTIONS, _NOT_BY_NAME

x, n, g, d, t = map(col, "xngdt")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("discharged - admitted", col("discharged") - col("admitted")),
        ("left - came", col("left") - col("came")),
        ("age >= 18", col("age") >= 18),
        ("year(admitted)", col("admitted").year()),
        ("left(zip, 2)", col("zip").prefix(2)),
        ("x + n * 2 // 3 % 5 - -n", x + n * 2 // 3 % 5 - (-n)),
        ("(x + n) * -2.5", (x + n) * -2.5),
        ("x = 1 or x == 2 and not n <> 3", (x == 1) | ((x == 2) & ~(n != 3))),
        ("x > 1 AND n > 2 AND g = 'it''s'", (x > 1) & (n > 2) & (g == "it's")),
        ("x between 1 and 2", x.between(1, 2)),
        ("x not in (1, 2)", ~x.is_in([1, 2])),
        ("x is null", x.is_null()),
        ("x is not null", ~x.is_null()),
        ("case when x > 1 then 'up' when x < 0 then null else g end",
         when(x > 1).then("up").when(x < 0).then(None).otherwise(g)),
        ("case g when 'a' then 1 end", when(g == "a").then(1).otherwise(None)),
        ("if(x > 1, 'up', 'down')", when(x > 1).then("up").otherwise("down")),
        ("coalesce(x, n, 0)", x.coalesce(n, 0)),
        ("least(x, n) + greatest(x, 3)", x.minimum(n) + x.maximum(3)),
        ("abs(clip(round(x, 0.5), -1, 1))", abs(x.round(0.5).clip(-1, 1))),
        ("lower(g) = 'a' and starts_with(g, 'b')", (g.lower() == "a") & g.starts_with("b")),
        ("date(t) = date '2024-02-29'", t.date() == date(2024, 2, 29)),
        ("hour(t at time zone '+09:00')", t.at_offset("+09:00").hour()),
        ("date_trunc('month', t)", t.truncate("month")),
        ("truncate(d, 'week')", d.truncate("week")),
        ("hours_since(t, '2024-01-01T12:00')", t.hours_since("2024-01-01T12:00")),
        ("to_date(g, '%d.%m.%Y')", g.to_date("%d.%m.%Y")),
        ("cut(x, 0, 1, 2)", x.cut([0, 1, 2])),
        ('"income (€)" > 1e3', col("income (€)") > 1000),
        ("`income (€)` > 1", col("income (€)") > 1),
        ("région = 'Ŝ' -- why", col("région") == "Ŝ"),
        ("true", lit(True)),
    ],
)  # fmt: skip
def test_text_is_the_expression_that_it_looks_like(text, same):
    assert expression_of_text(text).form() == same.form()


def test_a_function_of_every_operation_is_known_by_its_name():
    methods = {name for name in OPERATIONS if name.isidentifier()} - set(_NOT_BY_NAME)
    assert methods <= set(_FUNCTIONS)
    assert set(_FUNCTIONS.values()) <= set(OPERATIONS)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no expression; write one of columns"),
        ("x +", "'x \\+' is no expression"),
        ("x; n", "is no expression"),
        ("yaer(d)", "'yaer' is no function of an expression; did you mean year"),
        ("count(*)", "'count' is no function"),
        ("sum(x)", "'sum' is no function"),
        ("select x", "SELECT is no operation"),
        ("(select x from t)", "SUBQUERY is no operation"),
        ("x in (select 1)", "must be followed by a list"),
        ("exists(select 1)", "EXISTS is no operation"),
        ("lag(x) over ()", "WINDOW is no operation"),
        ("g like 'a%'", "LIKE is no operation"),
        ("g || g", "DPIPE is no operation"),
        ("x ^ 2", "BITWISEXOR is no operation"),
        ("x n", "ALIAS is no operation"),
        ("cast(x as int)", "'cast' is no function"),
        ("x::int", "casts are not supported; write as_number"),
        ("other.x", "without a table in front"),
        ("*", "STAR is no operation"),
        ("?", "is no operation"),
        ("1e999", "not 0 nor of a magnitude"),
        ("x > 1e-999", "not 0 nor of a magnitude"),
        ("9" * 5000, "not 0 nor of a magnitude"),
        ("9007199254740993", "is not a double"),
        ("round(x)", "'round' takes 2 arguments; got 1"),
        ("x at time zone 'Europe/Berlin'", "write a fixed offset"),
        ("to_date(g, 'DD.MM.YYYY')", "the format is 'DD.MM.YYYY'; write one of '%Y-%m-%d'"),
        ("g = 'a\0'", "without NUL"),
        ("(" * 5000, "is no expression"),
        ("(" * 300 + "x" + ")" * 300, "is no expression"),
        ("not " * 2000 + "x", "is no expression"),
        ("- " * 4000 + "x", "is no expression"),
        ("case when " * 900, "is no expression"),
        ("abs(" * 29 + "x" + ")" * 28, "is no expression"),
        ("x" + " + x" * 2000, "chains more than"),
        ("x = 1" + " and x = 1" * 900, "takes .* arguments|chains more than"),
        ("x" * 10_001, "got 10001"),
    ],
)
def test_what_is_no_expression_is_refused_by_its_name(text, said):
    with pytest.raises(InvalidParameter, match=said) as refused:
        expression_of_text(text)
    assert refused.value.__context__ is None or refused.value.__suppress_context__


def test_a_table_takes_text_wherever_it_takes_an_expression():
    table = open_table(
        pa.table({"x": [1.0, 2.0, None], "g": ["a", "b", "b"]}), unit=Rows(), name="t"
    )
    assert table.where("x >= 2 and g = 'b'").count().compute().tolist() == [1]
    made = table.with_columns(late="x > 1", kind="coalesce(g, 'none')")
    assert made.where("late or kind = 'a'").count().compute().tolist() == [2]
    asked = table.where("x > 1").count().query
    assert asked == table.where(col("x") > 1).count().query
    with pytest.raises(UnknownColumn, match="no column 'y'"):
        table.where("y > 1")
    with pytest.raises(InvalidTable, match=r"a condition must be a comparison.*which is a number"):
        table.where("x + 1")
    with pytest.raises(InvalidTable, match=r"a condition must be an expression.*got a list"):
        table.where([">", ["col", "x"], 1])


WORDS = st.sampled_from(
    [
        *(
            "x",
            "g",
            "1",
            "2.5",
            "'a'",
            "''",
            "null",
            "true",
            "(",
            ")",
            ",",
            "+",
            "-",
            "*",
            "/",
            "//",
        ),
        *("%", "=", "<", ">=", "<>", "and", "or", "not", "in", "is", "between", "case", "when"),
        *("then", "else", "end", "if", "date", "interval", "at", "time", "zone", "select", "from"),
        *(
            "cast",
            "as",
            "int",
            "::",
            ".",
            "[",
            "]",
            "{",
            "}",
            ";",
            "--",
            "/*",
            "*/",
            "'",
            '"',
            "`",
            "\\",
        ),
        *(
            "@",
            "$1",
            ":x",
            "?",
            "|",
            "&",
            "^",
            "~",
            "!",
            "over",
            "join",
            "left",
            "values",
            "\n",
            "€",
            "\0",
        ),
        *_FUNCTIONS,
    ]
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=14).map(" ".join))


def read_or_refused(text):
    try:
        found = expression_of_text(text)
    except InvalidParameter:
        return
    assert isinstance(found, Expression)
    assert expression_from_json(expression_to_json(found)).form() == found.form()


@settings(max_examples=250, deadline=None)
@given(text=TEXTS)
def test_any_text_is_read_or_refused(text):
    read_or_refused(text)


@pytest.mark.soak
@settings(max_examples=20_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=TEXTS)
def test_many_texts_are_read_or_refused(text):
    read_or_refused(text)
