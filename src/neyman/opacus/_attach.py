"""Checks of a training of Opacus while it runs: a step that is wrong is not released."""

# Opacus has no stubs, and torch's are partial.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false, reportMissingTypeStubs=false, reportUnknownParameterType=false

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias, final

from opacus.optimizers import DPOptimizer

from neyman.calls import plain_calls
from neyman.errors import InvalidParameter, InvalidTraining
from neyman.opacus._accountant import Entry, append
from neyman.opacus._history import Accounted, accounted
from neyman.opacus._observed import (
    batch_sampler,
    equal_ranks,
    fingerprint,
    is_poisson,
    left_over,
    name_of,
    noise_generator,
    norms,
    order_of,
    sampler_generator,
    seed_digest,
)
from neyman.training._faults import Plan
from neyman.training._finding import Finding

__all__ = ["Watch", "attach"]

OnStep: TypeAlias = Callable[[float, float], None]

_USUAL_DELTA: Final = 1e-5
_ROUNDED: Final = 1e-6


@plain_calls
def attach(
    optimizer: DPOptimizer,
    loader: Any,
    model: Any = None,
    *,
    on_step: OnStep | None = None,
    resume: Mapping[str, Any] | None = None,
) -> "Watch":
    """Check each step of a training of Opacus before it is released.

    The optimizer's step hook, which accounts, stays; a check comes before it. What is checked:

        the batches are drawn by Poisson sampling, at the rate that is accounted for
        each step is of one logical batch, whole, and each batch that is drawn becomes a step
        the noise is for the norm that gradients are clipped to
        no two ranks draw from one stream, and no resumed run repeats its own

    Args:
        optimizer: that `make_private` returned.
        loader: that `make_private` returned; also to be given to a `BatchMemoryManager`.
        model: that `make_private` returned; needed with ghost clipping, which clips there.
        on_step: called with the noise multiplier and the sampling rate before each step is
            accounted for and released; what it raises stops the step. Draw from a budget here.
        resume: what `Watch.state_dict()` gave when this training stopped.

    Returns:
        What was checked and counted.

    Raises:
        InvalidTraining: now, if the set-up is at fault, and later, at the loop or the step that
            is. The step is then neither accounted for nor applied.
        InvalidParameter: if `resume` is no such state, or a check is attached already.

    Guarantee: the checks see this optimizer and this loader. They do not see a model that mixes
        the records of a batch (`doctor` looks for layers that do).
    """
    known = accounted(optimizer.step_hook)
    if isinstance(optimizer.step_hook, Watch):
        raise InvalidParameter("the optimizer is watched already; use the Watch that attach gave")
    plan = Plan(
        noise_multiplier=float(optimizer.noise_multiplier),
        rate=known.rate if known is not None else 1 / len(loader),
        steps=len(batch_sampler(loader)),
        passes=1,
        delta=_USUAL_DELTA,
    )
    _refuse(_set_up(plan, known, optimizer, loader))
    assert known is not None
    now = _Streams.of(optimizer, loader)
    before = _Streams.before(resume)
    if now.repeat(before):
        raise InvalidTraining(plan.replayed())
    watch = Watch(
        _made=_Watched(optimizer, loader, model, known, optimizer.step_hook, on_step),
        _plan=plan,
        _seeds=sorted({*before.seeds, *now.seeds}),
    )
    sampler = batch_sampler(loader)
    # DataLoader takes no other sampler once it is made.
    sampler.__class__ = _watched(getattr(sampler, "unwatched", type(sampler)))
    sampler.watch = watch
    optimizer.attach_step_hook(watch)
    return watch


