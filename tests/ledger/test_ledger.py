"""One process, one ledger: charges, replays, conflicts, views and refusals."""

import ast
import inspect
import json
import pickle
from fractions import Fraction

import numpy as np
import pytest

from neyman.accounting import Amount
from neyman.curves import (
    Pair,
    Summaries,
    TradeOff,
    approx_dp,
    compose,
    gdp,
    identity,
    laplace,
    pure_dp,
)
from neyman.errors import (
    BudgetExceeded,
    EntryConflict,
    InvalidParameter,
    LedgerCorrupt,
    LedgerMismatch,
    NotCertified,
    RelationMismatch,
    UnsupportedComposition,
)
from neyman.ledger import Entry, Ledger, Reservation

# For what is refused before a store is asked: databases in the long trials.
MOSTLY_FILES = pytest.mark.parametrize(
    "home", ["files", pytest.param("database", marks=pytest.mark.soak)], indirect=True
)


@pytest.mark.parametrize(
    ("home", "answers"),
    [
        ("files", 100),
        ("database", 20),
        pytest.param("database", 100, marks=pytest.mark.soak),
    ],
    indirect=["home"],
)
def test_many_small_answers_make_one_and_no_more(opened, answers):
    desk = opened()
    for number in range(answers):
        desk.answer(f"{number}", [number], gdp(squared=Fraction(1, answers)))
    assert desk.ledger.spent() == 1
    assert desk.ledger.remaining() == 0
    assert desk.ledger.total() == gdp(1)
    with pytest.raises(BudgetExceeded, match="nothing fits any more"):
        desk.reserve("one more")
    assert len(desk.ledger.entries()) == answers
    assert desk.ledger.check() == ()


@pytest.mark.shows("cap")
def test_a_refusal_says_what_fits_and_writes_nothing(opened):
    desk = opened()
    desk.answer("a", curve=gdp(0.8))
    with pytest.raises(BudgetExceeded) as refusal:
        desk.reserve("b", gdp(0.7))
    text = str(refusal.value)
    for part in ("'b'", "mu^2 = 0.49", "0.64 is spent", "0.36 remains", "cap=gdp(mu=1)"):
        assert part in text
    assert "the most that still fits is gdp(mu=0.6)" in text
    assert desk.ledger.spent() == Fraction(64, 100)
    assert desk.answer("b", curve=gdp(0.6)).cost == Fraction(36, 100)


def test_laplace_is_charged_its_tight_gaussian(opened):
    desk = opened()
    curve = laplace(0.1)
    assert desk.answer("q", curve=curve).cost == curve.outer_gaussian()
    assert desk.ledger.total() == gdp(squared=curve.outer_gaussian())
    assert desk.ledger.total().mu() == pytest.approx(curve.mu(), rel=1e-12)


@pytest.mark.shows("pure")
def test_a_pure_cap_adds_epsilons_and_refuses_gaussians(opened):
    desk = opened(pure_dp(1))
    for number in range(10):
        desk.answer(f"{number}", curve=laplace(0.1))
    assert desk.ledger.total() == pure_dp(1)
    with pytest.raises(BudgetExceeded, match="epsilon"):
        desk.reserve("more", laplace(1e-9))
    with pytest.raises(UnsupportedComposition, match="release through Laplace noise"):
        desk.reserve("gaussian", gdp(0.001))


@pytest.mark.parametrize(
    ("cap", "epsilon"),
    [
        (gdp(1), 0.3),
        (pure_dp(1), 0.2),
        (approx_dp(1, 1e-6), 0.1),
        # Until the last of many.
        pytest.param(gdp(1), 0.1, marks=pytest.mark.soak),
        pytest.param(pure_dp(1), 0.1, marks=pytest.mark.soak),
    ],
)
def test_no_total_is_weaker_than_the_cap(opened, cap, epsilon):
    desk = opened(cap)
    number = 0
    while True:
        try:
            desk.answer(f"{number}", curve=laplace(epsilon))
        except BudgetExceeded:
            break
        number += 1
    assert number > 2
    assert desk.ledger.total().implies(cap)
    assert desk.ledger.check() == ()


