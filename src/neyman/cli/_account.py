"""`neyman account`."""

import argparse

from neyman.cli._numbers import WrongUsage, as_usage, number
from neyman.cli._phases import phases_of
from neyman.cli._say import say, say_json
from neyman.cli._statement import USUAL_RATES, Statement
from neyman.curves import compose

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Print what a training costs."""
    with as_usage():
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    phases = phases_of(options)
    delta = number(options.delta, "--delta")
    if not 0 <= delta < 1:
        raise WrongUsage(f"--delta {options.delta} was given; write a number in [0, 1)")
    rates = tuple(number(rate, "--fpr") for rate in options.fpr or ()) or USUAL_RATES
    if not all(0 < rate < 1 for rate in rates):
        raise WrongUsage("--fpr was given outside (0, 1); write a rate such as 0.01")
    curve = compose(*(phase.curve for phase in phases))
    statement = Statement(phases, curve, delta, rates)
    if options.json:
        record = {"format": "neyman.account", "version": 1, **statement.to_json()}
        say_json(record)
    else:
        say(statement)
    return 0
