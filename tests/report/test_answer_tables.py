"""Answers as tables: words, rounded numbers, order, and what is left out."""

import csv
import io
import json
import re
from dataclasses import replace
from fractions import Fraction
from math import inf, nan

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neyman as ny
from neyman import plots
from neyman.ledger import store_of
from neyman.publish import Display, Presentation, Presented, Publication, Suppression
from neyman.released import Guarantee, Release, Spending
from neyman.report import html
from neyman.report._answer_tables import answer_tables, title_of
from neyman.report._columns import place_of

WORDS = Presentation(
    labels={"delay": "arrival delay", "month": "Month"},
    units={"delay": "minutes"},
    values={"month": {1: "January", 2: "February"}},
)
HOSTILE = [
    "<script>alert(1)</script>",
    "</td></table><img src=x onerror=alert(1)>",
    "=cmd|' /C calc'!A0",
    "\u202eevil\u202c",
    "a\x1b[2Jb\nc",
    "北京 🙈 é",
    "x" * 5000,
    "\"';--&amp;",
]


def release(statistic, query, keys=("month",), **columns):
    return Release(
        entry="a",
        query={"statistic": statistic, **query},
        mechanism={},
        guarantee=Guarantee(
            curve=ny.gdp(1), neighbors="add_remove", unit="one row", assumptions=()
        ),
        spending=Spending(account="mu^2", cost=Fraction(1), remaining=Fraction(0), cap=Fraction(1)),
        confidence=0.95,
        columns=columns,
        keys=keys,
        replayed=False,
    )


def means(**more):
    columns = {
        "month": [1, 2, 3],
        "mean": [5.123, 19.25, 2.0],
        "lower": [4.0, 8.5, -9.0],
        "upper": [6.2, 29.5, 13.0],
        "total_lower": [nan, nan, nan],
        "total_upper": [nan, nan, nan],
        "count": [2781.2, 800.0, 4.0],
    }
    query = {"column": "delay", "bounds": [-60, 240], "keys": {"columns": ["month"]}}
    return release("mean", query, **columns | more)


def table_of(made, display=None, words=WORDS):
    words = words if display is None else replace(words, answers={"a": display})
    (table,) = answer_tables(Presented("a", made, words).ordered())
    return table


def publication_of(made, words):
    return Publication(
        title="T",
        names=("a",),
        releases=(made,),
        cap=ny.gdp(1),
        total=ny.gdp(1),
        unit="one row",
        neighbors="add_remove",
        ledger=store_of("t.ledger"),
        presentation=words,
    )


def page_of(made, words):
    shown = publication_of(made, words)
    svg = "".join(plots.to_svg(plots.released(one)) for one in shown.presented())
    return html(shown, tradeoff_svg="", release_svgs={"a": svg}), svg


def test_a_table_is_told_in_words_and_rounded_to_the_noise():
    table = table_of(means())
    assert table.title == "Mean of arrival delay by Month"
    assert [head.line for head in table.heads] == [
        "Month",
        "mean (minutes)",
        "95 % noise interval, from (minutes)",
        "95 % noise interval, to (minutes)",
        "rows with a value",
    ]
    assert [row.cells for row in table.rows] == [
        ("January", "5.1", "4.0", "6.2", "2,781"),
        ("February", "19.0", "8.0", "30.0", "800"),
        ("3", "2.0", "-9.0", "13.0", "4"),
    ]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "Survival (time: follow-up; event: death) by sex"),
        ("ko", "생존 곡선(시간: follow-up, 사건: death)"),
        ("zh", "生存曲线（时间：follow-up；事件：death）"),
    ],
)
def test_a_title_of_survival_names_the_time_and_the_event(language, said):
    keys = {"columns": ["sex"]}
    query = {"columns": ["follow-up", "death"], "keys": keys}
    made = release("survival", query, keys=("sex",), sex=["f"], coefficient=[1.0])
    title = title_of(Presented("a", made, Presentation(language=language)))
    assert said in title


