"""What differs between two public records, in words."""

from collections.abc import Iterator
from typing import Any, Final, cast

from neyman.ledger._records import canonical

__all__ = ["differences"]

_MOST: Final = 5
_LONGEST: Final = 60
_LONGEST_PATH: Final = 200
_ABSENT: Final = object()


def differences(stored: object, asked: object) -> str:
    """Name the first five places where two JSON records differ, with both values.

    >>> differences({"query": {"bounds": [0, 10]}}, {"query": {"bounds": [0, 20]}})
    'query.bounds[1]: 10 in the ledger, 20 asked'
    """
    found = [
        f"{_end(path.removeprefix('.'))}: {before} in the ledger, {after} asked"
        for path, one, other in _walk("", stored, asked)
        for before, after in [_pair(one, other)]
    ]
    more = [f"and {len(found) - _MOST} more"] if len(found) > _MOST else []
    return "; ".join(found[:_MOST] + more)


def _walk(path: str, stored: object, asked: object) -> Iterator[tuple[str, object, object]]:
    if isinstance(stored, dict) and isinstance(asked, dict):
        before, after = cast("dict[str, Any]", stored), cast("dict[str, Any]", asked)
        for key in sorted(before.keys() | after.keys()):
            step = f".{_cut(key)}" if key.isidentifier() else f"[{_cut(repr(key))}]"
            yield from _walk(path + step, before.get(key, _ABSENT), after.get(key, _ABSENT))
    elif isinstance(stored, list) and isinstance(asked, list):
        first, second = cast("list[Any]", stored), cast("list[Any]", asked)
        for place in range(max(len(first), len(second))):
            one, other = (x[place] if place < len(x) else _ABSENT for x in (first, second))
            yield from _walk(f"{path}[{place}]", one, other)
    elif _text(stored) != _text(asked):
        yield path, stored, asked


def _text(value: Any) -> str:
    # To Python, 1, 1.0 and true are equal.
    return "" if value is _ABSENT else canonical({"": value})


def _pair(stored: object, asked: object) -> tuple[str, str]:
    before, after = ("nothing" if x is _ABSENT else repr(x) for x in (stored, asked))
    if _cut(before) == _cut(after):
        # Long texts that begin alike: show where they part.
        ends = enumerate(zip(before, after, strict=False))
        start = next((place for place, (one, other) in ends if one != other), _LONGEST) - 10
        before, after = f"…{before[start:]}", f"…{after[start:]}"
    return _cut(before), _cut(after)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _end(path: str) -> str:
    return path if len(path) <= _LONGEST_PATH else f"…{path[1 - _LONGEST_PATH :]}"
