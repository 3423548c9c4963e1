"""What a private density is expected to be off by, before anything is spent."""

import math
from dataclasses import dataclass
from typing import final

from neyman.arguments import whole
from neyman.functional._bases._domain import Side, check_side
from neyman.functional._gaussian_processes._kernels import check_length
from neyman.numerics import Real
from neyman.sensitivity import Neighbors, check_neighbors

__all__ = ["Risk", "normal_risk"]


@final
@dataclass(frozen=True, slots=True)
class Risk:
    """Parts of an expected integrated squared error, in one over the units of the values.

    Attributes:
        bias: of smoothing, squared.
        sampling: variance from which records were drawn.
        noise: variance of the noise, over the domain.
    """

    bias: float
    sampling: float
    noise: float

    @property
    def total(self) -> float:
        """Their sum."""
        return self.bias + self.sampling + self.noise


def normal_risk(
    domain: Side, *, bandwidth: Real, records: int, mu: Real, neighbors: Neighbors, spread: Real
) -> Risk:
    """Return the error of a private density of normal values: a utility to be had for free.

        bias      (1/(2 sqrt(pi))) (1/r - 2^(3/2)/sqrt(h^2 + 2 s^2) + 1/s),  r = sqrt(h^2 + s^2)
        sampling  (1/(2 sqrt(pi) n)) (1/h - 1/r)
        noise     |T| c^2 / (2 pi h^2 n^2 mu^2),   c^2 = 1 or, under replace_one, 2

    The first two are those of any kernel estimate. The noise costs n^2 h^2 mu^2 / |T| times less
    than it would for one value: of no consequence once n h mu^2 is large against |T|, and without a
    bounded T infinite. Choose by it, among public numbers, a bandwidth or a mu.

    Args:
        domain: T.
        bandwidth: h, in the units of the values.
        records: n, public or a guess.
        mu: of the release.
        neighbors: the relation.
        spread: s, standard deviation of the normal values that are thought of; public.

    Raises:
        InvalidParameter: if a number is not positive, or far beyond all use.

    Error: exact for a normal law well inside the domain; the noise too large by sqrt(2 pi) h over
        the period, relatively, under replace_one. The noise of a released count, and of
        targets other than `Density()`, is not in it.
    Source: Fryer (1976), "Some errors associated with the non-parametric estimation of density
        functions"; Hall, Rinaldo and Wasserman (2013), section 4.1, for the order of the noise.

    >>> from neyman.functional import Interval
    >>> found = normal_risk(Interval(-4, 4, outside="clip"), bandwidth=0.27, records=1000, mu=1,
    ...                     neighbors="replace_one", spread=1)
    >>> f"{found.bias:.6f} {found.sampling:.6f} {found.noise:.6f}"
    '0.000257 0.000772 0.000035'
    """
    check_neighbors(neighbors)
    check_side(domain)
    records = whole("records", records, 1, 2**53)
    h, s, m = (
        float(check_length(x, name))
        for x, name in ((bandwidth, "bandwidth"), (spread, "spread"), (mu, "mu"))
    )
    wide, middle = math.hypot(h, s), math.sqrt(h * h + 2 * s * s)
    unit = 1 / (2 * math.sqrt(math.pi))
    moved = 2 if neighbors == "replace_one" else 1
    return Risk(
        bias=max(unit * (1 / wide - 2**1.5 / middle + 1 / s), 0.0),
        sampling=unit * (1 / h - 1 / wide) / records,
        noise=float(domain.length) * moved / (2 * math.pi * (h * records * m) ** 2),
    )
