"""Factors of a composition in normal form: merged with their kind, counted, sorted."""

import json
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from neyman.curves._pair import Pair
from neyman.curves._pairs._gaussian import GaussianPair
from neyman.curves._pairs._identity import IdentityPair
from neyman.curves._statements._real_line import RealLinePair
from neyman.numerics import exact_sum

__all__ = ["Factors", "ProductPair", "factors_of", "folded", "gathered", "in_order", "put_in"]

Factors: TypeAlias = tuple[tuple[Pair, int], ...]


@dataclass(frozen=True, slots=True)
class ProductPair(Pair):
    """f_1^(n_1) ⊗ ... ⊗ f_k^(n_k), as the solvers know it: by its factors."""

    slow: ClassVar[bool] = True

    parts: Factors


def factors_of(pair: Pair) -> Factors:
    """Return the pairs that a pair is composed of, with their counts."""
    return pair.parts if isinstance(pair, ProductPair) else ((pair, 1),)


def gathered(parts: Iterable[tuple[Pair, int]]) -> Factors:
    """Merge what has a closed form among its kind, count the rest, and sort."""
    kinds: defaultdict[str, list[tuple[Pair, int]]] = defaultdict(list)
    for part in parts:
        kinds[part[0].kind].append(part)
    kinds.pop(IdentityPair.kind, None)
    kept: list[tuple[Pair, int]] = []
    for members in kinds.values():
        whole = _in_closed_form(members)
        if whole is not None or len(members) == 1:
            kept.append(members[0] if whole is None else (whole, 1))
            continue
        counts: Counter[Pair] = Counter()
        for pair, count in members:
            counts[pair] += count
        kept.extend(counts.items())
    return in_order(kept)


def _in_closed_form(factors: Sequence[tuple[Pair, int]]) -> Pair | None:
    """Return the composition of pairs of one kind as one of that kind; None where it is none."""
    (first, _), *_ = factors
    if first.kind == GaussianPair.kind:
        squares = [(pair.mu_squared, n) for pair, n in factors if isinstance(pair, GaussianPair)]
        return GaussianPair(exact_sum(squares))
    return None


def in_order(factors: Iterable[tuple[Pair, int]]) -> Factors:
    """Return factors in the order of the normal form."""
    kept = tuple(factors)
    # What decides the order takes its time to write.
    return kept if len(kept) == 1 else tuple(sorted(kept, key=_order))


def put_in(longest: Factors, few: Factors) -> Factors:
    """Return one normal form of two."""
    if not longest:
        return few
    parts = list(longest)
    for pair, count in few:
        first = bisect_left(parts, pair.kind, key=lambda part: part[0].kind)
        same_kind = first < len(parts) and parts[first][0].kind == pair.kind
        whole = _in_closed_form([(pair, count), parts[first]]) if same_kind else None
        if whole is not None:
            parts[first] = (whole, 1)
            continue
        at = bisect_left(parts, _order((pair, count)), key=_order)
        if at < len(parts) and parts[at][0] == pair:
            parts[at] = (pair, parts[at][1] + count)
        else:
            parts.insert(at, (pair, count))
    return tuple(parts)


def folded(factors: Factors, new: Factors) -> Factors:
    """Return the factors with their statements added up, where one is among the new ones.

    Two that bound other orders, such as two truncated ones, may stand side by side.

    Args:
        factors: all of them, in order.
        new: those among which there may be a statement.

    >>> from neyman.curves import gdp
    >>> from neyman.curves._statements._real_line_constructors import zcdp
    >>> both = ((gdp(1).remove, 1), (zcdp(0.1).remove, 2))
    >>> [(str(pair), n) for pair, n in folded(both, both)]
    [('gdp(mu=1)', 1), ('zcdp(rho=0.2)', 1)]
    """
    if not any(isinstance(pair, RealLinePair) for pair, _ in new):
        return factors
    added: list[RealLinePair] = []
    for pair, count in factors:
        if not isinstance(pair, RealLinePair):
            continue
        whole = pair.repeated(count) if count > 1 else pair
        for at, other in enumerate(added):
            joined = whole.joined(other, 1) or other.joined(whole, 1)
            if joined is not None:
                added[at] = joined
                break
        else:
            added.append(whole)
    others = [(pair, n) for pair, n in factors if not isinstance(pair, RealLinePair)]
    return in_order([*others, *((pair, 1) for pair in added)])


def _order(factor: tuple[Pair, int]) -> tuple[str, str]:
    pair, _ = factor
    return pair.kind, json.dumps(pair.parameters(), sort_keys=True)
