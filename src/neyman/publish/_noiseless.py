"""No noise, for answers of public rows."""

from dataclasses import dataclass, field
from typing import Final, final

__all__ = ["NOISELESS"]


@final
@dataclass(frozen=True, slots=True)
class _Noiseless:
    """No noise: the readings then give exact answers."""

    stddev: float = field(default=0.0, init=False)
    normal: bool = field(default=True, init=False)

    def half_width(self, confidence: float) -> int:  # noqa: ARG002
        """None."""
        return 0

    def ratio_interval(
        self,
        numerator: int,
        denominator: int,
        confidence: float,  # noqa: ARG002
    ) -> tuple[float, float]:
        """Return the ratio."""
        ratio = numerator / denominator if denominator else float("nan")
        return ratio, ratio

    def radius(self, rank: int, size: int, confidence: float) -> float:  # noqa: ARG002
        """None."""
        return 0.0


NOISELESS: Final = _Noiseless()
