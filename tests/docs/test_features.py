"""The list of features: tests show all that is there and nothing else, and it counts rightly."""

import re

PAGE = "features.md"
STATES = ("Y", "partly", "no")


def state(row):
    return row["here"].partition(":")[0]


def test_every_feature_stands_once_with_a_state(tables):
    rows = tables.rows(PAGE, "id")
    for head in ("id", "feature"):
        names = [row[head] for row in rows]
        assert len(set(names)) == len(names) > 50
    assert {row["id"]: row["here"] for row in rows if state(row) not in STATES} == {}


def test_what_is_there_is_shown_by_a_test_and_tests_show_no_other(tables, shown):
    there = {row["id"] for row in tables.rows(PAGE, "id") if state(row) != "no"}
    assert {row for row in shown if re.fullmatch(r"[a-z-]+", row)} == there


def test_what_is_lacking_says_what_there_is_instead(tables):
    for row in tables.rows(PAGE, "id"):
        said = row["here"].partition(": ")[2]
        assert (len(said) > 10) == (state(row) != "Y"), row


def test_the_counts_are_those_of_the_rows(tables):
    states = [state(row) for row in tables.rows(PAGE, "id")]
    said = re.search(
        r"\*\*(\d+) of (\d+) features work; (\d+) in part, (\d+) do not", tables.text(PAGE)
    )
    counted = [states.count(each) for each in STATES]
    assert [int(n) for n in said.groups()] == [counted[0], len(states), *counted[1:]]
