"""`neyman release`."""

import argparse
import sys
from collections.abc import Callable, Set
from fractions import Fraction
from pathlib import Path

from neyman.accounting import Amount
from neyman.cli._numbers import number, whole
from neyman.cli._output import (
    check_output,
    print_csv,
    print_json,
    print_text,
    protecting_answer,
    publication_text,
)
from neyman.cli._parser import WrongUsage
from neyman.cli._say import say, say_json
from neyman.files import check_page, write_text
from neyman.numerics import at_least, at_most
from neyman.printable import printable
from neyman.publish import (
    Bill,
    Plan,
    Publication,
    Spec,
    bill,
    plan,
    publish,
    read_spec,
    read_spec_file,
)
from neyman.report import csv_of, records_of

__all__ = ["run"]

_FREE = "   stored, free"


def run(options: argparse.Namespace) -> int:
    """Publish what a spec asks for."""
    _check_together(options)
    spec, folder, files = spec_of(options)
    prepared = plan(spec, folder)
    if options.preview:
        return _preview(prepared, options)
    if options.dry_run:
        return _price(prepared)
    inputs = {*files, *prepared.files, *prepared.ledger.files}
    check_output(options, inputs, {step.entry for step in prepared.steps[:1]})
    write = None
    if options.report is not None:
        pages = inputs if options.output is None else {*inputs, options.output}
        write = _reporter(options.report, pages, options.language)
    publication = publish(prepared)
    _print(publication, options)
    if write is not None:
        with protecting_answer(f"the page {options.report}"):
            write(publication)
    return 0


def _check_together(options: argparse.Namespace) -> None:
    """Refuse options that contradict each other."""
    if (options.records or options.sql or options.like or options.spread) and not options.preview:
        raise WrongUsage(
            "--records, --like, --spread and --sql need --preview; it was not given. Write "
            "--preview"
        )
    if options.language is not None and options.report is None:
        raise WrongUsage("--language needs --report; it was not given. Write --report FILE.html")
    if (options.preview or options.dry_run) and (options.output or options.csv or options.report):
        raise WrongUsage(
            "-o, --csv and --report write answers, and --preview and --dry-run release none; "
            "leave out one or the other"
        )


def spec_of(options: argparse.Namespace) -> tuple[Spec, Path, set[Path]]:
    """Return the spec, the folder of its relative paths, and the files it was read from."""
    if options.spec == "-":
        return read_spec_file(sys.stdin.buffer, "-"), options.folder or Path.cwd(), set()
    path = Path(options.spec)
    return read_spec(path), options.folder or path.resolve().parent, {path}


def _print(publication: Publication, options: argparse.Namespace) -> None:
    if options.json:
        print_json(options, records_of(publication))
    elif options.csv:
        releases = dict(zip(publication.names, publication.releases, strict=True))
        print_csv(options, csv_of(releases))
    else:
        print_text(options, publication_text(publication))


def _preview(prepared: Plan, options: argparse.Namespace) -> int:
    """Print the price and the noise of every query; return 0 if the ledger can pay, else 1."""
    sizes = [whole(given, "--records") for given in options.records or ()]
    spread = {
        column: (number(mean, "--spread"), number(sd, "--spread"))
        for column, mean, sd in options.spread or ()
    }
    found = prepared.preview(records=sizes or None, like=options.like, spread=spread)
    if options.json:
        say_json(found.to_json())
    else:
        say(found.to_text(sql=options.sql))
    return 0 if found.bill.fits else 1


def _reporter(path: Path, inputs: Set[Path], language: str | None) -> Callable[[Publication], None]:
    """Return a function that writes the report; its path is checked before anything is charged."""
    # Imported now, so that a missing extra is found before anything is charged.
    from neyman.session import page_of

    check_page("--report", path, inputs)

    def write(publication: Publication) -> None:
        write_text(path, page_of(publication.in_language(language)))

    return write


def _price(prepared: Plan) -> int:
    """Print what each query would cost now; return 0 if the ledger can pay it all, else 1."""
    found = bill(prepared)
    say(f"cap {prepared.cap}, unit {printable(prepared.unit)} ({prepared.neighbors})")
    for charge, cost in zip(prepared.charges, found.costs, strict=True):
        share = _FREE if cost is None else _percent(cost, found)
        together = printable(", ".join(step.entry for step in charge.steps))
        entry = printable(charge.entry)
        named = f"{entry}: {together}, together" if charge.batched else entry
        say(f"{share}  {charge.curve!s:24}  {named}")
    say(f"{_percent(found.due, found)}  to pay, of the budget")
    left = _share_text(at_least, found.remaining, found)
    verdict = "fits" if found.fits else "does not fit, and would be refused"
    say(f"{left}  remain in the ledger now: the plan {verdict}")
    return 0 if found.fits else 1


def _percent(amount: Amount, found: Bill) -> str:
    return _share_text(at_most, amount, found)


def _share_text(rounded: Callable[[Fraction, int], str], amount: Amount, found: Bill) -> str:
    """Return an amount in per cent of the budget, and of the delta that was set aside."""
    percent = f"{rounded(100 * amount.cost / found.capacity.cost, 6):>13} %"
    if not found.capacity.delta:
        return percent
    return f"{percent} {rounded(100 * amount.delta / found.capacity.delta, 6):>13} % of delta"