@pytest.mark.parametrize(
    ("curve", "error"),
    [
        (identity(), InvalidParameter),
        (approx_dp(0.1, 1e-6), UnsupportedComposition),
    ],
)
def test_what_cannot_be_charged_is_refused(opened, curve, error):
    desk = opened()
    with pytest.raises(error) as refusal:
        desk.reserve("q", curve)
    assert refusal.value.__context__ is None
    assert desk.ledger.entries() == ()


def test_an_estimate_cannot_be_charged(opened, monkeypatch):
    desk = opened()
    monkeypatch.setattr(TradeOff, "certified", False)
    with pytest.raises(NotCertified, match="estimate"):
        desk.reserve("q")
    assert desk.ledger.spent() == 0


def test_an_answer_is_replayed_free(opened):
    desk = opened()
    first = desk.answer("q", [3, -(2**80), 0])
    again = opened().reserve("q")
    assert first.values == again.values == (3, -(2**80), 0)
    assert desk.ledger.spent() == Fraction(1, 100)
    assert desk.ledger.commit(again, [9]).values == first.values


def test_a_crash_leaves_one_redraw(opened):
    desk = opened()
    assert desk.reserve("q").values is None
    assert desk.reserve("q").values is None
    assert desk.ledger.spent() == Fraction(1, 100)
    with pytest.raises(EntryConflict, match=r"stays charged.*new id"):
        desk.reserve("q")
    assert [entry.state for entry in desk.ledger.entries()] == ["redrawn"]


def test_the_first_commit_wins(opened):
    desk = opened()
    first, second = desk.reserve("q"), desk.reserve("q")
    assert desk.ledger.commit(second, [2]).values == (2,)
    assert desk.ledger.commit(first, [1]).values == (2,)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"request": {"query": "sum"}}, "another request"),
        ({"source": "hospital.parquet SECRET"}, "another dataset"),
        (
            {"curve": gdp(0.05)},
            r"another budget \(budget: gdp\(mu=0.1\) in the ledger, gdp\(mu=0.05\) now\)",
        ),
        ({"request": {"n": 1.0}, "source": "SECRET"}, "another request and dataset"),
    ],
)
@pytest.mark.parametrize("committed", [False, True])
def test_an_id_stands_for_one_question(opened, change, word, committed):
    desk = opened()
    given = {"request": {"n": 1}, "source": "a"}
    reservation = desk.reserve("q", **given)
    if committed:
        desk.ledger.commit(reservation, [1])
    with pytest.raises(EntryConflict, match=word) as refusal:
        desk.reserve("q", **{**given, "curve": None, **change})
    assert "SECRET" not in str(refusal.value)
    assert desk.ledger.spent() == Fraction(1, 100)
    if not committed:
        assert [entry.state for entry in desk.ledger.entries()] == ["reserved"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"q": {"bounds": ["0", "20"]}}, ["q.bounds[1]: '10' in the ledger, '20' now)"]),
        ({"q": {"bounds": ["0"]}}, ["q.bounds[1]: '10' in the ledger, nothing now)"]),
        ({"q": {"bounds": "0 10"}}, ["q.bounds: ['0', '10'] in the ledger, '0 10' now)"]),
        (
            {"q": {"bounds": ["0", "10"]}, "a b": "x" * 99},
            ["['a b']: nothing in the ledger, '" + "x" * 58 + "… now)"],
        ),
        (
            {"q": {"bounds": list("abcdefg")}},
            ["q.bounds[4]: nothing in the ledger, 'e' now; and 2 more)"],
        ),
    ],
)
def test_a_conflict_says_what_differs(opened, asked, said):
    desk = opened()
    desk.reserve("q", request={"q": {"bounds": ["0", "10"]}})
    with pytest.raises(EntryConflict) as refusal:
        desk.reserve("q", request=asked)
    assert all(part in str(refusal.value) for part in said)


def test_long_texts_are_shown_where_they_part(opened):
    desk = opened()
    desk.reserve("q", request={"where": "a" * 100 + "b" * 100})
    with pytest.raises(EntryConflict, match=r"where: …a{10}b{48}… in the ledger, …a{10}c{48}… now"):
        desk.reserve("q", request={"where": "a" * 100 + "c" * 100})


