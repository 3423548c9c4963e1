"""The page, the model card and the statement of a training."""

import re
from contextlib import suppress
from fractions import Fraction
from html.parser import HTMLParser

import pytest

from neyman.curves import gdp
from neyman.errors import InvalidParameter
from neyman.report import Statement, model_card, run_html
from neyman.training import Phase, RunRecord

WICKED = "<b>|*`x`*|</b>"


def record(**changes):
    phase = Phase.poisson(noise_multiplier=4, sampling_probability=1, steps=4)
    known = {"unit": "one image", "neighbors": "add_remove", "versions": {}}
    return RunRecord(phases=(phase,), **{**known, **changes})


class Text(HTMLParser):
    """The text of a page, which must close what it opens."""

    def __init__(self, html):
        super().__init__()
        self.open, self.text, self.tags = [], "", []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):  # noqa: ARG002 - the parser's own signature
        self.tags.append(tag)
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += "" if self.open and self.open[-1] == "style" else f"{data} "


@pytest.mark.parametrize("language", ["en", "ko", "zh"])
def test_a_page_has_the_numbers_of_the_curve_in_every_language(language):
    page = Text(run_html(record(records=5000), delta=1e-5, language=language))
    epsilon = gdp(Fraction(1, 2)).epsilon(1e-5)
    (said,) = re.findall(r"1e-5.{1,40}?-GDP.{1,40}?(\d\.\d+)", page.text)
    assert 0 <= Fraction(said) - Fraction(epsilon) < Fraction(1, 10**4)
    assert "5000" in page.text
    assert page.tags.count("h1") == 1
    assert "script" not in page.tags


def test_a_page_says_what_is_wrong():
    sound, wrong = (run_html(record(**more), delta=1e-5) for more in ({}, {"tuning_runs": 2}))
    assert "The record shows no mistake" in sound
    assert "tuning_not_counted" not in sound
    assert "tuning_not_counted" in wrong
    assert "The record shows no mistake" not in wrong


def test_words_of_others_are_text():
    run = record(unit=WICKED, dataset=WICKED, assumptions=(WICKED,))
    assert "<b>" not in run_html(run, delta=1e-5)
    card = model_card(Statement.of(run, delta=1e-5))
    assert "<b>" not in re.sub(r"\\.", "", card)
    # A bar of theirs would make a column.
    assert all(line.replace(r"\|", "").count("|") in (0, 4) for line in card.splitlines())


def test_a_statement_refuses_what_is_no_probability():
    for given in ({"delta": 1}, {"delta": -1}, {"delta": 0, "rates": [0]}):
        with pytest.raises(InvalidParameter):
            Statement.of(record(), **given)


def test_of_many_phases_the_first_are_said():
    phases = tuple(
        Phase.poisson(noise_multiplier=9 + i, sampling_probability=1, steps=1) for i in range(50)
    )
    said = Statement.of(record(), delta=0).training
    many = Statement.of(
        RunRecord(phases=phases, unit="one image", neighbors="add_remove"), delta=0
    ).training
    assert len(said) == 1
    assert len(many) == 21
    assert many[-1] == "and 30 more phases"


@pytest.mark.parametrize(("rate", "passes"), [(0.06666666666666667, 10), (0.067, 11)])
def test_a_rounded_rate_makes_no_further_pass(rate, passes):
    phase = Phase.poisson(noise_multiplier=1, sampling_probability=rate, steps=150)
    run = RunRecord(phases=(phase,), unit="one image", neighbors="add_remove", versions={})
    assert f"in each of {passes} passes" in Statement.of(run, delta=1e-5).does_not_hold[0]


@pytest.mark.parametrize("written", [str, model_card])
def test_where_time_is_limited_the_attacks_come_before_mu(monkeypatch, written):
    asked = []

    def late(_):
        asked.append("losses")
        return []

    def found(_):
        asked.append("attacks")
        return []

    monkeypatch.setattr(Statement, "losses", property(late))
    monkeypatch.setattr(Statement, "attacks", property(found))
    with suppress(ValueError):
        written(Statement.of(record(), delta=1e-5))
    assert asked == ["attacks", "losses"]
