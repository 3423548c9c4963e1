"""Functions of tables: the integers of the array, the same door, the same pages."""

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neyman import functional
from neyman.cli import main
from neyman.errors import InvalidParameter, InvalidTable, SpecError, UnknownColumn
from neyman.functional import Box, Circle, Interval, _curve_bands
from neyman.publish import density, plan, publish, read_spec, regression, survival
from neyman.report import figures
from neyman.tables import Bounds, Entity, Rows, col, open_table

RANDOM = np.random.default_rng(7)
VALUES = np.concatenate(
    [RANDOM.gamma(4, 9, 3000) - 20, [math.nan, math.inf, -math.inf, 1e308, -1e308, -0.0]]
)
PEOPLE = RANDOM.integers(0, 400, VALUES.size)
TIMES = np.concatenate([RANDOM.exponential(6, VALUES.size - 6), [math.nan, -1, 10, 10, 99, 99]])
EVENTS = RANDOM.integers(0, 2, VALUES.size) == 1
# None, one of three causes, or a number that is none.
CAUSES = PEOPLE % 5
DATA = pa.table(
    {
        "x": VALUES,
        "who": PEOPLE,
        "days": TIMES,
        "died": EVENTS,
        "cause": CAUSES,
        "name": ["a"] * VALUES.size,
    }
)
DECLARED = {"neighbors": "add_remove", "unit": "one row", "name": "people"}


def table(unit=None, **options):
    return open_table(DATA, unit=Rows() if unit is None else unit, name="people", **options)


@pytest.mark.shows("functions")
@pytest.mark.parametrize(
    "domain",
    [
        Interval(-60, 180, outside="clip"),
        Interval(-60, 18, outside="drop"),
        Interval(-10, 18, outside="count"),
        Circle(24),
    ],
    ids=str,
)
def test_a_density_is_that_of_the_array(domain):
    of_table = density(table(), "x", domain=domain, bandwidth=2)
    of_array = functional.density(VALUES, domain=domain, bandwidth=2, **DECLARED)
    assert (of_table.compute() == of_array.compute()).all()
    assert of_table.sensitivity == of_array.sensitivity
    assert of_table.unit == "one row"
    assert of_table.query["columns"] == ["x"]


def test_a_survival_curve_is_that_of_the_arrays():
    of_table = survival(table(), duration="days", observed="died", horizon=10, bandwidth=0.1)
    of_array = functional.survival(TIMES, EVENTS, horizon=10, bandwidth=0.1, **DECLARED)
    assert (of_table.compute() == of_array.compute()).all()
    assert of_table.sensitivity == of_array.sensitivity


def test_a_survival_curve_of_several_causes_is_that_of_the_arrays():
    of_table = survival(
        table(), duration="days", observed="cause", horizon=10, bandwidth=0.1, causes=3
    )
    of_array = functional.survival(TIMES, CAUSES, horizon=10, bandwidth=0.1, causes=3, **DECLARED)
    assert (of_table.compute() == of_array.compute()).all()
    assert of_table.sensitivity == of_array.sensitivity


def test_bounds_of_the_table_are_a_domain():
    bounded = table(bounds={"x": Bounds(-60, 180, grid=1)})
    question = density(bounded, "x", bandwidth=2)
    domain = Interval(-60, 180, outside="count")
    assert (
        question.query["basis"] == density(table(), "x", domain=domain, bandwidth=2).query["basis"]
    )


@pytest.mark.parametrize("ends", [(-60, 180, "clip"), (-5, 40, "count")], ids=str)
def test_no_person_moves_the_integers_by_more_than_stated(ends):
    unit = Entity("who", max_rows=3)
    domain = Interval(*ends[:2], outside=ends[2])

    def ask(rows, unit=unit):
        data = open_table(rows, unit=unit, name="people")
        return density(data, "x", domain=domain, bandwidth=2)

    question = ask(DATA)
    one = density(table(), "x", domain=domain, bandwidth=2).sensitivity
    assert question.sensitivity.l2_squared == 9 * one.l2_squared
    whole, moved = question.compute(), []
    for who in range(12):
        rest = ask(DATA.filter(pa.array(who != PEOPLE)))
        difference = (whole - rest.compute()).astype(float)
        moved.append(difference @ difference)
    assert 0 < max(moved) <= question.sensitivity.l2_squared
    # The broken twin: rows as units move further together than one row may.
    difference = (
        ask(DATA, Rows()).compute() - ask(DATA.filter(pa.array(PEOPLE != 0)), Rows()).compute()
    )
    assert difference.astype(float) @ difference.astype(float) > one.l2_squared


def test_more_rows_than_doubles_hold_are_clamped_and_not_refused():
    from neyman.functional._bases._features import feature_sums, whole_sums

    domain = Interval(0, 24, outside="clip")
    basis = functional.Basis(domain, Fraction(1), functional.Density(), counted=True)
    counts = RANDOM.integers(0, 2**17, basis.nodes)
    assert (whole_sums(basis, counts) == feature_sums(basis, counts)).all()
    many = whole_sums(basis, counts * 2**12)
    assert (many == feature_sums(basis, counts) * 2**12).all()
    assert np.abs(whole_sums(basis, counts * 2**40)).max() == 2**62


