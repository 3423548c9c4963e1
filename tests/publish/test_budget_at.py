"""A plan is priced by the ledger that pays, also where that was created with another split."""

from neyman.accounting import budget_for
from neyman.curves import approx_dp, gdp
from neyman.ledger import Ledger, store_of
from neyman.publish._plan import budget_at

CAP = approx_dp(1, 1e-6)


def test_a_ledger_that_exists_keeps_its_split(tmp_path):
    """So a spec with shares that was published under an older release is found again, free."""
    place = store_of(tmp_path / "old.ledger")
    assert budget_at(place, CAP, None) == budget_for(CAP)
    Ledger.open(place, cap=CAP, unit="one row", neighbors="add_remove", delta_aside=0)
    assert budget_at(place, CAP, None) == budget_for(CAP, 0) != budget_for(CAP)
    # What is written is looked up nowhere: opening compares it.
    assert budget_at(place, CAP, 1e-7) == budget_for(CAP, 1e-7)


def test_a_cap_without_a_delta_needs_no_look(tmp_path, monkeypatch):
    place = store_of(tmp_path / "new.ledger")
    monkeypatch.setattr(type(place), "exists", lambda _: 1 / 0)
    assert budget_at(place, gdp(1), None) == budget_for(gdp(1))
