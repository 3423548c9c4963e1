"""Canaries: coins that are fixed before a training, and records or gradients to be found again."""

import hashlib
import secrets
from dataclasses import dataclass, field
from typing import Final, NamedTuple, final

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from neyman.arguments import brief, got, whole
from neyman.audit._checks import is_number
from neyman.calls import plain_calls, plain_calls_of
from neyman.errors import InvalidParameter
from neyman.numerics import Array

__all__ = ["Canaries", "InsertedTokens", "Mislabelled", "canaries"]

SEED_BYTES: Final = 32
# Of 32 fair bytes fewer than 8 are different with a chance below 2^-120.
_LEAST_DIFFERENT: Final = 8
_MOST: Final = 10**8
# The rows of a large matrix.
_MOST_NUMBERS: Final = 10**9

Indices = NDArray[np.int64]


class Mislabelled(NamedTuple):
    """Records that get another label.

    Attributes:
        records: shape (m,); indices, all different.
        labels: shape (m,); what to write in place of their own.
    """

    records: Indices
    labels: Indices


class InsertedTokens(NamedTuple):
    """A token for each of m sequences.

    Attributes:
        sequences: shape (m,); indices, all different.
        places: shape (m,); insert the token before the one at this place.
        tokens: shape (m,).
    """

    sequences: Indices
    places: Indices
    tokens: Indices


