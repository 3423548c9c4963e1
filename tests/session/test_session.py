"""One object for a table, its unit and its budget, over the parts that exist."""

import inspect
from dataclasses import fields
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neyman as ny
from neyman import plots
from neyman.errors import BudgetExceeded, EntryConflict, InvalidParameter, LedgerMismatch
from neyman.functional import Circle, DensityFunction, Interval, RegressionFit, SurvivalCurve
from neyman.publish import Display, Presentation, Suppression
from neyman.publish._data import Column
from neyman.publish._queries import QUERIES
from neyman.publish._queries._query import SHOWN, SuppressionOf
from neyman.publish._spec import PageOf
from neyman.session import FunctionRelease, FunctionReleases, Session
from neyman.tables import Bins, Bounds, Keys, UnknownKeys

WARDS = {"ward": ["north", "south"]}
BOUNDS = {"minutes": (0, 240), "age": (0, 100), "died": (0, 1)}


def rows():
    draw = np.random.default_rng(1)
    return pa.table(
        {
            "patient": draw.integers(0, 2000, 4000),
            "ward": draw.choice(["north", "south"], 4000),
            "minutes": draw.uniform(0, 240, 4000),
            "age": draw.integers(0, 100, 4000),
            "died": draw.integers(0, 2, 4000),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("session")
    pq.write_table(rows(), place / "visits.parquet")
    return place


@pytest.fixture
def db(folder, tmp_path):
    return opened(folder, tmp_path)


def opened(folder, place, **given):
    given = {"budget": ny.gdp(1), "unit": "patient", "max_rows": 3, "bounds": BOUNDS} | given
    return ny.open(folder / "visits.parquet", ledger=place / "visits.ledger", **given)


def test_a_session_answers_as_its_parts_do(db):
    question = db.count(by=WARDS)
    same = db.table.count(Keys(WARDS))
    assert (question.compute() == same.compute()).all()
    assert question.sensitivity == same.sensitivity
    assert question.sql == same.sql()
    noise = ny.Gaussian.calibrate(question, mu=0.3)
    assert noise == ny.Gaussian.calibrate(same.sensitivity, mu=0.3) == question.noise(mu=0.3)
    released = question.release("count", mu=0.3)
    assert released == ny.release(same, noise, db.ledger, entry="count")
    assert released.guarantee.curve == ny.gdp(0.3)
    seen = question.preview(mu=0.3)
    assert seen.curve == ny.gdp(0.3)
    assert seen == ny.publish.preview(same, noise)


BUDGETS = {
    "budget": ({"budget": ny.gdp(2)}, ny.gdp(2)),
    "mu": ({"mu": 2}, ny.gdp(2)),
    "epsilon": ({"epsilon": 3}, ny.pure_dp(3)),
    "epsilon, delta": ({"epsilon": 3, "delta": 1e-6}, ny.approx_dp(3, 1e-6)),
    "rho": ({"rho": 2}, ny.gdp(2)),
}


@pytest.mark.parametrize("words", BUDGETS)
def test_a_budget_is_taken_as_people_have_it(folder, tmp_path, words):
    given, cap = BUDGETS[words]
    assert opened(folder, tmp_path, **{"budget": None} | given).ledger.cap == cap


SHARES = {
    "mu": ({"mu": 0.25}, ny.gdp(0.25)),
    "epsilon": ({"epsilon": 0.5}, ny.laplace(0.5)),
    "share": ({"share": 1 / 16}, ny.gdp(0.25)),
    "a third": ({"share": 1 / 3}, ny.gdp(squared=Fraction(1, 3))),
    "noise": ({"noise": ny.Gaussian(scale=12)}, ny.gdp(0.25)),
}


@pytest.mark.parametrize("words", SHARES)
def test_a_question_spends_what_it_is_given(db, words):
    given, curve = SHARES[words]
    assert db.count().preview(**given, companion=0).curve == curve
    assert db.count().release("count", **given, companion=0).guarantee.curve == curve


def test_rho_takes_the_noise_that_is_made_for_it(db):
    noise = db.count().noise(rho=Fraction(1, 32))
    assert noise == ny.mechanisms.DiscreteGaussian.calibrate(db.count(), rho=Fraction(1, 32))


def test_shares_of_a_pure_budget_are_of_epsilon(folder, tmp_path):
    db = opened(folder, tmp_path, budget=None, epsilon=2)
    assert db.count().preview(share=1 / 8, companion=0).curve == ny.laplace(0.25)


REFUSED = {
    "no budget": ({}, "one budget must be given; got none"),
    "two": ({"mu": 1, "epsilon": 1}, "got mu and epsilon"),
    "noise and mu": ({"mu": 1, "noise": ny.Gaussian(scale=9)}, "got mu beside it"),
    "another noise": ({"mu": 1, "noise": "laplace"}, "noise must go with mu; got 'laplace'"),
    "no noise": ({"mu": 1, "noise": "gausian"}, "got 'gausian'"),
    "a large share": ({"share": 2}, r"share must be in \(0, 1\]; got 2"),
    "delta for declared groups": ({"mu": 1, "delta": 1e-9}, "this question has none"),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_spent_is_refused_before_anything_is_charged(db, words):
    given, said = REFUSED[words]
    for ask in (db.count().preview, lambda **given: db.count().release("count", **given)):
        with pytest.raises(InvalidParameter, match=said):
            ask(**given)
    assert not db.ledger.entries()
    assert not db.releases


OPENED = {
    "no unit": ({"unit": None}, 'unit must be the privacy unit.*unit="patient"'),
    "no limit": ({"max_rows": None}, "any number of rows without a limit"),
    "limits of rows": ({"unit": ny.Rows()}, "each row is a unit"),
    "limits twice": ({"unit": ny.Entity("patient", 2)}, "limits must be given once"),
    "no such unit": ({"unit": 3}, "got a int"),
    "two budgets": ({"mu": 1}, "got budget and mu"),
    "delta alone": ({"budget": None, "delta": 1e-6}, "delta needs epsilon"),
    "a number": ({"budget": 1}, "budget must be a guarantee; got a int"),
    "no bounds": ({"bounds": {"age": 3}}, "bounds of 'age' must be two ends"),
    "no grid": (
        {"bounds": {"minutes": (Fraction(1, 7), Fraction(50, 7))}},
        "a grid must divide both bounds",
    ),
}


@pytest.mark.parametrize("words", OPENED)
def test_a_session_that_is_not_declared_is_refused(folder, tmp_path, words):
    given, said = OPENED[words]
    with pytest.raises(InvalidParameter, match=said):
        opened(folder, tmp_path, **given)


def test_a_budget_without_a_ledger_is_refused_and_previews_need_neither(folder):
    path = folder / "visits.parquet"
    with pytest.raises(InvalidParameter, match="Write ledger="):
        ny.open(path, unit=ny.Rows(), budget=ny.gdp(1))
    db = ny.open(path, unit=ny.Rows())
    assert db.count().preview(mu=1).curve == ny.gdp(1)
    with pytest.raises(InvalidParameter, match="this session has none"):
        db.count().release("count", mu=1)
    with pytest.raises(InvalidParameter, match="this session has none"):
        db.count().preview(share=0.5)


def test_a_ledger_that_exists_needs_no_budget_and_keeps_its_unit(db, folder, tmp_path):
    first = db.count().release("count", mu=0.5)
    again = opened(folder, tmp_path, budget=None)
    assert again.ledger.cap == ny.gdp(1)
    assert again.count().release("count", mu=0.5) == first
    with pytest.raises(LedgerMismatch):
        opened(folder, tmp_path, budget=ny.gdp(3))
    with pytest.raises(ny.errors.RelationMismatch):
        ny.open(folder / "visits.parquet", unit=ny.Rows(), ledger=tmp_path / "visits.ledger")
    with pytest.raises(EntryConflict):
        again.count().release("count", mu=0.25)


def test_groups_are_written_as_people_write_them(db):
    assert db.count(by=WARDS).aggregate.keys == {"ward": ["north", "south"]}
    assert db.count(by=Keys(WARDS)).aggregate.keys == {"ward": ["north", "south"]}
    binned = db.count(by={"age": Bins([0, 18, 65, 100], outside="clip")})
    assert binned.aggregate.size == 3
    for by in ("ward", ["ward"], UnknownKeys("ward")):
        unknown = db.count(by=by)
        assert unknown.aggregate.unknown.columns(()) == {"ward": []}
        with pytest.raises(InvalidParameter, match=r"must have delta.*got none"):
            unknown.preview(mu=1)
        assert unknown.preview(mu=1, delta=1e-9).shown is not None
        with pytest.raises(InvalidParameter, match="by must declare the groups"):
            db.density("age", records=1000, by=by)
    with pytest.raises(InvalidParameter, match="by must be groups or column names; got int"):
        db.count(by=3)


def test_bounds_without_a_grid_have_round_steps(folder, tmp_path):
    steps = {"minutes": (0, 240), "age": (0, 100), "died": (0, 1)}
    db = opened(folder, tmp_path, bounds=steps)
    assert db.table.bounds["minutes"] == Bounds(0, 240, grid=0.2)
    assert db.table.bounds["age"] == Bounds(0, 100, grid=1)
    wider = db.with_bounds({"minutes": (-1.5, 10**6, 0.5), "age": Bounds(0, 9, grid=3)})
    assert wider.table.bounds["minutes"] == Bounds(-1.5, 10**6, grid=0.5)
    assert wider.table.bounds["age"] == Bounds(0, 9, grid=3)


def test_a_released_function_is_the_function_at_its_best_reading(db):
    density = db.density("minutes", domain=(0, 240), records=4000).release("d", mu=0.5)
    assert isinstance(density, FunctionRelease)
    assert isinstance(density.best, DensityFunction)
    assert 90 < density.quantile(0.5) < 150
    assert density.cdf(240) == pytest.approx(1)
    assert (density(np.array([10.0, 20.0])) >= 0).all()
    assert density.best == ny.functional.function(density.release)
    assert density.raw == density.best.raw
    assert 90 < density.median() < 150
    assert density.guarantee.curve == ny.gdp(0.5)
    assert list(density.to_pandas().columns) == ["share below", "value"]
    assert density == db.density("minutes", domain=(0, 240), records=4000).release("d", mu=0.5)


def test_every_function_reads_itself(folder, tmp_path):
    db = opened(folder, tmp_path, budget=ny.gdp(9))
    line = db.regression("age", "minutes", records=4000).release("r", mu=4)
    assert isinstance(line.best, RegressionFit)
    assert 80 < line(50.0) < 160
    lives = db.survival("minutes", "died", horizon=240, bandwidth=10).release("s", mu=4)
    assert isinstance(lives.best, SurvivalCurve)
    assert 0 < lives.quantile(0.5) < 240
    for found, lacking in ((line, "quantile"), (lives, "cdf")):
        with pytest.raises(InvalidParameter, match=r"has no .*Write \.best"):
            getattr(found, lacking)(0.5)
    groups = db.density("age", records=2000, by=WARDS).release("g", mu=0.4)
    assert isinstance(groups, FunctionReleases)
    assert groups["north"] == groups["north",]
    assert [key for (key,) in groups] == WARDS["ward"]
    with pytest.raises(InvalidParameter, match="must be a group of this release; got 'west'"):
        groups["west"]


def test_what_reads_a_release_reads_an_answer(folder, tmp_path):
    db = opened(folder, tmp_path, budget=ny.gdp(20))
    density = db.density("minutes", domain=(0, 240), records=4000).release("d", mu=0.5)
    assert ny.functional.function(density) == density.found
    assert ny.functional.function(density, DensityFunction) == density.found
    with pytest.raises(InvalidParameter, match=r"survival.*got a release of 'density'"):
        ny.functional.function(density, SurvivalCurve)
    ny.functional.save(density, tmp_path / "density.npz")
    assert ny.functional.load(tmp_path / "density.npz") == density.found
    with pytest.raises(InvalidParameter, match="not by group"):
        ny.functional.functions(density)

    ages = db.density("age", records=2000, by=WARDS).release("g", mu=2)
    found = ny.functional.functions(ages, DensityFunction)
    assert found == ages.found == ny.functional.functions(ages.release)
    assert ny.functional.function(ages["north"]) == found["north",]
    with pytest.raises(
        InvalidParameter, match=r"by group holds several functions; write functional\.functions"
    ):
        ny.functional.function(ages)
    joint = ny.functional.GroupedDensity(ages)
    assert joint.probabilities() == ny.functional.GroupedDensity(found).probabilities()

    lives = db.survival("minutes", "died", horizon=240, bandwidth=10, by=WARDS).release("s", mu=8)
    curves = ny.functional.functions(lives.release)
    test = ny.functional.logrank(lives["north"], lives["south"])
    assert test == ny.functional.logrank(curves["north",], curves["south",])
    with pytest.raises(InvalidParameter, match="first must be"):
        ny.functional.logrank(lives, lives["south"])


def test_pictures_of_answers_are_those_of_their_functions(folder, tmp_path):
    db = opened(folder, tmp_path, budget=ny.gdp(20))
    density = db.density("minutes", domain=(0, 240), records=4000).release("d", mu=2)
    line = db.regression("age", "minutes", records=4000).release("r", mu=4)
    lives = db.survival("minutes", "died", horizon=240, bandwidth=10).release("s", mu=8)
    plane = db.density(["age", "minutes"], domain=((0, 100), (0, 240)), records=4000)
    field = plane.release("f", mu=4)
    few = {"repetitions": 4}
    for drawn, same in (
        (plots.density(density), plots.density(density.found)),
        (plots.regression(line, **few), plots.regression(line.best, **few)),
        (plots.survival(lives, **few), plots.survival(lives.found, **few)),
        (plots.heatmap(field, points=9), plots.heatmap(field.found, points=9)),
        (plots.released(density), plots.released(density.release)),
    ):
        assert plots.to_svg(drawn) == plots.to_svg(same)
    with pytest.raises(
        InvalidParameter, match=r"curve must be.* got a value of type DensityFunction"
    ):
        plots.survival(density)


def test_a_released_function_has_what_its_best_reading_has(db):
    found = db.density("minutes", domain=(0, 240), bandwidth=10).release("d", mu=0.5)
    assert np.array_equal(found.points, found.best.points)
    assert not hasattr(found, "_nothing")
    with pytest.raises(AttributeError, match=r"has no .until.; it has .*points"):
        _ = found.until


def test_a_function_that_its_noise_hides_is_released_and_refused_when_it_is_read(db):
    refused = 0
    for entry in "abcdefg":
        hidden = db.density("age", records=4000).release(entry, mu=0.0001)
        try:
            hidden(3.0)
        except InvalidParameter as error:
            assert "too small beside its noise" in str(error)  # noqa: PT017
            refused += 1
    # Each is taken for records with probability 0.04: six of seven with 3e-8.
    assert refused >= 2
    assert [entry.id for entry in db.ledger.entries()] == list("abcdefg")


def test_domains_are_written_as_two_ends_or_as_they_are(db):
    ask = db.density
    same = ask("age", domain=Interval(0, 100, outside="count"), records=900).aggregate.query
    assert ask("age", domain=(0, 100), records=900).aggregate.query == same
    assert ask("age", domain=[0, 100], records=900).aggregate.query == same
    assert ask("age", domain=Circle(24), records=900).aggregate.query != same
    both = ask(["age", "minutes"], domain=((0, 100), (0, 240)), records=900)
    assert len(both.aggregate.query["columns"]) == 2
    with pytest.raises(InvalidParameter, match="domain must be two ends; got int"):
        ask("age", domain=3, records=900)
    with pytest.raises(InvalidParameter, match="domain must be of one column; got 2 sides"):
        db.regression("age", "minutes", domain=((0, 1), (0, 2)), records=900)


def test_a_plan_divides_the_budget_exactly_and_is_free_when_asked_again(db):
    asked = {"count": db.count(by=WARDS), "age": db.mean("age"), "q": db.quantiles("age")}
    plan = db.plan(asked, weights={"age": 2})
    assert [step.mechanism.tradeoff(step.aggregate.sensitivity) for step in plan.plan.steps] == [
        ny.gdp(squared=Fraction(1, 4)), ny.gdp(squared=Fraction(1, 2)),
        ny.gdp(squared=Fraction(1, 4)),
    ]  # fmt: skip
    assert plan.preview(records=4000).bill.fits
    found = plan.release()
    assert db.ledger.left().cost == 0
    again = db.plan(asked, weights={"age": 2}).release()
    assert all(again[name].columns == found[name].columns for name in asked)
    assert list(db.releases) == list(asked)
    with pytest.raises(BudgetExceeded):
        db.plan({"more": db.count()}, share=1 / 100).release()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"questions": {}}, "a plan needs at least one question"),
        ({"weights": {"other": 1}}, "got 'other'. Write some of 'count'"),
        ({"weights": {"count": 0}}, "weights must be positive"),
        ({"share": 1.5}, r"share must be in \(0, 1\]"),
    ],
)
def test_a_plan_that_divides_nothing_is_refused(db, given, said):
    with pytest.raises(InvalidParameter, match=said):
        db.plan(**{"questions": {"count": db.count()}} | given)


