"""A ledger's tables in a schema of a PostgreSQL database."""
# pyright: basic, reportMissingImports=false

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

from neyman.errors import LedgerCorrupt
from neyman.ledger._schema import VERSION, relations
from neyman.ledger._store import Table, Tables

__all__ = ["MARK", "PostgresTables"]

MARK: Final = "neyman.ledger "

_REFUSE: Final = " BEGIN RAISE EXCEPTION 'a ledger is append-only'; END "
_ORDER: Final = (
    " BEGIN IF NEW.kind <> 'reserve' AND NOT EXISTS (SELECT 1 FROM events WHERE entry = NEW.entry "
    "AND kind = 'reserve') THEN RAISE EXCEPTION 'an entry begins with its reserve'; END IF; "
    "RETURN NEW; END "
)


def _function(name: str, body: str) -> str:
    # With the path of this schema, whatever path somebody has who writes to the tables.
    return (
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT "
        f"AS $${body}$$"
    )


def _append_only(table: str) -> str:
    return (
        f"CREATE TRIGGER {table}_change BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
        "FOR EACH STATEMENT EXECUTE FUNCTION append_only()"
    )


_OBJECTS: Final = (
    *relations(number="BIGINT PRIMARY KEY", blob="BYTEA").values(),
    _function("append_only", _REFUSE),
    _function("in_order", _ORDER),
    _append_only("meta"),
    _append_only("events"),
    (
        "CREATE TRIGGER events_order BEFORE INSERT ON events "
        "FOR EACH ROW EXECUTE FUNCTION in_order()"
    ),
    f"COMMENT ON TABLE meta IS '{MARK}{VERSION}'",
)

# What the catalog says of these objects, in words that are the same in every release of the server.
_CATALOG: Final = """
WITH here AS (SELECT * FROM pg_class WHERE relnamespace = current_schema()::regnamespace)
SELECT relname::text, concat_ws(' ', relkind, relpersistence, relrowsecurity, (
    SELECT string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod), attnotnull), ', '
                      ORDER BY attnum)
    FROM pg_attribute WHERE attrelid = here.oid AND attnum > 0 AND NOT attisdropped))
FROM here WHERE relkind NOT IN ('i', 'I')
UNION ALL
SELECT relname::text, concat_ws(' ', indrelid::regclass, indisunique, indisvalid, (
    SELECT string_agg(pg_get_indexdef(indexrelid, place, false), ', ' ORDER BY place)
    FROM generate_series(1, indnkeyatts) AS place), pg_get_expr(indpred, indrelid))
FROM here JOIN pg_index ON indexrelid = here.oid
UNION ALL
SELECT conname::text, concat_ws(' ', conrelid::regclass, convalidated)
FROM here JOIN pg_constraint ON conrelid = here.oid WHERE contype = 'c'
UNION ALL
SELECT tgname::text, concat_ws(' ', tgrelid::regclass, tgtype, tgenabled, tgfoid::regproc)
FROM here JOIN pg_trigger ON tgrelid = here.oid WHERE NOT tgisinternal
UNION ALL
SELECT rulename::text, ev_class::regclass::text
FROM here JOIN pg_rewrite ON ev_class = here.oid
UNION ALL
SELECT proname::text, concat_ws(' ', lanname, prosrc)
FROM pg_proc JOIN pg_language AS spoken ON prolang = spoken.oid
WHERE pronamespace = current_schema()::regnamespace
"""

_EXPECTED: Final = {
    "meta": "r p f id integer t, ledger text t, cap text t, account text t, capacity text t, "
    "unit text t, neighbors text t, created text t, secret bytea t",
    "events": "r p f seq bigint t, event text t, entry text t, kind text t, cost text f, "
    "payload text t, at text t, digest text t",
    "meta_pkey": "meta t t id",
    "events_pkey": "events t t seq",
    "events_event": "events t t event",
    "events_once": "events t t entry, kind",
    "events_cost": "events f t cost (kind = 'reserve'::text)",
    "meta_id_check": "meta t",
    "meta_secret_check": "meta t",
    "events_event_check": "events t",
    "events_kind_check": "events t",
    "events_digest_check": "events t",
    "events_check": "events t",
    "meta_change": "meta 58 O append_only",
    "events_change": "events 58 O append_only",
    "events_order": "events 7 O in_order",
    "append_only": f"plpgsql {_REFUSE}",
    "in_order": f"plpgsql {_ORDER}",
}

# Data that cannot be read, and objects that are gone.
_UNREADABLE: Final = ("XX", "42P01", "42703", "42883")


@final
@dataclass(frozen=True, slots=True)
class PostgresTables(Tables):
    """The tables as a connection sees them whose search path is their schema."""

    connection: Any

    @property
    def made(self) -> bool:
        """Whether the schema has them."""
        ((found,),) = self.select("SELECT to_regclass('meta') IS NOT NULL")
        return found

    def make(self) -> None:
        """Make tables, indexes and triggers, and mark them as a ledger of this format."""
        for statement in _OBJECTS:
            self.connection.execute(statement)

    def select(self, query: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """Run a query."""
        return iter(self.connection.execute(query.replace("?", "%s"), values))

    def insert(self, table: Table, row: Sequence[object]) -> None:
        """Add one row, and see that it was added: a rule or a trigger can throw it away unsaid."""
        marks = ", ".join(["%s"] * len(row))
        added = self.connection.execute(f"INSERT INTO {table} VALUES ({marks})", row)
        if added.rowcount != 1:
            raise LedgerCorrupt(
                f"the database threw a row for the ledger's table {table!r} away; something was "
                "added to the table that does so. `neyman ledger check` names it"
            )

    def altered(self) -> Iterator[str]:
        """Compare the catalog with what was made."""
        found = dict(self.select(_CATALOG))
        for name, fact in _EXPECTED.items():
            if found.get(name) != fact:
                yield f"{name} is missing or altered; it keeps the ledger append-only"
        for name in sorted(found.keys() - _EXPECTED.keys()):
            yield f"{name!r} is no part of a ledger; it lies in its schema, and may change rows"

    def collected(self, part: Iterator[str]) -> list[str]:
        """Return the findings, up to what cannot be read."""
        import psycopg

        found: list[str] = []
        self.connection.execute("SAVEPOINT part")
        try:
            found.extend(part)
        except psycopg.Error as error:
            if not (error.sqlstate or "").startswith(_UNREADABLE):
                raise
            self.connection.execute("ROLLBACK TO SAVEPOINT part")
            found.append(f"rows cannot be read (SQLSTATE {error.sqlstate})")
        return found
