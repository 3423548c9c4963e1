"""Writes the pages of the reference from the code: rooms, the command line, keys of a spec."""

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import neyman
from neyman.cli._commands import parser_of_all

sys.path.insert(0, str(Path(__file__).parents[1]))
from spec_keys import keys_text

__all__ = ["write_reference"]

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
    "neyman.explorer",
    "neyman.plots",
    "neyman.errors",
    "neyman.testing",
)


def write_reference(folder: Path) -> None:
    """Write all pages."""
    folder.mkdir()
    pages = {"index": _of_root(), "command_line": _of_commands(), "spec_keys": _of_keys()}
    for name, text in (pages | {room: _of_room(room) for room in ROOMS}).items():
        (folder / f"{name}.md").write_text("".join(text), encoding="utf-8")


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
    yield "# Reference\n\n"
    yield "[The command line](command_line.md), and [the keys of a spec](spec_keys.md).\n\n"
    yield "`import neyman as ny` has these names. The packages on the right have all others.\n\n"
    yield "| name | package |\n|---|---|\n"
    for name in neyman.__all__:
        found = getattr(neyman, name)
        room = next(
            (one for one in ROOMS if getattr(import_module(one), name, None) is found), None
        )
        if room is not None:
            yield f"| {{py:obj}}`ny.{name} <{room}.{name}>` | [{room}]({room}.md) |\n"
    listed = "\n".join(["command_line", "spec_keys", *ROOMS])
    yield f"\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n"


def _of_commands() -> Iterator[str]:
    """Yield the page of the command line, as `--help` says it."""
    yield "# The command line\n\n"
    for words, parser in parser_of_all().walk():
        yield f"## {' '.join(('neyman', *words))}\n\n```text\n{parser.format_help()}```\n\n"


def _of_keys() -> Iterator[str]:
    """Yield the page of every key of a spec, from its schema."""
    yield "# Keys of a spec\n\n[How to write a spec](../docs/howto/spec.md) explains them. "
    yield "This page is made from the schema, which `neyman schema` prints.\n"
    yield keys_text().replace("\n### ", "\n## ")
