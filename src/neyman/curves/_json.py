"""Pairs as JSON, by the name of their kind: its fields, and its one normal form."""

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from types import UnionType
from typing import Any, cast, get_args, get_origin, get_type_hints

# Its kinds are known by being defined, and nothing else in this room defines them.
import neyman.curves._pairs._allocation  # noqa: F401  # pyright: ignore[reportUnusedImport]
from neyman.curves._algebra._composed import ComposedPair, composed
from neyman.curves._algebra._lattice_algebra import (
    BestPair,
    ExtremePair,
    MixturePair,
    WorstPair,
    joined,
    mixed,
)
from neyman.curves._pair import KINDS, Pair, SwappedPair, names_of
from neyman.curves._pairs._chained import ChainedPair, chained
from neyman.curves._pairs._erased import ErasedPair, erased
from neyman.curves._pairs._gaussian_mixture import GaussianMixturePair, gaussian_mixture_pair
from neyman.errors import InvalidParameter
from neyman.numerics import from_written

__all__ = ["pair_from_json"]


def pair_from_json(record: object) -> Pair:
    """Rebuild a pair.

    Raises:
        InvalidParameter: if the record is not one that `Pair.record` wrote, or is deeper than
            any that is written here.
    """
    return _read(record if _shallow(record) else None)


def _shallow(record: object) -> bool:
    layer = [record]
    for _ in range(_DEEPEST):
        inner: list[object] = []
        for item in layer:
            if isinstance(item, Mapping):
                inner.extend(cast("Mapping[str, object]", item).values())
            elif isinstance(item, list | tuple):
                inner.extend(cast("list[object]", item))
        if not inner:
            return True
        layer = inner
    return False


def _read(record: object) -> Pair:
    pair = _rebuilt(record)
    # Equal guarantees have one record each, so what is read must be what would be written.
    if pair is None or pair.record() != record:
        raise InvalidParameter(
            "a record of a pair is malformed or of an unknown kind; write it by to_json. A kind of "
            "another package is known once that package is imported"
        )
    return pair


def _rebuilt(record: object) -> Pair | None:
    if not isinstance(record, Mapping):
        return None
    values = cast("Mapping[str, object]", record)
    kind = KINDS.get(str(values.get("kind")))
    try:
        return None if kind is None else _normal(_of_fields(kind, values))
    except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError):
        return None


def _of_fields(kind: type[Pair], record: Mapping[str, object]) -> Pair:
    """Build a pair from its fields, by their types."""
    types = _types_of(kind)
    keys = {name: kind.keys.get(name, name) for name in names_of(kind)}
    if {*record} != {"kind", *keys.values()}:
        raise ValueError
    pair = kind(**{name: _value(record[key], types[name]) for name, key in keys.items()})
    # No kind of the library occurs directly within itself.
    if "." not in pair.kind and any(part.kind == pair.kind for part in pair.made_of()):
        raise ValueError
    return pair


@lru_cache(maxsize=256)
def _types_of(kind: type[Pair]) -> Mapping[str, Any]:
    return get_type_hints(kind)


def _value(value: object, type_: object) -> object:
    if type_ is Fraction:
        return _rational(value)
    if isinstance(type_, type) and issubclass(type_, Pair):
        pair = _read(value)
        if isinstance(pair, type_):
            return pair
        raise ValueError
    if isinstance(type_, UnionType):
        first, *_ = get_args(type_)
        return None if value is None else _value(value, first)
    if get_origin(type_) is tuple:
        inner, items = get_args(type_), cast("list[object]", value)
        types = [inner[0]] * len(items) if inner[1:] == (...,) else [*inner]
        return tuple(_value(item, each) for item, each in zip(items, types, strict=True))
    if type(value) is not type_ or type_ not in (int, str, bool):
        raise ValueError
    return value


def _rational(value: object) -> Fraction:
    if not isinstance(value, str):
        raise TypeError
    # A sum of squares may be longer than what people write.
    if value.startswith("0x"):
        return from_written(value)
    # Neither exponents nor endless digits: both make a short text a huge number.
    if len(value) > _LONGEST or _RATIONAL.fullmatch(value) is None:
        raise ValueError
    return Fraction(value)


def _normal(pair: Pair) -> Pair:
    """Return the one normal form of a pair with these fields."""
    return _NORMAL[pair.kind](pair) if pair.kind in _NORMAL else pair


def _erased(pair: Pair) -> Pair:
    assert isinstance(pair, ErasedPair)
    return erased(pair.core, pair.failures)


def _composed(pair: Pair) -> Pair:
    assert isinstance(pair, ComposedPair)
    return composed(pair.parts)


def _chained(pair: Pair) -> Pair:
    assert isinstance(pair, ChainedPair)
    return chained(pair.links)


def _gaussian_mixture(pair: Pair) -> Pair:
    assert isinstance(pair, GaussianMixturePair)
    if pair.relation not in (None, "add_remove", "replace_one"):
        raise ValueError
    below = [(-mean, weight) for mean, weight in pair.p]
    return gaussian_mixture_pair(pair.variance, below, pair.q, pair.relation)


def _mixture(pair: Pair) -> Pair:
    assert isinstance(pair, MixturePair)
    return mixed(tuple(share for _, share in pair.parts), pair.all_parts)


def _joined(pair: Pair) -> Pair:
    assert isinstance(pair, ExtremePair)
    return joined(type(pair), pair.parts)


def _swapped(pair: Pair) -> Pair:
    assert isinstance(pair, SwappedPair)
    return pair.pair.swap()


_LONGEST = 8192
# Layers of objects and lists; a pair within a pair takes two or three.
_DEEPEST = 40
_RATIONAL = re.compile(r"[0-9]+(/[0-9]+)?")
_NORMAL: Mapping[str, Callable[[Pair], Pair]] = {
    ErasedPair.kind: _erased,
    ComposedPair.kind: _composed,
    ChainedPair.kind: _chained,
    GaussianMixturePair.kind: _gaussian_mixture,
    MixturePair.kind: _mixture,
    WorstPair.kind: _joined,
    BestPair.kind: _joined,
    SwappedPair.kind: _swapped,
}
