"""A plan: the cost and the guarantee of a training, from the numbers of its loop."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, final

from neyman.accounting import EpsilonDelta, calibrate, dp_sgd
from neyman.arguments import got, whole
from neyman.calls import plain_calls
from neyman.curves import TradeOff
from neyman.errors import InvalidParameter
from neyman.numerics import Real, exact, exact_positive, standing
from neyman.sensitivity import Neighbors, check_neighbors
from neyman.training._plan_text import plan_text
from neyman.training._poisson import PoissonBatches
from neyman.training._stream import new_seed

__all__ = ["TrainingPlan", "plan_training"]

_MOST_RECORDS, _MOST_STEPS = 2**32, 2**52


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPlan:
    """A training with Poisson sampling and Gaussian noise, before it begins.

    `plan_training` makes one. `str(plan)` has all its numbers and its conditions.

    Attributes:
        records: the number of records; public.
        batch: expected number of records in a physical batch, which fits into memory.
        accumulation: number of physical batches in one update.
        steps: number of updates of the parameters; each adds noise once.
        clip: the clipping norm of one record's gradient.
        noise_multiplier: standard deviation of the noise on the sum over an update, divided by
            `clip`.
        delta: delta at which epsilon is stated.
        neighbors: the neighbouring relation.
        target: the epsilon that fixed the noise; None if you gave the noise.
    """

    records: int
    batch: int
    accumulation: int
    steps: int
    clip: float
    noise_multiplier: float
    delta: float
    neighbors: Neighbors
    target: float | None = None

    @property
    def logical_batch(self) -> int:
        """Expected number of records in an update: batch * accumulation."""
        return self.batch * self.accumulation

    @property
    def rate(self) -> Fraction:
        """Sampling rate, each record's probability to enter an update: logical_batch / records."""
        return Fraction(self.logical_batch, self.records)

    @property
    def epochs(self) -> Fraction:
        """Expected number of times that each record is used: steps * rate."""
        return self.steps * self.rate

    @property
    def noise_on_sum(self) -> float:
        """Standard deviation of the noise on the sum of an update's clipped gradients."""
        return standing(self._noise)[1]

    @property
    def noise_on_mean(self) -> float:
        """Standard deviation of the noise on their mean, the sum divided by `logical_batch`."""
        return standing(self._noise / self.logical_batch)[1]

    @property
    def step(self) -> TradeOff:
        """The guarantee of one update."""
        return self._taken(1)

    @property
    def guarantee(self) -> TradeOff:
        """The guarantee of the whole training, if the parameters after each update are public."""
        return self._taken(self.steps)

    @property
    def epsilon(self) -> float:
        """Epsilon of the guarantee at `delta`, rounded up."""
        curve = self.guarantee
        found = float(curve.epsilon(self.delta))
        # The profile at the target is a proof too, and its inverse may have lost a last digit.
        if self.target is not None and curve.delta(self.target) <= self.delta:
            found = min(found, self.target)
        return found

    @property
    def mu(self) -> float:
        """Least mu of the guarantee outside an event of probability `delta`, rounded up."""
        return float(self.guarantee.mu(slack=self.delta))

    def sampler(self, *, seed: bytes | None = None) -> PoissonBatches:
        """Return the batches of the training, one for each update; cut them to fit into memory.

        Args:
            seed: 32 secret bytes, to resume; if left out, the operating system draws new ones.
        """
        return PoissonBatches(
            records=self.records,
            rate=self.rate,
            steps=self.steps,
            seed=new_seed() if seed is None else seed,
        )

    def described(self) -> dict[str, object]:
        """Return the plan for JSON: exact numbers as text, and public values only."""
        return {
            "sampling": "poisson",
            "records": self.records,
            "batch": self.batch,
            "accumulation": self.accumulation,
            "rate": str(self.rate),
            "steps": self.steps,
            "clip": str(exact(self.clip, "clip")),
            "noise_multiplier": str(exact(self.noise_multiplier, "noise_multiplier")),
            "delta": str(exact(self.delta, "delta")),
            "neighbors": self.neighbors,
        }

    def entry(self, entry: str, *, source: str, unit: str) -> dict[str, Any]:
        """Return the arguments with which a ledger charges it: `ledger.allow(**plan.entry(...))`.

        Args:
            entry: release id of the training in the ledger.
            source: name of the dataset.
            unit: the privacy unit that one record is; the ledger's.
        """
        return {
            "entry": entry,
            "step": self.step,
            "steps": self.steps,
            "request": self.described(),
            "source": source,
            "unit": unit,
            "neighbors": self.neighbors,
        }

    @property
    def _noise(self) -> Fraction:
        return exact(self.noise_multiplier, "noise_multiplier") * exact(self.clip, "clip")

    def _taken(self, steps: int) -> TradeOff:
        return dp_sgd(self.noise_multiplier, self.rate, steps, neighbors=self.neighbors)

    def __str__(self) -> str:
        return plan_text(self)


