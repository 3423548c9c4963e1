"""The source of random bits: a release takes them only from the operating system."""

import os
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias, final

import numpy as np
import numpy.typing as npt

from neyman.errors import BrokenRandomness

__all__ = ["OPERATING_SYSTEM", "BitSource", "OperatingSystem", "Words"]

Words: TypeAlias = npt.NDArray[np.uint64]

# In bytes. The witness comes before the words of a draw; it is checked and thrown away.
_WITNESS: Final = 512
_PIECE: Final = 16
_WINDOW: Final = 4096
# 4,096 fair bits have 2,048 ± 320 ones, except with probability 2^-71 (Hoeffding's bound).
_MOST_OFF: Final = 320
# The first bytes of the latest witnesses, to detect an answer that is given twice.
_BEGAN: Final[deque[bytes]] = deque(maxlen=64)


class BitSource(Protocol):
    """A stream of independent fair bits.

    Guarantee: a release is as private as its formula only if the bits are uniform, independent and
        unknown to everyone who sees the release.
    """

    def uint64(self, n: int) -> Words:
        """Return the next `n` words of 64 bits, shape (n,)."""
        ...


@final
@dataclass(frozen=True, slots=True)
class OperatingSystem:
    """The operating system's cryptographic generator, called anew for every draw.

    Nothing is buffered, so threads and forked children never share a bit. The bytes are checked for
    the ways in which generators break: too few bytes; bytes that repeat with a period of up to 496
    bytes, at the start or at the end; an answer that starts like one of the latest 64; far more
    ones than zeros, or far fewer. Fair bits are refused with a probability below 2^-70 per call.
    The check cannot detect bits that look fair but are known to someone.
    """

    def uint64(self, n: int) -> Words:
        """Return `n` fresh words of 64 bits, shape (n,).

        Raises:
            BrokenRandomness: if the bytes are missing, too few, or visibly not random.
        """
        return np.frombuffer(_fresh(8 * n), dtype=np.uint64)[_WITNESS // 8 :]

    def require_fair(self) -> None:
        """Check the generator without using its bits; call this before anything is charged.

        Raises:
            BrokenRandomness: if the bytes are missing, too few, or visibly not random.
        """
        for _ in range(2):
            _fresh(0)


OPERATING_SYSTEM = OperatingSystem()


def _fresh(size: int) -> bytes:
    """Return `size` bytes after a witness, all of them checked."""
    data: object = None
    with suppress(Exception):
        data = os.urandom(_WITNESS + size)
    if not isinstance(data, bytes):
        raise _broken("gives no random bytes")
    if len(data) != _WITNESS + size:
        raise _broken(f"gave {len(data)} random bytes in place of {_WITNESS + size}")
    began = data[:_PIECE]
    repeated = (
        data.find(began, 1, _WINDOW) >= 0
        or data.rfind(data[-_PIECE:], -_WINDOW, -1) >= 0
        or began in _BEGAN
    )
    if repeated:
        raise _broken("repeats its random bytes")
    ones = int.from_bytes(data[:_WITNESS], "little").bit_count()
    if abs(ones - 4 * _WITNESS) > _MOST_OFF:
        raise _broken("gives random bits that are nearly all alike")
    _BEGAN.append(began)
    return data


def _broken(how: str) -> BrokenRandomness:
    return BrokenRandomness(
        f"the operating system {how}, and noise made of them would hide nothing. Nothing is "
        "released with it; an entry that was charged stays charged and may be released once more "
        "under the same id. Repair or replace what os.urandom reads from, and write nothing that "
        "stands in its place"
    )