def test_the_page_is_that_of_all_that_was_released(db, tmp_path):
    with pytest.raises(InvalidParameter, match="this session has none"):
        db.report(tmp_path / "visits.html", title="Visits")
    db.count(by=WARDS).release("visits-by-ward", mu=0.3)
    db.where("age >= 18").mean("age").release("age-of-adults", mu=0.3)
    page = db.report(str(tmp_path / "visits.html"), title="Visits <2026>")
    text = page.read_text()
    assert "Visits &lt;2026&gt;" in text
    assert "visits-by-ward" in text
    assert "age-of-adults" in text
    # One number needs no picture.
    assert text.count("<svg") == 2
    other = tmp_path / "mine.txt"
    other.write_text("mine")
    with pytest.raises(InvalidParameter, match="must not replace a file that is no report"):
        db.report(other, title="Visits")
    assert other.read_text() == "mine"


def test_a_session_shows_what_is_public_alone(db):
    said = str(db)
    assert "gdp(mu=1), epsilon = 4.8866 at delta = 1e-6; 100 % left" in said
    assert "Bounds(0, 240, grid=0.2)" in said
    assert "max_rows=3" in said
    assert db.columns == {
        "patient": "integer", "ward": "text", "minutes": "float", "age": "integer",
        "died": "integer",
    }  # fmt: skip
    assert (
        repr(db.mean("age")) == "<mean of age, not released yet; protects all rows of one patient>"
    )
    assert "north" not in said


