"""Row expressions: what they refuse, what they record, and that nothing of them is SQL."""

import json
import math
import pickle
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from operator import and_

import numpy as np
import pyarrow as pa
import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from neyman.errors import InvalidParameter, InvalidTable, UnknownColumn
from neyman.tables import (
    Bounds,
    Entity,
    Expression,
    Keys,
    Rows,
    col,
    expression_from_json,
    expression_to_json,
    lit,
    open_table,
    read_expression,
    when,
)
from neyman.tables._engines._duckdb_engine import _SPELLING as DUCKDB
from neyman.tables._engines._postgres_words import SPELLING as POSTGRES
from neyman.tables._engines._spark_words import SPELLING as SPARK
from neyman.tables._expressions._operations import OPERATIONS
from neyman.tables._types import Range
from random_cases import random_cases

x, n, g, b, d = map(col, "xngbd")
DAYS = date(9999, 12, 31), date(2024, 7, 1)
FRAME = pa.table(
    {
        "who": ["a", "a", "b", "b", "c", None],
        "x": [1.5, -2.0, float("nan"), None, 0.0, 9.0],
        "n": [1, 2, 3, None, -5, 7],
        "g": ["u", "v", None, "U", "", "u"],
        "b": [True, False, None, True, False, True],
        "d": [date(2020, 2, 29), None, date(2021, 1, 3), date(1, 1, 1), *DAYS],
    }
)
BOUNDS = {"x": Bounds(-5, 5, grid=0.5)}


def opened(unit=None):
    return open_table(FRAME, unit=unit or Rows(), name="t", bounds=BOUNDS)


def counted(condition) -> int:
    return int(opened().where(condition).count().compute()[0])


