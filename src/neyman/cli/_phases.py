"""Stages of a training, from the words of the command line."""

import argparse
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from neyman.accounting._training import dp_sgd
from neyman.cli._numbers import WrongUsage, number, whole
from neyman.curves import TradeOff, compose, gdp
from neyman.numerics import text

__all__ = ["Phase", "passes", "phases_of", "probability", "steps_of"]

_KEYS = {"noise", "q", "steps"}


@final
@dataclass(frozen=True, slots=True)
class Phase:
    """Some steps with one noise and one sampling probability."""

    noise_multiplier: Fraction
    sampling_probability: Fraction
    steps: int

    @staticmethod
    def parse(words: str) -> "Phase":
        """Return the phase of noise=1.1,q=0.01,steps=500.

        Raises:
            WrongUsage: if it is written otherwise.
        """
        pairs = [part.split("=", 1) for part in words.split(",")]
        given = {pair[0].strip(): pair[-1].strip() for pair in pairs if len(pair) == 2}
        if given.keys() != _KEYS or len(pairs) != len(_KEYS):
            raise WrongUsage(
                f"--phase {words!r} was given; write it such as noise=1.1,q=0.01,steps=500"
            )
        return Phase(
            number(given["noise"], "noise"), number(given["q"], "q"), whole(given["steps"], "steps")
        )

    @property
    def curve(self) -> TradeOff:
        """The guarantee of these steps."""
        return dp_sgd(
            noise_multiplier=self.noise_multiplier,
            sampling_probability=self.sampling_probability,
            steps=self.steps,
        )

    def to_json(self) -> dict[str, object]:
        """Exact parameters."""
        return {
            "noise_multiplier": str(self.noise_multiplier),
            "sampling_probability": str(self.sampling_probability),
            "steps": self.steps,
        }

    def __str__(self) -> str:
        return (
            f"noise multiplier {text(self.noise_multiplier)}, "
            f"sampling probability {text(self.sampling_probability)}, steps {self.steps}"
        )


def probability(options: argparse.Namespace) -> Fraction | None:
    """Return --sampling-probability, or --batch / --records; None if neither is given.

    Raises:
        WrongUsage: if both are, or one half.
        WrongUsage: if the batch is larger than the records.
    """
    pair = (options.batch, options.records)
    if options.sampling_probability is not None:
        if pair != (None, None):
            raise WrongUsage(
                "--sampling-probability and --records or --batch were given; write one way only"
            )
        return number(options.sampling_probability, "--sampling-probability")
    if pair == (None, None):
        return None
    if None in pair:
        raise WrongUsage("--records or --batch is missing; write both")
    batch, records = number(options.batch, "--batch"), whole(options.records, "--records")
    if not 0 <= batch <= records or records == 0:
        raise WrongUsage(
            f"--batch {options.batch} of --records {options.records} was given; write a batch of "
            "at most the records"
        )
    return batch / records


def steps_of(options: argparse.Namespace, chance: Fraction | None) -> int | None:
    """Return --steps, or --epochs / sampling probability, rounded up; None if neither is given.

    Raises:
        WrongUsage: if both are, or if epochs have no probability to go by.
    """
    if options.epochs is None:
        return None if options.steps is None else whole(options.steps, "--steps")
    if options.steps is not None:
        raise WrongUsage("--steps and --epochs were given; write one of them")
    epochs = number(options.epochs, "--epochs")
    if not chance or epochs < 0:
        raise WrongUsage(
            f"--epochs {options.epochs} was given; write at least 0 of them, and a positive "
            "sampling probability, or write --steps"
        )
    return math.ceil(epochs / chance)


def phases_of(options: argparse.Namespace) -> list[Phase]:
    """Return what --phase, or the options of a single phase, say.

    Raises:
        WrongUsage: if it is neither, or both.
    """
    chance = probability(options)
    steps = steps_of(options, chance)
    single = (options.noise_multiplier, chance, steps)
    if options.phase:
        if single != (None, None, None):
            raise WrongUsage(
                "--phase and the options of a single phase were given; write one or the other"
            )
        return [Phase.parse(words) for words in options.phase]
    if options.noise_multiplier is None or chance is None or steps is None:
        raise WrongUsage(
            "write --noise-multiplier; --sampling-probability, or --records and --batch; and "
            "--steps or --epochs; or else --phase noise=1.1,q=0.01,steps=500, once for each phase"
        )
    return [Phase(number(options.noise_multiplier, "--noise-multiplier"), chance, steps)]


def passes(phases: list[Phase]) -> tuple[int, TradeOff]:
    """Return how often one record is used without sampling, and what that costs.

    One use in each pass, ceil(sampling probability * steps) passes in each phase.
    """
    times = [math.ceil(phase.sampling_probability * phase.steps) for phase in phases]
    uses = zip(phases, times, strict=True)
    return sum(times), compose(*(gdp(1 / phase.noise_multiplier) ** n for phase, n in uses))