# What a spec writes once for the whole table, or for a release, and not for a question.
_ELSEWHERE = {
    "statistic", "entry", "batch", "noise", "mu", "epsilon", "rho", "share", "delta", "companion",
    "where", "max_rows", "max_rows_per_group", "by",
} | SHOWN  # fmt: skip


@pytest.mark.parametrize("statistic", QUERIES)
def test_a_session_asks_all_that_a_spec_asks_in_the_same_words(statistic):
    keys = set(QUERIES[statistic].model_fields) - _ELSEWHERE
    asked = inspect.signature(getattr(Session, statistic)).parameters
    # Only Python can say what a reading aims at.
    assert set(asked) - {"self", "by", "target"} == keys
    for name in keys:
        field = QUERIES[statistic].model_fields[name]
        default = asked[name].default
        if not field.is_required() and name not in ("shares", "margins"):
            assert default == field.default, name


def test_what_a_release_spends_is_called_as_in_a_spec():
    for ask in (ny.session.Question.release, ny.session.Question.preview):
        given = inspect.signature(ask).parameters
        assert {"noise", "mu", "epsilon", "rho", "delta", "companion"} <= set(given)


def test_a_report_is_presented_in_the_words_of_a_spec():
    def same(section, made, names):
        for name in names:
            field = section.model_fields[name]
            default = field.get_default()
            assert default == getattr(made, name) or (not default and not getattr(made, name)), name

    names = {one.name for one in fields(Display)}
    assert names == SHOWN <= set(QUERIES["count"].model_fields)
    same(QUERIES["count"], Display(), names)
    assert {one.name for one in fields(Suppression)} == set(SuppressionOf.model_fields)
    same(SuppressionOf, Suppression(), SuppressionOf.model_fields)
    same(PageOf, Presentation(), PageOf.model_fields)
    of_columns = {"labels": "label", "values": "values", "units": "unit"}
    assert set(of_columns.values()) <= set(Column.model_fields)
    assert {one.name for one in fields(Presentation)} == {
        *PageOf.model_fields,
        *of_columns,
        "answers",
    }


