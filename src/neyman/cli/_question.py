"""`neyman count`, `mean` and `quantiles`."""

import argparse

from neyman.cli._answers import told
from neyman.cli._asked import Asked, asked_of
from neyman.cli._output import check_output, give, give_csv, give_json
from neyman.cli._parser import WrongUsage
from neyman.cli._say import say, say_json
from neyman.publish import Plan, Preview, publish
from neyman.released import Release
from neyman.report import csv_of, recorded

__all__ = ["foresee", "run", "to_release"]


def run(options: argparse.Namespace) -> int:
    """Release the answer to one question of one file."""
    asked = asked_of(options, options.parser.prog.split()[-1])
    if options.preview:
        return foresee(asked, options)
    prepared = to_release(asked)
    check_output(options, asked.files, {options.id})
    (release,) = publish(prepared).releases
    _give(options, release)
    return 0


def to_release(asked: Asked) -> Plan:
    """Return the plan.

    Raises:
        WrongUsage: if no ledger pays.
    """
    if asked.plan is None:
        raise WrongUsage("--ledger PLACE is missing")
    return asked.plan


def foresee(asked: Asked, options: argparse.Namespace) -> int:
    """Print what it would cost and look like; return 0 if the ledger can pay it, or none is."""
    found = asked.preview()
    if options.json:
        say_json(found.to_json())
    else:
        say(found)
    return 0 if isinstance(found, Preview) or found.bill.fits else 1


def _give(options: argparse.Namespace, release: Release) -> None:
    if options.json:
        give_json(options, recorded(options.id, release))
    elif options.csv:
        give_csv(options, csv_of({options.id: release}))
    else:
        give(options, told(options.id, release))
