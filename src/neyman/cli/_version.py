"""`neyman version`."""

import argparse
from importlib.metadata import version

from neyman.cli._say import say

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:  # noqa: ARG001
    """Print the version."""
    say(f"neyman {version('neyman')}")
    return 0
