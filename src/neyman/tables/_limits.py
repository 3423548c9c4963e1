"""How much of an answer one unit may fill: rows in all, and rows in each group."""

from dataclasses import dataclass
from typing import final

from neyman.sensitivity import Sensitivity

__all__ = ["Limits"]


@final
@dataclass(frozen=True, slots=True)
class Limits:
    """At most m rows of one unit, at most r of them in each of G groups.

    None is greater than it must be: r <= m and m <= G r. A limit on the number of groups would add
    nothing: (m = g r, r) has the sensitivity of "g groups of r rows" and keeps no fewer rows.

    Attributes:
        total: m.
        rows: r.
        among: G, how many groups there are; None where that is not known.

    >>> Limits.of(50, rows=20, among=100)
    Limits(total=50, rows=20, among=100)
    >>> Limits.of(500, rows=20, among=4)
    Limits(total=80, rows=20, among=4)
    >>> Limits.of(7, rows=None, among=None).groups
    7
    """

    total: int
    rows: int
    among: int | None

    @classmethod
    def of(cls, total: int, *, rows: int | None, among: int | None) -> "Limits":
        """Return the limits, each as small as the others make it.

        Args:
            total: m.
            rows: r, or None where only m limits them.
            among: how many groups there are; None where that is not known.
        """
        r = total if rows is None else min(rows, total)
        return cls(total if among is None else min(total, among * r), r, among)

    @property
    def groups(self) -> int:
        """The most groups that one unit is in."""
        return self.total if self.among is None else min(self.total, self.among)

    @property
    def cut_groups(self) -> int | None:
        """Groups that are kept of a unit with one row in each; None where all are."""
        return self.total if self.rows == 1 and self._cuts else None

    @property
    def cut_total(self) -> int | None:
        """Rows that are kept of a unit in all; None where the other limits see to it."""
        return self.total if self.rows > 1 and self._cuts else None

    @property
    def _cuts(self) -> bool:
        return self.among is None or self.total < self.among * self.rows

    def bound(self, one: Sensitivity) -> Sensitivity:
        """Return how far a unit moves all groups, from how far one of its rows moves one."""
        return one.of_many(self.rows, self.groups, self.total)
