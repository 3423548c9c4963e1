"""A question with an argument of a wrong type is refused in the library's own words.

Each row below is a call that works. Each of its arguments is replaced in turn by None, a number,
text, a list of text, NaN, an object of no meaning here and a class; what a few of them may be is
written beside.
"""

import re
from fractions import Fraction
from types import SimpleNamespace

import pyarrow as pa
import pytest

import neyman as ny
from neyman import mechanisms, publish
from neyman.curves import gdp
from neyman.errors import InvalidParameter, NeymanError, UnknownColumn
from neyman.sensitivity import Sensitivity
from neyman.tables import (
    Correlation,
    Count,
    Covariance,
    LinearRegression,
    Mean,
    Sum,
    Together,
    Variance,
)

WRONG = {
    "None": None,
    "number": 1,
    "text": "a",
    "list": ["a", "b"],
    "nan": float("nan"),
    "object": SimpleNamespace(query=5),
    "class": Count,
}
DATA = pa.table(
    {"who": ["a", "b"] * 20, "g": ["m", "n"] * 20, "x": [1.0, 2.0] * 20, "y": [1.0, 5.0] * 20}
)
UNIT = ny.Entity("who", max_rows=6)
BOUNDS = {"x": ny.Bounds(0, 10, 1), "y": ny.Bounds(0, 10, 1)}
TABLE = ny.open_table(DATA, unit=UNIT, bounds=BOUNDS, name="private")
PUBLIC = ny.open_table(DATA, unit=ny.Rows(), bounds=BOUNDS, name="public")
KEYS = ny.Keys({"g": ["m", "n"]})
X, Y = TABLE.measured("x"), TABLE.measured("y")
ONE = Sensitivity(neighbors="add_remove", l1=Fraction(1), l2_squared=Fraction(1), coordinates=1)
NEW = TABLE.count(ny.UnknownKeys("g")).sensitivity
NOISE = ny.Gaussian(scale=10)


def call(function, /, *may, **arguments):
    """Return a row: what is called, with what, and which wrong ones are none."""
    return pytest.param(function, arguments, set(may), id=function.__qualname__)


CALLS = [
    call(TABLE.count, "by=None", by=KEYS),
    call(TABLE.count_units, "by=None", by=KEYS),
    call(TABLE.sum, "by=None", column="x", by=KEYS),
    call(TABLE.mean, "by=None", column="x", by=KEYS),
    call(TABLE.variance, "by=None", column="x", by=KEYS),
    call(TABLE.covariance, "by=None", column="x", other="y", by=KEYS),
    call(TABLE.correlation, "by=None", column="x", other="y", by=KEYS),
    call(TABLE.statistics, "by=None", parts=[Count(), Mean(X)], by=KEYS, shares=(1, 2)),
    call(TABLE.aggregate, "by=None", statistic=Count(), by=KEYS),
    call(TABLE.measured, column="x"),
    call(TABLE.where, condition=ny.col("x") > 1),
    call(TABLE.with_bounds, bounds=BOUNDS),
    call(Sum, column=X),
    call(Mean, column=X),
    call(Variance, column=X),
    call(Covariance, column=X, other=Y),
    call(Correlation, column=X, other=Y),
    call(LinearRegression, response=Y, features=(X,)),
    call(Together, parts=(Count(), Sum(X)), shares=(1, 2)),
    call(
        publish.quantiles,
        "by=None",
        "bounds=None",
        table=TABLE,
        column="x",
        probabilities=[0.5],
        by=KEYS,
        bounds=ny.Bounds(0, 10, 1),
    ),
    call(publish.linear_regression, "by=None", table=TABLE, response="y", features=["x"], by=KEYS),
    call(publish.margins, table=TABLE, by=KEYS, columns=[["g"], []]),
    call(publish.bias, ask=lambda t: t.count(), table=TABLE, public=PUBLIC),
    call(ny.Gaussian.calibrate, "mu=number", sensitivity=ONE, mu=1),
    call(ny.Gaussian.calibrate, "epsilon=number", sensitivity=ONE, epsilon=1, delta=1e-6),
    call(ny.Laplace.calibrate, "epsilon=number", sensitivity=ONE, epsilon=1),
    call(mechanisms.DiscreteLaplace.calibrate, "epsilon=number", sensitivity=ONE, epsilon=1),
    call(mechanisms.DiscreteGaussian.calibrate, "rho=number", sensitivity=ONE, rho=1),
    call(
        mechanisms.Staircase.calibrate,
        "epsilon=number",
        "power=number",
        sensitivity=ONE,
        epsilon=1,
        power=1,
    ),
    call(mechanisms.Canonical.calibrate, sensitivity=ONE, curve=gdp(1)),
    call(ny.mechanisms.Thresholded.calibrate, sensitivity=NEW, noise=NOISE, delta=1e-6),
]


