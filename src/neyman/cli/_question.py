"""`neyman count`, `mean` and `quantiles`."""

import argparse

from neyman.cli._output import check_output, print_csv, print_json, print_text, release_text
from neyman.cli._question_options import Request, read_request
from neyman.cli._say import say, say_json
from neyman.publish import Preview, publish
from neyman.report import csv_of, recorded

__all__ = ["print_preview", "run"]


def run(options: argparse.Namespace) -> int:
    """Release the answer to one question about one table."""
    request = read_request(options, options.parser.prog.split()[-1])
    if options.preview:
        return print_preview(request, options)
    plan = request.require_plan()
    check_output(options, request.files, {options.id})
    (release,) = publish(plan).releases
    if options.json:
        print_json(options, recorded(options.id, release))
    elif options.csv:
        print_csv(options, csv_of({options.id: release}))
    else:
        print_text(options, release_text(options.id, release))
    return 0


def print_preview(request: Request, options: argparse.Namespace) -> int:
    """Print the price and the noise; return 1 if the ledger cannot pay, else 0."""
    found = request.preview()
    if options.json:
        say_json(found.to_json())
    else:
        say(found)
    return 0 if isinstance(found, Preview) or found.bill.fits else 1