@pytest.mark.parametrize(("outside", "said"), [("clip", True), ("drop", False)])
def test_bins_that_take_in_rows_beyond_them_say_so(outside, said):
    bins = {"age": {"edges": ["0x0p+0", "0x1p+4"], "outside": outside}}
    keys = {"columns": ["age"], "types": ["bins"], "bins": bins}
    columns = {"age_from": [0], "age_to": [16], "count": [3], "lower": [1], "upper": [5]}
    made = release("count", {"keys": keys}, keys=("age_from", "age_to"), **columns)
    note = "The first and last bin of age also count the rows beyond them."
    assert (note in made.interval_notes) is said
    assert (note in str(made).replace("\n", " ").replace("  ", " ")) is said


def heads_beside(**declared):
    made = means().declared(**declared) if declared else means()
    return table_of(made).heads[-1].words


def test_a_count_beside_a_mean_is_of_the_rows_with_a_value_unless_all_have_one():
    assert heads_beside() == heads_beside(complete=["other"]) == "rows with a value"
    assert heads_beside(complete=["delay"]) == "count"
    made = means()
    keys = {"columns": ["delay"], "types": ["int"]}
    grouped = replace(made, query={**made.query, "keys": keys}, keys=("delay",))
    columns = {"delay": made.columns["month"]} | dict(made.columns)
    assert table_of(replace(grouped, columns=columns)).heads[-1].words == "count"
    query = {**made.query, "statistic": "mean_per_unit"}
    columns = {"mean_per_unit": made.columns["mean"]} | dict(made.columns)
    assert (
        table_of(replace(made, query=query, columns=columns)).heads[-1].words
        == "units with a value"
    )
    page, _ = page_of(made, Presentation(language="ko"))
    assert "<th>값이 있는 행</th>" in re.sub(r"<th [^>]*>", "<th>", page)


@pytest.mark.parametrize("order", ["declared", "smallest"])
def test_a_count_that_a_rule_hides_is_hidden_beside_other_numbers_of_the_group(tmp_path, order):
    data = pa.table({"ward": ["a"] * 60 + ["b"] * 6000, "t": [36, 37] * 3030})
    db = ny.open(
        data,
        name="v",
        unit=ny.Rows(),
        budget=ny.gdp(9),
        ledger=tmp_path / "v.ledger",
        bounds={"t": (30, 45)},
    )
    wards = {"ward": ["b", "a"]}
    db.count(by=wards).release("count", mu=0.15)
    db.mean("t", by=wards).release("mean", mu=0.3)
    db.quantiles("t", by=wards).release("quantiles", mu=0.3)
    db.count(by={"ward": ["a"]} | {"t": [36]}).release("cell", mu=0.3)
    rule = Suppression(interval_wider_than_share=0.1)
    shown = Presentation(suppress=rule, answers={"mean": Display(order=order)})
    found = dict(zip(db.releases, db.publication("V", shown).presented(), strict=True))
    for name in ("mean", "quantiles"):
        (table,) = answer_tables(found[name])
        at = [head.name for head in table.heads].index("count")
        beside = {(row.values[0], row.state): row.values[at] for row in table.rows}
        assert all((number is None) == (ward == "a") for (ward, _), number in beside.items())
        assert ("a", "shown") in beside
        assert ("b", "shown") in beside
    # Without a count that is hidden, all stand.
    (table,) = answer_tables(replace(found["mean"], hidden=frozenset()))
    assert all(row.values[at - 1] is not None for row in table.rows)


def test_the_title_the_name_of_the_number_and_its_decimals_can_be_given():
    display = Display(title="Delays", label="delay", unit="min", decimals=2)
    table = table_of(means(), display)
    assert table.title == "Delays"
    assert table.heads[1].line == "delay (min)"
    assert table.rows[0].cells[1:4] == ("5.12", "4.00", "6.20")


def test_shares_are_shown_in_percent():
    made = means(mean=[0.5, 0.125, 0.9], lower=[0.48, 0.1, 0.85], upper=[0.52, 0.15, 0.95])
    table = table_of(made, Display(percent=True))
    assert table.heads[1].line == "mean (%)"
    assert [row.cells[1] for row in table.rows] == ["50.0", "12.5", "90.0"]
    assert table.rows[0].values[1] == 50.0


