"""The differences between two public records, in words."""

import math
import re
from collections.abc import Iterator
from typing import Any, Final, cast

from neyman.arguments import brief
from neyman.curves import TradeOff
from neyman.errors import NeymanError
from neyman.ledger._records import canonical
from neyman.numerics import at_most

__all__ = ["budgets", "differences", "only_companions", "same_budget"]

_MOST: Final = 5
_LONGEST: Final = 60
_LONGEST_PATH: Final = 200
_ABSENT: Final = object()
# The size of a question's noise, which follows from its budget, but not its kind.
_SIZES: Final = re.compile(r"(?:\.batch\[\d+\])?\.(?:mechanism|companion)\.(?!.*\bmechanism$).*")
_DIGEST: Final = re.compile(r"\.computation$")
_COMPANION: Final = re.compile(r"(?:\.batch\[\d+\])?\.companion\b.*")
_LONE: Final = re.compile(r"gdp\([^()]*\)(?: @ approx_dp\([^()]*\))?")
_DELTA: Final = 1e-6


def budgets(stored: TradeOff, asked: TradeOff) -> str:
    """Return two different budgets as people write them.

    >>> from neyman import gdp, laplace
    >>> budgets(gdp(0.3), gdp(0.5))
    'gdp(mu=0.3) in the ledger, gdp(mu=0.5) now'
    >>> budgets(laplace(0.01) @ laplace(0.49), gdp(0.5))
    'epsilon = 0.5 in the ledger, gdp(mu=0.5) now'
    """
    before, after = _budget(stored), _budget(asked)
    if before == after:
        before, after = (f"{brief(str(curve))}, {_budget(curve)}" for curve in (stored, asked))
    return f"{before} in the ledger, {after} now"


def _budget(curve: TradeOff) -> str:
    """Return mu, or epsilon, or epsilon at a delta, rounded up."""
    written = brief(str(curve))
    if _LONE.fullmatch(written):
        return written
    try:
        pure = curve.epsilon(0)
        if math.isfinite(pure):
            return f"epsilon = {at_most(pure, 6)}"
        return f"epsilon = {at_most(curve.epsilon(_DELTA), 6)} at delta = {_DELTA:g}"
    except NeymanError:
        return written


def only_companions(stored: object, asked: object) -> bool:
    """Return whether two records differ only in a companion's budget and its consequences.

    >>> one, other = ({"companion": {"variance": str(n)}, "query": {}} for n in (3, 4))
    >>> only_companions(one, other)
    True
    """
    paths = [path for path, _, _ in _walk("", stored, asked)]
    return any(_COMPANION.fullmatch(path) for path in paths) and all(
        _COMPANION.fullmatch(path) or _SIZES.fullmatch(path) for path in paths
    )


def same_budget(stored: TradeOff, asked: TradeOff) -> bool:
    """Return whether two budgets have the same text."""
    return _budget(stored) == _budget(asked)


def differences(stored: object, asked: object, *, sizes: bool = True) -> str:
    """Return the first five places where two JSON records differ, with both values.

    Args:
        stored: the record in the ledger.
        asked: the record now.
        sizes: whether to include the size of the noise.

    >>> differences({"query": {"bounds": [0, 10]}}, {"query": {"bounds": [0, 20]}})
    'query.bounds[1]: 10 in the ledger, 20 now'
    """
    walked = [
        (path, one, other)
        for path, one, other in _walk("", stored, asked)
        if sizes or not _SIZES.fullmatch(path)
    ]
    # Digests and noise sizes follow from other differences; they are named if there are none.
    plain = [step for step in walked if not (_DIGEST.search(step[0]) or _SIZES.fullmatch(step[0]))]
    found = [
        f"{_end(path.removeprefix('.'))}: {before} in the ledger, {after} now"
        for path, one, other in plain or walked
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
    # Python treats 1, 1.0 and True as equal.
    return "" if value is _ABSENT else canonical({"": value})


def _pair(stored: object, asked: object) -> tuple[str, str]:
    before, after = ("nothing" if x is _ABSENT else repr(x) for x in (stored, asked))
    if _cut(before) == _cut(after):
        # Long texts with the same beginning: show where they differ.
        ends = enumerate(zip(before, after, strict=False))
        start = next((place for place, (one, other) in ends if one != other), _LONGEST) - 10
        before, after = f"…{before[start:]}", f"…{after[start:]}"
    return _cut(before), _cut(after)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _end(path: str) -> str:
    return path if len(path) <= _LONGEST_PATH else f"…{path[1 - _LONGEST_PATH :]}"
