"""The base of all samplers: batches, and the only source of their guarantee."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any, ClassVar, Final, TypeAlias, cast, final

import numpy as np
from numpy.typing import NDArray

from neyman.arguments import brief, whole
from neyman.calls import plain_calls
from neyman.curves import TradeOff
from neyman.errors import InvalidCall, InvalidParameter
from neyman.numerics import Real, exact, exact_positive, rational, text
from neyman.overriding import override
from neyman.sensitivity import Neighbors, check_neighbors
from neyman.training._binomial import MOST_RECORDS
from neyman.training._stream import Stream, check_seed, digest_of_seed, new_seed

__all__ = ["Batches", "IndexArray", "Sampler", "Share", "exact_rate", "sampler_from_json"]

IndexArray: TypeAlias = NDArray[np.int64]

_MOST_STEPS: Final = 2**52


@dataclass(frozen=True, slots=True, kw_only=True)
class Batches(ABC):
    """Batches of a training, step by step.

    Write `torch.utils.data.DataLoader(data, batch_sampler=batches)`. You can iterate over them
    once: a second pass would repeat batches that the guarantee counts once.

    Attributes:
        steps: number of steps of the whole training.
        first: the step at which iteration begins.
    """

    steps: int
    first: int = field(default=0, init=False, repr=False, compare=False)
    _unused: list[None] = field(
        default_factory=lambda: [None], init=False, repr=False, compare=False
    )

    @abstractmethod
    def batch(self, step: int) -> IndexArray:
        """Return the indices of the records of a step, from 0, in increasing order.

        A step always gives the same batch, so you can resume a training at any step.

        Args:
            step: the step, from 0 to `steps` - 1.

        Raises:
            InvalidParameter: if there is no such step.
        """

    def shard(self, rank: int, ranks: int) -> "Share":
        """Return the share of one process: every `ranks`-th record of each batch.

        All processes have the same seed, and each computes the whole batch. So each record enters a
        step once, at the rate that the guarantee counts.

        Args:
            rank: rank of the process, from 0 to `ranks` - 1.
            ranks: the number of processes.
        """
        number = whole("ranks", ranks, 1, 2**20)
        return Share(
            source=self,
            first=self.first,
            rank=whole("rank", rank, 0, number - 1),
            ranks=number,
            steps=self.steps,
        )

    def after(self, step: int) -> "Share":
        """Return the batches from a step on, to resume a training.

        Args:
            step: number of steps that were taken.
        """
        taken = whole("step", step, self.first, self.steps)
        return Share(source=self, first=taken, rank=0, ranks=1, steps=self.steps)

    def __iter__(self) -> Iterator[IndexArray]:
        """Yield the batches in the order of steps, once.

        Raises:
            InvalidCall: if somebody iterated over them before.
        """
        # A worker's loader asks for several iterators and uses one: what counts is the first step.
        try:
            self._unused.pop()
        except IndexError:
            raise InvalidCall(
                f"batches must be iterated over once, for one loop takes all {self.steps} steps of "
                "the training; they were before, and again they would be the same. Write one loop "
                "without a loop over epochs; .batch(step) to look at a step, .after(step) to "
                "resume, and a new sampler to train anew"
            ) from None
        for step in range(self.first, self.steps):
            yield self.batch(step)

    def __len__(self) -> int:
        """Return the number of steps of the iteration."""
        return self.steps - self.first


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Share(Batches):
    """A part of other batches: from a step on, and every `ranks`-th record from the `rank`-th on.

    Attributes:
        source: the batches that these are part of.
        rank: rank of this process.
        ranks: the number of processes.
    """

    source: Batches
    first: int
    rank: int
    ranks: int

    @override
    def batch(self, step: int) -> IndexArray:
        return self.source.batch(step)[self.rank :: self.ranks]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampler(Batches):
    """A sampler of batches: it draws the records of each step of a training.

    A sampler also states the guarantee of its batches, so that the accounting of a training cannot
    differ from what the training did.

    `records` is a public number of *places*, which a dataset fills from the first on. Write a
    number that everybody may know: an announced number, or an upper bound. Empty places are drawn
    as filled ones are: if you have fewer records, write `batch[batch < len(data)]`. Records beyond
    the last place never take part. Neighbours are

    * "add_remove": datasets where one place is filled or empty;
    * "replace_one": datasets where one place has one record or another.

    So neither batches nor `normalizer` depend on the data. With `records=len(data)` the number of
    records is made public; no guarantee here covers it.

    A subclass is a frozen dataclass with slots. Its keyword fields are its public description. Once
    the class is defined, `sampler_from_json` finds it by its name.

    Attributes:
        records: the public number of places, from 1 to 2^32; indices go up to it.
        seed: 32 secret bytes, of the operating system by default. A person who knows them knows
            which batch a record was in, and then sampling hides nothing. Save them in a checkpoint
            that you keep as secret as the data, and pass them to resume.

    Guarantee: that of `guarantee`, with the sampling error that the class states, if SHAKE-256 of a
        secret seed is indistinguishable from fair bits.
    """

    known: ClassVar[dict[str, type["Sampler"]]] = {}

    records: int
    seed: bytes = field(default_factory=new_seed, repr=False)

    def __init_subclass__(cls) -> None:
        """Register the class under its name."""
        known = cls.known.get(cls.__name__)
        # By name: a dataclass with slots is made twice, at first without its place.
        if known is not None and known.__module__ != cls.__module__:
            raise InvalidParameter(
                f"a sampler must have a name of its own; {known.__module__} has a {cls.__name__} "
                "already. Write another name"
            )
        cls.known[cls.__name__] = cls

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            InvalidParameter: if a number is not a whole number or out of range, or the seed is not
                one.
        """
        object.__setattr__(self, "records", whole("records", self.records, 1, MOST_RECORDS))
        object.__setattr__(self, "steps", whole("steps", self.steps, 1, _MOST_STEPS))
        check_seed(self.seed)

    @property
    @abstractmethod
    def normalizer(self) -> float:
        """The public number that divides a summed gradient; it does not depend on the data."""

    @final
    @plain_calls
    def guarantee(
        self,
        *,
        noise_multiplier: Real,
        neighbors: Neighbors = "add_remove",
        steps: int | None = None,
    ) -> TradeOff:
        """Return the guarantee of all steps with Gaussian noise on clipped, summed gradients.

        Args:
            noise_multiplier: standard deviation of the noise on the sum over the whole batch,
                divided by the clipping norm of each record's gradient.
            neighbors: "add_remove" or "replace_one"; the class says what these mean.
            steps: number of steps that were taken, from the first on; all if left out.

        Raises:
            InvalidParameter: if a number is out of range.
            RelationMismatch: if no guarantee is proved for this relation.
        """
        noise = exact_positive(noise_multiplier, "noise_multiplier")
        return self._guarantee(noise, self.taken(steps), check_neighbors(neighbors))

    @abstractmethod
    def _guarantee(self, noise: Fraction, steps: int, neighbors: Neighbors) -> TradeOff:
        """Return the guarantee of the first `steps` steps; the arguments are checked."""

    @property
    def seed_digest(self) -> str:
        """The SHA-256 digest of the seed, for the record of the run; it is public."""
        return digest_of_seed(self.seed)

    def described(self) -> Mapping[str, object]:
        """Return the public description of the sampler for JSON, without its seed."""
        return {
            "sampler": type(self).__name__,
            **{name: _written(getattr(self, name)) for name in _public(type(self))},
        }

    def taken(self, steps: int | None) -> int:
        """Return the number of steps of a guarantee.

        Raises:
            InvalidParameter: if the training has fewer steps.
        """
        return self.steps if steps is None else whole("steps", steps, 0, self.steps)

    def stream(self, draw: int) -> Stream:
        """Return the random words of a draw; other draws and samplers have independent words."""
        public = (f"{name}={value}" for name, value in self.described().items())
        return Stream(self.seed, *public, draw)

    def step(self, step: int) -> int:
        """Return the step, checked.

        Raises:
            InvalidParameter: if there is no such step.
        """
        return whole("step", step, 0, self.steps - 1)


