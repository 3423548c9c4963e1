"""PostgreSQL: what a URL may say, what the server must promise, who may do what, what is found."""

import pickle
import threading
import time
from contextlib import contextmanager
from fractions import Fraction

import pytest

from neyman.curves import gdp
from neyman.errors import (
    InvalidParameter,
    LedgerCorrupt,
    LedgerMismatch,
    LedgerUnavailable,
    MissingExtra,
)
from neyman.ledger import Ledger, _postgres, store_of
from neyman.ledger._postgres_tables import PostgresTables


@pytest.fixture
def home(database):
    """The server alone: what is tested here is its."""
    return database


def made(place):
    return Ledger.open(place, cap=gdp(1), unit="plane", neighbors="add_remove")


@contextmanager
def admin(server, database="postgres"):
    import psycopg

    address = server.address.replace("dbname=postgres", f"dbname={database}")
    with psycopg.connect(address, autocommit=True) as connection:
        yield connection


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me@host/db", "postgresql://me@host/db"),
        ("postgres://me:PASSWORD@host:5433/db", "postgresql://me@host:5433/db"),
        (
            "postgresql://me:PASS%40WORD%2F@h/db?ledger=flights",
            "postgresql://me@h/db?ledger=flights",
        ),
        ("postgresql://me@h/db?ledger=ledger", "postgresql://me@h/db"),
        ("postgresql://h/db?password=PASSWORD&user=you", "postgresql://you@h/db"),
        ("postgresql://h/db?sslpassword=PASSWORD&sslmode=require", "postgresql://h/db"),
        ("postgresql://me:PASS:WORD@[::1]:1,b:2/d%20b", "postgresql://me@[::1]:1,b:2/d%20b"),
        ("postgresql://%2Frun%2Fpg/db", "postgresql://%2Frun%2Fpg/db"),
        ("postgresql:///db?host=/run/pg&port=5", "postgresql://%2Frun%2Fpg:5/db"),
        ("postgresql:///?service=team", "postgresql:///?service=team"),
        ("postgresql://", "postgresql:///"),
    ],
)
def test_a_url_is_shown_without_its_password(url, shown):
    store = store_of(url)
    assert (str(store), store.name, store.files) == (shown, shown, frozenset())
    assert "PASS" not in repr(store)
    assert store_of(store) is store
    assert store_of(shown) == store == pickle.loads(pickle.dumps(store))


@pytest.mark.parametrize(
    "url",
    [
        "postgresql:me:PASSWORD",
        "PostgreSQL://me:PASSWORD@host/db",
        " postgresql://me:PASSWORD@host/db",
        "postgresql+psycopg://me:PASSWORD@host/db",
        "jdbc:postgresql://me:PASSWORD@host/db",
        "postgresql://me:PASS@WORD@host/db",
        "postgresql://me:PASS/WORD@host/db",
        "postgresql://me:PASS#WORD@host/db",
        "postgresql://me:PASSWORD/db",
        "postgresql://host/db?PASSWORD",
        "postgresql://host/db?password=PASSWORD&password=PASSWORD",
        "postgresql://host/db/PASSWORD@",
        "postgresql://me:PASSWORD@host:x/db",
        "postgresql://me:PASSWORD%00@host/db",
    ],
)
def test_what_is_no_url_is_refused_and_not_shown(url):
    with pytest.raises(InvalidParameter, match=r"postgresql://USER@HOST/DATABASE") as refusal:
        made(url)
    assert "PASS" not in str(refusal.value)
    assert refusal.value.__context__ is None


@pytest.mark.parametrize("name", ["", "Flights", "1st", "a-b", "a" * 42, "x;DROP", "größe"])
def test_a_ledgers_name_is_a_plain_one(name):
    with pytest.raises(InvalidParameter, match="lower-case"):
        made(f"postgresql://me:PASSWORD@host/db?ledger={name}")


