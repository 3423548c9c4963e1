"""Faults in the set-up of an Opacus training, found before it begins."""

# Opacus has no stubs, and torch's are partial.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast, final

from opacus.accountants import GaussianAccountant
from opacus.accountants.analysis.gdp import compute_eps_poisson
from opacus.data_loader import DPDataLoader
from opacus.optimizers import DPOptimizer
from torch import nn
from torch.utils.data import RandomSampler, SequentialSampler

import opacus
from neyman.arguments import given as written
from neyman.arguments import whole
from neyman.calls import plain_calls
from neyman.errors import InvalidParameter
from neyman.opacus._history import Accounted, accounted, check_optimizer
from neyman.opacus._observed import (
    ROUNDED,
    batch_sampler,
    equal_ranks,
    fingerprint,
    is_poisson,
    layers_with_statistics,
    left_over,
    name_of,
    noise_generator,
    norms,
    order_of,
    sampler_generator,
    steps_of,
)
from neyman.training import Finding, Phase, RunRecord
from neyman.training import doctor as judged
from neyman.training._faults import Plan

__all__ = ["doctor"]

Relation: TypeAlias = Literal["zero_out", "add_remove", "replace_one"]

_RELATIONS = ("zero_out", "add_remove", "replace_one")
_USUAL_DELTA = 1e-5


@plain_calls
def doctor(
    engine: opacus.PrivacyEngine,
    loader: Any,
    optimizer: DPOptimizer,
    model: Any = None,
    *,
    delta: float | None = None,
    epochs: int = 1,
    neighbors: Relation = "zero_out",
    given: Any = None,
    normalizer: float | None = None,
    tuning_runs: int = 0,
    strict: bool = False,
) -> list[Finding]:
    """Return the privacy faults in the set-up of an Opacus training.

    Call it after `make_private` and before the first step, in every process of a distributed
    training. It changes nothing and reads no record.

    Args:
        engine: the engine whose accountant counts the steps.
        loader: the loader of the training; it can come from a `BatchMemoryManager`.
        optimizer: the optimizer that `make_private` returned.
        model: the model that `make_private` returned; None leaves out the checks that need it.
        delta: delta of the (epsilon, delta) that will be published. If None, delta is not judged,
            and epsilon is stated at 1e-5.
        epochs: number of epochs of the training; epsilon is that of all of them.
        neighbors: the relation of the claim. "zero_out": one record's gradient is in the sums or
            not, and the number of records is public, as Opacus assumes. "add_remove": the number of
            records is also private. "replace_one": one record is replaced.
        given: the loader that you passed to `make_private`, to compare it with the batches.
        normalizer: a public number to which you set `optimizer.expected_batch_size`.
        tuning_runs: number of other trainings on the same data that help to choose this one.
        strict: also report floating-point noise, which every training without `secure_mode` has.

    Returns:
        The findings, each with the guarantee that holds in spite of it; empty if there are none.

    Guarantee: an empty answer is no proof; `attach` checks the training while it runs.

    Raises:
        InvalidParameter: if an argument is out of range.

    >>> import torch, warnings
    >>> from torch.utils.data import DataLoader, TensorDataset
    >>> warnings.simplefilter("ignore")
    >>> engine, net = opacus.PrivacyEngine(), torch.nn.Linear(2, 1)
    >>> model, optimizer, loader = engine.make_private(
    ...     module=net,
    ...     optimizer=torch.optim.SGD(net.parameters(), lr=0.1),
    ...     data_loader=DataLoader(TensorDataset(torch.zeros(1000, 2)), batch_size=10),
    ...     noise_multiplier=1.0,
    ...     max_grad_norm=1.0,
    ...     poisson_sampling=False,
    ... )
    >>> (finding,) = doctor(engine, loader, optimizer, model, epochs=3)
    >>> print(finding.name, "-", finding.holds)
    fixed_batches - (8.38542, 1e-5)-DP, without amplification by sampling, if each record is used
    once in each of 3 passes and its absence moves no other record.
    """
    if neighbors not in _RELATIONS:
        raise InvalidParameter(
            f"{written('neighbors', neighbors)} is no relation that can be judged; write one of "
            f"{', '.join(map(repr, _RELATIONS))}"
        )
    if not isinstance(engine, opacus.PrivacyEngine):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidParameter(
            f"engine must be a PrivacyEngine; got an object of type {type(engine).__name__}. "
            "Write doctor(engine, loader, optimizer, model)"
        )
    check_optimizer(optimizer)
    known = accounted(optimizer.step_hook)
    passes, others = whole("epochs", epochs, 1, 2**40), whole("tuning_runs", tuning_runs, 0, 2**40)
    plan = Plan(
        noise_multiplier=float(optimizer.noise_multiplier),
        rate=known.rate if known is not None else 1 / len(loader),
        steps=passes * steps_of(loader),
        passes=passes,
        delta=_USUAL_DELTA if delta is None else delta,
    )
    if plan.noise_multiplier <= 0:
        return [plan.no_noise()]
    run = _Run(engine, loader, optimizer, model, known, plan)
    found = [*run.sampling(), *run.accounting(), *run.state(), *run.layers()]
    found += [*(_wishes(run, given) if given is not None else ())]
    found += [*run.claims(neighbors, normalizer)]
    found += judged(_declared(plan, len(loader.dataset), others), delta=delta)
    return [*found, plan.float_noise()] if strict and not engine.secure_mode else found


