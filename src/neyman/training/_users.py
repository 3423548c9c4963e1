"""Poisson samples of users who have several examples each."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from neyman.accounting import dp_sgd
from neyman.arguments import whole
from neyman.calls import plain_calls_of
from neyman.curves import TradeOff
from neyman.errors import InvalidParameter
from neyman.overriding import override
from neyman.sensitivity import Neighbors
from neyman.training._binomial import binomial_count
from neyman.training._sampler import Batches, IndexArray, Sampler, exact_rate
from neyman.training._stream import Stream

__all__ = ["Examples", "UserBatches"]


@plain_calls_of
@final
@dataclass(frozen=True, slots=True, kw_only=True)
class UserBatches(Sampler):
    """Poisson samples of users: a user's examples enter together, at most `most` of them.

        dp_sgd(noise_multiplier / most, rate, steps)

    The privacy unit is the user: one user changes the sum by all of their examples together.
    `batch` gives users, and `examples_of` gives the batches of examples. If you clip each user's
    sum and not each example, write `PoissonBatches` with users as records.

    Attributes:
        users: the public number of places for users.
        most: the largest number of examples of one user in a step; if the user has more, a uniform
            choice.
        rate: sampling rate of each user; exact, in (0, 1].
        records: equal to `users`.
        steps: number of steps of the training.
        seed: 32 secret bytes.

    Guarantee: exact, under either relation, where neighbours differ by one user. The noise
        multiplier is relative to the clipping norm of each *example's* gradient.
    Error: a step's law is off by less than 2^-128 in total variation.
    Source: `neyman.accounting.dp_sgd`; a user is a record whose gradient is the sum over their
        examples.

    >>> sampler = UserBatches(users=10_000, most=8, rate="1/100", steps=500)
    >>> f"{sampler.guarantee(noise_multiplier=8).epsilon(1e-5):.4f}"
    '1.3260'
    """

    records: int = field(init=False)
    users: int
    most: int
    rate: Fraction

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            InvalidParameter: as `Sampler`, or if a number or the rate is out of range.
        """
        object.__setattr__(self, "records", whole("users", self.users, 1, 2**32))
        object.__setattr__(self, "users", self.records)
        Sampler.__post_init__(self)
        object.__setattr__(self, "most", whole("most", self.most, 1, 2**20))
        object.__setattr__(self, "rate", exact_rate(self.rate))

    @override
    def batch(self, step: int) -> IndexArray:
        stream = self.stream(self.step(step))
        return stream.subset(self.users, binomial_count(stream, self.users, self.rate))

    def examples_of(self, user: ArrayLike) -> "Examples":
        """Return the batches of examples.

        Args:
            user: index of the user of each example, from 0, shape (examples,); sensitive.

        Raises:
            InvalidParameter: if these are not indices of users.
        """
        given = np.asarray(user)
        if given.ndim != 1 or given.dtype.kind not in "iu" or (given.size and given.min() < 0):
            raise InvalidParameter(
                f"user of shape {given.shape} and dtype {given.dtype} must have the user of each "
                "example; write whole numbers of at least 0, shape (examples,)"
            )
        by_user = np.argsort(given, kind="stable")
        places = np.arange(self.users + 1)
        starts = np.searchsorted(given[by_user], places)
        return Examples(users=self, steps=self.steps, by_user=by_user, starts=starts)

    @property
    @override
    def normalizer(self) -> float:
        return float(self.rate * self.users * self.most)

    @override
    def _guarantee(self, noise: Fraction, steps: int, neighbors: Neighbors) -> TradeOff:
        return dp_sgd(noise / self.most, self.rate, steps, neighbors=neighbors)


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Examples(Batches):
    """The examples of the users of each step.

    Attributes:
        users: the sampler of users.
        by_user: indices of the examples, sorted by user; sensitive.
        starts: the position in `by_user` where each user's examples begin; sensitive.
    """

    users: UserBatches
    by_user: IndexArray = field(repr=False)
    starts: IndexArray = field(repr=False)

    @override
    def batch(self, step: int) -> IndexArray:
        # Words of their own: those of the users are used up by how many there are.
        stream = self.users.stream(self.users.steps + step)
        chosen = [self._of_one(user, stream) for user in self.users.batch(step).tolist()]
        return np.sort(np.concatenate(chosen)) if chosen else np.zeros(0, dtype=np.int64)

    def _of_one(self, user: int, stream: Stream) -> IndexArray:
        own = self.by_user[self.starts[user] : self.starts[user + 1]]
        most = self.users.most
        return own if own.size <= most else own[stream.subset(own.size, most)]
