"""Any sequence of calls does what a model of ten lines does."""

from fractions import Fraction

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ledger.machines import SIZES, run_machine
from neyman.curves import gdp, laplace
from neyman.errors import BudgetExceeded, EntryConflict
from neyman.ledger import Ledger

CURVES = [gdp(0.1), gdp(0.3), gdp(Fraction(1, 3)), laplace(0.2)]
IDS = st.sampled_from(["a", "b", "c", "d"])


class LedgerMachine(RuleBasedStateMachine):
    """The model: a dict from id to what was asked, how often it was drawn, and the answer."""

    def __init__(self, place):
        super().__init__()
        self.place = place
        self.reopen()
        self.model = {}
        self.reservations = []

    @property
    def spent(self):
        return sum((cost for _, cost, _, _ in self.model.values()), Fraction(0))

    @rule()
    def reopen(self):
        self.ledger = Ledger.open(self.place, cap=gdp(0.6), unit="plane", neighbors="add_remove")

    @rule(
        entry=IDS,
        curve=st.sampled_from(CURVES),
        request=st.sampled_from([{"q": 1}, {"q": 2}]),
        source=st.sampled_from(["s", "s", "t"]),
    )
    def reserve(self, entry, curve, request, source):
        def call():
            return self.ledger.reserve(
                entry=entry,
                request=request,
                source=source,
                curve=curve,
                unit="plane",
                neighbors="add_remove",
            )

        asked = (str(curve), request, source)
        if entry not in self.model:
            cost = curve.outer_gaussian()
            if self.spent + cost > Fraction(36, 100):
                with pytest.raises(BudgetExceeded):
                    call()
                return
            self.model[entry] = [asked, cost, 0, None]
        known = self.model[entry]
        if known[0] != asked or (known[2] == 2 and known[3] is None):
            with pytest.raises(EntryConflict):
                call()
            return
        reservation = call()
        assert (reservation.values, reservation.cost) == (known[3], known[1])
        known[2] += known[3] is None
        self.reservations.append(reservation)

    @rule(data=st.data(), value=st.integers())
    def commit(self, data, value):
        if not self.reservations:
            return
        reservation = data.draw(st.sampled_from(self.reservations))
        known = self.model[reservation.entry]
        known[3] = (value,) if known[3] is None else known[3]
        assert self.ledger.commit(reservation, [value]).values == known[3]

    @invariant()
    def agrees(self):
        states = {1: "reserved", 2: "redrawn"}
        expected = [
            (entry, cost, request, values, states[draws] if values is None else "committed")
            for entry, ((_, request, _), cost, draws, values) in self.model.items()
        ]
        found = [(e.id, e.cost, e.request, e.values, e.state) for e in self.ledger.entries()]
        assert found == expected
        assert self.ledger.spent() == self.spent <= Fraction(36, 100)
        assert self.ledger.check() == ()


@SIZES
def test_any_sequence_of_calls_does_what_the_model_does(home, examples, tmp_path):
    run_machine(LedgerMachine, home, tmp_path, examples, steps=25)