@pytest.mark.parametrize("parameter", ["shoe_size", "autocommit", "row_factory"])
def test_what_the_client_does_not_know_is_refused(postgres_server, parameter):
    with pytest.raises(InvalidParameter, match="does not know") as refusal:
        made(f"{postgres_server.url}?{parameter}=PASSWORD")
    assert "PASSWORD" not in str(refusal.value)
    assert refusal.value.__context__ is None


def test_a_missing_client_is_named(monkeypatch):
    monkeypatch.setattr(_postgres, "find_spec", lambda _: None)
    for call in (made, lambda url: store_of(url).exists()):
        with pytest.raises(MissingExtra, match=r"pip install 'neyman\[postgres\]'"):
            call("postgresql://me@host/db")


@pytest.mark.parametrize("host", ["%2Fno%2Fwhere", "127.0.0.1:1", "xn--%FF"])
def test_a_server_out_of_reach_is_named_without_its_words(host):
    with pytest.raises(LedgerUnavailable, match="cannot be reached") as refusal:
        made(f"postgresql://me:PASSWORD@{host}/db")
    assert "PASSWORD" not in str(refusal.value)
    assert refusal.value.__context__ is None


def test_ledgers_of_one_database_are_apart(opened, home, tmp_path):
    here, there = opened(), opened(path=tmp_path / "other")
    here.answer("q", [1])
    assert there.ledger.entries() == ()
    assert here.ledger.store != there.ledger.store
    assert here.ledger.store.exists()
    nowhere = store_of(home.place(tmp_path / "none"))
    assert not nowhere.exists()
    with pytest.raises(LedgerUnavailable, match=r"there is no ledger at .*Ledger.open"):
        Ledger.existing(nowhere)


def test_a_dropped_ledger_is_not_made_again_and_another_is_noticed(opened, home):
    desk = opened()
    home.ask(desk.ledger, f"DROP SCHEMA {desk.ledger.store.schema} CASCADE")
    for call in (lambda: desk.reserve("q"), lambda: desk.ledger.turn("q").__enter__()):
        with pytest.raises(LedgerUnavailable, match="there is no ledger at"):
            call()
    assert not desk.ledger.store.exists()
    opened()
    with pytest.raises(LedgerMismatch, match="was replaced"):
        desk.reserve("q")


@pytest.mark.parametrize("schema", ["neyman_theirs", "neyman_empty"])
def test_what_is_no_ledger_is_left_alone(postgres_server, schema):
    place = f"{postgres_server.url}?ledger={schema.removeprefix('neyman_')}"
    with admin(postgres_server) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
        connection.execute(f"CREATE SCHEMA {schema}")
        if schema == "neyman_theirs":
            connection.execute(f"CREATE TABLE {schema}.meta (a integer)")
            for attempt in (made, Ledger.existing):
                with pytest.raises(LedgerCorrupt, match="no ledger's; write"):
                    attempt(place)
        else:
            # One that an administrator made for it.
            assert made(place).check() == ()


def test_a_later_format_is_refused(opened, home):
    desk = opened()
    home.ask(desk.ledger, "COMMENT ON TABLE meta IS 'neyman.ledger 99'")
    with pytest.raises(LedgerUnavailable, match=r"has format 99.*the release of neyman"):
        desk.ledger.spent()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET cost = '1/1000' WHERE kind = 'reserve'",
        "UPDATE meta SET capacity = '100'",
        "DELETE FROM events",
        "DELETE FROM meta",
        "TRUNCATE events",
        "TRUNCATE meta",
        "INSERT INTO events SELECT * FROM events ON CONFLICT (seq) DO UPDATE SET cost = '1/1000'",
        "INSERT INTO meta SELECT 2, ledger, cap, account, capacity, unit, neighbors, created, "
        "secret FROM meta",
        f"INSERT INTO events VALUES (9, 'e', 'new', 'reserve', '1', '{{}}', '', '{'d' * 64}')",
        f"INSERT INTO events VALUES (9, '{'e' * 32}', 'new', 'commit', "
        f"NULL, '{{}}', '', '{'d' * 64}')",
        f"INSERT INTO events VALUES (9, '{'e' * 32}', 'q', 'reserve', "
        f"'1', '{{}}', '', '{'d' * 64}')",
    ],
)
def test_the_tables_are_append_only(opened, home, statement):
    import psycopg

    desk = opened()
    desk.answer("q")
    with pytest.raises((psycopg.errors.RaiseException, psycopg.errors.IntegrityError)):
        home.ask(desk.ledger, statement)
    assert desk.ledger.spent() == Fraction(1, 100)
    assert desk.ledger.check() == ()


