"""What a command prints. Nothing reaches the terminal by another way."""

import json
import re
import sys

from neyman.cli._passwords import without_passwords
from neyman.printable import printable, printable_lines

__all__ = ["complain", "say", "say_json", "text_of_json"]

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def say(shown: object, *, end: str = "\n") -> None:
    """Print lines for people; signs that a terminal acts on are written as their numbers."""
    print(printable_lines(shown), end=end)


def say_json(record: object, *, readable: bool = False) -> None:
    """Print a record for programs.

    Args:
        record: JSON-able.
        readable: whether words of other scripts stay readable; signs that a terminal acts on are
            written as JSON writes their numbers all the same.
    """
    text = text_of_json(record, readable=readable)
    print(_STRING.sub(_harmless, text) if readable else text)


def text_of_json(record: object, *, readable: bool = False) -> str:
    """Return a record as it is printed for programs, all keys in one order."""
    return json.dumps(record, indent=1, ensure_ascii=not readable)


def complain(why: object) -> None:
    """Print what went wrong where errors go, without the passwords of URLs."""
    print(without_passwords(printable_lines(why)), file=sys.stderr)


def _harmless(found: re.Match[str]) -> str:
    return "".join(
        sign if printable(sign) == sign else json.dumps(sign)[1:-1] for sign in found.group()
    )