def test_what_is_long_is_shown_in_short_and_compared_whole(opened, home):
    """Keys of a megabyte, records in records, compositions of many parts, ids that were forged."""
    desk = opened()
    key, deep, other = "k" * 10**6, 1, 2
    for _ in range(200):
        deep, other = {"a" * 64: deep}, {"a" * 64: other}
    desk.reserve("q", request={key: 1, "deep": deep})
    assert desk.reserve("q", request={key: 1, "deep": deep}).values is None
    parts = compose(*[laplace(1 + 1 / (3 + part)) for part in range(60)])
    for refused in (
        lambda: desk.reserve("q", request={f"{key}x": 1, "deep": deep}),
        lambda: desk.reserve("q", request={key: 1, "deep": other}),
        lambda: desk.reserve("r", curve=parts),
    ):
        with pytest.raises((EntryConflict, BudgetExceeded)) as refusal:
            refused()
        assert len(str(refusal.value)) < 1500
    assert len(repr(desk.ledger.entries())) < 1000
    home.tamper(desk.ledger, f"UPDATE events SET entry = '{key[:5000]}'")
    with pytest.raises(LedgerCorrupt) as damage:
        desk.ledger.copy("nowhere")
    found = desk.ledger.check()
    assert 0 < max(map(len, (*found, str(damage.value)))) < 1000


def test_both_accounts_are_left_at_one_moment(opened):
    desk = opened()
    desk.reserve("q")
    assert (desk.ledger.left().cost, desk.ledger.left().delta) == (Fraction(99, 100), 0)
    assert desk.ledger.left().cost == desk.ledger.remaining()


@pytest.mark.parametrize(("one", "other"), [(1, 1.0), (1, True), ("1", 1), (None, "null")])
def test_requests_are_compared_as_written(opened, one, other):
    desk = opened()
    desk.answer("q", request={"n": one})
    with pytest.raises(EntryConflict, match="another request") as refusal:
        desk.reserve("q", request={"n": other})
    assert f"(n: {one!r} in the ledger, {other!r} now)" in str(refusal.value)


def test_the_order_of_keys_says_nothing(opened):
    desk = opened()
    desk.answer("q", [5], request={"b": [1, (2, 0.1)], "a": {"d": None, "c": "é"}})
    again = desk.reserve("q", request={"a": {"c": "é", "d": None}, "b": [1, [2, 0.1]]})
    assert again.values == (5,)
    assert desk.ledger.entries()[0].request == {"a": {"c": "é", "d": None}, "b": [1, [2, 0.1]]}


@pytest.mark.parametrize(
    "request_",
    [
        {"x": float("nan")},
        {"x": float("inf")},
        {1: "x"},
        {"x": {2: "y"}},
        {"x": object()},
        {"x": np.float64(1.0)},
        {"x": {1, 2}},
        {"x": b"bytes"},
        {"x": 10**5000},
    ],
)
@MOSTLY_FILES
def test_requests_are_json(opened, request_):
    desk = opened()
    with pytest.raises(InvalidParameter) as refusal:
        desk.reserve("q", request=request_)
    assert refusal.value.__context__ is None
    assert desk.ledger.entries() == ()


def test_a_request_in_circles_is_refused(opened):
    circle = {}
    circle["x"] = circle
    with pytest.raises(InvalidParameter, match="nests too deep"):
        opened().reserve("q", request=circle)


@pytest.mark.parametrize("entry", ["", "x" * 201, "a\nb", "\0", "\ud800", "\u200b"])
@MOSTLY_FILES
def test_entry_ids_are_readable(opened, entry):
    with pytest.raises(InvalidParameter, match="printable"):
        opened().reserve(entry)


@pytest.mark.parametrize("entry", ["'; DROP TABLE events; --", "größe 1/2", "x" * 200, '"', "%"])
def test_any_readable_id_will_do(opened, entry):
    desk = opened()
    desk.answer(entry, [1])
    assert [found.id for found in desk.ledger.entries()] == [entry]
    assert desk.reserve(entry).values == (1,)


@pytest.mark.parametrize("values", [[1.0], ["1"], [1, None], [float("nan")], np.array([0.5])])
@MOSTLY_FILES
def test_values_are_integers_and_never_shown(opened, values):
    desk = opened()
    reservation = desk.reserve("q")
    with pytest.raises(InvalidParameter, match="not all integers") as refusal:
        desk.ledger.commit(reservation, values)
    assert refusal.value.__context__ is None
    assert desk.ledger.entries()[0].state == "reserved"


