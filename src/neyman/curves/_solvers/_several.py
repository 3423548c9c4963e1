"""The epsilons of several compositions that consist of the same steps, as along a training."""

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from neyman.curves._algebra._lattice_algebra import count_of_choices
from neyman.curves._pair import Pair
from neyman.curves._pairs._between import ends_of
from neyman.curves._solvers._contour import ContourProfile
from neyman.curves._solvers._exact import contour_of
from neyman.curves._solvers._solver import Auto, in_use
from neyman.curves._solvers._statements import stands_beside
from neyman.numerics import Array, Several

__all__ = ["Directed", "epsilons_of"]


class Directed(Protocol):
    """A guarantee, as `TradeOff` is one: a pair for each direction."""

    @property
    def remove(self) -> Pair: ...
    @property
    def add(self) -> Pair: ...


def epsilons_of(curves: Sequence[Directed], delta: float) -> Array:
    """Return upper bounds of epsilon(delta), where compositions share the nodes of their contours.

    Infinite if they do not share them, or if the shared lines give only wide bounds: evaluate such
    a curve alone. A finite bound is as valid as that of `epsilon_bracket`, from a bracket that is
    about twice as wide at most.

    Args:
        curves: any.
        delta: strictly between 0 and 1.
    """
    upper = np.full(len(curves), np.inf)
    if not isinstance(in_use().solver, Auto):
        return upper
    for two in (False, True):
        found = [(i, law) for i, f in enumerate(curves) if (law := _law_of(f, two=two)) is not None]
        several = Several.of([law.law for _, law in found], two=two) if len(found) > 1 else None
        if several is not None:
            upper[[i for i, _ in found]] = several.threshold(math.log(delta)).upper
    return upper


def _law_of(curve: Directed, *, two: bool) -> ContourProfile | None:
    """Return a guarantee's law where the contour can evaluate it.

    The guarantee has two directions that are each other's reverse, or two that are equal.
    """
    first, second = curve.remove, curve.add
    if (second != first.swap() if two else second != first) or (two and second == first):
        return None
    plain = ends_of(first) == (first, first) and not stands_beside(first)
    return contour_of(first) if plain and not count_of_choices(first) else None
