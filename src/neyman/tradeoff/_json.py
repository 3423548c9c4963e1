"""Pairs as JSON, by the name of their kind."""

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import cast

from neyman.errors import InvalidParameter
from neyman.tradeoff._erased import ErasedPair, erased
from neyman.tradeoff._gaussian import GaussianPair
from neyman.tradeoff._identity import IdentityPair
from neyman.tradeoff._laplace import LaplacePair
from neyman.tradeoff._pair import Pair, SwappedPair
from neyman.tradeoff._randomized_response import RandomizedResponsePair

__all__ = ["pair_from_json", "pair_to_json"]


def pair_to_json(pair: Pair) -> dict[str, object]:
    """Return the kind and the exact parameters."""
    return {"kind": pair.kind, **pair.parameters()}


def pair_from_json(record: object) -> Pair:
    """Rebuild a pair.

    Raises:
        InvalidParameter: if the record is not one that `pair_to_json` wrote.
    """
    pair = _rebuilt(record)
    # Equal guarantees have one record each, so what is read must be what would be written.
    if pair is None or pair_to_json(pair) != record:
        raise InvalidParameter(
            "a record of a pair is malformed or of an unknown kind; write it by to_json; "
            "known kinds are " + ", ".join(sorted(_KINDS))
        )
    return pair


def _rebuilt(record: object) -> Pair | None:
    if not isinstance(record, Mapping):
        return None
    fields = cast("Mapping[str, object]", record)
    build = _KINDS.get(str(fields.get("kind")))
    try:
        return build(fields) if build is not None else None
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return None


def _rational(value: object) -> Fraction:
    # Neither exponents nor endless digits: both make a short text a huge number.
    if not isinstance(value, str) or len(value) > _LONGEST or _RATIONAL.fullmatch(value) is None:
        raise ValueError
    return Fraction(value)


def _whole(value: object) -> int:
    if type(value) is not int:
        raise ValueError
    return value


def _erased(fields: Mapping[str, object]) -> Pair:
    core = _inner(fields["core"], ErasedPair.kind)
    failures = cast("list[tuple[object, object]]", fields["failures"])
    return erased(core, tuple((_rational(delta), _whole(times)) for delta, times in failures))


def _inner(record: object, *refused: str) -> Pair:
    """Rebuild a pair within a pair; refusing kinds that never nest bounds the depth."""
    fields = cast("Mapping[str, object]", record)
    if fields["kind"] in refused:
        raise ValueError
    return pair_from_json(fields)


_LONGEST = 8192
_RATIONAL = re.compile(r"[0-9]+(/[0-9]+)?")
_KINDS: Mapping[str, Callable[[Mapping[str, object]], Pair]] = {
    IdentityPair.kind: lambda _: IdentityPair(),
    GaussianPair.kind: lambda fields: GaussianPair(_rational(fields["mu_squared"])),
    LaplacePair.kind: lambda fields: LaplacePair(_rational(fields["epsilon"])),
    RandomizedResponsePair.kind: lambda fields: RandomizedResponsePair(
        _rational(fields["epsilon"])
    ),
    ErasedPair.kind: _erased,
    SwappedPair.kind: lambda fields: _inner(
        fields["pair"], ErasedPair.kind, SwappedPair.kind
    ).swap(),
}
