"""Notebooks that are examples run from top to bottom."""

from pathlib import Path

import nbclient
import nbformat
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.soak
def test_the_digits_are_trained_from_a_plan_to_a_model_card():
    notebook = nbformat.read(EXAMPLES / "digits" / "train.ipynb", as_version=4)
    assert all(not cell.outputs for cell in notebook.cells if cell.cell_type == "code")
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    texts = [
        output.get("text", "")
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
    ]
    said = "\n".join(texts)
    assert "420 updates, accuracy" in said
    assert "steps 420" in said
    assert "## Privacy" in said
