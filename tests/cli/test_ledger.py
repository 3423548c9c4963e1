"""`neyman ledger show`, `check`, `export`, `merge`: what is printed, and the exit status."""

import hashlib
import json
import shutil
import sqlite3
from contextlib import closing

import pytest

import neyman as ny
from neyman.cli import main


def ask(ledger, entry, curve, values=None):
    reservation = ledger.reserve(
        entry=entry,
        request={"query": {"statistic": "count"}, "mechanism": {"kind": "gaussian"}},
        source="here",
        curve=curve,
        unit="one row",
        neighbors="add_remove",
    )
    return reservation if values is None else ledger.commit(reservation, values)


@pytest.fixture
def ledger(tmp_path):
    ledger = ny.Ledger.open(
        tmp_path / "a.ledger", cap=ny.gdp(1), unit="one row", neighbors="add_remove"
    )
    ask(ledger, "visits: größe", ny.gdp(0.3), [7, -3])
    ask(ledger, "b", ny.gdp(0.1))
    return ledger


def ran(capsys, *words):
    status = main(["ledger", *map(str, words)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_show_prints_the_head_and_check_compares_it(ledger, capsys):
    status, out, _ = ran(capsys, "show", ledger.store.path)
    head = out.splitlines()[-1].removeprefix("head ")
    assert (status, head) == (0, ledger.head())
    assert ran(capsys, "check", ledger.store.path, "--head", head) == (
        0,
        f"{ledger.store.path}: sound\n",
        "",
    )
    status, out, _ = ran(capsys, "check", ledger.store.path, "--head", "0" * 64)
    assert status == 1
    assert "was noted is on no row" in out
    status, out, _ = ran(capsys, "check", ledger.store.path, "--head", "0" * 64, "--json")
    assert (status, len(json.loads(out)["findings"])) == (1, 1)
    status, out, err = ran(capsys, "check", ledger.store.path, "--head", "abc")
    assert (status, out) == (1, "")
    assert "64 hexadecimal digits" in err


def test_an_edited_row_is_found(ledger, capsys):
    with closing(sqlite3.connect(ledger.store.path, isolation_level=None)) as raw:
        raw.execute("DROP TRIGGER events_update")
        raw.execute("UPDATE events SET payload = replace(payload, '7', '8')")
    status, out, _ = ran(capsys, "check", ledger.store.path)
    assert status == 1
    assert "the chain breaks at row 2, commit of 'visits: größe'" in out


def test_the_export_holds_everything_and_its_chain_can_be_computed(ledger, capsys):
    status, out, _ = ran(capsys, "export", ledger.store.path)
    record = json.loads(out)
    assert (status, record) == (0, ledger.export())
    assert [(e["id"], e["values"]) for e in record["entries"]] == [
        ("visits: größe", [7, -3]),
        ("b", None),
    ]
    assert (record["spent"], record["remaining"]) == ("1/10", "9/10")
    assert ny.read(record["total"]) == ledger.total()
    chain = record["chain"]
    names = ("ledger", "account", "capacity", "unit", "neighbors", "created")
    ledger_id, *said = (record[name] for name in names)
    opening = chain["opening"]
    cells = ["neyman.ledger", ledger_id, opening["cap"], *said, opening["secret_sha256"]]
    digest = hashlib.sha256(json.dumps(cells, separators=(",", ":")).encode()).hexdigest()
    for *row, found in chain["rows"]:
        text = json.dumps([digest, *row], separators=(",", ":"))
        digest = hashlib.sha256(text.encode()).hexdigest()
        assert digest == found
    assert digest == chain["head"] == ledger.head()


def test_no_secret_is_exported(ledger, capsys):
    with closing(sqlite3.connect(ledger.store.path)) as raw:
        (secret,) = raw.execute("SELECT secret FROM meta").fetchone()
    _, out, _ = ran(capsys, "export", ledger.store.path)
    assert secret.hex() not in out
    assert '"here"' not in out


def yaml(text):
    """Read the subset that is written: mappings, lists of scalars, numbers, quoted text."""
    found = {}
    homes = {0: found}
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        said = line.strip()
        if said.startswith("- "):
            homes[indent].append(json.loads(said[2:]))
            continue
        key, _, value = said.partition(":")
        home = homes[indent]
        if value:
            home[key] = json.loads(value)
        else:
            home[key] = [] if key in ("data_curators", "registry_authors") else {}
            homes[indent + 2] = home[key]
    return found


@pytest.mark.shows("registry")
def test_the_registry_draft_says_what_the_ledger_knows(ledger, capsys):
    status, out, _ = ran(capsys, "export", ledger.store.path, "--registry")
    assert status == 0
    deployment = yaml(out)["deployment"]
    assert deployment["dp_variant"] == {"variant_name": "Zero-concentrated DP"}
    loss = deployment["privacy_loss"]
    assert loss["privacy_unit"] == "one row"
    # rho = mu^2 / 2, rounded up.
    assert 0.05 <= loss["privacy_parameters"]["rho"] < 0.05 * (1 + 1e-12)
    assert "10 % of it is spent" in loss["privacy_parameters_details"]
    assert deployment["deployment_model"]["release_type"] == "Many releases"
    assert ledger.head() in deployment["administrative"]["notes"]
    assert "1 x gdp(mu=0.3)" in deployment["implementation"]["mechanisms"]


def test_a_pure_ledger_registers_its_epsilon(tmp_path, capsys):
    ledger = ny.Ledger.open(
        tmp_path / "p", cap=ny.pure_dp(1), unit='"all" of: #one', neighbors="replace_one"
    )
    status, out, err = ran(capsys, "export", ledger.store.path, "--registry")
    assert (status, out) == (1, "")
    assert "needs a release" in err
    ledger.reserve(
        entry="q",
        request={},
        source="",
        curve=ny.laplace(1e-5),
        unit=ledger.unit,
        neighbors="replace_one",
    )
    _, out, _ = ran(capsys, "export", ledger.store.path, "--registry")
    loss = yaml(out)["deployment"]["privacy_loss"]
    assert loss["privacy_unit"] == '"all" of: #one'
    assert loss["privacy_parameters"] == {"epsilon": 1e-5}
    # A reader of YAML 1.1 takes 1e-05 for text.
    assert "1.0e-05" in out


def test_a_merge_says_what_it_added_and_whether_the_cap_holds(ledger, tmp_path, capsys):
    copy = tmp_path / "copy.ledger"
    shutil.copy(ledger.store.path, copy)
    other = ny.Ledger.existing(copy)
    ask(other, "theirs", ny.gdp(0.8))
    status, out, _ = ran(capsys, "merge", ledger.store.path, copy)
    assert status == 0
    assert "1 entry of" in out
    assert "theirs" in out
    assert "74 %  spent" in out
    ask(ledger, "mine", ny.gdp(0.5))
    ask(other, "more", ny.gdp(0.4))
    status, out, _ = ran(capsys, "merge", ledger.store.path, copy)
    assert status == 1
    assert "the budget gdp(mu=1) is exceeded" in out
    assert "exceeded" in ran(capsys, "show", ledger.store.path)[1]
    status, out, err = ran(capsys, "merge", ledger.store.path, tmp_path / "none")
    assert (status, out) == (1, "")
    assert "there is no ledger" in err


def allow(ledger, entry="autumn"):
    return ledger.allow(
        entry=entry,
        step=ny.gdp(0.01),
        steps=5000,
        request={"model": "m"},
        source="here",
        unit="one row",
        neighbors="add_remove",
    )


def test_allowances_are_shown_with_what_is_left_of_them(ledger, capsys):
    allow(ledger).take("lr=0.1/0", steps=100).commit("sha256:0123")
    status, out, _ = ran(capsys, "show", ledger.store.path)
    assert status == 0
    assert "allowance autumn: 4,900 left of 5,000 of gdp(mu=0.01)\n" in out
    lines = [line for line in out.splitlines() if "autumn/lr=0.1/0" in line]
    assert [line.split()[:3] for line in lines] == [["0", "%", "committed"]]
    assert "60 %  spent" in out
    record = json.loads(ran(capsys, "export", ledger.store.path)[1])
    ((kind,),) = [allowance["steps"] for allowance in record["allowances"]]
    assert (kind["declared"], kind["taken"], kind["left"]) == (5000, 100, 4900)
    take = record["entries"][-1]
    assert (take["of"], take["checkpoint"], take["cost"]) == ("autumn", "sha256:0123", "0")
    # What is taken is within what the allowance was charged.
    draft = ran(capsys, "export", ledger.store.path, "--registry")[1]
    assert 'release_type_details: "3 so far' in draft


def test_a_merge_that_overdraws_an_allowance_says_so(ledger, tmp_path, capsys):
    allow(ledger)
    copy = tmp_path / "copy.ledger"
    shutil.copy(ledger.store.path, copy)
    ledger.allowance("autumn").take("here", steps=4000)
    ny.Ledger.existing(copy).allowance("autumn").take("there", steps=3000)
    status, out, _ = ran(capsys, "merge", ledger.store.path, copy)
    assert status == 1
    assert "overdrawn by 2,000 of gdp(mu=0.01), so the cap is no longer proved" in out
    assert ran(capsys, "check", ledger.store.path)[0] == 1


def test_a_conflict_is_refused_or_charged_twice(ledger, tmp_path, capsys):
    copy = tmp_path / "copy.ledger"
    shutil.copy(ledger.store.path, copy)
    other = ny.Ledger.existing(copy)
    ask(ledger, "same", ny.gdp(0.1), [1])
    ask(other, "same", ny.gdp(0.1), [2])
    status, out, err = ran(capsys, "merge", ledger.store.path, copy)
    assert (status, out) == (1, "")
    assert "--keep-both" in err
    status, out, _ = ran(capsys, "merge", ledger.store.path, copy, "--keep-both")
    assert status == 0
    assert "same (copy " in out
    assert str(ledger.spent()) == "3/25"


def test_the_delta_set_aside_is_shown(tmp_path, capsys):
    path = tmp_path / "two.ledger"
    two = ny.Ledger.open(
        path,
        cap=ny.approx_dp(2, 1e-6),
        delta_aside=5e-7,
        unit="one row",
        neighbors="add_remove",
    )
    two.reserve(
        entry="a",
        request={},
        source="here",
        curve=ny.gdp(0.1) @ ny.approx_dp(0, 1e-7),
        unit="one row",
        neighbors="add_remove",
    )
    status, out, _ = ran(capsys, "show", path)
    assert status == 0
    assert "20 %  spent of the delta 5e-7 set aside" in out
    assert (
        "all releases together, including future ones, stay within approx_dp(epsilon=2, "
        "delta=1e-06)" in out
    )
    status, out, _ = ran(capsys, "export", path, "--registry")
    assert status == 0
    assert "Approximate DP" in out
    assert "what may fail outright, stays at or below 5e-7" in out


def test_an_altered_ledger_is_refused_and_its_check_says_why(ledger, capsys):
    with closing(sqlite3.connect(ledger.store.path)) as raw:
        raw.execute("CREATE TRIGGER a AFTER INSERT ON events BEGIN SELECT 1; END")
        raw.execute("CREATE VIEW b AS SELECT 1")
    for action in ("show", "export"):
        status, out, err = ran(capsys, action, ledger.store.path)
        assert (status, out) == (1, "")
        assert "trigger 'a' is no part of a ledger" in err
    status, out, _ = ran(capsys, "check", ledger.store.path)
    assert status == 1
    assert ["'a'" in line or "'b'" in line for line in out.splitlines()] == [True, True]


def test_what_is_long_is_shown_in_short(tmp_path, capsys):
    ledger = ny.Ledger.open(
        tmp_path / "long.ledger", cap=ny.gdp(9), unit="one row", neighbors="add_remove"
    )
    parts = [ny.laplace(1 / (3 + part)) for part in range(60)]
    ask(ledger, "a", ny.compose(*parts), [7])
    status, out, _ = ran(capsys, "show", ledger.store.path)
    assert status == 0
    assert max(map(len, out.splitlines())) < 500
