"""Pairs as JSON, by the name of their kind."""

import re
from collections.abc import Callable, Mapping
from dataclasses import fields as fields_of
from fractions import Fraction
from typing import Any, cast, get_args, get_origin, get_type_hints

from neyman.curves._algebra._composed import ComposedPair, composed
from neyman.curves._algebra._lattice_algebra import (
    BestPair,
    ExtremePair,
    MixturePair,
    WorstPair,
    joined,
    mixed,
)
from neyman.curves._pair import KINDS, Pair, SwappedPair
from neyman.curves._pairs._allocation import AllocationPair, AllocationSwapPair
from neyman.curves._pairs._chained import ChainedPair, chained
from neyman.curves._pairs._clones import ClonesPair
from neyman.curves._pairs._discrete import DiscreteGaussianPair, DiscreteLaplacePair, DiscretePair
from neyman.curves._pairs._erased import ErasedPair, erased
from neyman.curves._pairs._gaussian import GaussianPair
from neyman.curves._pairs._gaussian_mixture import GaussianMixturePair, gaussian_mixture_pair
from neyman.curves._pairs._identity import IdentityPair
from neyman.curves._pairs._laplace import LaplacePair
from neyman.curves._pairs._logistic import LogisticPair
from neyman.curves._pairs._randomized_response import RandomizedResponsePair
from neyman.curves._pairs._sampled import SampledPair, SampledSwapPair
from neyman.curves._pairs._staircase import StaircasePair
from neyman.curves._pairs._symmetrised import SymmetrisedPair
from neyman.curves._statements._cdp import CdpPair
from neyman.curves._statements._rdp import RdpPair
from neyman.curves._statements._tcdp import TcdpPair
from neyman.curves._statements._zcdp import ZcdpPair
from neyman.errors import InvalidParameter
from neyman.numerics import from_written
from neyman.sensitivity import Neighbors

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
    fields = cast("Mapping[str, object]", record)
    kind = str(fields.get("kind"))
    build, known = _KINDS.get(kind), KINDS.get(kind)
    try:
        if build is not None:
            return build(fields)
        return None if known is None else _of_fields(known, fields)
    except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError):
        return None


def _of_fields(kind: type[Pair], record: Mapping[str, object]) -> Pair:
    """Build a pair from its fields, by their types."""
    types = get_type_hints(kind)
    names = [field.name for field in fields_of(cast("type[Any]", kind))]
    if {*record} != {"kind", *names}:
        raise ValueError
    return kind(**{name: _value(record[name], types[name]) for name in names})


def _value(value: object, type_: object) -> object:
    if type_ is Fraction:
        return _rational(value)
    if isinstance(type_, type) and issubclass(type_, Pair):
        pair = _inner(value)
        if isinstance(pair, type_):
            return pair
        raise ValueError
    if get_origin(type_) is tuple:
        inner, items = get_args(type_), cast("list[object]", value)
        types = [inner[0]] * len(items) if inner[1:] == (...,) else [*inner]
        return tuple(_value(item, each) for item, each in zip(items, types, strict=True))
    if type(value) is not type_ or type_ not in (int, str, bool):
        raise ValueError
    return value


def _rational(value: object) -> Fraction:
    # Neither exponents nor endless digits: both make a short text a huge number.
    if not isinstance(value, str) or len(value) > _LONGEST or _RATIONAL.fullmatch(value) is None:
        raise ValueError
    return Fraction(value)


def _sum(value: object) -> Fraction:
    """Return a sum of squares, which may be longer than what people write."""
    if isinstance(value, str) and value.startswith("0x"):
        return from_written(value)
    return _rational(value)


def _whole(value: object) -> int:
    if type(value) is not int:
        raise ValueError
    return value


def _rationals(value: object) -> tuple[Fraction, ...]:
    return tuple(_rational(item) for item in cast("list[object]", value))


def _couples(value: object) -> tuple[tuple[Fraction, Fraction], ...]:
    pairs = cast("list[tuple[object, object]]", value)
    return tuple((_rational(first), _rational(second)) for first, second in pairs)


def _erased(fields: Mapping[str, object]) -> Pair:
    core = _inner(fields["core"], ErasedPair.kind)
    failures = cast("list[tuple[object, object]]", fields["failures"])
    return erased(core, tuple((_rational(delta), _whole(times)) for delta, times in failures))


def _sampled(fields: Mapping[str, object]) -> SampledPair:
    refused = SampledPair.kind, SampledSwapPair.kind
    base = _inner(fields["base"], *refused)
    return SampledPair(base, _rational(fields["sampling_probability"]))


def _allocation(fields: Mapping[str, object]) -> AllocationPair:
    return AllocationPair(_rational(fields["noise_multiplier"]), _whole(fields["steps"]))


