"""A few laws that stand for many: for finding one's way, and for nothing that is proved."""

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

__all__ = ["Likeness", "representatives"]

# How far the laws's shifts reach, and about their variance: laws alike in both are alike.
Likeness: TypeAlias = tuple[float, float]
Law = TypeVar("Law")
Terms: TypeAlias = Sequence[tuple[Law, float, bool]]

# So many strata of reach, each with so many of size.
_STRATA = 6
# Fewer are taken as they are.
_FEW = 2 * _STRATA**2


def representatives(
    terms: Terms[Law], likeness: Callable[[Law], Likeness | None]
) -> Sequence[tuple[Law, float, bool]]:
    """Return about as large a sum of fewer laws.

    Args:
        terms: laws, counts and directions.
        likeness: None of a law that only stands for itself.
    """
    if len(terms) <= _FEW:
        return terms
    known = [(likeness(law), law, count, back) for law, count, back in terms]
    kept = [(law, count, back) for like, law, count, back in known if like is None]
    for way in (False, True):
        alike = [
            (like, law, count)
            for like, law, count, back in known
            if like is not None and back == way
        ]
        for stratum in _split(sorted(alike, key=lambda term: term[0][0])):
            for cell in _split(sorted(stratum, key=lambda term: term[0][1])):
                (_, size), law, _ = cell[len(cell) // 2]
                total = math.fsum(like[1] * count for like, _, count in cell)
                kept.append((law, total / size, way))
    return kept


def _split(
    items: Sequence[tuple[Likeness, Law, float]],
) -> list[Sequence[tuple[Likeness, Law, float]]]:
    size = max(-(-len(items) // _STRATA), 1)
    return [items[start : start + size] for start in range(0, len(items), size)]