@pytest.mark.parametrize(
    ("order", "months"),
    [
        ("declared", ["January", "February", "3"]),
        ("largest", ["February", "January", "3"]),
        ("smallest", ["3", "January", "February"]),
        ("alphabetical", ["3", "February", "January"]),
    ],
)
def test_groups_stand_in_the_order_that_is_asked_for(order, months):
    assert [row.cells[0] for row in table_of(means(), Display(order=order)).rows] == months


def test_margins_of_a_crosstab_are_ordered_each_by_itself_and_said_in_words():
    made = release(
        "crosstab",
        {"keys": {"columns": ["month"]}, "margins": [[]]},
        month=["1", "2", "all"],
        margin=["by month", "by month", "in total"],
        count=[5.0, 90.0, 95.0],
        lower=[1.0, 80.0, 85.0],
        upper=[9.0, 99.0, 105.0],
        unbiased=[5.0, 90.0, 95.0],
        stddev=[2.0, 2.0, 2.0],
    )
    table = table_of(made, Display(order="largest"))
    assert [row.cells[:3] for row in table.rows] == [
        ("February", "by Month", "90"),
        ("January", "by Month", "5"),
        ("all", "in total", "95"),
    ]


@pytest.mark.shows("presentation")
@pytest.mark.parametrize(
    ("rule", "out", "word"),
    [
        (Suppression(count_below=10), ["3"], "fewer than 10"),
        (Suppression(interval_wider_than=20), ["February", "3"], "too uncertain"),
        (Suppression(interval_wider_than_share=0.5), ["February", "3"], "too uncertain"),
        (Suppression(interval_wider_than_share=2), ["3"], "too uncertain"),
    ],
)
@pytest.mark.parametrize("of_page", [True, False])
def test_what_a_rule_leaves_out_is_left_out_of_every_output(rule, out, word, of_page):
    made = means(mean=[5.123, 19.25, 2.3457], lower=[4.0, 8.5, -9.7531], upper=[6.2, 29.5, 13.579])
    words = replace(WORDS, suppress=rule)
    if not of_page:
        words = replace(
            WORDS, suppress=Suppression(count_below=10**6), answers={"a": Display(suppress=rule)}
        )
    table = table_of(made, words=words)
    left_out = [row for row in table.rows if row.cells[0] in out]
    assert [row.cells[0] for row in table.rows if row.state in ("below", "too_uncertain")] == out
    for row in left_out:
        assert row.cells[1:] == (word, "", "", "")
        assert row.values[1:] == (None, None, None, None)
    lines = [*csv.reader(io.StringIO(table.to_csv()))]
    assert [line[0] for line in lines if line[-1] == word] == out
    assert all(line[1:5] == ["", "", "", ""] for line in lines if line[-1] == word)
    records = table.to_json()["rows"]
    assert [record["month"] for record in records if record["mean"] is None] == out
    for sentence in rule.sentences:
        assert sentence in table.notes
    page, svg = page_of(made, words)
    cell = publication_of(made, words)._repr_html_()
    assert word in svg
    assert word in cell
    page = page.partition('<section id="answers"')[2].partition('<section id="audit"')[0]
    page = re.sub('<svg.*?</svg>|base64,[^"]*', "", page, flags=re.DOTALL)
    for text in (table.to_csv(), json.dumps(table.to_json()), page, cell.partition("</style>")[2]):
        assert all(digits not in text for digits in ("2.3", "9.7", "13.5", "13.6"))
    for sentence in rule.sentences:
        assert sentence in page


def test_a_rule_without_parts_leaves_nothing_out():
    words = replace(
        WORDS,
        suppress=Suppression(count_below=10**6),
        answers={"a": Display(suppress=Suppression())},
    )
    assert {row.state for row in table_of(means(), words=words).rows} == {"shown"}


def test_a_rule_in_percent_is_of_the_percents_that_are_shown():
    made = means(mean=[0.5, 0.125, 0.9], lower=[0.48, 0.05, 0.85], upper=[0.52, 0.25, 0.95])
    display = Display(percent=True, suppress=Suppression(interval_wider_than=15))
    states = [row.state for row in table_of(made, display).rows]
    assert states == ["shown", "too_uncertain", "shown"]