@plain_calls
def plan_training(
    *,
    records: int,
    batch: int,
    accumulation: int = 1,
    epochs: Real | None = None,
    steps: int | None = None,
    clip: Real,
    noise_multiplier: Real | None = None,
    epsilon: Real | None = None,
    delta: Real,
    neighbors: Neighbors = "add_remove",
) -> TrainingPlan:
    """Return the plan of a training by DP-SGD: sampling rate, updates, noise, guarantee.

        logical batch = batch * accumulation,   rate = logical batch / records,
        steps = ceil(epochs / rate)

    Noise is added once in each update. So the guarantee counts updates, not physical batches, and
    the rate is that of a record to enter an update.

    Args:
        records: the number of records; public.
        batch: expected number of records in a physical batch.
        accumulation: number of physical batches in one update.
        epochs: passes over the records. Updates are rounded up to a whole number, exactly: a float
            counts as the decimal that it prints as.
        steps: number of updates, in place of epochs.
        clip: the clipping norm of each record's gradient.
        noise_multiplier: standard deviation of the noise on the sum over an update, divided by
            `clip`.
        epsilon: the target, in place of the noise; the plan has the least noise that meets it at
            delta.
        delta: delta of the target and of stated epsilons, below 1 / records.
        neighbors: "add_remove", or "replace_one".

    Raises:
        InvalidParameter: if a number is out of range, one is missing, or two contradict each other.

    Error: with `epsilon`, the noise is at most 1e-10 (relative) above the least that is proved.
    Source: Abadi et al. (2016), "Deep learning with differential privacy".

    >>> plan = plan_training(
    ...     records=50_000, batch=64, accumulation=4, epochs=10, clip=1, epsilon=3, delta=1e-6
    ... )
    >>> plan.steps, str(plan.rate), f"{plan.noise_multiplier:.4f}"
    (1954, '16/3125', '0.7580')
    """
    n = whole("records", records, 1, _MOST_RECORDS)
    physical = whole("batch", batch, 1, n)
    several = whole("accumulation", accumulation, 1, n)
    if physical * several > n:
        raise InvalidParameter(
            f"batch * accumulation must be at most the number of records, {n}; got {physical} * "
            f"{several}. Write a smaller batch, or fewer physical batches for an update"
        )
    rate, failure = Fraction(physical * several, n), _failure(delta, n)
    relation, count = check_neighbors(neighbors), _updates(epochs, steps, rate)
    noise = _noise(noise_multiplier, epsilon, failure, rate, count, relation)
    return TrainingPlan(
        records=n,
        batch=physical,
        accumulation=several,
        steps=count,
        # A float stands for the decimal that it prints as: at least the noise, at most the delta.
        clip=standing(exact_positive(clip, "clip"))[1],
        noise_multiplier=standing(noise)[1],
        delta=standing(failure)[0],
        neighbors=relation,
        target=None if epsilon is None else standing(exact(epsilon, "epsilon"))[1],
    )


def _updates(epochs: Real | None, steps: int | None, rate: Fraction) -> int:
    if (epochs is None) == (steps is None):
        raise InvalidParameter(
            "the length of a training must be given by epochs or by steps; "
            + ("got both. " if steps is not None else "got neither. ")
            + "Write one of epochs=10 and steps=1000"
        )
    if steps is not None:
        return whole("steps", steps, 1, _MOST_STEPS)
    count = ceil(exact_positive(epochs, "epochs") / rate)
    return whole("steps", count, 1, _MOST_STEPS)


def _failure(delta: Real, records: int) -> Fraction:
    failure = exact(delta, "delta")
    if not 0 < failure < Fraction(1, records):
        raise InvalidParameter(
            f"delta must be above 0, which Gaussian noise does not reach, and below 1/records = "
            f"{1 / records:.3g}; got {got(delta)}. At 1/records a mechanism may "
            "publish one record, picked at random, in full. Write a delta far below it, such as "
            + f"{0.01 / records:.0e}".replace("e-0", "e-")
        )
    return failure


def _noise(
    noise_multiplier: Real | None,
    epsilon: Real | None,
    delta: Fraction,
    rate: Fraction,
    steps: int,
    neighbors: Neighbors,
) -> Fraction:
    if (noise_multiplier is None) == (epsilon is None):
        raise InvalidParameter(
            "the noise must be given by noise_multiplier or by an epsilon to reach; "
            + ("got both. " if epsilon is not None else "got neither. ")
            + "Write one of noise_multiplier=1.0 and epsilon=3"
        )
    if noise_multiplier is not None:
        return exact_positive(noise_multiplier, "noise_multiplier")
    found = calibrate(
        lambda noise: dp_sgd(noise, rate, steps, neighbors=neighbors),
        EpsilonDelta(exact_positive(epsilon, "epsilon"), delta),
    )
    return exact(found.value, "noise_multiplier")
