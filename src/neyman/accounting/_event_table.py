"""A table of the events of dp_accounting, with one function for each."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias, final

from neyman.accounting._repeated import repeat_and_select
from neyman.accounting._samplers import (
    Sampled,
    random_allocation,
    with_replacement,
    without_replacement,
)
from neyman.accounting._truncated import truncated_poisson, truncated_poisson_places
from neyman.arguments import whole
from neyman.curves import (
    TradeOff,
    approx_dp,
    discrete,
    discrete_gaussian,
    discrete_laplace,
    dominated_by,
    gaussian_mixture,
    gdp,
    identity,
    laplace,
    poisson,
    poisson_replace,
    pure_dp,
    rdp,
    zcdp,
)
from neyman.curves._algebra._group import replaced
from neyman.errors import InvalidParameter, RelationMismatch
from neyman.numerics import Real, exact, exact_size, shares, text
from neyman.sensitivity import Neighbors

__all__ = ["Opened", "Relation", "open_event"]

# One record replaced by a special, empty one, which adds nothing to a sum.
Relation: TypeAlias = Neighbors | Literal["replace_special"]
# The orders that are kept of a statement at all real orders: a geometric grid of order - 1.
_ORDERS = tuple(1 + Fraction(round(2**20 * 2 ** (k / 8)), 2**20) for k in range(-80, 129))
_LARGEST_DIVERGENCE = 2**20


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The content of one event, one level down.

    Attributes:
        curve: its own guarantee; None if it is only the composition of its parts.
        mu_squared: used instead if the event is Gaussian noise.
        eta: used instead if only the range of its loss is known, which composes better than any
            single curve.
        parts: the events inside, each with how many times it is run.
        sampled: a function from the guarantee of the parts to the guarantee of their sample or
            selection; None if the parts are run as they are.
        inside: the relation that applies to the parts, if it is another one.
    """

    curve: TradeOff | None = None
    mu_squared: Fraction | None = None
    eta: Fraction | None = None
    parts: tuple[tuple[object, int], ...] = ()
    sampled: Callable[[TradeOff], TradeOff] | None = None
    inside: Relation | None = None


_NON_PRIVATE = Opened(curve=approx_dp(0, 1))

_Row: TypeAlias = Callable[[Any, Relation], Opened]


