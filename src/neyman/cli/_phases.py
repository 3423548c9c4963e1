"""The phases of a training, from options."""

import argparse
import math
from collections.abc import Iterable
from fractions import Fraction

from neyman.cli._numbers import number, whole
from neyman.cli._parser import WrongUsage
from neyman.training import Phase, RunRecord

__all__ = ["phases_of", "probability", "require_no_training", "run_of", "steps_of"]

_KEYS = {"noise", "q", "steps"}
# The options that describe a training.
_TRAINING = (
    *("noise_multiplier", "sampling_probability", "records", "batch", "steps", "epochs", "phase"),
)


def _phase(words: str) -> Phase:
    """Parse a phase such as noise=1.1,q=0.01,steps=500.

    Raises:
        WrongUsage: if it is malformed.
    """
    pairs = [part.split("=", 1) for part in words.split(",")]
    given = {pair[0].strip(): pair[-1].strip() for pair in pairs if len(pair) == 2}
    if given.keys() != _KEYS or len(pairs) != len(_KEYS):
        raise WrongUsage(
            f"--phase must have noise, q and steps; got {words!r}. Write it such as "
            "noise=1.1,q=0.01,steps=500"
        )
    return Phase.poisson(
        noise_multiplier=number(given["noise"], "noise"),
        sampling_probability=number(given["q"], "q"),
        steps=whole(given["steps"], "steps"),
    )


def probability(options: argparse.Namespace) -> Fraction | None:
    """Return --sampling-probability, or --batch / --records; None if both are missing.

    Raises:
        WrongUsage: if both are given, if --batch or --records stands alone, or if the batch is
            larger than the number of records.
    """
    pair = (options.batch, options.records)
    if options.sampling_probability is not None:
        if pair != (None, None):
            raise WrongUsage(
                "the sampling rate must be --sampling-probability, or --batch and --records; got "
                "both. Write one of them"
            )
        return number(options.sampling_probability, "--sampling-probability")
    if pair == (None, None):
        return None
    if None in pair:
        raise WrongUsage("--records and --batch go together; one is missing. Write both")
    batch, records = number(options.batch, "--batch"), whole(options.records, "--records")
    if not 0 <= batch <= records or records == 0:
        raise WrongUsage(
            f"--batch must be at most --records; got --batch {options.batch} and --records "
            f"{options.records}. Write the size of a batch, and of the whole training set"
        )
    return batch / records


def steps_of(options: argparse.Namespace, chance: Fraction | None) -> int | None:
    """Return --steps, or --epochs / sampling probability, rounded up; None if both are missing.

    Raises:
        WrongUsage: if both are given, or --epochs without a sampling probability.
    """
    if options.epochs is None:
        return None if options.steps is None else whole(options.steps, "--steps")
    if options.steps is not None:
        raise WrongUsage("the length must be --steps or --epochs; got both. Write one of them")
    epochs = number(options.epochs, "--epochs")
    if not chance or epochs < 0:
        raise WrongUsage(
            f"--epochs needs a positive sampling probability, and must be at least 0; got "
            f"{options.epochs}. Write both, or write --steps"
        )
    return math.ceil(epochs / chance)


def require_no_training(options: argparse.Namespace, file: str, *more: str) -> None:
    """Refuse the options of a training together with the path of a file.

    Args:
        options: the options, with the path.
        file: the kind of file, in words.
        *more: further options that describe a training only.

    Raises:
        WrongUsage: if an option of a training is given.
    """
    given = [name for name in (*_TRAINING, *more) if getattr(options, name) is not None]
    if given:
        raise WrongUsage(
            f"the source must be {file} or the options of a training; got {options.path} and "
            f"--{given[0].replace('_', '-')}. Write one of them"
        )


def run_of(phases: Iterable[Phase], unit: str = "one record") -> RunRecord:
    """Return the training with these phases."""
    return RunRecord(phases=tuple(phases), unit=unit, neighbors="add_remove", versions={})


def phases_of(options: argparse.Namespace) -> list[Phase]:
    """Return the phases of --phase, or the one that the other options describe.

    Raises:
        WrongUsage: if both are given, or neither is complete.
    """
    chance = probability(options)
    steps = steps_of(options, chance)
    single = (options.noise_multiplier, chance, steps)
    if options.phase:
        if single != (None, None, None):
            raise WrongUsage(
                "phases must be --phase, or the options of a single phase; got both. Write one of "
                "them"
            )
        return [_phase(words) for words in options.phase]
    if options.noise_multiplier is None or chance is None or steps is None:
        raise WrongUsage(
            "the description of the training is incomplete. Write --noise-multiplier; "
            "--sampling-probability, or --records and --batch; and --steps or --epochs. Or write "
            "--phase noise=1.1,q=0.01,steps=500, once for each phase"
        )
    return [
        Phase.poisson(
            noise_multiplier=number(options.noise_multiplier, "--noise-multiplier"),
            sampling_probability=chance,
            steps=steps,
        )
    ]
