"""Statements at real orders add among themselves; what stands beside them is kept as it is."""

from neyman.curves._algebra._factors import Factors, in_order
from neyman.curves._statements._real_line import RealLinePair

__all__ = ["folded"]


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
