"""Tests carry the ids of the rows that they show, and `--shows` runs those of one row."""

from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]
# So written that no mark of this file is read.
MARKED = """
@mark.shows("S1.1", "page")
@pytest.mark.parametrize("x", [1])
def test_one(x):
    pass


class TestAll:
    @mark.shows(
        "S1.1",
    )
    def test_two(self):
        pass
""".replace("@mark", "@pytest.mark")


def test_marks_are_read_from_the_tests_that_carry_them(generated):
    assert generated.marks(MARKED) == [("test_one", ["S1.1", "page"]), ("test_two", ["S1.1"])]


def test_a_mark_on_what_is_no_test_is_found(generated):
    with pytest.raises(AssertionError, match="one is no test"):
        generated.marks(MARKED.replace("test_one", "one"))


def test_every_mark_is_read(generated):
    for path in set((ROOT / "tests").rglob("test_*.py")) - {Path(__file__)}:
        text = path.read_text(encoding="utf-8")
        assert text.count("mark.shows") == len(generated.marks(text)), path


class Item:
    """A test, with the marks of it."""

    nodeid = "tests/laws/test_shape.py::test_one"

    def __init__(self, *rows):
        self.marks = [pytest.mark.shows(*rows).mark] if rows else []

    def iter_markers(self, name):
        return [mark for mark in self.marks if mark.name == name]


@pytest.mark.parametrize(("row", "kept"), [("S1.1", [0, 1]), ("S1", []), (None, [0, 1, 2, 3])])
def test_the_tests_of_a_row_can_be_run_alone(pytestconfig, row, kept):
    every = [Item("S1.1"), Item("page", "S1.1"), Item("S1.12"), Item()]
    items, dropped = every.copy(), {}
    hook = SimpleNamespace(pytest_deselected=dropped.update)
    config = SimpleNamespace(option=SimpleNamespace(shows=row), hook=hook)
    plugin = pytestconfig.pluginmanager.get_plugin(str(ROOT / "tests" / "conftest.py"))
    plugin.pytest_collection_modifyitems(config, items)
    assert items == [every[place] for place in kept]
    assert set(dropped.get("items", ())) == set(every) - set(items)
