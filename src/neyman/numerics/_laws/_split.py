"""The law of a loss split into atoms and a density: its transform decays, theirs does not."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from neyman.numerics._bracket import Array

__all__ = ["Above", "Density", "Split"]


class Above(NamedTuple):
    """What a part of a law has above thresholds x: P, Q and E_P[(e^L - e^x)_+]."""

    p: Array
    q: Array
    excess: Array


class Density(ABC):
    """The part of a law that has a density; each value within 16 ULP, relatively, for its x."""

    __slots__ = ()

    @abstractmethod
    def above(self, x: Array) -> Above:
        """Return the masses above x and the excess over it."""

    @abstractmethod
    def box(self) -> float | None:
        """Return b if the part has P-density e^(-(l + b)/2)/4 on [-b, b]; else None."""

    @abstractmethod
    def reversed(self) -> "Density":
        """P and Q exchanged, L -> -L."""


@final
@dataclass(frozen=True, slots=True)
class Split:
    """Atoms, by their logarithmic P-masses and losses, and the rest, if there is any."""

    log_mass: Array
    loss: Array
    density: Density | None

    def reversed(self) -> "Split":
        """P and Q exchanged, L -> -L."""
        density = None if self.density is None else self.density.reversed()
        return Split((self.log_mass + self.loss)[::-1], -self.loss[::-1], density)

    @property
    def log_total(self) -> float:
        """Logarithm of the P-mass of the atoms."""
        return float(np.logaddexp.reduce(self.log_mass))
