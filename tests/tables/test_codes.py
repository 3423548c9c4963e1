"""Codes and ids that programs wrote as floats, because some of them are missing."""

import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neyman as ny
from neyman.errors import InvalidTable
from neyman.tables import Entity, Keys, Rows, UnknownKeys, open_table

CODES = {"who": [17.0, 17.0, 18.0, math.nan, 0.5], "sex": [1.0, 2.0, 2.0, 9.0, math.nan]}


def opened(columns, unit=Rows()):  # noqa: B008
    return open_table(pa.table(columns), unit=unit, name="codes")


@pytest.mark.shows("codes")
@pytest.mark.parametrize("keys", [[1, 2], [1.0, 2.0], [1.0, 2]])
def test_whole_floats_are_groups(keys):
    assert opened(CODES).count(Keys({"sex": keys})).compute().tolist() == [1, 2]
    assert Keys({"sex": keys}) == Keys({"sex": [1, 2]})


def test_whole_floats_of_numpy_are_keys():
    numpy = pytest.importorskip("numpy")
    for kind in (numpy.float32, numpy.float64):
        assert Keys({"sex": numpy.array([1, 2], kind)}) == Keys({"sex": [1, 2]})


def test_float_groups_that_nobody_declared():
    groups = opened(CODES).count(UnknownKeys("sex")).unknown.find()
    assert sorted(groups.keys) == [("1",), ("2",), ("9",)]


def test_float_ids_name_units():
    units = opened(CODES, Entity("who", max_rows=1))
    assert units.count_units().compute().tolist() == [2]
    assert units.count().compute().tolist() == [2]


def test_ids_match_whatever_whole_numbers_they_are():
    table = opened(CODES, Entity("who", max_rows=9))
    other = pa.table({"who": pa.array([17, 18, 19], pa.int64()), "z": [1, 2, 3]})
    joined = table.join(other, on="who", how="inner", name="other")
    assert joined.count().compute().tolist() == [3]


def test_public_codes_match_floats():
    looked_up = opened(CODES).join_public(
        {"sex": [1.0, 2.0, 2.5], "said": ["f", "m", "?"]}, on="sex", how="inner"
    )
    assert looked_up.count(Keys({"said": ["f", "m", "?"]})).compute().tolist() == [1, 2, 0]
    assert Keys.of_public({"sex": [2.0, 1.0, None]}, "sex").rows() == [(1,), (2,)]
    with_nan = pa.table({"sex": [2.0, 1.0, math.nan, None]})
    assert Keys.of_public(with_nan, "sex").rows() == [(1,), (2,)]


def test_codes_of_a_csv_file_match_with_and_without_zeros(written):
    path = written(b"sex\n1.0\n1\n2.00\n2.5\n01\n\nx.0\n-0.0\n")
    table = open_table(path, unit=Rows())
    assert table.count(Keys({"sex": [1, 2, 0]})).compute().tolist() == [2, 1, 0]
    assert table.count(Keys({"sex": ["1.0", "2"]})).compute().tolist() == [2, 1]
    assert table.count(Keys({"sex": ["01", "x.0", "-0", "2.5"]})).compute().tolist() == [1, 1, 0, 1]


def test_a_session_counts_by_codes(tmp_path):
    pq.write_table(pa.table(CODES), tmp_path / "codes.parquet")
    db = ny.open(tmp_path / "codes.parquet", unit="who", max_rows=5)
    assert db.count(by={"sex": [1, 2]}).aggregate.compute().tolist() == [1, 2]


def test_what_is_no_code_is_refused():
    with pytest.raises(InvalidTable, match=r"1.5 is no key .* write whole numbers such as 1"):
        Keys({"sex": [1, 1.5]})