@pytest.mark.shows("expressions")
@pytest.mark.parametrize(
    ("condition", "rows"),
    [
        (x > 0, 2),
        (~(x > 0), 2),
        (x.is_null(), 2),
        (~((x > 0) & (n > 5)), 4),
        (((x > 0) | (n > 0)) & b, 2),
        (n - (n - 1) == 1, 5),
        (10 - n - 1 == 8, 1),
        ((n / 0).is_null(), 6),
        ((n % 0).is_null() & (n // 0).is_null(), 6),
        (n % 2 == 1, 4),
        (0 - -n == n, 5),
        (g == "u", 2),
        (g.lower() == "u", 3),
        (g.is_in(["u", ""]), 3),
        (g.length() == 0, 1),
        (g.starts_with("u"), 2),
        (g < "a", 2),
        (b, 3),
        (b == False, 2),  # noqa: E712
        (b.as_number() + 1 == 2, 3),
        (d.year().between(2020, 2021), 2),
        (d.weekday() == 1, 2),
        (d > date(2020, 2, 29), 3),
        (d.days_since(date(2020, 2, 28)) == 1, 1),
        (x.cut([-2, 0, 1.5]) == 1, 2),
        (x.cut([-2, 0, 1.5], labels=["low", "high"]) == "high", 2),
        (d.cut([date(1, 1, 1), date(2021, 1, 1), date(9999, 12, 31)]) == 1, 3),
        (when(x > 0).then("up").when(x < 0).then("down").otherwise(g) == "", 1),
        (when(x > 0).then(None).otherwise(1).is_null(), 2),
        (x.coalesce(n, 0) == 3, 1),
        (n.minimum(2).maximum(0) == 2, 3),
        (n.clip(0, 2) == 0, 1),
        (x.round(0.5) == 1.5, 1),
        ((x / 3).round(1) == 1, 1),
        (lit(True), 6),
        (lit(None) | (x > 0), 2),
    ],
    ids=repr,
)
def test_meaning(condition, rows):
    assert counted(condition) == rows


def test_conditions_add_up_and_tables_stay_as_they_were():
    table = opened()
    fewer = table.where(x >= 0).where(n > 1)
    assert fewer.count().compute().tolist() == [1]
    assert fewer.count().compute().tolist() == [1]
    assert table.count().compute().tolist() == [6]
    with pytest.raises(AttributeError):
        x.name = "y"


@pytest.mark.shows("declared-bounds")
def test_made_columns():
    table = opened().with_columns(x=x * 2, y=x + 1, late=x > 0, group=g.lower(), k=n // 2)
    assert list(table.bounds) == []
    with pytest.raises(InvalidTable, match=r"'x' has no bounds.*with_bounds"):
        table.sum("x")
    sums = table.with_bounds({"x": Bounds(-4, 20, grid=1), "y": Bounds(-1, 10, grid=0.5)})
    assert sums.sum("x").compute().tolist() == [3 - 4 + 0 + 18]
    assert sums.sum("y").compute().tolist() == [5 - 2 + 2 + 20]
    # A column that was made is a column.
    assert sums.with_columns(x=col("y")).where(x == 2.5).count().compute().tolist() == [1]
    assert table.count(Keys({"late": [True, False]})).compute().tolist() == [2, 2]
    assert table.count(Keys({"group": ["u", "v"]})).compute().tolist() == [3, 1]
    assert table.count(Keys({"k": [0, 1, 3, -3]})).compute().tolist() == [1, 2, 1, 1]
    with pytest.raises(InvalidTable, match="number with a fraction"):
        table.count(Keys({"y": [1]}))


def test_whole_numbers_beyond_62_bits_are_in_no_group():
    frame = pa.table({"n": [2**63 - 1, -(2**63), 5]})
    table = open_table(frame, unit=Rows(), name="t").with_columns(m=n * 1)
    assert table.count(Keys({"m": [5, 2**63 - 1, -(2**63)]})).compute().tolist() == [1, 0, 0]


def test_units_stay():
    table = opened(Entity("who", max_rows=1))
    assert table.where(x > -9).count().compute().tolist() == [2]
    assert table.where(col("who") != "a").count().compute().tolist() == [2]
    with pytest.raises(InvalidTable, match="'who' names the unit"):
        table.with_columns(who=g)
    with pytest.raises(InvalidTable, match="differ at most by case"):
        table.with_columns(WHO=g)
    assert table.where(x > 0).protects == table.protects


def test_entries_are_known_by_what_was_asked():
    def asked(table):
        return json.dumps(table.count().query)

    table = opened()
    questions = [
        table,
        table.where(x > 0),
        table.where(x >= 0),
        table.with_columns(y=x),
        table.where(x > 0).where(n > 0),
        table.where((x > 0) & (n > 0)),
    ]
    assert len(set(map(asked, questions))) == len(questions)
    assert asked(table.where(x > 0)) == asked(opened().where(col("x") > np.float64(0)))
    assert asked(table.where(x > 0)) == asked(opened().where(x > -0.0))


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda t: t.where(g > 3), r"must have one type.*col\('g'\) is text, 3 is a number"),
        (lambda t: t.where(x), "a condition must be a comparison, such as .*, which is a number"),
        (lambda t: t.where(3), "a condition must be an expression.*got a int"),
        (lambda t: t.with_columns(y=3), "column 'y' must be an expression.*got a int"),
        (lambda t: t.with_columns(y=lit(None)), "column 'y' could be a number or text"),
        (lambda t: t.where(b + 1 > 0), r"must be a number; write .as_number\(\)"),
        (lambda t: t.where(x & b), "must be true or false; write a comparison"),
        (lambda t: t.where(g.year() == 1), "must have one type, a date or a timestamp; .*is text"),
        (lambda t: t.where(d.hour() == 1), "must be a timestamp"),
        (lambda t: t.where(d > "yesterday"), "must have one type.*is text"),
        (lambda t: t.where(b < True), "must have one type"),
        (lambda t: t.where(lit(None) == None), "could be about"),  # noqa: E711
        (lambda t: t.where((x * x * x * x * x) > 0), r"could leave the range of doubles.*clip"),
        (lambda t: t.where(x * x * x / (1 / (x * x * x)) > 0), "could leave the range of doubles"),
        (lambda t: t.with_bounds({"g": Bounds(0, 1, grid=1)}), "cannot be added up"),
    ],
)
def test_types_are_checked_before_anything_runs(ask, said):
    with pytest.raises(InvalidTable, match=said):
        ask(opened())


