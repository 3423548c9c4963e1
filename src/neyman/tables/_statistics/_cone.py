"""Simultaneous intervals for all ratios of noisy sums, without linearisation.

Let z = theta + K, where theta has the sums before noise, and |P K| <= R with the given confidence,
where P is the projection onto the complement of theta. A linear form g with g theta = 0 has |g z| =
|g K| = |g P K| <= R |g|. So, for all forms f, h at once, also those chosen after seeing z,

    rho = f theta / h theta   satisfies   |f z - rho h z| <= R |f - rho h|,

If h z > R |h|, the noise cannot change the sign of h, and these rho are an interval.

Source: Fieller, *Some problems in interval estimation*, JRSS-B 1954; Scheffé, *A method for judging
    all contrasts in the analysis of variance*, Biometrika 1953.
"""

from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
import numpy.typing as npt

__all__ = ["Cone", "Ends", "Floats"]

Floats: TypeAlias = npt.NDArray[np.float64]
Ends: TypeAlias = tuple[Floats, Floats]

# Of the size of z: more than the rounding of a form, whose terms may cancel.
_ROUNDING = 2.0**-46


@final
@dataclass(frozen=True, slots=True)
class Cone:
    """Noisy sums of each group, and the radius of their noise.

    Attributes:
        sums: z, shape (groups, d).
        radius: R, for forms of the same coordinates.
    """

    sums: Floats
    radius: float

    def ratio(self, top: Floats, bottom: Floats) -> Ends:
        """Return the ends of top theta / bottom theta, group by group; infinite if unknown.

        Args:
            top: coefficients f, shape (groups, d).
            bottom: coefficients h of a form that is positive before noise, same shape.

        Error: rounded outwards.
        """
        if not np.isfinite(self.radius):
            return np.full(len(self.sums), -np.inf), np.full(len(self.sums), np.inf)
        f, h = _dot(top, self.sums), _dot(bottom, self.sums)
        squared = (self.radius + _ROUNDING * np.sqrt(_dot(self.sums, self.sums))) ** 2
        tops, bottoms, both = _dot(top, top), _dot(bottom, bottom), _dot(top, bottom)
        a = h**2 - squared * bottoms
        b = f * h - squared * both
        # b^2 - a c with c = f^2 - squared tops, written so that nothing large cancels.
        across = h[:, None] * top - f[:, None] * bottom
        gram = np.maximum(tops * bottoms - both**2, 0.0)
        root = np.sqrt(squared * np.maximum(_dot(across, across) - squared * gram, 0.0))
        known = (h > 0) & (a > 0)
        a = np.where(known, a, 1.0)
        slack = _ROUNDING * (np.abs(b) + root)
        low, high = (b - root - slack) / a, (b + root + slack) / a
        return np.where(known, low, -np.inf), np.where(known, high, np.inf)


def _dot(x: Floats, y: Floats) -> Floats:
    return np.einsum("gi,gi->g", x, y)
