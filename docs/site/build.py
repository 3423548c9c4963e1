"""Builds the site: `make site`. All of it is in build/site, and needs no network.

Pages are laid out as they lie in the clone, so that a link between two of them is one link in both.
"""

import json
import re
import shutil
import sys
from pathlib import Path

from check import WANTED, faults
from reference import write_reference
from sphinx.cmd.build import main

from neyman.explorer import explorer_html

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
FRESH, PAGES, SITE = ROOT / "build/fresh", ROOT / "build/pages", ROOT / "build/site"
SHOWN = (
    "*.md",
    "docs/**/*.md",
    "docs/**/*.png",
    "docs/**/*.svg",
    "docs/*.json",
    "docs/gallery/*.py",
    "benchmarks/results/*.md",
)
NOTEBOOKS = ROOT / "build/notebooks"
# Pages that list others: those come below them, in the order in which they are linked.
LISTS = (
    "docs/notebooks/README.md",
    "docs/theory.md",
    "docs/decisions/README.md",
    "benchmarks/results/README.md",
)
EXPLORER = """
```{raw} html
<p><a href="../../explorer.html">Open the explorer of this site</a></p>
```
"""
_LINK = re.compile(r"\]\(([\w/.-]+)\.(?:md|ipynb)\)")
_NOTEBOOK = re.compile(r"\((\w+)\.py\)")


def lay_out() -> None:
    """Copy the pages and the notebooks, and write those that are made from the code."""
    shutil.rmtree(FRESH, ignore_errors=True)
    for pattern in SHOWN:
        for page in ROOT.glob(pattern):
            place = FRESH / page.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(page, place)
    (FRESH / "docs/site/index.md").unlink()
    _lay_out_notebooks()
    for page in LISTS:
        _list_below(FRESH / page)
    shutil.copy(HERE / "index.md", FRESH / "index.md")
    with (FRESH / "docs/howto/explorer.md").open("a", encoding="utf-8") as page:
        page.write(EXPLORER)
    write_reference(FRESH / "reference")
    for words, page in WANTED.items():
        _index(FRESH / f"{page}.md", words)
    _bring_up_to_date()


def _bring_up_to_date() -> None:
    """Change in PAGES only what differs, so that a second build reads only that."""
    for page in [page for page in PAGES.rglob("*") if page.is_file()]:
        if not (FRESH / page.relative_to(PAGES)).exists():
            page.unlink()
    for page in [page for page in FRESH.rglob("*") if page.is_file()]:
        place = PAGES / page.relative_to(FRESH)
        if not place.exists() or place.read_bytes() != page.read_bytes():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(page, place)
    shutil.rmtree(FRESH)


def _lay_out_notebooks() -> None:
    """Copy the notebooks with what they show; links between them lead to these."""
    folder = FRESH / "docs/notebooks"
    page = folder / "README.md"
    names = _NOTEBOOK.findall(page.read_text(encoding="utf-8"))
    if missing := [name for name in names if not (NOTEBOOKS / f"{name}.ipynb").exists()]:
        raise SystemExit(f"{', '.join(missing)} not run yet; write make notebooks")
    page.write_text(_to_notebooks(page.read_text(encoding="utf-8")), encoding="utf-8")
    for name in names:
        notebook = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = _to_notebooks("".join(cell["source"]))
        (folder / f"{name}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")


def _to_notebooks(text: str) -> str:
    return _NOTEBOOK.sub(r"(\1.ipynb)", text)


def _index(page: Path, words: str) -> None:
    """Have the search find a page first, where it is no notebook: those have it in their title."""
    if page.exists():
        text = page.read_text(encoding="utf-8")
        page.write_text(f"```{{index}} ! {words}\n```\n\n{text}", encoding="utf-8")


def _list_below(page: Path) -> None:
    """Put the pages of a folder below the page that lists them, in its order."""
    text = page.read_text(encoding="utf-8")
    folder = page.parent if page.stem == "README" else page.with_suffix("")
    links = [link for link in _LINK.findall(text) if (page.parent / link).parent == folder]
    listed = "\n".join(dict.fromkeys(links))
    page.write_text(f"{text}\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n", encoding="utf-8")


if __name__ == "__main__":
    lay_out()
    # Only what changed is read, and all is written: else the search forgets what was not.
    options = ["-q", "-W", "--keep-going", "-a", "-b", "html", "-c", str(HERE)]
    if status := main([*options, *sys.argv[1:], str(PAGES), str(SITE)]):
        sys.exit(status)
    (SITE / "explorer.html").write_text(explorer_html(), encoding="utf-8")
    sys.exit("\n".join(faults(SITE)) or 0)
