"""A group of noise alone is shown nowhere as if it were a function, and everywhere in one way."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neyman as ny
from neyman import functional, plots
from neyman.cli import main
from neyman.errors import InvalidParameter
from neyman.functional import Box, Interval
from neyman.publish import density, regression, survival
from neyman.report import figures, read_off
from neyman.tables import Bounds, Keys, Rows, open_table

RANDOM = np.random.default_rng(11)
N = 4000
DATA = pa.table(
    {
        "x": RANDOM.gamma(4, 9, N),
        "days": RANDOM.exponential(6, N),
        "died": RANDOM.integers(0, 2, N) == 1,
        "ward": ["north"] * N,
    }
)
WARDS = Keys({"ward": ["north", "nobody"]})
DOMAIN = Interval(0, 180, outside="clip")
TABLE = open_table(DATA, unit=Rows(), bounds={"x": Bounds(0, 180, grid=1)}, name="people")
QUESTIONS = {
    "density": lambda by: density(TABLE, "x", domain=DOMAIN, bandwidth=8, by=by),
    "field": lambda by: density(
        TABLE, ["x", "days"], domain=Box(DOMAIN, DOMAIN), bandwidth=(15, 15), by=by
    ),
    "survival": lambda by: survival(
        TABLE, duration="days", observed="died", horizon=10, bandwidth=1, by=by
    ),
    "regression": lambda by: regression(
        TABLE, x="x", y="days", domain=DOMAIN, bandwidth=16, response=DOMAIN, by=by
    ),
}


def released(place: Path, question):
    noise = ny.Gaussian.calibrate(question.sensitivity, mu=2)
    ledger = ny.Ledger.open(place / "l", cap=ny.gdp(9), unit="one row", neighbors="add_remove")
    return ny.release(question, noise, ledger, entry="e")


def drawn(release, group: str, deviations: float):
    """Return the release with a group's number of records that many deviations above 0.

    All else of the group is 0, for what was drawn decides nothing here.
    """
    columns = release.columns
    coefficients = [
        0 if of == group else drawn
        for of, drawn in zip(release.groups, columns["coefficient"], strict=True)
    ]
    first = release.groups.index(group)
    coefficients[first] = round(deviations * columns["stddev"][first])
    return replace(release, columns={**columns, "coefficient": coefficients})


def called(name):
    return "density function" if name in ("density", "field") else name


@pytest.mark.parametrize("name", QUESTIONS)
def test_noise_alone_is_told_in_words_and_never_read(name, tmp_path: Path):
    release = drawn(released(tmp_path, QUESTIONS[name](WARDS)), "nobody", 1.5)
    found = read_off(release)
    assert found.columns is not None
    assert set(found.columns["ward"]) == {"north"}
    (said,) = found.hidden
    assert said.startswith("nobody: the released number of records is ")
    assert f"too small beside its noise to be a {called(name)}" in said
    picture = plots.released(release)
    words = [text.get_text() for axes in picture.axes for text in axes.texts]
    assert words.count("more noise than data") == 1


@pytest.mark.parametrize("name", QUESTIONS)
def test_noise_alone_without_groups(name, tmp_path: Path):
    question = QUESTIONS[name](Keys({"ward": ["nobody"]}))
    release = drawn(released(tmp_path, question), "nobody", 1.5)
    alone = replace(release, query={**release.query, "keys": None}, keys=())
    assert figures(alone) is None
    assert "too small beside its noise" in read_off(alone).hidden[0]
    with pytest.raises(InvalidParameter, match="too small beside its noise"):
        plots.released(alone)


def test_the_rule_is_that_of_quantiles(tmp_path: Path):
    release = released(tmp_path, QUESTIONS["density"](WARDS))
    for deviations, shown in ((1.9, False), (2.1, True)):
        changed = drawn(release, "nobody", deviations)
        assert ("nobody" in read_off(changed).columns["ward"]) == shown
        one = functional.functions(changed, functional.ReleasedFunction)["nobody",]
        assert functional.NoisyCount(one.count, one.count_sd).is_significant(0.95) == shown
        assert one.noisy_count.is_significant(0.99) is False


@pytest.mark.parametrize("heaped", [True, False])
def test_page_and_text_say_which_density_is_not_resolved(heaped, tmp_path: Path, capsys):
    """Of six values, each of 600 rows; of a smooth column nothing is said."""
    heaps = np.repeat([10.0, 20, 50, 90, 100, 140], 600)
    rows = pa.table({"x": heaps if heaped else DATA["x"]})
    pq.write_table(rows, tmp_path / "r.parquet")
    spec = tmp_path / "s.toml"
    spec.write_text(
        '[data]\npath = "r.parquet"\n[unit]\nrows = true\n'
        "[columns.x]\nlower = 0\nupper = 180\ngrid = 0.25\n"
        '[budget]\nledger = "l"\nmu = 1\n'
        '[[query]]\nentry = "a"\nstatistic = "density"\ncolumn = "x"\nbandwidth = 1\nmu = 1\n'
    )
    page = tmp_path / "p.html"
    assert main(["release", str(spec), "--report", str(page)]) == 0
    said = "ot resolved: the values are heaped on places"
    assert (said in capsys.readouterr().out) == heaped
    assert (said in page.read_text()) == heaped
    assert main(["release", str(spec), "--json"]) == 0
    (record,) = json.loads(capsys.readouterr().out)
    assert [said in one for one in record["unresolved"]] == [True] * heaped


def test_text_page_and_json_say_it_alike(tmp_path: Path, capsys):
    rows = pa.table({"x": RANDOM.gamma(4, 9, 60), "ward": ["north"] * 60})
    pq.write_table(rows, tmp_path / "r.parquet")
    spec = tmp_path / "s.toml"
    spec.write_text(
        '[data]\npath = "r.parquet"\n[unit]\nrows = true\n'
        "[columns.x]\nlower = 0\nupper = 180\ngrid = 1\n"
        '[keys.w]\nward = ["north", "nobody"]\n[budget]\nledger = "l"\nmu = 1\n'
        '[[query]]\nentry = "a"\nstatistic = "density"\ncolumn = "x"\nbandwidth = 8\nby = "w"\n'
        "mu = 0.001\n"
    )
    assert main(["release", str(spec), "--json"]) == 0
    (record,) = json.loads(capsys.readouterr().out)
    page = tmp_path / "p.html"
    assert main(["release", str(spec), "--report", str(page)]) == 0
    told = capsys.readouterr().out
    shown = page.read_text()
    for said in record["hidden"]:
        assert said in told
        assert said in shown
    left = {said.partition(":")[0] for said in record["hidden"]}
    for ward in ("north", "nobody"):
        assert (ward in left) != any(line.split()[:1] == [ward] for line in told.splitlines())
    # A header without rows is no table.
    assert "coefficient  stddev" not in told
    assert "more rows" not in told
