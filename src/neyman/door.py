"""The one door where data meets noise.

curve -> charge -> compute -> noise -> commit -> reveal, in this order and nowhere else: a refused
query never touches the data, and nothing is revealed that is not durably charged and stored.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from neyman.aggregate import Aggregate, IntArray, KeyText
from neyman.arguments import check_list, check_type
from neyman.errors import EngineFailure, InvalidParameter
from neyman.ledger import Groups, Ledger, Reservation
from neyman.mechanisms import Mechanism
from neyman.released import Guarantee, Release, Spending
from neyman.sealed import sealed, withheld
from neyman.tradeoff import TradeOff, compose

__all__ = ["held", "release", "release_batch"]

_ASSUMPTIONS = (
    "The operating system's random bits are fair, independent and secret.",
    "Each unit is counted under one identifier; who appears under several is protected under each.",
    "The declared bounds, keys, grids and limits were chosen without looking at these data.",
    "The rows are those of the table as the engine reads it, and the engine does not fail on them.",
    "The time that a release takes, and its size in memory, are not hidden.",
    "The floating-point inverses of the noise are within 2^-45 of the truth, as measured, not "
    "proved; every decision closer than that is made in ball arithmetic.",
)


def release(
    aggregate: Aggregate,
    mechanism: Mechanism,
    ledger: Ledger,
    *,
    entry: str,
    confidence: float = 0.95,
) -> Release:
    """Charge the ledger, answer with noise, store the answer and return it.

    The same entry id asked again returns the stored answer, free; nothing is drawn and the data
    are not read.

    Args:
        aggregate: the question, not yet computed.
        mechanism: the noise, on the aggregate's own integer lattice; with a threshold
            (`Thresholded`) where nobody declared the groups, of which those are shown, and stored,
            whose noisy count reaches it.
        ledger: pays.
        entry: the id of this release in the ledger.
        confidence: of the noise intervals, in (0, 1).

    Raises:
        InvalidParameter: if one stands in the place of another, or the confidence is outside.
        SensitivityMismatch: if the question does not bound the norm that the noise needs.
        MissingExtra: if exact noise cannot be drawn here.
        RelationMismatch: if the ledger is for another unit or neighbouring relation.
        BudgetExceeded: if the charge would pass the cap. Nothing is charged up to here.
        EntryConflict: if the id stands for something else, or was lost twice.
        BrokenRandomness: if the operating system's random bits are visibly none. Nothing is
            charged, unless they break while the entry is drawn.
        EngineFailure: if the engine failed, or anything else before the answer was stored.
        LedgerUnavailable, LedgerCorrupt: if the ledger cannot be used; where it failed at the last
            step, too, the entry stays charged and may be run once more. No error, nor what a
            debugger finds in its traceback, holds a private value or an unrevealed answer.

    Guarantee: the output satisfies `mechanism.tradeoff(aggregate.sensitivity)`, and all releases
        of one ledger together its cap, also when each is chosen after seeing the others.
    """
    _check_kinds(aggregate, mechanism, ledger)
    _require_ready(mechanism, confidence)
    reservation, replayed = _answered(
        [(aggregate, mechanism)],
        ledger,
        entry=entry,
        recorded=_recorded([(aggregate, mechanism)], batched=False),
    )
    spending = _spending(ledger, reservation)
    return _reveal(aggregate, mechanism, reservation, spending, confidence, replayed=replayed)


def release_batch(
    questions: Sequence[tuple[Aggregate, Mechanism]],
    ledger: Ledger,
    *,
    entry: str,
    confidence: float = 0.95,
) -> tuple[Release, ...]:
    """Charge several questions at once, by their exact composition, and answer them all.

    One entry holds the whole batch: it is charged before the first draw, and stored and replayed
    whole. Mechanisms may be mixed. In a ledger that counts mu^2, noise with a largest loss, such as
    Laplace noise, is composed exactly, which is less than the sum: 36 % less of mu^2 for many small
    Laplace releases. Batches and single entries combine by the filter.

    Args:
        questions: at least one, each with its noise; none may depend on another's answer. Of
            several about groups that nobody declared, each shows groups by its own noisy count.
        ledger: pays.
        entry: the id of the batch in the ledger.
        confidence: of the noise intervals, in (0, 1).

    Returns:
        A release for each question, in order: its own guarantee, and the spending of the batch.

    Raises:
        InvalidParameter: if there is no question, or what is given is no list of pairs.
        SensitivityMismatch, MissingExtra, RelationMismatch, BudgetExceeded: as `release`; nothing
            is charged up to here.
        EntryConflict: if the id stands for something else, or was lost twice.
        BrokenRandomness, EngineFailure, LedgerUnavailable, LedgerCorrupt: as `release`. If one
            question fails, the whole batch stays charged, shows nothing, and may be run once more.

    Guarantee: the answers together satisfy the composition of all `mechanism.tradeoff(...)`, and
        all releases of one ledger together its cap, also when each batch is chosen after seeing
        the others.
    """
    _check_questions(questions, ledger)
    for aggregate, mechanism in questions:
        _require_ready(mechanism, confidence)
        ledger.require_relation(aggregate.unit, aggregate.sensitivity.neighbors)
    reservation, replayed = _answered(
        questions, ledger, entry=entry, recorded=_recorded(questions, batched=True)
    )
    parts = _parts(reservation, questions, _curves(questions))
    spending = _spending(ledger, reservation)
    return tuple(
        _reveal(aggregate, noise, part, spending, confidence, replayed=replayed)
        for (aggregate, noise), part in zip(questions, parts, strict=True)
    )


def held(
    questions: Sequence[tuple[Aggregate, Mechanism]], ledger: Ledger, *, entry: str, batched: bool
) -> bool:
    """Return whether a ledger holds the same already, so that asking it costs nothing.

    Nothing is charged, and no row is read.

    Args:
        questions: each with its noise; one, where they are no batch.
        ledger: would pay.
        entry: the id in the ledger.
        batched: whether `release_batch` would ask them, and not `release`.

    Raises:
        EntryConflict: if the id stands for something else, or was lost twice, as asking would.
    """
    return ledger.holds(entry=entry, **_recorded(questions, batched=batched)._asdict())


def _check_questions(questions: Sequence[tuple[Aggregate, Mechanism]], ledger: object) -> None:
    """Refuse, before the charge, what is no list of questions with their noises."""
    check_list("questions", questions, "a list of pairs, [(aggregate, mechanism), ...]")
    for pair in questions:
        check_type("questions", pair, tuple, "a list of pairs, [(aggregate, mechanism), ...]")
        if len(pair) != 2:
            raise InvalidParameter(
                f"questions has one of {len(pair)} things; write pairs, (aggregate, mechanism)"
            )
        _check_kinds(*pair, ledger)
    check_type("ledger", ledger, Ledger, "the ledger that pays, from Ledger.open(...)")
    if not questions:
        raise InvalidParameter("a batch of no questions was asked; write at least one")


def _check_kinds(aggregate: object, mechanism: object, ledger: object) -> None:
    """Refuse a question, a noise or a ledger in the place of another, before the charge."""
    check_type("aggregate", aggregate, Aggregate, "a question, such as table.count()")
    check_type(
        "mechanism", mechanism, Mechanism, "noise, Gaussian.calibrate(question.sensitivity, mu=...)"
    )
    check_type("ledger", ledger, Ledger, "the ledger that pays, from Ledger.open(...)")


def _parts(
    whole: Reservation,
    questions: Sequence[tuple[Aggregate, Mechanism]],
    curves: Sequence[TradeOff],
) -> Iterator[Reservation]:
    """Yield what a batch stored of each question, with its own curve."""
    values, found = iter(whole.values or ()), iter(whole.groups)
    for (aggregate, _), curve in zip(questions, curves, strict=True):
        groups = () if aggregate.unknown is None else (next(found),)
        own = tuple(islice(values, _size(aggregate, groups)))
        yield replace(whole, curve=curve, values=own, groups=groups)


def _size(aggregate: Aggregate, groups: Groups) -> int:
    return aggregate.size if aggregate.unknown is None else aggregate.unknown.width * len(groups[0])


def _require_ready(mechanism: Mechanism, confidence: float) -> None:
    """Refuse, before the charge, a confidence that no interval has, and noise not to be drawn."""
    mechanism.half_width(confidence)
    mechanism.ratio_interval(0, 1, confidence)
    mechanism.require_sampler()


class _Recorded(NamedTuple):
    """What a ledger keeps of an entry's question."""

    request: Mapping[str, object]
    source: str
    curve: TradeOff


