"""The release: the only module in which data meet noise.

A release takes these steps, in this order: curve -> charge -> compute -> noise -> commit -> reveal.
They happen in no other module. A refused query never touches the data. An answer is revealed only
after it is durably charged and stored.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple, cast

import numpy as np

from neyman.aggregate import (
    COMPANION,
    Aggregate,
    FoundGroups,
    IntArray,
    KeyText,
    SumsReading,
)
from neyman.arguments import check_list, check_type
from neyman.calls import plain_calls
from neyman.curves import TradeOff, compose
from neyman.divided import SHARE, Part, companions_at, divided
from neyman.errors import EngineFailure, InvalidParameter
from neyman.ledger import Ledger, Reservation
from neyman.mechanisms import Mechanism
from neyman.numerics import Real
from neyman.released import Companion, Drawn, Guarantee, Release, Spending, source_of
from neyman.sealed import sealed, withheld

__all__ = ["already_answered", "release", "release_batch", "released"]

_ASSUMPTIONS = (
    "The operating system's random bits are fair, independent and secret.",
    "Each unit is counted under one identifier; who appears under several is protected under each.",
    "The declared bounds, keys, grids and limits were chosen without looking at these data.",
    "The rows are those of the table as the engine reads it, and the engine does not fail on them.",
    "The time that a release takes, and its size in memory, are not hidden.",
    "The floating-point inverses of the noise are within 2^-45 of the truth, as measured, not "
    "proved; every decision closer than that is made in ball arithmetic.",
)


@plain_calls
def release(
    aggregate: Aggregate,
    mechanism: Mechanism,
    ledger: Ledger,
    *,
    entry: str,
    confidence: float = 0.95,
    companion: Real = SHARE,
) -> Release:
    """Charge the ledger, answer with noise, store the answer and return it.

    A second call with the same entry id returns the stored answer, at no cost; nothing is drawn and
    the data are not read.

    Args:
        aggregate: the question, not yet computed.
        mechanism: the noise, on the aggregate's own integer lattice. For undeclared groups it has a
            threshold (`Thresholded`); only groups whose noisy count reaches it are stored and
            published.
        ledger: the ledger that pays.
        entry: the id of this release in the ledger.
        confidence: of the noise intervals, in (0, 1).
        companion: the share of the budget, in [0, 1), for the effect of limits: how many units the
            contribution limits cut, how many rows are missing and how many values bounds moved. It
            is used only if a unit can have several rows. The rest of the answer then has more
            noise: 1 % more at 0.02. 0 for none.

    Returns:
        The release.

    Raises:
        InvalidParameter: if an argument has the wrong type, or the confidence is out of range.
        SensitivityMismatch: if the question does not bound the norm that the noise needs.
        MissingExtra: if exact noise cannot be drawn here.
        RelationMismatch: if the ledger is for another unit or neighbouring relation.
        BudgetExceeded: if the charge would exceed the cap. For all errors up to here, nothing is
            charged.
        EntryConflict: if the id belongs to something else, or its answer was lost twice.
        BrokenRandomness: if the operating system's random bits are visibly not random. Nothing is
            charged, unless they break while the entry is drawn.
        EngineFailure: if the engine fails, or anything else before the answer is stored.
        LedgerUnavailable, LedgerCorrupt: if the ledger cannot be used. After EngineFailure, or if
            the ledger failed at the last step, the entry stays charged and may be run once more. No
            error contains a private value or an unrevealed answer, and neither does its traceback
            in a debugger.

    Guarantee: the output satisfies `mechanism.tradeoff(aggregate.sensitivity)`. All releases of one
        ledger together satisfy its cap, even if each is chosen after seeing the others.
    """
    _check_kinds(aggregate, mechanism, ledger)
    parts = divided([(aggregate, mechanism, companion)])
    return released(parts, ledger, entry=entry, confidence=confidence, batched=False)[0]


@plain_calls
def release_batch(
    questions: Sequence[tuple[Aggregate, Mechanism]],
    ledger: Ledger,
    *,
    entry: str,
    confidence: float = 0.95,
    companion: Real = SHARE,
) -> tuple[Release, ...]:
    """Charge several questions at once, by their exact composition, and answer them all.

    One entry holds the whole batch: it is charged before the first draw, and stored and replayed as
    a whole. Mechanisms may be mixed. In a ledger that counts mu^2, noise with a largest loss, such
    as Laplace noise, is composed exactly, which costs less than the sum: 36 % less mu^2 for many
    small Laplace releases. Batches and single entries combine by the filter.

    Args:
        questions: at least one, each with its noise; none may depend on another's answer. Among
            several questions with undeclared groups, each publishes groups by its own noisy count.
        ledger: the ledger that pays.
        entry: the id of the batch in the ledger.
        confidence: of the noise intervals, in (0, 1).
        companion: as for `release`, for each question.

    Returns:
        A release for each question, in order, with its own guarantee and the spending of the batch.

    Raises:
        InvalidParameter: if there is no question, or `questions` is not a list of pairs.
        SensitivityMismatch, MissingExtra, RelationMismatch, BudgetExceeded: as `release`; nothing
            is charged up to here.
        EntryConflict: if the id belongs to something else, or its answer was lost twice.
        BrokenRandomness, EngineFailure, LedgerUnavailable, LedgerCorrupt: as `release`. If one
            question fails, the whole batch stays charged, reveals nothing, and may be run once
            more.

    Guarantee: the answers together satisfy the composition of all `mechanism.tradeoff(...)`. All
        releases of one ledger together satisfy its cap, even if each batch is chosen after seeing
        the others.
    """
    _check_questions(questions, ledger)
    parts = divided([(*question, companion) for question in questions])
    return released(parts, ledger, entry=entry, confidence=confidence, batched=True)


def released(
    parts: Sequence[Part], ledger: Ledger, *, entry: str, confidence: float = 0.95, batched: bool
) -> tuple[Release, ...]:
    """Charge, draw, store and convert divided questions, like `release` or `release_batch`.

    Args:
        parts: from `divided`; exactly one if they are not a batch.
        ledger: the ledger that pays.
        entry: the id in the ledger.
        confidence: of the noise intervals, in (0, 1).
        batched: whether they are a batch, of any number of questions.
    """
    for part in parts:
        part.require_ready(confidence)
        ledger.require_relation(part.aggregate.unit, part.aggregate.sensitivity.neighbors)
    reservation, replayed = _answered(parts, ledger, entry=entry, batched=batched)
    spending = _spending(ledger, reservation)
    answers = [
        _reveal(part, stored, spending, confidence, replayed=replayed)
        for part, stored in zip(parts, _stored_of(reservation, parts), strict=True)
    ]
    return tuple(
        answer if place is None else replace(answer, companion_at=place)
        for answer, place in zip(answers, companions_at(parts), strict=True)
    )


def already_answered(parts: Sequence[Part], ledger: Ledger, *, entry: str, batched: bool) -> bool:
    """Return whether a ledger already has this answer, so that the release would cost nothing.

    Nothing is charged, and no row is read.

    Args:
        parts: from `divided`; exactly one if they are not a batch.
        ledger: the ledger that would pay.
        entry: the id in the ledger.
        batched: whether they belong to `release_batch`, and not to `release`.

    Raises:
        EntryConflict: if the release would raise it.
    """
    return ledger.holds(entry=entry, **_recorded(parts, batched=batched)._asdict())


def _check_questions(questions: Sequence[tuple[Aggregate, Mechanism]], ledger: object) -> None:
    """Refuse, before the charge, anything but a list of questions with their noises."""
    check_list("questions", questions, "a list of pairs, [(aggregate, mechanism), ...]")
    for pair in questions:
        check_type("questions", pair, tuple, "a list of pairs, [(aggregate, mechanism), ...]")
        if len(pair) != 2:
            raise InvalidParameter(
                f"questions must be pairs, (aggregate, mechanism); got a tuple of {len(pair)}"
            )
        _check_kinds(*pair, ledger)
    check_type("ledger", ledger, Ledger, "the ledger that pays, from Ledger.open(...)")
    if not questions:
        raise InvalidParameter("a batch must have at least one question; got none")


def _check_kinds(aggregate: object, mechanism: object, ledger: object) -> None:
    """Refuse, before the charge, a question, a noise or a ledger of the wrong type."""
    check_type("aggregate", aggregate, Aggregate, "a question, such as table.count()")
    check_type(
        "mechanism", mechanism, Mechanism, "noise, Gaussian.calibrate(question.sensitivity, mu=...)"
    )
    check_type("ledger", ledger, Ledger, "the ledger that pays, from Ledger.open(...)")


def _stored_of(whole: Reservation, parts: Sequence[Part]) -> Iterator[Reservation]:
    """Yield the stored values of each question of an entry, with its own curve."""
    values, found = iter(whole.values or ()), iter(whole.groups)
    for part in parts:
        groups = () if part.aggregate.unknown is None else (next(found),)
        own = tuple(islice(values, part.size(groups)))
        yield replace(whole, curve=part.curve, values=own, groups=groups)


class _Recorded(NamedTuple):
    """The ledger's record of an entry's question."""

    request: Mapping[str, object]
    source: str
    curve: TradeOff


def _recorded(parts: Sequence[Part], *, batched: bool) -> _Recorded:
    records = [part.record() for part in parts]
    if not batched:
        return _Recorded(records[0], parts[0].aggregate.source, parts[0].curve)
    sources = json.dumps([part.aggregate.source for part in parts])
    curves = [part.curve for part in parts]
    return _Recorded({"batch": records}, sources, compose(*curves))


def _answered(
    parts: Sequence[Part], ledger: Ledger, *, entry: str, batched: bool
) -> tuple[Reservation, bool]:
    """Charge, compute, draw and store, unless the answer is stored already; return which."""
    first, recorded = parts[0].aggregate, _recorded(parts, batched=batched)
    with ledger.turn(entry):
        reservation = ledger.reserve(
            entry=entry,
            **recorded._asdict(),
            unit=first.unit,
            neighbors=first.sensitivity.neighbors,
        )
        if reservation.values is not None:
            return reservation, True
        return sealed(lambda: _stored(parts, ledger, reservation)), False


def _stored(parts: Sequence[Part], ledger: Ledger, reservation: Reservation) -> Reservation:
    """Compute, add noise, commit: private and unrevealed values occur only here and below."""
    # A warning on stderr would reveal that some value was, for example, a signalling NaN.
    with np.errstate(all="ignore"):
        drawn = [_drawn(part) for part in parts]
    noisy = np.concatenate([values for values, _ in drawn]).tolist()
    groups = tuple(keys for _, keys in drawn if keys is not None)
    return ledger.commit(reservation, noisy, groups)


def _drawn(part: Part) -> tuple[IntArray, tuple[KeyText, ...] | None]:
    """Return the noisy integers; for undeclared groups, those of the published groups, and keys.

    The keys and integers of other groups, exact and noisy, do not leave this function.
    """
    aggregate, noise, unknown = part.aggregate, part.noise, part.aggregate.unknown
    found, last = _computed(part)
    if isinstance(found, FoundGroups) and unknown is not None:
        _require_sound(found.integers, (len(found.keys), unknown.width))
        noisy = noise.add_noise(found.integers)
        shown: list[int] = noise.shown(noisy[:, unknown.count]).tolist()
        # The engine's order would reveal groups that are not published.
        ordered = sorted(shown, key=lambda group: unknown.place(found.keys[group]))
        keys = tuple(found.keys[group] for group in ordered)
        return np.concatenate([noisy[ordered].reshape(-1), last]), keys
    integers = cast("IntArray", found)
    _require_sound(integers, (aggregate.size,))
    return np.concatenate([aggregate.noised(integers, noise), last]), None


def _computed(part: Part) -> tuple[IntArray | FoundGroups, IntArray]:
    """Return the exact integers, and the noisy ones of the companion, empty if there is none."""
    if part.companion is None:
        unknown = part.aggregate.unknown
        found = part.aggregate.compute() if unknown is None else unknown.find()
        return found, np.zeros(0, np.int64)
    companion, noise = part.companion
    found, own = companion.compute()
    _require_sound(own, (COMPANION,))
    return found, noise.add_noise(own)


def _require_sound(integers: IntArray, shape: tuple[int, ...]) -> None:
    """Refuse an answer that is not the integers that the query declared."""
    if integers.shape != shape or integers.dtype != np.int64:
        raise withheld(EngineFailure)


def _spending(ledger: Ledger, reservation: Reservation) -> Spending:
    """Return the charge, and what was left at that moment."""
    left = reservation.left
    return Spending(
        account=ledger.account,
        cost=reservation.cost,
        remaining=left.cost,
        cap=ledger.capacity,
        delta=reservation.delta,
        delta_remaining=left.delta,
    )


def _reveal(
    part: Part,
    reservation: Reservation,
    spending: Spending,
    confidence: float,
    *,
    replayed: bool,
) -> Release:
    """Return the release from the stored integers: everything from here on is post-processing."""
    aggregate, noise = part.aggregate, part.noise
    stored, keys = np.asarray(reservation.values, dtype=np.int64), aggregate.keys
    own, last = np.split(stored, [stored.size - part.beside_size])
    companion = None
    if part.companion is not None:
        asked, beside = part.companion
        companion = Companion.read(asked.record, last.tolist(), beside, confidence)
    if aggregate.unknown is not None:
        keys = aggregate.unknown.columns(reservation.groups[0])
    drawn, reading = None, aggregate.reading
    if isinstance(reading, SumsReading):
        drawn = Drawn(source_of(aggregate.source), own, noise, reading)
    return Release(
        entry=reservation.entry,
        query=aggregate.query,
        mechanism=noise.describe(),
        guarantee=Guarantee(
            curve=reservation.curve,
            neighbors=aggregate.sensitivity.neighbors,
            unit=aggregate.unit,
            assumptions=_ASSUMPTIONS,
        ),
        spending=spending,
        confidence=confidence,
        columns=keys | reading.columns(own, noise, confidence),
        keys=tuple(keys),
        replayed=replayed,
        count_weight=aggregate.count_weight,
        companion=companion,
        drawn=drawn,
    )
