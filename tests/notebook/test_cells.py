"""What a notebook shows: public things only, harmless, in a few kilobytes."""

import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest

import neyman as ny
from neyman import functional, publish, training
from neyman.displayed import Displayed
from neyman.notebook import _guarantees
from neyman.numerics import at_least

MOST = 20_000
WICKED = "<script>alert(1)</script>\x1b[2J\u202e"
VOID = {"img", "path", "polygon", "polyline"}


class Page(HTMLParser):
    """The text of a page, which must close what it opens."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.text = [], set(), ""
        self.feed(html)
        self.close()
        assert not self.open
        assert len(html.encode()) < MOST

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += "" if self.open and self.open[-1] == "style" else f"{data} "


def page(shown):
    return Page(shown._repr_html_())


@pytest.fixture(scope="module")
def table():
    n = 2000
    rows = {
        "patient": [f"SECRET{i}" for i in range(n)],
        "ward": ["north", WICKED] * (n // 2),
        "minutes": (np.arange(n) % 71 + 100.125).tolist(),
    }
    return ny.open_table(
        pa.table(rows),
        name="visits",
        unit=ny.Entity("patient", max_rows=2),
        bounds={"minutes": ny.Bounds(0, 240, grid=1)},
    )


@pytest.fixture(scope="module")
def ask(table, tmp_path_factory):
    path = tmp_path_factory.mktemp("cells") / "visits.ledger"
    ledger = ny.Ledger.open(path, cap=ny.gdp(9), unit=table.protects, neighbors="add_remove")

    def asked(question, entry, mu=1.0):
        noise = ny.Gaussian.calibrate(question.sensitivity, mu=mu)
        return ny.release(question, noise, ledger, entry=entry)

    asked.ledger = ledger
    return asked


@pytest.fixture(scope="module")
def density(table, ask):
    line = functional.Interval(0, 240, outside="clip")
    return ask(publish.density(table, "minutes", domain=line, bandwidth=12), "density")


WARDS = ny.Keys({"ward": ["north", WICKED]})


def test_a_table_shows_columns_types_unit_and_bounds(table):
    for shown in (repr(table), page(table).text):
        for part in ("patient", "text", "names the unit", "minutes", "float", "max_rows=2"):
            assert part in shown
        assert "Bounds(0, 240, grid=1)" in shown
    assert "condition" not in repr(table)
    assert "condition" in repr(table.where(ny.col("minutes") > 3))


def test_a_table_of_many_columns_with_wicked_names_stays_short():
    rows = pa.table({f"{WICKED}{i}": [1] for i in range(3000)})
    table = ny.open_table(rows, name="wide", unit=ny.Rows())
    assert "3,000 columns" in page(table).text
    assert "script" not in page(table).tags
    assert len(repr(table)) < MOST
    assert "\x1b" not in repr(table) + table._repr_html_()


def test_the_first_line_of_a_csv_file_is_not_shown_for_it_may_be_a_record(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("Jo Doe,17\nMo Roe,18\n")
    table = ny.open_table(path, unit=ny.Entity("Jo Doe", max_rows=1))
    for shown in (repr(table), page(table).text):
        assert "17" not in shown
        assert "1 more" in shown


def test_questions_and_previews_show_no_row(table):
    question = table.mean("minutes", by=WARDS)
    seen = publish.preview(question, ny.Gaussian.calibrate(question.sensitivity, mu=1))
    for shown in (question, seen, table):
        text = repr(shown) + shown._repr_html_()
        assert "SECRET" not in text
        assert ".125" not in text
    assert "mean of minutes by ward" in page(question).text
    assert "no row was read" in page(question).text


def test_a_release_shows_its_rows_and_intervals_and_what_they_cost(table, ask):
    release = ask(table.count(by=WARDS), "count")
    seen = page(release)
    assert "script" not in seen.tags
    assert "\x1b" not in release._repr_html_()
    numbers = {f"{release.columns[name][0]:,.0f}" for name in ("count", "lower", "upper")}
    assert numbers <= set(seen.text.split())
    assert "gdp(mu=1)" in seen.text
    assert "95 % interval" in seen.text
    assert repr(release) == str(release)


def test_a_release_of_many_groups_shows_the_first_and_says_so(table, ask):
    keys = ny.Keys({"ward": [f"{'long ' * 99}{i}" for i in range(5000)]})
    seen = page(ask(table.count(by=keys), "many"))
    assert "The first 20 of 5,000 rows" in seen.text


def test_a_density_is_shown_by_numbers_and_a_picture_and_never_by_coefficients(density):
    seen = page(density)
    assert {"svg", "table"} <= seen.tags
    assert "share below" in seen.text
    for cell in density.columns["coefficient"][:50]:
        assert f"{abs(cell):.6g}" not in seen.text + repr(density)
    assert len(repr(density)) < 2000
    found = functional.function(density)
    assert "svg" in page(found).tags
    assert "svg" in page(found).tags


def test_a_function_that_its_noise_hides_says_so(density):
    nothing = [0] * len(density.columns["coefficient"])
    release = replace(density, columns={**density.columns, "coefficient": nothing})
    for shown in (release, functional.function(release)):
        seen = page(shown)
        assert "svg" not in seen.tags
        assert "number of records" in seen.text


def test_a_density_of_two_columns_is_shown_as_a_picture(ask):
    rng = np.random.default_rng(1)
    rows = pa.table({"x": rng.uniform(0, 9, 900), "y": rng.uniform(0, 9, 900)})
    side = functional.Interval(0, 9, outside="clip")
    table = ny.open_table(rows, name="xy", unit=ny.Rows())
    box = functional.Box(side, side)
    question = publish.density(table, ["x", "y"], domain=box, bandwidth=(0.8, 0.8))
    ledger = ny.Ledger.open(
        ask.ledger.store.path.with_name("xy.ledger"),
        cap=ny.gdp(1),
        unit=table.protects,
        neighbors="add_remove",
    )
    noise = ny.Gaussian.calibrate(question.sensitivity, mu=1)
    release = ny.release(question, noise, ledger, entry="xy")
    for shown in (release, functional.function(release)):
        assert "img" in page(shown).tags
        assert "data:image/png;base64,iVBOR" in shown._repr_html_()


def test_functions_by_group_are_listed(table, ask):
    line = functional.Interval(0, 240, outside="clip")
    question = publish.density(table, "minutes", domain=line, bandwidth=12, by=WARDS)
    release = ask(question, "by group")
    assert "share below" in page(release).text
    assert "north" in page(functional.functions(release)).text


@pytest.mark.parametrize(
    "curve",
    [ny.gdp(1), ny.poisson(ny.gdp(1), 0.01) ** 100, ny.approx_dp(1, 1e-6), ny.gdp(1).remove],
)
def test_a_guarantee_shows_numbers_and_its_curve(curve, monkeypatch):
    monkeypatch.setattr(_guarantees, "_PATIENCE_S", 600.0)
    seen = page(curve)
    assert "svg" in seen.tags
    shown = re.search(r"epsilon at delta = 1e-6: at most ([\d.]+)", seen.text)
    assert float(shown[1]) == pytest.approx(curve.epsilon(1e-6), rel=1e-5)
    assert float(shown[1]) >= curve.epsilon(1e-6)


def test_a_guarantee_whose_numbers_take_long_is_shown_without(monkeypatch):
    monkeypatch.setattr(_guarantees, "_PATIENCE_S", -1.0)
    seen = page(ny.gdp(1))
    assert "svg" not in seen.tags
    assert "plots.tradeoff" in seen.text


def test_a_ledger_shows_what_is_left_and_its_entries(ask, density):
    seen = page(ask.ledger)
    assert density.entry in seen.text
    assert f"Left: {at_least(100 * ask.ledger.remaining() / 81, 4)} %" in seen.text


def test_a_ledger_shows_what_is_left_of_allowances(tmp_path):
    ledger = ny.Ledger.open(
        tmp_path / "a.ledger", cap=ny.gdp(1), unit="one row", neighbors="add_remove"
    )
    assert "Allowance" not in page(ledger).text
    allowance = ledger.allow(
        entry="autumn",
        step=ny.gdp(0.01),
        steps=5000,
        request={},
        source="here",
        unit="one row",
        neighbors="add_remove",
    )
    allowance.take("a", steps=100)
    assert "4,900 left of 5,000 of gdp(mu=0.01)" in page(ledger).text


def test_a_ledger_that_cannot_be_read_says_why(tmp_path):
    path = tmp_path / "gone.ledger"
    ledger = ny.Ledger.open(path, cap=ny.gdp(1), unit="one row", neighbors="add_remove")
    path.unlink()
    assert "gone.ledger" in page(ledger).text


def test_a_guarantee_of_people_shows_what_is_taken_for_granted(density):
    seen = page(density.guarantee)
    assert density.guarantee.assumptions[0] in seen.text


def test_a_function_from_outside_the_package_is_shown():
    class Twice(functional.Function):
        kind = "twice"
        statistics = ()
        of_release = of_record = to_json = None

        def __call__(self, x):
            return x

    assert "twice" in page(Twice()).text


def test_all_that_is_displayed_has_something_that_shows_it():
    def below(kind):
        for one in kind.__subclasses__():
            yield one
            yield from below(one)

    from neyman.notebook import _SHOWN_BY

    packages = {
        kind.__module__.split(".")[1] for kind in below(Displayed) if "neyman" in kind.__module__
    }
    assert packages <= set(_SHOWN_BY)


def test_guarantees_ledgers_and_questions_of_arrays_are_shown_without_any_extra(tmp_path):
    program = """
