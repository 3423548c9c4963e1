"""The checklist names calls that exist, every item once, and counts them rightly."""

import re

import pytest

PAGE = "checklist.md"
ITEMS = {"S0": 14, "S1": 27, "S2": 15, "S3": 5, "S4": 16}
ERRORS = {"e0": 7, "e1": 14, "e2": 9, "e3": 5, "e4": 9}


def waiting(row):
    return any(cell.startswith("not yet: ") and len(cell) > 15 for cell in row.values())


def test_every_item_and_every_error_stands_once(tables):
    expected = [f"{s}.{n + 1}" for s, count in (ITEMS | ERRORS).items() for n in range(count)]
    assert [row["id"] for row in tables.rows(PAGE, "id")] == expected


def test_every_call_is_there(tables):
    calls = {row["id"]: row["call"] for row in tables.rows(PAGE, "id") if not waiting(row)}
    missing = {item: tables.missing_calls(text) for item, text in calls.items()}
    assert {item: found for item, found in missing.items() if found} == {}


def test_every_item_is_shown_by_a_test_and_tests_show_no_other(tables, shown):
    items = {row["id"] for row in tables.rows(PAGE, "id") if not waiting(row)}
    assert {row for row in shown if re.fullmatch(r"[Se]\d+\.\d+", row)} == items


def test_the_counts_are_those_of_the_rows(tables):
    items = [row for row in tables.rows(PAGE, "id") if row["id"].startswith("S")]
    waits = sum(map(waiting, items))
    said = re.search(r"\*\*(\d+) of (\d+) items work; (\d+) are marked", tables.text(PAGE))
    assert [int(n) for n in said.groups()] == [len(items) - waits, len(items), waits]


@pytest.mark.parametrize(
    "text", ["`ny.gpd`", "`ny.TradeOff.gamma`", "`ny.nowhere.gdp`", "`ny.TradeOff._open`", "gdp"]
)
def test_a_call_that_is_not_there_is_found(tables, text):
    assert tables.missing_calls(text)
    assert not tables.missing_calls("`ny.gdp`, `ny.TradeOff.mu`, `ny.accounting.edgeworth`")
