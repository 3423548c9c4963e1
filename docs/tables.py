"""Writes docs/checklist.md and docs/features.md from docs/tables.toml; `make docs` runs it.

Whether a feature works is not written down: it does if a test carries its id.
"""

import ast
import tomllib
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache
from pathlib import Path

DOCS = Path(__file__).parent
TESTS = DOCS.parent / "tests"
Row = Mapping[str, str | list[str]]

BEGIN, END = "<!-- rows, by docs/tables.py -->\n", "<!-- end of rows -->\n"


def rows(kind: str) -> list[Row]:
    """Return the rows of one kind: "theory", "mistake" or "feature"."""
    return tomllib.loads((DOCS / "tables.toml").read_text(encoding="utf-8"))[kind]


def marks(text: str) -> list[tuple[str, list[str]]]:
    """Return the functions of a test file that carry ids of rows, with these ids."""
    found = []
    # Most files have no mark, and parsing takes long.
    for node in ast.walk(ast.parse(text if "shows(" in text else "")):
        if isinstance(node, ast.FunctionDef):
            for call in node.decorator_list:
                if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.shows":
                    ids = [ast.literal_eval(each) for each in call.args]
                    assert node.name.startswith("test_"), f"{node.name} is no test; it shows {ids}"
                    found.append((node.name, ids))
    return sorted(found)


@cache
def shown() -> frozenset[str]:
    """Return the ids that tests carry."""
    texts = (path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py"))
    every = (mark for text in texts for mark in marks(text))
    return frozenset(row for _, ids in every for row in ids)


def state(row: Row, ids: Set[str]) -> str:
    """Return whether a feature works: yes; partly or no, with what there is instead."""
    if "lacks" not in row:
        return "yes"
    return f"{'partly' if row['id'] in ids else 'no'}: {row['lacks']}"


def table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    rule = "|---" * len(heads) + "|\n"
    head, *rest = (f"| {' | '.join(cells)} |\n" for cells in [heads, *lines])
    return "".join([head, rule, *rest])


def calls(row: Row) -> str:
    """Return the calls of a row, each as code."""
    return ", ".join(f"`ny.{name}`" for name in row["calls"])


def checklist() -> str:
    """Return the rows of the theory."""
    items, mistakes = rows("theory"), rows("mistake")
    found = [(row["says"], calls(row), row["id"]) for row in items]
    wrong = [(row["wrong"], row["right"], calls(row), row["id"]) for row in mistakes]
    return "\n".join(
        [
            f"## {len(items)} items\n",
            table(("the theory", "call", "id"), found),
            "## What is often written, and wrong\n",
            "Mistakes that papers, lecture notes and popular texts on these subjects repeat.\n",
            table(("the mistake", "here", "call", "id"), wrong),
        ]
    )


def features(ids: Set[str]) -> str:
    """Return the rows of features, of which tests show those with these ids."""
    every = rows("feature")
    states = [state(row, ids).partition(":")[0] for row in every]
    yes, partly, no = map(states.count, ("yes", "partly", "no"))
    groups = {row["group"]: [] for row in every}
    for row in every:
        groups[row["group"]].append((row["says"], state(row, ids), row["id"]))
    parts = [f"**{yes} of {len(every)} features work; {partly} work in part, {no} do not.**\n"]
    for name, part in groups.items():
        parts += [f"## {name}\n", table(("feature", "works", "id"), part)]
    return "\n".join(parts)


def page_text(page: str, text: str) -> str:
    """Return a page with the text between its marks written anew."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


def written() -> Iterator[tuple[Path, str]]:
    """Yield every page with what it should say."""
    for name, text in {"checklist": checklist(), "features": features(shown())}.items():
        path = DOCS / f"{name}.md"
        yield path, page_text(path.read_text(encoding="utf-8"), text)


if __name__ == "__main__":
    for path, text in written():
        path.write_text(text, encoding="utf-8")
