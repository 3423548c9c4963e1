"""Notebooks that are examples run from top to bottom."""

import re
import subprocess
import sys
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


@pytest.mark.soak
def test_audits_of_the_digits_refute_the_planted_faults():
    script = [sys.executable, str(EXAMPLES / "digits" / "audit.py")]
    said = subprocess.run(script, capture_output=True, text=True, timeout=600, check=True).stdout
    rows = {
        name: re.search(rf"^{re.escape(name)} .*$", said, re.MULTILINE)[0]
        for name in ("correct", "noise x 0.8", "noise x 0.5", "shuffled")
    }
    # Halved noise has a chance below 10^-9 to stand, 0.8 of it one below 1 in 1,000.
    assert "refuted" in rows["noise x 0.5"]
    assert "refuted" in rows["noise x 0.8"]
    assert rows["shuffled"].endswith("shuffled_batches")
    assert rows["correct"].endswith("-")
    published = re.search(r"published before the training: (\w{64})", said)[1]
    assert f"those of the commitment {published}" in said