def _recorded(questions: Sequence[tuple[Aggregate, Mechanism]], *, batched: bool) -> _Recorded:
    curves, asked = _curves(questions), [_asked(*question) for question in questions]
    if not batched:
        return _Recorded(asked[0], questions[0][0].source, curves[0])
    sources = json.dumps([aggregate.source for aggregate, _ in questions])
    return _Recorded({"batch": asked}, sources, compose(*curves))


def _curves(questions: Sequence[tuple[Aggregate, Mechanism]]) -> list[TradeOff]:
    return [noise.tradeoff(aggregate.sensitivity) for aggregate, noise in questions]


def _asked(aggregate: Aggregate, mechanism: Mechanism) -> dict[str, object]:
    return {"query": dict(aggregate.query), "mechanism": mechanism.describe()}


def _answered(
    questions: Sequence[tuple[Aggregate, Mechanism]],
    ledger: Ledger,
    *,
    entry: str,
    recorded: _Recorded,
) -> tuple[Reservation, bool]:
    """Charge, compute, draw and store, unless the answer is stored already; say which."""
    first = questions[0][0]
    with ledger.turn(entry):
        reservation = ledger.reserve(
            entry=entry,
            **recorded._asdict(),
            unit=first.unit,
            neighbors=first.sensitivity.neighbors,
        )
        if reservation.values is not None:
            return reservation, True
        return sealed(lambda: _stored(questions, ledger, reservation)), False


