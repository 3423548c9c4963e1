"""A phase: steps of a training with one sampler and one noise."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Final, cast, final

from neyman.arguments import whole
from neyman.calls import plain_calls_of
from neyman.errors import InvalidParameter
from neyman.numerics import Real, exact, exact_positive, rational, text
from neyman.printable import shortened
from neyman.training._fields import Fields, is_plain
from neyman.training._sampler import Sampler

__all__ = ["Phase"]

_MOST_STEPS: Final = 2**52
_LONGEST: Final = 300
# Under which name the description of a Poisson sampler has its rate.
_RATES: Final = {"poisson": "sampling_probability", "PoissonBatches": "rate"}
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_KEYS: Final = {"sampler", "noise_multiplier", "clip", "steps", "planned", "start", "seeds"}


@plain_calls_of
@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """Steps with one sampler, one noise and one clipping norm.

    Attributes:
        noise_multiplier: standard deviation of the noise on the summed gradients, divided by the
            clipping norm; positive.
        sampler: the public description of the sampler, as `Sampler.described` gives it.
        steps: number of steps that were taken.
        planned: number of steps that the plan had for this phase.
        clip: the clipping norm of each record's gradient; None if it was not recorded.
        start: the sampler's step at which this phase began; above 0 after a resume.
        seeds: SHA-256 digests of the sampler's seeds: one, or one for each rank that sampled from
            its own share of the records; empty if they were not recorded.

    >>> phase = Phase.poisson(noise_multiplier=1, sampling_probability=0.01, steps=1000)
    >>> print(phase)
    noise multiplier 1, sampling probability 0.01, steps 1000
    """

    noise_multiplier: Fraction
    sampler: Mapping[str, Any] = field(hash=False)
    steps: int
    planned: int
    clip: Fraction | None = None
    start: int = 0
    seeds: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            InvalidParameter: if a number is out of range, or the sampler is not a plain
                description.
        """
        exact_positive(self.noise_multiplier, "noise_multiplier")
        if self.clip is not None:
            exact_positive(self.clip, "clip")
        for name in ("steps", "planned", "start"):
            whole(name, getattr(self, name), 0, _MOST_STEPS)
        if not is_plain(self.sampler) or not isinstance(self.sampler.get("sampler"), str):
            raise InvalidParameter(
                'sampler must be a public description with its name under "sampler"; write what '
                "Sampler.described() gives"
            )
        if not all(_DIGEST.fullmatch(seed) for seed in self.seeds):
            raise InvalidParameter(
                "seeds must be SHA-256 digests of 64 hexadecimal digits; write digests, never a "
                "seed itself"
            )
        # A description that changes later would change the price.
        kept = {
            name: tuple(cast("list[object]", value)) if isinstance(value, list) else value
            for name, value in self.sampler.items()
        }
        object.__setattr__(self, "sampler", MappingProxyType(kept))

    @staticmethod
    def of(
        sampler: Sampler,
        *,
        noise_multiplier: Real,
        steps: int,
        clip: Real | None = None,
        start: int = 0,
    ) -> "Phase":
        """Return a phase with the batches of a sampler.

        Args:
            sampler: the sampler of the batches; `sampler.steps` is the number of planned steps.
            noise_multiplier: noise multiplier of these steps.
            steps: number of steps that were taken.
            clip: the clipping norm; None if it is not recorded.
            start: the sampler's first step in this phase.
        """
        return Phase(
            noise_multiplier=exact(noise_multiplier, "noise_multiplier"),
            sampler=sampler.described(),
            steps=steps,
            planned=sampler.steps - start,
            clip=None if clip is None else exact(clip, "clip"),
            start=start,
            seeds=(sampler.seed_digest,),
        )

    @staticmethod
    def poisson(
        *,
        noise_multiplier: Real,
        sampling_probability: Real,
        steps: int,
        planned: int | None = None,
        clip: Real | None = None,
        start: int = 0,
        seeds: tuple[str, ...] = (),
    ) -> "Phase":
        """Return a phase with Poisson sampling: each record enters each step independently.

        Args:
            noise_multiplier: noise multiplier of these steps.
            sampling_probability: probability of each record to enter a step, in [0, 1].
            steps: number of steps that were taken.
            planned: number of planned steps; `steps` if left out.
            clip: the clipping norm; None if it is not recorded.
            start: the sampler's first step in this phase.
            seeds: digests of the sampler's seeds.
        """
        return Phase(
            noise_multiplier=exact(noise_multiplier, "noise_multiplier"),
            sampler={
                "sampler": "poisson",
                "sampling_probability": str(exact(sampling_probability, "sampling_probability")),
            },
            steps=steps,
            planned=steps if planned is None else planned,
            clip=None if clip is None else exact(clip, "clip"),
            start=start,
            seeds=seeds,
        )

    @staticmethod
    def passes(
        *,
        noise_multiplier: Real,
        passes: int,
        steps: int,
        planned: int | None = None,
        clip: Real | None = None,
        start: int = 0,
        seeds: tuple[str, ...] = (),
    ) -> "Phase":
        """Return a phase of whole passes over the data, shuffled or in a fixed order.

        Args:
            noise_multiplier: noise multiplier of these steps.
            passes: number of passes that these steps belong to; a pass uses each record at most
                once.
            steps: number of steps that were taken.
            planned: number of planned steps; `steps` if left out.
            clip: the clipping norm; None if it is not recorded.
            start: the sampler's first step in this phase.
            seeds: digests of the sampler's seeds.

        Guarantee: gdp(1 / noise_multiplier) ** passes under "add_remove", if a record's absence
            moves no other record to another step; gdp(2 / noise_multiplier) ** passes under
            "replace_one".
        """
        return Phase(
            noise_multiplier=exact(noise_multiplier, "noise_multiplier"),
            sampler={"sampler": "passes", "passes": whole("passes", passes, 0, _MOST_STEPS)},
            steps=steps,
            planned=steps if planned is None else planned,
            clip=None if clip is None else exact(clip, "clip"),
            start=start,
            seeds=seeds,
        )

    @property
    def end(self) -> int:
        """The sampler's step after the last one of this phase."""
        return self.start + self.steps

    @property
    def sampling_probability(self) -> Fraction | None:
        """The probability of each record to enter a step independently; None for another sampler.

        Raises:
            InvalidParameter: if the description of a Poisson sampler has no such probability in [0,
                1].
        """
        key = _RATES.get(self.sampler["sampler"])
        if key is None:
            return None
        found = rational(self.sampler.get(key))
        if found is None or not 0 <= found <= 1:
            raise InvalidParameter(
                f"the sampling probability of a Poisson sampler must be in [0, 1]; got "
                f"{self.sampler.get(key)}. Write a number such as 0.01, {key} in the description "
                "of the sampler"
            )
        return found

    def to_json(self) -> dict[str, object]:
        """Return the record for JSON; its numbers are exact."""
        return {
            "sampler": {
                name: list(cast("tuple[object]", value)) if isinstance(value, tuple) else value
                for name, value in self.sampler.items()
            },
            "noise_multiplier": str(self.noise_multiplier),
            "clip": None if self.clip is None else str(self.clip),
            "steps": self.steps,
            "planned": self.planned,
            "start": self.start,
            "seeds": list(self.seeds),
        }

    @staticmethod
    def from_json(record: object, where: str = "phase") -> "Phase":
        """Return the phase that `to_json` wrote.

        Raises:
            InvalidParameter: if the record is malformed.
        """
        found = Fields(record, where, _KEYS)
        return Phase(
            sampler=found.plain("sampler"),
            noise_multiplier=found.ratio("noise_multiplier"),
            clip=found.ratio_or_none("clip"),
            steps=found.whole("steps"),
            planned=found.whole("planned"),
            start=found.whole("start"),
            seeds=found.texts("seeds"),
        )

    @property
    def sampled_by(self) -> str:
        """The sampler and its parameters, in words."""
        parts = [f"{name} {value}" for name, value in self.sampler.items() if name != "sampler"]
        return self.sampler["sampler"] + (f" ({', '.join(parts)})" if parts else "")

    def __str__(self) -> str:
        chance = self.sampling_probability
        how = (
            f"sampler {shortened(self.sampled_by, _LONGEST)}"
            if chance is None
            else f"sampling probability {text(chance)}"
        )
        return f"noise multiplier {text(self.noise_multiplier)}, {how}, steps {self.steps}"
