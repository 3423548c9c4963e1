"""Stages of a training, from the words of the command line."""

import argparse
import math
from collections.abc import Iterable
from fractions import Fraction

from neyman.cli._numbers import WrongUsage, number, whole
from neyman.training import Phase, RunRecord

__all__ = ["phases_of", "probability", "require_no_training", "run_of", "steps_of"]

_KEYS = {"noise", "q", "steps"}
# The options that describe a training.
_TRAINING = (
    *("noise_multiplier", "sampling_probability", "records", "batch", "steps", "epochs", "phase"),
)


def _phase(words: str) -> Phase:
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
    return Phase.poisson(
        noise_multiplier=number(given["noise"], "noise"),
        sampling_probability=number(given["q"], "q"),
        steps=whole(given["steps"], "steps"),
    )


def probability(options: argparse.Namespace) -> Fraction | None:
    """Return --sampling-probability, or --batch / --records; None if neither is given.

    Raises:
        WrongUsage: if both are, if one half is, or if the batch is larger than the records.
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


def require_no_training(options: argparse.Namespace, file: str, *more: str) -> None:
    """Refuse the options of a training beside the path of a file.

    Args:
        options: with the path.
        file: what the path leads to, in words.
        *more: options that go with a training only.

    Raises:
        WrongUsage: if one is given.
    """
    given = [name for name in (*_TRAINING, *more) if getattr(options, name) is not None]
    if given:
        raise WrongUsage(
            f"{options.path} and --{given[0].replace('_', '-')} were given; write {file} or a "
            "training"
        )


def run_of(phases: Iterable[Phase], unit: str = "one record") -> RunRecord:
    """Return the training that phases on the command line describe."""
    return RunRecord(phases=tuple(phases), unit=unit, neighbors="add_remove", versions={})


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
        return [_phase(words) for words in options.phase]
    if options.noise_multiplier is None or chance is None or steps is None:
        raise WrongUsage(
            "write --noise-multiplier; --sampling-probability, or --records and --batch; and "
            "--steps or --epochs; or else --phase noise=1.1,q=0.01,steps=500, once for each phase"
        )
    return [
        Phase.poisson(
            noise_multiplier=number(options.noise_multiplier, "--noise-multiplier"),
            sampling_probability=chance,
            steps=steps,
        )
    ]
