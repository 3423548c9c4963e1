"""`neyman schema`."""

import argparse
import json

from neyman.publish import json_schema

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:  # noqa: ARG001
    """Print the JSON schema of a spec."""
    print(json.dumps(json_schema(), indent=1))
    return 0
