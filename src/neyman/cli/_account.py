"""`neyman account`."""

import argparse

from neyman.cli._numbers import WrongUsage, as_usage, number
from neyman.cli._phases import phases_of
from neyman.cli._say import complain, say, say_json
from neyman.cli._statement import USUAL_RATES, Statement
from neyman.curves import Auto, compose
from neyman.curves._solvers._solver import using

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
    seconds = float(number(options.seconds, "--seconds"))
    curve = compose(*(phase.curve for phase in phases))
    statement = Statement(phases, curve, delta, rates)
    with using(Auto(seconds=seconds)) as effort:
        said = statement.to_json() if options.json else str(statement)
    if isinstance(said, str):
        say(said)
    else:
        record = {"format": "neyman.account", "version": 1, **said}
        say_json(record)
    if effort.late:
        complain(
            f"The time of {seconds:g} s was up. The bounds hold; a larger --seconds may bring the "
            "two sides closer."
        )
    return 0
