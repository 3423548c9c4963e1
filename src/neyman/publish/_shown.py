"""Which groups a question about groups that nobody declared would show."""

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from neyman.aggregate import Aggregate
from neyman.mechanisms import Mechanism, Thresholded
from neyman.numerics import at_most
from neyman.released import counted

__all__ = ["Shown", "shown_by"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What decides whether a group is shown. Public: no row has a part in it.

    Attributes:
        threshold: the least noisy count that is shown, in lattice units.
        weight: how much each row adds to that count; 1 of a count.
        delta: the most that one unit's own groups are shown with.
        surely: a group of so many rows or more is shown with at least `confidence`.
        confidence: of that.
        noun: what is counted, for people: rows, or units.
    """

    threshold: int
    weight: int
    delta: Fraction
    surely: int
    confidence: float
    noun: str

    def __str__(self) -> str:
        """Write it for people, in what is counted."""
        return (
            f"shown: groups whose noisy count is {self.threshold / self.weight:,.6g} {self.noun} "
            f"or more; a group of {self.surely:,} {self.noun} or more with at least "
            f"{100 * self.confidence:g} % probability; what one unit alone is in "
            f"with at most delta {at_most(self.delta, 4)}"
        )

    def to_json(self) -> dict[str, object]:
        """Return it, JSON-able."""
        return {
            "threshold": self.threshold,
            "weight": self.weight,
            "delta": str(self.delta),
            "surely_shown_rows": self.surely,
        }


def shown_by(aggregate: Aggregate, mechanism: Mechanism, confidence: float) -> Shown | None:
    """Return what is shown, or None where all groups are declared.

        n rows are shown if w n + K >= threshold, which w n - h >= threshold makes at least as
        likely as |K| <= h

    Raises:
        SensitivityMismatch: if one unit passes the threshold without any noise.
    """
    weight = aggregate.count_weight
    if not isinstance(mechanism, Thresholded) or weight is None:
        return None
    least = mechanism.threshold + mechanism.half_width(confidence)
    return Shown(
        threshold=mechanism.threshold,
        weight=weight,
        delta=mechanism.failure(aggregate.sensitivity),
        surely=-(-least // weight),
        confidence=confidence,
        noun=counted(aggregate.query),
    )
