"""Tables of the docs: the module that writes them, and whether the names in them exist."""

import importlib.util
import pkgutil
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
CALL = re.compile(r"`ny\.([\w.]+)")


class Tables:
    """What a page of tables names, and what is wrong with it."""

    @staticmethod
    def text(page):
        return (DOCS / page).read_text(encoding="utf-8")

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


@pytest.fixture(scope="session")
def tables():
    return Tables()


@pytest.fixture(scope="session")
def generated():
    """Return the module that writes the checklist and the features."""
    spec = importlib.util.spec_from_file_location("tables_of_the_docs", DOCS / "tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def shown(generated):
    """Return the ids of the rows that tests say to show."""
    return generated.shown()
