"""`neyman release`."""

import argparse
from collections.abc import Callable, Sequence, Set
from pathlib import Path

from neyman.cli._after import after_the_answer, shown_first
from neyman.cli._numbers import number, whole
from neyman.cli._price import price
from neyman.cli._say import complain, say, say_json
from neyman.printable import printable
from neyman.publish import Plan, Publication, plan, publish, read_spec
from neyman.released import Release, text_of
from neyman.report._files import check_target, is_page, replace_whole

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Publish what a spec asks for."""
    if (options.records or options.sql or options.like or options.spread) and not options.preview:
        said = "--records, --like, --spread and --sql go with --preview"
        complain(f"neyman release: {said}")
        return 2
    prepared = plan(read_spec(options.spec), options.spec.resolve().parent)
    if options.preview:
        return _foresee(prepared, options)
    if options.dry_run:
        return price(prepared)
    write = None
    if options.report is not None:
        write = _reporter(options.report, {options.spec, *prepared.files, *prepared.ledger.files})
    publication = publish(prepared)
    # What was charged is shown before anything else is tried with it.
    with shown_first():
        _show(publication, options)
    if write is not None:
        with after_the_answer(f"the page {options.report}"):
            write(publication)
    return 0


def _show(publication: Publication, options: argparse.Namespace) -> None:
    named = zip(publication.names, publication.releases, strict=True)
    if options.json:
        say_json([_recorded(name, one) for name, one in named])
    else:
        say("\n\n".join(_told(name, one, [*publication.batch_of(one)]) for name, one in named))


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


def _told(name: str, release: Release, batch: Sequence[str]) -> str:
    """Write a release for people; of a function, what is read off it and not its coefficients."""
    from neyman.report import read_off

    if "coefficient" not in release.columns:
        return f"{printable(name)}\n{release.to_text(batch=batch)}"
    read, hidden = read_off(release)
    shown = [] if read is None else [text_of(read)]
    notes = [*hidden, *release.limit_notes(batch)]
    told = [printable(name), *shown, *map(printable, notes), _kept(release)]
    return "\n".join([*told, release.to_text(rows=0)])


def _recorded(name: str, release: Release) -> dict[str, object]:
    """Return a release for programs; of a function, with the groups that its noise hides."""
    from neyman.report import read_off

    record: dict[str, object] = {"name": name, **release.to_json()}
    if "coefficient" in release.columns:
        record["hidden"] = list(read_off(release).hidden)
    return record


def _kept(release: Release) -> str:
    return f"the release itself: {len(release.groups):,} coefficients; --json prints them"


def _reporter(path: Path, inputs: Set[Path]) -> Callable[[Publication], None]:
    """Return what writes the report; whatever stands in its way is found before the charge."""
    # Imported now, so that a missing extra is told before anything is charged.
    from neyman.session._page import page_of

    check_target("--report", path, inputs, "report", is_page)

    def write(publication: Publication) -> None:
        replace_whole(path, lambda file: file.write(page_of(publication).encode()))

    return write
