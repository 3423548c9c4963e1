"""A spec says how much memory its questions may take, and where the rest goes."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neyman.errors import SpecError
from neyman.publish import plan, read_spec

TEXT = """
[data]
path = "t.parquet"
memory_limit = "2GB"
temporary_directory = "spilled"
[unit]
rows = true
[budget]
ledger = "t.ledger"
mu = 1
[[query]]
entry = "a"
statistic = "count"
mu = 0.1
"""


def planned(folder, text=TEXT):
    pq.write_table(pa.table({"x": [1, 2]}), folder / "t.parquet")
    path = folder / "spec.toml"
    path.write_text(text)
    return plan(read_spec(path), folder)


def test_the_folder_is_beside_the_spec(tmp_path):
    with pytest.raises(SpecError, match="temporary_directory="):
        planned(tmp_path)
    (tmp_path / "spilled").mkdir()
    (step,) = planned(tmp_path).steps
    assert step.aggregate.compute().tolist() == [2]


def test_the_limit_is_a_size(tmp_path):
    (tmp_path / "spilled").mkdir()
    with pytest.raises(SpecError, match="memory_limit="):
        planned(tmp_path, TEXT.replace("2GB", "two"))
