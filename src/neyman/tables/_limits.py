"""The contribution limits of one unit: rows in all, and rows in each group."""

from dataclasses import dataclass
from typing import final

from neyman.sensitivity import Sensitivity

__all__ = ["Limits"]


@final
@dataclass(frozen=True, slots=True)
class Limits:
    """At most m rows of one unit, and at most r of them in each of G groups.

    Each is as small as the others allow: r <= m and m <= G r. A limit on the number of groups would
    add nothing, because (m = g r, r) has the sensitivity of "g groups of r rows" and keeps no fewer
    rows.

    Attributes:
        total: m, the most rows in all groups.
        rows: r, the most rows in one group.
        among: G, the number of groups; None if it is not known.

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
        """Return the limits, each as small as the others allow.

        Args:
            total: m, the most rows in all groups.
            rows: r, the most rows in one group; None if only m limits them.
            among: G, the number of groups; None if it is not known.
        """
        r = total if rows is None else min(rows, total)
        return cls(total if among is None else min(total, among * r), r, among)

    @property
    def groups(self) -> int:
        """The most groups of one unit."""
        return self.total if self.among is None else min(self.total, self.among)

    @property
    def cut_groups(self) -> int | None:
        """The number of groups kept of a unit with one row in each; None if all are kept."""
        return self.total if self.rows == 1 and self._cuts else None

    @property
    def cut_total(self) -> int | None:
        """The number of rows kept of a unit in all; None if the other limit implies it."""
        return self.total if self.rows > 1 and self._cuts else None

    @property
    def _cuts(self) -> bool:
        return self.among is None or self.total < self.among * self.rows

    def bound(self, one: Sensitivity) -> Sensitivity:
        """Return the sensitivity of all groups to a unit, from that of one group to one row."""
        return one.of_many(self.rows, self.groups, self.total)
