"""One module an accountant: `ANSWERS`, by the kinds of `benchmarks._workloads`.

Each runs in a process of its own, so that no two need to live in one environment.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

__all__ = ["Answer"]


@final
@dataclass(frozen=True, slots=True)
class Answer:
    """What an accountant says.

    Attributes:
        values: upper bounds; of true positive rates or delta for curves, of noise for calibration.
        lower: called after the clock has stopped: certified lower bounds, where there are such.
    """

    values: Sequence[float]
    lower: Callable[[], Sequence[float]] | None = None
