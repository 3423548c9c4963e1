"""The guarantee of several phases of a training together."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final

from neyman.accounting import dp_sgd
from neyman.arguments import whole
from neyman.curves import TradeOff, compose, dominated_by, gdp, identity, mixture
from neyman.sensitivity import Neighbors, check_neighbors
from neyman.training._phase import Phase
from neyman.training._sampler import sampler_from_json

__all__ = ["guarantee_of", "known_batches"]

_MOST_PASSES: Final = 2**52


def guarantee_of(phases: Iterable[Phase], neighbors: Neighbors) -> TradeOff:
    """Return the guarantee of phases together, where all steps are released.

    Steps with Poisson sampling are independent, so phases compose. Other samplers may divide one
    pass between phases. Such phases count as one, with the least of their noise multipliers,
    because more noise is post-processing.

    Args:
        phases: the phases in order.
        neighbors: "add_remove" or "replace_one".

    Raises:
        InvalidParameter: if a sampler is not known.
        RelationMismatch: if no guarantee is proved for this relation.
    """
    relation = check_neighbors(neighbors)
    return compose(*(_price(part, relation) for part in _parts(phases)))


def known_batches(
    noise: Fraction, chance: Fraction, steps: int, neighbors: Neighbors = "add_remove"
) -> TradeOff:
    """Return the guarantee of Poisson-sampled steps if an attacker knows which have the record.

        mixture([chance, 1 - chance], [gdp(moved / noise), identity()]) ** steps

    with moved = 2 under replace_one, else 1.
    """
    once = _once(noise, neighbors)
    each = mixture([chance, 1 - chance], [once, identity()]) if 0 < chance < 1 else once
    return each**steps


def _once(noise: Fraction, neighbors: Neighbors) -> TradeOff:
    """Return the guarantee of a step that has the record."""
    return gdp((2 if neighbors == "replace_one" else 1) / noise)


def _parts(phases: Iterable[Phase]) -> Iterator[list[Phase]]:
    """Yield groups of phases; each group is priced as one."""
    part: list[Phase] = []
    for phase in phases:
        if part and not _goes_on(part[-1], phase):
            yield part
            part = []
        part.append(phase)
    if part:
        yield part


def _goes_on(before: Phase, after: Phase) -> bool:
    """Return whether a phase continues the passes of the one before."""
    return (
        after.sampling_probability is None
        and after.sampler["sampler"] not in _PRICED
        and after.start == before.end
        and bool(after.seeds)
        and (after.sampler, after.seeds) == (before.sampler, before.seeds)
    )


def _price(part: Sequence[Phase], neighbors: Neighbors) -> TradeOff:
    last = part[-1]
    noise = min(phase.noise_multiplier for phase in part)
    name = "poisson" if last.sampling_probability is not None else last.sampler["sampler"]
    if name in _PRICED:
        return _PRICED[name](last, neighbors)

    # Of a part that was resumed, the steps before it count, too.
    return sampler_from_json(last.to_json()["sampler"]).guarantee(
        noise_multiplier=noise, neighbors=neighbors, steps=last.end
    )


def _poisson(phase: Phase, neighbors: Neighbors) -> TradeOff:
    chance = phase.sampling_probability
    assert chance is not None
    return dp_sgd(phase.noise_multiplier, chance, phase.steps, neighbors=neighbors)


def _passes(phase: Phase, neighbors: Neighbors) -> TradeOff:
    """Return the guarantee of passes that have each record once; no amplification is proved."""
    times = whole("passes", phase.sampler.get("passes"), 0, _MOST_PASSES)
    # It is in no more steps than were taken.
    return dominated_by(_once(phase.noise_multiplier, neighbors) ** min(times, phase.steps))


_PRICED: Final[Mapping[str, Callable[[Phase, Neighbors], TradeOff]]] = {
    "poisson": _poisson,
    "passes": _passes,
}
