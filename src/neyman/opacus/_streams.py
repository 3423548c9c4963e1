"""Whether a resumed run repeats earlier draws."""

# Opacus has no stubs.
# pyright: reportMissingTypeStubs=false

from collections.abc import Mapping
from typing import Any, NamedTuple

from opacus.optimizers import DPOptimizer

from neyman.errors import InvalidParameter
from neyman.opacus._observed import kept_digests, noise_generator, sampler_generator

__all__ = ["Streams"]


class Streams(NamedTuple):
    """Digests of the seeds and of the states of the generators of noise and batches.

    Attributes:
        seeds: digests of the seeds that were or are in use.
        states: digests of the states now, or at the time when the run stopped.
        steps: number of steps that were taken before.
    """

    seeds: tuple[str, ...]
    states: tuple[str, ...]
    steps: int = 0

    @classmethod
    def of(cls, optimizer: DPOptimizer, loader: Any) -> "Streams":
        """Return the digests of the present generators."""
        both = dict.fromkeys([noise_generator(optimizer), sampler_generator(loader)])
        seeds, states = zip(*map(kept_digests, both), strict=True)
        return cls(seeds, states)

    @classmethod
    def before(cls, state: Mapping[str, Any] | None) -> "Streams":
        """Return the digests that a run left when it stopped; none for a new run.

        Raises:
            InvalidParameter: if the state is not one of these.
        """
        if state is None:
            return cls((), ())
        try:
            return cls(tuple(state["seeds"]), tuple(state["states"]), int(state["steps"]))
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidParameter(
                "resume must be what state_dict() of a Watch gave, with its seeds, states and "
                f"steps; got a {type(state).__name__}"
            ) from error

    def repeat(self, before: "Streams") -> bool:
        """Return whether a generator has a used seed, but does not continue from its last state."""
        return any(
            seed in before.seeds and state not in before.states
            for seed, state in zip(self.seeds, self.states, strict=True)
        )

    def and_now(self, now: "Streams") -> "Streams":
        """Return these digests together with the present seeds."""
        return self._replace(seeds=tuple(sorted({*self.seeds, *now.seeds})), states=now.states)
