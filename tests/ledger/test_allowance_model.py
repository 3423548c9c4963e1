"""Any sequence of calls of an allowance does what an exact model of a few lines does."""

from fractions import Fraction

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ledger.machines import SIZES, run_machine
from neyman.curves import gdp
from neyman.errors import BudgetExceeded, EntryConflict, InvalidParameter
from neyman.ledger import Ledger

STRONG, WEAK = gdp(Fraction(1, 5)), gdp(Fraction(1, 10))
SCHEDULES = {"one": {WEAK: 7}, "two": {STRONG: 4, WEAK: 6}}
COSTS = {"one": Fraction(7, 100), "two": Fraction(22, 100)}
CAP = Fraction(3, 10)
# By the schedule, and twenty times mu: of which kinds a step is taken, an equal one first.
KINDS = {
    ("one", 1): (0,),
    ("one", 2): (0,),
    ("two", 1): (0, 1),
    ("two", 2): (1, 0),
    ("two", 4): (0,),
}
STEPS = {1: gdp(Fraction(1, 20)), 2: WEAK, 4: STRONG, 5: gdp(Fraction(1, 4))}


class AllowanceMachine(RuleBasedStateMachine):
    """The model: of each allowance what is left of each kind, and of each take what it is."""

    def __init__(self, place):
        super().__init__()
        self.place, self.rest, self.takes, self.questions = place, {}, {}, Fraction(0)
        self.handles = []
        self.reopen()

    @property
    def spent(self):
        return self.questions + sum((COSTS[entry] for entry in self.rest), Fraction(0))

    @rule()
    def reopen(self):
        self.ledger = Ledger.open(
            self.place, cap=gdp(squared=CAP), unit="plane", neighbors="add_remove"
        )

    @rule(entry=st.sampled_from(["one", "two"]))
    def allow(self, entry):
        def call():
            return self.ledger.allow(
                entry=entry,
                steps=SCHEDULES[entry],
                request={},
                source="d",
                unit="plane",
                neighbors="add_remove",
            )

        if entry not in self.rest and self.spent + COSTS[entry] > CAP:
            with pytest.raises(BudgetExceeded):
                call()
            return
        assert call().cost == COSTS[entry]
        self.rest.setdefault(entry, list(SCHEDULES[entry].values()))

    @rule(number=st.integers(0, 3))
    def ask(self, number):
        """A question to a table spends from the same ledger."""
        cost, entry = Fraction(1, 100), f"q{number}"
        known = any(found.id == entry for found in self.ledger.entries())
        call = {
            "entry": entry,
            "request": {},
            "source": "d",
            "curve": gdp(squared=cost),
            "unit": "plane",
            "neighbors": "add_remove",
        }
        if known:
            return
        if self.spent + cost > CAP:
            with pytest.raises(BudgetExceeded):
                self.ledger.reserve(**call)
            return
        self.ledger.reserve(**call)
        self.questions += cost

    @rule(
        entry=st.sampled_from(["one", "two"]),
        name=st.sampled_from(["a", "b", "c", "d"]),
        step=st.sampled_from(sorted(STEPS)),
        steps=st.integers(1, 5),
        revealed=st.booleans(),
    )
    def take(self, entry, name, step, steps, revealed):
        if entry not in self.rest:
            with pytest.raises(EntryConflict):
                self.ledger.allowance(entry)
            return
        allowance = self.ledger.allowance(entry)

        def call():
            return allowance.take(name, steps=steps, step=STEPS[step], revealed=revealed)

        kinds, rest = KINDS.get((entry, step), ()), self.rest[entry]
        if not kinds:
            with pytest.raises(InvalidParameter):
                call()
            return
        known = self.takes.get((entry, name))
        if known is None:
            if steps > sum(rest[i] for i in kinds):
                with pytest.raises(BudgetExceeded):
                    call()
                return
            known = self.takes[entry, name] = [(step, steps), revealed, 0, None]
            due = steps
            for i in kinds:
                paid = min(due, rest[i])
                rest[i] -= paid
                due -= paid
        elif known[0] != (step, steps) or (
            known[3] is None and (known[1] or revealed or known[2] == 2)
        ):
            with pytest.raises(EntryConflict):
                call()
            return
        found = call()
        assert found.checkpoint == known[3]
        known[2] += known[3] is None
        self.handles.append((entry, name, found))

    @rule(data=st.data(), digest=st.sampled_from(["x", "y"]))
    def commit(self, data, digest):
        if not self.handles:
            return
        entry, name, handle = data.draw(st.sampled_from(self.handles))
        known = self.takes[entry, name]
        if known[3] not in (None, digest):
            with pytest.raises(EntryConflict):
                handle.commit(digest)
            return
        assert handle.commit(digest).checkpoint == digest
        known[3] = digest

    @invariant()
    def agrees(self):
        stocks = {stock.id: [kind.count for kind in stock.rest()] for stock in self.ledger.stocks()}
        assert stocks == self.rest
        takes = {
            (entry.of, entry.id.partition("/")[2]): (entry.checkpoint, entry.cost)
            for entry in self.ledger.entries()
            if entry.of is not None
        }
        assert takes == {key: (known[3], 0) for key, known in self.takes.items()}
        assert self.ledger.spent() == self.spent <= CAP
        assert self.ledger.total().mu() == pytest.approx(float(self.spent) ** 0.5)
        assert self.ledger.check() == ()


@SIZES
def test_any_sequence_of_takes_does_what_the_model_does(home, examples, tmp_path):
    run_machine(AllowanceMachine, home, tmp_path, examples, steps=30)