def _composed(fields: Mapping[str, object]) -> Pair:
    parts = cast("list[tuple[object, object]]", fields["parts"])
    refused = ErasedPair.kind, ComposedPair.kind, IdentityPair.kind
    return composed((_inner(record, *refused), _whole(times)) for record, times in parts)


def _chained(fields: Mapping[str, object]) -> Pair:
    links = cast("list[tuple[object, object]]", fields["links"])
    refused = ChainedPair.kind, IdentityPair.kind
    return chained((_inner(record, *refused), _whole(times)) for record, times in links)


def _gaussian_mixture(fields: Mapping[str, object]) -> Pair:
    relation = fields["neighbors"]
    if relation not in (None, "add_remove", "replace_one"):
        raise ValueError
    p = [(-mean, weight) for mean, weight in _couples(fields["p"])]
    q = _couples(fields["q"])
    return gaussian_mixture_pair(_rational(fields["variance"]), p, q, cast("Neighbors", relation))


def _mixture(fields: Mapping[str, object]) -> Pair:
    parts = cast("list[tuple[object, object]]", fields["parts"])
    weights = tuple(_rational(weight) for _, weight in parts)
    return mixed(weights, tuple(_inner(record, MixturePair.kind) for record, _ in parts))


def _joined(build: type[ExtremePair]) -> Callable[[Mapping[str, object]], Pair]:
    def read(fields: Mapping[str, object]) -> Pair:
        parts = cast("list[object]", fields["parts"])
        return joined(build, tuple(_inner(record, build.kind) for record in parts))

    return read


def _inner(record: object, *refused: str) -> Pair:
    """Rebuild a pair within a pair, of a kind that occurs there."""
    fields = cast("Mapping[str, object]", record)
    if fields["kind"] in refused:
        raise ValueError
    return _read(fields)


_LONGEST = 8192
# Layers of objects and lists; a pair within a pair takes two or three.
_DEEPEST = 40
_RATIONAL = re.compile(r"[0-9]+(/[0-9]+)?")
_KINDS: Mapping[str, Callable[[Mapping[str, object]], Pair]] = {
    IdentityPair.kind: lambda _: IdentityPair(),
    GaussianPair.kind: lambda fields: GaussianPair(_sum(fields["mu_squared"])),
    LaplacePair.kind: lambda fields: LaplacePair(_rational(fields["epsilon"])),
    LogisticPair.kind: lambda fields: LogisticPair(_rational(fields["eta"])),
    RandomizedResponsePair.kind: lambda fields: RandomizedResponsePair(
        _rational(fields["epsilon"])
    ),
    ErasedPair.kind: _erased,
    SampledPair.kind: _sampled,
    SampledSwapPair.kind: lambda fields: _sampled(fields).swap(),
    ComposedPair.kind: _composed,
    ChainedPair.kind: _chained,
    GaussianMixturePair.kind: _gaussian_mixture,
    SymmetrisedPair.kind: lambda fields: SymmetrisedPair(
        _inner(fields["base"], SymmetrisedPair.kind),
        _rational(fields["sampling_probability"]),
    ),
    ClonesPair.kind: lambda fields: ClonesPair(
        _rational(fields["epsilon"]), _whole(fields["reports"])
    ),
    AllocationPair.kind: _allocation,
    AllocationSwapPair.kind: lambda fields: _allocation(fields).swap(),
    MixturePair.kind: _mixture,
    WorstPair.kind: _joined(WorstPair),
    BestPair.kind: _joined(BestPair),
    ZcdpPair.kind: lambda fields: ZcdpPair(_rational(fields["rho"])),
    CdpPair.kind: lambda fields: CdpPair(_rational(fields["mu"]), _rational(fields["tau_squared"])),
    TcdpPair.kind: lambda fields: TcdpPair(_rational(fields["rho"]), _rational(fields["omega"])),
    RdpPair.kind: lambda fields: RdpPair(_couples(fields["points"])),
    DiscreteGaussianPair.kind: lambda fields: DiscreteGaussianPair(
        _rational(fields["sigma_squared"]), _whole(fields["sensitivity"])
    ),
    DiscreteLaplacePair.kind: lambda fields: DiscreteLaplacePair(
        _rational(fields["a"]), _whole(fields["sensitivity"])
    ),
    StaircasePair.kind: lambda fields: StaircasePair(
        _rational(fields["epsilon"]),
        _whole(fields["period"]),
        _whole(fields["width"]),
        _whole(fields["sensitivity"]),
    ),
    DiscretePair.kind: lambda fields: DiscretePair(
        _rationals(fields["p"]), _rationals(fields["q"])
    ),
    SwappedPair.kind: lambda fields: _inner(
        fields["pair"], ErasedPair.kind, SwappedPair.kind
    ).swap(),
}