NOTHING = "CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'"


@pytest.mark.parametrize(
    ("statements", "finding"),
    [
        (["DROP TRIGGER events_change ON events"], "events_change is missing or altered"),
        (["ALTER TABLE meta DISABLE TRIGGER meta_change"], "meta_change is missing or altered"),
        (["DROP INDEX events_once"], "events_once is missing or altered"),
        (["ALTER TABLE events DROP CONSTRAINT events_check"], "events_check is missing"),
        (["ALTER TABLE events ALTER entry DROP NOT NULL"], "events is missing or altered"),
        (["ALTER TABLE events SET UNLOGGED"], "events is missing or altered"),
        (["ALTER TABLE events ENABLE ROW LEVEL SECURITY"], "events is missing or altered"),
        (
            [NOTHING.replace("FUNCTION nothing", "OR REPLACE FUNCTION append_only")],
            "append_only is missing or altered",
        ),
        (["CREATE RULE eaten AS ON INSERT TO events DO INSTEAD NOTHING"], "'eaten' is no part"),
        (
            [NOTHING, "CREATE TRIGGER a BEFORE INSERT ON events FOR EACH ROW "
             "EXECUTE FUNCTION nothing()"],
            "'a' is no part",
        ),
    ],
)  # fmt: skip
def test_check_finds_what_no_longer_guards(opened, home, statements, finding):
    desk = opened()
    desk.answer("q")
    assert desk.ledger.check() == ()
    for statement in statements:
        home.ask(desk.ledger, statement)
    found = desk.ledger.check()
    assert any(finding in line for line in found), found


@pytest.mark.parametrize(
    ("statement", "call", "said"),
    [
        (
            "UPDATE events SET payload = '{' WHERE cost IS NOT NULL",
            lambda d: d.ledger.entries(),
            "",
        ),
        ("UPDATE events SET payload = '[' WHERE kind = 'commit'", lambda d: d.reserve("q"), ""),
        ("UPDATE events SET cost = 'x' WHERE kind = 'reserve'", lambda d: d.reserve("new"), ""),
        ("UPDATE meta SET cap = 'x'", lambda d: Ledger.existing(d.ledger.store), ""),
        ("DELETE FROM meta", lambda d: d.ledger.spent(), "fixed at its opening"),
        ("DROP TABLE meta", lambda d: d.ledger.spent(), "opening row"),
        ("DROP TABLE events", lambda d: d.ledger.spent(), "table events is missing"),
        (
            "ALTER TABLE events DROP COLUMN at",
            lambda d: d.reserve("new"),
            "table events is missing or altered",
        ),
    ],
)
def test_a_garbled_ledger_is_said_to_be_one(opened, home, statement, call, said):
    desk = opened()
    desk.answer("q")
    home.tamper(desk.ledger, statement)
    with pytest.raises(LedgerCorrupt, match=f"{said}.*(backup|check)") as refusal:
        call(desk)
    assert refusal.value.__context__ is None
    if "events" in statement:
        assert desk.ledger.check() != ()


def test_the_servers_words_are_withheld(opened, home, monkeypatch):
    desk = opened()
    # As if it were added just after the tables were looked at.
    monkeypatch.setattr(PostgresTables, "altered", lambda _: iter(()))
    home.ask(
        desk.ledger,
        "CREATE FUNCTION tells() RETURNS trigger LANGUAGE plpgsql AS "
        "'BEGIN RAISE EXCEPTION ''SECRET %'', NEW.payload; END'",
    )
    home.ask(
        desk.ledger,
        "CREATE TRIGGER tells BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION tells()",
    )
    with pytest.raises(LedgerCorrupt, match="SQLSTATE P0001") as refusal:
        desk.reserve("q", request={"where": "SECRET"})
    assert "SECRET" not in str(refusal.value)
    assert refusal.value.__context__ is refusal.value.__cause__ is None


