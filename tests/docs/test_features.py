"""The list of features names tests that exist for all that is there, and counts rightly."""

import re

PAGE = "features.md"
STATES = ("Y", "partly", "no")


def state(row):
    return row["here"].partition(":")[0]


def test_every_feature_stands_once_with_a_state(tables):
    rows = tables.rows(PAGE, "feature")
    names = [row["feature"] for row in rows]
    assert len(set(names)) == len(names) > 50
    assert {row["feature"]: row["here"] for row in rows if state(row) not in STATES} == {}


def test_what_is_there_is_shown_by_tests_that_exist(tables):
    missing = {
        row["feature"]: tables.missing_tests(row["shown by"])
        for row in tables.rows(PAGE, "feature")
        if state(row) != "no" and tables.missing_tests(row["shown by"])
    }
    assert missing == {}


def test_what_is_lacking_says_what_there_is_instead_and_claims_no_test(tables):
    for row in tables.rows(PAGE, "feature"):
        said = row["here"].partition(": ")[2]
        assert (len(said) > 10) == (state(row) != "Y"), row
        assert (row["shown by"] == "nothing") == (state(row) == "no"), row


def test_the_counts_are_those_of_the_rows(tables):
    states = [state(row) for row in tables.rows(PAGE, "feature")]
    said = re.search(
        r"\*\*(\d+) of (\d+) features work; (\d+) in part, (\d+) do not", tables.text(PAGE)
    )
    counted = [states.count(each) for each in STATES]
    assert [int(n) for n in said.groups()] == [counted[0], len(states), *counted[1:]]
