"""Runs a command and turns errors into an exit status. Imports no more than the command needs."""

import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from neyman.cli._commands import parser_of_all
from neyman.cli._interrupts import INTERRUPTED, ending_at_once
from neyman.cli._parser import Parser, WrongUsage
from neyman.cli._say import complain
from neyman.errors import NeymanError

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    parser = parser_of_all()
    try:
        return _run(parser, argv)
    except WrongUsage as error:
        return _misused(error, error.parser or parser)
    except NeymanError as error:
        return _failed(str(error), error)
    except BrokenPipeError:
        # The reader of our output has gone. That is no failure, and Python must not flush again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _failed(f"{error.filename or 'output'} cannot be used: {error.strerror}", error)
    except KeyboardInterrupt:
        _failed(
            "interrupted. Charges stay in the ledger. Run the same command again: stored answers "
            "are free, and an answer that was charged but not stored is drawn again, free"
        )
        return INTERRUPTED


def _run(parser: Parser, argv: Sequence[str] | None) -> int:
    options = parser.parse_args(argv)
    # A character that the terminal cannot encode is printed as its number.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    command: Any = ending_at_once(lambda: import_module(f"neyman.cli.{options.module}"))
    try:
        status = int(command.run(options))
    except WrongUsage as error:
        error.parser = error.parser or options.parser
        raise
    sys.stdout.flush()
    return status


def _misused(error: WrongUsage, parser: Parser) -> int:
    complain(f"{parser.prog}: {error}\n{parser.format_usage()}for more: {parser.prog} --help")
    return 2


def _failed(why: str, error: BaseException | None = None) -> int:
    complain("\n".join([f"neyman: {why}", *getattr(error, "__notes__", ())]))
    return 1
