"""Faults in a training's claim that its run record alone shows, without any framework."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Final

from neyman.arguments import brief, check_type
from neyman.calls import plain_calls
from neyman.curves import TradeOff, compose
from neyman.errors import InvalidParameter, NeymanError
from neyman.numerics import Real, at_most, exact, standing, text
from neyman.training._finding import Finding, Findings
from neyman.training._pricing import known_batches
from neyman.training._record import RunRecord

__all__ = ["doctor"]

_USUAL_DELTA: Final = Fraction(1, 10**5)
# Samplers that use each record once a pass.
_IN_PASSES: Final = ("passes", "ShuffledBatches")
_NOTHING: Final = "Nothing is proved for this training."


@plain_calls
def doctor(record: RunRecord, *, delta: Real | None = None) -> Findings:
    """Return the faults in the privacy claim of a training, judged from its record.

    Args:
        record: the record of the training.
        delta: delta of the (epsilon, delta) that will be published; None if there is none.

    Returns:
        The findings; those of the training itself come first. Empty if there are none.

    Raises:
        InvalidParameter: if delta is outside [0, 1).

    Guarantee: an empty answer is no proof, because a record says what the training wrote into it.

    >>> from neyman.training import Phase
    >>> phase = Phase.poisson(noise_multiplier=1, sampling_probability=0.01, steps=99, planned=90)
    >>> run = RunRecord(phases=(phase,), unit="one image", neighbors="add_remove")
    >>> [finding.name for finding in doctor(run)]
    ['more_steps_than_planned']
    """
    check_type("record", record, RunRecord, "a RunRecord, such as RunRecord.read(path)")
    chance = None if delta is None else exact(delta, "delta")
    if chance is not None and not 0 <= chance < 1:
        raise InvalidParameter(f"delta must be in [0, 1); got {text(chance)}. Write one as 1e-6")
    try:
        curve = record.curve
    except NeymanError as error:
        return Findings((*record.findings, _unpriced(error)))
    # What was found while training stands in its own words.
    known = {finding.name for finding in record.findings}
    judged: dict[str, Finding] = {}
    for judge in _JUDGES:
        for finding in judge(record, curve, chance):
            judged.setdefault(finding.name, finding)
    fresh = (finding for name, finding in judged.items() if name not in known)
    return Findings((*dict.fromkeys(record.findings), *fresh))


def _holds(curve: TradeOff, delta: Fraction | None) -> str:
    """Describe a guarantee in numbers."""
    chance = _USUAL_DELTA if delta is None else delta
    return f"({_epsilon(curve, chance)}, {text(chance).replace('e-0', 'e-')})-DP."


def _epsilon(curve: TradeOff, delta: Fraction) -> str:
    return at_most(curve.dominating().epsilon(standing(delta)[0]), 6)


def _unpriced(error: NeymanError) -> Finding:
    return Finding(
        name="unknown_guarantee",
        seen=f"The phases have no guarantee that is known here: {error}.",
        holds=_NOTHING,
        write="Train with a sampler of neyman.training, and record what it describes.",
    )


def _claim(record: RunRecord, curve: TradeOff, delta: Fraction | None) -> Iterator[Finding]:
    if record.claimed is None or record.claimed == curve or curve.implies(record.claimed):
        return
    shuffled = any(phase.sampler["sampler"] in _IN_PASSES for phase in record.phases)
    yield Finding(
        name="shuffled_batches" if shuffled else "claims_less",
        seen=(
            "The batches were shuffled, and the record claims a guarantee that needs sampling."
            if shuffled
            else "The record claims a guarantee that its phases are not proved to have."
        ),
        holds=_holds(curve, delta),
        write=(
            "Train with Poisson sampling, such as training.PoissonBatches, or claim what holds."
            if shuffled
            else "Write the record anew with RunRecord.save, or claim what holds."
        ),
        curve=curve,
    )


def _replayed(record: RunRecord, _: TradeOff, __: Fraction | None) -> Iterator[Finding]:
    ends: dict[str, int] = {}
    ran = (phase for phase in record.phases if phase.steps)
    for phase in sorted(ran, key=lambda one: one.start):
        if any(phase.start < ends.get(seed, 0) for seed in phase.seeds):
            yield Finding(
                name="replayed_seed",
                seen=(
                    f"Two phases have one seed, and both took the sampler's step {phase.start}, so "
                    "that batches and noise may be the same twice."
                ),
                holds=f"{_NOTHING} The difference of two equal noises shows the gradients.",
                write="Resume at the step after the last one that was taken, or with a new seed.",
            )
            return
        ends |= dict.fromkeys(phase.seeds, phase.end)


def _steps(record: RunRecord, curve: TradeOff, delta: Fraction | None) -> Iterator[Finding]:
    more = [phase for phase in record.phases if phase.steps > phase.planned]
    if more:
        yield Finding(
            name="more_steps_than_planned",
            seen=f"A phase took {more[0].steps} steps; its plan had {more[0].planned}.",
            holds=_holds(curve, delta),
            write="Claim the steps that were taken, or stop at the planned step.",
            curve=curve,
        )


def _delta(record: RunRecord, curve: TradeOff, delta: Fraction | None) -> Iterator[Finding]:
    if delta is None or record.records is None or delta * record.records < 1:
        return
    less = Fraction(1, 10 * record.records)
    yield Finding(
        name="large_delta",
        seen=(
            f"delta = {text(delta)} is at least 1/{record.records}: the release of one record "
            "chosen at random would satisfy it."
        ),
        holds=f"({_epsilon(curve, less)}, 1/{less.denominator})-DP.",
        write="Publish a delta far below 1 / records.",
        curve=curve,
    )


def _tuning(record: RunRecord, curve: TradeOff, delta: Fraction | None) -> Iterator[Finding]:
    if not record.tuning_runs:
        return
    whole = curve ** (record.tuning_runs + 1)
    yield Finding(
        name="tuning_not_counted",
        seen=(
            f"{record.tuning_runs} other trainings on the same data helped to choose this one, and "
            "the curve counts this one alone."
        ),
        holds=f"If they were like this one, all together are {_holds(whole, delta)}",
        write="Claim all runs together, or choose noise and steps on public data.",
        curve=whole,
    )


def _records(record: RunRecord, _: TradeOff, __: Fraction | None) -> Iterator[Finding]:
    sizes = {str(one.sampler["records"]) for one in record.phases if "records" in one.sampler}
    if len(sizes) > 1:
        named = brief(", ".join(sorted(sizes)))
        yield Finding(
            name="unlike_phases",
            seen=f"The phases sample from different numbers of records: {named}.",
            holds=_NOTHING,
            write="Train all phases on the same records, or write a record for each data set.",
        )


def _ranks(record: RunRecord, _: TradeOff, delta: Fraction | None) -> Iterator[Finding]:
    if len(record.ranks) < record.world:
        yield Finding(
            name="missing_ranks",
            seen=f"{len(record.ranks)} of {record.world} ranks are in this record.",
            holds=f"{_NOTHING} The other ranks may have done something else.",
            write="Merge the records of all ranks: record.merge(others).",
        )
    if record.sharded and any(len({*one.seeds}) < len(one.seeds) for one in record.phases):
        known = _batches_known(record)
        why = "That is for whoever knows the batches of a record."
        yield Finding(
            name="same_seed_on_ranks",
            seen=(
                "Two ranks sampled from their own shares with the same seed: the same positions of "
                "each share enter together, so whoever knows one record's batches knows another's."
            ),
            holds=_NOTHING if known is None else f"{_holds(known, delta)} {why}",
            write="Seed each rank with seed + rank.",
            curve=known,
        )


def _batches_known(record: RunRecord) -> TradeOff | None:
    """Return the guarantee if everybody knows which steps a record is in."""
    curves: list[TradeOff] = []
    for phase in record.phases:
        if (chance := phase.sampling_probability) is None:
            return None
        curves.append(known_batches(phase.noise_multiplier, chance, phase.steps, record.neighbors))
    return compose(*curves)


def _failed(record: RunRecord, _: TradeOff, __: Fraction | None) -> Iterator[Finding]:
    for check in record.checks:
        if not check.passed:
            seen, write = _FAILED.get(check.name, (f"The check {brief(check.name)} failed.", ""))
            yield Finding(
                name=check.name,
                seen=seen,
                holds=_NOTHING,
                write=write or "See what the check looks for, mend it, and train again.",
            )


_JUDGES: Final[tuple[Callable[..., Iterator[Finding]], ...]] = (
    *(_claim, _failed, _replayed, _steps, _delta, _tuning, _records, _ranks),
)

# What a training's own checks look for, and what to do.
_FAILED: Final = {
    "shuffled_batches": (
        "The batches were shuffled or came in order, and the accounting assumes Poisson sampling.",
        "Train with Poisson sampling, such as training.PoissonBatches.",
    ),
    "batch_norm": (
        "A layer normalises over the batch, so that one record's gradient depends on others.",
        "Use group normalisation or layer normalisation.",
    ),
    "clipping_norm": (
        "Gradients are clipped to a larger norm than the noise is for, such as layer by layer.",
        "Clip the gradient of all layers together, or each layer to clip / sqrt(layers).",
    ),
    "normalizer_from_data": (
        "The summed gradients are divided by a number that depends on the number of records.",
        "Divide by a public number, such as the planned batch size.",
    ),
}
