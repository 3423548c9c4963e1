"""The checklist and the features are written anew, and tests show every row and no other."""

import re

import pytest

SERIES = {"S0": 14, "S1": 27, "S2": 15, "S3": 5, "S4": 16}
ERRORS = {"e0": 7, "e1": 14, "e2": 9, "e3": 5, "e4": 9}


def ids(series):
    return [f"{name}.{n + 1}" for name, count in series.items() for n in range(count)]


def test_the_pages_are_those_of_the_rows_and_the_marks(generated):
    for path, text in generated.written():
        kept = path.read_text(encoding="utf-8")
        assert kept == text, f"write {path.name} anew: python docs/tables.py"
    shown = generated.shown()
    assert generated.features(shown) != generated.features(shown - {"renyi"})


def test_every_item_and_every_mistake_stands_once(generated):
    assert [row["id"] for row in generated.rows("theory")] == ids(SERIES)
    assert [row["id"] for row in generated.rows("mistake")] == ids(ERRORS)


def test_every_call_is_there(generated, tables):
    for row in [*generated.rows("theory"), *generated.rows("mistake")]:
        assert tables.missing_calls(generated.calls(row)) == [], row


@pytest.mark.parametrize(
    "text", ["`ny.gpd`", "`ny.TradeOff.gamma`", "`ny.nowhere.gdp`", "`ny.TradeOff._open`", "gdp"]
)
def test_a_call_that_is_not_there_is_found(tables, text):
    assert tables.missing_calls(text)
    assert not tables.missing_calls("`ny.gdp`, `ny.TradeOff.mu`, `ny.accounting.edgeworth`")


def test_tests_show_every_item_and_no_other(shown):
    found = {row for row in shown if re.fullmatch(r"[Se]\d+\.\d+", row)}
    assert found == set(ids(SERIES | ERRORS))


def test_tests_show_every_feature_that_works_and_no_other(generated, shown):
    there = {row["id"]: row for row in generated.rows("feature")}
    found = {row for row in shown if re.fullmatch(r"[a-z-]+", row)}
    assert found <= there.keys()
    assert {name for name, row in there.items() if "lacks" not in row} <= found


def test_every_feature_stands_once_and_says_what_there_is_instead(generated):
    every = generated.rows("feature")
    for name in ("id", "says"):
        assert len({row[name] for row in every}) == len(every) > 50
    assert [row for row in every if len(row.get("lacks", "long enough")) <= 10] == []
    assert generated.state({"id": "x", "lacks": "other"}, {"x"}) == "partly: other"
    assert generated.state({"id": "x", "lacks": "other"}, set()) == "no: other"
