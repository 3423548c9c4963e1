"""A file fits a few screens and a function one: what grows beyond that is more than one idea."""

import ast
from pathlib import Path

import neyman

SOURCE = Path(neyman.__file__).parent
LONGEST_FILE, LONGEST_FUNCTION = 600, 50


def lines_of(function: ast.FunctionDef) -> int:
    """Lines from def on; the docstring does not count."""
    first, whole = function.body[0], function.end_lineno - function.lineno + 1
    described = ast.get_docstring(function) is not None
    return whole - (first.end_lineno - first.lineno + 1 if described else 0)


def test_no_file_is_long():
    lines = {path: len(path.read_text("utf-8").splitlines()) for path in SOURCE.rglob("*.py")}
    assert {path.name: long for path, long in lines.items() if long > LONGEST_FILE} == {}


def test_no_function_is_long():
    lines = {
        f"{path.relative_to(SOURCE)}: {node.name}": lines_of(node)
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
    }
    assert len(lines) > 3000
    assert {name: long for name, long in lines.items() if long > LONGEST_FUNCTION} == {}
