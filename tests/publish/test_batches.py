"""Queries of a spec that are charged together."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neyman.cli import main
from neyman.door import release_batch
from neyman.ledger import Ledger
from neyman.publish import bill, plan, publish, read_spec

SPEC = """
[data]
path = "t.parquet"
[unit]
rows = true
[columns.x]
lower = 0
upper = 10
grid = 1
[keys.wards]
ward = ["north", "south"]
[budget]
ledger = "t.ledger"
mu = 1
[[query]]
entry = "first"
statistic = "count"
batch = "night"
epsilon = 0.1
[[query]]
entry = "alone"
statistic = "count"
mu = 0.1
[[query]]
entry = "second"
statistic = "mean"
column = "x"
by = "wards"
batch = "night"
mu = 0.2
"""


@pytest.fixture
def spec(tmp_path):
    rows = {"x": [float(i % 11) for i in range(900)], "ward": ["north", "south", "east"] * 300}
    pq.write_table(pa.table(rows), tmp_path / "t.parquet")
    path = tmp_path / "s.toml"
    path.write_text(SPEC, encoding="utf-8")
    return path


def test_a_batch_is_one_charge_at_its_exact_composition(spec):
    prepared = plan(read_spec(spec), spec.parent)
    night, alone = prepared.charges
    assert (night.entry, alone.entry) == ("night", "alone")
    assert [step.entry for step in night.steps] == ["first", "second"]
    priced = bill(prepared)
    published = publish(prepared)
    assert published.names == ("first", "alone", "second")
    assert [release.entry for release in published.releases] == ["night", "alone", "night"]
    assert list(published.releases[2].columns["ward"]) == ["north", "south"]
    ledger = Ledger.existing(spec.parent / "t.ledger")
    assert [entry.id for entry in ledger.entries()] == ["night", "alone"]
    assert [entry.cost for entry in ledger.entries()] == [price.cost for price in priced.costs]
    assert ledger.spent() == priced.due.cost
    assert bill(prepared).due.cost == 0
    # The very entry that the door makes of the same questions.
    asked = [(step.aggregate, step.mechanism) for step in night.steps]
    again = release_batch(asked, ledger, entry="night")
    assert all(release.replayed for release in again)
    assert again[0].columns == published.releases[0].alone.columns


def test_a_batch_of_one_is_a_batch(spec):
    one = SPEC.replace('batch = "night"\nmu = 0.2', "mu = 0.2")
    spec.write_text(one, encoding="utf-8")
    publish(plan(read_spec(spec), spec.parent))
    spec.write_text(SPEC, encoding="utf-8")
    # The entry stands for another set of questions now.
    assert main(["release", str(spec)]) == 1


def test_batches_on_the_command_line_and_the_page(spec, capsys):
    assert main(["release", str(spec), "--dry-run"]) == 0
    assert "night: first, second, together" in capsys.readouterr().out
    page = spec.parent / "r.html"
    assert main(["release", str(spec), "--report", str(page), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in found] == ["first", "alone", "second"]
    text = page.read_text(encoding="utf-8")
    assert text.count('<section id="answer-') == 3
    # The batch was charged once.
    ledger = text[text.index('<section id="ledger"') :].partition("</section>")[0]
    assert ledger.count(">night</th>") == 1
