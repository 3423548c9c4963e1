"""`neyman`, `neyman --version` and `neyman help`."""

import argparse

from neyman.cli import _version
from neyman.cli._parser import Parser, WrongUsage, meant
from neyman.cli._say import say

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Print the version, or how to use a command."""
    if options.version:
        return _version.run(options)
    root: Parser = options.root
    words: list[str] | None = getattr(options, "words", None)
    say(_found(root, words or []).format_help(), end="")
    return 2 if words is None else 0


def _found(parser: Parser, words: list[str]) -> Parser:
    for word in words:
        below = parser.commands
        if word not in below:
            raise WrongUsage(f"no such command {word!r}; {meant(word, list(below))}")
        parser = below[word]
    return parser
