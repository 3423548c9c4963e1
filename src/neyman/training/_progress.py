"""Privacy loss along a training."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from neyman.curves import TradeOff
from neyman.curves._solvers._several import epsilons_of
from neyman.numerics import Array
from neyman.sensitivity import Neighbors
from neyman.training._phase import Phase
from neyman.training._pricing import guarantee_of
from neyman.training._sampler import IndexArray

__all__ = ["Progress", "along"]


class Progress(NamedTuple):
    """Upper bounds of epsilon along a training.

    Attributes:
        steps: numbers of steps, increasing from 0; shape (n,).
        epsilon: epsilon of the first `steps` steps together; shape (n,).
    """

    steps: IndexArray
    epsilon: Array


def along(phases: Sequence[Phase], neighbors: Neighbors, delta: float, points: int) -> Progress:
    """Return epsilon at equally spaced steps, and at the end of each phase."""
    ends = np.cumsum([0, *(phase.steps for phase in phases)], dtype=np.int64)
    even = np.linspace(0, int(ends[-1]), points, dtype=np.int64)
    few = ends if len(ends) <= points else ends[-1:]
    steps = np.unique(np.concatenate([even, few]))
    curves = [_until(phases, neighbors, ends, int(step)) for step in steps]
    epsilon = epsilons_of(curves, delta) if 0 < delta < 1 else np.full(steps.size, np.inf)
    # The last is what the whole training is said to have.
    epsilon[-1] = np.inf
    for i in np.flatnonzero(np.isinf(epsilon)).tolist():
        epsilon[i] = curves[i].epsilon(delta)
    # Each is an upper bound on its own; a later one is a bound of all before it.
    return Progress(steps, np.minimum.accumulate(epsilon[::-1])[::-1])


def _until(phases: Sequence[Phase], neighbors: Neighbors, ends: IndexArray, step: int) -> TradeOff:
    taken = (
        replace(phase, steps=min(phase.steps, step - int(first)))
        for phase, first in zip(phases, ends[:-1], strict=True)
        if first < step
    )
    # Upper bounds alone are asked for.
    return guarantee_of(taken, neighbors).dominating()
