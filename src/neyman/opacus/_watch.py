"""The check between an optimizer and its accountant."""

# Opacus has no stubs, and torch's are partial.
# pyright: reportUnknownMemberType=false, reportMissingTypeStubs=false

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias, final

from opacus.optimizers import DPOptimizer

from neyman.errors import InvalidTraining
from neyman.opacus._accountant import Entry, append
from neyman.opacus._history import Accounted
from neyman.opacus._observed import ROUNDED, left_over, norms, world
from neyman.opacus._streams import Streams
from neyman.sensitivity import Neighbors
from neyman.training import Check, Finding, Phase, RunRecord
from neyman.training._faults import Plan

__all__ = ["OnStep", "Subject", "Watch"]

OnStep: TypeAlias = Callable[[float, float], None]

_CHECKED: Final = (
    *("shuffled_batches", "accounted_rate", "left_batch", "accumulated_batches", "no_batch"),
    *("several_batches", "clipping_norm", "no_noise", "same_seed_on_ranks", "replayed_seed"),
)
_FLOATS: Final = (
    "The noise is taken to be ideal Gaussian noise. It was made of floating-point numbers, by a "
    "generator that is not cryptographic."
)
_DIVIDED: Final = (
    "The number of records is public: Opacus divides each step by a number that it makes from it."
)
_DRAWN: Final = (
    "Each record is taken to enter each step with the recorded probability. torch compares 24 "
    "random bits with it, so the probability was larger by up to 2^-24."
)


class Subject(NamedTuple):
    """The optimizer, loader and model that a watch checks."""

    optimizer: DPOptimizer
    loader: Any
    model: Any
    accounted: Accounted
    hook: Callable[[DPOptimizer], None]
    on_step: OnStep | None


@final
class Watch:
    """The checks of a running Opacus training; `attach` makes it.

    Attributes:
        history: the phases (noise multiplier, sampling rate, steps) of the checked steps.
    """

    def __init__(self, *, _of: Subject, _plan: Plan, _before: Streams) -> None:
        self.history: list[Entry] = []
        self._of, self._plan, self._before = _of, _plan, _before
        self._waiting = 0
        self._clips: set[float] = set()
        self._findings: list[Finding] = []

    @property
    def accounted(self) -> Accounted:
        """The accountant of the steps."""
        return self._of.accounted

    @property
    def steps(self) -> int:
        """The number of steps that passed the checks."""
        return sum(steps for _, _, steps in self.history)

    def state_dict(self) -> dict[str, Any]:
        """Return the state for `attach(..., resume=)`, which refuses repeated draws.

        Save it in the checkpoint, and keep the states of torch's generators secret. Its digests let
        anybody check a guess of your seed.
        """
        now = Streams.of(self._of.optimizer, self._of.loader)
        return {
            "seeds": list(self._before.seeds),
            "states": list(now.states),
            "steps": self._before.steps + self.steps,
        }

    def record(
        self,
        *,
        unit: str,
        neighbors: Neighbors = "add_remove",
        records: int | None = None,
        dataset: str | None = None,
        tuning_runs: int | None = None,
    ) -> RunRecord:
        """Return the record of the checked steps; save it beside the weights.

        In a distributed training, merge the records of all ranks.

        Args:
            unit: the privacy unit, such as "one image".
            neighbors: "add_remove", for one record whose gradient is in the sums or not, or
                "replace_one".
            records: the number of records if it is public.
            dataset: a name of the data; you choose it.
            tuning_runs: number of other trainings on the same data that helped to choose this one.
        """
        rank, processes = world()
        failed = {finding.name for finding in self._findings}
        return RunRecord(
            phases=tuple(self._phases()),
            unit=unit,
            neighbors=neighbors,
            records=records,
            dataset=dataset,
            assumptions=tuple(self._assumed(neighbors)),
            checks=tuple(Check(name, name not in failed) for name in _CHECKED),
            findings=tuple(self._findings),
            ranks=(rank,),
            world=processes,
            sharded=processes > 1,
            tuning_runs=tuning_runs,
        )

    def _assumed(self, neighbors: Neighbors) -> Iterator[str]:
        optimizer, loader, known = self._of.optimizer, self._of.loader, self._of.accounted
        if not optimizer.secure_mode:
            yield _FLOATS
        yield _DRAWN
        _, processes = world()
        # As `make_private` sets it; a number that you set yourself is public.
        made = int(len(loader.dataset) * known.rate) / processes
        divides = optimizer.loss_reduction == "mean" and optimizer.expected_batch_size == made
        if neighbors == "add_remove" and divides:
            yield _DIVIDED

    def _phases(self) -> Iterator[Phase]:
        start = self._before.steps
        clip = next(iter(self._clips)) if len(self._clips) == 1 else None
        for noise, rate, steps in self.history:
            yield Phase.poisson(
                noise_multiplier=noise,
                sampling_probability=rate,
                steps=steps,
                clip=clip,
                start=start,
            )
            start += steps

    def begin(self) -> None:
        """Check that a loop over the loader begins between two logical batches."""
        self._waiting = 0
        if waiting := left_over(self._of.optimizer):
            self._refuse(self._plan.left_batch(waiting.batches + 1, self._plan.steps))

    def drawn(self) -> None:
        """Count a batch."""
        self._waiting += 1

    def __call__(self, optimizer: DPOptimizer) -> None:
        """Check a step, call the `on_step` of `attach`, and count the step."""
        noise, rate = float(optimizer.noise_multiplier), self._plan.rate
        for finding in self._faults(optimizer, noise):
            self._refuse(finding)
        if self._of.on_step is not None:
            self._of.on_step(noise, rate)
        self._of.hook(optimizer)
        # Batches that workers have drawn ahead are of later steps.
        self._waiting -= 1
        self._clips.add(float(optimizer.max_grad_norm))
        append(self.history, noise, rate)

    def _refuse(self, finding: Finding) -> NoReturn:
        self._findings.append(finding)
        raise InvalidTraining(finding)

    def _faults(self, optimizer: DPOptimizer, noise: float) -> Iterable[Finding]:
        plan = self._plan
        if noise <= 0:
            yield plan.no_noise()
        if (together := optimizer.accumulated_iterations) > 1:
            yield plan.accumulated(together)
        if self._waiting < 1:
            yield plan.no_batch()
        elif self._waiting > 1 and self._of.loader.num_workers == 0:
            yield plan.several_batches(self._waiting)
        clipped, noised, where = norms(optimizer, self._of.model)
        if noised < clipped * (1 - ROUNDED):
            yield plan.weaker_noise(clipped, noised, where)
