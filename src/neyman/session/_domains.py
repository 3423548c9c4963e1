"""Where values of a function lie, as people write it."""

from collections.abc import Sequence
from typing import cast

from neyman.errors import InvalidParameter
from neyman.functional import Box, Domain, Interval, Side
from neyman.functional._bases._domain import Outside
from neyman.numerics import Real

__all__ = ["domain_of", "side_of"]


def domain_of(domain: object, outside: Outside = "count") -> Domain | None:
    """Return where values lie; two ends are an interval, whose values outside are counted apart.

    Raises:
        InvalidParameter: if it is no domain.
    """
    if domain is None or isinstance(domain, Side | Box):
        return domain
    listed = isinstance(domain, tuple | list)
    given = tuple(cast("Sequence[object]", domain)) if listed else ()
    if len(given) == 2 and not any(isinstance(end, tuple | list | Side) for end in given):
        lower, upper = cast("tuple[Real, Real]", given)
        return Interval(lower, upper, outside=outside)
    if not given:
        raise InvalidParameter(
            f"domain must be two ends; got {type(domain).__name__}. Write domain=(0, 240), "
            'Interval(0, 240, outside="drop") or Circle(24)'
        )
    return Box(*cast("list[Side]", [domain_of(side, "clip") for side in given]))


def side_of(domain: object) -> Side | None:
    """Return where the values of one column lie.

    Raises:
        InvalidParameter: if it is no such thing.
    """
    found = domain_of(domain, "clip")
    if found is not None and not isinstance(found, Side):
        raise InvalidParameter(
            f"domain must be of one column; got {len(found.sides)} sides. Write domain=(0, 240)"
        )
    return found
