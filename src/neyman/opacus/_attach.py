"""Checks of a training of Opacus while it runs: a step that is wrong is not released."""

# Opacus has no stubs, and torch's are partial.
# pyright: reportUnknownMemberType=false, reportMissingTypeStubs=false
# pyright: reportUnknownVariableType=false

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from opacus.optimizers import DPOptimizer

from neyman.calls import plain_calls
from neyman.errors import InvalidParameter, InvalidTraining
from neyman.opacus._history import Accounted, accounted, check_optimizer
from neyman.opacus._observed import (
    ROUNDED,
    batch_sampler,
    equal_ranks,
    fingerprint,
    is_poisson,
    left_over,
    name_of,
    order_of,
    sampler_generator,
    steps_of,
)
from neyman.opacus._streams import Streams
from neyman.opacus._watch import OnStep, Subject, Watch
from neyman.training import Finding
from neyman.training._faults import Plan

__all__ = ["attach"]

_USUAL_DELTA: Final = 1e-5


@plain_calls
def attach(
    optimizer: DPOptimizer,
    loader: Any,
    model: Any = None,
    *,
    on_step: OnStep | None = None,
    resume: Mapping[str, Any] | None = None,
) -> Watch:
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
        the records of a batch (`doctor` looks for layers that do), nor a batch that is left out
        where workers draw ahead, or because the loop over the loader was left and begun anew.

    >>> import opacus, torch, warnings
    >>> from torch.utils.data import DataLoader, TensorDataset
    >>> warnings.simplefilter("ignore")
    >>> engine, net = opacus.PrivacyEngine(), torch.nn.Linear(2, 1)
    >>> model, optimizer, loader = engine.make_private(
    ...     module=net,
    ...     optimizer=torch.optim.SGD(net.parameters(), lr=0.1),
    ...     data_loader=DataLoader(TensorDataset(torch.zeros(1000, 2)), batch_size=100),
    ...     noise_multiplier=1.0,
    ...     max_grad_norm=1.0,
    ... )
    >>> watch = attach(optimizer, loader, model)
    >>> for (x,) in loader:
    ...     model(x).sum().backward()
    ...     optimizer.step()
    ...     optimizer.zero_grad()
    >>> watch.history
    [(1.0, 0.1, 10)]
    """
    check_optimizer(optimizer)
    known = accounted(optimizer.step_hook)
    if isinstance(optimizer.step_hook, Watch):
        raise InvalidParameter("the optimizer is watched already; use the Watch that attach gave")
    plan = Plan(
        noise_multiplier=float(optimizer.noise_multiplier),
        rate=known.rate if known is not None else 1 / len(loader),
        steps=steps_of(loader),
        passes=1,
        delta=_USUAL_DELTA,
    )
    for finding in _set_up(plan, known, optimizer, loader):
        raise InvalidTraining(finding)
    hook = optimizer.step_hook
    assert known is not None
    assert hook is not None
    now, before = Streams.of(optimizer, loader), Streams.before(resume)
    if now.repeat(before):
        raise InvalidTraining(plan.replayed())
    watch = Watch(
        _of=Subject(optimizer, loader, model, known, hook, on_step),
        _plan=plan,
        _before=before.and_now(now),
    )
    sampler: Any = batch_sampler(loader)
    kind: type[Any] = type(sampler)
    # DataLoader takes no other sampler once it is made.
    sampler.__class__ = _watched(getattr(kind, "unwatched", kind))
    sampler.watch = watch
    optimizer.attach_step_hook(watch)
    return watch


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
    if drawn > plan.rate * (1 + ROUNDED):
        yield plan.other_rate(drawn)
    if waiting := left_over(optimizer):
        yield plan.left_batch(waiting.batches + 1, plan.steps)
    if same := equal_ranks(fingerprint(sampler_generator(loader))):
        yield plan.same_seed(same)


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