def test_close_names_are_told():
    with pytest.raises(UnknownColumn, match="no column 'X'; close to it are 'x'"):
        opened().where(col("X") > 0)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: bool(x > 0), r"Write &, \|, ~"),
        (lambda: 0 < x < 1, "between"),
        (lambda: x in [1, 2], "is_in"),
        (lambda: x.is_in([]), "1 arguments"),
        (lambda: x.is_in("abc"), "takes a list"),
        (lambda: x.is_in([1, None]), "None is among them"),
        (lambda: x.is_in([n]), "takes a literal"),
        (lambda: x.round(0), "write a positive number"),
        (lambda: x.round(n), "takes a literal"),
        (lambda: x.clip(2, 1), "the lower first"),
        (lambda: x.cut([1, 1]), "not increasing"),
        (lambda: x.cut([1, date(2020, 1, 1)]), "not increasing"),
        (lambda: x.cut([1, 2], labels=["a", "b"]), "one label for each bin"),
        (lambda: x.cut([1, 2], labels=[1]), "one text label a bin"),
        (lambda: g.prefix(0), "write an integer"),
        (lambda: g.prefix(1.5), "write an integer"),
        (lambda: g.starts_with(""), "text of a letter"),
        (lambda: lit(math.nan), r"not 0 nor of a magnitude"),
        (lambda: x > float("inf"), r"not 0 nor of a magnitude"),
        (lambda: x > 10**400, r"not 0 nor of a magnitude"),
        (lambda: x > 1e-300, r"not 0 nor of a magnitude"),
        (lambda: n == 2**53 + 1, "write Keys"),
        (lambda: d.truncate("fortnight"), "write one of 'year', 'quarter', 'month'"),
        (lambda: d.at_offset("Europe/Berlin"), r"write a fixed offset.*such as '\+09:00'"),
        (lambda: d.at_offset("+15:00"), "write a fixed offset"),
        (lambda: d > datetime.max.replace(tzinfo=timezone(-timedelta(hours=1))), "in UTC"),
        (lambda: x > [1], "got a list"),
        (lambda: x > 1j, "got a complex"),
        (lambda: g == "a\0", "without NUL"),
        (lambda: g == "\ud800", "without half surrogates"),
        (lambda: col("\udfff"), "without half surrogates"),
        (lambda: col(3), "a column's name"),
    ],
)
def test_wrong_words(make, said):
    with pytest.raises(InvalidParameter, match=said):
        make()


def test_numbers_of_all_makers():
    for one in (1, 1.0, np.int8(1), np.float32(1), Decimal(1), Fraction(1)):
        assert (x > one).form() == [">", ["col", "x"], 1.0]
    assert lit(np.True_).form() is True
    assert lit(np.str_("a")).form() == "a"


def test_size_is_limited():
    def many(start, step, times):
        for _ in range(times):
            start = step(start)
        return start

    with pytest.raises(InvalidParameter, match="8191 parts, 12 deep"):
        many(x, lambda e: e + e, 40)
    with pytest.raises(InvalidParameter, match=r"'and' takes .* arguments; got 1024"):
        many(x > 0, lambda e: e & e, 40)
    with pytest.raises(InvalidParameter, match="31 deep"):
        many(n, lambda e: e + 1, 40)
    start = opened().with_columns(n=n.clip(0, 9))
    with pytest.raises(InvalidTable, match="written out"):
        many(start, lambda table: table.with_columns(n=n.clip(0, 9)), 40)
    with pytest.raises(InvalidTable, match="written out"):
        many(start, lambda table: table.with_columns(n=-n), 150)


