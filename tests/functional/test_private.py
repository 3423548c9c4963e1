"""What is private, in all questions: one record decides no error, no warning and no message."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

import neyman as ny
from neyman import functional
from neyman.errors import InvalidParameter
from neyman.functional import Huber, Interval, SquaredExponential

WORDS = {"unit": "one row", "name": "x"}
WIDE = {"kernel": SquaredExponential(1), **WORDS}
BOX = Interval(-2, 2, outside="clip")


def density(values, neighbors="add_remove"):
    return functional.density(values, domain=BOX, bandwidth=0.2, neighbors=neighbors, **WORDS)


def survival(values, neighbors="add_remove"):
    return functional.survival(
        values, np.ones(2), horizon=4, bandwidth=0.2, neighbors=neighbors, **WORDS
    )


def status(values, neighbors="add_remove"):
    return functional.survival(
        np.ones(2), values, horizon=4, bandwidth=0.2, neighbors=neighbors, **WORDS
    )


def density_at(values, neighbors="add_remove"):
    return functional.density_at(
        values, [0.0, 1.0], domain=BOX, bandwidth=1, neighbors=neighbors, **WIDE
    )


def places(values, neighbors="replace_one"):
    assert neighbors == "replace_one"
    return functional.kernel_machine(
        values, np.ones(2), [0.0], loss=Huber(1), regularization=2, **WIDE
    )


def answers(values, neighbors="replace_one"):
    assert neighbors == "replace_one"
    return functional.kernel_machine(
        np.ones(2), values, [0.0], loss=Huber(1), regularization=2, **WIDE
    )


def curve_mean(values, neighbors="add_remove"):
    return functional.curve_mean(values, [0.0], nugget=0.1, radius=1, neighbors=neighbors, **WIDE)


COUNTED = [density, survival, status, density_at, curve_mean]
QUESTIONS = [*COUNTED, places, answers]


def name(question):
    return question.__name__


@pytest.mark.parametrize("question", QUESTIONS, ids=name)
@pytest.mark.parametrize(
    "values",
    [
        [1.0, 2.0],
        [1.0, None],
        [1, 2**70],
        [1.0, [2.0]],
        (1.0, 2.0),
        np.array([1.0, None]),
        np.array(["1", "2"]),
        np.ones(2, np.longdouble),
        np.ma.array([1.0, 2.0], mask=[True, False]),
    ],
    ids=repr,
)
def test_class_and_dtype_alone_decide(question, values):
    with pytest.raises(InvalidParameter, match=r"asarray|real numbers|filled"):
        question(values)


@pytest.mark.parametrize("question", QUESTIONS, ids=name)
@pytest.mark.parametrize(
    "values",
    [
        np.array([0x7F800001, 0], np.uint32).view(np.float32),
        np.array([0x7FF0000000000001, 0], np.uint64).view(np.float64),
        np.array([0x7C01, 0], np.uint16).view(np.float16),
        np.array([1e308, -1e308]),
        np.array([np.inf, -np.inf]),
    ],
    ids=["signal32", "signal64", "signal16", "huge", "infinite"],
)
def test_no_value_warns_in_the_door(question, values, tmp_path):
    """A warning is an error in these tests, as under python -W error."""
    pytest.importorskip("flint")
    asked = question(values)
    ledger = ny.Ledger.open(
        tmp_path / "a", cap=ny.gdp(1), unit="one row", neighbors=asked.sensitivity.neighbors
    )
    noise = ny.Gaussian.calibrate(asked.sensitivity, mu=1)
    found = ny.release(asked, noise, ledger, entry="a")
    assert len(found.columns["coefficient"]) == asked.size


@pytest.mark.parametrize("neighbors", ["add_remove", "replace_one"])
@pytest.mark.parametrize(
    "ask",
    [
        lambda n: survival(np.ones(1234), n),
        lambda n: survival(np.ones((1234, 2)), n),
        lambda n: status(np.ones(1234), n),
        lambda n: density_at(np.ones((1234, 3)), n),
        lambda n: density_at(np.ones((3, 1234)), n),
        lambda n: density_at(np.ones((3, 1234, 1)), n),
        lambda n: curve_mean(np.ones((3, 1234)), n),
        lambda n: functional.density(
            np.ones(1234),
            domain=BOX,
            bandwidth=0.2,
            units=functional.Units(np.arange(1235), 1),
            neighbors=n,
            **WORDS,
        ),
    ],
)
def test_no_message_says_how_many_records_there_are(ask, neighbors):
    with pytest.raises(InvalidParameter) as refused:
        ask(neighbors)
    assert not re.search(r"123\d|2468|3702", str(refused.value))


@pytest.mark.parametrize("question", [density, density_at, curve_mean], ids=name)
def test_a_public_number_is_not_0(question):
    assert question(np.zeros(0)).query["records"] is None
    assert question(np.zeros(3), "replace_one").query["records"] == 3
    with pytest.raises(
        InvalidParameter, match="number of records is public and must be at least 1"
    ):
        question(np.zeros(0), "replace_one")


def test_the_ledger_tells_dtypes_apart():
    for question in QUESTIONS:
        single, double = (question(np.ones(2, kind)) for kind in ("float32", "float64"))
        assert single.source != double.source
        assert single.source.startswith("array:x:")
        assert "float32" in single.source
    assert density(np.ones(2, ">f4")).source == "array:x:>f4"


@pytest.mark.parametrize(
    ("values", "instead"),
    [
        ([1.0, 2.0], r"got .*Write np\.asarray\(values, dtype=float\)"),
        (np.ma.masked_array([1.0, 2.0], [False, True]), r"got .*Write values\.filled\(np\.nan\)"),
        (pd.DataFrame({"x": [1.0]}), r'got .*Write values\["column"\]\.to_numpy\(float\), or'),
        (pd.Series([1.0]), r"got .*Write values\.to_numpy\(float\)$"),
        (
            pl.DataFrame({"x": [1.0]}),
            r'got .*Write values\["column"\]\.cast\(float\)\.to_numpy\(\), or',
        ),
        (pl.Series([1.0]), r"got .*Write values\.cast\(float\)\.to_numpy\(\)$"),
    ],
    ids=["list", "masked", "frame", "series", "polars frame", "polars series"],
)
def test_what_is_no_array_is_answered_by_how_it_becomes_one(values, instead):
    with pytest.raises(InvalidParameter, match=instead):
        density(values)
