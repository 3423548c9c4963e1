"""Allowances: steps of a training that are charged together and taken block by block."""

from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import TracebackType
from typing import Final, final

from neyman.arguments import brief, check_name, check_type, whole
from neyman.calls import plain_calls_of
from neyman.curves import TradeOff
from neyman.errors import EntryConflict, LedgerCorrupt, RelationMismatch
from neyman.ledger._access import Access
from neyman.ledger._charge import require_recordable
from neyman.ledger._events import Events
from neyman.ledger._records import check_curve
from neyman.ledger._stock import Steps, Stock
from neyman.ledger._takes import Commit, Taking
from neyman.overriding import override
from neyman.sensitivity import Neighbors

__all__ = ["MOST_STEPS", "Allowance", "Take", "allowance_of", "check_step"]

MOST_STEPS: Final = 10**12
_NOT_TAKEN: Final = (
    "No step may be run. If the steps were taken after all, the same name finds them taken."
)
_NOT_COMMITTED: Final = (
    "The steps stay taken, and nothing was committed of them: no parameters may leave the process."
)


@plain_calls_of
@final
@dataclass(frozen=True, slots=True)
class Take(AbstractContextManager["Take"]):
    """Steps that were taken from an allowance: the right to run them once.

    Attributes:
        id: the entry in the ledger, "allowance/name".
        step: the guarantee of each step.
        steps: how many.
        revealed: whether anything from them, such as logs, may leave the process before `commit`.
        checkpoint: what was committed under this name before; None if the steps must be run.
    """

    id: str
    step: TradeOff
    steps: int
    revealed: bool
    checkpoint: str | None
    _event: str = field(repr=False)
    _access: Access = field(repr=False, compare=False)
    _unused: list[None] = field(
        default_factory=lambda: [None], init=False, repr=False, compare=False
    )

    def commit(self, checkpoint: str) -> "Take":
        """Store the result of the steps, durably; afterwards the parameters may leave the process.

        Args:
            checkpoint: a digest of the parameters, or another public name of a stored state; 1 to
                200 printable characters.

        Returns:
            This take, with its checkpoint.

        Raises:
            EntryConflict: if another checkpoint was committed: discard these parameters.
            LedgerUnavailable, LedgerCorrupt: if the store cannot be used.
        """
        check_name("checkpoint", checkpoint)
        commit = Commit(entry=self.id, event=self._event, checkpoint=checkpoint)
        self._access.write(commit.committed, _NOT_COMMITTED)
        return replace(self, checkpoint=checkpoint)

    @override
    def __enter__(self) -> "Take":
        """Begin to run the steps.

        Raises:
            EntryConflict: if they were already run and committed, or this block was already
                entered.
        """
        if self.checkpoint is not None:
            raise EntryConflict(
                f"{brief(self.id)!r} was run and committed before, and to run it again would take "
                f"its steps twice; where block.checkpoint is not None, load that ("
                f"{brief(self.checkpoint)!r}) and go on with the next name"
            )
        try:
            self._unused.pop()
        except IndexError:
            raise EntryConflict(
                f"the block of {brief(self.id)!r} was entered before, and its steps may be run "
                "once; take the next steps under a new name"
            ) from None
        return self

    @override
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the block; after an exception the steps stay taken and uncommitted.

        Raises:
            EntryConflict: if steps that may be run once more end without a commit.
        """
        if error is None and not self.revealed and self._open():
            raise EntryConflict(
                f"{brief(self.id)!r} was taken with revealed=False and ends without a commit, so "
                "it could be run once more after its parameters were used; commit a checkpoint "
                "before the block ends, or take it with revealed=True"
            )

    def _open(self) -> bool:
        found = self._access.read(lambda tables, meta: Events(tables, meta).entry(self.id))
        return found is None or found.commit is None


@plain_calls_of
@final
@dataclass(frozen=True, slots=True)
class Allowance:
    """Steps that were declared and charged together, to be taken in any order or not at all.

        step_1 ** n_1 ⊗ ... ⊗ step_k ** n_k >= the guarantee charged,   at most n_i taken of kind i

    Which steps are taken, when, and whether at all may depend on everything seen before. A step may
    be replaced by one that it dominates, such as one with more noise. Steps that are not taken are
    never given back as budget; they remain available as steps.

    Attributes:
        id: its entry in the ledger.
        declared: each kind of step, with its number.
        cost: the charge, in the unit of the ledger's account.
        delta: the charge to delta.
        neighbors: the ledger's relation.

    Guarantee: a take is on the disk before it returns. All steps ever taken are at most those that
        were declared, even if several processes race for the last ones or die.
    """

    id: str
    declared: tuple[Steps, ...]
    cost: Fraction
    delta: Fraction
    neighbors: Neighbors
    _event: str = field(repr=False)
    _access: Access = field(repr=False, compare=False)

    def take(
        self, name: str, *, steps: int, step: TradeOff | None = None, revealed: bool = True
    ) -> Take:
        """Take steps, durably, before the first of them is run; or find them taken before.

        Args:
            name: of these steps within the allowance; the same name always means the same steps.
            steps: how many, at least 1.
            step: the guarantee of what is run: the declared step, or one that it dominates. None
                means the only declared kind.
            revealed: whether anything from these steps, such as a log, a metric or a checkpoint
                that others can read, may leave the process before `commit`. True takes them for
                good. False is your promise that nothing does. Then the same name may run them once
                more after the process died, again with False.

        Returns:
            What to run, if its `checkpoint` is None. Otherwise the steps were committed under this
                name: load that checkpoint, and continue with the next name.

        Raises:
            BudgetExceeded: if fewer steps are left. Nothing is taken.
            EntryConflict: if the name belongs to other steps, if they are consumed, or if they were
                taken with revealed=False, are not committed, and True is given now.
            InvalidParameter: if no declared step is proved to dominate the step.
            RelationMismatch: if the step is proved for another neighbouring relation.
            LedgerUnavailable, LedgerCorrupt: if the store cannot be used.
        """
        check_name("name", name)
        entry = f"{self.id}/{name}"
        check_name("the allowance's id and the name together", entry)
        count = whole("steps", steps, 1, MOST_STEPS)
        check_type("revealed", revealed, bool, "True or False")
        kinds = self._kinds(step)
        run = self.declared[0].step if step is None else step
        taking = Taking(
            entry=entry, of=self._event, step=run, kinds=kinds, steps=count, revealed=revealed
        )
        event, checkpoint = self._access.write(taking.taken, _NOT_TAKEN)
        return Take(entry, run, count, revealed, checkpoint, event, self._access)

    def left(self, step: TradeOff | None = None) -> int:
        """Return how many steps may still be taken.

        Args:
            step: the guarantee of what is run, as for `take`.

        Raises:
            InvalidParameter, RelationMismatch: as `take`.
            LedgerUnavailable, LedgerCorrupt: if the store cannot be used.
        """
        return self.stock().left(self._kinds(step))

    def stock(self) -> Stock:
        """Return what was declared and what was taken of each kind, from one snapshot.

        Raises:
            LedgerUnavailable, LedgerCorrupt: if the store cannot be used.
        """
        found = self._access.read(lambda tables, meta: Events(tables, meta).stock(self._event))
        if found is None:
            raise LedgerCorrupt(
                f"the allowance {brief(self.id)!r} is no longer in the ledger; restore it from a "
                "backup"
            )
        return found

    def _kinds(self, step: TradeOff | None) -> tuple[int, ...]:
        # Before the ledger is locked, because a proof may take long.
        if step is not None:
            check_step(step, self.neighbors)
        nothing = (0,) * len(self.declared)
        return Stock(self.id, self.declared, nothing, self._event).kinds_for(step)


def allowance_of(access: Access, entry: str, neighbors: Neighbors) -> Allowance:
    """Return the allowance with an id.

    Raises:
        EntryConflict: if there is none.
    """
    found = access.read(lambda tables, meta: Events(tables, meta).entry(entry))
    if found is None:
        raise EntryConflict(
            f"this ledger holds no allowance {brief(entry)!r}; declare it with Ledger.allow"
        )
    found.require_kind({"stock": ()})
    cost = found.cost
    return Allowance(entry, found.stock(), cost.cost, cost.delta, neighbors, found.event, access)


def check_step(step: TradeOff, neighbors: Neighbors) -> None:
    """Refuse a curve that is not a step under this relation, or that cannot be recorded.

    Raises:
        InvalidParameter: if it is not a trade-off function, or not one of this library's.
        RelationMismatch: if it is proved for another relation.
    """
    check_curve("step", step)
    for pair in (step.remove, step.add):
        if pair.neighbors not in (None, neighbors):
            raise RelationMismatch(
                f"step={brief(str(step))} is proved for neighbors={pair.neighbors!r}, and the "
                f"ledger keeps {neighbors!r}; write a step of that relation, such as "
                f"dp_sgd(..., neighbors={neighbors!r})"
            )
    require_recordable(step)