def _stored(
    questions: Sequence[tuple[Aggregate, Mechanism]], ledger: Ledger, reservation: Reservation
) -> Reservation:
    """Compute, add noise, commit: what is private, or not revealed yet, is in here and below."""
    # A warning on stderr tells that some value was, say, a signalling NaN.
    with np.errstate(all="ignore"):
        drawn = [_drawn(aggregate, noise) for aggregate, noise in questions]
    noisy = np.concatenate([values for values, _ in drawn]).tolist()
    groups = tuple(keys for _, keys in drawn if keys is not None)
    return ledger.commit(reservation, noisy, groups)


def _drawn(aggregate: Aggregate, noise: Mechanism) -> tuple[IntArray, tuple[KeyText, ...] | None]:
    """Return the noisy integers; where nobody declared the groups, those of the groups shown.

    What is not shown ends here: its keys and integers, exact and noisy, go nowhere else.
    """
    unknown = aggregate.unknown
    if unknown is None:
        exact = aggregate.compute()
        _require_sound(exact, (aggregate.size,))
        return noise.add_noise(exact), None
    found = unknown.find()
    _require_sound(found.integers, (len(found.keys), unknown.width))
    noisy = noise.add_noise(found.integers)
    shown: list[int] = noise.shown(noisy[:, unknown.count]).tolist()
    # The engine's order tells of groups that are not shown.
    ordered = sorted(shown, key=lambda group: unknown.place(found.keys[group]))
    return noisy[ordered].reshape(-1), tuple(found.keys[group] for group in ordered)


def _require_sound(integers: IntArray, shape: tuple[int, ...]) -> None:
    """Refuse an answer that is not the integers that the query declared."""
    if integers.shape != shape or integers.dtype != np.int64:
        raise withheld(EngineFailure)


def _spending(ledger: Ledger, reservation: Reservation) -> Spending:
    """Return what was charged, and what is left at one moment."""
    left = ledger.left()
    return Spending(
        account=ledger.account,
        cost=reservation.cost,
        remaining=left.cost,
        cap=ledger.capacity,
        delta=reservation.delta,
        delta_remaining=left.delta,
    )


def _reveal(
    aggregate: Aggregate,
    mechanism: Mechanism,
    reservation: Reservation,
    spending: Spending,
    confidence: float,
    *,
    replayed: bool,
) -> Release:
    """Read the stored integers: all from here on is post-processing."""
    stored = np.asarray(reservation.values, dtype=np.int64)
    keys = aggregate.keys
    if aggregate.unknown is not None:
        keys = aggregate.unknown.columns(reservation.groups[0])
    return Release(
        entry=reservation.entry,
        query=aggregate.query,
        mechanism=mechanism.describe(),
        guarantee=Guarantee(
            curve=reservation.curve,
            neighbors=aggregate.sensitivity.neighbors,
            unit=aggregate.unit,
            assumptions=_ASSUMPTIONS,
        ),
        spending=spending,
        confidence=confidence,
        columns=keys | aggregate.reading.columns(stored, mechanism, confidence),
        keys=tuple(keys),
        replayed=replayed,
        count_weight=aggregate.count_weight,
    )
