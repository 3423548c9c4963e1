"""Guarantees: the statement, a few of its numbers, and its curve."""

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

# A cell that ends in a guarantee must not wait for one whose numbers take long.
_PATIENCE_S: Final = 1.0
_POINTS: Final = 41
_PARTS: Final = 8


def html(shown: object) -> str:
    """Return what a notebook shows of a guarantee."""
    match shown:
        case Curve():
            return card(f"Guarantee: {shown}", numbers(shown))
        case _:
            return card(type(shown).__name__, [lines(str(shown))])


def guarantee_facts(guarantee: Guarantee) -> Iterator[str]:
    """Return what a guarantee is about, and what it takes for granted."""
    two = relation(guarantee.neighbors, guarantee.unit)
    yield facts({"Protects": guarantee.unit, "Nobody can tell apart": two})
    if guarantee.assumptions:
        yield quiet("Taken for granted:") + listed(guarantee.assumptions)


def numbers(shown: Curve) -> Iterator[str]:
    """Return the numbers that people ask for, and the picture, as far as they are quickly had."""
    stop = time.monotonic() + _PATIENCE_S
    views: dict[str, Callable[[], float]] = {
        "epsilon at delta = 1e-6": lambda: shown.epsilon(1e-6),
        "attackers find, of 100, at 5 wrongly accused": lambda: 100 * shown.tpr(0.05),
    }
    if shown.method == "closed form":
        views["mu (Gaussian DP)"] = shown.mu
    found: dict[str, object] = {}
    for name, view in views.items():
        if time.monotonic() > stop:
            continue
        # One that has no such number, or is too hard, is shown without.
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
        yield quiet("The picture takes longer: neyman.plots.tradeoff(...) draws it.")
        return
    labels = "wrongly accused (type I error)", "missed (type II error)"
    yield curve(alpha, np.array(beta), None, labels=labels)
    yield quiet(
        "The best test: type I error to the right, type II upwards. Guessing is the diagonal."
    )
