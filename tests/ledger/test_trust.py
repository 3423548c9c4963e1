"""Tables that are not as a ledger made them are refused; what was written is read back."""

import sqlite3
from contextlib import closing, contextmanager
from fractions import Fraction

import pytest

from neyman.curves import gdp
from neyman.errors import LedgerCorrupt, LedgerUnavailable
from neyman.ledger import Ledger, _postgres, inspect, store_of
from neyman.ledger._postgres_tables import PostgresTables
from neyman.ledger._sqlite_tables import SQLiteTables

CHEAPER = "IF NEW.cost IS NOT NULL THEN NEW.cost := ''1/1000''; END IF; RETURN NEW;"
ANOTHER = (
    "IF NEW.kind = ''reserve'' THEN INSERT INTO events VALUES (NEW.seq + 1, md5(NEW.entry), "
    "NEW.entry, ''redraw'', NULL, ''{}'', '''', NEW.digest); END IF; RETURN NULL;"
)


def procedure(body):
    return f"CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN {body} END'"


def made(place):
    return Ledger.open(place, cap=gdp(1), unit="plane", neighbors="add_remove")


def refusals(desk, place):
    """Every way to a ledger but its check, with what each says."""
    calls = {
        "open": lambda: made(place),
        "existing": lambda: Ledger.existing(place),
        "charge": lambda: desk.reserve("new"),
        "sum": desk.ledger.spent,
        "copy": lambda: desk.ledger.copy(place),
    }
    for call in calls.values():
        with pytest.raises(LedgerCorrupt) as refusal:
            call()
        assert refusal.value.__context__ is None
        yield str(refusal.value)


@contextmanager
def connected(server, role="neyman"):
    import psycopg

    address = server.address.replace("user=neyman", f"user={role}")
    with psycopg.connect(address, autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="module")
def roles(postgres_server):
    """Three who own nothing of a ledger's: one charges, one may all but own, one is a stranger."""
    with connected(postgres_server) as admin:
        for role in ("charges", "meddles", "strange"):
            admin.execute(f"CREATE ROLE {role} LOGIN")
        admin.execute("CREATE SCHEMA own AUTHORIZATION meddles")
        admin.execute("GRANT USAGE ON SCHEMA own TO PUBLIC")
    return postgres_server


@pytest.fixture
def team(roles, database, opened, home):  # noqa: ARG001
    """A ledger with one answer, and the rights on it."""
    desk = opened()
    desk.answer("q", [7])
    schema = desk.ledger.store.schema
    with connected(roles) as admin:
        admin.execute(f"GRANT USAGE ON SCHEMA {schema} TO charges, meddles")
        admin.execute(f"GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA {schema} TO charges")
        admin.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO meddles")
        admin.execute("DROP FUNCTION IF EXISTS own.meddle CASCADE")
    return desk


def by(desk, server, role):
    schema = desk.ledger.store.schema
    url = server.url.replace("neyman@", f"{role}@")
    place = f"{url}?ledger={schema.removeprefix('neyman_')}"
    return place, type(desk)(Ledger.existing(place))


def as_role(server, role, schema, *statements):
    with connected(server, role) as connection:
        connection.execute(f"SET search_path = {schema}, own")
        for statement in statements:
            connection.execute(statement)


only_database = pytest.mark.parametrize("home", ["database"], indirect=True)
MEDDLING = {
    "rewrites the cost": (
        CHEAPER,
        "CREATE TRIGGER a BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION own.meddle()",
        "trigger 'a' is no part",
    ),
    "at the end": (
        ANOTHER,
        "CREATE CONSTRAINT TRIGGER z AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION own.meddle()",
        "trigger 'z' is no part",
    ),
    "under a name of the ledger's": (
        CHEAPER,
        "CREATE TRIGGER events_order BEFORE INSERT ON meta FOR EACH ROW "
        "EXECUTE FUNCTION own.meddle()",
        "trigger 'events_order' is no part",
    ),
    "in the place of one": (
        CHEAPER,
        "CREATE OR REPLACE TRIGGER events_order BEFORE INSERT ON events FOR EACH ROW "
        "EXECUTE FUNCTION own.meddle()",
        "trigger events_order is missing or altered",
    ),
    "puts one to sleep": (
        CHEAPER,
        "CREATE OR REPLACE TRIGGER events_change BEFORE UPDATE OR DELETE OR TRUNCATE ON events "
        "FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION append_only()",
        "trigger events_change is missing or altered",
    ),
}


