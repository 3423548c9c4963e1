"""Trainings: the run record, its guarantee, and its mistakes."""

from collections.abc import Iterator

from neyman.errors import NeymanError
from neyman.notebook._card import card, facts, lines, listed, quiet, table, warning
from neyman.notebook._guarantees import numbers
from neyman.numerics import text
from neyman.report import relation
from neyman.training import Finding, Findings, RunRecord, doctor

__all__ = ["html"]


def html(shown: object) -> str:
    """Return the HTML of a run record or of findings."""
    match shown:
        case RunRecord():
            return card(f"Training: {shown.steps:,} steps", _run(shown))
        case Finding():
            return card(f"Finding: {shown.name}", [_finding(shown)])
        case Findings():
            return card(_found(len(shown)), map(_named, shown))
        case _:
            return card(type(shown).__name__, [lines(str(shown))])


def _run(shown: RunRecord) -> Iterator[str]:
    yield facts(
        {
            "Protects": shown.unit,
            "Neighbouring tables": relation(shown.neighbors, shown.unit),
            "Records": None if shown.records is None else f"{shown.records:,}",
            "Data set": shown.dataset,
            "Processes": f"{len(shown.ranks)} of {shown.world}" if shown.world > 1 else None,
        }
    )
    rows = [
        (phase.sampled_by, text(phase.noise_multiplier), f"{phase.steps:,}", f"{phase.planned:,}")
        for phase in shown.phases
    ]
    yield table(("Sampler", "Noise multiplier", "Steps", "Planned"), rows, 1)
    try:
        yield from numbers(shown.curve)
        found = doctor(shown)
    except NeymanError as error:
        yield warning(str(error))
        return
    if found:
        yield warning(_found(len(found)))
        yield from map(_named, found)
    else:
        yield quiet("The record shows no mistake.")


def _found(count: int) -> str:
    match count:
        case 0:
            return "No mistake found"
        case 1:
            return "1 finding"
        case _:
            return f"{count:,} findings"


def _named(one: Finding) -> str:
    return warning(one.name) + _finding(one)


def _finding(one: Finding) -> str:
    return listed([one.seen, f"Holds: {one.holds}", f"Write: {one.write}"])
