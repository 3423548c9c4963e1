"""A regression curve of a table is that of the arrays with the same values."""

import numpy as np
import pyarrow as pa
import pytest

import neyman as ny
from neyman import functional, publish
from neyman.errors import InvalidTable
from neyman.functional import Interval


@pytest.fixture
def records():
    rng = np.random.default_rng(1)
    x, y = rng.uniform(-1, 2, 2000), rng.normal(0, 1, 2000)
    x[:3], y[3:5] = np.nan, np.nan
    return x, y


def test_the_integers_and_the_bound_are_those_of_the_arrays(records):
    table = ny.open_table(
        pa.table(dict(zip("xy", records, strict=True))),
        unit=ny.Rows(),
        name="t",
        bounds={"x": ny.Bounds(0, 1, grid=0.01), "y": ny.Bounds(-1, 1, grid=0.01)},
    )
    found = publish.regression(table, x="x", y="y", bandwidth=0.05)
    known = functional.regression(
        *records,
        domain=Interval(0, 1, outside="clip"),
        response=Interval(-1, 1, outside="clip"),
        bandwidth=0.05,
        neighbors="add_remove",
        unit="one row",
        name="t",
    )
    assert (found.compute() == known.compute()).all()
    assert found.sensitivity == known.sensitivity
    wider = Interval(-2, 2, outside="clip")
    other = publish.regression(table, x="x", y="y", bandwidth=0.05, response=wider)
    assert (other.compute() != known.compute()).any()


def test_bounds_must_be_declared_somewhere(records):
    table = ny.open_table(
        pa.table(dict(zip("xy", records, strict=True))), unit=ny.Rows(), name="t", bounds={}
    )
    with pytest.raises(InvalidTable, match="bounds"):
        publish.regression(table, x="x", y="y", bandwidth=0.05)