class TestRecord:
    def test_there_and_back(self):
        late = when(x > 15.5).then("late").otherwise(g.prefix(2)).is_in(["a", "b"])
        whole = late & (d < date(2020, 2, 29)) | ~(b == lit(None))
        text = expression_to_json(whole)
        assert json.loads(text)["version"] == 1
        again = expression_from_json(text)
        assert again.form() == whole.form()
        assert repr(again) == repr(whole)
        assert pickle.loads(pickle.dumps(whole)).form() == whole.form()

    def test_repr_is_python(self):
        for expression in (
            (x + 1) * 2 > -n,
            x.cut([0, 1.5], labels=["a"]) == "a",
            x.cut([0, 1, 2]) % 2 == 0,
            when(b).then(x).when(~b).then(None).otherwise(abs(n)).clip(0, 1),
            g.is_in(["a'", '"']) | g.starts_with("\\"),
            d.days_since(d) // 7,
        ):
            names = {"col": col, "when": when}
            assert eval(repr(expression), names).form() == expression.form()

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "[]",
            "{}",
            '{"version": 2, "expression": 1}',
            '{"version": true, "expression": 1}',
            '{"version": 1, "expression": 1, "more": 1}',
            '{"version": 1, "expression": null}',
            '{"version": 1, "expression": {"col": "x"}}',
            '{"version": 1, "expression": []}',
            '{"version": 1, "expression": ["drop table", 1]}',
            '{"version": 1, "expression": ["col", 1]}',
            '{"version": 1, "expression": ["col", "x", "y"]}',
            '{"version": 1, "expression": ["date", "20200229"]}',
            '{"version": 1, "expression": ["date", "2021-02-29"]}',
            '{"version": 1, "expression": ["+", 1]}',
            '{"version": 1, "expression": ["when", true, 1]}',
            '{"version": 1, "expression": ["==", 1, NaN]}',
            '{"version": 1, "expression": ["==", 1, 1e999]}',
            '{"version": 1, "expression": ' + "[" * 10**5 + "]" * 10**5 + "}",
            '{"version": 1, "expression": ' + '["not",' * 70 + "true" + "]" * 70 + "}",
            '{"version": 1, "expression": "\\ud800"}',
        ],
    )
    def test_what_is_no_expression(self, text):
        with pytest.raises(InvalidParameter) as refused:
            expression_from_json(text)
        assert refused.value.__context__ is None or len(str(refused.value)) < 1000

    FORMS = st.recursive(
        st.one_of(
            st.none(),
            st.booleans(),
            st.integers(),
            st.floats(),
            st.text(max_size=3),
            st.sampled_from([["col", "x"], ["col", "g"], ["null"], ["date", "2020-02-29"]]),
        ),
        lambda inner: st.one_of(
            st.lists(inner, max_size=4),
            st.tuples(
                st.sampled_from([*OPERATIONS, "col", "date"]), st.lists(inner, max_size=4)
            ).map(lambda pair: [pair[0], *pair[1]]),
            st.dictionaries(st.text(max_size=2), inner, max_size=2),
        ),
        max_leaves=12,
    )

    @random_cases(100, soak=2000)
    @given(form=FORMS)
    def test_any_json_is_read_or_refused(self, form):
        try:
            found = read_expression(form)
        except InvalidParameter:
            return
        assert isinstance(found, Expression)
        assert read_expression(found.form()).form() == found.form()
        try:
            opened().with_columns(made=found)
        except InvalidTable:
            return

    @settings(max_examples=200)
    @given(text=st.text(max_size=40))
    def test_any_text_is_read_or_refused(self, text):
        with pytest.raises(InvalidParameter):
            expression_from_json(text)


class TestRange:
    @settings(max_examples=300)
    @given(
        a=st.floats(-1e30, 1e30), b=st.floats(-1e30, 1e30), sign=st.sampled_from(["+", "*", "/"])
    )
    def test_bounds_hold(self, a, b, sign):
        a, b = (0.0 if abs(v) < 1e-50 else v for v in (a, b))
        if sign == "/" and not b:
            return
        left, right = Range.of(a), Range.of(b)
        found, value = {
            "+": lambda: (left + right, a + b),
            "*": lambda: (left * right, a * b),
            "/": lambda: (left / right, a / b),
        }[sign]()
        if value:
            assert 2.0**found.low <= abs(value) <= 2.0**found.high
            assert Fraction(value) % Fraction(2) ** found.unit == 0

    @given(value=st.floats(-1e60, 1e60).filter(lambda v: not v or abs(v) > 1e-60))
    def test_of_one(self, value):
        found = Range.of(value)
        assert not value or 2.0**found.low <= abs(value) <= 2.0**found.high
        assert Fraction(value) % Fraction(2) ** found.unit == 0
        assert not value or Fraction(value) % Fraction(2) ** (found.unit + 1)