def test_an_interval_without_an_end_is_too_uncertain_for_any_rule():
    made = release(
        "linear_regression",
        {"response": {"column": "delay"}, "features": [{"column": "month"}]},
        keys=(),
        term=["(intercept)", "month"],
        estimate=[120.5, 0.0321],
        lower=[100.0, nan],
        upper=[140.0, inf],
    )
    table = table_of(made, Display(suppress=Suppression(interval_wider_than=10**6)))
    assert [row.state for row in table.rows] == ["shown", "too_few"]


def test_each_coefficient_has_the_decimals_of_its_own_noise():
    made = release(
        "linear_regression",
        {"response": {"column": "delay"}, "features": [{"column": "month"}]},
        keys=(),
        term=["(intercept)", "month"],
        estimate=[120.5, 0.0321],
        lower=[100.0, 0.0220],
        upper=[140.0, 0.0420],
    )
    words = replace(WORDS, units={"delay": "minutes", "month": "months"})
    cells = [row.cells[:2] for row in table_of(made, words=words).rows]
    assert cells == [("intercept (minutes)", "120"), ("Month (minutes / months)", "0.032")]


def test_what_noise_alone_could_have_made_is_marked_or_said_to_be():
    made = release(
        "count",
        {},
        month=[1, 2],
        count=[3, 90],
        stddev=[4.0, 4.0],
        lower=[-5, 82],
        upper=[11, 98],
    )
    table = table_of(made)
    assert [row.cells[1] for row in table.rows] == ["3*", "90"]
    assert "its interval holds 0" in table.notes[0]
    assert (
        table.to_csv().splitlines()[1].endswith("could have made this number: its interval holds 0")
    )
    table = table_of(means(lower=[4.0, -60.0, nan], upper=[6.0, 240.0, 9.0]))
    few = "too few rows to tell"
    assert [row.cells[1] for row in table.rows] == ["5.1", few, few]


NUMBER = st.floats(-1e9, 1e9).filter(lambda x: x == 0 or abs(x) > 1e-6)


@settings(max_examples=50)
@given(st.lists(st.tuples(NUMBER, st.floats(1e-4, 1e6)), min_size=1, max_size=12))
def test_a_column_has_one_number_of_decimals_and_no_digit_beyond_the_noise(rows):
    numbers = [x for x, _ in rows]
    lower, upper = ([x + sign * h for x, h in rows] for sign in (-1, 1))
    made = release("sum", {}, month=[*range(len(rows))], sum=numbers, lower=lower, upper=upper)
    table = table_of(made)
    texts = [[cell.rstrip("*").replace(",", "") for cell in row.cells[1:4]] for row in table.rows]
    assert len({len(text.partition(".")[2]) for cells in texts for text in cells}) == 1
    for (value, low, high), x, a, b in zip(texts, numbers, lower, upper, strict=True):
        assert Fraction(low) <= Fraction(repr(a)) <= Fraction(repr(b)) <= Fraction(high)
        # Its last digit but for zeros that line it up.
        last = max(place_of(a, b), -len(value.partition(".")[2]))
        unit = Fraction(10) ** last
        assert Fraction(value) % unit == 0
        assert abs(Fraction(value) - Fraction(repr(x))) <= unit / 2
        assert unit >= Fraction((b - a) / 2) * Fraction(999, 100_000)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_harms_no_output(text):
    words = Presentation(
        subtitle=text,
        notes=[text],
        contact=text,
        data_date=text,
        labels={"delay": text, "month": text},
        units={"delay": text},
        values={"month": {1: text}},
        answers={"a": Display(title=text, note=text, label=text, unit=text)},
    )
    page, svg = page_of(means(), words)
    for shown in (page, svg, publication_of(means(), words)._repr_html_()):
        assert "<script" not in shown.lower()
        assert "<img" not in shown.lower()
        assert "\u202e" not in shown
        assert "\x1b" not in shown
    table = table_of(means(), words=words)
    for line in csv.reader(io.StringIO(table.to_csv())):
        assert len(line) == 5
        for cell in line:
            assert not cell.startswith(("=", "@", "\t"))
            assert "\n" not in cell
            assert "\u202e" not in cell
    assert json.loads(json.dumps(table.to_json()))["rows"][0]["month"] == text
