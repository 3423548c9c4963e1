"""Reads TOML text of limited size; it refuses text that would take long to read."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, Final, TypeAlias, cast

__all__ = ["MOST_BYTES", "Place", "Unusable", "read_toml", "too_large"]

Place: TypeAlias = tuple[int | str, ...]

MOST_BYTES: Final = 2**20
_MOST_DEEP: Final = 100
_MOST_DOTS: Final = 16
_MOST_TABLES: Final = 5_000
_MOST_LETTERS: Final = 10_000
_MOST_QUERIES: Final = 1_000
_MOST_DIGITS: Final = 400
_MOST_EXPONENT: Final = 300
_MOST_BITS: Final = 1024
# tomllib makes a list of all beginnings of a dotted key, so that a long one would take hours.
_PART: Final = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
_DOTTED: Final = re.compile(
    rf"(?:^|[\[{{,])[ \t]*+\[?+[ \t]*+(?:{_PART}\.[ \t]*+){{{_MOST_DOTS}}}", re.MULTILINE
)
_TABLE: Final = re.compile(r"^[ \t]*+\[", re.MULTILINE)
_QUERY: Final = re.compile(r"^[ \t]*+\[\[[ \t]*+query[ \t]*+\]\]", re.MULTILINE)
_LONG_INTEGER: Final = re.compile(r"(?<![\w\"'])[+-]?\d(?:_?\d){4299}")


class Unusable(Exception):
    """Text that is not read; the message says why."""


class _LongNumber:
    """A number that was not read because it has too many digits."""


def read_toml(raw: bytes) -> dict[str, Any]:
    """Read TOML with exact decimals: 0.1 is a tenth.

    Args:
        raw: the text, or its first `MOST_BYTES` + 1 bytes.

    Raises:
        UnicodeDecodeError, TOMLDecodeError: from `decode` and `tomllib`.
        Unusable: if it is too large, or nested too deeply.
    """
    if len(raw) > MOST_BYTES:
        raise Unusable("it has more than 1 MiB; write a shorter file, or several specs")
    text = raw.decode("utf-8-sig")
    deep = _DOTTED.search(text)
    if deep is not None:
        raise Unusable(f"line {_line(text, deep)} {_NESTED}")
    for starts, most, what in (
        (_QUERY, _MOST_QUERIES, "queries"),
        (_TABLE, _MOST_TABLES, "tables, or lines that begin with ["),
    ):
        many = sum(1 for _ in starts.finditer(text))
        if many > most:
            raise Unusable(f"it has {many:,} {what}; write at most {most:,}, or several specs")
    try:
        return tomllib.loads(text, parse_float=_decimal)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        pass
    except ValueError:
        # Python makes no integer of more digits than this.
        long = _LONG_INTEGER.search(text)
        where = "it" if long is None else f"line {_line(text, long)}"
        raise Unusable(f"{where} holds {_TOO_LARGE}") from None
    # Raised out here, so that a thousand frames do not come along.
    raise Unusable(f"it {_NESTED}")


def too_large(fields: dict[str, Any]) -> Iterator[tuple[Place, str]]:
    """Yield every value that is too large, with its place."""
    for name, part in fields.items():
        many = len(_parts(part))
        if name != "keys" and many > _MOST_QUERIES:
            yield (name,), f"has {many:,} parts; write at most {_MOST_QUERIES:,}, or several specs"
    # No recursion: a spec may be nested deeper than Python calls.
    left: list[tuple[Place, object]] = [((), fields)]
    while left:
        place, value = left.pop()
        if len(place) > _MOST_DEEP:
            yield place[:1], _NESTED
            continue
        wrong = _wrong(value)
        if wrong is not None:
            yield place, wrong
        left += reversed([((*place, step), part) for step, part in _parts(value)])


def _parts(value: object) -> Sequence[tuple[int | str, object]]:
    match value:
        case dict():
            return list(cast("dict[str, object]", value).items())
        case list():
            return list(enumerate(cast("list[object]", value)))
        case _:
            return ()


def _wrong(value: object) -> str | None:
    match value:
        case _LongNumber():
            return f"is {_TOO_LARGE}"
        case bool():
            return None
        case int():
            return f"is {_TOO_LARGE}" if value.bit_length() > _MOST_BITS else None
        case str():
            return _letters("text", value)
        case dict():
            names = cast("dict[str, object]", value)
            return next(filter(None, (_letters("a name", name) for name in names)), None)
        case _:
            return None


def _letters(kind: str, text: str) -> str | None:
    if len(text) <= _MOST_LETTERS:
        return None
    return f"is {kind} of {len(text):,} characters; write at most {_MOST_LETTERS:,}"


def _decimal(written: str) -> Decimal | _LongNumber:
    mantissa, _, exponent = written.lower().partition("e")
    if len(mantissa) > _MOST_DIGITS or len(exponent) > _MOST_DIGITS:
        return _LongNumber()
    # An exponent that Decimal itself cannot hold has more than 18 digits.
    if len(exponent.lstrip("+-").replace("_", "").lstrip("0")) > len(str(_MOST_EXPONENT)):
        return _LongNumber()
    number = Decimal(written)
    return _LongNumber() if number and abs(number.adjusted()) > _MOST_EXPONENT else number


def _line(text: str, found: re.Match[str]) -> int:
    return text.count("\n", 0, found.end()) + 1


_TOO_LARGE: Final = (
    "a number too large, too small or too long to be used; write one from 1e-300 to 1e300, of at "
    f"most {_MOST_DIGITS} digits"
)
_NESTED: Final = f"is nested too deeply; write at most {_MOST_DEEP} tables or lists in each other"
