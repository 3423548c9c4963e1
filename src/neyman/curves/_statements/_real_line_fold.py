"""A composition with a statement at real orders in it is one: bounds add, the pairs are lost."""

from neyman.curves._pair import Pair
from neyman.curves._statements._real_line import RealLinePair
from neyman.errors import UnsupportedComposition

__all__ = ["folded"]


def folded(
    factors: tuple[tuple[Pair, int], ...], new: tuple[tuple[Pair, int], ...]
) -> tuple[tuple[Pair, int], ...]:
    """Return one real-line node for all factors if one of the new ones is such a node.

    Args:
        factors: all of them.
        new: those among which there may be such a node.

    Returns:
        The node, else the factors.

    Raises:
        UnsupportedComposition: if a factor has no proved bound at the orders of the others.

    >>> from neyman.curves import gdp
    >>> from neyman.curves._statements._real_line_constructors import zcdp
    >>> both = ((zcdp(0.1).remove, 2), (gdp(1).remove, 3))
    >>> [(str(pair), n) for pair, n in folded(both, both)]
    [('zcdp(rho=1.7)', 1)]
    """
    if not any(isinstance(pair, RealLinePair) for pair, _ in new):
        return factors
    nodes = [(pair, count) for pair, count in factors if isinstance(pair, RealLinePair)]
    (first, count), *more = nodes
    whole = first.repeated(count) if count > 1 else first
    others = [(pair, n) for pair, n in factors if not isinstance(pair, RealLinePair)]
    for pair, n in [*more, *others]:
        joined = _joined(whole, pair, n)
        if joined is None:
            raise UnsupportedComposition(
                f"{whole} was to be composed with {pair}, which has no proved bound at its orders; "
                "compose it with a curve of finite zcdp(), or write the mechanism itself"
            )
        whole = joined
    return ((whole, 1),)


def _joined(whole: RealLinePair, pair: Pair, times: int) -> RealLinePair | None:
    joined = whole.joined(pair, times)
    if joined is None and isinstance(pair, RealLinePair):
        # Points know less than a half-line, and it cannot take them in.
        return pair.repeated(times).joined(whole, 1)
    return joined
