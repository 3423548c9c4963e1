"""The page is whole, reads in three languages, and harms nobody: parsed, not searched for words."""

import ast
import base64
import csv
import io
import json
import re
import shutil
import string
import subprocess
from collections import Counter
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pytest

import neyman as ny
from neyman import functional
from neyman.plots import _style
from neyman.publish import Display, Presentation, Suppression
from neyman.released import Companion, Release
from neyman.report import html, ledger_html
from neyman.report._language import read_language, translated
from neyman.session import page_of
from neyman.tables import Count, Mean

LANGUAGES = ("en", "ko", "zh")
WARDS = {"ward": ["north", "south", "nowhere"]}
CELLS = {"ward": ["north", "south"], "sex": ["f", "m"]}
DAY = date(2026, 5, 1)
VOID = {"meta", "br", "img", "input", "hr", "link", "path", "use", "image"}
MU = 0.5


class Page(HTMLParser):
    """The elements of a page, with what they stand in, and its text."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.texts, self._open = [], [], []
        self.feed(text)
        assert not self._open, self._open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), [one for one, _ in self._open]))
        if tag not in VOID:
            self._open.append((tag, dict(attrs)))

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), [one for one, _ in self._open]))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self._open.pop()[0] == tag

    def handle_data(self, data):
        if data.strip() and all(tag != "style" for tag, _ in self._open):
            self.texts.append((data.strip(), [*self._open]))

    def all(self, *tags):
        return [(attrs, inside) for tag, attrs, inside in self.elements if tag in tags]


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    draw, n = np.random.default_rng(5), 3000
    rows = {
        "patient": draw.integers(0, 1500, n),
        "ward": draw.choice(["north", "south"], n),
        "sex": draw.choice(["f", "m"], n),
        "year": draw.integers(2024, 2026, n),
        "minutes": draw.gamma(3, 25, n),
        "age": draw.integers(0, 100, n),
        "days": draw.exponential(6, n),
        "died": draw.integers(0, 2, n) == 1,
    }
    bounds = {"minutes": (0, 240), "age": (0, 100), "days": (0, 60)}
    session = ny.open(
        pa.table(rows), name="visits", unit="patient", max_rows=2, bounds=bounds,
        budget=ny.gdp(9) @ ny.approx_dp(0, 1e-6), delta_aside=1e-7,
        ledger=tmp_path_factory.mktemp("page") / "visits.ledger",
    )  # fmt: skip
    asked = {
        "wards": session.count(by=WARDS),
        "patients": session.count_units(by=CELLS),
        "mean": session.mean("minutes", by=WARDS),
        "mean-again": session.mean("minutes", by=WARDS),
        "sum": session.where("age >= 18").sum("minutes"),
        "variance": session.variance("minutes"),
        "correlation": session.correlation("minutes", "age", by=CELLS),
        "several": session.several([Count(), Mean(session.table.measured("minutes"))], by=CELLS),
        "quantiles": session.quantiles("minutes", by=WARDS),
        "crosstab": session.crosstab(by=CELLS, margins=[["ward"], ["sex"], []]),
        "blocks": session.crosstab(by={**CELLS, "year": [2024, 2025]}, margins=[["ward"], []]),
        "slope": session.linear_regression("minutes", ["age"]),
        "density": session.density("minutes", domain=(0, 240), bandwidth=20),
        "survival": session.survival(duration="days", observed="died", horizon=12, bandwidth=1),
        "regression": session.regression(
            x="age", y="minutes", bandwidth=10, domain=(0, 100)
        ),
    }  # fmt: skip
    for name, question in asked.items():
        question.release(name, mu=MU)
    return session


@pytest.fixture(scope="module")
def publication(db):
    return db.publication("Visits")


@pytest.fixture(scope="module")
def pages(publication):
    """The page in each language; with its pictures where that is needed to see their words."""
    bare = {
        language: html(
            publication.in_language(language), tradeoff_svg="", release_svgs={}, made=DAY
        )
        for language in ("en", "zh")
    }
    return bare | {"ko": page_of(publication.in_language("ko"))}


@pytest.mark.shows("page")
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_screen_reader_finds_its_way(pages, language):
    page = Page(pages[language])
    (root,) = page.all("html")
    assert root[0]["lang"] == language
    assert len(page.all("h1")) == len(page.all("main")) == 1
    levels = [int(tag[1]) for tag, _, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert all(after - before <= 1 for before, after in pairwise(levels))
    ids = Counter(attrs["id"] for _, attrs, _ in page.elements if "id" in attrs)
    assert set(ids.values()) == {1}
    links = [attrs["href"] for attrs, _ in page.all("a")]
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    assert links[0] == "#main"
    for name in ("aria-labelledby", "aria-describedby"):
        assert {attrs[name] for _, attrs, _ in page.elements if name in attrs} <= set(ids)
    for _, attrs, _ in page.elements:
        if "tabindex" in attrs:
            assert attrs["role"] == "region"
            assert attrs["aria-label"]
    tables = [place for place, one in enumerate(page.elements) if one[0] == "table"]
    assert all(page.elements[place + 1][0] == "caption" for place in tables)
    assert len(tables) > 15
    assert all(attrs.get("scope") for attrs, _ in page.all("th"))
    (contents,) = page.all("nav")
    assert contents[0]["aria-labelledby"] == "contents"


def test_every_picture_is_told(pages):
    page = Page(pages["ko"])
    pictures = [place for place, one in enumerate(page.elements) if one[0] == "svg"]
    # Two answers are one number each; and there is the curve.
    assert len(pictures) == 14
    for place in pictures:
        assert page.elements[place][1]["role"] == "img"
        assert "viewbox" in page.elements[place][1]
        assert [page.elements[place + i][0] for i in (1, 2)] == ["title", "desc"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_asks_nobody_and_runs_nothing(pages, language):
    page = Page(pages[language])
    assert not page.all("script", "link", "iframe", "object", "form", "base")
    for _, attrs, _ in page.elements:
        assert not [name for name in attrs if name.startswith("on")]
        for name in ("src", "href", "xlink:href"):
            assert attrs.get(name, "#").startswith(("#", "data:"))
    policy = [a["content"] for a, _ in page.all("meta") if "content-security" in str(a).lower()]
    assert policy[0].startswith("default-src 'none';")
    style = pages[language].partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style


def test_answers_come_first_and_what_to_check_last(pages):
    page = Page(pages["en"])
    found = [a["id"] for a, inside in page.all("section") if inside.count("section") == 0]
    assert found == ["summary", "answers", "covers", "downloads", "audit"]
    text = " ".join(text for text, _ in page.texts)
    assert "is right about at most" in text[: text.index("Contents")]
    assert "all rows of one patient" in text[: text.index("Contents")]
    assert "2026-05-01" in text[:200]
    assert "neyman 0" in text[:200]
    assert text.index("Contents") < text.index("1. Count by ward")
    assert text.index("15. Regression") < text.index("Assumptions")


def test_two_answers_to_one_question_have_two_titles(pages):
    heads = re.findall(r"<h3[^>]*>(\d+\. [^<]*)</h3>", pages["en"])
    assert "3. Mean of minutes by ward (mean)" in heads
    assert "4. Mean of minutes by ward (mean-again)" in heads
    assert len({head.partition(" ")[2] for head in heads}) == 15


def test_what_several_intervals_cover_is_said_once_and_of_which(pages):
    said = "The interval of noise and sampling of a mean is conservative"
    assert pages["en"].count(said) == 1
    part = pages["en"][pages["en"].index(said) :].partition("</li>")[0]
    assert re.findall(r'href="#answer-(\d+)"', part) == ["3", "4", "8"]
    assert pages["en"].count("Bands are simulated estimates") == 1


def test_a_pages_head_and_entries_are_those_of_the_ledger(db, pages):
    page = Page(pages["en"])
    ledger = next(i for i, (text, _) in enumerate(page.texts) if text == db.paying.head())
    rows = [text for text, _ in page.texts[ledger:]]
    for entry in db.paying.entries():
        assert entry.id in rows
        assert entry.reserved_at[:16].replace("T", " ") in rows


def cells_of(text, caption):
    """Return the cells of a table, by row, without its heads."""
    table = text[text.index(caption) :].partition("<tbody>")[2].partition("</tbody>")[0]
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", table)
    return [
        [re.sub("<small>.*?</small>|<[^>]*>", "", cell) for cell in re.findall(r"<t.*?</t.>", row)]
        for row in rows
    ]


def test_a_crosstab_is_a_table_with_its_margins(publication, pages):
    release = publication.releases[publication.names.index("crosstab")]
    count = [f"{number:,.0f}" for number in release.columns["count"]]
    nf, nm, sf, sm, north, south, f, m, total = count
    caption = "<caption>ward down, sex across</caption>"
    assert cells_of(pages["en"], caption) == [
        ["north", nf, nm, north],
        ["south", sf, sm, south],
        ["Total", f, m, total],
    ]


def test_a_crosstab_of_three_columns_stands_in_blocks(publication, pages):
    release = publication.releases[publication.names.index("blocks")]
    count = [f"{number:,.0f}" for number in release.columns["count"]]
    blocks = {
        name: cells_of(pages["en"], f"<caption>ward: {name}. sex down, year across</caption>")
        for name in ("north", "south", "Total")
    }
    assert blocks == {
        "north": [["f", *count[0:2]], ["m", *count[2:4]], ["Total", count[8]]],
        "south": [["f", *count[4:6]], ["m", *count[6:8]], ["Total", count[9]]],
        "Total": [["Total", count[10]]],
    }


MARGINS = {
    "none": ([], ["f", "m"], 2),
    "right": ([["ward"]], ["f", "m", "Total"], 2),
    "below": ([["sex"]], ["f", "m"], 3),
    "corner alone": ([[]], ["f", "m"], 3),
    "right and corner": ([["ward"], []], ["f", "m", "Total"], 3),
    "below and corner": ([[], ["sex"]], ["f", "m", "Total"], 3),
}


@pytest.mark.parametrize("case", MARGINS)
def test_a_crosstab_shows_the_sums_that_there_are(db, case):
    margins, heads, rows = MARGINS[case]
    release = db.crosstab(by=CELLS, margins=margins).release(f"sums {case}", mu=MU)
    alone = replace(db.publication("x"), names=("c",), releases=(release,))
    page = html(alone, tradeoff_svg="", release_svgs={})
    table = page[page.index("<caption>ward down") :].partition("</table>")[0]
    assert re.findall(r'<th scope="col">(.*?)</th>', table) == heads
    cells = cells_of(page, "<caption>ward down")
    assert len(cells) == rows
    shown = Counter(cell for row in cells for cell in row[1:] if cell)
    held = [f"{number:,.0f}" for number in release.columns["count"]]
    assert Counter(cell.rstrip("*") for cell in shown.elements()) == Counter(held)


def downloads(text):
    """Return the files in a page, by name."""
    return {
        attrs["download"]: base64.b64decode(unquote(attrs["href"]).partition("base64,")[2]).decode()
        for attrs, _ in Page(text).all("a")
        if "download" in attrs
    }


@pytest.mark.shows("page")
def test_the_files_in_a_page_hold_what_it_shows_and_what_was_released(publication, pages):
    found = downloads(pages["en"])
    assert len(found) == 1 + 15 + 1  # the answer of two statistics has two tables
    table = list(csv.reader(io.StringIO(found["wards.csv"].removeprefix("\ufeff"))))
    assert table[0][:2] == ["ward", "count"]
    assert [row[0] for row in table[1:]] == WARDS["ward"]
    assert all(text.startswith("\ufeff") for name, text in found.items() if name.endswith("csv"))
    record = json.loads(found["Visits.json"])
    assert record["ledger"] == {"name": "visits.ledger", "head": publication.head}
    assert [one["id"] for one in record["answers"]] == list(publication.names)
    again = [Release.from_json(one["release"]) for one in record["answers"]]
    assert again == list(publication.releases)


def test_what_is_left_out_of_a_page_is_not_in_its_files(publication):
    rule = Suppression(count_below=100)
    shown = Presentation(answers={"wards": Display(suppress=rule)})
    page = html(replace(publication, presentation=shown), tradeoff_svg="", release_svgs={})
    record = json.loads(downloads(page)["Visits.json"])
    first, *rest = record["answers"]
    assert "release" not in first
    assert all("release" in one for one in rest)
    (nowhere,) = [row for row in first["tables"][0]["rows"] if row["ward"] == "nowhere"]
    assert nowhere["count"] is None


WICKED = '\u202e</style></title><script>alert("x")</script>=cmd|calc'


def test_wicked_words_harm_nobody(db):
    by = {"ward": ["north", WICKED, "=cmd|calc", "\uff1d1+1"]}
    release = db.count(by=by).release("wicked", mu=0.01)
    words = {"ward": WICKED}
    shown = Presentation(
        subtitle=WICKED, notes=[WICKED], contact=WICKED, data_date=WICKED, labels=words,
        units=words, values={"ward": {"north": WICKED}},
        answers={WICKED: Display(title=WICKED, note=WICKED, label=WICKED)},
    )  # fmt: skip
    one = replace(db.publication("x"), title=WICKED, names=(WICKED,), releases=(release,))
    for language in LANGUAGES:
        text = page_of(replace(one, presentation=replace(shown, language=language)))
        page = Page(text)
        assert not page.all("script")
        assert len(page.all("style")) == len(page.all("main")) == 1
        assert "\u202e" not in text
        files_in = downloads(text)
        assert all(re.fullmatch(r"[A-Za-z0-9_.-]+", name) for name in files_in)
        (table,) = [found for name, found in files_in.items() if name.endswith("csv")]
        cells = [cell for row in csv.reader(io.StringIO(table[1:])) for cell in row]
        assert not [x for x in cells if x.startswith(("=", "+", "@", "\uff1d"))]
        assert "'=cmd|calc" in cells


# Words of the data, of names and of notation, which no language changes.
GIVEN = {
    "neyman", "visits", "ledger", "ward", "sex", "minutes", "age", "year", "days", "died",
    "north", "south", "nowhere", "patient", "patients", "gdp", "approx_dp", "GDP", "DP", "zCDP",
    "rho", "mu", "epsilon", "delta", "CSV", "JSON", "spec", "UTC", "Visits", "density",
    "survival", "regression", "crosstab", "blocks", "wards", "mean", "again", "variance",
    "correlation", "several", "quantiles", "slope", "sum", "committed", "all",
}  # fmt: skip


@pytest.mark.shows("page")
@pytest.mark.parametrize("language", ["ko", "zh"])
def test_no_english_is_left_unless_it_is_marked(pages, language):
    page = Page(pages[language])
    left = set()
    for text, inside in page.texts:
        if any(attrs.get("lang") == "en" for _, attrs in inside):
            continue
        words = set(re.findall("[A-Za-z_]{2,}", re.sub("[0-9a-f]{64}", "", text)))
        left |= {(word, text) for word in words - GIVEN}
    assert not left
    # Marked are the exact questions alone.
    for _, inside in page.texts:
        tags = [tag for tag, _ in inside]
        assert "details" in tags or all(a.get("lang") != "en" for t, a in inside if t != "html")


def test_words_of_others_stay_as_they_were_written(db):
    release = db.count(by=CELLS).release("words", mu=0.01)
    labels = {"ward": "at risk", "sex": "guessing"}
    shown = Presentation(
        language="ko", labels=labels, answers={"words": Display(title="Mean", label="count")}
    )
    one = replace(db.publication("x"), names=("words",), releases=(release,))
    text = page_of(replace(one, presentation=shown))
    heads = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', text)
    assert heads[:3] == ["at risk", "guessing", "count"]
    assert ">1. Mean</h3>" in text


def _companions():
    common = {"entity": "patient", "confidence": 0.95, "units": 500.0, "units_half_width": 5.0}
    common |= {"cut_half_width": 5.0, "moved_half_width": 5.0}
    for of, limit in (("rows", 3), ("groups", None), (None, None)):
        for cut, missing in ((0.0, 0), (60.0, 0), (60.0, 120)):
            for moved in (None, 0.0, 80.0):
                for totals in (False, True):
                    yield Companion(
                        of=of, limit=limit, cut=cut, missing=missing, moved=moved, totals=totals,
                        **common,
                    )  # fmt: skip
    unknown = common | {"units": 20.0, "cut_half_width": 15.0, "moved_half_width": 15.0}
    for of in ("rows", "groups"):
        for totals in (False, True):
            yield Companion(of=of, limit=2, cut=1.0, missing=0, moved=1.0, totals=totals, **unknown)


@pytest.mark.parametrize("language", ["ko", "zh"])
def test_every_sentence_on_limits_is_known_in_every_language(language):
    words = read_language(language)
    sentences = {said for one in _companions() for said in one.sentences}
    assert len(sentences) == 14
    for said in sentences | set(Suppression(
        interval_wider_than=3, interval_wider_than_share=0.5, count_below=9
    ).sentences):  # fmt: skip
        found = translated(said, words)
        assert found is not None, said
        assert set(re.findall(r"\d+", said)) <= set(re.findall(r"\d+", found)), said


def test_a_text_that_nobody_knows_stays_english_and_is_not_guessed():
    for text in ("Who knows.", "by", "x" * 5000, "lower, upper: 95 % interval for whatever."):
        assert translated(text, read_language("ko")) is None
        assert translated(text, read_language("en")) == text


def fields(template):
    return {field for _, field, _, _ in string.Formatter().parse(template) if field}


def test_every_language_has_every_text_of_a_page_with_the_same_fields():
    first = read_language("en")
    for language in LANGUAGES:
        words = read_language(language)
        tables = {"page": first.page, "asked": first.asked, "columns": first.columns}
        for name, texts in tables.items():
            own = getattr(words, name)
            assert list(own) == list(texts)
            assert all(fields(own[key]) == fields(texts[key]) for key in texts)
        assert set(words.notes) <= set(first.patterns)
        assert language == "en" or list(words.notes) == list(first.patterns)
        assert all(fields(text) == fields(first.patterns[key]) for key, text in words.notes.items())


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_of_a_ledger_is_read_in_every_language(db, language):
    text = ledger_html(db.paying, "", language=language)
    page = Page(text)
    assert page.all("html")[0][0]["lang"] == language
    assert len(page.all("h1")) == 1
    assert all(attrs.get("scope") for attrs, _ in page.all("th"))
    assert db.paying.head() in text


def test_the_page_of_a_ledger_holds_questions_and_trainings(tmp_path):
    ledger = ny.Ledger.open(
        tmp_path / "a.ledger", cap=ny.gdp(1), unit="one row", neighbors="add_remove"
    )
    given = {"source": "here", "unit": "one row", "neighbors": "add_remove"}
    ledger.reserve(
        entry="visits", request={"query": {"statistic": "count"}}, curve=ny.gdp(0.3), **given
    )
    without = ledger_html(ledger, "", language="en")
    assert "Steps of trainings" not in without
    allowance = ledger.allow(
        entry="autumn", step=ny.gdp(0.01), steps=5000, request={"model": "m"}, **given
    )
    allowance.take("epoch 1", steps=1234)
    texts = [text for text, _ in Page(ledger_html(ledger, "", language="en")).texts]
    assert {"visits", "autumn", "autumn/epoch 1", "Steps of trainings"} <= set(texts)
    assert "5,000 1,234 3,766" in " ".join(texts)


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return sum(weight * x for weight, x in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_text_and_lines_can_be_seen_on_light_and_on_dark_paper():
    style = files("neyman.report").joinpath("page.css").read_text()
    screen = style.partition("@media print")[0].split("prefers-color-scheme: dark", 1)
    light, dark = (dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6})", part)) for part in screen)
    assert set(light) == set(dark)
    for known in (light, dark):
        for paper in ("--paper", "--raised", "--ground"):
            for text in ("--ink", "--quiet", "--warning", "--accent"):
                assert contrast(known[text], known[paper]) >= 4.5, (text, paper)
        for text in ("--chart-ink", "--chart-note"):
            assert contrast(known[text], known["--paper"]) >= 4.5
        for line in ("--chart-truth", "--chart-1", "--chart-2", "--chart-3", "--chart-4"):
            assert contrast(known[line], known["--paper"]) >= 3
    own = {"ink": _style.INK, "note": _style.NOTE, "line": _style.QUIET, "truth": _style.TRUTH}
    own |= {str(place): colour for place, colour in enumerate(_style.PALETTE, 1)}
    for name, colour in own.items():
        assert light[f"--chart-{name}"] == colour
        for what in ("fill", "stroke"):
            assert f'[{what}="{colour}"] {{ {what}: var(--chart-{name}); }}' in style


FRAME = """<!doctype html><title></title><script>addEventListener("message", (one) => {
  document.title = one.data;
})</script><iframe src="page.html" style="border:0;width:{}px;height:2000px"></iframe>"""
PROBE = """<script>addEventListener("load", () => {
  const wide = innerWidth, out = [];
  for (const one of document.querySelectorAll("main *")) {
    if (one.closest("figure") || one.closest(".scroll") || one.matches(".hidden")) continue;
    const box = one.getBoundingClientRect();
    if (box.width && (box.right > wide + 0.5 || box.left < -0.5)) out.push(one.tagName);
  }
  const small = [...document.querySelectorAll("svg text")].filter(
    (one) => one.getBoundingClientRect().height && one.getBoundingClientRect().height < 8);
  parent.postMessage(JSON.stringify({
    wide, page: document.documentElement.scrollWidth, out, small: small.length}), "*");
})</script>"""


def seen(page, probe, width, path):
    """Return what a script finds in a page on a screen of a width."""
    text = re.sub("<meta http-equiv[^>]*>", "", page).replace("</body>", f"{probe}</body>")
    (path / "page.html").write_text(text)
    frame = path / "frame.html"
    frame.write_text(FRAME.replace("{}", str(width)))
    ran = subprocess.run(
        [
            "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            "--dump-dom", "--window-size=1600,2000",
            "--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=4000",
            f"--user-data-dir={path / 'profile'}", frame.as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return json.loads(re.search("<title>(.*?)</title>", ran.stdout)[1])


@pytest.mark.shows("page")
@pytest.mark.skipif(shutil.which("chromium") is None, reason="there is no Chromium")
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_screen(pages, tmp_path, width):
    found = seen(pages["ko"], PROBE, width, tmp_path)
    assert found == {"wide": width, "page": width, "out": [], "small": 0}


SCROLLED = """<script>addEventListener("load", () => {
  const all = [...document.querySelectorAll(".answer .scroll")];
  parent.postMessage(JSON.stringify({
    tables: all.length, page: document.documentElement.scrollWidth,
    hidden: all.filter((one) => one.scrollWidth > one.clientWidth).length}), "*");
})</script>"""


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """A crosstab of five by seven with its sums, and a variance with its mean."""
    n, draw = 1000, np.random.default_rng(1)
    cells = {"cut": [f"cut {i}" for i in range(5)], "color": [*"DEFGHIJ"]}
    rows = {name: draw.choice(values, n) for name, values in cells.items()}
    session = ny.open(
        pa.table(rows | {"price": draw.uniform(0, 20_000, n)}), name="diamonds", unit=ny.Rows(),
        budget=ny.gdp(2), bounds={"price": (0, 20_000, 1)},
        ledger=tmp_path_factory.mktemp("wide") / "wide.ledger",
    )  # fmt: skip
    session.crosstab(by=cells, margins=[["cut"], ["color"], []]).release("cells", mu=1)
    session.variance("price").release("price", mu=1)
    return session


@pytest.mark.skipif(shutil.which("chromium") is None, reason="there is no Chromium")
def test_a_crosstab_of_eight_columns_and_a_variance_are_whole_on_a_screen(wide, tmp_path):
    page = page_of(wide.publication("Diamonds"))
    # As many digits as a census has.
    page = re.sub(r"<small>\[.*?\]</small>", "<small>[153,066, 153,974]</small>", page)
    found = seen(page, SCROLLED, 1280, tmp_path)
    assert found == {"tables": 2, "page": 1280, "hidden": 0}


def test_a_crosstab_that_its_table_shows_whole_has_a_picture_only_if_it_is_small(wide, pages):
    assert not Page(page_of(wide.publication("Diamonds"))).all("figure")[1:]
    figures = [attrs["id"] for attrs, _ in Page(pages["ko"]).all("title") if "id" in attrs]
    titles = [attrs["id"] for attrs, _ in Page(pages["ko"]).all("section")]
    crosstab = titles.index("answer-10") - titles.index("answer-1") + 1
    assert f"picture-{crosstab}-title" in figures


@pytest.mark.parametrize("language", ["ko", "zh"])
@pytest.mark.parametrize(
    "note",
    [
        "The counts of rows with a known age in 3 of 5 groups are combined from 2 releases (a, b), "
        "which show the same number.",
        "The counts of patients are combined from several statistics of this release.",
        "The counts of rows are those of the release a.",
        "In 6 of 15 groups, noise made the count of rows with a known value larger than the count "
        "of all rows. Both show the same number there.",
        "In every group, noise made the count of rows with a known value larger than the count of "
        "all rows. Both show the same number there.",
        "Noise made the count of rows with a known value larger than the count of all rows. Both "
        "show the same number.",
        "The counts of rows are combined from 2 releases (a, b).",
        "The same groups are counted under other limits (at most 5 rows of each patient) by the "
        "release x: other rows count there, so the numbers are not combined.",
        "The same groups are counted under other limits (beside other groups) by the release x: "
        "other rows count there, so the numbers are not combined.",
        "Limits cut rows of many patients, and 2 releases (a, b) can keep other rows of them: the "
        "numbers are not combined. They would be with higher limits.",
        "These counts are of rows with a known age; those of all rows are in a and b.",
        "Rows with another sex, or without ward, are in no group.",
        "Rows with another ward are in no group.",
        "The first and last bin of age also count the rows beyond them.",
        "Rows without ward or sex are in no group.",
        "Values are rounded to 8,000 steps of 1.25: the grid of 0.01 has more steps than one "
        "release of quantiles tells apart. The intervals allow for half a step. Narrower bounds "
        "have finer steps.",
        "The counts are combined from 2 releases (a, b), and add up.",
        "The total of age in 2 of 3 groups is combined from 2 releases (a, b).",
    ],
)
def test_what_is_said_of_combined_numbers_and_of_groups_is_translated(language, note):
    said = translated(note, read_language(language))
    assert said is not None
    left = set(re.findall("[A-Za-z]{2,}", said))
    assert left <= {"age", "ward", "sex", "patient", "patients"}


def _unresolved():
    """Every sentence on a density that is not resolved, as the code writes it, with numbers."""
    for file in Path(functional.__file__).parent.glob("_densities/*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            match node:
                case ast.JoinedStr(values=parts):
                    said = "".join(
                        part.value if isinstance(part, ast.Constant) else "5" for part in parts
                    )
                case ast.Constant(value=str(said)):
                    pass
                case _:
                    continue
            if said.startswith("not resolved: ") and ";" in said:
                yield said


@pytest.mark.parametrize("language", ["ko", "zh"])
@pytest.mark.parametrize("form", ["N{}.", "north: n{}."])
def test_why_a_density_is_not_resolved_is_translated(language, form):
    sentences = [form.format(said[1:]) for said in _unresolved()]
    assert len(sentences) == 5
    for sentence in sentences:
        said = translated(sentence, read_language(language))
        assert said is not None, sentence
        assert set(re.findall("[A-Za-z]{2,}", said)) <= {"north"}
