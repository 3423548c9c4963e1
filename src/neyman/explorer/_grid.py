"""Where the sliders stop, and which numbers of a training are packed for each stop."""

import math
from itertools import product
from typing import Final

__all__ = [
    "DELTAS",
    "NOISES",
    "ODDS",
    "ORDERS",
    "PRIORS",
    "RATES",
    "SHARES",
    "SLACK",
    "STEPS",
    "USUAL",
    "stops",
]

NOISES: Final = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.3, 1.6, 2.0, 3.0, 5.0)
RATES: Final = (1e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1)
STEPS: Final = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)

# Epsilon is packed at these deltas ...
DELTAS: Final = tuple(float(f"{first}e-{n}") for n in range(1, 13) for first in (3, 1))
# ... delta at the odds of these shares of true suspicions, rounded down, which is safe ...
PRIORS: Final = ("0.5", "0.25", "0.2", "0.1", "0.05", "0.01", "0.001")
ODDS: Final = tuple(
    max(0.0, math.nextafter(math.log((1 - float(prior)) / float(prior)), -1.0)) for prior in PRIORS
)
# ... and at these shares of epsilon(1e-5), between which lies the middle of the curve.
USUAL: Final = 1e-5
SHARES: Final = tuple(count / 32 for count in (1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20, 24, 28))
# Last comes mu outside of an event of this probability, of which several phases are made.
SLACK: Final = 1e-8

# Of Renyi divergences of one step, for what other methods say.
ORDERS: Final = (
    *(1 + 2.0**power for power in (-4, -3, -2, -1, -0.5, 0, 0.5)),
    *(3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 14.0, 16.0, 18.0, 20.0),
    *(24.0, 28.0, 32.0, 40.0, 48.0, 56.0, 64.0, 80.0, 96.0, 128.0, 192.0, 256.0, 512.0, 1024.0),
)


def stops() -> list[tuple[float, float, int]]:
    """Return all trainings, in the order in which they are packed."""
    return list(product(NOISES, RATES, STEPS))
