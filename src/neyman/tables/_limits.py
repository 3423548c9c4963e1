"""How much of an answer one unit may fill: groups, rows in each, and rows in all."""

from dataclasses import dataclass
from typing import final

__all__ = ["Limits"]


@final
@dataclass(frozen=True, slots=True)
class Limits:
    """At most g groups with at most r rows in each and m rows in all.

    None is greater than it must be: g <= m, r <= m and m <= g r.

    Attributes:
        groups: g.
        rows: r.
        total: m.
        among: how many groups there are; None where that is not known.

    >>> Limits.of(groups=10, rows=20, total=50, among=100)
    Limits(groups=10, rows=20, total=50, among=100)
    >>> Limits.of(groups=10, rows=20, total=None, among=4)
    Limits(groups=4, rows=20, total=80, among=4)
    >>> Limits.of(groups=None, rows=None, total=7, among=None)
    Limits(groups=7, rows=7, total=7, among=None)
    """

    groups: int
    rows: int
    total: int
    among: int | None

    @classmethod
    def of(
        cls, *, groups: int | None, rows: int | None, total: int | None, among: int | None
    ) -> "Limits":
        """Return the limits, each as small as the others make it.

        Args:
            groups: g, or None where only `total` limits them.
            rows: r, or None where only `total` limits them.
            total: m, or None where it is g r.
            among: how many groups there are; None where that is not known.
        """
        known = [limit for limit in (groups, among) if limit is not None]
        groups = min(known, default=None)
        if total is None:
            total = (groups or 0) * (rows or 0)
        g, r = (min(total, limit or total) for limit in (groups, rows))
        return cls(g, r, min(total, g * r), among)

    @property
    def cut_groups(self) -> int | None:
        """Groups that are kept of a unit; None where there are no more, or rows see to it."""
        seen_to = self.cut_total is not None and self.groups == self.total
        return None if seen_to or self.groups == self.among else self.groups

    @property
    def cut_total(self) -> int | None:
        """Rows that are kept of a unit in all; None where the other two limits see to it."""
        return self.total if self.total < self.groups * self.rows else None
