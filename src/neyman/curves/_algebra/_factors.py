"""Factors of a composition in normal form: merged with their kind, counted, sorted."""

import json
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import TypeAlias

from neyman.curves._pair import Pair
from neyman.curves._pairs._identity import IdentityPair

__all__ = ["Factors", "gathered", "in_order", "put_in"]

Factors: TypeAlias = tuple[tuple[Pair, int], ...]


def gathered(parts: Iterable[tuple[Pair, int]]) -> Factors:
    """Merge what has a closed form among its kind, count the rest, and sort."""
    kinds: defaultdict[str, list[tuple[Pair, int]]] = defaultdict(list)
    for part in parts:
        kinds[part[0].kind].append(part)
    kinds.pop(IdentityPair.kind, None)
    kept: list[tuple[Pair, int]] = []
    for members in kinds.values():
        whole = members[0][0].gathered(members)
        if whole is not None:
            kept.append((whole, 1))
            continue
        counts: Counter[Pair] = Counter()
        for pair, count in members:
            counts[pair] += count
        kept.extend(counts.items())
    return in_order(kept)


def in_order(factors: Iterable[tuple[Pair, int]]) -> Factors:
    """Return factors in the order of the normal form."""
    return tuple(sorted(factors, key=_order))


def put_in(longest: Factors, few: Factors) -> Factors:
    """Return one normal form of two."""
    parts = list(longest)
    for pair, count in few:
        first = bisect_left(parts, pair.kind, key=lambda part: part[0].kind)
        same_kind = first < len(parts) and parts[first][0].kind == pair.kind
        whole = pair.gathered([(pair, count), parts[first]]) if same_kind else None
        if whole is not None:
            parts[first] = (whole, 1)
            continue
        at = bisect_left(parts, _order((pair, count)), key=_order)
        if at < len(parts) and parts[at][0] == pair:
            parts[at] = (pair, parts[at][1] + count)
        else:
            parts.insert(at, (pair, count))
    return tuple(parts)


def _order(factor: tuple[Pair, int]) -> tuple[str, str]:
    pair, _ = factor
    return pair.kind, json.dumps(pair.parameters(), sort_keys=True)
