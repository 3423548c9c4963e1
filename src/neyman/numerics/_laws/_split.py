"""The law of a loss split into atoms, whose transform does not decay, and a density."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, final

from neyman.numerics._bracket import Array

if TYPE_CHECKING:
    from neyman.numerics._laws._laplace_law import LaplaceDensity

__all__ = ["Above", "Split"]


class Above(NamedTuple):
    """What a part of a law has above thresholds x: P, Q and E_P[(e^L - e^x)_+]."""

    p: Array
    q: Array
    excess: Array


@final
@dataclass(frozen=True, slots=True)
class Split:
    """Atoms and a density.

    Attributes:
        log_mass: logs of the atoms' masses under P.
        loss: the atoms' losses.
        density: the rest of the law; None if there is none.
    """

    log_mass: Array
    loss: Array
    density: "LaplaceDensity | None"

    def reversed(self) -> "Split":
        """Exchange P and Q: the loss changes its sign."""
        density = None if self.density is None else self.density.reversed()
        return Split((self.log_mass + self.loss)[::-1], -self.loss[::-1], density)
