"""The optional packages of tables, checked before anything else is imported.

The guarantee depends on the text that sqlglot writes and on how an engine reads it. Both were
tested with some versions. Another version may write or read the text differently, so it is refused
(docs/decisions/0013-tested-versions.md).
"""

import re
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from types import MappingProxyType
from typing import Final

from neyman.errors import MissingExtra

__all__ = ["TESTED", "outside", "require"]

TESTED: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "duckdb": ("1.4", "2.1"),
        "sqlglot": ("30", "30.31"),
        "pyspark": ("4.0", "4.4"),
    }
)
"""Of packages, the first version that was tested and the first one that was not."""


def require(*packages: str, extra: str = "tables") -> None:
    """Check that `packages` are installed in tested versions.

    Raises:
        MissingExtra: with the first that is missing or has another version, and the extra that
            installs it.
    """
    for package in packages:
        if find_spec(package) is None:
            raise MissingExtra(
                f"this needs the package {package}, which is not installed; "
                f"write pip install 'neyman[{extra}]'"
            )
        if package in TESTED:
            first, beyond = TESTED[package]
            found = _version(package)
            if outside(found, first, beyond):
                raise MissingExtra(
                    f"{package} must be at least {first} and below {beyond}, the versions that "
                    f"neyman was tested with; {package} {found} is installed. Write "
                    f"pip install '{package}>={first},<{beyond}'"
                )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "of an unknown version"


def outside(found: str, first: str, beyond: str) -> bool:
    """Return whether a version is below the first, or not below the last."""
    return not _release(first) <= _release(found) < _release(beyond)


def _release(text: str) -> tuple[int, ...]:
    """Return the numbers at the start of a version; 2.1.0.dev3 counts as 2.1."""
    start = re.match(r"v?(\d+(?:\.\d+)*)", text)
    numbers = [int(number) for number in start[1].split(".")] if start else [0]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)
