"""`neyman`, `neyman --version`, `neyman version` and `neyman help`."""

import argparse
from importlib.metadata import version

from neyman.cli._parser import Parser, WrongUsage, meant
from neyman.cli._say import say

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Print the version, or how to use a command."""
    if options.version:
        say(f"neyman {version('neyman')}")
        return 0
    root: Parser = options.root
    words: list[str] | None = getattr(options, "words", None)
    say(_command(root, words or []).format_help(), end="")
    return 2 if words is None else 0


def _command(parser: Parser, words: list[str]) -> Parser:
    for word in words:
        below = parser.commands
        if word not in below:
            raise WrongUsage(f"{word!r} is not a command; {meant(word, list(below))}")
        parser = below[word]
    return parser
