"""The ledger: what opens, charges, answers, checks and merges one."""

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
    """A cap for one dataset and everything that was charged to it, in one store.

        sum of costs of all reserved entries <= capacity,   exactly, in fractions
        sum of their deltas                  <= delta_aside

    Each release is charged two numbers, the mu^2 and the delta of a guarantee
    gdp(mu) ⊗ f_{0,delta} that it keeps (docs/theory/accounts.md).

    The handle holds no connection, and no secret but the password of a URL that has one: it may be
    shared by threads, forked and pickled.

    Attributes:
        store: where it is kept: a file, without links, or a database; as text, for people.
        cap: the guarantee that all releases together keep.
        unit: who is protected, in words.
        neighbors: the neighbouring relation of every entry.
        account: what is added up: "mu^2" or "epsilon".
        capacity: the most that is ever spent of it, fixed at opening.
        delta_aside: the most that is ever spent of delta, on the tails of releases such as
            trainings, and on what fails outright with some probability, such as groups that nobody
            declared; 0 where nothing was set aside.

    Guarantee: a charge is on the disk before `reserve` returns and never leaves; values are on the
        disk before `commit` returns them. A kill at any instant loses unrevealed draws at most.
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
                "postgresql://user@host/database", with "?ledger=name" where it is not the only
                one there.
            cap: what all releases together may cost; fixed for good.
            unit: who is protected, in the words of the table that will be asked: write
                unit=table.protects, which reads "all rows of one patient", or "one row".
            neighbors: "add_remove" or "replace_one".
            delta_aside: how much of the cap's delta is set aside, for good, for tails of releases
                such as trainings, and for what fails outright, such as groups that nobody declared.
                None: what the ledger was created with; for a new one, a tenth of
                approx_dp(epsilon, delta)'s, all of gdp(mu) @ approx_dp(0, delta)'s. 0 sets nothing
                aside. All of approx_dp's leaves epsilon to spend, for Laplace noise alone.

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
        """Open a ledger that exists, to look at it or to go on.

        A backup that this user cannot write may be looked at, if no -wal with newer entries lies
        beside it; nothing can be charged to it.

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
        """Wait until nobody else is at this entry: `with ledger.turn(entry): ...`.

        Held from reserve to commit, it lets whoever asks the same entry meanwhile find the stored
        answer instead of drawing too. Other entries do not wait; the turn of a dead process
        passes on at once. Of files on Linux; elsewhere it waits for nobody.

        Raises:
            InvalidParameter: if the id is unusable, or this thread holds a turn already.
            LedgerUnavailable: if turns cannot be taken: beside a file lies `<path>.turns` for them.
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
            entry: the caller's id of the question; 1 to 200 printable characters.
            request: public description of the question and the mechanism; stored whole.
            source: which dataset; only a keyed hash is stored.
            curve: trade-off function of the mechanism on this question.
            unit: who the sensitivity protects; must be the ledger's.
            neighbors: the sensitivity's relation; must be the ledger's.

        Returns:
            A reservation with values None: draw and `commit`; or with the stored values.

        Raises:
            BudgetExceeded: if it does not fit under the cap. Nothing is charged. Of a training, it
                says how many of its steps fit.
            EntryConflict: if the id stands for something else, or has used up its redraw.
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
        # Before the ledger is locked: an exact composition takes its time.
        ask = Ask(asked=asked, cost=self._budget.cost(asked.curve), cap=self.cap)
        try:
            return self._write(ask.reserved, _NOTHING_DRAWN)
        except BudgetExceeded as refused:
            # Outside the lock: how many steps of a training fit is found by pricing some of them.
            instead = instead_text(self._budget, asked.curve, self.left(), steps)
            raise BudgetExceeded(f"{refused}{instead}") from None

    def holds(
        self, *, entry: str, request: Mapping[str, object], source: str, curve: TradeOff
    ) -> bool:
        """Return whether `reserve` would find this charged before, and charge nothing for it.

        Args:
            entry: as for `reserve`.
            request: as for `reserve`.
            source: as for `reserve`.
            curve: as for `reserve`.

        Raises:
            EntryConflict: in the words of `reserve`, if that would refuse.
            LedgerUnavailable, LedgerCorrupt: if the store cannot be used.
        """
        asked = Asked(entry=entry, request=request, source=source, curve=curve)
        return self._read(asked.before) is not None

    def commit(
        self, reservation: Reservation, values: Sequence[int], groups: Groups = ()
    ) -> Reservation:
        """Store the drawn values, durably; only what this returns may be revealed.

        Args:
            reservation: from `reserve`.
            values: the noisy integers.
            groups: of each question about groups that nobody declared, the keys of those shown.

        Returns:
            The reservation with the stored values: these, or those of whoever committed first.

        Raises:
            EntryConflict: if this ledger holds no such reservation.
            InvalidParameter: if a value is no integer.
            LedgerUnavailable, LedgerCorrupt: if the store cannot be used. The entry stays charged
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
        """Charge steps of a training as a whole, durably, or find them charged under their id.

            price(step_1 ** n_1 ⊗ ... ⊗ step_k ** n_k)

        They are taken afterwards block by block, with `Allowance.take`, at no further cost.

        Args:
            entry: the caller's id of the allowance; 1 to 200 printable characters without "/",
                which separates it from the names of what is taken.
            step: the trade-off function of one step, such as dp_sgd(..., steps=1).
            steps: how many; or, for a schedule of several kinds, {step: number} without `step`.
            request: public description of the training; stored whole.
            source: which dataset; only a keyed hash is stored.
            unit: who a step protects; must be the ledger's.
            neighbors: the relation of the steps; must be the ledger's.

        Raises:
            BudgetExceeded: if they do not fit under the cap, with how many do. Nothing is charged.
            EntryConflict: if the id stands for something else.
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
        """Return an allowance that was charged before, to take more of it.

        Args:
            entry: its id.

        Raises:
            EntryConflict: if this ledger holds none of this id.
            LedgerUnavailable, LedgerCorrupt: if the store cannot be used.
        """
        check_name("entry", entry)
        return allowance_of(self._access, entry, self.neighbors)

    def stocks(self) -> tuple[Stock, ...]:
        """Return all allowances with what was taken of them, at one moment."""
        return self._read(lambda tables, meta: Events(tables, meta).stocks())

    def left_steps(self, step: TradeOff) -> int:
        """Return how many steps could be declared with what is left: the largest such n.

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

        So a file moves to a database, or back. This one stays as it is: take it out of use, for
        while both are in use, each allows the whole cap; `merge` puts them together again.

        Args:
            place: as for `open`; nothing may be kept there yet.

        Returns:
            The copy.

        Raises:
            LedgerMismatch: if a ledger is there already.
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
        """Add what a copy of this ledger holds and this one does not.

        Copies of one file that were both charged have each spent a part of the cap: the sum counts,
        and may exceed the cap, which `check` then says; nothing more can be charged. What both
        hold already is charged once. The copy stays as it is: take it out of use.

        Args:
            copy: a ledger whose file was once a copy of this one's, or the other way round.
            keep_both: where both charged or answered one id after they parted: True charges both,
                the copy's under a new id; False refuses.

        Returns:
            The ids that were added, each charged.

        Raises:
            EntryConflict: if one id was charged or answered apart. Nothing is merged.
            LedgerMismatch: if the two are not copies of one ledger.
            LedgerUnavailable, LedgerCorrupt: if a file cannot be used, or its chain is broken.
        """
        other = copy._read(copied)  # noqa: SLF001
        return self._write(
            lambda tables, meta: merged(tables, meta, other, keep_both=keep_both),
            "Nothing was merged.",
        )

    def require_relation(self, unit: str, neighbors: str) -> None:
        """Refuse a question that protects somebody else, or in another sense.

        Raises:
            RelationMismatch: if the unit or the relation is not the ledger's.
        """
        require_relation(
            {"unit": self.unit, "neighbors": self.neighbors},
            {"unit": unit, "neighbors": neighbors},
        )

    # -- what it tells, each answer from one snapshot ---------------------------------------------

    def entries(self) -> tuple[Entry, ...]:
        """Return all entries, in the order in which they were reserved."""
        return self._read(lambda tables, meta: Events(tables, meta).entries())

    def spent(self) -> Fraction:
        """Return the exact sum of all charges, in the unit of the account."""
        return self._spent().cost

    def spent_delta(self) -> Fraction:
        """Return the exact sum of what was charged of the delta that was set aside."""
        return self._spent().delta

    def left(self) -> Amount:
        """Return what may still be charged to both accounts, as they stand at one moment."""
        return self._budget.capacity - self._spent()

    def remaining(self) -> Fraction:
        """Return what may still be charged, in the unit of the account."""
        return self.left().cost

    def remaining_delta(self) -> Fraction:
        """Return what may still be charged of the delta that was set aside."""
        return self.left().delta

    def price(self, curve: TradeOff) -> Price:
        """Return what a release would be charged; nothing is charged, and no store looked at.

        The price depends on the curve and on what was fixed at opening, never on what is spent.

        Args:
            curve: trade-off function of the mechanism.

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
        """Say which part is spent, and what holds whatever is asked next, in one line."""
        spent = self._spent()
        return (
            f"{share_text(self._budget, spent)} spent; whatever is asked next, all together keep "
            f"{brief(str(self.cap))}"
        )

    def total(self) -> TradeOff:
        """Return the guarantee of everything charged so far, revealed or not.

        What merged copies took of an allowance beyond its steps is composed with it.

        Guarantee: only for an analyst who stops here for reasons fixed beforehand, however the
            questions were chosen. Whoever stops where the answers suggest it has the cap.
        """
        return self._read(lambda tables, meta: total_of(Events(tables, meta), meta.budget()))

    def composed(self) -> TradeOff:
        """Return the exact composition of everything charged so far, a smaller loss than `total`.

        Guarantee: only if the questions, their amounts of noise and the end were all fixed
            beforehand. If one of them was chosen from answers, this does not hold; the cap does.

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
        """Return everything that the ledger holds, JSON-able, with the rows of its chain.

        Answers are in it, and are public; the secret that keys the datasets' fingerprints is not.
        """
        return self._read(ledger_record)

    def head(self) -> str:
        """Return the digest of the last row, which covers all that was ever charged and stored.

        Note it elsewhere: `check(head)` then finds rows cut off the end, and a chain written anew.
        """
        return self._read(lambda tables, meta: Events(tables, meta).head())

    def check(self, head: str | None = None) -> tuple[str, ...]:
        """Return everything that is wrong with the ledger; empty when nothing is.

        Args:
            head: what `head()` gave once; without it a shortened or rewritten chain is not found.

        Raises:
            InvalidParameter: if the head is no digest.
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