HOSTILE = [
    *("'", '"', "''", '""', "`", "``", "\\", "\\'", "\\\\'", "';", "'; DROP TABLE t; --"),
    *('"; DROP TABLE t; --', "' OR '1'='1", "' OR 1=1 --", '" OR ""="', "x' UNION SELECT 1 --"),
    *("--", "-- a", "/*", "*/", "/* a */", "/*!1*/", "#", "# a", ";", ";;", "a;b", "\n", "\r\n"),
    *(
        "\t",
        "\v",
        "\f",
        "\b",
        "\x01",
        "\x1a",
        "\x7f",
        "\x85",
        "\u2028",
        "\u2029",
        "\ufeff",
        "\u200b",
    ),
    *("\u2018", "\u2019", "\u201c", "\u201d", "\u02bc", "\uff07", "\uff02", "\u00b4", "\u2032"),
    *("$1", "$2", "$$", "$a$", "$$'$$", "${x}", "${env:HOME}", "${spark.app.name}", "#{x}"),
    *("{}", "{0}", "{{}}", "{x!r}", "{{x}}", "{% x %}", "{# x #}", "%s", "%(a)s", "%%", "%", "_"),
    *("?", "?1", ":a", "::text", "@a", "@@a", "@>", "~", "^", "|", "||", "&", "<>", "!=", "\\x41"),
    *("\\u0041", "\\U00000041", "\\101", "\\N", "\\0", "\\n", "\\%", "E'a'", "U&'\\0041'", "X'41'"),
    *("b'1'", "r'a'", "n'a'", "q'[a]'", "NULL", "null", "TRUE", "1", "-1", "1e5", "NaN", "inf"),
    *("select", "SELECT * FROM t", "(", ")", "()", "(SELECT 1)", "a,b", "a.b", ".", "*", "[a]"),
    *(
        "CAST(1 AS INT)",
        "neyman_source",
        "neyman_rows",
        "u",
        "j",
        "c0",
        " ",
        "  ",
        "a ",
        " a",
        "a\u0300",
    ),
    *(
        "\u00e9",
        "\ue000",
        "\ue000\ue001",
        "\U0001f600",
        "\U000e0041",
        "\u202e",
        "\U0010ffff",
        "\ufffd",
    ),
    *("ß", "İ", "ı", "ﬁ", "Ａ", "x" * 63, "x" * 64, "x" * 1000, "'" * 101, "\\" * 51, "a'||'b"),
]
REFUSED = ["\0", "a\0b", "\ud800", "\udfff", "a\ud800b", "\udc00\ud800"]


def shape(statement: exp.Query) -> list[str]:
    return [type(node).__name__ for node in statement.walk()]


def statement_of(table):
    (found,) = (
        cell.cell_contents
        for cell in table.count().sql.__closure__
        if isinstance(cell.cell_contents, exp.Query)
    )
    return found


