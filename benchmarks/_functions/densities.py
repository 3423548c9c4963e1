"""Mixtures of normal laws: drawn from, smoothed in closed form, with exact risks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import ndtr

__all__ = ["NORMAL", "Mixture", "kernel_risk"]


@final
@dataclass(frozen=True, slots=True)
class Mixture:
    """Normal laws with weights, means and standard deviations."""

    name: str
    parts: Sequence[tuple[float, float, float]]

    def draw(self, count: int, random: np.random.Generator) -> np.ndarray:
        """Return so many values."""
        weights, means, deviations = np.array(self.parts).T
        chosen = random.choice(len(weights), count, p=weights / weights.sum())
        return means[chosen] + deviations[chosen] * random.standard_normal(count)

    def smoothed(self, x: np.ndarray, bandwidth: float = 0.0) -> np.ndarray:
        """Return the density, or the expected value of its kernel estimate, at x."""
        wide = [(w, m, math.hypot(s, bandwidth)) for w, m, s in self.parts]
        terms = [w / s * np.exp(-0.5 * ((x - m) / s) ** 2) for w, m, s in wide]
        return np.asarray(sum(terms)) / math.sqrt(2 * math.pi)

    def masses(self, edges: np.ndarray) -> np.ndarray:
        """Return the probabilities between neighbouring edges."""
        return np.diff(sum(w * ndtr((edges - m) / s) for w, m, s in self.parts))

    def product(self, extra: float) -> float:
        """Return the integral of f times f smoothed by a normal law of this variance."""
        return sum(
            w * v * math.exp(-0.5 * (m - k) ** 2 / total) / math.sqrt(2 * math.pi * total)
            for w, m, s in self.parts
            for v, k, t in self.parts
            for total in [s * s + t * t + extra]
        )


def kernel_risk(density: Mixture, bandwidth: float, count: int) -> float:
    """Return the mean integrated squared error of a kernel estimate without noise, exactly.

    Source: Marron and Wand, *Exact mean integrated squared error*, Annals of Statistics 1992.
    """
    square = bandwidth**2
    both = density.product(2 * square)
    bias = both - 2 * density.product(square) + density.product(0.0)
    return bias + (1 / (2 * math.sqrt(math.pi) * bandwidth) - both) / count


NORMAL = Mixture("normal", [(1.0, 0.0, 1.0)])