@final
@plain_calls_of
@dataclass(frozen=True, slots=True, kw_only=True)
class Canaries:
    """m canaries, a fair coin for each of them, and what they are made of; `canaries` makes them.

    Everything follows from the seed: publish `commitment` before the training, and `seed` after it.
    A maker below makes one kind of canary. Include those whose coin shows True; leave the others
    out, or, under replace_one, leave their records as they were.

    Attributes:
        number: m.
        seed: 32 bytes, secret until the training is over.

    Guarantee: a person who does not know the seed cannot tell the coins from fair and independent
        ones, and cannot learn them from the commitment. No one can find other coins for the same
        commitment. Both rest on SHA-256 and SHAKE-256.
    """

    number: int
    seed: bytes = field(repr=False)

    def __post_init__(self) -> None:
        """Refuse a seed that can be guessed.

        Raises:
            InvalidParameter: if it can, or the number is none.
        """
        whole("number", self.number, 1, _MOST)
        key = self.seed
        if type(key) is not bytes or len(key) != SEED_BYTES or len(set(key)) < _LEAST_DIFFERENT:
            raise InvalidParameter(
                f"seed must be {SEED_BYTES} secret random bytes; got something else, which is not "
                "shown. Leave it out, and the operating system draws one"
            )

    @property
    def commitment(self) -> str:
        """A SHA-256 digest of the number and the seed; public."""
        text = b"neyman: commitment to canaries\n" + self.number.to_bytes(8, "big")
        return hashlib.sha256(text + self.seed).hexdigest()

    @property
    def included(self) -> NDArray[np.bool_]:
        """The coins, shape (m,): whether each canary takes part."""
        text = b"neyman: coins of canaries\n" + self.seed
        bits = np.frombuffer(hashlib.shake_256(text).digest(-(-self.number // 8)), np.uint8)
        return np.unpackbits(bits, count=self.number).astype(np.bool_)

    def dirac(self, size: int) -> Indices:
        """Return m different coordinates: canary i is the gradient clip * e_(coordinate i).

        Args:
            size: the number of coordinates, such as of all parameters.

        Raises:
            InvalidParameter: if there are fewer coordinates than canaries.
        """
        return self._different("size", size)

    def orthogonal(self, size: int) -> Array:
        """Return m orthonormal directions, shape (m, size): canary i is the gradient clip * row i.

        Args:
            size: the number of coordinates.

        Raises:
            InvalidParameter: if there are fewer coordinates than canaries, or m * size is above
                10^9: take `dirac` there.
        """
        many = whole("size", size, self.number, max(self.number, _MOST_NUMBERS // self.number))
        normal = self._draw("orthogonal").standard_normal((many, self.number))
        return np.linalg.qr(normal)[0].T

    def inputs(self, *shape: int, low: float = 0.0, high: float = 1.0) -> Array:
        """Return m inputs of noise, shape (m, *shape), each number uniform in [low, high).

        Args:
            *shape: of one input.
            low: the least number.
            high: the largest.

        Raises:
            InvalidParameter: if the shape or the range is none.
        """
        sizes = [whole("shape", side, 1, _MOST_NUMBERS) for side in shape]
        numbers = is_number(low) and is_number(high)
        if not numbers or not -np.inf < low < high < np.inf:
            raise InvalidParameter(
                f"low must be below high, and both finite; got low={got(low)}, high={got(high)}. "
                "Write the range of your inputs, such as low=0, high=1"
            )
        return self._draw("inputs").uniform(low, high, (self.number, *sizes))

    def mislabelled(self, labels: npt.ArrayLike, *, classes: int) -> Mislabelled:
        """Return m records with another label each, uniform among the others.

        Args:
            labels: of all records, from 0 to classes - 1.
            classes: how many labels there are.

        Raises:
            InvalidParameter: if there are fewer records than canaries, or a label is outside.
        """
        many = whole("classes", classes, 2, 2**31)
        own = np.asarray(labels)
        if own.ndim != 1 or own.dtype.kind not in "iu" or np.any((own < 0) | (own >= many)):
            raise InvalidParameter(
                f"labels must be a list of whole numbers from 0 to classes - 1 = {many - 1}; got "
                "something else. Write one label for each record"
            )
        records = self._different("the number of labels", own.size)
        moved = self._draw("labels").integers(1, many, self.number)
        return Mislabelled(records, (own[records] + moved) % many)

    def inserted_tokens(self, lengths: npt.ArrayLike, *, vocabulary: int) -> InsertedTokens:
        """Return m sequences, and for each a token and the place where to insert it.

        A token that occurs nowhere else is found most easily: add m to the vocabulary and write
        `vocabulary + np.arange(m)` in place of `tokens`.

        Args:
            lengths: of all sequences, in tokens.
            vocabulary: tokens are uniform from 0 to vocabulary - 1.

        Raises:
            InvalidParameter: if there are fewer sequences than canaries, or a length is no whole
                number of at least 0.
        """
        many = whole("vocabulary", vocabulary, 1, 2**62)
        sizes = np.asarray(lengths)
        if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or np.any(sizes < 0):
            raise InvalidParameter(
                "lengths must be a list of whole numbers of at least 0; got something else. Write "
                "the number of tokens of each sequence"
            )
        sequences = self._different("the number of lengths", sizes.size)
        draw = self._draw("tokens")
        places = draw.integers(0, sizes[sequences], endpoint=True)
        return InsertedTokens(sequences, places, draw.integers(0, many, self.number))

    def _different(self, name: str, size: int) -> Indices:
        many = whole(name, size, self.number, 2**62)
        return self._draw("different").choice(many, self.number, replace=False, shuffle=True)

    def _draw(self, kind: str) -> np.random.Generator:
        text = b"neyman: " + kind.encode() + b" of canaries\n" + self.seed
        return np.random.default_rng(int.from_bytes(hashlib.sha256(text).digest(), "big"))


@plain_calls
def canaries(number: int, *, seed: bytes | None = None, commitment: str | None = None) -> Canaries:
    """Return canaries with committed coins.

    Before the training publish `.commitment`, so that everybody can see later that the coins were
    not chosen to suit the result. After it publish `.seed`. Anyone who has both can call
    `canaries(number, seed=seed, commitment=commitment)`, which refuses any other seed, and compute
    the audit again.

    Args:
        number: m, how many there are. More of them show more, up to `OneRun.most_epsilon`.
        seed: 32 secret random bytes; None takes them from the operating system.
        commitment: the published commitment; None checks nothing.

    Raises:
        InvalidParameter: if the seed can be guessed, or the commitment is to other canaries.

    >>> made = canaries(1000)
    >>> published = made.commitment
    >>> again = canaries(1000, seed=made.seed, commitment=published)
    >>> bool((again.included == made.included).all())
    True
    """
    many = whole("number", number, 1, _MOST)
    key = secrets.token_bytes(SEED_BYTES) if seed is None else seed
    made = Canaries(number=many, seed=key)
    if commitment is not None and commitment != made.commitment:
        raise InvalidParameter(
            f"the commitment to {many} canaries with this seed must be {made.commitment}; got "
            f"{brief(repr(commitment))}. Write the number, the seed and the commitment as they "
            "were published. If they are, the coins were not fixed before the training"
        )
    return made