def sampler_from_json(record: object, *, seed: bytes | None = None) -> Sampler:
    """Return the sampler of a public description.

    Args:
        record: what `Sampler.described` gave.
        seed: the seed of the run that you resume; if left out, the operating system draws a new
            one.

    Raises:
        InvalidParameter: if the record does not describe a known sampler.

    >>> from neyman.training import PoissonBatches
    >>> sampler = PoissonBatches(records=60_000, rate="1/250", steps=1000)
    >>> sampler_from_json(sampler.described(), seed=sampler.seed) == sampler
    True
    """
    values = dict(cast("Mapping[str, Any]", record)) if isinstance(record, Mapping) else {}
    kind = Sampler.known.get(str(values.pop("sampler", None)))
    if kind is None or {*values} != {*_public(kind)}:
        raise InvalidParameter(
            "the record describes no sampler that is known; write what described() gives. A "
            "sampler of another package is known once that package is imported"
        )
    return kind(**values) if seed is None else kind(**values, seed=seed)


def exact_rate(value: object) -> Fraction:
    """Return a sampling rate in (0, 1], exactly; the value can be text.

    Raises:
        InvalidParameter: if it is not such a rate.
    """
    if isinstance(value, str):
        rate = rational(value)
        if rate is None:
            raise InvalidParameter(
                f"rate as text must be a number or a fraction; got {brief(repr(value))}. Write one "
                'such as "0.01" or "1/250"'
            )
    else:
        rate = exact(value, "rate")
    if not 0 < rate <= 1:
        raise InvalidParameter(
            f"rate must be in (0, 1]; got {text(rate)}. Write a probability such as "
            "Fraction(batch, records)"
        )
    return rate


def _public(kind: type[Sampler]) -> list[str]:
    return [each.name for each in fields(kind) if each.init and each.name != "seed"]


def _written(value: object) -> object:
    return str(value) if isinstance(value, Fraction) else value