def test_arrays_of_integers_are_values(opened):
    desk = opened()
    drawn = np.array([-(2**63), 2**63 - 1, 0], dtype=np.int64)
    assert desk.answer("q", drawn).values == (-(2**63), 2**63 - 1, 0)
    assert desk.answer("empty", []).values == ()


def test_only_what_was_reserved_is_committed(opened):
    desk = opened()
    forged = Reservation(entry="q", curve=gdp(1), cost=Fraction(0), left=Amount(Fraction(1)))
    with pytest.raises(EntryConflict, match="never reserved"):
        desk.ledger.commit(forged, [1])
    assert desk.ledger.entries() == ()


@pytest.mark.shows("e0.6")
@pytest.mark.parametrize("change", [{"unit": "passenger"}, {"neighbors": "replace_one"}])
def test_an_entry_protects_what_the_ledger_keeps(opened, change):
    desk = opened()
    ((name, value),) = change.items()
    with pytest.raises(RelationMismatch, match="plane") as refusal:
        desk.reserve("q", **change)
    assert f"For a new ledger, write Ledger.open(..., {name}={value!r})" in str(refusal.value)
    kept = {"unit": "plane", "neighbors": "add_remove"}[name]
    assert f"Write {name}={kept!r} if that is what your entry protects" in str(refusal.value)
    assert desk.ledger.entries() == ()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"entry": None}, r"entry must be.* got a value of type NoneType"),
        ({"entry": b"q"}, r"entry must be.* got a value of type bytes"),
        ({"unit": 5}, r"unit must be.* got a value of type int"),
        ({"source": None}, r"source must be.* got a value of type NoneType"),
        ({"request": [1]}, r"request must be.* got a value of type list"),
        ({"curve": 1}, "curve=1 is no trade-off function; write gdp\\(1\\)"),
        ({"curve": "SECRET"}, "curve of type str is no trade-off function"),
    ],
)
@MOSTLY_FILES
def test_what_is_of_another_type_is_refused(opened, change, said):
    ledger = opened().ledger
    given = {
        "entry": "q",
        "request": {},
        "source": "",
        "curve": gdp(0.1),
        "unit": "plane",
        "neighbors": "add_remove",
    }
    with pytest.raises(InvalidParameter, match=said) as refusal:
        ledger.reserve(**{**given, **change})
    assert "SECRET" not in str(refusal.value)
    assert ledger.entries() == ()
    with pytest.raises(InvalidParameter, match="entry must be"):
        ledger.turn(None)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"cap": 1}, r"cap=1 is no trade-off function; write gdp\(1\)"),
        ({"cap": 0.5}, r"cap=0.5 is no trade-off function; write gdp\(0.5\)"),
        ({"cap": None}, r"cap of type NoneType is no trade-off function; write gdp\(1\)"),
        ({"cap": approx_dp(1, 1)}, "protects nothing"),
        ({"unit": None}, r"unit must be.* got a value of type NoneType"),
    ],
)
def test_a_ledger_is_opened_with_what_can_be_spent(tmp_path, change, said):
    given = {"cap": gdp(1), "unit": "plane", "neighbors": "add_remove"}
    with pytest.raises(InvalidParameter, match=said):
        Ledger.open(tmp_path / "b", **{**given, **change})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cap": gdp(2)}, ["cap=gdp(mu=1)", "cap=gdp(mu=2)"]),
        ({"unit": "passenger"}, ["unit=plane", "unit=passenger"]),
        ({"neighbors": "replace_one"}, ["neighbors=add_remove", "neighbors=replace_one"]),
    ],
)
def test_a_ledger_is_opened_as_it_was_created(opened, change, words):
    path = opened().ledger.store
    given = {"cap": gdp(1), "unit": "plane", "neighbors": "add_remove"}
    with pytest.raises(LedgerMismatch) as refusal:
        Ledger.open(path, **{**given, **change})
    assert all(word in str(refusal.value) for word in words)
    assert Ledger.existing(path) == Ledger.open(path, **given)


@pytest.mark.parametrize("cap", [identity(), laplace(1)])
def test_a_cap_without_an_account_opens_nothing(tmp_path, cap):
    with pytest.raises(InvalidParameter, match="no account"):
        Ledger.open(tmp_path / "b", cap=cap, unit="plane", neighbors="add_remove")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("change", [{"unit": ""}, {"unit": "a\n"}, {"neighbors": "near"}])
