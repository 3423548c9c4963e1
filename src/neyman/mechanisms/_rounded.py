"""Exactly rounded draws: K = the integer nearest to X, X an exact real of a symmetric law.

Of 64 bits, one is the sign and 63 are the first bits of a uniform V = (m + xi) / 2^63, where xi in
[0, 1) are the bits not drawn yet; |X| solves P(|X| > x) = V. Float64 gives K unless a rounding
boundary j + 1/2 is within the band around |X|. Those few draws compare V with t_j = P(|X| > j +
1/2) exactly. So K is a function of the bits alone.

The band, in units of the scale at z = |X| / scale, is 2^-45 (z + 1). It must cover:

    the inverse's own error     measured: a few ulps of z + 1; tests keep it below an eighth
    xi and the float of V       V is known to 2^-52 relative, so z to 2^-52 sqrt(pi/2), for Laplace
                                2^-52: below a sixty-fourth
    scale and product           2^-51 z: below a sixty-fourth
    the comparison              2^-52 lattice units: below a sixteenth at the smallest scale, 2^-3

The second line needs 53 significant bits. A tail draw (m < 2^53, one in 2^10) has fewer, and gets
64 more at once. The number of bits that a draw takes depends on the bits and on t_j, never on
float64.
"""

from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from neyman.aggregate import IntArray
from neyman.mechanisms._bits import BitSource
from neyman.mechanisms._uniform import Tails, Uniform
from neyman.numerics import Array

__all__ = ["BAND", "Inverse", "draw"]

BAND: Final = 2.0**-45
_BLOCK: Final = 1 << 16
_SIGNIFICANT: Final = 1 << 53


class Inverse(Tails, Protocol):
    """A law whose tails have a fast inverse in float64; see `FoldedLaw`."""

    @property
    def scale(self) -> float: ...
    def magnitude(self, upper: Array) -> Array: ...


def draw(law: Inverse, count: int, source: BitSource, band: float = BAND) -> IntArray:
    """Return `count` independent draws of the integer nearest to X, shape (count,).

    Args:
        law: of |X|, in lattice units.
        count: how many.
        source: of fair bits.
        band: half width, relative to the scale and to z + 1, within which float64 does not decide.
            A wider one changes the time, never the answer.

    Guarantee: exactly the law of round(X), given fair bits and errors within the band.
    """
    noise = np.empty(count, dtype=np.int64)
    for start in range(0, count, _BLOCK):
        _fill(noise[start : start + _BLOCK], law, source, band)
    return noise


def _fill(noise: IntArray, law: Inverse, source: BitSource, band: float) -> None:
    words = source.uint64(noise.size)
    leading = (words >> np.uint64(1)).view(np.int64)
    upper = leading.astype(np.float64)
    upper *= 2.0**-63
    tails = _extend_tails(leading, upper, source)
    x = law.magnitude(upper)
    x *= law.scale
    nearest = np.rint(x)
    noise[:] = nearest
    for i in _doubtful(x, nearest, law.scale, band):
        uniform = tails.get(i) or Uniform(int(leading[i]), 63, source)
        noise[i] = uniform.nearest(law, int(noise[i]))
    sign = (words & np.uint64(1)).view(np.int64)
    noise ^= -sign
    noise += sign


def _extend_tails(
    leading: npt.NDArray[np.int64], upper: Array, source: BitSource
) -> dict[int, Uniform]:
    """Give every draw 53 significant bits; return those that needed more bits, by position."""
    positions = np.flatnonzero(leading < _SIGNIFICANT)
    more = source.uint64(positions.size).tolist()
    tails: dict[int, Uniform] = {}
    for i, high, low in zip(positions.tolist(), leading[positions].tolist(), more, strict=True):
        uniform = Uniform(high << 64 | low, 127, source)
        while uniform.bits < _SIGNIFICANT:
            uniform.lengthen()
        upper[i] = uniform.bits / (1 << uniform.length)
        tails[i] = uniform
    return tails


def _doubtful(x: Array, nearest: Array, scale: float, band: float) -> list[int]:
    """Return where a rounding boundary is within band (z + 1) scale of x = z scale."""
    distance = np.abs(x - nearest)
    x *= band
    distance += x
    return np.flatnonzero(distance >= 0.5 - band * scale).tolist()
