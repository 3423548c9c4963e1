"""Runs the notebooks of the docs: `make notebooks`, and `make docs` and `make site` run it too.

They are text, docs/notebooks/*.py, and hold no answers. What they show is written to
build/notebooks/*.ipynb, which the site draws. Names on the command line choose among them.
"""

import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import jupytext
import nbclient
from nbformat import NotebookNode

HERE = Path(__file__).parent / "notebooks"
BUILT = Path(__file__).parents[1] / "build/notebooks"
# In the order in which they are read.
NOTEBOOKS = (
    "first_release",
    "year_budget",
    "panel",
    "functions",
    "training",
    "audit",
    "committee",
    "papers",
)


def read(name: str) -> NotebookNode:
    """Return a notebook without answers."""
    return jupytext.read(HERE / f"{name}.py")


def run(name: str) -> NotebookNode:
    """Return a notebook with its answers, run in an empty folder.

    Raises:
        CellExecutionError: if a cell fails.
        SystemExit: if a cell warns, or nothing in it is worth looking at.
    """
    notebook = read(name)
    with TemporaryDirectory() as folder:
        place = {"metadata": {"path": folder}}
        nbclient.NotebookClient(
            notebook, timeout=300, kernel_name="python3", resources=place
        ).execute()
    for cell in _code(notebook):
        cell.outputs = list(_merged(cell.outputs))
        cell.metadata.pop("execution", None)
        for output in cell.outputs:
            if page := output.get("data", {}).get("text/html"):
                output.data["text/html"] = page.replace(f"{folder}/", "")
    if wrong := lacking(notebook):
        raise SystemExit(f"{name}: {wrong}")
    return notebook


def lacking(notebook: NotebookNode) -> str:
    """Say what a notebook that was run lacks; nothing if it is good."""
    outputs = [output for cell in _code(notebook) for output in cell.outputs]
    if said := [output.text for output in outputs if output.get("name") == "stderr"]:
        return f"a cell warns: {said[0]}"
    shown = [output.data for output in outputs if "data" in output]
    if not any("<table" in data.get("text/html", "") for data in shown):
        return "no table"
    if not any("image/png" in data for data in shown):
        return "no picture"
    return ""


def _code(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _merged(outputs: list[NotebookNode]) -> Iterator[NotebookNode]:
    """Yield outputs as a screen shows them: what a line of progress overwrote is gone."""
    printed = None
    for output in outputs:
        if output.output_type != "stream":
            yield output
        elif printed is None or printed.name != output.name:
            printed = output
            yield output
        else:
            printed.text += output.text
    for output in outputs:
        if output.output_type == "stream":
            output.text = re.sub(r"^.*\r(?!\n)", "", output.text, flags=re.MULTILINE)


def main(names: tuple[str, ...]) -> None:
    """Run notebooks, and say how long each took."""
    BUILT.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    for name in names:
        before = time.monotonic()
        jupytext.write(run(name), BUILT / f"{name}.ipynb")
        print(f"{name:15} {time.monotonic() - before:5.1f} s", flush=True)
    print(f"{'all together':15} {time.monotonic() - began:5.1f} s")


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or NOTEBOOKS)
