"""Guarantees: a few numbers and the curve."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

import numpy as np

from neyman.curves._curve import Curve
from neyman.errors import NeymanError
from neyman.notebook._card import card, facts, lines, listed, quiet
from neyman.notebook._drawn import curve
from neyman.numerics import at_most
from neyman.released import Guarantee
from neyman.report import relation

__all__ = ["guarantee_facts", "html", "numbers"]

# Numbers that take longer than this are left out, so that the cell does not wait.
_PATIENCE_S: Final = 1.0
_POINTS: Final = 41
_PARTS: Final = 8


def html(shown: object) -> str:
    """Return the HTML of a guarantee."""
    match shown:
        case Curve():
            return card(f"Guarantee: {shown}", numbers(shown))
        case _:
            return card(type(shown).__name__, [lines(str(shown))])


def guarantee_facts(guarantee: Guarantee) -> Iterator[str]:
    """Return the privacy unit of a guarantee, and its assumptions."""
    two = relation(guarantee.neighbors, guarantee.unit)
    yield facts({"Protects": guarantee.unit, "Neighbouring tables": two})
    if guarantee.assumptions:
        yield quiet("Assumptions:") + listed(guarantee.assumptions)


def numbers(shown: Curve) -> Iterator[str]:
    """Return the most common numbers, and the picture, as far as the time limit allows."""
    stop = time.monotonic() + _PATIENCE_S
    views: dict[str, Callable[[], float]] = {
        "epsilon at delta = 1e-6": lambda: shown.epsilon(1e-6),
        "found by an attacker, of 100, at 5 false accusations of 100": lambda: (
            100 * shown.tpr(0.05)
        ),
    }
    if shown.method == "closed form":
        views["mu (Gaussian DP)"] = shown.mu
    found: dict[str, object] = {}
    for name, view in views.items():
        if time.monotonic() > stop:
            continue
        # A number that does not exist, or is too hard to compute, is left out.
        with suppress(NeymanError):
            value = view()
            found[name] = f"at most {at_most(value, 6)}" if math.isfinite(value) else "infinite"
    if not shown.certified:
        found = {
            name: f"about {str(text).removeprefix('at most ')}" for name, text in found.items()
        }
    yield facts(found)
    alpha = np.linspace(0.0, 1.0, _POINTS)
    beta: list[float] = []
    with suppress(NeymanError):
        for part in np.array_split(alpha, _PARTS):
            if time.monotonic() <= stop:
                beta += np.asarray(shown.beta(part)).tolist()
    if len(beta) < _POINTS:
        yield quiet("The picture takes longer; neyman.plots.tradeoff(...) draws it.")
        return
    labels = "wrongly accused (type I error)", "missed (type II error)"
    yield curve(alpha, np.array(beta), None, labels=labels)
    yield quiet(
        "The errors of the best test: type I to the right, type II upwards. The diagonal is "
        "guessing."
    )
