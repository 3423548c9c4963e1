"""`neyman release`."""

import argparse
import sys
from collections.abc import Callable, Set
from pathlib import Path

from neyman.cli._after import after_the_answer
from neyman.cli._answers import text_of_all
from neyman.cli._numbers import WrongUsage, number, whole
from neyman.cli._output import check_output, give, give_csv, give_json
from neyman.cli._price import price
from neyman.cli._say import say, say_json
from neyman.files import check_page, write_text
from neyman.publish import Plan, Publication, Spec, plan, publish, read_spec, read_spec_file
from neyman.report import csv_of, records_of

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Publish what a spec asks for."""
    _check_together(options)
    spec, folder, files = spec_of(options)
    prepared = plan(spec, folder)
    if options.preview:
        return _foresee(prepared, options)
    if options.dry_run:
        return price(prepared)
    inputs = {*files, *prepared.files, *prepared.ledger.files}
    check_output(options, inputs, {step.entry for step in prepared.steps[:1]})
    write = None
    if options.report is not None:
        pages = inputs if options.output is None else {*inputs, options.output}
        write = _reporter(options.report, pages, options.language)
    publication = publish(prepared)
    # What was charged is shown before anything else is tried with it.
    _show(publication, options)
    if write is not None:
        with after_the_answer(f"the page {options.report}"):
            write(publication)
    return 0


def _check_together(options: argparse.Namespace) -> None:
    """Refuse options of a preview without one, and the other way round."""
    if (options.records or options.sql or options.like or options.spread) and not options.preview:
        raise WrongUsage("--records, --like, --spread and --sql go with --preview")
    if options.language is not None and options.report is None:
        raise WrongUsage("--language is of the page, and goes with --report")
    if (options.preview or options.dry_run) and (options.output or options.csv or options.report):
        raise WrongUsage(
            "-o, --csv and --report are of answers, and nothing is released; leave them out, or "
            "leave out --preview and --dry-run"
        )


def spec_of(options: argparse.Namespace) -> tuple[Spec, Path, set[Path]]:
    """Return the spec, the folder that its paths are relative to, and the file it was read from."""
    if options.spec == "-":
        return read_spec_file(sys.stdin.buffer, "-"), options.folder or Path.cwd(), set()
    path = Path(options.spec)
    return read_spec(path), options.folder or path.resolve().parent, {path}


def _show(publication: Publication, options: argparse.Namespace) -> None:
    if options.json:
        give_json(options, records_of(publication))
    elif options.csv:
        releases = dict(zip(publication.names, publication.releases, strict=True))
        give_csv(options, csv_of(releases))
    else:
        give(options, text_of_all(publication))


def _foresee(prepared: Plan, options: argparse.Namespace) -> int:
    """Print what the release would cost and look like; return 0 if the ledger can pay it."""
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
    """Return what writes the report; whatever stands in its way is found before the charge."""
    # Imported now, so that a missing extra is told before anything is charged.
    from neyman.session import page_of

    check_page("--report", path, inputs)

    def write(publication: Publication) -> None:
        write_text(path, page_of(publication.in_language(language)))

    return write
