"""What is expanded in waves: public nodes and integers, and how the noisy ones are answered."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol, final

from neyman.aggregate import Columns, IntArray, Noise
from neyman.nodes import Nodes
from neyman.sensitivity import Neighbors, Sensitivity

__all__ = ["AbstractBasis", "CoefficientReading"]


class AbstractBasis(ABC):
    """Public nodes, the integers that a record at each of them adds, and how far that can move.

    Attributes:
        statistic: the name of the question.
        rules: of how integers come from counts; raised whenever those of an unchanged question
            change.
    """

    __slots__ = ()

    statistic: ClassVar[str]
    rules: ClassVar[int]

    @property
    @abstractmethod
    def axes(self) -> tuple[Nodes, ...]:
        """The nodes of each coordinate of a record."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many integers are released."""

    @abstractmethod
    def sums(self, counts: IntArray) -> IntArray:
        """Return the exact integers, shape (groups, size), of the numbers of records at all nodes.

        Args:
            counts: shape (groups, places), the last axis running fastest, as
                `neyman.nodes.histogram` gives them; without groups both are of one axis.
        """

    @abstractmethod
    def sensitivity(self, neighbors: Neighbors) -> Sensitivity:
        """Return how far one record moves the sums; a record is at one node, or at none."""

    @property
    @abstractmethod
    def label_names(self) -> tuple[str, ...]:
        """What the columns of `labels` are called."""

    @abstractmethod
    def labels(self) -> Columns:
        """Return what each integer is, as columns."""

    @abstractmethod
    def record(self) -> dict[str, object]:
        """Return the public record, JSON-able."""


class Labelled(Protocol):
    """What integers are coefficients of."""

    @property
    def size(self) -> int: ...
    @property
    def label_names(self) -> tuple[str, ...]: ...
    def labels(self) -> Columns: ...


@final
@dataclass(frozen=True, slots=True)
class CoefficientReading:
    """The noisy integers as they are, each by what it is a coefficient of, group by group."""

    basis: Labelled

    @property
    def names(self) -> tuple[str, ...]:
        """What its columns are called."""
        return *self.basis.label_names, "coefficient", "stddev", "lower", "upper"

    @property
    def rows(self) -> int:
        """One for each integer of a group."""
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
