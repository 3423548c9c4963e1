"""`neyman doctor`: mistakes of a training that its run record shows."""

import argparse

from neyman.cli._numbers import chance
from neyman.cli._say import say, say_json
from neyman.training import RunRecord, doctor

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Print the findings; return 1 if there are any."""
    delta = None if options.delta is None else chance(options.delta, "--delta")
    findings = doctor(RunRecord.read(options.path), delta=delta)
    if options.json:
        say_json(
            {
                "format": "neyman.doctor",
                "version": 1,
                "findings": [finding.to_json() for finding in findings],
            }
        )
    else:
        nothing = f"{options.path}: the record shows no mistake"
        say(str(findings) or nothing)
    return 1 if findings else 0