def test_wrong_questions_are_refused():
    domain = Interval(0, 1, outside="clip")
    for column, error, says in (
        ("y", UnknownColumn, "'x'"),
        ("name", InvalidTable, "'name' is of type text"),
        (("x", "days"), InvalidParameter, "one column for each"),
    ):
        with pytest.raises(error, match=says):
            density(table(), column, domain=domain, bandwidth=0.1)
    with pytest.raises(InvalidTable, match="write domain="):
        density(table(), "x", bandwidth=1)
    with pytest.raises(InvalidParameter, match=r"must have a domain; got .*Write domain="):
        density(table(), ["x", "days"], bandwidth=1)
    with pytest.raises(InvalidParameter, match="add_remove"):
        density(table(), "x", domain=domain, bandwidth=0.1, neighbors="replace_one")
    with pytest.raises(UnknownColumn):
        survival(table(), duration="x", observed="gone", horizon=1, bandwidth=0.1)


SPEC = """
[data]
path = "people.parquet"
[unit]
entity = "who"
max_rows = 2
[columns.x]
lower = -60
upper = 180
grid = 1
[budget]
ledger = "people.ledger"
mu = 3
[[query]]
entry = "rows"
statistic = "count"
mu = 0.5
[[query]]
entry = "delays"
statistic = "density"
column = "x"
records = 3_000
mu = 1
[[query]]
entry = "hours"
statistic = "density"
column = "days"
domain = { period = 24 }
bandwidth = 1
max_rows = 1
mu = 1
[[query]]
entry = "lives"
statistic = "survival"
duration = "days"
observed = "died"
horizon = 10
bandwidth = 1
mu = 1
"""


@pytest.fixture
def spec(tmp_path):
    pq.write_table(DATA, tmp_path / "people.parquet")
    (tmp_path / "people.toml").write_text(SPEC)
    return tmp_path / "people.toml"


def test_a_spec_publishes_functions(spec):
    published = publish(plan(read_spec(spec), spec.parent))
    count, delays, hours, lives = published.releases
    assert figures(count) is None
    f = functional.function(delays, functional.ReleasedFunction)
    assert abs(f.count - 800) < 8 * f.count_sd + 100
    assert functional.function(hours, functional.ReleasedFunction).basis.domain == Circle(24)
    assert functional.function(lives, functional.SurvivalCurve).until > 5
    found = figures(delays)["value"]
    assert found == sorted(found)
    assert figures(lives)["share without the event"][0] == 1


def test_pages_and_texts_show_what_people_can_read(spec, capsys):
    page = spec.parent / "report.html"
    assert main(["release", str(spec), "--report", str(page)]) == 0
    said = capsys.readouterr().out
    assert "share below" in said
    assert "share without the event" in said
    assert said.count("\n") < 80
    text = page.read_text()
    # One number needs no picture.
    assert text.count("<svg") == 4
    assert "share below" in text


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("records = 3_000\n", "", "give one of the two"),
        ("records = 3_000\n", "records = 3_000\nbandwidth = 1\n", "give one of the two"),
        ("records = 3_000\n", "records = 0\n", "query 'delays'.records"),
        ("period = 24", "lower = 0, upper = 24", "outside"),
        ("period = 24", 'period = 24, outside = "clip"', "period alone"),
        ("period = 24", "periods = 24", "no such key; write period"),
        ('statistic = "count"', 'statistic = "count"\nhorizon = 1', "count takes no column"),
        ("horizon = 10\n", "", "survival needs the columns"),
        ('column = "x"\n', 'column = "y"\n', "or domain in the query"),
    ],
)
def test_mistakes_in_a_spec_are_told(spec, old, new, said):
    assert old in SPEC
    spec.write_text(SPEC.replace(old, new, 1))
    with pytest.raises(SpecError, match=said):
        read_spec(spec)


def test_a_bandwidth_that_does_not_fit_is_told_with_its_query(spec):
    spec.write_text(SPEC.replace("bandwidth = 1\n", "bandwidth = 23\n"))
    with pytest.raises(SpecError, match="query 'hours': bandwidth must be"):
        plan(read_spec(spec), spec.parent)


def said(question):
    """The record, but for the statement: that of a file reads other types than that of a frame."""
    return {name: part for name, part in question.query.items() if name != "computation"}


def test_records_of_a_spec_are_those_of_python(spec):
    _, delays, *_ = plan(read_spec(spec), spec.parent).steps
    people = table(
        unit=Entity("who", max_rows=2),
        bounds={"x": Bounds(-60, 180, grid=1)},
    )
    assert said(delays.aggregate) == said(density(people, "x", records=3_000))
    domain = Interval(-60, 180, outside="count")
    of_array = functional.density(VALUES, domain=domain, records=3_000, **DECLARED)
    of_table = density(table(), "x", domain=domain, records=3_000)
    assert of_table.query["basis"] == of_array.query["basis"] == delays.aggregate.query["basis"]
    assert (of_table.compute() == of_array.compute()).all()
    assert of_table.sensitivity == of_array.sensitivity


