"""Numbers in few bytes, rounded outwards: an upper bound of 48 bits and how far the lower one is.

    upper: the first six bytes of the double, rounded up
    lower = upper (1 - 2^(-g/4)),  g a byte; 0 for a lower bound of 0

The page reads the same format in `js/packed.js`.
"""

import math
import struct
from typing import Final

__all__ = ["ABSENT", "BYTES", "decoded", "encoded"]

BYTES: Final = 7
# No number: a knot that was not computed.
ABSENT: Final = b"\x7f\xf0\x00\x00\x00\x00\x00"
_DROPPED: Final = 1 << 16
_MOST: Final = 255
_SAFE: Final = 1 - 1e-9


def encoded(lower: float, upper: float) -> bytes:
    """Return a bracket of a number of at least 0 in seven bytes, rounded outwards.

    >>> decoded(encoded(1.0, 1.0))
    (0.99999999..., 1.0)
    """
    if not 0 <= lower <= upper < math.inf:
        raise ValueError(f"[{lower!r}, {upper!r}] is no bracket of a finite number of at least 0")
    bits = int.from_bytes(struct.pack(">d", upper), "big")
    short = -(-bits // _DROPPED)
    raised = struct.unpack(">d", (short * _DROPPED).to_bytes(8, "big"))[0]
    gap = 0
    if lower > 0:
        while gap < _MOST and _lower(raised, gap + 1) <= lower * _SAFE + lower * (1 - _SAFE) / 2:
            gap += 1
    return short.to_bytes(6, "big") + bytes([gap])


def decoded(seven: bytes) -> tuple[float, float] | None:
    """Return the bracket, or None for a number that is absent."""
    if seven == ABSENT:
        return None
    (upper,) = struct.unpack(">d", seven[:6] + b"\0\0")
    return _lower(upper, seven[6]), upper


def _lower(upper: float, gap: int) -> float:
    return upper * (1 - 2.0 ** (-gap / 4)) if gap else 0.0
