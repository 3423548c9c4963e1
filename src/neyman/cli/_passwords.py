"""What a command prints of what it was given: no password that a URL may hold."""

import re
from typing import Final

__all__ = ["without_passwords"]

_CREDENTIALS: Final = re.compile(
    r"((?:postgres(?:ql)?:/*|\b[a-z][\w+.-]*://)[^\s:@/'\"]*):[^\s'\"]*@", re.IGNORECASE
)
_PARAMETER: Final = re.compile(r"(\w*password=)[^\s&'\"]*")


def without_passwords(text: str) -> str:
    """Return the text with the passwords of URLs left out.

    >>> without_passwords("unrecognized arguments: postgresql://me:secret@host/db?password=secret")
    'unrecognized arguments: postgresql://me@host/db?password='
    >>> without_passwords("PostgreSQL+driver://me:secret@host/db")
    'PostgreSQL+driver://me@host/db'
    """
    return _PARAMETER.sub(r"\1", _CREDENTIALS.sub(r"\1@", text))
