"""Guarantees with their labels."""

from collections.abc import Mapping
from typing import cast

from neyman.arguments import check_type
from neyman.curves import TradeOff

__all__ = ["labelled"]


def labelled(curves: TradeOff | Mapping[str, TradeOff]) -> Mapping[str, TradeOff]:
    """Return guarantees by label; the label of a single one is its text.

    Raises:
        InvalidParameter: if one is anything else.
    """
    instead = 'a guarantee such as gdp(1), or several by label: {"one": gdp(1), "two": pure_dp(1)}'
    check_type("curves", curves, TradeOff | Mapping, instead)
    if isinstance(curves, TradeOff):
        return {str(curves): curves}
    for curve in cast("Mapping[object, object]", curves).values():
        check_type("a curve", curve, TradeOff, instead)
    return {str(label): curve for label, curve in curves.items()}
