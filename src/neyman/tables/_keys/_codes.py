"""Combinations of places as single integers, with the last column fastest."""

import math
from collections.abc import Sequence

import numpy as np

from neyman.aggregate import IntArray
from neyman.errors import InvalidTable
from neyman.tables._keys._domain import Domain

__all__ = ["coded", "decoded", "refuse_many"]

_INT64 = 2**63


def coded(
    columns: Sequence[str], domains: Sequence[Domain], places: Sequence[IntArray]
) -> IntArray:
    """Return the place of each combination among all.

    Raises:
        InvalidTable: if there are 2^62 combinations or more.
    """
    refuse_many(columns, domains)
    codes = np.zeros(len(places[0]), np.int64)
    for domain, part in zip(domains, places, strict=True):
        codes = codes * len(domain) + part
    return codes


def decoded(domains: Sequence[Domain], codes: IntArray) -> tuple[IntArray, ...]:
    """Return the places of codes, one array for each column."""
    found: list[IntArray] = []
    for domain in reversed(domains):
        codes, place = np.divmod(codes, len(domain))
        found.append(place)
    return tuple(reversed(found))


def refuse_many(columns: Sequence[str], domains: Sequence[Domain]) -> None:
    """Refuse more combinations than the engines' integers can number."""
    if math.prod(map(len, domains)) >= _INT64 // 2:
        raise InvalidTable(
            f"the keys of {', '.join(columns)} have 2^62 combinations or more; write fewer columns"
        )
