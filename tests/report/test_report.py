"""What people read: true sentences, safe sides, nothing unescaped."""

import re
from pathlib import Path

import pyarrow as pa
import pytest

import neyman as ny
from neyman import publish
from neyman.publish import Publication
from neyman.report import html
from neyman.report._language import read_language
from neyman.report._tables import exactly
from neyman.tables import Count, Mean


def test_markup_in_names_is_text(tmp_path):
    wicked = '<script>alert("x")</script>'
    publication = Publication(
        title=wicked,
        names=(),
        releases=(),
        cap=ny.gdp(1),
        total=ny.gdp(0.5),
        unit=wicked,
        neighbors="add_remove",
        ledger=Path(tmp_path) / "a&b.ledger",
    )
    page = html(publication, tradeoff_svg="<svg></svg>", release_svgs={}, notes=[wicked])
    assert "<script" not in page
    assert "a&amp;b.ledger" in page
    assert "gdp(mu=0.5)" in page


@pytest.mark.parametrize("mu", [0.1, 0.3, 0.5, 0.7348469, 1, 2.5])
def test_what_is_headed_at_most_is_never_below_the_truth(tmp_path, mu):
    curve = ny.gdp(mu)
    page = html(
        Publication(
            title="x",
            names=(),
            releases=(),
            cap=curve,
            total=curve,
            unit="one row",
            neighbors="add_remove",
            ledger=tmp_path / "a",
        ),
        tradeoff_svg="<svg></svg>",
        release_svgs={},
    )
    cells = dict(
        re.findall(r'<tr><th scope="row" class="text">([^<]*)</th><td>([^<]*)</td></tr>', page)
    )
    for delta in (1e-5, 1e-6, 1e-9):
        printed = float(cells[f"epsilon at delta = {delta:.0e}".replace("e-0", "e-")])
        assert curve.epsilon(delta) <= printed <= curve.epsilon(delta) * (1 + 1e-5)
    assert float(cells["Advantage of the best attack"]) >= curve.advantage()
    assert float(cells["mu (Gaussian DP)"]) >= curve.mu()


def test_the_page_of_an_endless_loss_promises_nothing(tmp_path):
    page = html(
        Publication(
            title="x",
            names=(),
            releases=(),
            cap=ny.approx_dp(0, 1),
            total=ny.approx_dp(0, 1),
            unit="one row",
            neighbors="add_remove",
            ledger=tmp_path / "a",
        ),
        tradeoff_svg="",
        release_svgs={},
    )
    assert "is right about at most 1,000 of them on average" in page
    assert "These numbers set no limit" in page


