"""Builds the site: `make site`. All of it is in build/site, and needs no network.

Pages are laid out as they lie in the clone, so that a link between two of them is one link in both.
"""

import shutil
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from sphinx.cmd.build import main

import neyman
from neyman.cli._commands import parser_of_all

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGES, SITE = ROOT / "build/pages", ROOT / "build/site"
SHOWN = (
    "*.md",
    "docs/**/*.md",
    "docs/**/*.png",
    "docs/**/*.svg",
    "docs/*.json",
    "docs/gallery/*.py",
    "benchmarks/results/*.md",
)
ROOMS = (
    "neyman.curves",
    "neyman.accounting",
    "neyman.mechanisms",
    "neyman.tables",
    "neyman.publish",
    "neyman.session",
    "neyman.functional",
    "neyman.ledger",
    "neyman.training",
    "neyman.opacus",
    "neyman.dp_accounting",
    "neyman.audit",
    "neyman.released",
    "neyman.report",
    "neyman.plots",
    "neyman.errors",
    "neyman.testing",
)


def lay_out() -> None:
    """Copy the pages, and write those that are made from the code."""
    shutil.rmtree(PAGES, ignore_errors=True)
    for pattern in SHOWN:
        for page in ROOT.glob(pattern):
            place = PAGES / page.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(page, place)
    shutil.copy(HERE / "index.md", PAGES / "index.md")
    (PAGES / "docs/site/index.md").unlink()
    reference = PAGES / "reference"
    reference.mkdir()
    for room in ROOMS:
        (reference / f"{room}.md").write_text("".join(_of_room(room)), encoding="utf-8")
    (reference / "index.md").write_text("".join(_of_root()), encoding="utf-8")
    (reference / "command_line.md").write_text("".join(_of_commands()), encoding="utf-8")


def _of_room(room: str) -> Iterator[str]:
    """Yield the page of a room: what its docstring says, and every public name."""
    module = import_module(room)
    yield f"# {room}\n\n```{{eval-rst}}\n.. automodule:: {room}\n   :no-members:\n\n"
    for name in module.__all__:
        found = getattr(module, name)
        # A constant, or another library's type, has no docstring of its own.
        kind = "autoclass" if isinstance(found, type) else "autofunction"
        ours = callable(found) and found.__module__.startswith("neyman")
        yield f".. {kind if ours else 'py:data'}:: {room}.{name}\n"
    yield "```\n"


def _of_root() -> Iterator[str]:
    """Yield the page of the names that `import neyman as ny` has at once."""
    yield "# Reference\n\n`import neyman as ny` has these names; the rooms below have all.\n\n"
    yield "| name | room |\n|---|---|\n"
    for name in neyman.__all__:
        found = getattr(neyman, name)
        room = next(
            (one for one in ROOMS if getattr(import_module(one), name, None) is found), None
        )
        if room is not None:
            yield f"| `ny.{name}` | [{room}]({room}.md) |\n"
    listed = "\n".join(["command_line", *ROOMS])
    yield f"\n```{{toctree}}\n{listed}\n```\n"


def _of_commands() -> Iterator[str]:
    """Yield the page of the command line, as `--help` says it."""
    yield "# The command line\n\n"
    for words, parser in parser_of_all().walk():
        yield f"## {' '.join(words)}\n\n```text\n{parser.format_help()}```\n\n"


if __name__ == "__main__":
    lay_out()
    options = ["-q", "-W", "--keep-going", "-b", "html", "-c", str(HERE)]
    sys.exit(main([*options, *sys.argv[1:], str(PAGES), str(SITE)]))