def test_a_ledger_needs_readable_words(tmp_path, change):
    given = {"cap": gdp(1), "unit": "plane", "neighbors": "add_remove"}
    with pytest.raises(InvalidParameter):
        Ledger.open(tmp_path / "b", **{**given, **change})
    assert list(tmp_path.iterdir()) == []


def test_there_are_no_defaults():
    for public in (Ledger.open, Ledger.reserve, Ledger.commit):
        parameters = inspect.signature(public).parameters.values()
        given = {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}
        # Nothing set aside, and no groups found: the least of each.
        assert given.items() <= {"delta_aside": None, "groups": ()}.items()


def test_views_tell_what_happened(opened):
    desk = opened()
    desk.answer("a", [7])
    desk.reserve("b", laplace(0.1), request={"mechanism": "laplace"})
    first, second = desk.ledger.entries()
    assert isinstance(first, Entry)
    assert (first.id, first.state, first.curve, first.values) == ("a", "committed", gdp(0.1), (7,))
    assert first.reserved_at <= first.committed_at
    assert first.reserved_at.endswith("+00:00")
    assert (second.id, second.state, second.curve) == ("b", "reserved", laplace(0.1))
    assert (second.request, second.committed_at) == ({"mechanism": "laplace"}, None)
    assert desk.ledger.spent() == desk.costs == first.cost + second.cost
    assert desk.ledger.spent() + desk.ledger.remaining() == 1


def test_a_handle_keeps_no_secret(opened, home, tmp_path):
    desk = opened()
    desk.answer("q", [123456789], source="hospital.parquet SECRET")
    ((secret,),) = home.ask(desk.ledger, "SELECT secret FROM meta")
    stored = [row[0] for row in home.ask(desk.ledger, "SELECT payload FROM events ORDER BY seq")]
    assert len(secret) == 32
    assert "SECRET" not in str(stored)
    assert len(json.loads(stored[0])["source"]) == 64
    copy = pickle.loads(pickle.dumps(desk.ledger))
    assert copy == desk.ledger
    assert copy.spent() == Fraction(1, 100)
    assert secret not in pickle.dumps(desk.ledger)
    assert repr(desk.ledger) == (
        f"Ledger(store={desk.ledger.store!r}, cap=gdp(mu=1), unit='plane', neighbors='add_remove')"
    )
    again = desk.reserve("q", source="hospital.parquet SECRET")
    assert again.values == (123456789,)
    assert "123456789" not in repr(desk.ledger.entries()) + repr(again)
    other = opened(path=tmp_path / "other.ledger").ledger
    assert home.ask(other, "SELECT secret FROM meta") != [(secret,)]


def test_the_same_dataset_cannot_be_told_across_ledgers(opened, home, tmp_path):
    prints = set()
    for name in ("a", "b"):
        desk = opened(path=tmp_path / name)
        desk.answer("q", source="flights")
        ((payload,),) = home.ask(desk.ledger, "SELECT payload FROM events WHERE kind = 'reserve'")
        prints.add(json.loads(payload)["source"])
    assert len(prints) == 2


def test_the_ledger_never_prints_or_logs():
    source = inspect.getsource(inspect.getmodule(Ledger))
    called = {getattr(node, "id", "") for node in ast.walk(ast.parse(source))}
    assert not called & {"print", "logging", "warnings"}


def test_a_curve_that_cannot_be_read_back_is_refused_before_it_is_charged(opened):
    desk = opened()

    class Stranger(Pair):
        """A Gaussian under a name that no reader knows."""

        kind = "tests.stranger"

        def __eq__(self, other):
            return self is other

        def __hash__(self):
            return 1

        def __str__(self):
            return "stranger"

        proved = mirrored = True

        def log_tails(self, t, *, closed=False):
            return gdp(0.1).remove.log_tails(t, closed=closed)

        def cumulant(self, s):
            return gdp(0.1).remove.cumulant(s)

        def parameters(self):
            return {}

        def summaries(self):
            return Summaries(outer_gaussian=lambda: Fraction(1, 100))

    pair = Stranger()
    with pytest.raises(InvalidParameter):
        desk.answer("q", curve=TradeOff(pair, pair))
    assert desk.ledger.spent() == 0
    assert desk.ledger.entries() == ()
