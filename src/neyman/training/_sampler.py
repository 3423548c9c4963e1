"""What every sampler of batches offers: the batches, and the only way to their guarantee."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any, ClassVar, Final, TypeAlias, cast, final

import numpy as np
from numpy.typing import NDArray

from neyman.arguments import brief, whole
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

    `torch.utils.data.DataLoader(data, batch_sampler=batches)` takes them as they are. They are
    iterated over once: a second pass would repeat batches that the guarantee counts once.

    Attributes:
        steps: of the whole training.
        first: the step that iteration begins at.
    """

    steps: int
    first: int = field(default=0, init=False, repr=False, compare=False)
    _unused: list[None] = field(
        default_factory=lambda: [None], init=False, repr=False, compare=False
    )

    @abstractmethod
    def batch(self, step: int) -> IndexArray:
        """Return the records of a step, by index from 0, in increasing order.

        The same step gives the same batch again, so that a training can be resumed at any step.

        Args:
            step: from 0 to `steps` - 1.

        Raises:
            InvalidParameter: if there is no such step.
        """

    def shard(self, rank: int, ranks: int) -> "Share":
        """Return the share of one process among several: every `ranks`-th record of each batch.

        All processes have one seed, and each computes the batch of all of them: so every record is
        in the step once, at the one rate that the guarantee counts.

        Args:
            rank: from 0 to `ranks` - 1.
            ranks: how many processes there are.
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
        """Return the batches from a step on, for a training that is resumed.

        Args:
            step: how many steps of the training were taken.
        """
        taken = whole("step", step, self.first, self.steps)
        return Share(source=self, first=taken, rank=0, ranks=1, steps=self.steps)

    def __iter__(self) -> Iterator[IndexArray]:
        """Yield the batches, step by step, once.

        Raises:
            InvalidCall: if they were iterated over before.
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
        """Return how many steps there are to iterate over."""
        return self.steps - self.first


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Share(Batches):
    """A part of other batches: from a step on, and every `ranks`-th record from the `rank`-th on.

    Attributes:
        source: the batches that these are a part of.
        rank: of this process.
        ranks: how many processes there are.
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
    """Which records enter each step of a training.

    A sampler draws the batches and states what they guarantee, so that a training cannot be
    accounted for as something that it did not do.

    `records` is a public number of *places*, which a dataset fills from the first on. Write what
    may be known to everybody: a number that was announced, or an upper bound. A place that is empty
    is drawn like any other, and gives nothing: with fewer records write
    `batch[batch < len(data)]`; records beyond the last place never take part. Neighbours are

    * "add_remove": one place is filled or empty;
    * "replace_one": one place holds one record or another.

    So neither batches nor `normalizer` depend on the data. With `records=len(data)` the number of
    records is made public; no guarantee here covers it.

    A subclass is a frozen dataclass with slots, whose fields that are written by name are its
    public description; being defined, it is known to `sampler_from_json` by its name.

    Attributes:
        records: the public number of places, from 1 to 2^32; indices go up to it.
        seed: 32 secret bytes, of the operating system by default. Whoever knows them knows who was
            in which batch, and then sampling hides nothing. Save them with a checkpoint that is as
            secret as the data, and give them back to resume.

    Guarantee: that of `guarantee`, if SHAKE-256 of a secret seed cannot be told from fair bits, and
        with the sampling error that the class states.
    """

    known: ClassVar[dict[str, type["Sampler"]]] = {}

    records: int
    seed: bytes = field(default_factory=new_seed, repr=False)

    def __init_subclass__(cls) -> None:
        """Make the class known by its name."""
        known = cls.known.get(cls.__name__)
        # By name: a dataclass with slots is made twice, at first without its place.
        if known is not None and known.__module__ != cls.__module__:
            raise InvalidParameter(
                f"a sampler must have a name of its own; {known.__module__} has a {cls.__name__} "
                "already. Write another name"
            )
        cls.known[cls.__name__] = cls

    def __post_init__(self) -> None:
        """Refuse what is no training.

        Raises:
            InvalidParameter: if a number is no whole number or outside, or the seed is no seed.
        """
        object.__setattr__(self, "records", whole("records", self.records, 1, MOST_RECORDS))
        object.__setattr__(self, "steps", whole("steps", self.steps, 1, _MOST_STEPS))
        check_seed(self.seed)

    @property
    @abstractmethod
    def normalizer(self) -> float:
        """The public number that a summed gradient is divided by; no function of the data."""

    @final
    def guarantee(
        self,
        *,
        noise_multiplier: Real,
        neighbors: Neighbors = "add_remove",
        steps: int | None = None,
    ) -> TradeOff:
        """Return the guarantee of all steps with Gaussian noise on clipped, summed gradients.

        Args:
            noise_multiplier: standard deviation of the noise on the sum over the whole batch, over
                the norm that each record's gradient is clipped to.
            neighbors: "add_remove" or "replace_one"; see the class for what these mean.
            steps: how many were taken, from the first on; all of them if left out.

        Raises:
            InvalidParameter: if a number is outside.
            RelationMismatch: if nothing is proved for this relation.
        """
        noise = exact_positive(noise_multiplier, "noise_multiplier")
        return self._guarantee(noise, self.taken(steps), check_neighbors(neighbors))

    @abstractmethod
    def _guarantee(self, noise: Fraction, steps: int, neighbors: Neighbors) -> TradeOff:
        """Return the guarantee of the first `steps` steps; what is given was checked."""

    @property
    def seed_digest(self) -> str:
        """The SHA-256 digest of the seed, for the record of the run; it is public."""
        return digest_of_seed(self.seed)

    def described(self) -> Mapping[str, object]:
        """Return the public description of the sampler, for JSON; without its seed."""
        return {
            "sampler": type(self).__name__,
            **{name: _written(getattr(self, name)) for name in _public(type(self))},
        }

    def taken(self, steps: int | None) -> int:
        """Return how many steps a guarantee is of.

        Raises:
            InvalidParameter: if there are not as many.
        """
        return self.steps if steps is None else whole("steps", steps, 0, self.steps)

    def stream(self, draw: int) -> Stream:
        """Return the random words of a draw; those of other draws and samplers are independent."""
        public = (f"{name}={value}" for name, value in self.described().items())
        return Stream(self.seed, *public, draw)

    def step(self, step: int) -> int:
        """Return a step that there is.

        Raises:
            InvalidParameter: if there is no such step.
        """
        return whole("step", step, 0, self.steps - 1)


def sampler_from_json(record: object, *, seed: bytes | None = None) -> Sampler:
    """Return the sampler that `described` wrote.

    Args:
        record: what it wrote.
        seed: of a run that is resumed; the operating system draws a new one if left out.

    Raises:
        InvalidParameter: if this describes no sampler that is known.

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
    """Return a sampling rate in (0, 1], exactly; text writes one, too.

    Raises:
        InvalidParameter: if it is none.
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
            f"rate={text(rate)} must be a probability above 0; write one in (0, 1], such as "
            "Fraction(batch, records)"
        )
    return rate


def _public(kind: type[Sampler]) -> list[str]:
    return [each.name for each in fields(kind) if each.init and each.name != "seed"]


def _written(value: object) -> object:
    return str(value) if isinstance(value, Fraction) else value