@pytest.mark.shows("rewritten-ledger")
@only_database
@pytest.mark.parametrize("how", MEDDLING)
def test_a_trigger_of_who_does_not_own_the_tables_is_refused(team, roles, how):
    body, statement, finding = MEDDLING[how]
    schema = team.ledger.store.schema
    place, writer = by(team, roles, "charges")
    head = team.ledger.head()
    with connected(roles) as admin:
        admin.execute("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA own TO PUBLIC")
    made_there = procedure(body).replace("meddle()", "own.meddle()")
    as_role(roles, "meddles", schema, made_there, statement)
    for said in refusals(writer, place):
        assert finding in said
    assert any(finding in line for line in inspect(store_of(place).settled()))
    assert any(finding in line for line in writer.ledger.check())
    with connected(roles) as admin:
        ((rows,),) = admin.execute(f"SELECT count(*) FROM {schema}.events").fetchall()
        assert rows == 2
        if "no part" in finding:
            # Taken away, all is as it was.
            admin.execute("DROP FUNCTION own.meddle CASCADE")
            assert (writer.ledger.head(), writer.ledger.check()) == (head, ())
            assert writer.answer("new", [1]).values == (1,)


@only_database
@pytest.mark.parametrize(
    "statement",
    [
        "CREATE RULE a AS ON INSERT TO events DO INSTEAD NOTHING",
        'CREATE RULE "_RETURN" AS ON SELECT TO events DO INSTEAD SELECT * FROM events',
        "CREATE POLICY a ON events USING (false)",
        "ALTER TABLE events ENABLE ROW LEVEL SECURITY",
        "ALTER TABLE events DISABLE TRIGGER events_change",
        "ALTER TABLE events ADD COLUMN more text",
        "CREATE INDEX a ON events (at)",
        "CREATE TABLE own.heir () INHERITS (events)",
        "CREATE OR REPLACE FUNCTION in_order() RETURNS trigger LANGUAGE plpgsql AS ''",
        "ALTER FUNCTION in_order() RESET ALL",
        "CREATE FUNCTION length(text) RETURNS integer LANGUAGE sql AS 'SELECT 32'",
        "CREATE VIEW more AS SELECT 1",
        "DROP TRIGGER events_order ON events",
        "COMMENT ON TABLE meta IS 'neyman.ledger 99'",
        "SET session_replication_role = replica",
        "SET zero_damaged_pages = on",
        "UPDATE events SET cost = '1/1000'",
        "DELETE FROM events",
        "TRUNCATE events",
    ],
)
def test_all_else_takes_the_owner(team, roles, statement):
    """Even with every right that can be granted on the tables."""
    import psycopg

    with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.RaiseException)):
        as_role(roles, "meddles", team.ledger.store.schema, statement)
    assert by(team, roles, "charges")[1].ledger.check() == ()


OWNED = {
    "rule": (
        ["CREATE RULE a AS ON INSERT TO events DO INSTEAD NOTHING"],
        "rule 'a' is no part",
    ),
    "policy": (
        ["CREATE POLICY a ON events USING (kind <> 'reserve')"],
        "policy 'a' is no part",
    ),
    "policy at work": (
        ["CREATE POLICY a ON events USING (kind <> 'reserve')",
         "ALTER TABLE events ENABLE ROW LEVEL SECURITY"],
        "policy 'a' is no part",
    ),
    "policy that hides the opening": (
        ["CREATE POLICY a ON meta USING (false)", "ALTER TABLE meta ENABLE ROW LEVEL SECURITY"],
        "policy 'a' is no part",
    ),
    "heir": (["CREATE TABLE own.heir () INHERITS (events)"], "heir 'own.heir' is no part"),
    "view": (
        ["ALTER TABLE events RENAME TO kept",
         "CREATE VIEW events AS SELECT * FROM kept WHERE seq < 1",
         "GRANT SELECT, INSERT ON events TO charges"],
        "table events is missing or altered",
    ),
    "parts": (
        ["ALTER TABLE events RENAME TO kept",
         "CREATE TABLE events (LIKE kept) PARTITION BY RANGE (seq)",
         "GRANT SELECT, INSERT ON events TO charges"],
        "table events is missing or altered",
    ),
    "function": (
        ["CREATE FUNCTION length(text) RETURNS integer LANGUAGE sql AS 'SELECT 32'"],
        "function 'length' is no part",
    ),
    "operator": (
        ["CREATE OPERATOR = (LEFTARG = text, RIGHTARG = text, FUNCTION = starts_with)"],
        "operator '=' is no part",
    ),
    "path": (["ALTER FUNCTION in_order() SET search_path = own"], "function in_order is missing"),
    "table": (["CREATE TABLE more (a integer)"], "table 'more' is no part"),
}  # fmt: skip