@final
class Watch:
    """What watches a training of Opacus; `attach` makes it.

    Attributes:
        history: phases (noise multiplier, sampling rate, steps) of the steps that were checked.
    """

    def __init__(self, *, _made: "_Watched", _plan: Plan, _seeds: list[str]) -> None:
        self.history: list[Entry] = []
        self._of, self._plan, self._seeds = _made, _plan, _seeds
        self._waiting = 0

    @property
    def accounted(self) -> Accounted:
        """Whom the steps are reported to."""
        return self._of.accounted

    @property
    def steps(self) -> int:
        """How many steps passed the checks."""
        return sum(steps for _, _, steps in self.history)

    def state_dict(self) -> dict[str, list[str]]:
        """Return what `attach(..., resume=)` needs to see that a resumed run repeats nothing.

        Save it in the checkpoint, as the states of torch's generators at that time. It holds
        digests: who can guess your seed can check the guess by them.
        """
        now = _Streams.of(self._of.optimizer, self._of.loader)
        return {"seeds": self._seeds, "states": list(now.states)}

    def begin(self) -> None:
        """Check that a loop over the loader begins between two logical batches."""
        self._waiting = 0
        if waiting := left_over(self._of.optimizer):
            raise InvalidTraining(self._plan.left_batch(waiting + 1, self._plan.steps))

    def drawn(self) -> None:
        """Count a batch."""
        self._waiting += 1

    def __call__(self, optimizer: DPOptimizer) -> None:
        """Check a step, call the `on_step` of `attach`, and account for it."""
        noise, rate = float(optimizer.noise_multiplier), self._plan.rate
        _refuse(self._faults(optimizer, noise))
        if self._of.on_step is not None:
            self._of.on_step(noise, rate)
        self._of.hook(optimizer)
        # Batches that workers have drawn ahead are of later steps.
        self._waiting -= 1
        append(self.history, noise, rate)

    def _faults(self, optimizer: DPOptimizer, noise: float) -> Iterator[Finding]:
        plan = self._plan
        if noise <= 0:
            yield plan.no_noise()
        ahead = self._of.loader.num_workers > 0
        if (together := optimizer.accumulated_iterations) > 1:
            yield plan.accumulated(together)
        if self._waiting < 1:
            yield plan.no_batch()
        elif self._waiting > 1 and not ahead:
            yield plan.several_batches(self._waiting)
        clipped, noised, where = norms(optimizer, self._of.model)
        if noised < clipped * (1 - _ROUNDED):
            yield plan.weaker_noise(clipped, noised, where)


class _Watched(NamedTuple):
    """What a watch stands between."""

    optimizer: DPOptimizer
    loader: Any
    model: Any
    accounted: Accounted
    hook: Callable[[DPOptimizer], None]
    on_step: OnStep | None


@cache
def _watched(kind: type[Any]) -> type[Any]:
    """Return the sampler's class with an iterator that tells of each batch."""

    class Watched(kind):
        unwatched = kind

        def __iter__(self) -> Iterator[Any]:
            self.watch.begin()
            for batch in kind.__iter__(self):
                self.watch.drawn()
                yield batch

    return Watched


def _set_up(
    plan: Plan, known: Accounted | None, optimizer: DPOptimizer, loader: Any
) -> Iterator[Finding]:
    if plan.noise_multiplier <= 0:
        yield plan.no_noise()
        return
    if known is None:
        yield plan.unaccounted()
    if not is_poisson(loader):
        order = order_of(loader)
        yield plan.unknown_sampler(name_of(loader)) if order is None else plan.not_sampled(order)
        return
    drawn = float(batch_sampler(loader).sample_rate)
    if drawn > plan.rate * (1 + _ROUNDED):
        yield plan.other_rate(drawn)
    if waiting := left_over(optimizer):
        yield plan.left_batch(waiting + 1, plan.steps)
    if same := equal_ranks(fingerprint(sampler_generator(loader))):
        yield plan.same_seed(same)


def _refuse(findings: Iterator[Finding]) -> None:
    for finding in findings:
        raise InvalidTraining(finding)


class _Streams(NamedTuple):
    """Digests of the seeds and of the states of the generators of noise and batches."""

    seeds: tuple[str, ...]
    states: tuple[str, ...]

    @classmethod
    def of(cls, optimizer: DPOptimizer, loader: Any) -> "_Streams":
        both = (noise_generator(optimizer), sampler_generator(loader))
        return cls(tuple(map(seed_digest, both)), tuple(map(fingerprint, both)))

    @classmethod
    def before(cls, state: Mapping[str, Any] | None) -> "_Streams":
        try:
            return cls(
                () if state is None else tuple(state["seeds"]),
                () if state is None else tuple(state["states"]),
            )
        except (KeyError, TypeError) as error:
            raise InvalidParameter(
                "resume must be what state_dict() of a Watch gave, with its seeds and states; "
                f"got {type(state).__name__}"
            ) from error

    def repeat(self, before: "_Streams") -> bool:
        """Whether a generator has a seed that was used, and does not go on from where it was."""
        return any(
            seed in before.seeds and state not in before.states
            for seed, state in zip(self.seeds, self.states, strict=True)
        )
