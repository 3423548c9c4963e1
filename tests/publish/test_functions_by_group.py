"""Functions and quantiles of a table by declared groups: one statement, one release."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import neyman as ny
from neyman import functional, plots
from neyman.errors import InvalidParameter, InvalidTable
from neyman.publish import density, preview, quantiles, regression, survival
from neyman.report import figures
from neyman.tables import Bounds, Entity, Keys, Rows, open_table

RANDOM = np.random.default_rng(7)
N = 3000
DATA = pa.table(
    {
        "x": pa.array(
            np.concatenate([RANDOM.gamma(4, 9, N - 3) - 20, [np.nan, np.inf, -1e308]]),
            from_pandas=False,
        ),
        "days": RANDOM.exponential(6, N),
        "died": RANDOM.integers(0, 2, N) == 1,
        "who": RANDOM.integers(0, 300, N),
        "ward": pa.array([["north", "south", "east", None][k % 4] for k in range(N)]),
        "part": ["a"] * N,
    }
)
WARDS = Keys({"ward": ["south", "nobody", "north"]})
DOMAIN = functional.Interval(-60, 180, outside="clip")
SHARES = [0, 0.1, 0.5, 0.9, 1]
# More than are searched for.
MANY = [k / 10 for k in range(11)]


def table(unit=None, data=DATA):
    bounds = {"x": Bounds(-60, 180, grid=1)}
    return open_table(data, unit=Rows() if unit is None else unit, bounds=bounds, name="people")


def ward(name):
    return table(data=DATA.filter(pa.compute.equal(DATA["ward"], name)))


QUESTIONS = {
    "density": lambda t, **by: density(t, "x", domain=DOMAIN, bandwidth=2, **by),
    "cumulative": lambda t, **by: density(
        t, "x", domain=DOMAIN, bandwidth=2, target=functional.Cumulative(), **by
    ),
    "field": lambda t, **by: density(
        t, ["x", "days"], domain=functional.Box(DOMAIN, DOMAIN), bandwidth=(10, 10), **by
    ),
    "survival": lambda t, **by: survival(
        t, duration="days", observed="died", horizon=10, bandwidth=0.5, **by
    ),
    "regression": lambda t, **by: regression(
        t, x="x", y="days", domain=DOMAIN, bandwidth=8, response=DOMAIN, **by
    ),
    "quantiles": lambda t, **by: quantiles(t, "x", SHARES, **by),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_integers_are_those_of_each_group_alone(name):
    asked = QUESTIONS[name]
    question, alone = asked(table(), by=WARDS), asked(ward("south"))
    found = question.compute().reshape(3, -1)
    assert question.size == 3 * alone.size
    assert (found[0] == alone.compute()).all()
    assert not found[1].any()
    assert (found[2] == asked(ward("north")).compute()).all()
    # A row is in one group: three functions cost what one costs.
    assert question.sensitivity == alone.sensitivity


def test_a_unit_counts_in_no_more_groups_than_there_are():
    for rows, counted in ((2, 1), (4, 2), (18, 3)):
        unit = Entity("who", max_rows=rows, max_rows_per={"ward": 2})
        one = density(table(), "x", domain=DOMAIN, bandwidth=2).sensitivity
        found = density(table(unit), "x", domain=DOMAIN, bandwidth=2, by=WARDS).sensitivity
        assert found.l2_squared == 4 * counted * one.l2_squared


def test_no_person_moves_all_groups_by_more_than_stated():
    unit = Entity("who", max_rows=4)
    question = quantiles(table(unit), "x", MANY, by=WARDS)
    whole, moved = question.compute(), []
    for who in range(15):
        rest = DATA.filter(pa.compute.not_equal(DATA["who"], who))
        other = quantiles(table(unit, rest), "x", MANY, by=WARDS).compute()
        difference = (whole - other).astype(float)
        moved.append(difference @ difference)
    assert 0 < max(moved) <= question.sensitivity.l2_squared
    # The broken twin: without limits on rows somebody moves them further.
    rows = quantiles(table(), "x", MANY, by=WARDS).compute()
    rest = table(data=DATA.filter(pa.compute.not_equal(DATA["who"], 0)))
    difference = (rows - quantiles(rest, "x", MANY, by=WARDS).compute()).astype(float)
    one = quantiles(table(), "x", MANY, by=WARDS).sensitivity
    assert difference @ difference > one.l2_squared


def test_questions_without_groups_are_recorded_as_before():
    assert "keys" not in density(table(), "x", domain=DOMAIN, bandwidth=2).query


def opened(place, question, **options):
    place.mkdir(exist_ok=True)
    noise = ny.Gaussian.calibrate(question.sensitivity, mu=2)
    ledger = ny.Ledger.open(
        place / "b.ledger", cap=ny.gdp(9), unit="one row", neighbors="add_remove"
    )
    return ny.release(question, noise, ledger, entry="e", **options)


def test_a_function_for_each_key(tmp_path: Path):
    release = opened(tmp_path, density(table(), "x", domain=DOMAIN, bandwidth=8, by=WARDS))
    found = functional.functions(release, functional.ReleasedFunction)
    assert list(found) == [("south",), ("nobody",), ("north",)]
    assert abs(found["south",].count - N / 4) < 50
    assert "nobody" in str(found)
    assert ("north",) in found
    assert "north" not in found
    assert found.map(lambda f: f.smooth(10))["north",].bandwidth == 10
    with pytest.raises(InvalidParameter, match=r"write a tuple of ward, such as \('south',\)"):
        found["south"]  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidParameter, match=r"write functional\.functions\(release\)"):
        functional.function(release)
    alone = opened(tmp_path / "alone", density(ward("north"), "x", domain=DOMAIN, bandwidth=8))
    with pytest.raises(InvalidParameter, match=r"write functional\.function\(release\)"):
        functional.functions(alone)


@pytest.mark.parametrize("name", ["density", "survival", "regression", "field"])
def test_what_is_kept_comes_back(name, tmp_path: Path):
    found = functional.functions(opened(tmp_path, QUESTIONS[name](table(), by=WARDS)))
    assert functional.read_functions(found.to_json()) == found
    functional.save(found, tmp_path / "f.npz")
    assert functional.load_functions(tmp_path / "f.npz") == found
    with pytest.raises(InvalidParameter, match=r"by group; .*functional\.load_functions\(path\)"):
        functional.load(tmp_path / "f.npz")
    with pytest.raises(InvalidParameter, match=r"by group; .*functional\.read_functions\(record"):
        functional.read(found.to_json())
    one = found["north",]
    functional.save(one, tmp_path / "g.npz")
    assert functional.load(tmp_path / "g.npz") == one
    with pytest.raises(
        InvalidParameter, match=r"must have functions by group; got .*Write functional\.load"
    ):
        functional.load_functions(tmp_path / "g.npz")
    with pytest.raises(InvalidParameter, match=r"Write functional\.read\(record\)"):
        functional.read_functions(one.to_json())
    record = found.to_json()
    del record["keys"]
    with pytest.raises(InvalidParameter, match="malformed"):
        functional.read_functions(record)


@pytest.mark.shows("quantiles")
def test_quantiles_of_each_group(tmp_path: Path):
    # By this rule a group of nobody is shown once in a thousand million releases.
    asked = quantiles(table(), "x", SHARES, by=WARDS)
    release = opened(tmp_path, asked, confidence=1 - 2e-9)
    columns = release.columns
    assert columns["ward"][::5] == ["south", "nobody", "north"]
    assert columns["probability"] == [float(p) for p in SHARES] * 3
    values = np.clip(np.asarray(DATA["x"])[2::4][:], -60, 180)  # east; like the others
    middle = float(np.nanmedian(values))
    assert abs(columns["quantile"][2] - middle) < 5
    assert np.isnan(columns["quantile"][5:10]).all()
    assert columns["lower"][5:10] == [-60.0] * 5
    assert columns["upper"][5:10] == [180.0] * 5
    assert "quantile" in str(release)


def test_wrong_groups_are_refused():
    with pytest.raises(InvalidTable, match=r"by must be Keys or UnknownKeys; got .*Write by=Keys"):
        density(table(), "x", domain=DOMAIN, bandwidth=2, by=["north"])
    with pytest.raises(InvalidTable, match="'part' is called like a column of the answer"):
        density(table(), "x", domain=DOMAIN, bandwidth=2, by=Keys({"part": ["a"]}))
    many = Keys({"who": range(10**6)})
    with pytest.raises(InvalidParameter, match="Write fewer groups"):
        density(table(), "x", domain=DOMAIN, bandwidth=2, by=many)
    with pytest.raises(InvalidTable, match="column 'days' has no bounds"):
        quantiles(table(), "days", SHARES)
    with pytest.raises(InvalidParameter, match=r"must be Bounds\(lower, upper, grid=\.\.\.\)"):
        quantiles(table(), "days", SHARES, bounds=(0, 10))
    assert quantiles(table(), "days", MANY, bounds=Bounds(0, 20, grid=0.5)).size == 61


@pytest.mark.parametrize("name", ["density", "survival", "quantiles"])
def test_previews_are_of_one_group_of_many(name):
    question = QUESTIONS[name](table(), by=WARDS)
    noise = ny.Gaussian.calibrate(question.sensitivity, mu=1)
    found = preview(question, noise, records=[10_000])
    assert found.groups == 3
    assert any(number.half_width is not None for number in found.numbers)


def test_fields_by_group_are_read_and_drawn(tmp_path: Path):
    release = opened(tmp_path, QUESTIONS["field"](table(), by=WARDS))
    found = figures(release)
    assert found is not None
    # Nobody is in one of the wards, so that its noise hides it or says little.
    north = [i for i, ward in enumerate(found["ward"]) if ward == "north"]
    assert [found["column"][i] for i in north] == ["x"] * 7 + ["days"] * 7
    fields = functional.functions(release)
    field = fields["north",]
    shown = field.marginal(1)
    assert found["value"][north[-1]] == shown.ppf(0.95)
    picture = plots.released(release)
    titles = [axes.get_title(loc="left") for axes in picture.axes if axes.get_title(loc="left")]
    assert titles == ["south", "nobody", "north"]
    labels = {axes.get_xlabel() for axes in picture.axes if axes.get_title(loc="left")}
    assert labels <= {"x", ""}
    assert "x" in labels