@only_database
@pytest.mark.parametrize("what", OWNED)
def test_what_the_owner_added_or_altered_is_refused(team, roles, what):
    statements, finding = OWNED[what]
    place, writer = by(team, roles, "charges")
    with connected(roles) as admin:
        admin.execute("DROP TABLE IF EXISTS own.heir")
    as_role(roles, "neyman", team.ledger.store.schema, *statements)
    for said in refusals(writer, place):
        assert "not as they were made" in said
        assert "take away what was added" in said
    found = inspect(store_of(place).settled())
    assert any(finding in line for line in found), found
    # The owner sees past a policy, and is refused as well.
    with pytest.raises(LedgerCorrupt, match="not as they were made"):
        team.reserve("new")
    with connected(roles) as admin:
        admin.execute("DROP TABLE IF EXISTS own.heir")


@only_database
@pytest.mark.parametrize(
    ("body", "statement", "said"),
    [
        (
            CHEAPER,
            "CREATE TRIGGER a BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION own.meddle()",
            r"row 3 was written with cost 1/100, and now has cost 1/1000: something",
        ),
        (
            "NEW.payload := ''{}''; RETURN NEW;",
            "CREATE TRIGGER a BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION own.meddle()",
            "row 3 of the ledger's table 'events' is not as it was written",
        ),
        (
            "RETURN NULL;",
            "CREATE TRIGGER a BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION own.meddle()",
            "the ledger's table 'events' must have 1 new rows; it has 0",
        ),
        (
            ANOTHER,
            "CREATE TRIGGER a AFTER INSERT ON events FOR EACH ROW EXECUTE FUNCTION own.meddle()",
            "the ledger's table 'events' must have 1 new rows; it has 2",
        ),
        (
            ANOTHER,
            "CREATE CONSTRAINT TRIGGER a AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED "
            "FOR EACH ROW EXECUTE FUNCTION own.meddle()",
            "the ledger's table 'events' must have 1 new rows; it has 2",
        ),
        (
            "RETURN NEW;",
            "CREATE TRIGGER a BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION own.meddle()",
            "trigger 'a' is no part",
        ),
    ],
)
def test_a_trigger_added_after_the_look_is_found_before_the_end(
    team, roles, monkeypatch, body, statement, said
):
    """Between the look at the catalog and the first row that is written."""
    schema = team.ledger.store.schema
    _, writer = by(team, roles, "charges")
    insert = PostgresTables._insert

    def meddled(tables, table, row):
        as_role(
            roles, "meddles", schema,
            procedure(body).replace("meddle()", "own.meddle()"), statement,
        )  # fmt: skip
        insert(tables, table, row)

    with monkeypatch.context() as patch:
        patch.setattr(PostgresTables, "_insert", meddled)
        with pytest.raises(LedgerCorrupt, match=said) as refusal:
            writer.reserve("new", gdp(0.1))
    assert "Nothing was drawn" in str(refusal.value)
    with connected(roles) as admin:
        admin.execute("DROP FUNCTION own.meddle CASCADE")
    assert writer.ledger.check() == ()
    assert [entry.id for entry in writer.ledger.entries()] == ["q"]


