"""The notebooks of the docs. `make notebooks` runs them all, and looks at what they show."""

import ast
import importlib.util
import re
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

DOCS = Path(__file__).parents[2] / "docs"
LINK = re.compile(r"\]\((\w+)\.py\)")


@pytest.fixture(scope="module")
def runner():
    found = importlib.util.spec_from_file_location("run_notebooks", DOCS / "run_notebooks.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_every_notebook_is_run_and_listed_in_the_same_order(runner):
    assert sorted(path.stem for path in (DOCS / "notebooks").glob("*.py")) == sorted(
        runner.NOTEBOOKS
    )
    page = (DOCS / "notebooks" / "README.md").read_text(encoding="utf-8")
    listed = LINK.findall(page.partition("\nThey are")[0])
    assert tuple(listed) == runner.NOTEBOOKS


def test_a_notebook_says_first_what_one_learns_and_last_what_comes_next(runner):
    for name, after in zip(runner.NOTEBOOKS, (*runner.NOTEBOOKS[1:], None), strict=True):
        cells = runner.read(name).cells
        assert re.match(r"# .+\n\n.+You\slearn ", cells[0].source, re.DOTALL), name
        assert LINK.findall(cells[-1].source) == ([after] if after else []), name
        for cell in cells:
            if cell.cell_type == "code":
                ast.parse(cell.source)


def shows(*outputs):
    return new_notebook(cells=[new_code_cell("", outputs=list(outputs))])


def test_what_is_not_worth_looking_at_is_refused(runner):
    table = new_output("display_data", {"text/html": "<table></table>"})
    picture = new_output("display_data", {"image/png": ""})
    warning = new_output("stream", name="stderr", text="deprecated")
    assert runner.lacking(shows(table, picture)) == ""
    assert runner.lacking(shows(picture)) == "no table"
    assert runner.lacking(shows(table)) == "no picture"
    assert runner.lacking(shows(table, picture, warning)) == "a cell warns: deprecated"


@pytest.mark.soak
def test_the_first_notebook_runs(runner):
    assert runner.lacking(runner.run(runner.NOTEBOOKS[0])) == ""