def test_a_held_lock_is_waited_for_and_then_named(opened, monkeypatch):
    desk = opened()
    monkeypatch.setattr(_postgres, "_PATIENCE_S", 0.2)
    inside, go = threading.Event(), threading.Event()

    def hold(tables):  # noqa: ARG001
        inside.set()
        assert go.wait(60)

    holder = threading.Thread(target=desk.ledger.store.write, args=(hold,), kwargs={
        "consequence": ""})  # fmt: skip
    holder.start()
    assert inside.wait(60)
    with pytest.raises(LedgerUnavailable, match="locked by others") as refusal:
        desk.reserve("q")
    assert refusal.value.__context__ is None
    # Readers need not wait for a writer.
    assert desk.ledger.spent() == 0
    go.set()
    holder.join()
    assert desk.answer("q", [1]).values == (1,)


def test_a_commit_is_durable_whatever_is_usual(opened, postgres_server):
    desk = opened()
    with admin(postgres_server) as connection:
        for usual, kept in (("off", "on"), ("local", "on"), ("remote_apply", "remote_apply")):
            connection.execute(f"ALTER ROLE neyman SET synchronous_commit = {usual}")
            ((here,),) = desk.ledger.store.write(
                lambda tables: tuple(tables.select("SELECT current_setting('synchronous_commit')")),
                consequence="",
            )
            assert here == kept
        connection.execute("ALTER ROLE neyman RESET synchronous_commit")


def test_a_server_that_does_not_flush_is_refused(start_postgres):
    server = start_postgres()
    ledger = made(server.url)
    server.stop(mode="fast")
    server.start("fsync=off")
    with pytest.raises(LedgerUnavailable, match="fsync=off") as refusal:
        ledger.reserve(
            entry="q",
            request={},
            source="",
            curve=gdp(0.1),
            unit="plane",
            neighbors="add_remove",
        )
    assert "Nothing was written" in str(refusal.value)
    assert ledger.check() == ()
    server.stop(mode="fast")
    with pytest.raises(LedgerUnavailable, match="cannot be reached"):
        ledger.spent()
    server.start("default_transaction_read_only=on")
    assert ledger.spent() == 0


def test_another_encoding_is_refused(postgres_server):
    with admin(postgres_server) as connection:
        connection.execute("DROP DATABASE IF EXISTS old")
        connection.execute("CREATE DATABASE old ENCODING 'LATIN1' TEMPLATE template0")
    with pytest.raises(LedgerUnavailable, match="LATIN1"):
        made(postgres_server.url.replace("/postgres", "/old"))


@pytest.mark.shows("team")
def test_a_team_needs_few_rights(opened, postgres_server):
    """Who may SELECT may look, who may INSERT too may charge; nobody need own the tables."""
    desk = opened()
    schema = desk.ledger.store.schema
    with admin(postgres_server) as connection:
        for role, rights in (
            ("stranger", None),
            ("reader", "SELECT"),
            ("writer", "SELECT, INSERT"),
        ):
            connection.execute(f"CREATE ROLE {role} LOGIN")
            if rights is not None:
                connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO {role}")
                connection.execute(f"GRANT {rights} ON ALL TABLES IN SCHEMA {schema} TO {role}")

    def by(role):
        url = postgres_server.url.replace("neyman@", f"{role}@")
        return type(desk)(Ledger.existing(f"{url}?ledger={schema.removeprefix('neyman_')}"))

    with pytest.raises(LedgerUnavailable, match="closed to this user"):
        by("stranger")
    writer = by("writer")
    with writer.ledger.turn("q"):
        assert writer.answer("q", [7]).values == (7,)
    reader = by("reader")
    assert (reader.ledger.spent(), reader.ledger.check()) == (Fraction(1, 100), ())
    assert reader.ledger.head() == writer.ledger.head() == desk.ledger.head()
    with pytest.raises(LedgerUnavailable, match=r"USAGE.*SELECT.*INSERT") as refusal:
        reader.reserve("r")
    assert refusal.value.__context__ is None
    with pytest.raises(LedgerUnavailable, match="may not do that"):
        made(postgres_server.url.replace("neyman@", "reader@") + "?ledger=new")


