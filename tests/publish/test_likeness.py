"""Previews rest on rows as they are: skewed by default, or like public rows, or as you say."""

import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neyman as ny
from neyman import publish
from neyman.cli import main
from neyman.errors import EngineFailure, InvalidParameter, InvalidTable, UnknownColumn
from neyman.publish import Likeness, Wish, fit, likeness, plan, preview, quantiles, read_spec
from neyman.tables import (
    Bounds,
    Correlation,
    Count,
    Entity,
    Keys,
    Mean,
    Rows,
    UnknownKeys,
    Variance,
    col,
    open_table,
)

N = 8_000
BOUNDS = {"visits": Bounds(0, 60, 1), "income": Bounds(0, 30, 0.01)}
WARDS = Keys({"ward": ["north", "south"]})


def people(seed, n=N):
    draw = np.random.default_rng(seed)
    rich = draw.gamma(2, 1.5, n)
    return pa.table(
        {
            "visits": np.minimum(draw.poisson(rich * draw.gamma(1, 1, n)), 200).astype(float),
            "income": rich,
            "ward": np.where(draw.random(n) < 0.9, "north", "south"),
            "patient": draw.integers(0, n // 3, n),
        }
    )


PRIVATE, PUBLIC = people(1), people(2)


def table(unit=None):
    return open_table(PRIVATE, unit=unit or Rows(), bounds=BOUNDS, name="people")


def of_moments(t):
    return {
        "mean": t.mean("visits", WARDS),
        "variance": t.variance("visits"),
        "covariance": t.covariance("visits", "income"),
        "correlation": t.correlation("visits", "income"),
        "linear regression": publish.linear_regression(t, "visits", ["income"]),
        "several": t.statistics(
            [Count(), Mean(t.measured("visits")), Variance(t.measured("income"))]
        ),
    }


NAMES = list(of_moments(table()))


def noise_of(question, mu=0.5):
    return ny.Gaussian.calibrate(question.sensitivity, mu=mu)


def read_exactly(question, noise):
    """Half-widths of the answer without a draw, by the names of a preview."""
    from neyman.publish._numbers import numbers_in

    width = question.compute().size
    columns = question.exactly(question.compute(), noise, 0.95)
    assert width == question.size
    return [(name, seen.half_width) for name, _, seen in numbers_in(columns)]


@pytest.mark.shows("likeness")
@pytest.mark.parametrize(
    ("name", "unit"),
    # The limit of rows acts alike on every statistic: each kind of unit beside three of them, and
    # beside the others in the long trials.
    [
        pytest.param(name, unit, marks=() if i % 2 == j else pytest.mark.soak)
        for i, name in enumerate(NAMES)
        for j, unit in enumerate((Rows(), Entity("patient", max_rows=2)))
    ],
)
def test_rows_like_public_ones_have_the_width_of_the_answer(name, unit):
    question = of_moments(table(unit))[name]
    noise = noise_of(question)
    seen = preview(question, noise, records=N, like=PUBLIC)
    for number, half in read_exactly(question, noise):
        known = [one.cases.get("like", one.planned) for one in seen.numbers if one.name == number]
        assert min(abs(math.log(one.half_width / half)) for one in known) < math.log(1.3)


@pytest.mark.parametrize("name", ["mean", "variance", "covariance"])
def test_the_answer_is_within_the_range_without_public_rows(name):
    question = of_moments(table())[name]
    noise = noise_of(question)
    seen = preview(question, noise, records=2 * N if name == "mean" else N)
    halves = dict(reversed(read_exactly(question, noise)))
    for number in seen.numbers:
        best, worst = number.cases["at best"], number.cases["at worst"]
        assert best.half_width <= halves[number.name] * 1.15
        assert halves[number.name] <= worst.half_width * 1.15


@pytest.mark.shows("likeness")
@pytest.mark.parametrize("mu", [0.05, 1.0])
def test_nothing_between_the_bounds_is_worse_than_the_worst_case(mu):
    """Of columns of two values, which are the extreme ones, and of skewed and even ones."""
    one = open_table(
        pa.table({"x": [0.0]}), unit=Rows(), bounds={"x": Bounds(0, 1, 1e-4)}, name="x"
    )
    for question in (one.mean("x"), one.variance("x")):
        noise = noise_of(question, mu)
        name = question.query["statistic"]
        worst = preview(question, noise, records=N).numbers[0].cases["at worst"].half_width
        for mean, sd in [(0.002, 0.03), (0.01, 0.01), (0.03, 0.17), (1, 0)]:
            seen = preview(question, noise, records=N, spread={"x": (mean, sd)}).numbers[0]
            assert seen.name == name
            assert seen.cases["spread"].half_width <= 1.03 * worst


def test_the_limits_of_mean_and_variance_are_those_of_the_formulas():
    one = open_table(
        pa.table({"x": [0.0]}), unit=Rows(), bounds={"x": Bounds(0, 2, 1e-4)}, name="x"
    )
    n, mu = 10**7, 1
    z, chi = 1.959964, 2.447747
    # Of u = x - 1, which is within 1 of 0: typical has m = -0.9, s = 0.1.
    norms = {
        "mean": (2, z, 1, math.sqrt(1.81), math.sqrt(2)),
        "variance": (3, chi, math.sqrt(0.25 + (1 / 6) ** 2), math.sqrt(5.1716), math.sqrt(6.5)),
    }
    for name, (d, radius, *expected) in norms.items():
        question = getattr(one, name)("x")
        seen = preview(question, noise_of(question, mu), records=n).numbers[0]
        unit = radius * math.sqrt(d) / (mu * n)
        found = [known.half_width / unit for known in seen.cases.values()]
        # Where the variance is small its interval ends at 0, so that the largest is not reached.
        assert found == pytest.approx(expected, rel=0.01)


def test_a_spread_is_that_of_made_up_rows():
    one = table()
    question = one.variance("visits")
    noise = noise_of(question)
    visits = np.minimum(PRIVATE["visits"].to_numpy(), 60)
    spread = {"visits": (visits.mean(), visits.std())}
    ((_, half), *_) = read_exactly(question, noise)
    seen = preview(question, noise, records=N, spread=spread).numbers[0]
    assert seen.half_width == pytest.approx(half, rel=0.03)
    assert seen.half_width == seen.cases["spread"].half_width


@pytest.mark.parametrize("share", [0.02, 0.3])
def test_a_column_of_two_values_keeps_its_mean_on_its_coarse_grid(share):
    rows = pa.table({"dead": [0, 1]})
    one = open_table(rows, unit=Rows(), bounds={"dead": Bounds(0, 1, 1)}, name="dead")
    made = one.mean("dead").imagined.made_up({"dead": (share, math.sqrt(share * (1 - share)))})
    weight, above = made.spread
    assert above / weight == pytest.approx(share, abs=0.01)


def test_quantiles_of_public_rows_are_those_of_the_answer():
    from neyman.publish._numbers import numbers_in

    question = quantiles(table(), "income", [0.1, 0.5, 0.9, 0.99])
    noise, exact = noise_of(question), question.compute()
    seen = preview(question, noise, records=N, like=PUBLIC).numbers
    runs = [question.reading.columns(question.noised(exact, noise), noise, 0.95) for _ in range(25)]
    widths = [[number.half_width for _, _, number in numbers_in(columns)] for columns in runs]
    # The median of 25 draws is within a third of its law's, but for one in 10^4.
    for number, half in zip(seen, np.median(widths, axis=0), strict=True):
        assert half / 2 - 0.01 <= number.half_width <= 2 * half + 0.01
        assert list(number.cases) == ["spread evenly", "typical", "at worst", "like"]
    assert preview(question, noise, records=N, like=PUBLIC).numbers == seen


def test_groups_have_the_shares_of_public_rows_and_limits_take_rows_off():
    unit = Entity("patient", max_rows=2)
    question = table(unit).mean("visits", WARDS)
    known = likeness(question, PUBLIC, label="2023")
    patients = PUBLIC["patient"].to_numpy()
    kept = np.minimum(np.bincount(patients), 2).sum()
    assert known.kept == pytest.approx(kept / N, abs=0.0005)
    assert known.limited
    assert known.groups == pytest.approx([0.9, 0.1], abs=0.02)
    small, large = preview(question, noise_of(question), records=10_000, like=known).numbers
    assert (small.group, large.group) == ("the smallest of 2", "the largest of 2")
    assert small.records + large.records == pytest.approx(10_000 * known.kept, rel=0.01)
    text = preview(question, noise_of(question), like=known).to_text()
    assert f"like 2023: {100 * known.kept:.3g} % of its 8,000 rows count" in text
    assert "(like = 2023: ± " in text


def test_groups_that_nobody_declared_have_sizes_of_public_rows():
    question = table().mean("visits", UnknownKeys("ward"))
    noise = ny.mechanisms.Thresholded.calibrate(
        question.sensitivity, noise=noise_of(question), delta=1e-6
    )
    small, large = preview(question, noise, like=PUBLIC).numbers
    assert small.records + large.records == pytest.approx(N, rel=0.01)
    (alone,) = preview(question, noise, records=500).numbers
    assert (alone.records, alone.group) == (500, "one group")


def test_groups_are_of_equal_size_where_nobody_says_how_they_are():
    question = table().mean("visits", WARDS)
    seen = preview(question, noise_of(question), records=1_000)
    assert [(one.records, one.group) for one in seen.numbers] == [(500, "each of 2")]
    assert "groups of equal size are assumed" in seen.to_text()


def test_filters_and_made_columns_of_the_private_table_are_made_of_public_rows():
    private = table().where(col("income") > 3).with_columns(twice=2 * col("visits"))
    question = private.with_bounds({"twice": Bounds(0, 120, 1)}).mean("twice")
    known = likeness(question, PUBLIC)
    share = (PUBLIC["income"].to_numpy() > 3).mean()
    assert known.kept == pytest.approx(share, abs=0.001)
    made = open_table(PUBLIC, unit=Rows(), name="made").where(col("income") > 3)
    assert likeness(question, made).shape == known.shape


def test_joined_rows_are_to_be_joined_alike():
    info = pa.table({"patient": np.arange(N), "age": np.arange(N) % 90})
    unit = Entity("patient", max_rows=5)

    def joined(data, name):
        one = open_table(data, unit=unit, bounds=BOUNDS, name=name)
        return one.join(info, on="patient", how="left", name=f"{name}, ages")

    question = joined(PRIVATE, "people").mean("visits")
    with pytest.raises(InvalidTable, match=r"like: .* must be joined as the private one is"):
        preview(question, noise_of(question), like=PUBLIC)
    assert likeness(question, joined(PUBLIC, "public")).rows == N


def test_a_crosstab_takes_the_cells_of_public_rows():
    question = publish.crosstab(table(), WARDS, margins=[[]], whole=True)
    known = likeness(question, PUBLIC)
    assert known.shape["cells"] == pytest.approx([0.9, 0.1], abs=0.02)
    assert preview(question, noise_of(question), like=known).numbers


def test_a_likeness_written_and_read_back_is_the_same(tmp_path):
    one = table()
    asked = [one.mean("visits"), quantiles(one, "income", [0.5])]
    known = [likeness(question, PUBLIC) for question in asked]
    assert [Likeness.of_json(json.loads(json.dumps(each.to_json()))) for each in known] == known
    place = tmp_path / "people.json"
    place.write_text(json.dumps([each.to_json() for each in known]), encoding="utf-8")
    for question, each in zip(asked, known, strict=True):
        noise = noise_of(question)
        seen = preview(question, noise, like=place)
        assert seen.numbers == preview(question, noise, like=each).numbers
        assert seen.numbers == preview(question, noise, like=PUBLIC).numbers
    with pytest.raises(InvalidParameter, match="it is of other questions"):
        preview(one.mean("income"), noise_of(asked[0]), like=place)


@pytest.mark.parametrize(
    "damage",
    [
        {"rows": "many"},
        {"kept": 2.0},
        {"kept": math.nan},
        {"groups": [1.0, "x"]},
        {"one_row": [math.inf, 1.0]},
        {"one_row": [1.0]},
        {"one_row": [1e9, 1.0]},
        {"version": 2},
        {"format": "neyman.release"},
    ],
)
def test_a_damaged_likeness_is_refused(damage):
    question = table().mean("visits")
    record = likeness(question, PUBLIC).to_json() | damage
    with pytest.raises(InvalidParameter, match="likeness"):
        preview(question, noise_of(question), like=record)


def test_the_private_rows_are_no_public_ones(tmp_path):
    for name in ("private", "copy"):
        pq.write_table(PRIVATE, tmp_path / f"{name}.parquet")
    one = open_table(tmp_path / "private.parquet", unit=Rows(), bounds=BOUNDS)
    for question in (one.mean("visits"), quantiles(one, "visits", [0.5])):
        noise = noise_of(question)
        for same in (one, tmp_path / "private.parquet", str(tmp_path / "copy.parquet")):
            with pytest.raises(InvalidParameter, match="must hold other rows than the private one"):
                preview(question, noise, like=same)


def test_public_rows_that_do_not_answer_the_question_are_refused():
    question = table().mean("visits", WARDS)
    noise = noise_of(question)
    with pytest.raises(UnknownColumn, match="like: "):
        preview(question, noise, like=PUBLIC.drop_columns(["visits"]))
    elsewhere = PUBLIC.drop_columns(["ward"]).append_column("ward", [["west"] * N])
    with pytest.raises(InvalidParameter, match="a row of the public table must count"):
        preview(question, noise, like=elsewhere)


def test_public_rows_without_the_name_of_a_unit_are_not_limited_and_it_is_said():
    question = table(Entity("patient", max_rows=1)).mean("visits")
    seen = preview(question, noise_of(question), like=PUBLIC.drop_columns(["patient"]))
    assert seen.like.kept == 1
    assert "which has no units, so limits drop no rows" in seen.to_text()


@pytest.mark.parametrize(
    ("spread", "says"),
    [
        ({"visit": (1, 1)}, "'visits'; got 'visit'"),
        ({"visits": (70, 1)}, "between its bounds 0 and 60; got 70"),
        ({"visits": (3, 50)}, "must be at most 13.0"),
        ({"visits": (3, -1)}, "must be at most"),
        ({"visits": (3,)}, "mean and a standard deviation; got 1"),
        ({"visits": (3, math.nan)}, "spread of 'visits'"),
        ({"visits": 3}, "spread of 'visits'"),
        ([("visits", 3, 4)], "spread"),
    ],
)
def test_a_spread_that_no_rows_have_is_refused(spread, says):
    question = table().mean("visits")
    with pytest.raises(InvalidParameter, match=says):
        preview(question, noise_of(question), spread=spread)


def test_an_interval_that_is_all_there_can_be_says_that_it_is_no_information():
    question = table().correlation("visits", "income")
    (seen,) = preview(question, noise_of(question, mu=0.01), records=1_000).numbers
    assert seen.half_width is None
    assert seen.planned.all_of == (-1, 1)
    text = str(preview(question, noise_of(question, mu=0.01), records=1_000))
    assert "no information typically: all of [-1, 1]" in text
    assert "± 1 " not in text
    mean = table().mean("visits")
    said = str(preview(mean, noise_of(mean, mu=0.001), records=100))
    assert "no information at best: all of [0, 60]" in said


def test_a_line_of_a_preview_has_all_cases():
    question = table().mean("visits")
    line = str(preview(question, noise_of(question), records=N, like=PUBLIC)).splitlines()[-1]
    parts = [part.strip() for part in line.split("   ")]
    assert parts[:2] == ["mean visits", "n = 8,000"]
    assert [part.split(maxsplit=2)[2] for part in parts[2:5]] == ["at best", "typical", "at worst"]
    assert parts[5].startswith("(like = the public table: ± ")


def test_fit_plans_with_typical_rows_and_never_with_the_best_ones():
    question = table().variance("visits")
    (fitted,) = (fit([Wish(question, 5)], mu=0.5, records=N),)
    (_, noise), *_ = fitted.questions
    number = preview(question, noise, records=N).numbers[0]
    assert fitted.factor == pytest.approx(number.cases["typical"].half_width / 5)
    assert fitted.factor > 3 * number.cases["at best"].half_width / 5
    like = fit([Wish(question, 5)], mu=0.5, like=PUBLIC)
    assert like.factor == pytest.approx(
        preview(question, noise, like=PUBLIC).numbers[0].cases["like"].half_width / 5
    )


def test_fit_with_public_rows_promises_what_the_answer_holds():
    one = table()
    wishes = [Wish(one.variance("visits"), 3), Wish(one.correlation("visits", "income"), 0.1)]
    fitted = fit(wishes, mu=4, like=PUBLIC)
    for wish, (question, noise) in zip(wishes, fitted.questions, strict=True):
        half = read_exactly(question, noise)[0][1]
        assert half / (fitted.factor * float(wish.half_width)) == pytest.approx(1, rel=0.2)


def test_fit_says_where_a_number_would_be_no_information():
    fitted = fit([Wish(table().correlation("visits", "income"), 0.1)], mu=0.001, records=100)
    assert fitted.factor == pytest.approx(10)
    assert "no information typically: all of [-1, 1]" in str(fitted)


SPEC = """
[data]
path = "people.parquet"
{like}
[unit]
entity = "patient"
max_rows = 5
[columns.visits]
lower = 0
upper = 60
grid = 1
{spread}
[budget]
ledger = "people.ledger"
mu = 1
[[query]]
entry = "visits"
statistic = "mean"
column = "visits"
mu = 0.5
[[query]]
entry = "people"
statistic = "count"
mu = 0.5
"""


@pytest.fixture
def folder(tmp_path):
    pq.write_table(PRIVATE, tmp_path / "people.parquet")
    pq.write_table(PUBLIC, tmp_path / "lastyear.parquet")
    return tmp_path


def cases_of(folder, capsys, spec, *options):
    (folder / "people.toml").write_text(SPEC.format(**({"like": "", "spread": ""} | spec)), "utf-8")
    assert main(["release", str(folder / "people.toml"), "--preview", "--json", *options]) == 0
    found = json.loads(capsys.readouterr().out)
    return found["charges"][0]["questions"][0]["numbers"][0]["cases"]


def test_a_spec_the_command_line_and_python_say_the_same(folder, capsys):
    public = str(folder / "lastyear.parquet")
    like = cases_of(folder, capsys, {"like": 'like = "lastyear.parquet"'})["like"]
    assert cases_of(folder, capsys, {}, "--like", public)["like"] == like
    prepared = plan(read_spec(folder / "people.toml"), folder)
    seen = prepared.preview(like=public).charges[0].questions["visits"].numbers[0]
    assert seen.cases["like"].to_json() == like
    spread = cases_of(folder, capsys, {"spread": "spread = [3, 4.5]"}, "--records", "8000")[
        "spread"
    ]
    asked = ("--spread", "visits", "3", "4.5", "--records", "8000")
    assert cases_of(folder, capsys, {}, *asked)["spread"] == spread
    seen = prepared.preview(spread={"visits": (3, 4.5)}, records=8_000)
    assert seen.charges[0].questions["visits"].numbers[0].cases["spread"].to_json() == spread


def test_like_and_spread_go_with_a_preview(folder, capsys):
    (folder / "people.toml").write_text(SPEC.format(like="", spread=""), "utf-8")
    assert main(["release", str(folder / "people.toml"), "--spread", "visits", "3", "4"]) == 2
    assert "need --preview" in capsys.readouterr().err


def test_the_public_rows_of_a_spec_do_not_change_what_is_asked(folder):
    records = []
    for like, spread in [("", ""), ('like = "lastyear.parquet"', "spread = [3, 4.5]")]:
        (folder / "people.toml").write_text(SPEC.format(like=like, spread=spread), "utf-8")
        steps = plan(read_spec(folder / "people.toml"), folder).steps
        records.append([step.aggregate.query for step in steps])
    assert records[0] == records[1]


def test_previews_with_public_rows_read_no_private_one(folder, monkeypatch):
    from neyman.tables._sources._files import ParquetFile

    def load(*_):
        raise AssertionError("rows were read")

    one = open_table(folder / "people.parquet", unit=Rows(), bounds=BOUNDS)
    questions = [one.correlation("visits", "income"), quantiles(one, "visits", [0.5])]
    monkeypatch.setattr(ParquetFile, "load", load)
    for question in questions:
        assert preview(question, noise_of(question), like=PUBLIC).numbers
        with pytest.raises(EngineFailure):
            question.compute()


def test_a_function_of_two_columns_takes_the_sums_of_public_rows():
    question = publish.regression(table(), x="income", y="visits", bandwidth=3)
    noise = noise_of(question, mu=3)
    known = likeness(question, PUBLIC)
    assert len(known.shape["one_row"]) == question.size
    names = [number.name for number in preview(question, noise, like=known).numbers]
    assert "number of rows" in names


def test_a_correlation_by_itself_needs_both_columns_guessed():
    """The typical column stands for one that is not named."""
    question = table().aggregate(
        Correlation(table().measured("visits"), table().measured("income"))
    )
    noise = noise_of(question, mu=2)
    one = preview(question, noise, records=N, spread={"visits": (10, 9)}).numbers[0]
    both = preview(
        question, noise, records=N, spread={"visits": (10, 9), "income": (10, 6)}
    ).numbers[0]
    assert both.half_width < one.half_width
