"""Limits of a spec: whatever it holds, it is read or refused at once, in one sentence a place."""

import random
import sys
import time

import pytest

from neyman.errors import InvalidParameter, SpecError
from neyman.numerics import rational
from neyman.publish import read_spec
from neyman.released import Spending
from neyman.tables import read_expression

SPEC = """
title = {title}
[data]
path = "a.parquet"
max_table_rows = {whole}
[unit]
rows = true
[columns.x]
lower = {lower}
upper = {upper}
grid = {grid}
[keys.k]
g = [{key}]
[keys.b]
x = {{ edges = [0, {edge}], outside = "clip" }}
[derive]
twice = "x * {constant}"
[budget]
ledger = "l"
mu = {mu}
[[query]]
entry = "e"
statistic = "mean"
column = "x"
by = "k"
mu = {share}
"""
PLAIN = {
    "title": '"x"',
    "whole": "5",
    "lower": "0",
    "upper": "1",
    "grid": "1",
    "key": "1",
    "edge": "1",
    "constant": "2",
    "mu": "1",
    "share": "0.1",
}
HUGE = [
    "1e400000000",
    "-1e999999",
    "1e-400000000",
    "1e" + "9" * 400,
    "0x" + "f" * 100_000,
    "0b" + "1" * 100_000,
    "9" * 5000,
    "1." + "3" * 100_000,
    "[" * 2000 + "]" * 2000,
    "{a=" * 2000 + "1" + "}" * 2000,
    '"' + "a" * 100_000 + '"',
]
ODD = ["nan", "-inf", "2024-01-01", "07:32:00", "1979-05-27T07:32:00Z", "true", "[]", "{}", '""']
# Slow machines included; unbounded work would take minutes or more.
SECONDS = 2


def refused(tmp_path, text):
    """Return the refusal, or None; anything else that is raised is a fault."""
    path = tmp_path / "spec.toml"
    path.write_text(text)
    start = time.process_time()
    try:
        read_spec(path)
    except SpecError as error:
        return str(error)
    finally:
        assert time.process_time() - start < SECONDS
    return None


@pytest.mark.parametrize("value", HUGE, ids=lambda value: value[:12])
@pytest.mark.parametrize("place", PLAIN)
def test_what_is_too_large_is_refused_wherever_it_stands(tmp_path, place, value):
    why = refused(tmp_path, SPEC.format(**PLAIN | {place: value}))
    assert why is not None
    assert len(why) < 1000
    assert "cannot be used" in why


@pytest.mark.parametrize("value", ODD)
@pytest.mark.parametrize("place", PLAIN)
def test_what_is_of_another_kind_is_refused_in_a_sentence_or_read(tmp_path, place, value):
    refused(tmp_path, SPEC.format(**PLAIN | {place: value}))


@pytest.fixture
def most_digits():
    """Python's own limit, whatever another test's library made of it."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(sys.int_info.default_max_str_digits)
    yield
    sys.set_int_max_str_digits(before)


@pytest.mark.usefixtures("most_digits")
def test_the_place_is_named(tmp_path):
    assert "columns.x.upper: is a number too large" in refused(
        tmp_path, SPEC.format(**PLAIN | {"upper": "1e400000000"})
    )
    assert "query 'e'.mu: is a number" in refused(
        tmp_path, SPEC.format(**PLAIN | {"share": "1e999999"})
    )
    assert "line 9 holds a number too large" in refused(
        tmp_path, SPEC.format(**PLAIN | {"lower": "9" * 5000})
    )
    assert "title: is text of 100,000 characters" in refused(
        tmp_path, SPEC.format(**PLAIN | {"title": '"' + "a" * 100_000 + '"'})
    )


WHOLE = SPEC.format(**PLAIN)
LARGE = {
    "dotted": "a." * 200_000 + "b = 1",
    "quoted and dotted": '"a".' * 100_000 + "b = 1",
    "dotted header": "[" + "a." * 200_000 + "b]",
    "dotted within": "x = { " + "a." * 200_000 + "b = 1 }",
    "spaces": "x = {" + " " * 500_000,
    "queries": WHOLE + "[[query]]\nentry = 'q'\nstatistic = 'count'\nmu = 1\n" * 5_000,
    "tables": WHOLE + "".join(f"[columns.c{i}]\nlower = 1\n" for i in range(10_000)),
    "unknown": WHOLE + "".join(f"[c{i}]\nlower = 1\n" for i in range(900)),
    "brackets": "[[" * 400_000,
    "more than a MiB": "#" * 2**21,
}


@pytest.mark.parametrize("text", LARGE.values(), ids=LARGE)
def test_a_large_file_is_refused_at_once(tmp_path, text):
    why = refused(tmp_path, text)
    assert why is not None
    assert len(why) < 40_000


def test_a_spec_that_is_cut_and_mixed_at_random_is_read_or_refused(tmp_path):
    chance = random.Random(7)
    pieces = [*HUGE[:2], *ODD, "\u202e", "\x00", "\x1b", '"""', "[[", "]]", "=", "\n", "{", "'"]
    for _ in range(150):
        text = WHOLE
        for _ in range(chance.randint(1, 3)):
            start = chance.randrange(len(text))
            end = min(start + chance.randint(0, 12), len(text))
            text = text[:start] + chance.choice(pieces) + text[end:]
        why = refused(tmp_path, text)
        assert why is None or "\x1b" not in why


@pytest.mark.parametrize(
    "text",
    ["1e400000000", "-1e-400000000", "9" * 5000 + "e9999", "1/0", "1/2/3", "nan", "inf", "", "x"],
)
def test_text_of_no_number_that_can_be_used_is_none(text):
    assert rational(text) is None
    with pytest.raises(ValueError, match="must be a fraction"):
        Spending.from_json({"cost": text, "remaining": "1", "cap": "1", "account": "mu^2"})


def test_a_constant_of_thousands_of_digits_is_refused_in_a_sentence():
    with pytest.raises(InvalidParameter, match="not 0 nor of a magnitude"):
        read_expression(["+", ["col", "x"], 10**5000])


@pytest.mark.parametrize("value", [[[]], {}, None, 10**5000], ids=["list", "dict", "none", "int"])
def test_what_is_no_text_is_no_number(value):
    assert rational(value) is None


def test_zero_has_any_exponent():
    assert rational("0e400000000") == 0
