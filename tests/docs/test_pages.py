"""The pages hang together: links lead somewhere, figures are drawn and shown, sources are named."""

import importlib.util
import re
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
IMAGES = DOCS / "images"
GALLERY = DOCS / "gallery"
PAGES = [*sorted(DOCS.rglob("*.md")), *(ROOT / f"{n}.md" for n in ("README", "CONTRIBUTING"))]
CHAPTERS = [
    "test",
    "tradeoff",
    "approximate",
    "gaussian",
    "groups",
    "composition",
    "limit",
    "privacy_loss",
    "moments",
    "conversions",
    "sampling",
    "vectors",
    "accounts",
]
# Drawn by the demo, at random, and chosen by hand.
BY_HAND = {"flights.png"}
LARGEST = 60_000
NAMED = re.compile(r"`((?:[\w.-]+/)*\w+\.(?:py|toml|json|sql))[`:]")
OF_DOCS = re.compile(r"\bdocs/[\w./-]*\w\.(?:md|py|json)\b")
# What readers of these pages write themselves.
THEIRS = {"publish.json", "releases.json", "visits.toml"}
LINK = re.compile(r"(!?)\[[^\]]*\]\(([^)\s]+)\)")


def spoken(page: Path) -> str:
    """Return the page without its code."""
    return re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def links(page: Path) -> list[tuple[bool, str]]:
    return [(bool(mark), target) for mark, target in LINK.findall(spoken(page))]


def anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", spoken(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def local(page: Path) -> list[tuple[Path, str]]:
    found = [target.partition("#") for _, target in links(page) if "://" not in target]
    return [((page.parent / path).resolve() if path else page, mark) for path, _, mark in found]


def shown() -> set[str]:
    return {Path(target).name for page in PAGES for image, target in links(page) if image}


@pytest.fixture(scope="module")
def figures():
    spec = importlib.util.spec_from_file_location("figures_of_the_docs", DOCS / "figures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_page_and_a_title_of_it(page):
    for target, mark in local(page):
        assert target.exists(), f"{page.name} links to {target}"
        assert not mark or mark in anchors(target), f"{page.name} links to #{mark}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_a_page_names_exists(page):
    homes = (ROOT, ROOT / "src", ROOT / "src" / "neyman", page.parent)
    rooms = ("src", "tests", "docs")
    files = Counter(path.name for room in rooms for path in (ROOT / room).rglob("*.*"))
    for name in set(NAMED.findall(page.read_text(encoding="utf-8"))) - THEIRS:
        if "/" in name:
            assert any((home / name).exists() for home in homes), f"{page.name} names {name}"
        else:
            assert files[name] == 1 or (ROOT / name).exists(), f"{page.name} names {name}: which?"


def test_every_page_that_the_source_names_exists():
    for path in (ROOT / "src").rglob("*.py"):
        for name in OF_DOCS.findall(path.read_text(encoding="utf-8")):
            assert (ROOT / name).exists(), f"{path.name} names {name}"


def test_every_page_of_the_theory_can_be_reached_from_its_contents():
    seen, ahead = set(), {DOCS / "theory.md"}
    while ahead:
        page = ahead.pop()
        seen.add(page)
        ahead |= {to for to, _ in local(page) if to.suffix == ".md" and DOCS in to.parents} - seen
    assert set((DOCS / "theory").glob("*.md")) <= seen


def test_the_chapters_are_in_order_lead_to_the_next_and_end_with_their_sources():
    contents = [to.stem for to, _ in local(DOCS / "theory.md")]
    assert contents[: len(CHAPTERS)] == CHAPTERS
    for i, name in enumerate(CHAPTERS):
        page = DOCS / "theory" / f"{name}.md"
        text = page.read_text(encoding="utf-8")
        assert text.startswith(f"# {i + 1}. "), name
        assert text.count("\n## Sources\n") == 1, name
        body, sources = text.split("\n## Sources\n")
        assert all(line.startswith(("* ", "  ")) for line in sources.strip().splitlines()), name
        assert ">>>" in body, name
        if i + 1 < len(CHAPTERS):
            assert re.search(rf"Next:\s+\[[^\]]+\]\({CHAPTERS[i + 1]}\.md\)", body), name


def test_every_image_that_is_shown_is_there_small_and_every_image_is_shown():
    there = [*IMAGES.iterdir(), *GALLERY.glob("*.png")]
    assert shown() == {path.name for path in there}
    assert {path.name for path in there if path.stat().st_size > LARGEST} == set()


def test_every_image_is_drawn_by_the_figures(figures):
    drawn = {f"{name}.png" for name in figures.FIGURES}
    assert drawn | BY_HAND == {path.name for path in IMAGES.iterdir()}


def test_the_same_figure_gives_the_same_bytes(figures, tmp_path):
    first, second = tmp_path / "first.png", tmp_path / "second.png"
    for path in (first, second):
        figures.draw("privacy_loss", path)
    assert first.read_bytes() == second.read_bytes()
    assert first.read_bytes().startswith(b"\x89PNG")


# The best conversion from one order is sought at each order: that takes ten seconds.
SLOW = {"conversions"}


@pytest.mark.parametrize("slow", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_every_figure_has_titles_and_words_beside_its_lines(figures, slow):
    # What a function of the library draws of any curve has a legend: it knows no names.
    for name in SLOW if slow else figures.FIGURES.keys() - SLOW - {"laplace_loss", "audited"}:
        for axes in figures.FIGURES[name]().axes:
            assert axes.get_xlabel(), name
            assert axes.get_ylabel(), name
            assert axes.texts, name
            assert axes.get_legend() is None, name


ROOMS = [
    "",
    "accounting",
    "curves",
    "functional",
    "mechanisms",
    "plots",
    "publish",
    "report",
    "training",
    "opacus",
    "audit",
]


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_is_in_the_interface(room):
    names = import_module(f"neyman.{room}".rstrip(".")).__all__
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    said = set(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", page))
    assert [name for name in names if name not in said] == []
    assert "no_such_name" not in said