class TestInjection:
    def test_the_corpus_is_large(self):
        assert len(set(HOSTILE)) >= 140

    def test_a_statement_keeps_its_one_shape(self):
        """One statement; as many nodes, of the same types, as with a harmless name and literal."""
        shapes = set()
        for word in ["harmless", *HOSTILE]:
            frame = pa.table({word if len(word) < 60 else "g": ["a"]})
            name = frame.column_names[0]
            table = open_table(frame, unit=Rows(), name="t").where(
                col(name).is_in([word, "b"])
                | (when(col(name) > word).then(word).otherwise("") == "")
            )
            tree = statement_of(table)
            shapes.add(tuple(shape(tree)))
            for spelling in (DUCKDB, POSTGRES, SPARK):
                read = sqlglot.parse(spelling.text(tree), dialect=spelling.dialect)
                assert [type(statement) for statement in read] == [exp.Select]
                tables = {node.name for node in read[0].find_all(exp.Table)}
                steps = {"neyman_rows", "neyman_sums", "neyman_parts"}
                assert tables == {"neyman_frame", *steps}
                if spelling is DUCKDB:
                    assert literals(read[0]) == literals(tree)
        assert len(shapes) == 1

    def test_the_answer_is_the_literals(self):
        """One row a word: each condition finds its own, as plain Python does."""
        frame = pa.table({"w": HOSTILE, "i": list(range(len(HOSTILE)))})
        table = open_table(frame, unit=Rows(), name="t")
        w = col("w")
        for at in range(0, len(HOSTILE), 20):
            words = HOSTILE[at : at + 20]
            choice = when(w == words[0]).then(0)
            for i, word in enumerate(words[1:], 1):
                choice = choice.when(w == word).then(i)
            made = table.with_columns(k=choice.otherwise(None), inside=w.is_in(words))
            assert made.count(Keys({"k": range(len(words))})).compute().tolist() == [1] * len(words)
            assert made.count(Keys({"inside": [True]})).compute().tolist() == [len(words)]
        for word in HOSTILE[::14]:
            expected = sum(other.startswith(word) for other in HOSTILE)
            assert table.where(w.starts_with(word)).count().compute().tolist() == [expected]
            labelled = table.with_columns(v=col("i").cut([0, 1, 1000], labels=[word, "b"]))
            assert labelled.where(col("v") == word).count().compute().tolist() == [1]

    def test_hostile_columns(self):
        names = [name for name in HOSTILE if len({name.casefold()}) == 1]
        names = list({name.casefold(): name for name in names}.values())
        frame = pa.table({name: [i, -1] for i, name in enumerate(names)})
        table = open_table(frame, unit=Rows(), name="t")
        # Of the two rows the first alone meets them all.
        for at in range(0, len(names), 10):
            chosen = names[at : at + 10]
            conditions = [col(name) == i for i, name in enumerate(chosen, at)]
            found = table.where(reduce(and_, conditions)).count().compute()
            assert found.tolist() == [1], chosen
        for i, name in list(enumerate(names))[::12]:
            made = table.with_columns(**{f"{name}2": col(name) + 1, name: col(name) * 2})
            kept = made.where((col(f"{name}2") == i + 1) & (col(name) == 2 * i))
            assert kept.count().compute().tolist() == [1], name

    @pytest.mark.parametrize("word", REFUSED, ids=ascii)
    def test_what_no_engine_holds_is_refused(self, word):
        for make in (
            lambda: g == word,
            lambda: g.is_in(["a", word]),
            lambda: g.starts_with(word),
            lambda: when(b).then(word),
            lambda: x.cut([0, 1], labels=[word]),
            lambda: col(word),
            lambda: lit(word),
            lambda: opened().with_columns(**{word: x}),
            lambda: read_expression(["==", ["col", "g"], word]),
        ):
            with pytest.raises(InvalidParameter, match="without NUL and without half surrogates"):
                make()

    def test_every_part_that_is_no_call_stands_in_brackets(self):
        part = (exp.Binary, exp.Unary, exp.Between, exp.In)
        inner = [
            *((x > 0) & b, (x > 0) | b, ~b, x > 0, x.is_null(), x.between(0, 1), x.is_in([1])),
            *(g.starts_with("a"), b == (x > 0)),
        ]
        numbers = [x + 1, x - 1, x * 2, x / 2, -x, x % 2, x // 2, abs(x), x.round(1)]
        made = [make(i) for i in inner for make in (lambda i: ~i, lambda i: i & b, lambda i: b | i)]
        made += [i == b for i in inner] + [i.is_null() for i in inner]
        made += [a > c for a in numbers for c in numbers[::3]] + [-a > 0 for a in numbers]
        made += [(a - c) * (c / a) > 0 for a in numbers[:3] for c in numbers[:2]]
        for expression in made:
            tree = opened().where(expression).view.conditions[0]
            for node in tree.walk():
                above = node.parent
                if isinstance(node, exp.Paren) or not isinstance(node, part):
                    continue
                if isinstance(node, exp.Connector) and type(node) is type(above):
                    continue
                assert not isinstance(above, part) or isinstance(above, exp.Paren), expression
            for spelling in (DUCKDB, POSTGRES, SPARK):
                text = spelling.text(exp.select(tree))
                again = sqlglot.parse_one(text, dialect=spelling.dialect)
                assert again.sql(dialect=spelling.dialect) == text


def literals(tree) -> list[str]:
    return [node.this for node in tree.find_all(exp.Literal)]


class TestFieldsOfCSVFiles:
    def table(self, written):
        return open_table(written(b"a,b\n1,x\n2,1\nzz,3\n,4\n"), unit=Rows())

    def test_are_numbers_or_text_as_is_asked(self, written):
        table, a = self.table(written), col("a")
        assert table.where(a > 1).count().compute().tolist() == [1]
        assert table.where(a == "zz").count().compute().tolist() == [1]
        assert table.where(a.as_number().is_null()).count().compute().tolist() == [2]
        assert table.where(a.as_text().is_null()).count().compute().tolist() == [1]
        assert table.where(a.as_number() < col("b")).count().compute().tolist() == [0]

    def test_what_is_left_open_is_refused(self, written):
        table = self.table(written)
        for ask in (
            lambda: table.where(col("a") == col("b")),
            lambda: table.where(col("a").is_null()),
            lambda: table.with_columns(c=col("a")),
        ):
            with pytest.raises(InvalidTable, match="CSV"):
                ask()