@only_database
def test_nobody_adds_a_trigger_while_a_charge_is_written(team, roles, monkeypatch):
    """From the first row on the tables are locked against it, so the last look is the last."""
    import psycopg

    schema = team.ledger.store.schema
    _, writer = by(team, roles, "charges")
    insert, tried = PostgresTables._insert, []

    def meddled(tables, table, row):
        insert(tables, table, row)
        with pytest.raises(psycopg.errors.LockNotAvailable) as refusal:
            as_role(
                roles, "meddles", schema, "SET lock_timeout = 100",
                "CREATE TRIGGER a BEFORE INSERT ON events FOR EACH ROW "
                "EXECUTE FUNCTION append_only()",
            )  # fmt: skip
        tried.append(refusal)

    monkeypatch.setattr(PostgresTables, "_insert", meddled)
    assert writer.answer("new", [1]).values == (1,)
    assert len(tried) == 2


@only_database
def test_tables_of_the_session_stand_for_none_of_the_ledgers(team, roles, monkeypatch):
    """A pool may hand on a connection with tables of its own, named alike."""
    schema = team.ledger.store.schema
    _, writer = by(team, roles, "charges")
    connect = _postgres.PostgresStore._open

    def pooled(store, consequence):
        connection = connect(store, consequence)
        for table in ("meta", "events"):
            connection.execute(f"CREATE TEMP TABLE {table} (a integer)")
        connection.execute("COMMENT ON TABLE pg_temp.meta IS 'neyman.ledger 3'")
        return connection

    monkeypatch.setattr(_postgres.PostgresStore, "_open", pooled)
    assert writer.ledger.spent() == Fraction(1, 100)
    assert writer.answer("r", [1]).values == (1,)
    with connected(roles) as admin:
        admin.execute(f"REVOKE USAGE ON SCHEMA {schema} FROM charges")
    with pytest.raises(LedgerUnavailable, match="closed to this user"):
        writer.ledger.spent()
    with connected(roles) as admin:
        ((rows,),) = admin.execute(f"SELECT count(*) FROM {schema}.events").fetchall()
    assert rows == 4


@only_database
def test_no_ledger_is_made_for_a_session_alone(team, roles):
    """Who may not use the schema would make the tables in the session's own."""
    schema = f"{team.ledger.store.schema}_closed"
    with connected(roles) as admin:
        admin.execute(f"CREATE SCHEMA {schema}")
    url = roles.url.replace("neyman@", "strange@")
    with pytest.raises(LedgerUnavailable, match=r"closed to this user.*USAGE and CREATE"):
        made(f"{url}?ledger={schema.removeprefix('neyman_')}")


SETTINGS = {
    "default_transaction_isolation": "serializable",
    "default_transaction_read_only": "on",
    "default_transaction_deferrable": "on",
    "quote_all_identifiers": "on",
    "standard_conforming_strings": "off",
    "bytea_output": "escape",
    "search_path": "own",
    "row_security": "on",
    "statement_timeout": "'3ms'",
    "synchronous_commit": "off",
    "client_encoding": "LATIN1",
    "DateStyle": "German",
}


@only_database
def test_what_is_usual_for_a_role_changes_nothing(team, roles):
    place, writer = by(team, roles, "charges")
    with connected(roles) as admin:
        for name, value in SETTINGS.items():
            admin.execute(f"ALTER ROLE charges SET {name} = {value}")
        try:
            assert made(place) == writer.ledger
            assert writer.answer("größe", [1]).values == (1,)
            assert (writer.ledger.spent(), writer.ledger.check()) == (Fraction(2, 100), ())
        finally:
            admin.execute("ALTER ROLE charges RESET ALL")


@only_database
@pytest.mark.parametrize(
    "setting", ["session_replication_role = replica", "zero_damaged_pages = on"]
)
def test_a_session_that_keeps_no_promises_is_refused(team, roles, setting):
    with connected(roles) as admin:
        admin.execute(f"ALTER ROLE neyman SET {setting}")
        try:
            with pytest.raises(LedgerUnavailable, match=setting.replace(" = ", "=")) as refusal:
                team.reserve("new")
        finally:
            admin.execute("ALTER ROLE neyman RESET ALL")
    assert "Nothing was written" in str(refusal.value)
    assert team.answer("new", [1]).values == (1,)


