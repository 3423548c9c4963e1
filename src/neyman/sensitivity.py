"""Sensitivity: how far one unit can move an exact integer answer, by norm and relation."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Protocol, TypeAlias, cast, final, get_args

from neyman.arguments import check_type, got
from neyman.errors import InvalidParameter

__all__ = ["Asked", "Neighbors", "NewGroups", "Sensitivity", "check_neighbors", "sensitivity_of"]

Neighbors: TypeAlias = Literal["add_remove", "replace_one"]


def check_neighbors(neighbors: str) -> Neighbors:
    """Return `neighbors` if it names a neighbouring relation.

    Raises:
        InvalidParameter: if it is neither "add_remove" nor "replace_one".
    """
    for known in get_args(Neighbors):
        # Check the type first: an array would be compared element by element.
        if type(neighbors) is str and neighbors == known:
            return known
    raise InvalidParameter(
        f"neighbors must be a neighbouring relation; got {got(neighbors)}. "
        'Write "add_remove" (one unit present or absent) or "replace_one" (one unit changed)'
    )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class NewGroups:
    """What one unit alone can add to an answer with undeclared groups.

    Attributes:
        most: the most groups that one table has and its neighbour has not.
        largest: the largest count of such a group, in lattice units.
    """

    most: int
    largest: int

    def __post_init__(self) -> None:
        """Refuse numbers below 1."""
        if min(self.most, self.largest) < 1:
            raise InvalidParameter(
                "most and largest must be whole numbers of at least 1; "
                f"got most={self.most}, largest={self.largest}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """Largest change of an integer vector between neighbouring tables, in exact arithmetic.

    l1 = sup ||v - v'||_1,   l2_squared = sup ||v - v'||_2^2

    If the query does not bound a norm, it is None, and a mechanism that needs it refuses. Noise on
    the integers also depends on how many coordinates of v and v' differ, and by how much: its curve
    is not a function of one norm.

    Attributes:
        neighbors: the neighbouring relation of the suprema.
        l1: in lattice units, or None.
        l2_squared: in squared lattice units, or None.
        coordinates: the most coordinates that differ, or None if only the norms are known.
        largest: the most that one coordinate differs, in lattice units, or None.
        new_groups: for undeclared groups, what one unit alone can add to them; None if the groups
            are public.
    """

    neighbors: Neighbors
    l1: Fraction | None = None
    l2_squared: Fraction | None = None
    coordinates: int | None = None
    largest: int | None = None
    new_groups: NewGroups | None = None

    def __post_init__(self) -> None:
        """Refuse a sensitivity that is not positive, or that bounds no norm."""
        check_neighbors(self.neighbors)
        given = [bound for bound in (self.l1, self.l2_squared) if bound is not None]
        if not given or min(given) <= 0:
            raise InvalidParameter(
                "a sensitivity needs l1 or l2_squared, each a positive fraction in lattice units; "
                f"got l1={self.l1}, l2_squared={self.l2_squared}"
            )
        counts = [n for n in (self.coordinates, self.largest) if n is not None]
        if min(counts, default=1) < 1:
            raise InvalidParameter(
                "coordinates and largest must be whole numbers of at least 1, or None; "
                f"got coordinates={self.coordinates}, largest={self.largest}"
            )

    def of_many(self, records: int, groups: int = 1, total: int | None = None) -> "Sensitivity":
        """Return the sensitivity to a unit of several records, of one such vector for each group.

        A unit has at most r records in each of at most g groups, and m in all. From the sensitivity
        of one vector to one record, under add_remove:

            l1 = m l1,   l2_squared = (floor(m / r) r^2 + (m mod r)^2) l2_squared,
            coordinates = g coordinates,   largest = r largest

        This is attained if all records push in the same direction: a sum of squares is largest if
        groups are full, and ceil(m / r) <= g of them hold all m records.

        Args:
            records: r, at most m.
            groups: g, at most m.
            total: m, at most g r; g r by default.

        >>> one = Sensitivity(neighbors="add_remove", l2_squared=Fraction(1))
        >>> int(one.of_many(20, 10, 50).l2_squared)
        900
        """
        rows = groups * records if total is None else total
        full, rest = divmod(rows, records)
        squares = full * records**2 + rest**2
        return Sensitivity(
            neighbors=self.neighbors,
            l1=None if self.l1 is None else rows * self.l1,
            l2_squared=None if self.l2_squared is None else squares * self.l2_squared,
            coordinates=None if self.coordinates is None else groups * self.coordinates,
            largest=None if self.largest is None else records * self.largest,
        )


class Asked(Protocol):
    """An object with a sensitivity: a question."""

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one unit moves its exact integers."""
        ...


def sensitivity_of(given: Sensitivity | Asked) -> Sensitivity:
    """Return a sensitivity, or that of a question.

    Args:
        given: a sensitivity or a question.

    Raises:
        InvalidParameter: if it is neither. A number is refused, because it does not say which norm.
    """
    found: object = given
    if not isinstance(given, Sensitivity):
        found = getattr(given, "sensitivity", given)
    check_type(
        "sensitivity",
        found,
        Sensitivity,
        "the question, its sensitivity, or Sensitivity(neighbors=..., l2_squared=...)",
    )
    return cast("Sensitivity", found)