def open_event(event: object, neighbors: Relation) -> Opened:
    """Return the content of an event, by the name of its class.

    Raises:
        InvalidParameter: if the class is not in the table, or its fields make no sense.
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
            f"a {name} must have the field {missing.name!r}; write the event with the fields "
            "that dp_accounting gives it"
        ) from None


# -- structure ------------------------------------------------------------------------------------


def _self_composed(event: Any, _: Relation) -> Opened:
    return Opened(parts=((event.event, whole("count", event.count, 0)),))


def _composed(event: Any, _: Relation) -> Opened:
    return Opened(parts=tuple((part, 1) for part in event.events))


def _poisson_sampled(event: Any, neighbors: Relation) -> Opened:
    """A Poisson sample: the worst pair of the parts, mixed with this probability.

    To replace a record is to add two. The parts are read for one record added, and the sample
    combines both.
    """
    probability = exact(event.sampling_probability, "sampling_probability")
    if not 0 <= probability <= 1:
        raise InvalidParameter(f"sampling_probability must be in [0, 1]; got {text(probability)}")
    if probability in (0, 1):
        return Opened(parts=((event.event, int(probability)),))
    sampling = poisson_replace if neighbors == "replace_one" else poisson
    return Opened(
        parts=((event.event, 1),),
        sampled=lambda curve: sampling(curve, probability),
        inside="add_remove",
    )


def _without_replacement(event: Any, neighbors: Relation) -> Opened:
    """A batch without replacement: the rest of the batch is the same on both sides."""
    return _fixed_size(event, neighbors, without_replacement)


def _with_replacement(event: Any, neighbors: Relation) -> Opened:
    """A batch with replacement: one record may be drawn several times."""
    return _fixed_size(event, neighbors, with_replacement)


def _fixed_size(event: Any, neighbors: Relation, sampler: Callable[..., Sampled]) -> Opened:
    """A batch of a fixed size. Any other record may take the place of a special record."""
    special = neighbors == "replace_special"
    if not special:
        _only("replace_one", event, neighbors)
    records = whole("source_dataset_size", event.source_dataset_size, 0)
    batch = whole("sample_size", event.sample_size, 0)
    if batch == 0:
        return Opened()

    def sampled(curve: TradeOff) -> TradeOff:
        found = sampler(replaced(curve) if special else curve, records=records, batch=batch).curve
        return dominated_by(found.dominating()) if special else found

    return Opened(parts=((event.event, 1),), sampled=sampled)


def _repeat_and_select(event: Any, _: Relation) -> Opened:
    return Opened(
        parts=((event.event, 1),),
        sampled=lambda curve: repeat_and_select(curve, mean=event.mean, shape=event.shape),
    )


def _random_allocation(event: Any, neighbors: Relation) -> Opened:
    """Gaussian noise at every step; each record takes part in some steps, chosen at random."""
    _only("add_remove", event, neighbors)
    inner = event.event
    if type(inner).__name__ != "GaussianDpEvent":
        raise _unknown(f"RandomAllocationDpEvent of a {type(inner).__name__}")
    precision = _precision(inner.noise_multiplier, "noise_multiplier")
    if not precision:
        return _all_or_nothing(precision)
    chosen, steps = (
        whole("num_selected", event.num_selected, 0),
        whole("num_steps", event.num_steps, 0),
    )
    found = random_allocation(noise_multiplier=1 / precision, steps=steps, chosen=chosen)
    return Opened(curve=found)


def _truncated(event: Any, neighbors: Relation) -> Opened:
    """A Poisson sample; if it is too large, a random subset of it."""
    precision = _precision(event.noise_multiplier, "noise_multiplier")
    probability = exact(event.sampling_probability, "sampling_probability")
    records, most = (
        whole("dataset_size", event.dataset_size, 0),
        whole("truncated_batch_size", event.truncated_batch_size, 0),
    )
    if 0 in (records, most, probability):
        return Opened()
    if not precision:
        return _all_or_nothing(precision)
    f = gdp(precision)
    if neighbors == "replace_special":
        # The special record is drawn and takes a place in the sample, like any other.
        found = truncated_poisson_places(
            f, sampling_probability=probability, most=most, places=records
        )
    else:
        found = truncated_poisson(
            f,
            sampling_probability=probability,
            most=most,
            records=records,
            neighbors=neighbors,
            dropped="at_random",
        )
    return Opened(curve=found)


# -- noise, in units of the largest record, so that a replacement counts twice -------------------


def _gaussian(event: Any, neighbors: Relation) -> Opened:
    precision = _precision(event.noise_multiplier, "noise_multiplier")
    if not precision:
        return _all_or_nothing(precision)
    return Opened(mu_squared=(_largest_change(neighbors) * precision) ** 2)


def _tree(event: Any, neighbors: Relation) -> Opened:
    """A tree: each record enters the nodes above one leaf, one per level, all with this noise."""
    precision = _precision(event.noise_multiplier, "noise_multiplier")
    if not precision:
        return _all_or_nothing(precision)
    counts = event.step_counts
    longest = max((whole("step_counts", n, 0) for n in _many(counts)), default=0)
    squared = longest.bit_length() * (_largest_change(neighbors) * precision) ** 2
    return Opened(mu_squared=squared or None)


def _many(value: Any) -> tuple[Any, ...]:
    try:
        return tuple(value)
    except TypeError:
        return (value,)


def _laplace(event: Any, neighbors: Relation) -> Opened:
    """Laplace noise on each coordinate; the worst case is one coordinate with the whole change."""
    precision = _precision(event.noise_multiplier, "noise_multiplier")
    if not precision:
        return _all_or_nothing(precision)
    return Opened(curve=laplace(_largest_change(neighbors) * precision))


def _discrete_laplace(event: Any, neighbors: Relation) -> Opened:
    """Noise on the integers with masses proportional to e^(-noise_parameter |x|)."""
    rate = exact_size(event.noise_parameter, "noise_parameter")
    change = whole("sensitivity", event.sensitivity, 0) * _largest_change(neighbors)
    if change == 0:
        return Opened(curve=identity())
    if rate == 0:
        raise InvalidParameter(
            "noise_parameter of a DiscreteLaplaceDpEvent must be positive; got 0"
        )
    return Opened(curve=discrete_laplace(rate, sensitivity=change))


def _discrete_gaussian(event: Any, neighbors: Relation) -> Opened:
    """Discrete Gaussian noise: exact for one coordinate, by its divergences for several.

    An integer change of length below sqrt(2) moves one coordinate by 1, whatever the dimension.
    """
    precision = _precision(event.sigma, "sigma")
    if not precision:
        return _all_or_nothing(precision)
    longest = exact_size(event.sensitivity, "sensitivity") * _largest_change(neighbors)
    square = math.floor(longest**2)
    if square == 0:
        return Opened(curve=identity())
    dimension = event.dimension
    if dimension is not None:
        dimension = whole("dimension", dimension, 1)
    if square == 1 or dimension == 1:
        change = math.isqrt(square)
        return Opened(curve=discrete_gaussian(variance=1 / precision**2, sensitivity=change))
    return Opened(curve=zcdp(square * precision**2 / 2))


def _mixture_of_gaussians(event: Any, neighbors: Relation) -> Opened:
    """Gaussian noise added to a record whose contribution has each length with its probability."""
    _only("add_remove", event, neighbors)
    precision = _precision(event.standard_deviation, "standard_deviation")
    if not precision:
        return _all_or_nothing(precision)
    weights = [exact(float(weight), "a probability") for weight in event.sampling_probs]
    lengths = [exact(float(length), "a sensitivity") for length in event.sensitivities]
    if len(weights) != len(lengths) or shares(weights) is None or min(lengths) < 0:
        raise InvalidParameter(
            "a mixture of Gaussians needs sensitivities of at least 0 and one probability for "
            f"each, with sum 1; got {len(lengths)} sensitivities and {len(weights)} "
            f"probabilities with sum {text(sum(weights, Fraction(0)))}"
        )
    changes: dict[Real, Real] = {}
    for length, weight in zip(lengths, weights, strict=True):
        changes[length] = exact(changes.get(length, 0), "a probability") + weight
    noise = 1 / precision
    return Opened(curve=gaussian_mixture(changes, noise_multiplier=noise, neighbors="add_remove"))


# -- guarantees stated outright, or of a finite law -----------------------------------------------


def _randomized_response(event: Any, neighbors: Relation) -> Opened:
    """Randomised response: one of the buckets at random with this probability, else the true one.

    A special record answers at random.
    """
    if neighbors != "replace_special":
        _only("replace_one", event, neighbors)
    noise = exact(event.noise_parameter, "noise_parameter")
    buckets = whole("num_buckets", event.num_buckets, 0)
    if not 0 <= noise <= 1 or buckets == 0:
        raise InvalidParameter(
            "noise_parameter must be a probability and num_buckets at least 1; got "
            f"noise_parameter={text(noise)}, num_buckets={buckets}"
        )
    if noise == 1 or buckets == 1:
        return Opened(curve=identity())
    wrong = noise / buckets
    right, others = 1 - noise + wrong, (buckets - 2) * wrong
    if neighbors == "replace_special":
        any_one = Fraction(1, buckets)
        return Opened(curve=discrete((any_one, 1 - any_one), (right, 1 - right)))
    if noise == 0:
        return Opened(curve=approx_dp(0, 1))
    same = (others,) if others else ()
    return Opened(curve=discrete((right, wrong, *same), (wrong, right, *same)))


def _epsilon_delta(event: Any, _: Relation) -> Opened:
    if event.epsilon == math.inf or event.delta == 1:
        return _NON_PRIVATE
    return Opened(curve=approx_dp(event.epsilon, event.delta))


def _exponential_mechanism(event: Any, _: Relation) -> Opened:
    # The event is of range epsilon: max L - min L <= epsilon.
    if event.epsilon == math.inf:
        return _NON_PRIVATE
    return Opened(eta=exact_size(event.epsilon, "epsilon") or None)


def _permute_and_flip(event: Any, _: Relation) -> Opened:
    if event.epsilon == math.inf:
        return _NON_PRIVATE
    return Opened(curve=dominated_by(laplace(event.epsilon)))


def _zcdp(event: Any, _: Relation) -> Opened:
    """D_a <= xi + rho a at all orders a, kept at some; divergences are convex between them."""
    if math.inf in (event.rho, event.xi):
        return _NON_PRIVATE
    rho, xi = exact_size(event.rho, "rho"), exact_size(event.xi, "xi")
    if rho == 0:
        # At all orders, infinity included.
        return Opened(curve=pure_dp(xi))
    if xi == 0:
        return Opened(curve=zcdp(rho))
    bounds = [(order, xi + rho * order) for order in _ORDERS]
    kept = [(order, bound) for order, bound in bounds if bound <= _LARGEST_DIVERGENCE]
    return Opened(curve=rdp(kept) if kept else approx_dp(0, 1))


_ROWS: Mapping[str, _Row] = {
    "NoOpDpEvent": lambda _event, _neighbors: Opened(),
    "NonPrivateDpEvent": lambda _event, _neighbors: _NON_PRIVATE,
    "SelfComposedDpEvent": _self_composed,
    "ComposedDpEvent": _composed,
    "PoissonSampledDpEvent": _poisson_sampled,
    "SampledWithoutReplacementDpEvent": _without_replacement,
    "SampledWithReplacementDpEvent": _with_replacement,
    "RepeatAndSelectDpEvent": _repeat_and_select,
    "RandomAllocationDpEvent": _random_allocation,
    "TruncatedSubsampledGaussianDpEvent": _truncated,
    "GaussianDpEvent": _gaussian,
    "SingleEpochTreeAggregationDpEvent": _tree,
    "LaplaceDpEvent": _laplace,
    "DiscreteLaplaceDpEvent": _discrete_laplace,
    "DiscreteGaussianDpEvent": _discrete_gaussian,
    "MixtureOfGaussiansDpEvent": _mixture_of_gaussians,
    "RandomizedResponseDpEvent": _randomized_response,
    "EpsilonDeltaDpEvent": _epsilon_delta,
    "ExponentialMechanismDpEvent": _exponential_mechanism,
    "PermuteAndFlipDpEvent": _permute_and_flip,
    "ZCDpEvent": _zcdp,
}


# -- fields ---------------------------------------------------------------------------------------


def _largest_change(neighbors: Relation) -> int:
    """Return how far a sum moves, in units of the largest record."""
    return 2 if neighbors == "replace_one" else 1


def _only(relation: Neighbors, event: object, neighbors: Relation) -> None:
    if neighbors != relation and (relation, neighbors) != ("add_remove", "replace_special"):
        raise RelationMismatch(
            f"the guarantee of a {type(event).__name__} is known only under {relation!r}; got "
            f"{neighbors!r}. Write neighbors={relation!r} if this is the relation of the whole tree"
        )


def _precision(noise: Any, name: str) -> Fraction | None:
    """Return 1 / scale of the noise: 0 if the scale is infinite, None if it is 0."""
    if noise == math.inf:
        return Fraction(0)
    scale = exact_size(noise, name)
    return 1 / scale if scale else None


def _all_or_nothing(precision: Fraction | None) -> Opened:
    """Return the event without any noise (None) or with infinite noise (0)."""
    return _NON_PRIVATE if precision is None else Opened()


def _unknown(name: str) -> InvalidParameter:
    known = ", ".join(sorted(_ROWS))
    return InvalidParameter(
        f"an event must be one of {known}; got a {name}. Write the trade-off function of what "
        "was run, and compose it with @"
    )
