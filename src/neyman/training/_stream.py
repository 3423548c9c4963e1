"""Random words from a secret seed, and exact draws from these words."""

import hashlib
import json
from typing import Final, final

import numpy as np
import numpy.typing as npt

from neyman.errors import InvalidParameter
from neyman.mechanisms import OPERATING_SYSTEM

__all__ = ["SEED_BYTES", "Stream", "check_seed", "digest_of_seed", "new_seed"]

SEED_BYTES: Final = 32
# Of 32 fair bytes fewer than 8 are different with a chance below 2^-120.
_LEAST_DIFFERENT: Final = 8
_WORD: Final = 2**64
# Fewer than one value in so many is sorted, more are marked in an array of all.
_SPARSE: Final = 64


def new_seed() -> bytes:
    """Return 32 random bytes of the operating system.

    Raises:
        BrokenRandomness: if the system gives none, or they are visibly not random.
    """
    return OPERATING_SYSTEM.uint64(SEED_BYTES // 8).tobytes()


def check_seed(seed: object) -> None:
    """Refuse a seed that can be guessed; the message does not quote it.

    Raises:
        InvalidParameter: if the seed is not 32 bytes, or they are nearly all equal.
    """
    given = seed if isinstance(seed, bytes) else b""
    if len(given) != SEED_BYTES or len(set(given)) < _LEAST_DIFFERENT:
        raise InvalidParameter(
            f"seed must be {SEED_BYTES} secret random bytes; got something else, which is not "
            "shown here. Leave seed out, and the operating system draws one. To resume a training, "
            "write the seed of its sampler, from the checkpoint"
        )


def digest_of_seed(seed: bytes) -> str:
    """Return a public SHA-256 digest, equal for equal seeds; it does not reveal the seed."""
    return hashlib.sha256(b"neyman: digest of a sampler's seed\n" + seed).hexdigest()


@final
class Stream:
    """Random words: SHAKE-256 of a seed and a label. Each label has its own independent words.

    The draws below are exact if the words are fair and independent. Without the seed, they are
    indistinguishable from such words.

    Args:
        seed: 32 bytes.
        label: numbers and text, different for each draw with this seed.
    """

    __slots__ = ("_pieces", "_prefix")

    def __init__(self, seed: bytes, *label: int | str) -> None:
        # The text of a list ends by itself, so no two labels and pieces run into each other.
        self._prefix = seed + json.dumps(label).encode()
        self._pieces = 0

    def words(self, size: int) -> npt.NDArray[np.uint64]:
        """Return the next words of 64 bits, shape (size,)."""
        named = self._prefix + self._pieces.to_bytes(8, "little")
        self._pieces += 1
        return np.frombuffer(hashlib.shake_256(named).digest(8 * size), dtype="<u8")

    def integer(self, bits: int) -> int:
        """Return a uniform integer in [0, 2^bits), bits a multiple of 64."""
        return int.from_bytes(self.words(bits // 64).tobytes(), "little")

    def below(self, most: int, size: int) -> npt.NDArray[np.int64]:
        """Return independent uniform integers in [0, most), shape (size,)."""
        largest = np.uint64(_WORD - _WORD % most - 1)
        found = self.words(size)
        while np.any(found > largest) or found.size < size:
            found = found[found <= largest]
            found = np.concatenate((found, self.words(size - found.size)))
        return (found % np.uint64(most)).astype(np.int64)

    def subset(self, number: int, size: int) -> npt.NDArray[np.int64]:
        """Return `size` of the integers in [0, number), chosen uniformly, in increasing order."""
        if 2 * size > number:
            taken = np.ones(number, dtype=np.bool_)
            taken[self.subset(number, number - size)] = False
            return np.flatnonzero(taken)
        # As many draws as values are missing, until none is: the first different values of a
        # sequence, which are any as many with the same chance.
        if number > _SPARSE * size:
            found = np.unique(self.below(number, size))
            while found.size < size:
                found = np.union1d(found, self.below(number, size - found.size))
            return found
        taken, missing = np.zeros(number, dtype=np.bool_), size
        while missing:
            taken[self.below(number, missing)] = True
            missing = size - int(np.count_nonzero(taken))
        return np.flatnonzero(taken)

    def permutation(self, number: int) -> npt.NDArray[np.int64]:
        """Return a uniform permutation of the integers in [0, number)."""
        keys = self.words(number)
        order = np.argsort(keys)
        # Different keys come in every order with the same chance; equal ones are drawn again.
        while np.any(np.diff(keys[order]) == 0):
            keys = self.words(number)
            order = np.argsort(keys)
        return order
