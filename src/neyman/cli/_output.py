"""Where an answer goes, and what follows it: a failure there never costs the answer."""

import argparse
import os
import sys
from collections.abc import Generator, Sequence, Set
from contextlib import contextmanager, suppress
from pathlib import Path

from neyman.cli._say import say, say_json, text_of_json
from neyman.errors import NeymanError
from neyman.files import check_target, write_text
from neyman.printable import printable
from neyman.publish import Publication
from neyman.released import Release, text_of

__all__ = [
    "NotMade",
    "check_output",
    "print_csv",
    "print_json",
    "print_text",
    "protecting_answer",
    "publication_text",
    "release_text",
]

_LOOKED_AT = 2**16
_SAFE = (
    "The answer is printed above and stored in the ledger. Run the same command again: it is free"
)


class NotMade(NeymanError):
    """The answer is printed and stored, but a picture, page or file of it could not be made."""


def publication_text(publication: Publication) -> str:
    """Return all releases as text."""
    named = zip(publication.names, publication.releases, strict=True)
    return "\n\n".join(release_text(name, one, [*publication.batch_of(one)]) for name, one in named)


def release_text(name: str, release: Release, batch: Sequence[str] = ()) -> str:
    """Return a release as text: of a function its values, and not its coefficients."""
    from neyman.report import read_off

    if "coefficient" not in release.columns:
        return f"{printable(name)}\n{release.to_text(batch=batch)}"
    values, hidden, resolved = read_off(release)
    table = [] if values is None else [text_of(values)]
    notes = map(printable, [*hidden, *resolved, *release.limit_notes(batch)])
    stored = f"the release itself: {len(release.groups):,} coefficients; --json prints them"
    return "\n".join([printable(name), *table, *notes, stored, release.to_text(rows=0)])


def check_output(options: argparse.Namespace, inputs: Set[Path], heads: Set[str]) -> None:
    """Refuse a file that cannot take the answer, before anything is charged.

    Args:
        options: with `output`, `json` and `csv`.
        inputs: the files that the command reads.
        heads: the first lines that such an answer may have as text.

    Raises:
        InvalidParameter: if the file cannot be written, or is something else.
    """
    if options.output is None:
        return

    def replaceable(place: Path) -> bool:
        with place.open("rb") as file:
            begins = file.read(_LOOKED_AT).decode("utf-8", errors="replace")
        if options.json:
            return begins[:1] in ("{", "[") and '"format": "neyman.' in begins
        if options.csv:
            return begins.startswith(("release,", "release_"))
        return begins.partition("\n")[0] in {printable(head) for head in heads}

    word = "JSON of such an answer" if options.json else "CSV" if options.csv else "such an answer"
    check_target("-o", options.output, inputs, word, replaceable)


def print_json(options: argparse.Namespace, record: object) -> None:
    """Print an answer for programs, or write it to the file of -o."""
    if options.output is None:
        with _flushed():
            say_json(record)
    else:
        _write(options.output, text_of_json(record) + "\n")


def print_csv(options: argparse.Namespace, text: str) -> None:
    """Print a table, or write it to the file of -o; a terminal gets no control characters."""
    if options.output is not None:
        _write(options.output, text)
    elif sys.stdout.isatty():
        with _flushed():
            say(text, end="")
    else:
        with _flushed():
            print(text, end="")


def print_text(options: argparse.Namespace, text: str) -> None:
    """Print an answer for people, or write it to the file of -o."""
    if options.output is None:
        with _flushed():
            say(text)
    else:
        _write(options.output, text + "\n")


@contextmanager
def protecting_answer(what: str) -> Generator[None]:
    """Add to the error of anything that fails inside that the answer is safe.

    Raises:
        NotMade: if anything fails.
    """
    try:
        yield
    except Exception as error:
        reason = error if isinstance(error, NeymanError) else f"{type(error).__name__}: {error}"
        raise NotMade(f"{what} could not be made: {reason}\n{_SAFE}") from error


@contextmanager
def _flushed() -> Generator[None]:
    """Send what is printed inside before anything else is tried, also where nobody reads it."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write(path: Path, text: str) -> None:
    try:
        write_text(path, text)
    except OSError as error:
        with suppress(OSError), _flushed():
            say(text, end="")
        raise NotMade(f"the file {path} could not be made: {error.strerror}\n{_SAFE}") from error
    say(f"{path} written")
