"""What each event of dp_accounting says, one row each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, final

from neyman.accounting._samplers import random_allocation, without_replacement
from neyman.accounting._truncated import truncated_poisson
from neyman.accounting._whole import whole_number
from neyman.curves import (
    TradeOff,
    approx_dp,
    bounded_range,
    discrete,
    discrete_laplace,
    gaussian_mixture,
    gdp,
    identity,
    laplace,
    poisson,
    poisson_replace,
    zcdp,
)
from neyman.errors import InvalidParameter, RelationMismatch
from neyman.numerics import Real, exact, text
from neyman.sensitivity import Neighbors

__all__ = ["Opened", "open_event"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An event, one level down.

    Attributes:
        curve: its own guarantee; None where it is only the sum of its parts.
        mu_squared: instead, where it is Gaussian noise.
        parts: the events inside, each with how often it is run.
        sampled: what sampling makes of the guarantee of the parts; None where all records are in.
        inside: the relation that the parts are read under, if it is another.
    """

    curve: TradeOff | None = None
    mu_squared: Fraction | None = None
    parts: tuple[tuple[object, int], ...] = ()
    sampled: Callable[[TradeOff], TradeOff] | None = None
    inside: Neighbors | None = None


_Row: TypeAlias = Callable[[Any, Neighbors], Opened]


def open_event(event: object, neighbors: Neighbors) -> Opened:
    """Look an event up by the name of its class.

    Raises:
        InvalidParameter: if it has no row, or its fields make no sense.
        RelationMismatch: if it has no meaning under this relation.
    """
    name = type(event).__name__
    row = _ROWS.get(name)
    if row is None:
        raise _unknown(name)
    try:
        return row(event, neighbors)
    except AttributeError as missing:
        if missing.obj is not event:
            raise
        raise InvalidParameter(
            f"a {name} without the field {missing.name!r} was found; "
            "write the event with the fields that dp_accounting gives it"
        ) from None


# -- structure ------------------------------------------------------------------------------------


def _self_composed(event: Any, _: Neighbors) -> Opened:
    return Opened(parts=((event.event, whole_number(event.count, "count", least=0)),))


def _composed(event: Any, _: Neighbors) -> Opened:
    return Opened(parts=tuple((part, 1) for part in event.events))


def _poisson_sampled(event: Any, neighbors: Neighbors) -> Opened:
    """The worst pair of the parts, mixed: the record is in with this probability.

    One record replaced is two: the parts are read for one added, whose sample is taken of both.
    """
    probability = exact(event.sampling_probability, "sampling_probability")
    if not 0 <= probability <= 1:
        raise InvalidParameter(
            f"sampling_probability={text(probability)} leaves [0, 1]; write a probability"
        )
    if probability in (0, 1):
        return Opened(parts=((event.event, int(probability)),))
    sampling = {"add_remove": poisson, "replace_one": poisson_replace}[neighbors]
    return Opened(
        parts=((event.event, 1),),
        sampled=lambda curve: sampling(curve, probability),
        inside="add_remove",
    )


def _without_replacement(event: Any, neighbors: Neighbors) -> Opened:
    """The batch without the one record is the same on both sides."""
    _only("replace_one", event, neighbors)
    records = whole_number(event.source_dataset_size, "source_dataset_size", least=0)
    batch = whole_number(event.sample_size, "sample_size", least=0)
    return Opened(
        parts=((event.event, 1),),
        sampled=lambda curve: without_replacement(curve, records=records, batch=batch).curve,
    )


def _random_allocation(event: Any, neighbors: Neighbors) -> Opened:
    """Of one step of Gaussian noise, chosen among so many."""
    _only("add_remove", event, neighbors)
    inner = event.event
    if type(inner).__name__ != "GaussianDpEvent":
        raise _unknown(f"RandomAllocationDpEvent of a {type(inner).__name__}")
    scale = _positive(inner.noise_multiplier, "noise_multiplier")
    if scale is None:
        return Opened(curve=approx_dp(0, 1))
    chosen, steps = (
        whole_number(event.num_selected, "num_selected", least=0),
        whole_number(event.num_steps, "num_steps", least=0),
    )
    return Opened(curve=random_allocation(noise_multiplier=scale, steps=steps, chosen=chosen))


