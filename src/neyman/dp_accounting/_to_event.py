"""Guarantees as events of dp_accounting."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from neyman.accounting._events import relation_of
from neyman.curves import TradeOff
from neyman.curves._algebra._factors import factors_of
from neyman.curves._pair import Pair
from neyman.curves._pairs._discrete import DiscreteGaussianPair, DiscreteLaplacePair
from neyman.curves._pairs._erased import ErasedPair
from neyman.curves._pairs._gaussian import GaussianPair
from neyman.curves._pairs._gaussian_mixture import GaussianMixturePair
from neyman.curves._pairs._identity import IdentityPair
from neyman.curves._pairs._laplace import LaplacePair
from neyman.curves._pairs._randomized_response import RandomizedResponsePair
from neyman.curves._pairs._sampled import SampledPair
from neyman.curves._statements._zcdp import ZcdpPair
from neyman.dp_accounting._package import dp_event
from neyman.errors import UnsupportedComposition
from neyman.numerics import square_roots, standing

__all__ = ["to_dp_event"]

# A pair and how many largest records a sum moves by.
_Row: TypeAlias = Callable[[Any, int], "dp_event.DpEvent | None"]


def to_dp_event(curve: TradeOff, *, neighbors: object) -> dp_event.DpEvent:
    """Return a `dp_accounting.DpEvent` that has this guarantee.

    It is the inverse of `from_dp_event`: `from_dp_event(to_dp_event(f, neighbors=n), neighbors=n)
    == f` if floats can write f's numbers exactly. Equal steps stay together, and several Gaussians
    become one.

    Args:
        curve: a guarantee made of Gaussian, Laplace and discrete noise, (epsilon, delta), rho-zCDP,
            their compositions and Poisson samples.
        neighbors: the relation of the event: "add_remove" or "replace_one", or a member of
            dp_accounting's NeighboringRelation.

    Raises:
        UnsupportedComposition: if dp_accounting, or its installed version, has no event for a part
            of the curve.

    Error: noise is rounded down, sensitivities and probabilities up, to the decimals that a float
        prints as. So the event never has a better guarantee than the curve.

    >>> from neyman.accounting import dp_sgd
    >>> event = to_dp_event(dp_sgd(2, 0.01, 1000), neighbors="add_remove")
    >>> event.count, event.event.sampling_probability, event.event.event.noise_multiplier
    (1000, 0.01, 2.0)
    """
    relation = relation_of(neighbors)
    change = 2 if relation == "replace_one" else 1
    one, other = curve.remove, curve.add
    if other not in (one, one.swap()) or (other == one and not one.symmetric):
        raise UnsupportedComposition(
            f"the two directions of {curve} are not those of one event; compose the event yourself"
        )
    return _written(one, change)


def _written(pair: Pair, change: int) -> dp_event.DpEvent:
    events = [_several(part, times, change) for part, times in factors_of(pair)]
    return events[0] if len(events) == 1 else dp_event.ComposedDpEvent(events)


def _several(pair: Pair, times: int, change: int) -> dp_event.DpEvent:
    row = _ROWS.get(pair.kind)
    event = row and row(pair, change)
    if event is None:
        raise UnsupportedComposition(
            f"dp_accounting has no event for {pair}, at least in the installed version and under "
            "this relation. Write to_dp_event(f.dominating(), ...) where f is known by a bound, or "
            "keep the curve: f.to_json()"
        )
    return event if times == 1 else dp_event.SelfComposedDpEvent(event, times)


def _made(name: str, *fields: object) -> dp_event.DpEvent | None:
    """Return an event of a class that older versions of dp_accounting do not have."""
    kind = getattr(dp_event, name, None)
    return kind and kind(*fields)


# -- one row for each kind of pair ----------------------------------------------------------------


def _gaussian(pair: GaussianPair, change: int) -> dp_event.DpEvent:
    return dp_event.GaussianDpEvent(square_roots(change**2 / pair.mu_squared)[0])


def _laplace(pair: LaplacePair, change: int) -> dp_event.DpEvent:
    return dp_event.LaplaceDpEvent(standing(change / pair.epsilon0)[0])


def _discrete_laplace(pair: DiscreteLaplacePair, change: int) -> dp_event.DpEvent | None:
    if pair.sensitivity % change:
        return None
    return dp_event.DiscreteLaplaceDpEvent(standing(pair.a)[1], pair.sensitivity // change)


def _discrete_gaussian(pair: DiscreteGaussianPair, change: int) -> dp_event.DpEvent | None:
    sigma, length = square_roots(pair.sigma_squared)[0], Fraction(pair.sensitivity, change)
    return _made("DiscreteGaussianDpEvent", sigma, standing(length)[1], 1)


def _randomized_response(pair: RandomizedResponsePair, _: int) -> dp_event.DpEvent | None:
    return _made("EpsilonDeltaDpEvent", standing(pair.bound)[1], 0.0)


def _erased(pair: ErasedPair, change: int) -> dp_event.DpEvent | None:
    """Return the event of failures beside a part that cannot fail."""
    core, failures = pair.core, pair.failures
    if core.kind == IdentityPair.kind and failures == ((Fraction(1), 1),):
        return dp_event.NonPrivateDpEvent()
    epsilon = pair.point() if core.kind == RandomizedResponsePair.kind else None
    if epsilon is not None and len(failures) == failures[0][1] == 1:
        return _made("EpsilonDeltaDpEvent", standing(epsilon)[1], standing(failures[0][0])[1])
    parts = [] if core.kind == IdentityPair.kind else [_written(core, change)]
    for delta, times in failures:
        failed = _made("EpsilonDeltaDpEvent", 0.0, standing(delta)[1])
        if failed is None:
            return None
        parts.append(failed if times == 1 else dp_event.SelfComposedDpEvent(failed, times))
    return parts[0] if len(parts) == 1 else dp_event.ComposedDpEvent(parts)


def _zcdp(pair: ZcdpPair, _: int) -> dp_event.DpEvent:
    return dp_event.ZCDpEvent(standing(pair.rho)[1])


def _sampled(pair: SampledPair, change: int) -> dp_event.DpEvent | None:
    if change != 1:
        return None
    probability = standing(pair.probability)[1]
    return dp_event.PoissonSampledDpEvent(probability, _written(pair.base, change))


def _gaussian_mixture(pair: GaussianMixturePair, change: int) -> dp_event.DpEvent | None:
    if change == 2:
        return _replaced_in_a_sample(pair)
    if len(pair.p) != 1:
        return None
    (least, _), *larger = pair.q
    weights = [standing(weight)[1] for _, weight in larger]
    rest = 1 - sum(map(Fraction, weights), Fraction(0))
    if rest < 0:
        return None
    return dp_event.MixtureOfGaussiansDpEvent(
        square_roots(pair.variance)[0],
        [standing(mean)[1] for mean, _ in ((least, 0), *larger)],
        [standing(rest)[0], *weights],
    )


def _replaced_in_a_sample(pair: GaussianMixturePair) -> dp_event.DpEvent | None:
    """Return the event of opposite records, each in the sample with the same probability."""
    if sorted(pair.p) != sorted(pair.q) or [mean for mean, _ in pair.q] != [0, 1]:
        return None
    noise = dp_event.GaussianDpEvent(square_roots(pair.variance)[0])
    return dp_event.PoissonSampledDpEvent(standing(pair.q[1][1])[1], noise)


_ROWS: Mapping[str, _Row] = {
    IdentityPair.kind: lambda _pair, _change: dp_event.NoOpDpEvent(),
    GaussianPair.kind: _gaussian,
    LaplacePair.kind: _laplace,
    DiscreteLaplacePair.kind: _discrete_laplace,
    DiscreteGaussianPair.kind: _discrete_gaussian,
    RandomizedResponsePair.kind: _randomized_response,
    ErasedPair.kind: _erased,
    ZcdpPair.kind: _zcdp,
    SampledPair.kind: _sampled,
    GaussianMixturePair.kind: _gaussian_mixture,
}