@pytest.mark.parametrize("cost", ["-1/100", "1/100, -1/100"])
def test_a_charge_below_nothing_makes_no_room(opened, home, cost):
    desk = opened()
    desk.answer("q", [7])
    home.tamper(desk.ledger, f"UPDATE events SET cost = '{cost}' WHERE kind = 'reserve'")
    for call in (lambda: desk.reserve("new"), desk.ledger.spent):
        with pytest.raises(LedgerCorrupt, match="less than nothing"):
            call()
    assert any("less than nothing" in line for line in desk.ledger.check())


FILE = {
    "trigger": (
        "CREATE TRIGGER a AFTER INSERT ON events BEGIN SELECT 1; END", "trigger 'a' is no part",
    ),
    "trigger named as a table": (
        "CREATE TRIGGER events AFTER INSERT ON meta BEGIN SELECT 1; END",
        "trigger 'events' is no part",
    ),
    "trigger named as SQLite's own": (
        "PRAGMA writable_schema = ON; INSERT INTO sqlite_master VALUES ('trigger', 'sqlite_a', "
        "'events', 0, 'CREATE TRIGGER sqlite_a AFTER INSERT ON events BEGIN SELECT 1; END')",
        "trigger 'sqlite_a' is no part",
    ),
    "view": ("CREATE VIEW a AS SELECT 1", "view 'a' is no part"),
    "view in the place": (
        "ALTER TABLE events RENAME TO kept; CREATE VIEW events AS SELECT * FROM kept WHERE seq < 1",
        "table events is missing",
    ),
    "table": ("CREATE TABLE a (b)", "table 'a' is no part"),
    "index": ("CREATE UNIQUE INDEX a ON events (at)", "index 'a' is no part"),
    "missing trigger": ("DROP TRIGGER events_order", "trigger events_order is missing"),
}  # fmt: skip


@pytest.mark.shows("rewritten-ledger")
@pytest.mark.parametrize("home", ["files"], indirect=True)
@pytest.mark.parametrize("what", FILE)
def test_a_file_with_more_or_less_than_a_ledger_is_refused(opened, what):
    statements, finding = FILE[what]
    desk = opened()
    desk.answer("q", [7])
    place = desk.ledger.store.path
    with closing(sqlite3.connect(place, isolation_level=None)) as raw:
        for statement in statements.split("; ") if "ALTER" in statements else [statements]:
            raw.executescript(statement)
        before = raw.execute("SELECT count(*) FROM sqlite_master").fetchone()
    for said in refusals(desk, place):
        assert "not as they were made" in said
    found = inspect(desk.ledger.store)
    assert any(finding in line for line in found), found
    with closing(sqlite3.connect(place)) as raw:
        assert raw.execute("SELECT count(*) FROM sqlite_master").fetchone() == before


@pytest.mark.parametrize("home", ["files"], indirect=True)
def test_what_sqlite_keeps_for_itself_is_no_addition(opened):
    desk = opened()
    desk.answer("q", [7])
    with closing(sqlite3.connect(desk.ledger.store.path)) as raw:
        raw.execute("ANALYZE")
        raw.execute("VACUUM")
    assert desk.answer("r", [1]).values == (1,)
    assert desk.ledger.check() == ()


@pytest.mark.parametrize("home", ["files"], indirect=True)
def test_a_row_that_a_file_rewrites_is_not_kept(opened, monkeypatch):
    desk = opened()
    desk.answer("q", [7])
    with closing(sqlite3.connect(desk.ledger.store.path, isolation_level=None)) as raw:
        raw.execute("DROP TRIGGER events_update")
        raw.execute(
            "CREATE TRIGGER a AFTER INSERT ON events BEGIN "
            "UPDATE events SET cost = '1/1000' WHERE seq = NEW.seq AND kind = 'reserve'; END"
        )
    with monkeypatch.context() as patch:
        patch.setattr(SQLiteTables, "altered", lambda _: iter(()))
        with pytest.raises(LedgerCorrupt, match=r"cost 1/100, .* cost 1/1000.*Nothing was drawn"):
            desk.reserve("new", gdp(0.1))
        assert desk.ledger.spent() == Fraction(1, 100)