def _truncated(event: Any, neighbors: Neighbors) -> Opened:
    """Poisson's, and lost where so many others are sampled that a batch may be cut off."""
    _only("add_remove", event, neighbors)
    scale = _positive(event.noise_multiplier, "noise_multiplier")
    if scale is None:
        return Opened(curve=approx_dp(0, 1))
    probability = exact(event.sampling_probability, "sampling_probability")
    return Opened(
        curve=truncated_poisson(
            gdp(1 / scale),
            sampling_probability=probability,
            most=whole_number(event.truncated_batch_size, "truncated_batch_size", least=0),
            records=whole_number(event.dataset_size, "dataset_size", least=0),
        )
    )


# -- noise: in units of the largest record, so that one replaced counts twice -------------------


def _gaussian(event: Any, neighbors: Neighbors) -> Opened:
    scale = _positive(event.noise_multiplier, "noise_multiplier")
    if scale is None:
        return Opened(curve=approx_dp(0, 1))
    return Opened(mu_squared=(_largest_change(neighbors) / scale) ** 2)


def _tree(event: Any, neighbors: Neighbors) -> Opened:
    """Each record enters the nodes above one leaf, one of each level, all with this noise."""
    scale = _positive(event.noise_multiplier, "noise_multiplier")
    if scale is None:
        return Opened(curve=approx_dp(0, 1))
    counts = event.step_counts
    longest = max((whole_number(n, "step_counts", least=0) for n in _many(counts)), default=0)
    levels = longest.bit_length()
    return Opened(mu_squared=levels * (_largest_change(neighbors) / scale) ** 2 if levels else None)


def _many(value: Any) -> tuple[Any, ...]:
    try:
        return tuple(value)
    except TypeError:
        return (value,)


def _laplace(event: Any, neighbors: Neighbors) -> Opened:
    """Added to each coordinate; worst where one coordinate takes the whole change."""
    scale = _positive(event.noise_multiplier, "noise_multiplier")
    if scale is None:
        return Opened(curve=approx_dp(0, 1))
    return Opened(curve=laplace(_largest_change(neighbors) / scale))


def _discrete_laplace(event: Any, neighbors: Neighbors) -> Opened:
    """Masses proportional to e^(-noise_parameter |x|), on the integers."""
    rate = _positive(event.noise_parameter, "noise_parameter")
    change = whole_number(event.sensitivity, "sensitivity", least=0) * _largest_change(neighbors)
    if change == 0:
        return Opened(curve=identity())
    if rate is None:
        raise InvalidParameter(
            "noise_parameter=0 was found in a DiscreteLaplaceDpEvent, and no law on the integers "
            "has it; write a positive one"
        )
    return Opened(curve=discrete_laplace(rate, sensitivity=change))


def _mixture_of_gaussians(event: Any, neighbors: Neighbors) -> Opened:
    """What a record adds has this length with this probability; all else is Gaussian noise."""
    _only("add_remove", event, neighbors)
    scale = _positive(event.standard_deviation, "standard_deviation")
    if scale is None:
        return Opened(curve=approx_dp(0, 1))
    weights = [exact(float(weight), "a probability") for weight in event.sampling_probs]
    lengths = [exact(float(length), "a sensitivity") for length in event.sensitivities]
    if len(weights) != len(lengths) or sum(weights) != 1 or min(lengths, default=Fraction(0)) < 0:
        raise InvalidParameter(
            f"a mixture of Gaussians with {len(lengths)} sensitivities and probabilities of sum "
            f"{text(sum(weights, Fraction(0)))} was found; write sensitivities of at least 0 and "
            "one probability for each, with the sum exactly 1"
        )
    changes: dict[Real, Real] = {}
    for length, weight in zip(lengths, weights, strict=True):
        changes[length] = exact(changes.get(length, 0), "a probability") + weight
    return Opened(curve=gaussian_mixture(changes, noise_multiplier=scale, neighbors="add_remove"))


# -- guarantees stated outright, or of a finite law -----------------------------------------------


