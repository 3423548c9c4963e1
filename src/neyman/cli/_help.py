"""`neyman` and `neyman --version`."""

import argparse
from importlib.metadata import version

from neyman.cli._say import say

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Print the version, or how to use the command."""
    if options.version:
        say(f"neyman {version('neyman')}")
        return 0
    options.parser.print_help()
    return 2
