"""Which steps an allowance declares, and how many of a kind fit under what is left."""

import math
from collections.abc import Callable, Mapping
from typing import Final, cast

from neyman.accounting import Amount
from neyman.arguments import brief, check_name, check_type, whole
from neyman.curves import TradeOff
from neyman.errors import InvalidParameter, UnsupportedComposition
from neyman.ledger._allowance import MOST_STEPS, check_step
from neyman.ledger._events import Asked
from neyman.ledger._stock import Steps, stock_curve
from neyman.sensitivity import Neighbors

__all__ = ["declared", "declared_steps", "most_steps"]

# How many times more is tried next, at most.
_GROWTH: Final = 64


def declared_steps(
    step: TradeOff | None, steps: int | Mapping[TradeOff, int], neighbors: Neighbors
) -> tuple[Steps, ...]:
    """Return the kinds of steps that a caller declares.

    Args:
        step: of which one kind consists; None where `steps` holds the kinds.
        steps: how many of the kind; or of each kind, how many.
        neighbors: the ledger's relation.

    Raises:
        InvalidParameter: if they are neither.
        RelationMismatch: if a step is proved for another relation.
    """
    if isinstance(steps, Mapping) == (step is not None) or steps == {}:
        raise InvalidParameter(
            "an allowance declares steps of one kind or of several; write step=dp_sgd(..., "
            "steps=1) with steps=1000, or steps={one_step: 1000, another_step: 500} alone"
        )
    kinds = steps if isinstance(steps, Mapping) else {cast("TradeOff", step): steps}
    for kind in kinds:
        check_step(kind, neighbors)
    return tuple(Steps(kind, whole("steps", n, 1, MOST_STEPS)) for kind, n in kinds.items())


def declared(
    entry: str, stock: tuple[Steps, ...], request: Mapping[str, object], source: str
) -> Asked:
    """Return what an allowance asks the ledger for.

    Raises:
        InvalidParameter: if the id, the request or the source is unusable.
    """
    check_name("entry", entry)
    if "/" in entry:
        raise InvalidParameter(
            f"entry={brief(entry)!r} holds '/', which separates an allowance from what is taken "
            "of it; write an id without it"
        )
    check_type("request", request, Mapping, "a dict")
    check_type("source", source, str, "text that names the dataset")
    curve = stock_curve(stock)
    return Asked(entry=entry, request=request, source=source, curve=curve, stock=stock)


def most_steps(cost: Callable[[int], Amount], left: Amount) -> int:
    """Return the largest n whose cost fits, for a cost that grows with n.

    Each cost is an exact composition and takes its time. What many small losses cost grows like n,
    so the next n to try is where a straight line meets what is left; every second one is halfway.

    Args:
        cost: of n steps.
        left: what may still be charged.

    Raises:
        NotCertified, UnsupportedComposition, InvalidParameter: if one step cannot be charged.
    """
    least, most = (0, 0.0), (1, _share(cost(1), left))
    while most[1] <= 1:
        if most[0] == MOST_STEPS:
            return MOST_STEPS
        least, straight = most, int(most[0] / max(most[1], 1 / _GROWTH)) + 1
        tried = min(max(straight, most[0] + 1), MOST_STEPS)
        most = tried, _share_of(cost, tried, left)
    halfway = False
    while most[0] - least[0] > 1:
        gap = most[0] - least[0]
        straight = gap * (1 - least[1]) / (most[1] - least[1])
        tried = least[0] + min(max(gap // 2 if halfway else int(straight), 1), gap - 1)
        share = _share_of(cost, tried, left)
        least, most = ((tried, share), most) if share <= 1 else (least, (tried, share))
        halfway = not halfway
    return least[0]


def _share_of(cost: Callable[[int], Amount], steps: int, left: Amount) -> float:
    try:
        return _share(cost(steps), left)
    except UnsupportedComposition:
        # So many steps are bounded by no finite amount.
        return math.inf


def _share(amount: Amount, left: Amount) -> float:
    """Return the larger share of what is left, above 1 exactly where the amount does not fit."""
    pairs = (amount.cost, left.cost), (amount.delta, left.delta)
    share = max((float(due / rest) if rest > 0 else math.inf) for due, rest in pairs if due > 0)
    return min(share, 1.0) if amount.fits(left) else max(share, math.nextafter(1.0, 2.0))