def _randomized_response(event: Any, neighbors: Neighbors) -> Opened:
    """With this probability one of the buckets at random, else the true one."""
    _only("replace_one", event, neighbors)
    noise = exact(event.noise_parameter, "noise_parameter")
    buckets = whole_number(event.num_buckets, "num_buckets", least=0)
    if not 0 <= noise <= 1 or buckets == 0:
        raise InvalidParameter(
            f"noise_parameter={text(noise)} and num_buckets={buckets} were found; "
            "write a probability and at least one bucket"
        )
    if noise == 1 or buckets == 1:
        return Opened(curve=identity())
    if noise == 0:
        return Opened(curve=approx_dp(0, 1))
    wrong = noise / buckets
    right, others = 1 - noise + wrong, (buckets - 2) * wrong
    same = (others,) if others else ()
    return Opened(curve=discrete((right, wrong, *same), (wrong, right, *same)))


def _epsilon_delta(event: Any, _: Neighbors) -> Opened:
    return Opened(
        curve=approx_dp(0, 1) if event.delta == 1 else approx_dp(event.epsilon, event.delta)
    )


def _exponential_mechanism(event: Any, _: Neighbors) -> Opened:
    # The event is of range epsilon: max L - min L <= epsilon.
    return Opened(curve=bounded_range(event.epsilon))


def _permute_and_flip(event: Any, _: Neighbors) -> Opened:
    return Opened(curve=laplace(event.epsilon))


def _zcdp(event: Any, _: Neighbors) -> Opened:
    rho, xi = _positive(event.rho, "rho"), exact(event.xi, "xi")
    if xi != 0:
        raise InvalidParameter(
            f"xi={text(xi)} was found in a ZCDpEvent, and only xi = 0 is read; "
            "write rdp([(order, xi + rho * order), ...]) at the orders that matter"
        )
    if rho is None:
        return Opened(curve=identity())
    return Opened(curve=zcdp(rho))


_ROWS: Mapping[str, _Row] = {
    "NoOpDpEvent": lambda _event, _neighbors: Opened(),
    "NonPrivateDpEvent": lambda _event, _neighbors: Opened(curve=approx_dp(0, 1)),
    "SelfComposedDpEvent": _self_composed,
    "ComposedDpEvent": _composed,
    "PoissonSampledDpEvent": _poisson_sampled,
    "SampledWithoutReplacementDpEvent": _without_replacement,
    "RandomAllocationDpEvent": _random_allocation,
    "TruncatedSubsampledGaussianDpEvent": _truncated,
    "GaussianDpEvent": _gaussian,
    "SingleEpochTreeAggregationDpEvent": _tree,
    "LaplaceDpEvent": _laplace,
    "DiscreteLaplaceDpEvent": _discrete_laplace,
    "MixtureOfGaussiansDpEvent": _mixture_of_gaussians,
    "RandomizedResponseDpEvent": _randomized_response,
    "EpsilonDeltaDpEvent": _epsilon_delta,
    "ExponentialMechanismDpEvent": _exponential_mechanism,
    "PermuteAndFlipDpEvent": _permute_and_flip,
    "ZCDpEvent": _zcdp,
}


# -- fields ---------------------------------------------------------------------------------------


def _largest_change(neighbors: Neighbors) -> int:
    """Return how many largest records a sum moves by."""
    return {"add_remove": 1, "replace_one": 2}[neighbors]


def _only(relation: Neighbors, event: object, neighbors: Neighbors) -> None:
    if neighbors != relation:
        raise RelationMismatch(
            f"a {type(event).__name__} was read under {neighbors!r}, and its guarantee is known "
            f"under {relation!r} only; write neighbors={relation!r}, if this is the relation that "
            "the rest of the tree is meant for"
        )


def _positive(value: object, name: str) -> Fraction | None:
    """Return a positive number, or None for 0."""
    number = exact(value, name)
    if number < 0:
        raise InvalidParameter(f"{name}={text(number)} is negative; write a positive number")
    return number or None


def _unknown(name: str) -> InvalidParameter:
    known = ", ".join(sorted(_ROWS))
    return InvalidParameter(
        f"a {name} was found, which is not known here; known are {known}. "
        "Write the trade-off function of what was run, and compose it with @"
    )
