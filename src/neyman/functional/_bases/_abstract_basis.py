"""The abstract basis: public nodes, integer features, and columns for the noisy integers."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol, final

from neyman.aggregate import Columns, IntArray, Noise
from neyman.nodes import Nodes
from neyman.sensitivity import Neighbors, Sensitivity

__all__ = ["AbstractBasis", "CoefficientReading"]


class AbstractBasis(ABC):
    """Public nodes, the integers that a record at each node adds, and their sensitivity.

    Attributes:
        statistic: the name of the question.
        rules: the version of the map from counts to integers; it increases when the integers of an
            unchanged question change.
    """

    __slots__ = ()

    statistic: ClassVar[str]
    rules: ClassVar[int]

    @property
    @abstractmethod
    def axes(self) -> tuple[Nodes, ...]:
        """The nodes for each coordinate of a record."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of released integers."""

    @abstractmethod
    def sums(self, counts: IntArray) -> IntArray:
        """Return the exact integers, shape (groups, size), from the counts at the nodes.

        Args:
            counts: records at each place, shape (groups, places), with the last axis fastest, as
                `neyman.nodes.histogram` gives them. Without groups, counts and answer have one
                axis.
        """

    @abstractmethod
    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        """Return the sensitivity of the sums; a record is at one node, or at none."""

    @property
    @abstractmethod
    def label_names(self) -> tuple[str, ...]:
        """The names of the columns of `labels`."""

    @abstractmethod
    def labels(self) -> Columns:
        """Return columns that say what each integer is."""

    @abstractmethod
    def record(self) -> dict[str, object]:
        """Return the public record for JSON."""


class Labelled(Protocol):
    """A basis whose integers have labels."""

    @property
    def size(self) -> int: ...
    @property
    def label_names(self) -> tuple[str, ...]: ...
    def labels(self) -> Columns: ...


@final
@dataclass(frozen=True, slots=True)
class CoefficientReading:
    """The columns of a release of coefficients: labels and noisy integers, group by group."""

    basis: Labelled

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""
        return *self.basis.label_names, "coefficient", "stddev", "lower", "upper"

    @property
    def rows(self) -> int:
        """The number of rows of a group: one for each integer."""
        return self.basis.size

    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        """Return the columns."""
        width = noise.half_width(confidence)
        groups = len(noisy) // self.rows
        labels: Columns = {name: label * groups for name, label in self.basis.labels().items()}
        # Integers of at most 2^62 and noise: far from the end of 64 bits.
        return labels | {
            "coefficient": noisy.tolist(),
            "stddev": [noise.stddev] * len(noisy),
            "lower": (noisy - width).tolist(),
            "upper": (noisy + width).tolist(),
        }