def _declared(plan: Plan, records: int, others: int) -> RunRecord:
    """Return the plan as a record, for the checks that need no training."""
    phase = Phase.poisson(
        noise_multiplier=plan.noise_multiplier, sampling_probability=plan.rate, steps=plan.steps
    )
    return RunRecord(
        phases=(phase,),
        unit="one record",
        neighbors="add_remove",
        records=records,
        tuning_runs=others,
    )


@final
@dataclass(frozen=True, slots=True)
class _Run:
    engine: opacus.PrivacyEngine
    loader: Any
    optimizer: DPOptimizer
    model: Any
    known: Accounted | None
    plan: Plan

    def sampling(self) -> Iterator[Finding]:
        """Judge the choice of batches."""
        if not is_poisson(self.loader):
            order = order_of(self.loader)
            plan, name = self.plan, name_of(self.loader)
            yield plan.not_sampled(order) if order is not None else plan.unknown_sampler(name)
            return
        drawn = float(batch_sampler(self.loader).sample_rate)
        if drawn > self.plan.rate * (1 + ROUNDED):
            yield self.plan.other_rate(drawn)
        if getattr(self.model, "grad_accumulation_allowed", False):
            yield self.plan.accumulating()
        own, noise = sampler_generator(self.loader), noise_generator(self.optimizer)
        if own is not noise and fingerprint(own) == fingerprint(noise):
            yield self.plan.same_stream()
        if same := equal_ranks(fingerprint(own)):
            yield self.plan.same_seed(same)

    def accounting(self) -> Iterator[Finding]:
        """Judge the accountant of the steps."""
        if self.known is None or self.known.accountant is not self.engine.accountant:
            yield self.plan.unaccounted()
        if self.engine.accountant.mechanism() == GaussianAccountant.mechanism():
            yield self.plan.estimate(_estimated(self.plan))

    def state(self) -> Iterator[Finding]:
        """Judge the state that an earlier loop left."""
        if waiting := left_over(self.optimizer):
            yield self.plan.left_batch(waiting.batches + 1, self.plan.steps if waiting.ahead else 1)

    def layers(self) -> Iterator[Finding]:
        """Judge the norms and the layers."""
        clipped, noised, where = norms(self.optimizer, self.model)
        if noised < clipped * (1 - ROUNDED):
            yield self.plan.weaker_noise(clipped, noised, where)
        if isinstance(self.model, nn.Module):
            for name in layers_with_statistics(self.model):
                yield self.plan.batch_statistics(name)

    def claims(self, neighbors: Relation, normalizer: float | None) -> Iterator[Finding]:
        """Judge the relation."""
        if neighbors == "replace_one":
            yield self.plan.relation()
        divisor = float(self.optimizer.expected_batch_size or 0)
        divides = self.optimizer.loss_reduction == "mean"
        if neighbors == "add_remove" and divides and divisor != normalizer:
            sizes = (p.numel() for p in self.optimizer.params)
            yield self.plan.normalizer(divisor, sum(sizes))


def _estimated(plan: Plan) -> float:
    try:
        return float(
            compute_eps_poisson(
                steps=plan.steps,
                noise_multiplier=plan.noise_multiplier,
                sample_rate=plan.rate,
                delta=plan.delta,
            )
        )
    except ValueError:
        return math.nan


def _wishes(run: _Run, given: Any) -> Iterator[Finding]:
    """Compare the loader that Opacus was given with the batches that it draws."""
    if not is_poisson(run.loader) or isinstance(given, DPDataLoader):
        return
    batch, records = cast("int | None", given.batch_size), len(given.dataset)
    sampler = getattr(given.batch_sampler, "sampler", given.batch_sampler)
    if type(sampler) not in (SequentialSampler, RandomSampler) or len(sampler) != records:
        yield run.plan.replaced_sampler(type(sampler).__name__)
    elif batch is not None and records % batch:
        dropped = cast("bool", given.drop_last)
        judge = run.plan.dropped_last if dropped else run.plan.asked_rate
        yield judge(batch, records)
