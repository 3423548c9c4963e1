"""Where the records are, as sharply as noisy sums of waves tell."""

from typing import Final

import numpy as np

from neyman.functional._densities._projected import nearest_masses
from neyman.functional._regressions._smoother import Table
from neyman.numerics import Array, ComplexArray

__all__ = ["deblurred"]

_MOST_STEPS: Final = 400
_OFTEN: Final = 10


def deblurred(table: Table, counts: ComplexArray) -> Array:
    """Return records at each node, none negative, whose sums are within the noise of those given.

        chi^2 = sum_j r_j^2 |sum_g n_g exp(-i w_j x_g) - c_j|^2 / s^2 <= 2 J + 1

    From the masses of a density blurred by the bandwidth, by projected gradients with momentum,
    until that holds: so that nothing is sharpened that noise alone may have made. Responses are
    not blurred, and their quotient by blurred masses is off by far more than the noise where
    records are many and the domain is wide.

    Error: an estimate; after 400 steps what does not fit is left.
    Source: Beck and Teboulle, *A fast iterative shrinkage-thresholding algorithm*, SIAM Journal on
        Imaging Sciences 2009; Morozov (1966) for where to stop.
    """
    found = table.masses(counts)
    precision = (table.shares / table.deviations[0]) ** 2
    if not table.channels.counted:
        # The public number of records has no noise: as exact as the best told of the others.
        precision[0] = precision[1]
    # Roots, for low waves to leave time to high ones.
    weights = np.sqrt(precision / precision.max())
    rate = 1.0 / table.size
    total = float(found.sum())
    ahead, momentum = found, 1.0
    for step in range(_MOST_STEPS):
        missing = table.waves_of(ahead) - counts
        if step % _OFTEN == 0:
            rest = table.waves_of(found) - counts
            if float(precision @ np.abs(rest) ** 2) <= 2 * counts.size - 1:
                break
        padded = np.zeros(table.size // 2 + 1, np.complex128)
        padded[: counts.size] = weights * missing
        slope = np.fft.irfft(padded, table.size)[: found.size] * table.size
        new = nearest_masses(ahead - rate * slope, total)
        after = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = new + (momentum - 1) / after * (new - found)
        found, momentum = new, after
    return found
