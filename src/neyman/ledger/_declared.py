"""The steps that an allowance declares."""

from collections.abc import Mapping
from typing import cast

from neyman.arguments import brief, check_name, check_type, whole
from neyman.curves import TradeOff
from neyman.errors import InvalidParameter
from neyman.ledger._allowance import MOST_STEPS, check_step
from neyman.ledger._charge import Asked
from neyman.ledger._stock import Steps, stock_curve
from neyman.sensitivity import Neighbors

__all__ = ["declared", "declared_steps"]


def declared_steps(
    step: TradeOff | None, steps: int | Mapping[TradeOff, int], neighbors: Neighbors
) -> tuple[Steps, ...]:
    """Return the kinds of steps that a caller declares.

    Args:
        step: the only kind; None if `steps` holds the kinds.
        steps: how many of that kind; or a mapping from each kind to its number.
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
    """Return the entry that an allowance reserves.

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
