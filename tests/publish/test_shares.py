"""Queries that say their share of the budget."""

from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neyman import gdp, laplace
from neyman.errors import SpecError
from neyman.publish import plan, publish, read_spec, rehearse

SPEC = """
[data]
path = "t.parquet"
[unit]
entity = "who"
max_rows = 2
[columns.x]
lower = 0
upper = 10
grid = 1
[budget]
ledger = "t.ledger"
{budget}
[[query]]
entry = "a"
statistic = "count"
{a}
[[query]]
entry = "b"
statistic = "mean"
column = "x"
share = 1
[[query]]
entry = "c"
statistic = "count_units"
share = 0.5
"""


def planned(folder, budget="mu = 2", a="share = 1"):
    for name, more in (("t", 0), ("public", 1)):
        rows = {"who": [i % 9 for i in range(30 + more)], "x": [5] * (30 + more)}
        pq.write_table(pa.table(rows), folder / f"{name}.parquet")
    path = folder / "spec.toml"
    path.write_text(SPEC.format(budget=budget, a=a))
    return read_spec(path)


def curves(spec, folder):
    return [step.curve for step in plan(spec, folder).steps]


def test_shares_divide_the_whole_budget_exactly(tmp_path):
    spec = planned(tmp_path)
    parts = [Fraction(2, 5), Fraction(2, 5), Fraction(1, 5)]
    assert curves(spec, tmp_path) == [gdp(squared=4 * part) for part in parts]
    made = plan(spec, tmp_path)
    found = publish(made)
    assert made.open_ledger().left().cost == 0
    again = publish(plan(spec, tmp_path))
    assert [one.columns for one in again.releases] == [one.columns for one in found.releases]


def test_shares_divide_what_the_others_leave(tmp_path):
    spec = planned(tmp_path, a="mu = 1")
    assert curves(spec, tmp_path) == [gdp(1), gdp(squared=2), gdp(squared=1)]


def test_shares_of_a_pure_budget_are_laplace_noise(tmp_path):
    spec = planned(tmp_path, budget="epsilon = 1", a="epsilon = 0.25")
    assert plan(spec, tmp_path).steps[2].curve == laplace(Fraction(1, 4))


def test_a_rehearsal_knows_the_shares(tmp_path):
    spec = planned(tmp_path)
    found = rehearse(spec, tmp_path, data=tmp_path / "public.parquet", runs=20)
    assert [row.entry for row in found.rows] == ["a", "b", "c"]


def test_shares_of_nothing_are_refused(tmp_path):
    spec = planned(tmp_path, a="mu = 2")
    with pytest.raises(SpecError, match="the others spend 100 % of it"):
        plan(spec, tmp_path)


@pytest.mark.parametrize(
    ("a", "said"),
    [
        ('share = 1\nnoise = "laplace"', "must have noise or share.*got both, with noise = "),
        ("share = 1\nmu = 1", "one of them"),
        ("", "share = 1 for an equal part"),
        ("share = 0", "share"),
    ],
)
def test_a_share_beside_another_budget_is_refused(tmp_path, a, said):
    with pytest.raises(SpecError, match=said):
        planned(tmp_path, a=a)
