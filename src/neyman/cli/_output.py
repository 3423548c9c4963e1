"""Where an answer goes: to the terminal, or into a file, whole or not at all."""

import argparse
import sys
from collections.abc import Set
from contextlib import suppress
from pathlib import Path

from neyman.cli._after import NotMade, shown_first
from neyman.cli._say import say, say_json, text_of_json
from neyman.files import check_target, write_text
from neyman.printable import printable

__all__ = ["check_output", "give", "give_csv", "give_json"]

_LOOKED_AT = 2**16


def check_output(options: argparse.Namespace, inputs: Set[Path], heads: Set[str]) -> None:
    """Refuse a file that cannot take the answer, before anything is charged.

    Args:
        options: with `output`, `json` and `csv`.
        inputs: what the command reads.
        heads: how the answer may begin as text.

    Raises:
        InvalidParameter: if so.
    """
    if options.output is None:
        return

    def ours(place: Path) -> bool:
        with place.open("rb") as file:
            begins = file.read(_LOOKED_AT).decode("utf-8", errors="replace")
        if options.json:
            return begins[:1] in ("{", "[") and '"format": "neyman.' in begins
        if options.csv:
            return begins.startswith(("release,", "release_"))
        return begins.partition("\n")[0] in {printable(head) for head in heads}

    word = "JSON of such an answer" if options.json else "CSV" if options.csv else "such an answer"
    check_target("-o", options.output, inputs, word, ours)


def give_json(options: argparse.Namespace, record: object) -> None:
    """Give an answer for programs."""
    if options.output is None:
        with shown_first():
            say_json(record)
    else:
        _write(options.output, text_of_json(record) + "\n")


def give_csv(options: argparse.Namespace, text: str) -> None:
    """Give a table; a terminal is shown no signs that it would act on, and a file gets all."""
    if options.output is not None:
        _write(options.output, text)
    elif sys.stdout.isatty():
        with shown_first():
            say(text, end="")
    else:
        with shown_first():
            print(text, end="")


def give(options: argparse.Namespace, text: str) -> None:
    """Give an answer for people."""
    if options.output is None:
        with shown_first():
            say(text)
    else:
        _write(options.output, text + "\n")


def _write(path: Path, text: str) -> None:
    try:
        write_text(path, text)
    except OSError as error:
        with suppress(OSError), shown_first():
            say(text, end="")
        raise NotMade(
            f"the file {path} could not be made: {error.strerror}\nThe answer is printed above and "
            "stored in the ledger. Run the same command again: it is free"
        ) from error
    say(f"{path} written")
