"""How a publication is presented: what can be said, and what is refused."""

import datetime as dt
from types import SimpleNamespace

import pytest

from neyman.errors import InvalidParameter
from neyman.publish import Display, Presentation, Suppression
from neyman.released import RecordedQuestion


def test_what_is_said_of_a_value_is_found_by_its_text():
    words = {"month": {1: "January", 2.0: "February"}, "died": {True: "dead", False: "alive"}}
    assert Presentation(values=words).values == {
        "month": {"1": "January", "2": "February"},
        "died": {"true": "dead", "false": "alive"},
    }


def test_an_answer_of_which_nothing_is_said_is_shown_plainly():
    made = Presentation(answers={"visits": Display(title="Visits")})
    assert made.display("visits").title == "Visits"
    assert made.display("other") == Display()


def test_a_rule_of_suppression_is_told_in_words():
    rule = Suppression(interval_wider_than=20, interval_wider_than_share=0.5, count_below=10)
    assert rule.sentences == (
        "Numbers whose noise interval is wider than 20 are not shown.",
        "Numbers whose noise interval is wider than 50 % of the number are not shown.",
        "Groups whose noisy count is below 10 are not shown.",
    )
    assert Suppression().sentences == ()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Suppression(interval_wider_than=0), "interval_wider_than must be above 0; got 0"),
        (lambda: Suppression(interval_wider_than_share=-1), "must be above 0"),
        (lambda: Suppression(interval_wider_than=float("nan")), "must be finite; got nan"),
        (lambda: Suppression(count_below=0), "must be a whole number from 1"),
        (lambda: Suppression(count_below=True), "must be a whole number from 1"),
        (lambda: Display(decimals=-1), "decimals must be a whole number from 0 to 15; got -1"),
        (lambda: Display(order="largets"), "order must be .*; got 'largets'. Write 'largest'"),
        (lambda: Display(title=7), r"title must be.*type int"),
        (lambda: Display(percent=1), r"percent must be.*type int"),
        (lambda: Display(suppress=10), r"must be a rule, such as .*Suppression\(count_below=10\)"),
        (lambda: Presentation(units={"wait": 7}), r"the words in units must be.*type int"),
        (lambda: Presentation(language="de"), "language must be one of 'en', 'ko', 'zh'; got 'de'"),
        (lambda: Presentation(notes="one"), "must be a list; got the text"),
        (lambda: Presentation(notes=[1]), r"a note must be.*type int"),
        (lambda: Presentation(data_date=2026), r"data_date must be.*type int"),
        (lambda: Presentation(labels=["wait"]), r"labels must be.*type list"),
        (lambda: Presentation(values={"month": "January"}), "values of a column must.*type str"),
        (lambda: Presentation(answers={"visits": "Visits"}), r"an answer must be.*type str"),
    ],
)  # fmt: skip
def test_what_is_no_presentation_is_refused_in_words(make, said):
    with pytest.raises(InvalidParameter, match=said):
        make()


def asked(statistic):
    """What stands for a release of this statistic."""
    return SimpleNamespace(question=RecordedQuestion.of({"statistic": statistic}))


def test_words_for_what_is_not_there_are_refused():
    made = Presentation(data_date=dt.date(2026, 5, 1), labels={"wiat": "waiting time"})
    with pytest.raises(
        InvalidParameter,
        match=r"labels must have the columns .*got 'wiat'. Write one of these: wait, ward",
    ):
        made.check({}, ["wait", "ward"])
    made = Presentation(answers={"visit": Display()})
    with pytest.raises(
        InvalidParameter,
        match=r"answers must have the ids .*; got 'visit'. Write one of these: visits",
    ):
        made.check({"visits": asked("count")}, [])


@pytest.mark.parametrize(
    "display", [Display(label="visits"), Display(unit="EUR"), Display(percent=True)]
)
def test_words_for_one_number_are_refused_where_there_are_several(display):
    made = Presentation(answers={"visits": display})
    made.check({"visits": asked("count")}, [])
    with pytest.raises(
        InvalidParameter,
        match="must be for an answer of one number; got it for 'visits', which has several numbers",
    ):
        made.check({"visits": asked("together")}, [])
