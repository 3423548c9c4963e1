"""The URL of a ledger in a database, and how to print it without its password."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, quote, unquote

from neyman.arguments import brief
from neyman.errors import InvalidParameter

__all__ = ["Address", "address", "is_url"]

_DEFAULT: Final = "ledger"
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,40}")
# The syntax of libpq, but stricter: a possible password in another part is refused.
_URL: Final = re.compile(
    r"postgres(?:ql)?://(?:(?P<user>[^:@/?#]*)(?::(?P<password>[^@/?#]*))?@)?"
    r"(?P<hosts>[^@/?#]*)(?:/(?P<dbname>[^@/?#]*))?(?:\?(?P<query>[^#]*))?",
    re.ASCII,
)
_HOST: Final = re.compile(r"(?P<host>\[[0-9A-Fa-f:.%]+\]|[^:\[\]]*)(?::(?P<port>\d*))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a ledger.

    Attributes:
        text: the URL with its public parts: user, host, port, database, ledger.
        ledger: its name in the database.
        access: the client's connection parameters; may contain a password.
    """

    text: str
    ledger: str
    access: Mapping[str, str] = field(repr=False)


def is_url(place: str) -> bool:
    """Return whether a place is meant as a URL, of PostgreSQL or of something else.

    All other places count as paths, and errors show paths. So a URL with a password must not count
    as a path because its scheme is misspelt.
    """
    return "://" in place or place.startswith(("postgresql:", "postgres:"))


def address(url: str) -> Address:
    """Return the address of a URL.

    Raises:
        InvalidParameter: if it is not a valid URL. The message shows no part of it, because any
            part may be a password.
    """
    access = _read(url)
    if access is None:
        raise InvalidParameter(
            "the place of the ledger is no URL of a PostgreSQL server; write "
            "postgresql://USER@HOST/DATABASE, or postgresql://USER@HOST/DATABASE?ledger=NAME, "
            "with special characters in %XX (the URL is not shown, for it may hold a password)"
        )
    name = access.pop("ledger", _DEFAULT)
    if not _NAME.fullmatch(name):
        raise InvalidParameter(
            f"ledger={brief(name)!r} is no name of a ledger in a database; write ?ledger=NAME with "
            "up to 41 lower-case letters, digits and underscores, beginning with a letter"
        )
    return Address(_shown(access, name), name, access)


def _read(url: str) -> dict[str, str] | None:
    found = _URL.fullmatch(url)
    if found is None or "\0" in unquote(url):
        return None
    hosts = [_HOST.fullmatch(part) for part in found["hosts"].split(",")]
    try:
        query = parse_qsl(found["query"] or "", keep_blank_values=True, strict_parsing=True)
    except ValueError:
        # An empty query is ignored; a query that cannot be parsed makes the URL invalid.
        if found["query"]:
            return None
        query = []
    if None in hosts or len({key for key, _ in query}) < len(query):
        return None
    parts = [host for host in hosts if host is not None]
    access = {
        "user": unquote(found["user"] or ""),
        "password": unquote(found["password"] or ""),
        "host": ",".join(unquote(part["host"].strip("[]")) for part in parts),
        "port": ",".join(part["port"] or "" for part in parts).rstrip(","),
        "dbname": unquote(found["dbname"] or ""),
    }
    return {**{key: value for key, value in access.items() if value}, **dict(query)}


def _shown(access: Mapping[str, str], name: str) -> str:
    user = f"{quote(access['user'], safe='')}@" if "user" in access else ""
    hosts, ports = (access.get(key, "").split(",") for key in ("host", "port"))
    ports = ports * len(hosts) if len(ports) == 1 else ports
    authority = ",".join(_host(*pair) for pair in zip(hosts, ports, strict=False))
    more = {"service": access.get("service"), "ledger": None if name == _DEFAULT else name}
    query = "&".join(f"{key}={quote(value, safe='')}" for key, value in more.items() if value)
    database = quote(access.get("dbname", ""), safe="")
    return f"postgresql://{user}{authority}/{database}{'?' if query else ''}{query}"


def _host(host: str, port: str) -> str:
    written = f"[{host}]" if ":" in host else quote(host, safe="")
    return f"{written}:{quote(port, safe='')}" if port else written
