"""`neyman schema`."""

import argparse

from neyman.cli._say import say_json
from neyman.publish import json_schema

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:  # noqa: ARG001
    """Print the JSON schema of a spec."""
    say_json(json_schema())
    return 0
