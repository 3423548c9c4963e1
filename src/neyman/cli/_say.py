"""Prints what a command says. Nothing else writes to the terminal."""

import json
import re
import sys
from typing import Final

from neyman.printable import printable, printable_lines

__all__ = ["complain", "say", "say_json", "text_of_json", "without_passwords"]

_CREDENTIALS: Final = re.compile(
    r"((?:postgres(?:ql)?:/*|\b[a-z][\w+.-]*://)[^\s:@/'\"]*):[^\s'\"]*@", re.IGNORECASE
)
_PARAMETER: Final = re.compile(r"(\w*password=)[^\s&'\"]*")
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"')


def say(shown: object, *, end: str = "\n") -> None:
    """Print lines for people; control characters are written as their numbers."""
    print(printable_lines(shown), end=end)


def say_json(record: object, *, readable: bool = False) -> None:
    """Print a record for programs.

    Args:
        record: JSON-able.
        readable: whether other scripts stay readable. Control characters are written as JSON
            escapes in any case.
    """
    text = text_of_json(record, readable=readable)
    print(_STRING.sub(_harmless, text) if readable else text)


def text_of_json(record: object, *, readable: bool = False) -> str:
    """Return the JSON text of a record, with its keys in their order."""
    return json.dumps(record, indent=1, ensure_ascii=not readable)


def complain(why: object) -> None:
    """Print an error to stderr, without the passwords in its URLs."""
    print(without_passwords(printable_lines(why)), file=sys.stderr)


def without_passwords(text: str) -> str:
    """Return a text without the passwords in its URLs.

    >>> without_passwords("unrecognized arguments: postgresql://me:secret@host/db?password=secret")
    'unrecognized arguments: postgresql://me@host/db?password='
    >>> without_passwords("PostgreSQL+driver://me:secret@host/db")
    'PostgreSQL+driver://me@host/db'
    """
    return _PARAMETER.sub(r"\1", _CREDENTIALS.sub(r"\1@", text))


def _harmless(found: re.Match[str]) -> str:
    return "".join(
        sign if printable(sign) == sign else json.dumps(sign)[1:-1] for sign in found.group()
    )
