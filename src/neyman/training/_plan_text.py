"""A plan in words: its numbers, its guarantee and its conditions."""

from fractions import Fraction
from textwrap import wrap
from typing import TYPE_CHECKING

from neyman.numerics import at_most, exact, text

if TYPE_CHECKING:
    from neyman.training._plan import TrainingPlan

__all__ = ["plan_text"]

_LABEL, _WIDTH = 18, 96

_RELATIONS = {
    "add_remove": "one record added or removed",
    "replace_one": "one record replaced by another",
}


def plan_text(plan: "TrainingPlan") -> str:
    """Return the lines of a plan."""
    size, delta = plan.logical_batch, _number(plan.delta)
    rows = [
        ("Records", f"{plan.records:,}; the number is public"),
        ("Physical batch", f"{plan.batch:,} records expected"),
        ("Accumulation", _several(plan.accumulation)),
        ("Logical batch", f"{size:,} records expected in one update"),
        ("Sampling rate", f"{size:,} / {plan.records:,} = {_brief(plan.rate)}"),
        ("Updates", f"{plan.steps:,} optimizer steps, {_brief(plan.epochs)} epochs"),
        ("Examples seen", f"{plan.steps * size:,} expected"),
        ("Clipping norm", _number(plan.clip)),
        ("Noise multiplier", _number(plan.noise_multiplier)),
        (
            "Noise",
            f"standard deviation {at_most(plan.noise_on_sum, 6)} on the sum of an update's clipped "
            f"gradients, which is {at_most(plan.noise_on_mean, 6)} on their mean (the sum over "
            f"{size:,})",
        ),
        (
            "Guarantee",
            f"epsilon = {at_most(plan.epsilon, 6)} at delta = {delta}; mu = {at_most(plan.mu, 6)} "
            f"outside an event of probability {delta}; {_RELATIONS[plan.neighbors]}",
        ),
        ("Delta", _delta(exact(plan.delta, "delta") * plan.records)),
        *(("Holds if" if not n else "", line) for n, line in enumerate(_conditions(plan))),
    ]
    return "\n".join(line for label, words in rows for line in _row(label, words))


def _conditions(plan: "TrainingPlan") -> list[str]:
    """Return the conditions that the loop must meet."""
    size = plan.logical_batch
    return [
        "each update draws each record by itself with the sampling rate (Poisson sampling), so "
        "that batches differ in size; shuffled batches do not have this guarantee",
        "a record is in an update once at most: the update's sample is cut into physical batches, "
        "not drawn anew for each",
        f"each record's gradient is clipped to {_number(plan.clip)} by itself and depends on no "
        "other record",
        "fresh Gaussian noise is added once an update, after the last physical batch, also if the "
        "sample is empty",
        f"the noisy sum is divided once, by the expected {size:,} and not by the size of the "
        "sample",
        f"no more than {plan.steps:,} updates are taken, and nothing else of the data is published",
    ]


def _several(batches: int) -> str:
    return "none" if batches == 1 else f"{batches:,} physical batches for one update"


def _delta(share: Fraction) -> str:
    return (
        f"{at_most(share, 2)} / records; at 1 / records one record, picked at random, could be "
        "published in full"
    )


def _row(label: str, words: str) -> list[str]:
    first, *more = wrap(words, _WIDTH - _LABEL)
    return [f"{label:<{_LABEL}}{first}", *(" " * _LABEL + line for line in more)]


def _number(value: float) -> str:
    return text(exact(value, "value")).replace("e-0", "e-")


def _brief(value: Fraction) -> str:
    """Write a number with six digits, for reading only."""
    return f"{float(value):.6g}"
