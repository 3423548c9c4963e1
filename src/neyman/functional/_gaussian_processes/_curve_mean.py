"""The mean of private curves, each clipped to a norm."""

from fractions import Fraction
from typing import Final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import Aggregate, IntArray
from neyman.errors import InvalidParameter
from neyman.functional._arrays import public_number, rows, source
from neyman.functional._gaussian_processes._kernels import Kernel
from neyman.functional._gaussian_processes._values import SCALE, Question, Whitening
from neyman.numerics import Array, Real, exact, text
from neyman.sensitivity import Neighbors, check_neighbors

__all__ = ["curve_mean", "mean_norm"]

_LEAST_NUGGET: Final = Fraction(1, 2**16)
_MAP_BITS: Final = 16
_VALUE_BITS: Final = 23
_BLOCK: Final = 1 << 10


def curve_mean(
    curves: npt.NDArray[np.generic],
    points: npt.ArrayLike,
    *,
    kernel: Kernel,
    nugget: Real,
    radius: Real,
    neighbors: Neighbors,
    unit: str,
    name: str,
) -> Aggregate:
    """Ask for the mean of private curves at public points (their sum under add_remove).

    A curve with values v is scaled until ||v||^2 = v^T (K + t I)^-1 v <= radius^2, like a clipped
    gradient. The noise has covariance K + t I, so it is as smooth as the curves, and little of the
    budget goes to shapes that no curve has. If you subtract a public guess of the mean first, the
    radius can be smaller.

    Args:
        curves: private values, a NumPy array of any real dtype, shape (n, m); a row with a value
            that is not finite counts as 0.
        points: the public places of the values, shape (m,) or (m, d), m at most 2048.
        kernel: the covariance K of the noise. It says how smooth and how large curves are: a curve
            drawn from it has norm sqrt(m). Its variance is 1 in the units of the values, so first
            divide the values by the size of the curves.
        nugget: t, the variance of the rough part of each value, from 2^-16 to 1. Public.
        radius: the largest norm; longer curves are clipped. Public.
        neighbors: "add_remove", where the number of curves is private, or "replace_one".
        unit: the privacy unit, in the words of the ledger; each row is one unit.
        name: the name of the dataset in the ledger; other curves need another name.

    Raises:
        InvalidParameter: if an argument is not valid.

    Guarantee: with Gaussian noise of variance v it is mu-GDP, mu^2 = l2_squared / v. Each row
        becomes integers by exact and elementwise arithmetic, and their norm is checked as integers.
        So no row affects the rounding of another.
    Source: Hall, Rinaldo and Wasserman (2013), section 3; Mirshani, Reimherr and Slavkovic, *Formal
        privacy for functional data with Gaussian perturbations*, ICML 2019.
    """
    check_neighbors(neighbors)
    bound = exact(radius, "radius")
    norm = mean_norm(bound, neighbors=neighbors) / bound
    roughness = exact(nugget, "nugget")
    if not _LEAST_NUGGET <= roughness <= 1:
        raise InvalidParameter(
            f"nugget must be from 2^-16 to 1; got {text(roughness)}. Measured values are never as "
            "smooth as a kernel"
        )
    whitening = Whitening.of(kernel, points, roughness)
    private = rows(curves, whitening.size, "curves")
    records = public_number(private, neighbors)
    integers = np.rint(2.0**_MAP_BITS * np.tril(whitening.whiten(np.eye(whitening.size))))
    if float(np.abs(integers).max()) > 2.0**25:
        raise ArithmeticError("an entry of the whitening is above 2^25")

    def compute() -> IntArray:
        total = np.zeros(whitening.size, np.int64)
        for first in range(0, len(private), _BLOCK):
            block = private[first : first + _BLOCK].astype(np.float64)
            total += shortened(block, integers, float(bound)).sum(axis=0)
        return total

    question = Question(
        statistic="curve_mean",
        whitening=whitening,
        unit=unit,
        source=source(name, private),
        neighbors=neighbors,
        records=records,
    )
    return question.aggregate(
        {"radius": text(bound)},
        bound,
        norm**2 * int(SCALE) ** 2,
        float(bound) / SCALE / (records or 1),
        compute,
        np.asarray(np.linalg.inv(integers / 2.0**_MAP_BITS), np.float64),
    )


def mean_norm(radius: Real, *, neighbors: Neighbors) -> Fraction:
    """Return the largest change of a sum of curves by one unit, for norms ||f||_H <= `radius`.

    add_remove    radius
    replace_one   2 radius
    """
    bound = exact(radius, "radius")
    if bound <= 0:
        raise InvalidParameter(f"radius={text(bound)} is not positive; write the largest norm kept")
    return bound if check_neighbors(neighbors) == "add_remove" else 2 * bound


def shortened(rows: Array, integers: Array, radius: float) -> IntArray:
    """Return whole numbers near 2^23 L^-1 v / radius, of norm at most 2^23, shape (n, m).

    Values are clipped at 2 radius, which no curve of this norm exceeds, and rounded to 23 bits. The
    map has entries below 2^25, cut into 13 low bits and the rest, and at most 2^11 columns. So all
    products and sums of doubles are whole numbers below 2^47. The remaining steps are elementwise,
    in a fixed order.
    """
    finite = np.isfinite(rows).all(axis=1, keepdims=True)
    kept = np.where(finite, rows, 0.0)
    # After cutting, for a quotient could overflow.
    unit = radius * 2.0 ** (1 - _VALUE_BITS)
    values = np.rint(np.clip(kept, -2 * radius, 2 * radius) / unit)
    high = np.floor(integers * 2.0**-13)
    low = integers - high * 2.0**13
    exact_sums = ((values @ high.T).astype(np.int64) << 13) + (values @ low.T).astype(np.int64)
    # One whole number stands for radius 2^(1 - 23 - 16), and is to stand for radius 2^-23.
    whitened = exact_sums.astype(np.float64) * 2.0 ** (1 - _MAP_BITS)
    squares = np.zeros(len(rows))
    for column in whitened.T:
        squares += column * column
    norms = np.sqrt(squares)
    # Computed norms are within 2^-40: a little shorter, so that the norm is kept.
    longest = SCALE * (1 - 2.0**-38)
    ratio = np.divide(longest, norms, out=np.ones_like(norms), where=norms > longest)
    found = np.trunc(whitened * ratio[:, None]).astype(np.int64)
    fits = np.einsum("ij,ij->i", found, found) <= int(SCALE) ** 2
    return np.where(fits[:, None], found, 0)
