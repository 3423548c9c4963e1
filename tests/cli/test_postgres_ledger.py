"""The command line and the spec with a ledger on PostgreSQL; no password is ever printed."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neyman as ny
from neyman.cli import main
from neyman.publish import bill, plan, publish, read_spec

SPEC = """
[data]
path = "t.parquet"
[unit]
rows = true
[budget]
ledger = "{ledger}"
mu = 1
[[query]]
entry = "a"
statistic = "count"
mu = 0.1
"""


@pytest.fixture
def url(postgres_server, request):
    """A ledger of this test's own, with a password in its URL that nobody asks for."""
    import psycopg

    name = f"c{abs(hash(request.node.nodeid))}"
    with psycopg.connect(postgres_server.address, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS neyman_{name} CASCADE")
    return f"{postgres_server.url}?ledger={name}".replace("neyman@", "neyman:PASSWORD@")


def ran(capsys, *words):
    status = main(list(map(str, words)))
    captured = capsys.readouterr()
    assert "PASSWORD" not in captured.out + captured.err
    return status, captured.out, captured.err


def charged(url):
    ledger = ny.Ledger.open(url, cap=ny.gdp(1), unit="one row", neighbors="add_remove")
    reservation = ledger.reserve(
        entry="a",
        request={},
        source="here",
        curve=ny.gdp(0.5),
        unit="one row",
        neighbors="add_remove",
    )
    ledger.commit(reservation, [7])
    return ledger


def test_every_command_of_a_ledger_takes_a_url(url, capsys, tmp_path):
    ledger = charged(url)
    shown = url.replace(":PASSWORD", "")
    status, out, _ = ran(capsys, "ledger", "show", url)
    assert (status, out.splitlines()[0]) == (0, shown)
    assert out.endswith(f"head {ledger.head()}\n")
    assert json.loads(ran(capsys, "ledger", "show", url, "--json")[1])["place"] == shown
    status, out, _ = ran(capsys, "ledger", "check", url, "--head", ledger.head())
    assert (status, out) == (0, f"{shown}: sound\n")
    assert json.loads(ran(capsys, "ledger", "export", url)[1])["chain"]["head"] == ledger.head()
    assert ran(capsys, "ledger", "export", url, "--registry")[0] == 0
    file = tmp_path / "file.ledger"
    status, out, _ = ran(capsys, "ledger", "copy", url, file)
    assert (status, out.splitlines()[:2]) == (
        0,
        [f"{shown} copied to {file}", f"head {ledger.head()}"],
    )
    status, out, _ = ran(capsys, "ledger", "merge", file, url)
    assert (status, out.splitlines()[0]) == (0, f"0 entries of {shown} added to {file}")
    asked = ("--language", "en", "--prior", "0.5")
    assert "0.5-GDP" in ran(capsys, "explain", url, *asked)[1]


def test_no_refusal_prints_a_password(url, capsys, tmp_path):
    for words in (
        ("show", url),
        ("check", url.replace("?ledger=", "?ledger=NO")),
        ("check", url.replace("@", "@x@")),
        ("copy", url, tmp_path / "copy"),
    ):
        assert ran(capsys, "ledger", *words)[0] == 1
    assert ran(capsys, "ledger", "check", url, url)[0] == 2


def test_init_writes_the_url_as_it_is(tmp_path, capsys):
    pq.write_table(pa.table({"x": [1, 2, 3]}), tmp_path / "t.parquet")
    spec, url = tmp_path / "s.toml", "postgresql://me@host/db?ledger=visits"
    words = ("init", tmp_path / "t.parquet", "--spec", spec, "--ledger", url)
    assert ran(capsys, *words)[0] == 0
    assert f'ledger = "{url}"' in spec.read_text(encoding="utf-8")


def test_a_spec_keeps_its_budget_in_a_database(url, tmp_path, capsys):
    pq.write_table(pa.table({"x": [1, 2, 3]}), tmp_path / "t.parquet")
    spec = tmp_path / "spec.toml"
    spec.write_text(SPEC.format(ledger=url), encoding="utf-8")
    prepared = plan(read_spec(spec), tmp_path)
    assert bill(prepared).remaining.cost == 1
    assert not prepared.ledger.exists()
    first = publish(prepared)
    assert "PASSWORD" not in repr(first) + repr(prepared) + str(first.ledger)
    assert prepared.ledger.exists()
    assert bill(prepared).due.cost == 0
    report = tmp_path / "report.html"
    status, out, _ = ran(capsys, "release", spec, "--json", "--report", report)
    assert (status, json.loads(out)[0]["columns"]) == (0, first.releases[0].to_json()["columns"])
    assert "PASSWORD" not in report.read_text(encoding="utf-8")
    assert url.partition("?")[2] in report.read_text(encoding="utf-8")
    spec.write_text(
        SPEC.format(ledger=url).replace("mu = 1\n", "mu = 1\nepsilon = 1\n"), encoding="utf-8"
    )
    assert ran(capsys, "release", spec)[0] == 1
