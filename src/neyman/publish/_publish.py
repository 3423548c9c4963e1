"""Runs a plan; everything is priced before the first charge."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import TracebackType
from typing import Any, Final, TypeAlias, final

from neyman.curves import TradeOff
from neyman.displayed import Displayed
from neyman.errors import BudgetExceeded, NeymanError
from neyman.ledger import Entry, Ledger, Store
from neyman.numerics import at_least, at_most
from neyman.printable import printable, shortened, width
from neyman.publish._plan import Plan, bill
from neyman.publish._plan_preview import Bill
from neyman.publish._presentation import Presentation
from neyman.publish._presented import Presented
from neyman.publish._reconciled import reconciled, table_facts
from neyman.publish._suppressed import hidden_counts
from neyman.released import Release
from neyman.sensitivity import Neighbors

__all__ = ["Bar", "Publication", "publish"]

# Sources the entry about to run, how many are done, and of how many.
_Progress: TypeAlias = Callable[[str, int, int], None]

_CELLS: Final = 20
_LONGEST: Final = 60
_ERASE: Final = "\x1b[K"


@final
class Bar:
    """A progress bar.

    A terminal shows it on stderr, and it disappears at the end. A notebook cannot remove a line, so
    it gets plain text on stdout, and the bar is full at the end. Other outputs get nothing.
    """

    def __init__(self) -> None:
        self._notebook = _in_kernel()
        self._drawn = 0

    def __enter__(self) -> "Bar":
        return self

    def __call__(self, entry: str, done: int, total: int) -> None:
        """Draw the bar."""
        self._line(done, total, f"{min(done + 1, total)}/{total} {shortened(entry, _LONGEST)}")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the line, or remove it."""
        if not self._drawn:
            return
        if self._notebook:
            if kind is None:
                self._line(1, 1, "done")
            self._write("\n")
        else:
            self._write(f"\r{_ERASE}")

    def _line(self, done: int, total: int, said: str) -> None:
        if not (self._notebook or sys.stderr.isatty()):
            return
        filled = _CELLS * done // total
        line = f"[{'#' * filled}{'.' * (_CELLS - filled)}] {said}"
        if self._notebook:
            # Spaces cover what is left of a longer line: not every notebook knows how to erase.
            self._write(f"\r{line}{' ' * max(self._drawn - width(line), 0)}")
        else:
            self._write(f"\r{_ERASE}{line}")
        self._drawn = width(line)

    def _write(self, text: str) -> None:
        stream = sys.stdout if self._notebook else sys.stderr
        stream.write(text)
        stream.flush()