def test_words_of_a_report_change_no_release(db, tmp_path):
    first = db.count(by=WARDS).release("visits", mu=0.3)
    words = Presentation(labels={"ward": "clinic"}, answers={"visits": Display(title="Visits")})
    page = db.report(tmp_path / "page.html", title="Visits", presentation=words).read_text("utf-8")
    assert "clinic" in page
    assert db.count(by=WARDS).release("visits", mu=0.3) == first
    with pytest.raises(
        InvalidParameter, match=r"answers must have the ids of the answers only; got 'visit'"
    ):
        db.report(
            tmp_path / "p.html", title="V", presentation=Presentation(answers={"visit": Display()})
        )
    with pytest.raises(
        InvalidParameter, match=r"units must have the columns of the answers only; got 'mintes'"
    ):
        db.report(
            tmp_path / "p.html", title="V", presentation=Presentation(units={"mintes": "min"})
        )


def test_a_notebook_shows_every_object_of_a_session(db):
    asked = db.density("age", records=4000)
    plan = db.plan({"plan": db.count()}, share=1 / 9)
    for shown in (db, asked, plan, asked.release("d", mu=0.3)):
        page = shown._repr_html_()
        assert "neyman-cell" in page
        assert len(page) < 20_000
    assert "Released in this session: d" in db._repr_html_()


@pytest.mark.parametrize("words", [{"mu": 1}, {"rho": 0.5}, {"epsilon": 1, "delta": 2e-6}])
def test_a_part_of_delta_is_set_aside_as_in_a_spec(folder, tmp_path, words):
    db = opened(folder, tmp_path, budget=None, delta_aside=1e-6, **words)
    assert db.ledger.delta_aside == Fraction(1, 10**6)
    shown = db.count(by="ward").release("wards", mu=0.1, delta=1e-7)
    assert set(shown.columns["ward"]) <= {"north", "south"}
