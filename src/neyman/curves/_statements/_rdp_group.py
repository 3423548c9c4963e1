"""Rényi bounds of a group of records, order by order, from those of one.

With P, Q, R the laws on three datasets in a row, a, b > 1 and 1 - 1/c = (1 - 1/a)(1 - 1/b),

    D_c(P‖R) <= b/(b - 1) D_a(P‖Q) + D_b(Q‖R),   c = a b / (a + b - 1)

by Hölder's inequality for the integral of (p^c q^(c/a - c)) (q^(c - c/a) r^(1 - c)), with the
exponents a/c and (b - 1)/(c - 1). Of one order a on both sides it gives D_c at c = a^2/(2a - 1)
with the factor 2 + 1/(a - 1), where Mironov (2017), proposition 2, has a/2 and 3.

Source: Mironov (2017), proposition 11, the inequality for any exponents.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final

__all__ = ["points_of_group"]

Point = tuple[Fraction, Fraction]
_MOST_ORDERS: Final = 48
_BITS: Final = 64


def points_of_group(points: Sequence[Point], size: int) -> list[Point]:
    """Return bounds for the ends of a chain of `size` links, each with these, both ways.

    Of all pairs of orders the best results at about 48 orders stay; a group is halved, so that its
    size costs little.

    Args:
        points: (order, divergence), orders above 1, at least one.
        size: at least 1.

    Error: none, but that orders are rounded down and divergences up to 64 bits.
    """
    if size == 1:
        return list(points)
    half = points_of_group(points, size // 2)
    whole = _chained(half, half)
    return _chained(whole, points) if size % 2 else whole


def _chained(first: Sequence[Point], second: Sequence[Point]) -> list[Point]:
    return _thinned([_next(one, other) for one in first for other in second if other[0] > 1])


def _next(first: Point, second: Point) -> Point:
    (a, near), (b, far) = first, second
    return _short(a * b / (a + b - 1), up=False), _short(b / (b - 1) * near + far, up=True)


def _short(value: Fraction, *, up: bool) -> Fraction:
    """Round to 64 bits: what holds at an order holds at lower ones."""
    if value.denominator.bit_length() <= _BITS:
        return value
    scale = Fraction(2) ** (_BITS - value.numerator.bit_length() + value.denominator.bit_length())
    scaled = value * scale
    return Fraction(-(-scaled // 1) if up else scaled // 1) / scale


def _thinned(points: Iterable[Point]) -> list[Point]:
    """Keep, of the points that no other beats in both, some evenly many."""
    front: list[Point] = []
    for order, bound in sorted(points, key=lambda point: (-point[0], point[1])):
        if not front or bound < front[-1][1]:
            front.append((order, bound))
    step = max(1, -(-len(front) // _MOST_ORDERS))
    return [*front[:-1:step], front[-1]]