def test_records_of_a_map_in_a_spec_are_those_of_python(spec):
    spec.write_text(HEAD + MORE.replace("bandwidth = [12, 2]", "records = 500"))
    field, _ = plan(read_spec(spec), spec.parent).steps
    box = Box(Interval(-60, 180, outside="clip"), Circle(24))
    people = table(unit=Entity("who", max_rows=2))
    assert said(field.aggregate) == said(density(people, ["x", "days"], domain=box, records=500))


def test_a_column_of_whole_numbers_is_told_by_its_type():
    minutes = pa.table({"x": [1, 5, 7], "y": [1.0, 5.0, 7.0]})
    rows = open_table(minutes, unit=Rows(), name="minutes")
    rows = rows.with_columns(twice=col("x") * 2, half=col("x") / 2)
    domain = Interval(-60, 180, outside="clip")

    def basis(column, **how):
        return density(rows, column, domain=domain, **how).query["basis"]

    scales = functional.Scales()
    assert basis("x", records=300_000) == basis("y", bandwidth=1, target=scales)
    assert basis("twice", records=300_000) == basis("x", records=300_000)
    assert basis("half", records=300_000) == basis("y", records=300_000)
    assert basis("y", records=300_000) != basis("x", records=300_000)


def test_a_scale_is_refused_of_a_table():
    """One statement counts at equally spaced places: arrays are compared with public edges."""
    line = Interval(1, 10, outside="count").scaled(functional.Log())
    with pytest.raises(InvalidParameter, match="without a scale, or functional"):
        density(table(), "x", domain=line, records=3_000)


def test_one_of_bandwidth_and_records_is_given():
    domain = Interval(-60, 180, outside="clip")
    with pytest.raises(
        InvalidParameter, match="must have one of bandwidth= and records=; got neither"
    ):
        density(table(), "x", domain=domain)
    with pytest.raises(
        InvalidParameter, match="must have one of bandwidth= and records=; got both"
    ):
        density(table(), "x", domain=domain, bandwidth=2, records=300)


MORE = """
[[query]]
entry = "map"
statistic = "density"
column = ["x", "days"]
domain = [{ lower = -60, upper = 180, outside = "clip" }, { period = 24 }]
bandwidth = [12, 2]
mu = 1
[[query]]
entry = "days-by-x"
statistic = "regression"
x = "x"
y = "days"
domain = { lower = -60, upper = 180, outside = "drop" }
records = 3_000
mu = 1
"""
DAYS = "[columns.days]\nlower = 0\nupper = 30\ngrid = 1\n"
HEAD = (
    SPEC.partition("[[query]]")[0]
    .replace("mu = 3", "mu = 2")
    .replace("[budget]", f"{DAYS}[budget]")
)


def test_a_spec_publishes_maps_and_regressions(spec, capsys, monkeypatch):
    # Of the bands only that they are shown matters here: the fewest simulations for 95 %.
    monkeypatch.setattr(_curve_bands, "_REPETITIONS", 19)
    spec.write_text(HEAD + MORE)
    assert main(["release", str(spec), "--report", str(spec.parent / "r.html")]) == 0
    printed = capsys.readouterr().out
    assert "mean of days" in printed
    assert printed.count("\n") < 60
    field, curve = plan(read_spec(spec), spec.parent).steps
    box = Box(Interval(-60, 180, outside="clip"), Circle(24))
    people = table(
        unit=Entity("who", max_rows=2),
        bounds={"days": Bounds(0, 30, grid=1)},
    )
    assert said(field.aggregate) == said(
        density(people, ["x", "days"], domain=box, bandwidth=(12, 2))
    )
    drop = Interval(-60, 180, outside="drop")
    same = regression(people, x="x", y="days", domain=drop, records=3_000)
    assert said(curve.aggregate) == said(same)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("bandwidth = [12, 2]", "bandwidth = 2", "bandwidth holds 1 for 2 columns"),
        ("{ period = 24 }]", "{ periods = 24 }]", r"query 'map'.domain\[1\].periods: .*period"),
        ("records = 3_000\n", "", "a regression needs records"),
        ('y = "days"\n', "", "query 'days-by-x'.y: is missing; a regression needs"),
        (
            'y = "days"\n',
            'y = "days"\nby = "x"\n',
            "by must name groups of the spec, which are none; got 'x'",
        ),
        ('y = "days"\n', 'y = "days"\n', r"write \[columns.days\]"),
    ],
)
def test_mistakes_in_maps_and_regressions_are_told(spec, old, new, said):
    assert old in MORE
    spec.write_text(HEAD.replace("[columns.days]", "[columns.other]") + MORE.replace(old, new, 1))
    with pytest.raises(SpecError, match=said):
        read_spec(spec)


def test_a_regression_of_many_records_takes_the_pilot_chosen_for_it(spec):
    many = MORE.replace("records = 3_000\n", "records = 300_000\n")
    assert many != MORE
    spec.write_text(HEAD + many)
    (_, curve) = plan(read_spec(spec), spec.parent).steps
    assert curve.aggregate.size > 0