@pytest.mark.parametrize(("function", "arguments", "may"), CALLS)
def test_a_wrong_type_is_refused(function, arguments, may):
    function(**arguments)
    for name in arguments:
        for label, wrong in WRONG.items():
            if f"{name}={label}" in may:
                function(**arguments | {name: wrong})
                continue
            with pytest.raises(NeymanError) as refused:
                function(**arguments | {name: wrong})
            said = str(refused.value)
            told = isinstance(refused.value, UnknownColumn) and "column" in said
            assert told or re.search("(?s)must .*got ", said), (name, label, said)


@pytest.mark.parametrize("door", [ny.release, lambda *a, **k: ny.release_batch([a[:2]], a[2], **k)])
def test_what_stands_in_the_place_of_another_is_refused_at_the_door(tmp_path, door):
    unit = TABLE.protects
    ledger = ny.Ledger.open(tmp_path / "l", cap=gdp(1), unit=unit, neighbors="add_remove")
    question = TABLE.count()
    noise = ny.Gaussian.calibrate(question.sensitivity, mu=0.5)
    for place, name in enumerate(("aggregate", "mechanism", "ledger")):
        for wrong in (*WRONG.values(), (noise, ledger, question)[place]):
            given = [question, noise, ledger]
            given[place] = wrong
            with pytest.raises(InvalidParameter, match=rf"^{name} must be"):
                door(*given, entry="a")
    assert ledger.remaining() == 1
    door(question, noise, ledger, entry="a")


@pytest.mark.parametrize("wrong", [None, 1, "a", TABLE.count(), [TABLE.count()], [(1, 2, 3)]])
def test_a_batch_of_no_pairs_is_refused(tmp_path, wrong):
    unit = TABLE.protects
    ledger = ny.Ledger.open(tmp_path / "l", cap=gdp(1), unit=unit, neighbors="add_remove")
    with pytest.raises(InvalidParameter, match=r"^questions must be"):
        ny.release_batch(wrong, ledger, entry="a")


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: TABLE.statistics([Mean("x")]), r"column must be table\.measured\('x'\).*type str"),
        (lambda: TABLE.statistics(["count"]), r"parts must be .*Count\(\).*type str"),
        (lambda: TABLE.statistics("count"), "must be a list; got the text"),
        (lambda: publish.linear_regression(TABLE, "y", "x"), r"features must be a list.*\['x'\]"),
        (lambda: publish.margins(TABLE, KEYS, ["g"]), r"columns must be a list.*\[\['g'\]\]"),
        (lambda: ny.Gaussian.calibrate(1, mu=1), "sensitivity must be .*its sensitivity.*type int"),
        (lambda: ny.Gaussian.calibrate(ONE, epsilon=1), "For epsilon alone, write Laplace"),
        (lambda: ny.Gaussian.calibrate(ONE), "must have mu, or epsilon and delta; got"),
        (lambda: ny.Gaussian.calibrate(ONE, 1, epsilon=1, delta=0.1), "mu=1, epsilon=1"),
        (lambda: ny.Gaussian.calibrate(ONE, epsilon=1, delta=0), "delta=0.* small delta"),
    ],
)
def test_what_to_write_is_said(ask, said):
    with pytest.raises(InvalidParameter, match=said):
        ask()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("quantiles", r"publish\.quantiles\(table"),
        ("linear_regression", r"publish\.linear_regression\(table"),
        ("groupby", "by=Keys"),
        ("nothing", "attribute 'nothing'$"),
    ],
)
def test_a_question_that_a_table_does_not_take_says_where_it_is(name, said):
    with pytest.raises(AttributeError, match=said):
        getattr(TABLE, name)


@pytest.mark.parametrize("epsilon", [0, 0.5, 1, 8])
@pytest.mark.parametrize("delta", [1e-9, 1e-6, 0.1])
def test_noise_of_epsilon_and_delta_keeps_them_and_wastes_nothing(epsilon, delta):
    noise = ny.Gaussian.calibrate(ONE, epsilon=epsilon, delta=delta)
    found = float(noise.tradeoff(ONE).delta(epsilon))
    assert delta * (1 - 1e-9) < found <= delta