def _in_kernel() -> bool:
    """Return whether a notebook shows the output."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


# The number of entries that a refusal names.
_NAMED: Final = 3


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Publication(Displayed):
    """The releases of a spec or session, and the state of its ledger afterwards.

    Attributes:
        title: the title.
        names: the names of the queries, in order.
        releases: the answer of each query; those of a batch share an id. If several answers measure
            the same number, all show one combined number; `Release.alone` is the answer as drawn.
        cap: the total budget of the ledger.
        total: the guarantee of everything that the ledger ever released.
        delta_aside: the part of the budget's delta set aside for tails and undeclared groups.
        delta_spent: how much of it has been spent.
        presentation: labels, units of measure, rounding and order of the answers.
        unit: the privacy unit.
        neighbors: the neighbouring relation.
        ledger: the place of the ledger.
        head: the head of the ledger's chain; "" if it is unknown.
        entries: all entries of the ledger; none if they are unknown.
    """

    title: str
    names: tuple[str, ...]
    releases: tuple[Release, ...]
    cap: TradeOff
    total: TradeOff
    unit: str
    neighbors: Neighbors
    ledger: Store
    delta_aside: Fraction = Fraction(0)
    delta_spent: Fraction = Fraction(0)
    presentation: Presentation = field(default_factory=Presentation)
    head: str = ""
    entries: tuple[Entry, ...] = ()

    @staticmethod
    def of(
        ledger: Ledger, title: str, answers: Mapping[str, Release], presentation: Presentation
    ) -> "Publication":
        """Return answers with the state of the ledger that paid for them.

        Args:
            ledger: the ledger in its current state.
            title: the title.
            answers: the answers by name, in order.
            presentation: the presentation of the answers.
        """
        return Publication(
            title=title,
            names=tuple(answers),
            releases=tuple(answers.values()),
            cap=ledger.cap,
            total=ledger.total(),
            unit=ledger.unit,
            neighbors=ledger.neighbors,
            ledger=ledger.store,
            delta_aside=ledger.delta_aside,
            delta_spent=ledger.spent_delta(),
            presentation=presentation,
            head=ledger.head(),
            entries=tuple(ledger.entries()),
        )

    def __post_init__(self) -> None:
        """Combine answers that measure the same number."""
        object.__setattr__(self, "releases", reconciled(self.names, self.releases))

    def batch_of(self, release: Release) -> dict[str, Release]:
        """Return the releases of a batch by name, in order; without a batch, the release itself."""
        named = zip(self.names, self.releases, strict=True)
        return {name: other for name, other in named if other.entry == release.entry}

    def in_language(self, language: str | None) -> "Publication":
        """Return the publication in another language; for None, unchanged.

        Raises:
            InvalidParameter: if the language is unknown.
        """
        if language is None:
            return self
        return replace(self, presentation=self.presentation.in_language(language))

    def presented(self) -> tuple[Presented, ...]:
        """Return each answer with its presentation, and its groups in the order of presentation."""
        named = zip(self.names, self.releases, strict=True)
        shown = [Presented(*pair, self.presentation) for pair in named]
        hidden = frozenset(
            count
            for one in shown
            if one.rule.sentences
            for side in one.release.sides
            for count in hidden_counts(
                one.release, side, one.states(side), table_facts(one.release)
            )
        )
        return tuple(replace(one, hidden=hidden).ordered() for one in shown)

    def __str__(self) -> str:
        head = (
            f"{printable(self.title)}: {printable(self.total)} spent of {printable(self.cap)}, "
            f"unit: {printable(self.unit)} ({self.neighbors})"
        )
        named = zip(self.names, self.releases, strict=True)
        return "\n\n".join([head, *(f"{printable(name)}\n{one}" for name, one in named)])

    __repr__ = __str__


def publish(plan: Plan, *, progress: _Progress | None = None) -> Publication:
    """Run a plan: charge, draw and store every answer that the ledger does not have yet.

    Running it again returns the stored answers, free. After an interruption it continues.

    Args:
        plan: a result of `plan`.
        progress: is called with the next id, the number of finished entries and their total. By
            default it draws a bar in a terminal or notebook; write `lambda *_: None` for none.

    Raises:
        BudgetExceeded: if the budget does not suffice for all queries; nothing has been charged.
        EntryConflict: if an id belongs to another question in the ledger, or was lost twice.
    """
    _check_fits(plan)
    if progress is None:
        with Bar() as bar:
            return _published(plan, bar)
    return _published(plan, progress)


def _published(plan: Plan, progress: _Progress) -> Publication:
    ledger, charges = plan.open_ledger(), plan.charges
    answers: dict[str, Release] = {}
    for done, charge in enumerate(charges):
        progress(charge.entry, done, len(charges))
        try:
            released = charge.release(ledger)
        except NeymanError as error:
            if answers:
                error.add_note(
                    f"{done} of {len(charges)} entries before it are stored; ask again, and "
                    "they are free"
                )
            raise
        for step, release in zip(charge.steps, released, strict=True):
            answers[step.entry] = release.declared(step.complete)
    named = {step.entry: answers[step.entry] for step in plan.steps}
    return Publication.of(ledger, plan.title, named, plan.presentation)


def _check_fits(plan: Plan) -> None:
    """Refuse a plan that would stop half-way; the ledger itself also checks every charge."""
    price = bill(plan)
    if price.fits:
        return
    due, left, most = price.due, price.remaining, price.capacity
    asked = f"{price.account} = {at_most(due.cost, 6)}"
    found = f"{at_least(left.cost, 6)} of {at_most(most.cost, 6)}"
    if most.delta:
        asked += f" and delta = {at_most(due.delta, 6)}"
        found += f", of delta {at_least(left.delta, 6)} of {at_most(most.delta, 6)},"
    charges = zip(plan.charges, price.costs, strict=True)
    unpaid = [charge.entry for charge, cost in charges if cost is not None]
    who, all_of_them, instead = f"entry {unpaid[0]!r} asks for {asked}", "", "Give it less"
    if len(unpaid) > 1:
        who, all_of_them = f"the queries ask for {asked} together", " for all of them"
        instead = "Give the queries smaller shares, or leave some out"
    raise BudgetExceeded(
        f"{who}, and the ledger {plan.ledger} has {found} left, so {plan.budget.largest(left)}"
        f"{all_of_them}; nothing was charged. "
        f"{_costliest(plan, price)}. {instead}"
    )


def _costliest(plan: Plan, price: Bill) -> str:
    """Return a sentence with the most expensive entries, in the account that is exceeded most."""
    due, left = price.due, price.remaining
    lacks = due.cost <= left.cost
    word = "delta" if lacks else price.account
    costs = {
        charge.entry: cost.delta if lacks else cost.cost
        for charge, cost in zip(plan.charges, price.costs, strict=True)
        if cost is not None
    }
    dearest = sorted(costs, key=lambda entry: -costs[entry])
    named = [f"{entry!r} with {word} = {at_most(costs[entry], 6)}" for entry in dearest[:_NAMED]]
    return f"The costliest {'is' if len(named) == 1 else 'are'} {', '.join(named)}"