@pytest.fixture(scope="module")
def page_of(tmp_path_factory):
    """Return what writes the page of questions about a small table, without pictures."""
    n = 300
    made = {"who": [i // 3 for i in range(n)], "g": ["a", "b", "c"] * (n // 3)}
    made |= {"x": [i % 7 for i in range(n)], "y": [i % 5 for i in range(n)]}
    bounds = {"x": ny.Bounds(0, 7, grid=1), "y": ny.Bounds(0, 5, grid=1)}
    unit = ny.Entity("who", max_rows=3, max_rows_per={"g": 1})
    table = ny.open_table(pa.table(made), name="t", unit=unit, bounds=bounds)
    path = tmp_path_factory.mktemp("page") / "a.ledger"
    kept = {"cap": ny.gdp(1000), "unit": table.protects, "neighbors": "add_remove"}
    ledger = ny.Ledger.open(path, **kept)

    def written(ask):
        query = ask(table)
        noise = ny.Gaussian.calibrate(query.sensitivity, mu=1)
        release = ny.release(query, noise, ledger, entry=f"entry {len(ledger.entries())}")
        publication = Publication(
            title="x",
            names=("q",),
            releases=(release,),
            cap=ny.gdp(1000),
            total=ny.gdp(1),
            unit=table.protects,
            neighbors="add_remove",
            ledger=path,
        )
        return html(publication, tradeoff_svg="<svg></svg>", release_svgs={})

    return written


def test_an_answer_of_a_batch_points_at_the_one_that_says_what_limits_did(tmp_path):
    n = 3000
    made = {"who": [i // 3 for i in range(n)], "x": [i % 7 for i in range(n)]}
    unit, bounds = ny.Entity("who", max_rows=1), {"x": ny.Bounds(0, 7, grid=1)}
    table = ny.open_table(pa.table(made), name="t", unit=unit, bounds=bounds)
    ledger = ny.Ledger.open(
        tmp_path / "a.ledger", cap=ny.gdp(9), unit=table.protects, neighbors="add_remove"
    )
    asked = [table.count(), table.sum("x"), table.mean("x"), table.count_units()]
    noises = [ny.Gaussian.calibrate(question.sensitivity, mu=2) for question in asked]
    releases = ny.release_batch(list(zip(asked, noises, strict=True)), ledger, entry="all")
    publication = Publication(
        title="x",
        names=("rows", "in <all>", "on average", "people"),
        releases=releases,
        cap=ny.gdp(9),
        total=ny.gdp(4),
        unit=table.protects,
        neighbors="add_remove",
        ledger=tmp_path / "a.ledger",
    )
    page = html(publication, tradeoff_svg="<svg></svg>", release_svgs={})
    parts = page.partition('id="downloads"')[0].split('class="answer"')[-4:]
    assert '<p class="warning">Rows missing: ' in parts[0]
    assert '<p class="warning">Rows missing: ' in parts[1]
    # What it points at is a warning, so it is one.
    assert (
        '<p class="warning">For the effect of limits and bounds, see &#x27;in &lt;all&gt;'
        in parts[2]
    )
    assert "Rows missing" not in parts[3]
    assert "limits did" not in parts[3]


BY = ny.Keys({"g": ["a", "b", "c"]})
LIMITS = "; at most 3 rows of each who"


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda t: t.count(BY), f"count by g{LIMITS}, at most 1 per g"),
        (lambda t: t.mean("x"), f"mean of x{LIMITS}"),
        (lambda t: t.count_units(BY), "number of values of who by g; each who once in each group"),
        (
            lambda t: t.correlation("x", "y", BY),
            f"correlation of x and y by g{LIMITS}, at most 1 per g",
        ),
        (
            lambda t: publish.linear_regression(t, "y", ["x"], by=BY),
            f"linear regression of y on x by g{LIMITS}, at most 1 per g",
        ),
        (
            lambda t: t.statistics([Count(), Mean(t.measured("x"))], BY),
            f"count and mean of x by g{LIMITS}, at most 1 per g",
        ),
        (
            lambda t: t.where(ny.col("x") > 3).count(),
            f"count, of the rows that a condition keeps{LIMITS}",
        ),
        (
            lambda t: publish.quantiles(t, "x", [0.25, 0.5], by=BY),
            f"quantiles of x by g{LIMITS}, at most 1 per g",
        ),
    ],
)
def test_each_answer_is_said_in_words_and_shown(page_of, ask, said):
    page = page_of(ask)
    what, _, limits = said.partition("; ")
    assert f">1. {what[0].upper()}{what[1:]}</h3>" in page
    if limits:
        assert f"<p>{limits[0].upper()}{limits[1:]}.</p>" in page
    # A column of the answer goes by what it is, and not by what is written to ask for it.
    assert "<th>count_units</th>" not in page
    assert "<th class=text>count_units</th>" not in page
    # The only thing to open is the record of the question.
    (summary,) = re.findall("<summary>(.*?)</summary>", page)
    assert summary.endswith(": question, noise and cost")


def test_long_answers_open_on_demand(page_of):
    page = page_of(lambda t: t.count(ny.Keys({"x": range(25)})))
    assert "<summary>25 rows</summary>" in page


@pytest.mark.parametrize("by", [None, BY])
def test_coefficients_are_in_the_files_and_not_in_a_table(page_of, by):
    page = page_of(lambda t: publish.density(t, "x", bandwidth=0.5, by=by))
    shown = re.sub('base64,[^"]*', "", page)
    assert ">coefficient</th>" not in shown
    assert "in the ledger a.ledger under the id entry " in shown
    assert len(shown) < 50_000


def test_no_text_of_a_row_or_a_spec_reaches_the_page_as_it_is(tmp_path):
    wicked = '\x1b[2J\u202e<script>alert("x")</script>\n=cmd|calc'
    rows = pa.table({"g": [wicked] * 3000, "x": [1.0] * 3000})
    bounds = {"x": ny.Bounds(0, 2, grid=1)}
    table = ny.open_table(rows, unit=ny.Rows(), bounds=bounds, name="t")
    ledger = ny.Ledger.open(
        tmp_path / "l", cap=ny.gdp(2) @ ny.approx_dp(0, 1e-6), unit="one row",
        neighbors="add_remove", delta_aside=1e-6,
    )  # fmt: skip
    question = table.mean("x", ny.UnknownKeys("g"))
    noise = ny.Gaussian.calibrate(question.sensitivity, mu=1)
    shown = ny.mechanisms.Thresholded.calibrate(question.sensitivity, noise=noise, delta=1e-7)
    release = ny.release(question, shown, ledger, entry="q")
    assert release.groups == [wicked]
    assert str(release).replace("\n", "").isprintable()
    publication = Publication(
        title=wicked,
        names=(wicked,),
        releases=(release,),
        cap=ledger.cap,
        total=ledger.total(),
        unit=ledger.unit,
        neighbors=ledger.neighbors,
        ledger=tmp_path / "l",
    )
    page = html(publication, tradeoff_svg="", release_svgs={}, notes=[wicked])
    assert "<script" not in page
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", page)
    assert page.count("\\x1b[2J\\u202e&lt;script&gt;") >= 4
    # A spreadsheet that the page is copied into takes every cell for text.
    assert 'mso-number-format: "\\@"' in page


def test_the_question_is_said_in_decimals_and_not_as_json():
    record = {"basis": {"lower": "0x1.2000000000000p+4"}, "keys": None, "p": ["1/2", "x"]}
    told = exactly(record, "The question", read_language("en"))
    assert "0x" not in told
    assert "{" not in told
    cell = '<th scope="row" class="text">{}</th>'.format
    assert cell("basis.lower") + cell("18") in told
    assert cell("p") + cell("1/2, x") in told