import sys
for extra in ("duckdb", "sqlglot", "pyarrow", "pydantic", "matplotlib", "pandas", "IPython"):
    sys.modules[extra] = None
import numpy as np
import neyman as ny
from neyman import functional
ledger = ny.Ledger.open("a.ledger", cap=ny.gdp(1), unit="one record", neighbors="add_remove")
line = functional.Interval(-5, 5, outside="clip")
question = functional.density(
    np.zeros(9), domain=line, bandwidth=1, neighbors="add_remove", unit="one record", name="a"
)
for shown in (ny.gdp(1), ledger, question):
    assert "neyman-cell" in shown._repr_html_()
"""
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, timeout=300)


def test_each_answer_of_a_batch_says_where_its_limits_are_told(tmp_path):
    table = ny.open_table(
        pa.table({"who": [1, 1, 2], "x": [1, 2, 3]}),
        unit=ny.Entity("who", max_rows=1),
        bounds={"x": ny.Bounds(0, 9, grid=1)},
        name="t",
    )
    ledger = ny.Ledger.open(
        tmp_path / "l", cap=ny.gdp(9), unit=table.protects, neighbors="add_remove"
    )
    pairs = [(asked, ny.Gaussian(scale=9)) for asked in (table.mean("x"), table.sum("x"))]
    answers = ny.release_batch(pairs, ledger, entry="both")
    assert answers[1].limit_notes()[0] in answers[1]._repr_html_()


def training_of(**changes):
    phase = training.Phase.poisson(noise_multiplier=4, sampling_probability=1, steps=16)
    known = {"unit": WICKED.replace("\x1b", "").replace("\u202e", ""), "neighbors": "add_remove"}
    return training.RunRecord(phases=(phase,), **{**known, **changes})


def test_a_run_record_shows_its_phases_its_guarantee_and_what_is_wrong():
    sound, wrong = page(training_of()), page(training_of(tuning_runs=3))
    assert "Training: 16 steps" in sound.text
    assert "poisson (sampling_probability 1)" in sound.text
    assert "at most" in sound.text
    assert "The record shows no mistake" in sound.text
    assert "svg" in sound.tags
    assert "script" not in sound.tags
    assert "tuning_not_counted" in wrong.text
    assert "no mistake" not in wrong.text


def test_a_record_without_a_price_says_why():
    made = training.Phase(
        noise_multiplier=Fraction(1), sampler={"sampler": "mine"}, steps=1, planned=1
    )
    run = training.RunRecord(phases=(made,), unit="one image", neighbors="add_remove")
    assert "no sampler that is known" in page(run).text


def test_findings_are_shown_one_by_one():
    found = training.doctor(training_of(tuning_runs=3, world=2))
    shown = page(found)
    assert "2 findings" in shown.text
    assert all(one.write in shown.text and one.seen in shown.text for one in found)
    assert page(found[0]).text.startswith("Finding: ")
    assert "No mistake found" in page(training.Findings()).text
