"""Text of data and specs: no sign of it acts on a terminal, or is not seen."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neyman.errors import InvalidParameter, LedgerUnavailable, UnknownColumn
from neyman.printable import printable, printable_lines, shortened, width
from neyman.released import text_of

WICKED = [
    "\x1b[2J\x1b]0;pwned\x07",
    "a\nb\nfake 99999",
    "a\rb",
    "\u202egnp.exe",
    "\u2066x\u2069",
    "zero\u200bwidth\u2060\ufeff",
    "\u3164\u115f\ufe0f",
    "\x85\x9b31m\x7f",
    "line\u2028paragraph\u2029",
    "\ud800 alone",
    "\U000e0001\U000e0041tag",
]


@pytest.mark.parametrize("text", WICKED)
def test_what_a_terminal_acts_on_or_nobody_sees_is_written_as_a_number(text):
    shown = printable(text)
    assert shown.isprintable()
    assert "\\" in shown
    shown.encode()


@pytest.mark.parametrize(
    "text", ["", "north", "Île · 20 % ≤ x", "北京", "😀", "a\\b", "$5_$", "e\u0301"]
)
def test_what_people_write_is_left_as_it_is(text):
    assert printable(text) == text


@given(st.text())
def test_every_text_is_one_line_that_can_be_printed(text):
    shown = printable(text)
    assert not any(unicodedata.category(sign)[0] == "C" for sign in shown)
    assert len(shown.splitlines()) <= 1
    assert printable_lines(text).count("\n") == text.count("\n")
    assert width(shortened(text, 20)) <= 20 + 1


def test_errors_move_no_terminal():
    for kind in (InvalidParameter, UnknownColumn, LedgerUnavailable):
        assert str(kind("no \x1b[2J column\nwrite \u202e it")) == (
            "no \\x1b[2J column\nwrite \\u202e it"
        )


@pytest.mark.parametrize("text", [*WICKED, "x" * 10_000, "北" * 10_000, "e" + "\u0301" * 10_000])
def test_a_key_takes_one_line_of_a_table_and_not_more_than_its_place(text):
    lines = text_of({"ward": [text, "south"], text: [3, 14]}, keys=1).split("\n")
    assert len(lines) == 3
    assert all(line.isprintable() and len(line) < 200 for line in lines)
    assert {width(line) for line in lines} == {width(lines[0])}
