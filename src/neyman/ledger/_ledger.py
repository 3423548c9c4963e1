"""The ledger: open, charge, answer, check and merge."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar, final

from neyman.accounting import Amount, Budget, budget_for, filter_from, steps_within
from neyman.arguments import brief
from neyman.calls import plain_calls_of
from neyman.curves import TradeOff
from neyman.displayed import Displayed
from neyman.errors import BudgetExceeded
from neyman.ledger._access import UNCHANGED, Access, inspect
from neyman.ledger._allowance import MOST_STEPS, Allowance, allowance_of, check_step
from neyman.ledger._charge import Answer, Ask, Asked
from neyman.ledger._declared import declared, declared_steps
from neyman.ledger._events import Events, composed_of, total_of
from neyman.ledger._export import ledger_record
from neyman.ledger._merge import copied, merged
from neyman.ledger._opening import (
    found_or_created,
    known,
    planted,
    relation_of,
    require_relation,
    require_same,
    store_of,
)
from neyman.ledger._price import Price, instead_text, price_of, share_text
from neyman.ledger._records import (
    Entry,
    Groups,
    Reservation,
    canonical,
    check_curve,
    check_name,
    check_type,
    now,
    read_curve,
    read_payload,
    values_text,
)
from neyman.ledger._schema import Meta, new_meta
from neyman.ledger._stock import Steps, Stock
from neyman.ledger._store import Store, Tables
from neyman.ledger._trust import trusted
from neyman.numerics import Real, text
from neyman.sensitivity import Neighbors, check_neighbors

__all__ = ["Ledger"]

T = TypeVar("T")

_NOTHING_CHARGED = "Nothing was charged."
_NOTHING_COPIED = "Nothing was copied."
_NOTHING_DRAWN = (
    "Nothing was drawn; if the charge reached the disk, the same id finds it and pays once."
)
_NOT_REVEALED = (
    "The entry stays charged and its values were not revealed. The same id gets what is stored, or "
    "draws once more if nothing is."
)


@plain_calls_of
@final
@dataclass(frozen=True, slots=True)
class Ledger(Displayed):
    """A cap for one dataset and everything charged to it, in one store.

        sum of costs of all reserved entries <= capacity,   exactly, in fractions
        sum of their deltas                  <= delta_aside

    Each release is charged two numbers, the mu^2 and the delta of a guarantee gdp(mu) ⊗ f_{0,delta}
    that it satisfies (docs/theory/accounts.md).

    The object has no open connection. It contains no secret except the password of a URL, if there
    is one. It may be shared by threads, forked and pickled.

    Attributes:
        store: where it is kept: a file, with links resolved, or a database; it prints as text.
        cap: the guarantee that all releases together satisfy.
        unit: the privacy unit, in words.
        neighbors: the neighbouring relation of every entry.
        account: what is added up: "mu^2" or "epsilon".
        capacity: the most that is ever spent of it, fixed at opening.
        delta_aside: the most that is ever spent of delta. It pays for the tails of releases such as
            trainings, and for outright failures, as with undeclared groups; 0 if nothing was set
            aside.

    Guarantee: a charge is on the disk before `reserve` returns, and is never removed. Values are on
        the disk before `commit` returns them. If the process is killed, at most unrevealed draws
        are lost.
    """

    store: Store
    cap: TradeOff
    unit: str
    neighbors: Neighbors
    account: str = field(repr=False)
    capacity: Fraction = field(repr=False)
    delta_aside: Fraction = field(repr=False)
    _identity: str = field(repr=False)

    @classmethod
    def open(
        cls,
        place: str | os.PathLike[str] | Store,
        *,
        cap: TradeOff,
        unit: str,
        neighbors: Neighbors,
        delta_aside: Real | None = None,
    ) -> "Ledger":
        """Create the ledger, or open it if it was created with the same cap, unit and relation.

        Args:
            place: path of a file on a local disk; or, for a team, the URL of a PostgreSQL server,
                "postgresql://user@host/database", with "?ledger=name" if it holds several ledgers.
            cap: the most that all releases together may cost; it can never be changed.
            unit: the privacy unit, in the words of the table: write unit=table.protects, which is
                "all rows of one patient", or "one row".
            neighbors: "add_remove" or "replace_one".
            delta_aside: how much of the cap's delta to set aside, permanently, for tails of
                releases such as trainings and for outright failures, as with undeclared groups.
                None means the value that the ledger was created with. For a new ledger it means a
                tenth of the delta of approx_dp(epsilon, delta), or all of gdp(mu) @ approx_dp(0,
                delta)'s. 0 sets nothing aside. All of approx_dp's delta leaves an account in
                epsilon, for Laplace noise only.

        Raises:
            InvalidParameter, NotCertified: if the cap cannot be spent, or a name is unusable.
            LedgerMismatch: if it was created with another cap, unit, relation or delta_aside.
            LedgerUnavailable, LedgerCorrupt: if the place cannot be used.
        """
        check_curve("cap", cap)
        check_name("unit", unit)
        check_neighbors(neighbors)
        budget = budget_for(cap, delta_aside)
        asked = new_meta(canonical(cap.to_json()), budget, unit, neighbors, now())
        store = store_of(place).settled()

        meta = store.write(
            trusted(lambda tables: found_or_created(tables, asked), _NOTHING_CHARGED),
            consequence=_NOTHING_CHARGED,
            create=True,
        )
        ledger = cls._of(store, meta)
        require_same(store, "cap", ledger.cap, cap)
        require_same(store, "unit", ledger.unit, unit)
        require_same(store, "neighbors", ledger.neighbors, neighbors)
        if delta_aside is not None:
            found, given = ledger.delta_aside, budget.delta
            require_same(store, "delta_aside", text(found), text(given))
        return ledger

    @classmethod
    def existing(cls, place: str | os.PathLike[str] | Store) -> "Ledger":
        """Open an existing ledger, to read it or to continue.

        You can read a backup that you cannot write, unless a -wal file with newer entries is beside
        it. You cannot charge it.

        Args:
            place: as for `open`.

        Raises:
            LedgerUnavailable, LedgerCorrupt: if there is none, or it cannot be used.
        """
        store = store_of(place).settled()
        return cls._of(store, store.read(trusted(known, UNCHANGED), consequence=UNCHANGED))

    @classmethod
    def _of(cls, store: Store, meta: Meta) -> "Ledger":
        cap = read_curve(read_payload(meta.cap, "the cap"), "the cap")
        neighbors, most = relation_of(meta), meta.budget().capacity
        return cls(
            store, cap, meta.unit, neighbors, meta.account, most.cost, most.delta, meta.ledger
        )

    # -- an entry's life ------------------------------------------------------------------------

    def turn(self, entry: str) -> AbstractContextManager[None]:
        """Wait until no one else works on this entry: `with ledger.turn(entry): ...`.

        Use it around reserve and commit. Then another process with the same entry finds the stored
        answer instead of drawing again. Other entries do not wait, and a dead process does not
        block. For files this works on Linux; on other systems it does not wait.

        Args:
            entry: id of the entry.

        Raises:
            InvalidParameter: if the id is unusable, or this thread already has the lock of an
                entry.
            LedgerUnavailable: if the lock cannot be taken, which for a file is in `<path>.turns`.
        """
        check_name("entry", entry)
        return self.store.turn(entry)

    def reserve(
        self,
        *,
        entry: str,
        request: Mapping[str, object],
        source: str,
        curve: TradeOff,
        unit: str,
        neighbors: Neighbors,
    ) -> Reservation:
        """Charge an entry, durably, or find what was charged under its id before.

        Args:
            entry: your id for the question; 1 to 200 printable characters.
            request: public description of the question and the mechanism; stored as given.
            source: a name of the dataset; only a keyed hash is stored.
            curve: trade-off function of the mechanism on this question.
            unit: the unit that the sensitivity protects; must be the ledger's.
            neighbors: the sensitivity's relation; must be the ledger's.

        Returns:
            A reservation. If its values are None, draw and `commit`; otherwise they are the stored
                values.

        Raises:
            BudgetExceeded: if it does not fit under the cap. Nothing is charged. For a training,
                the message says how many of its steps fit.
            EntryConflict: if the id belongs to something else, or its redraw is used up.
            RelationMismatch: if the unit or relation is not the ledger's.
            NotCertified, UnsupportedComposition, InvalidParameter: if it cannot be charged.
            LedgerUnavailable, LedgerCorrupt: if the store cannot be used.
        """
        check_name("entry", entry)
        check_name("unit", unit)
        check_type("request", request, Mapping, "a dict")
        check_type("source", source, str, "text that names the dataset")
        check_curve("curve", curve)
        self.require_relation(unit, neighbors)
        return self._charge(Asked(entry=entry, request=request, source=source, curve=curve))

    def _charge(self, asked: Asked, steps: Steps | None = None) -> Reservation:
        # Before the ledger is locked, because an exact composition may take long.
        ask = Ask(asked=asked, cost=self._budget.cost(asked.curve), cap=self.cap)
        try:
            return self._write(ask.reserved, _NOTHING_DRAWN)
        except BudgetExceeded as refused:
            # Outside the lock: finding how many steps fit needs several prices.
            instead = instead_text(self._budget, asked.curve, self.left(), steps)
            raise BudgetExceeded(f"{refused}{instead}") from None

    def holds(
        self, *, entry: str, request: Mapping[str, object], source: str, curve: TradeOff
    ) -> bool:
        """Return whether `reserve` would find this entry charged before, and charge nothing for it.

        Args:
            entry: as for `reserve`.
            request: as for `reserve`.
            source: as for `reserve`.
            curve: as for `reserve`.

        Raises:
            EntryConflict: if `reserve` would refuse, with its message.
            LedgerUnavailable, LedgerCorrupt: if the store cannot be used.
        """
        asked = Asked(entry=entry, request=request, source=source, curve=curve)
        return self._read(asked.before) is not None

    def commit(
        self, reservation: Reservation, values: Sequence[int], groups: Groups = ()
    ) -> Reservation:
        """Store the drawn values, durably; reveal only what this returns.

        Args:
            reservation: from `reserve`.
            values: the noisy integers.
            groups: for each question with undeclared groups, the keys of the published ones.

        Returns:
            The reservation with the stored values: these, or those of an earlier commit.

        Raises:
            EntryConflict: if this ledger holds no such reservation.
            InvalidParameter: if a value is not an integer.
            LedgerUnavailable, LedgerCorrupt: if the store cannot be used. The entry stays charged,
                and nothing may be revealed.
        """
        answer = Answer(reservation=reservation, values=values_text(values, groups))
        return self._write(answer.committed, _NOT_REVEALED)

    # -- steps of trainings -------------------------------------------------------------------

    def allow(
        self,
        *,
        entry: str,
        step: TradeOff | None = None,
        steps: int | Mapping[TradeOff, int],
        request: Mapping[str, object],
        source: str,
        unit: str,
        neighbors: Neighbors,
    ) -> Allowance:
        """Charge the steps of a training together, durably, or find them charged under their id.

            price(step_1 ** n_1 ⊗ ... ⊗ step_k ** n_k)

        Take them afterwards block by block, with `Allowance.take`, at no further cost.

        Args:
            entry: your id for the allowance; 1 to 200 printable characters without "/", which
                separates it from the names of the blocks.
            step: the trade-off function of one step, such as dp_sgd(..., steps=1).
            steps: how many; or, for a schedule of several kinds, {step: number} without `step`.
            request: public description of the training; stored as given.
            source: a name of the dataset; only a keyed hash is stored.
            unit: the unit that a step protects; must be the ledger's.
            neighbors: the relation of the steps; must be the ledger's.

        Raises:
            BudgetExceeded: if they do not fit under the cap; the message says how many do. Nothing
                is charged.
            EntryConflict: if the id belongs to something else.
            RelationMismatch: if the unit or relation is not the ledger's.
            NotCertified, UnsupportedComposition, InvalidParameter: if they cannot be charged.
            LedgerUnavailable, LedgerCorrupt: if the store cannot be used.
        """
        check_name("unit", unit)
        self.require_relation(unit, neighbors)
        stock = declared_steps(step, steps, self.neighbors)
        asked = declared(entry, stock, request, source)
        if self._read(asked.before) is None:
            self._charge(asked, stock[0] if len(stock) == 1 else None)
        return self.allowance(entry)

    def allowance(self, entry: str) -> Allowance:
        """Return an allowance that was charged before, to take more from it.

        Args:
            entry: its id.

        Raises:
            EntryConflict: if this ledger holds no allowance with this id.
            LedgerUnavailable, LedgerCorrupt: if the store cannot be used.
        """
        check_name("entry", entry)
        return allowance_of(self._access, entry, self.neighbors)

    def stocks(self) -> tuple[Stock, ...]:
        """Return all allowances with what was taken from them, from one snapshot."""
        return self._read(lambda tables, meta: Events(tables, meta).stocks())

    def left_steps(self, step: TradeOff) -> int:
        """Return the largest n such that n steps could be declared with the remaining budget.

            price(step ** n) <= left()

        Args:
            step: the trade-off function of one step.

        Raises:
            RelationMismatch: if the step is proved for another relation.
            NotCertified, UnsupportedComposition, InvalidParameter: if one step cannot be charged.
            LedgerUnavailable, LedgerCorrupt: if the store cannot be used.
        """
        check_step(step, self.neighbors)
        return steps_within(self._budget, step, self.left(), most=MOST_STEPS)

    def copy(self, place: str | os.PathLike[str] | Store) -> "Ledger":
        """Copy this ledger to another place, with the same chain and the same head.

        Use it to move a file to a database, or back. This ledger does not change: stop using it,
        because while both are in use, each allows the whole cap. `merge` combines them again.

        Args:
            place: as for `open`; it must be empty.

        Returns:
            The copy.

        Raises:
            LedgerMismatch: if a ledger is already there.
            LedgerUnavailable, LedgerCorrupt: if a place cannot be used, or the chain is broken.
        """
        held, store = self._read(copied), store_of(place).settled()

        store.write(
            trusted(lambda tables: planted(tables, held, store, self.store), _NOTHING_COPIED),
            consequence=_NOTHING_COPIED,
            create=True,
        )
        return self._of(store, held.meta)

    def merge(self, copy: "Ledger", *, keep_both: bool) -> tuple[str, ...]:
        """Add the entries that a copy of this ledger holds and this one does not.

        If two copies of one file were both charged, each has spent a part of the cap. The sum
        counts, and may exceed the cap; then `check` says so, and nothing more can be charged.
        Entries in both are charged once. The copy does not change: stop using it.

        Args:
            copy: a ledger whose file was once a copy of this one's, or the reverse.
            keep_both: what to do if both charged or answered the same id after they were copied:
                True charges both, the copy's under a new id; False refuses.

        Returns:
            The ids that were added, each charged.

        Raises:
            EntryConflict: if one id was charged or answered in both. Nothing is merged.
            LedgerMismatch: if the two are not copies of one ledger.
            LedgerUnavailable, LedgerCorrupt: if a file cannot be used, or its chain is broken.
        """
        other = copy._read(copied)  # noqa: SLF001
        return self._write(
            lambda tables, meta: merged(tables, meta, other, keep_both=keep_both),
            "Nothing was merged.",
        )

    def require_relation(self, unit: str, neighbors: str) -> None:
        """Refuse a question for another privacy unit or another neighbouring relation.

        Args:
            unit: the privacy unit of the question.
            neighbors: its neighbouring relation.

        Raises:
            RelationMismatch: if the unit or the relation is not the ledger's.
        """
        require_relation(
            {"unit": self.unit, "neighbors": self.neighbors},
            {"unit": unit, "neighbors": neighbors},
        )

    # -- queries, each from one snapshot ----------------------------------------------------------

    def entries(self) -> tuple[Entry, ...]:
        """Return all entries, in the order in which they were reserved."""
        return self._read(lambda tables, meta: Events(tables, meta).entries())

    def spent(self) -> Fraction:
        """Return the exact sum of all charges, in the unit of the account."""
        return self._spent().cost

    def spent_delta(self) -> Fraction:
        """Return the exact sum of the charges to the delta that was set aside."""
        return self._spent().delta

    def left(self) -> Amount:
        """Return what can still be charged to both accounts, from one snapshot."""
        return self._budget.capacity - self._spent()

    def remaining(self) -> Fraction:
        """Return what can still be charged, in the unit of the account."""
        return self.left().cost

    def remaining_delta(self) -> Fraction:
        """Return what can still be charged to the delta that was set aside."""
        return self.left().delta

    def price(self, curve: TradeOff) -> Price:
        """Return the charge for a release, without charging it and without reading the store.

        The price depends on the curve and on what was fixed at opening, never on what is spent.

        Args:
            curve: trade-off function of the mechanism.

        Returns:
            The price, rounded up.

        Raises:
            NotCertified, UnsupportedComposition, InvalidParameter: if it cannot be charged.

        >>> import pathlib, tempfile, neyman as ny
        >>> ledger = Ledger.open(pathlib.Path(tempfile.mkdtemp()) / "a", cap=ny.approx_dp(8, 1e-5),
        ...                      unit="example", neighbors="add_remove")
        >>> ledger.price(ny.dp_sgd(noise_multiplier=1, sampling_probability=0.01, steps=1000))
        Price(mu=0.474, delta=8.11e-8, share=0.0817)
        """
        check_curve("curve", curve)
        return price_of(self._budget, curve)

    def state(self) -> str:
        """Return one line: the share that is spent, and the guarantee of all releases together."""
        spent = self._spent()
        return (
            f"{share_text(self._budget, spent)} spent; all releases together satisfy "
            f"{brief(str(self.cap))}"
        )

    def total(self) -> TradeOff:
        """Return the guarantee of everything charged so far, revealed or not.

        It includes steps that merged copies took from an allowance beyond its number.

        Guarantee: only for an analyst who stops here for reasons fixed beforehand; the questions
            may be chosen adaptively. If the answers decide when to stop, the cap is the guarantee.
        """
        return self._read(lambda tables, meta: total_of(Events(tables, meta), meta.budget()))

    def composed(self) -> TradeOff:
        """Return the exact composition of everything charged so far; its loss is below `total`'s.

        Guarantee: only if the questions, their amounts of noise and the end were all fixed
            beforehand. If one of them was chosen after seeing answers, this does not hold; the cap
            does.

        >>> import pathlib, tempfile, neyman as ny
        >>> ledger = Ledger.open(pathlib.Path(tempfile.mkdtemp()) / "a", cap=ny.approx_dp(8, 1e-5),
        ...                      unit="example", neighbors="add_remove")
        >>> run = ny.dp_sgd(noise_multiplier=1, sampling_probability=0.01, steps=1000)
        >>> for seed in range(3):
        ...     _ = ledger.reserve(entry=str(seed), request={}, source="d", curve=run,
        ...                        unit="example", neighbors="add_remove")
        >>> f"{ledger.composed().epsilon(1e-5):.3f}, {ledger.total().epsilon(1e-5):.3f}"
        '3.192, 3.493'
        """
        return self._read(lambda tables, meta: composed_of(Events(tables, meta)))

    def export(self) -> dict[str, object]:
        """Return everything in the ledger, for JSON, with the rows of its chain.

        It includes the answers, which are public, but not the secret that keys the fingerprints of
        datasets.
        """
        return self._read(ledger_record)

    def head(self) -> str:
        """Return the digest of the last row, which covers everything ever charged and stored.

        Note it elsewhere: `check(head)` then finds rows cut off the end and a rewritten chain.
        """
        return self._read(lambda tables, meta: Events(tables, meta).head())

    def check(self, head: str | None = None) -> tuple[str, ...]:
        """Return everything that is wrong with the ledger; empty if nothing is.

        Args:
            head: an earlier result of `head()`; without it a shortened or rewritten chain is not
                found.

        Raises:
            InvalidParameter: if the head is not a digest.
        """
        return inspect(self.store, head, self._access.known)

    # -- transactions --------------------------------------------------------------------------

    @property
    def _budget(self) -> Budget:
        return Budget(filter_from(self.account, self.capacity), self.delta_aside)

    def _spent(self) -> Amount:
        return self._read(lambda tables, meta: Events(tables, meta).spent())

    @property
    def _access(self) -> Access:
        return Access(self.store, self._identity)

    def _read(self, view: Callable[[Tables, Meta], T]) -> T:
        return self._access.read(view)

    def _write(self, work: Callable[[Tables, Meta], T], consequence: str) -> T:
        return self._access.write(work, consequence)
