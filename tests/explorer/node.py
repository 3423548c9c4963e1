"""The arithmetic of the page, run by node without a browser."""

import json
import shutil
import subprocess
from collections.abc import Sequence

import pytest

from neyman.explorer._page import ARITHMETIC, script_of

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="no node is installed")

# JSON has no infinity.
_PRINT = "process.stdout.write(JSON.stringify(answer, (k, v) => v === Infinity ? 'inf' : v))"


def answers(function: str, cases: Sequence[object]) -> list:
    """Return what a function of JavaScript says of each case."""
    code = (
        script_of(ARITHMETIC)
        + "\nconst cases = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));"
        + f"\nconst answer = cases.map({function});\n{_PRINT}"
    )
    assert NODE is not None
    done = subprocess.run(
        [NODE, "-e", code], input=json.dumps(cases), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return _numbers(json.loads(done.stdout))


def _numbers(found):
    if isinstance(found, list):
        return [_numbers(one) for one in found]
    return float("inf") if found == "inf" else found
