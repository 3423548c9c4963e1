"""The form of the package: one protocol of a generator, docstrings in words."""

import ast
import inspect
import re
import typing
from pathlib import Path

from neyman import functional

FILES = sorted(Path(inspect.getfile(functional)).parent.rglob("*.py"))
NODES = [node for file in FILES for node in ast.walk(ast.parse(file.read_text("utf-8")))]


def test_all_that_draws_takes_the_same_generator():
    for draws in (
        functional.simulate_grid,
        functional.ProperDensity.rvs,
        functional.SurvivalCurve.band,
    ):
        assert typing.get_type_hints(draws)["generator"] is functional.Generator


def test_docstrings_are_words():
    described = [node for node in NODES if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    assert len(described) > 400
    texts = [ast.get_docstring(node) or "" for node in described]
    assert not [text for text in texts if re.match(r"[A-Z](\.$| = )|\d\.$", text)]
