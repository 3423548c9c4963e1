"""What a density is expanded in: public, the same for all data sets."""

from abc import ABC, abstractmethod
from typing import ClassVar

from neyman.aggregate import Columns, IntArray
from neyman.nodes import Nodes
from neyman.sensitivity import Neighbors, Sensitivity

__all__ = ["AbstractBasis"]


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
