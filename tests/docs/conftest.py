"""Tables of the docs: whether the names in them exist, and which tests show their rows."""

import pkgutil
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CALL = re.compile(r"`ny\.([\w.]+)")
MARK = re.compile(r"^ *@pytest\.mark\.shows\(([^)]*)\)$(.*?)^ *def (\w+)", re.MULTILINE | re.DOTALL)


class Tables:
    """What a page of tables names, and what is wrong with it."""

    @staticmethod
    def text(page):
        return (ROOT / "docs" / page).read_text(encoding="utf-8")

    def rows(self, page, first):
        """Return the rows of every table whose first heading is `first`, as dicts."""
        found, heads = [], None
        for line in self.text(page).splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if not line.startswith("|"):
                heads = None
            elif heads is None:
                heads = cells
            elif heads[0] == first and set(line) - set("|-: "):
                assert len(cells) == len(heads), line
                found.append(dict(zip(heads, cells, strict=True)))
        return found

    @staticmethod
    def missing_calls(text):
        """Return the calls in a cell that are not there; all of it, if it names none."""
        calls = CALL.findall(text)
        missing = [] if calls else [f"no call in {text!r}"]
        for call in calls:
            try:
                pkgutil.resolve_name(f"neyman.{call}")
            except (AttributeError, ImportError):
                missing.append(call)
            if any(part.startswith("_") for part in call.split(".")):
                missing.append(f"{call} is private")
        return missing

    @staticmethod
    def marks(text):
        """Return the tests of a file that say which rows they show, with the ids of these rows."""
        found = [(name, re.findall(r'"([^"]+)"', ids)) for ids, _, name in MARK.findall(text)]
        for name, ids in found:
            assert name.startswith("test_"), f"{name} is no test; it is marked to show {ids}"
        return found


@pytest.fixture
def tables():
    return Tables()


@pytest.fixture(scope="session")
def shown():
    """Return the ids of the rows that tests say to show."""
    files = (ROOT / "tests").rglob("test_*.py")
    marks = (mark for path in files for mark in Tables.marks(path.read_text(encoding="utf-8")))
    return {row for _, ids in marks for row in ids}
