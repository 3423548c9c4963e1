"""A budget divided over a batch: it is spent, not passed, and errors are in proportion."""

import math
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neyman import Bounds, Keys, Laplace, Rows, open_table
from neyman.errors import InvalidParameter
from neyman.publish import Wish, fit

ROWS = pa.table({"ward": ["n", "s"], "x": [3.0, 4.0], "y": [1.0, 5.0]})
TABLE = open_table(
    ROWS, unit=Rows(), bounds={"x": Bounds(0, 100, 1), "y": Bounds(0, 8, 0.5)}, name="rows"
)
KEYS = Keys({"ward": ["n", "s"]})
QUESTIONS = [TABLE.count(by=KEYS), TABLE.sum("x"), TABLE.mean("y", by=KEYS), TABLE.mean("x")]


class Endless:
    def columns(self, noisy, noise, confidence):  # noqa: ARG002
        return {"slope": [0.0], "lower": [-math.inf], "upper": [math.inf]}


def spent(fitted):
    return sum(
        question.sensitivity.l2_squared / noise.variance for question, noise in fitted.questions
    )


@settings(max_examples=8, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(QUESTIONS), st.floats(0.5, 50)), min_size=1, max_size=4),
    st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(2)]),
)
def test_the_budget_is_spent_and_never_passed(wishes, mu):
    fitted = fit([Wish(*wish) for wish in wishes], mu=mu, records=10_000)
    assert mu**2 * (1 - Fraction(1, 10**10)) <= spent(fitted) <= mu**2


@pytest.mark.shows("fit")
def test_half_widths_are_the_same_multiple_of_those_wanted():
    wishes = [Wish(QUESTIONS[0], 400), Wish(QUESTIONS[1], 2_000), Wish(QUESTIONS[2], 0.02)]
    fitted = fit(wishes, mu=0.05, records=1_000_000)
    widths = [seen.numbers[0].half_width for seen in fitted.previews]
    times = [width / float(wish.half_width) for width, wish in zip(widths, wishes, strict=True)]
    assert fitted.factor == max(times)
    assert max(times) / min(times) < 1.03


def test_a_wish_twice_as_exact_costs_four_times_as_much():
    wishes = [Wish(TABLE.count(), 1000), Wish(TABLE.count(by=KEYS), 2000)]
    pairs = fit(wishes, mu=0.01, records=1).questions
    one, other = (question.sensitivity.l2_squared / noise.variance for question, noise in pairs)
    assert float(one / other) == pytest.approx(4, rel=0.02)


def test_laplace_noise_adds_up_in_epsilon():
    fitted = fit([Wish(TABLE.count(), 10), Wish(TABLE.sum("x"), 100)], epsilon=1, records=1)
    assert all(isinstance(noise, Laplace) for _, noise in fitted.questions)
    total = sum(
        noise.tradeoff(question.sensitivity).epsilon(0) for question, noise in fitted.questions
    )
    assert total == pytest.approx(1, rel=1e-9)


def test_the_factor_says_whether_the_budget_is_enough():
    wish = [Wish(TABLE.count(), 10)]
    assert fit(wish, mu=1, records=1).factor < 1 < fit(wish, mu=0.01, records=1).factor
    assert "not enough" in str(fit(wish, mu=0.01, records=1))


@pytest.mark.parametrize(
    ("wishes", "budget", "says"),
    [
        ([], {"mu": 1}, "must have at least one Wish"),
        ([Wish(TABLE.count(), 1)], {}, "exactly one budget"),
        ([Wish(TABLE.count(), 1)], {"mu": 1, "epsilon": 1}, "exactly one budget"),
        ([Wish(TABLE.count(), 1)], {"mu": 0}, "mu=0 is not positive"),
        ([Wish(TABLE.count(), 0)], {"mu": 1}, "half_width=0 is not positive"),
        (
            [Wish(TABLE.count(), 1, "mean")],
            {"mu": 1},
            "number must be one of the question; got 'mean'.* 'count'",
        ),
        ([Wish(replace(TABLE.count(), reading=Endless()), 1)], {"mu": 1}, "for a group of 10 rows"),
        ([TABLE.count()], {"mu": 1}, "publish.Wish"),
    ],
)
def test_refusals(wishes, budget, says):
    with pytest.raises(InvalidParameter, match=says):
        fit(wishes, **budget, records=10)


def test_sizes_are_asked_for_only_where_an_interval_depends_on_them():
    wishes = [Wish(TABLE.count(), 1000), Wish(TABLE.sum("x"), 2000)]
    assert fit(wishes, mu=0.5).questions == fit(wishes, mu=0.5, records=7).questions
    with pytest.raises(
        InvalidParameter, match=r"of 'mean' depends on the number .* Write records="
    ):
        fit([*wishes, Wish(TABLE.mean("x"), 1)], mu=0.5)
