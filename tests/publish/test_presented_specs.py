"""Keys of a spec that say how answers are presented: no question has a part in them."""

import datetime as dt

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neyman import publish
from neyman.errors import NeymanError, SpecError
from neyman.publish import Display, Presentation, Suppression

PLAIN = """
title = "Visits"
{page}
[data]
path = "t.parquet"
[unit]
entity = "who"
max_rows = 6
[derive]
half = "x * 0.5"
many = "x >= 5"
[columns.x]
lower = 0
upper = 10
grid = 1
{of_x}
[keys.wards]
ward = ["north", "south"]
[budget]
ledger = "t.ledger"
mu = 1
[[query]]
entry = "visits"
statistic = "count"
by = "wards"
mu = 0.1
{count}
[[query]]
entry = "means"
statistic = "mean"
column = "x"
mu = 0.1
{mean}
{more}
"""
EMPTY = dict.fromkeys(("page", "of_x", "count", "mean", "more"), "")
FULL = {
    "page": """[page]
subtitle = "of 2025"
notes = ["one", "two"]
contact = "stat@example.org"
data_date = 2025-12-31
language = "ko"
suppress = { count_below = 10, interval_wider_than_share = 0.5 }
""",
    "of_x": 'label = "score"\nunit = "points"',
    "count": 'title = "half"\nnote = "who"\nlabel = "visits"\norder = "largest"\nsuppress = { }',
    "mean": "decimals = 1\npercent = true\nsuppress = { interval_wider_than = 20 }",
    "more": '[columns.ward]\nlabel = "Ward"\n[columns.ward.values]\nnorth = "North"\n'
    '[columns.half]\nlabel = "ward"\nunit = "x"',
}


@pytest.fixture
def planned(tmp_path):
    rows = {
        "who": [f"p{i % 30}" for i in range(90)],
        "ward": ["north", "south", "east"] * 30,
        "x": [float(i % 11) for i in range(90)],
    }
    pq.write_table(pa.table(rows), tmp_path / "t.parquet")

    def plan(**words):
        (tmp_path / "s.toml").write_text(PLAIN.format(**EMPTY | words), encoding="utf-8")
        return publish.plan(publish.read_spec(tmp_path / "s.toml"), tmp_path)

    return plan


def test_a_spec_says_all_that_a_presentation_holds(planned):
    assert planned(**FULL).presentation == Presentation(
        subtitle="of 2025",
        notes=["one", "two"],
        contact="stat@example.org",
        data_date=dt.date(2025, 12, 31),
        language="ko",
        suppress=Suppression(count_below=10, interval_wider_than_share=0.5),
        labels={"x": "score", "ward": "Ward", "half": "ward"},
        values={"ward": {"north": "North"}},
        units={"x": "points", "half": "x"},
        answers={
            "visits": Display(
                title="half", note="who", label="visits", order="largest", suppress=Suppression()
            ),
            "means": Display(
                decimals=1, percent=True, suppress=Suppression(interval_wider_than=20)
            ),
        },
    )


@pytest.mark.parametrize("key", [*FULL, "all"])
def test_a_word_of_a_page_is_no_part_of_a_question_even_if_it_is_the_name_of_a_column(planned, key):
    words = FULL if key == "all" else {key: FULL[key]}
    plain, worded = planned(), planned(**words)
    for one, other in zip(plain.steps, worded.steps, strict=True):
        assert one.aggregate.query == other.aggregate.query
        assert one.aggregate.sql() == other.aggregate.sql()
        assert (one.entry, one.mechanism, one.companion) == (
            other.entry, other.mechanism, other.companion,
        )  # fmt: skip


@pytest.mark.shows("presentation")
def test_a_changed_title_leaves_a_release_free_to_be_given_again(planned):
    first = publish.publish(planned(), progress=lambda *_: None)
    again = publish.publish(planned(**FULL), progress=lambda *_: None)
    assert [one.replayed for one in first.releases] == [False, False]
    assert [one.replayed for one in again.releases] == [True, True]
    assert [one.columns for one in again.releases] == [one.columns for one in first.releases]
    assert again.total == first.total
    titles = [shown.display.title for shown in again.presented()]
    assert titles == ["half", None]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"page": "[page]\nsubtitel = 'x'"}, "page.subtitel: no such key; write subtitle"),
        ({"page": "[page]\nlanguage = 'de'"}, "page.language: it should be 'en', 'ko' or 'zh'"),
        ({"count": "order = 'largets'"}, "query 'visits'.order: it should be 'declared', 'larg"),
        ({"count": "decimals = 99"}, "query 'visits'.decimals: it should be at most 15"),
        ({"count": "percent = 1"}, "query 'visits'.percent: it should be true or false"),
        ({"count": "suppress = 10"}, "query 'visits'.suppress: it should be a table"),
        ({"count": "suppress = { count_belov = 3 }"}, "no such key; write count_below"),
        ({"count": "suppress = { count_below = 0 }"}, "it should be at least 1; found 0"),
        ({"page": "[page]\nsuppress = { interval_wider_than = 0 }"}, "should be more than 0"),
        ({"more": "[columns.wrad]\nlabel = 'Ward'"}, "wrad.*ward"),
        ({"more": "[columns.half]\nlower = 1\nlabel = 'h'"}, "write upper and grid also"),
        ({"more": "[columns.half]\nspread = [1, 2]"}, "write lower, upper and grid also"),
        (
            {"mean": '[[query]]\nentry = "s"\nstatistic = "several"\nby = "wards"\nmu = 0.1\n'
             'label = "x"\nparts = [{ statistic = "count" }]'},
            "query 's': label must be for an answer of one number; got it for 's', which has",
        ),
        ({"mean": 'unit = 7'}, "query 'means'.unit: it should be text"),
    ],
)  # fmt: skip
def test_a_wrong_word_is_told_in_words_of_the_spec(planned, words, said):
    with pytest.raises(NeymanError, match=said):
        planned(**words)


def test_words_alone_do_not_make_bounds(planned):
    with pytest.raises(
        SpecError, match=r"query 'h' needs bounds of 'half'; write \[columns.half\]"
    ):
        planned(
            more="[columns.half]\nlabel = 'h'\n[[query]]\nentry = 'h'\nstatistic = 'sum'\n"
            "column = 'half'\nmu = 0.1"
        )


def test_a_made_column_of_true_and_false_needs_no_bounds(planned):
    plan = planned(more="[[query]]\nentry = 'm'\nstatistic = 'mean'\ncolumn = 'many'\nmu = 0.1")
    assert plan.steps[-1].aggregate.query["column"] == "many"


def test_a_wrong_word_hides_no_other_mistake_of_the_same_query(planned):
    with pytest.raises(SpecError) as caught:
        planned(mean="decimals = 'x'\nby = 'wrads'")
    assert "query 'means'.decimals: it should be" in str(caught.value)
    assert "query 'means': by must name groups of the spec" in str(caught.value)