def test_a_turn_whose_connection_is_cut_costs_nothing(opened, postgres_server):
    desk = opened()
    with desk.ledger.turn("q"):
        reservation = desk.reserve("q")
        with admin(postgres_server) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name = 'neyman ledger'"
            )
        assert desk.ledger.commit(reservation, [5]).values == (5,)
    assert desk.reserve("q").values == (5,)


def test_a_turn_holds_back_no_cleaning(opened, postgres_server):
    """A turn is an open transaction, for hours perhaps; it must not see old rows."""
    desk = opened()
    with desk.ledger.turn("q"), admin(postgres_server) as connection:
        held = connection.execute(
            "SELECT backend_xmin, backend_xid FROM pg_stat_activity "
            "WHERE application_name = 'neyman ledger'"
        ).fetchall()
    assert held == [(None, None)]


def test_a_ledger_moves_from_a_file_to_a_database_and_back(opened, files, home, tmp_path):
    desk = type(opened())(made(files.place(tmp_path / "file")))
    desk.answer("a", [1])
    desk.reserve("größe")
    head = desk.ledger.head()
    moved = desk.ledger.copy(home.place(tmp_path / "moved"))
    assert (moved.head(), moved.check(head), moved.spent()) == (head, (), Fraction(2, 100))
    assert moved.export() == desk.ledger.export()
    there = type(desk)(moved)
    # The secret came along, so that the dataset is known again.
    assert there.reserve("a").values == (1,)
    there.answer("b", [2])
    desk.answer("c", [3])
    assert desk.ledger.merge(moved, keep_both=False) == ("b",)
    assert moved.merge(desk.ledger, keep_both=False) == ("c",)
    assert moved.spent() == desk.ledger.spent() == Fraction(4, 100)
    back = moved.copy(tmp_path / "back")
    assert (back.head(), back.check(), back.store.path.name) == (moved.head(), (), "back")
    for full in (tmp_path / "back", home.place(tmp_path / "moved")):
        with pytest.raises(LedgerMismatch, match=r"is a ledger at .* already"):
            desk.ledger.copy(full)


def test_a_broken_chain_is_not_copied(opened, home, tmp_path):
    desk = opened()
    desk.answer("a")
    home.tamper(desk.ledger, "UPDATE events SET cost = '1/1000' WHERE kind = 'reserve'")
    with pytest.raises(LedgerCorrupt, match="the chain breaks"):
        desk.ledger.copy(tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_a_connection_lost_at_the_last_step_says_so(opened, monkeypatch):
    """The server may have written all the same: the answer that follows is the one stored."""
    import psycopg

    desk = opened()
    reservation = desk.reserve("q")
    execute = psycopg.Connection.execute

    def loses(self, query, *given, **named):
        result = execute(self, query, *given, **named)
        if query == "COMMIT":
            raise psycopg.OperationalError("SECRET")
        return result

    with monkeypatch.context() as patch:
        patch.setattr(psycopg.Connection, "execute", loses)
        with pytest.raises(LedgerUnavailable, match="may have been written after all") as refusal:
            desk.ledger.commit(reservation, [5])
    assert refusal.value.__context__ is None
    assert desk.reserve("q").values == (5,)


def test_a_writer_that_stands_still_is_let_go(opened, monkeypatch):
    desk = opened()
    short = [line.replace("'5min'", "200") for line in _postgres._SETTINGS]
    assert short != list(_postgres._SETTINGS)
    monkeypatch.setattr(_postgres, "_SETTINGS", short)

    def stands_still(tables):
        time.sleep(1)
        return tuple(tables.select("SELECT 1"))

    with pytest.raises(LedgerUnavailable, match="could not be read or written"):
        desk.ledger.store.write(stands_still, consequence="")
    assert desk.answer("q", [1]).values == (1,)
