"""Checks of an Opacus training while it runs: a faulty step is not released."""

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
    """Check each step of an Opacus training before it is released.

    The optimizer's step hook, which counts the steps, stays. A check runs before it. The checks
    are:

        the batches are drawn by Poisson sampling, at the rate of the accountant
        each step has one whole logical batch, and each drawn batch becomes a step
        the noise fits the clipping norm
        no two ranks draw from one random stream, and no resumed run repeats its own stream

    Args:
        optimizer: the optimizer that `make_private` returned.
        loader: the loader that `make_private` returned; you can also pass it to a
            `BatchMemoryManager`.
        model: the model that `make_private` returned; needed for ghost clipping, which clips in the
            model.
        on_step: a function of the noise multiplier and the sampling rate, called before each step
            is counted and released. An exception in it stops the step. Take the step from a budget
            here.
        resume: the state that `Watch.state_dict()` gave when this training stopped.

    Returns:
        The watch, with the steps that passed the checks.

    Raises:
        InvalidTraining: now, if the set-up has a fault; later, at a loop or a step with a fault.
            That step is neither counted nor applied.
        InvalidParameter: if `resume` is not such a state, or checks are attached already.

    Guarantee: the checks see this optimizer and this loader. They do not see a model that mixes the
        records of a batch (`doctor` looks for layers that do), nor a batch that is lost because
        workers draw ahead, or because the loop over the loader stopped and began again.

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
    """Return the sampler's class with an iterator that reports each batch."""

    class Watched(kind):
        unwatched = kind

        def __iter__(self) -> Iterator[Any]:
            self.watch.begin()
            for batch in kind.__iter__(self):
                self.watch.drawn()
                yield batch

    return Watched
