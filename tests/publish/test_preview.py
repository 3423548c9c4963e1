"""Previews: the noise that a release has, in its own units, and no row touched."""

import json
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neyman as ny
from neyman import functional
from neyman.cli import main
from neyman.errors import BudgetExceeded, InvalidParameter
from neyman.functional import Box, Circle, Interval, function
from neyman.publish import density, plan, preview, publish, read_spec, regression, survival
from neyman.tables import Bounds, Engine, Entity, Keys, Rows, open_table

ROWS = 4_000
PLACES = (np.arange(ROWS) + 0.5) / ROWS
DATA = pa.table(
    {
        "x": -60 + 240 * PLACES,
        "y": 10 * (np.arange(ROWS) * np.sqrt(2) % 1),
        "who": np.arange(ROWS) % 500,
        "ward": ["north", "south"] * (ROWS // 2),
    }
)
BOUNDS = {"x": Bounds(-60, 180, grid=1), "y": Bounds(0, 10, grid=0.5)}
WARDS = Keys({"ward": ["north", "south"]})
LINE = Interval(-60, 180, outside="clip")


@dataclass(frozen=True, slots=True)
class Locked(Engine):
    """An engine that knows all about the table but its rows."""

    inside: Engine = field(repr=False)

    name = property(lambda self: self.inside.name)
    identities = property(lambda self: self.inside.identities)
    tables = property(lambda self: self.inside.tables)
    relation = property(lambda self: self.inside.relation)
    schema = property(lambda self: self.inside.schema)

    def beside(self, other):
        return self.inside.beside(other)

    def check(self):
        raise AssertionError("rows were looked at")

    def read(self, statement):  # noqa: ARG002
        raise AssertionError("rows were read")

    def stand_ins(self, *statements):
        return self.inside.stand_ins(*statements)

    def text(self, statement):
        return self.inside.text(statement)

    def is_interrupt(self, error):  # noqa: ARG002
        return False


def table(unit=None):
    opened = open_table(DATA, unit=unit or Rows(), bounds=BOUNDS, name="people")
    return replace(opened, engine=Locked(opened.engine))


def unlocked(unit=None):
    return open_table(DATA, unit=unit or Rows(), bounds=BOUNDS, name="people")


QUESTIONS = {
    "count": lambda t: t.count(WARDS),
    "sum": lambda t: t.sum("x"),
    "mean": lambda t: t.mean("x", WARDS),
    "density": lambda t: density(t, "x", bandwidth=2),
    "map": lambda t: density(t, ["x", "y"], domain=Box(LINE, Circle(10)), bandwidth=(9, 1)),
    "survival": lambda t: survival(t, duration="y", observed="x", horizon=8, bandwidth=0.5),
    "regression": lambda t: regression(t, x="x", y="y", bandwidth=6),
}


def noise_of(question, mu=1):
    return ny.Gaussian.calibrate(question.sensitivity, mu=mu)


@pytest.mark.shows("preview")
@pytest.mark.parametrize("name", QUESTIONS)
def test_no_row_is_touched(name):
    question = QUESTIONS[name](table(Entity("who", max_rows=2)))
    found = preview(question, noise_of(question), records=[ROWS])
    assert found.integers == question.size
    assert found.groups == (2 if question.keys else 1)
    assert found.curve == ny.gdp(1)
    assert all(next(iter(number.cases.values())).half_width > 0 for number in found.numbers)
    assert json.loads(json.dumps(found.to_json()))["numbers"]
    with pytest.raises(AssertionError, match="looked at"):
        question.compute()


@pytest.mark.parametrize("name", ["count", "sum", "mean"])
def test_the_intervals_are_those_of_a_release(name):
    question, noise = QUESTIONS[name](unlocked()), noise_of(QUESTIONS[name](unlocked()))
    groups = 1 if name == "sum" else 2
    columns = question.reading.columns(question.compute(), noise, 0.9)
    (told,) = preview(question, noise, records=[ROWS], confidence=0.9).numbers
    assert told.name == name
    # These rows are spread evenly.
    seen = told.cases.get("at best", told.planned)
    for low, high in zip(columns["lower"], columns["upper"], strict=True):
        assert seen.half_width == pytest.approx((high - low) / 2, rel=0.01)
    if name == "mean":
        assert told.stddev is None
        assert (told.records, told.group) == (ROWS // groups, "each of 2")
    else:
        assert told.stddev == columns["stddev"][0]


def test_a_number_with_the_same_noise_everywhere_is_told_once():
    question = QUESTIONS["count"](table())
    (told,) = preview(question, noise_of(question)).numbers
    assert told.records is None
    assert told.half_width == noise_of(question).half_width(0.95)


def test_intervals_of_a_mean_shrink_with_the_group_and_grow_with_the_noise():
    question = QUESTIONS["mean"](table())
    widths = [n.half_width for n in preview(question, noise_of(question)).numbers]
    assert widths == sorted(widths, reverse=True)
    assert widths[1] == pytest.approx(10 * widths[2], rel=0.05)
    more = [n.half_width for n in preview(question, noise_of(question, mu=0.5)).numbers]
    assert more[2] == pytest.approx(2 * widths[2], rel=0.05)


def test_the_noise_of_a_curve_is_that_of_its_release():
    question = QUESTIONS["density"](unlocked())
    noise = noise_of(question)
    count, height = preview(question, noise, records=[ROWS]).numbers
    exact = question.reading.columns(question.compute(), noise, 0.95)
    f = function(replace_columns(question, exact))
    assert count.stddev == pytest.approx(f.count_sd)
    least = f.smooth(f.raw.bandwidths[0])
    assert height.cases["spread evenly"].stddev == pytest.approx(least.noise_sd(60.0), rel=0.01)


def replace_columns(question, columns):
    from types import SimpleNamespace

    return SimpleNamespace(query=question.query, columns=columns)


def test_a_function_of_an_array_is_foreseen_as_that_of_a_table():
    values = np.asarray(DATA["x"].to_numpy())
    asked = {"domain": LINE, "bandwidth": 2}
    array, replaced = (
        functional.density(values, unit="one row", name="people", neighbors=neighbors, **asked)
        for neighbors in ("add_remove", "replace_one")
    )
    noise = ny.Gaussian.calibrate(array.sensitivity, mu=1)
    of_table = preview(density(table(), "x", **asked), noise).numbers
    assert preview(array, noise).numbers == of_table
    assert of_table[0].name == "number of rows"
    # Their number is public: groups of other sizes are none of its.
    noise = ny.Gaussian.calibrate(replaced.sensitivity, mu=1)
    assert [number.name for number in preview(replaced, noise).numbers] == ["integer"]


def test_groups_too_small_for_a_curve_are_said_to_be_unknown():
    question = QUESTIONS["regression"](table())
    found = preview(question, noise_of(question, mu=0.01), records=[10, 10**9])
    *means, rows = found.numbers
    assert (rows.name, rows.records) == ("number of rows", None)
    assert [number.records for number in means] == [10, 10**9]
    assert [number.half_width is None for number in means] == [True, False]
    assert "nothing known typically" in found.to_text()


@pytest.mark.parametrize("name", ["density", "regression"])
def test_a_curve_that_noise_hides_at_every_size_is_told_for_each(name):
    question = QUESTIONS[name](table())
    found = preview(question, noise_of(question, mu=0.01), records=[10, 20])
    (rows,) = [number for number in found.numbers if number.name == "number of rows"]
    hidden = [number for number in found.numbers if number is not rows]
    assert rows.half_width > 0
    if name == "regression":
        assert [(one.records, one.half_width) for one in hidden] == [(10, None), (20, None)]
        assert found.to_text().count("nothing known typically") == 2
    assert {one.records for one in hidden} == {10, 20}


@pytest.mark.parametrize("unit", [None, Entity("who", max_rows=3)])
def test_a_count_is_told_for_groups_of_any_size_where_one_is_named(unit):
    question = table(unit).count()
    (number,) = preview(question, noise_of(question), records=[20_000]).numbers
    assert number.records is None
    mean = table(unit).mean("x")
    assert [n.records for n in preview(mean, noise_of(mean), records=[500]).numbers] == [500]


@pytest.mark.parametrize("records", [[], [0], [1.5], 0, "many"])
def test_sizes_that_are_none_are_refused(records):
    question = QUESTIONS["count"](table())
    with pytest.raises(InvalidParameter, match="records"):
        preview(question, noise_of(question), records=records)


@pytest.mark.parametrize("confidence", [0, 1, 2])
def test_a_confidence_that_no_interval_has_is_refused(confidence):
    question = QUESTIONS["count"](table())
    with pytest.raises(InvalidParameter, match="confidence"):
        preview(question, noise_of(question), confidence=confidence)


SPEC = """
title = "People"
[data]
path = "people.parquet"
[unit]
rows = true
[columns.x]
lower = -60
upper = 180
grid = 1
[keys.wards]
ward = ["north", "south"]
[budget]
ledger = "people.ledger"
mu = 1
[[query]]
entry = "people"
statistic = "count"
by = "wards"
batch = "both"
mu = 0.6
[[query]]
entry = "x-by-ward"
statistic = "mean"
column = "x"
by = "wards"
batch = "both"
mu = 0.6
[[query]]
entry = "curve"
statistic = "density"
column = "x"
records = 4_000
mu = 0.5
"""


@pytest.fixture
def spec(tmp_path):
    pq.write_table(DATA, tmp_path / "people.parquet")
    (tmp_path / "people.toml").write_text(SPEC, encoding="utf-8")
    return tmp_path / "people.toml"


def test_a_plan_is_foreseen_without_the_rows(spec, monkeypatch):
    from neyman.tables._sources._files import ParquetFile

    def session(*_):
        raise AssertionError("rows were read")

    monkeypatch.setattr(ParquetFile, "session", session)
    found = plan(read_spec(spec), spec.parent).preview(records=[2_000])
    both, curve = found.charges
    assert (both.entry, both.batched, list(both.questions)) == (
        "both",
        True,
        ["people", "x-by-ward"],
    )
    assert both.cost.cost == Fraction(72, 100)
    assert curve.cost.cost == Fraction(1, 4)
    assert found.bill.due.cost == Fraction(97, 100)
    assert not (spec.parent / "people.ledger").exists()
    text = found.to_text()
    for said in ("72 % of the ledger", "2,000", "x-by-ward", "the plan fits", "± "):
        assert said in text
    assert "SELECT" not in text
    assert found.to_text(sql=True).count("SELECT") > 2
    assert json.loads(json.dumps(found.to_json()))["due"] == "97/100"


@pytest.mark.shows("preview")
def test_what_was_foreseen_is_what_is_released(spec):
    """The public rows are the very ones; by another name, for a test only."""
    prepared = plan(read_spec(spec), spec.parent)
    before = prepared.preview(records=ROWS, like=DATA)
    released = dict(zip(publish(prepared).names, publish(prepared).releases, strict=True))
    (count,) = before.charges[0].questions["people"].numbers
    # By its own noise: beside other counts of these rows it is combined with them.
    columns = released["people"].alone.columns
    assert columns["stddev"] == [count.stddev] * 2
    assert columns["upper"][0] - columns["count"][0] == count.half_width
    (mean,) = before.charges[0].questions["x-by-ward"].numbers
    columns = released["x-by-ward"].columns
    width = (columns["upper"][0] - columns["lower"][0]) / 2
    # The noise moves it by a few per mille; a wrong unit or size would by factors.
    assert mean.half_width == pytest.approx(width, rel=0.2)
    after = prepared.preview()
    assert [charge.cost for charge in after.charges] == [None, None]
    assert after.to_text().count("stored, free") == 2


def test_the_command_line_foresees(spec, capsys):
    assert main(["release", str(spec), "--preview", "--records", "500", "--sql"]) == 0
    said = capsys.readouterr().out
    assert "500" in said
    assert "WITH" in said
    assert main(["release", str(spec), "--preview", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fits"]
    assert main(["release", str(spec), "--records", "500"]) == 2
    assert "--preview" in capsys.readouterr().err
    spec.write_text(SPEC.replace("mu = 0.5", "mu = 0.9"), encoding="utf-8")
    assert main(["release", str(spec), "--preview"]) == 1
    assert "does not fit" in capsys.readouterr().out
    assert not (spec.parent / "people.ledger").exists()


def test_a_plan_beyond_its_cap_names_what_costs_most(spec):
    spec.write_text(SPEC.replace("mu = 0.5", "mu = 5"), encoding="utf-8")
    with pytest.raises(BudgetExceeded, match=r"The costliest are '\w+' with mu\^2 = 25, "):
        publish(plan(read_spec(spec), spec.parent))
    assert not (spec.parent / "people.ledger").exists()
