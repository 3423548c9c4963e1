"""A ledger's tables in a schema of a PostgreSQL database."""
# pyright: basic, reportMissingImports=false

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

from neyman.errors import LedgerUnavailable
from neyman.ledger._schema import SAME_TABLES, VERSION, differing, relations
from neyman.ledger._store import Table, Tables
from neyman.overriding import override

__all__ = ["PostgresTables"]

MARK: Final = "neyman.ledger "

_REFUSE: Final = " BEGIN RAISE EXCEPTION 'a ledger is append-only'; END "
_ORDER: Final = (
    " BEGIN IF NEW.kind <> 'reserve' AND NOT EXISTS (SELECT 1 FROM events WHERE entry = NEW.entry "
    "AND kind = 'reserve') THEN RAISE EXCEPTION 'an entry begins with its reserve'; END IF; "
    "RETURN NEW; END "
)


def _function(name: str, body: str) -> str:
    # With the path of this schema, whatever path a writer to the tables uses.
    return (
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT "
        f"AS $${body}$$"
    )


def _mark(version: int) -> str:
    return f"COMMENT ON TABLE meta IS '{MARK}{version}'"


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
    _mark(VERSION),
)

# The catalog's description of these objects, in words that are the same in every server version.
# A trigger can be replaced under its own name, so its whole definition is compared.
_CATALOG: Final = """
WITH here AS (SELECT * FROM pg_class WHERE relnamespace = current_schema()::regnamespace)
SELECT 'table', relname::text, concat_ws(' ', relkind, relpersistence, relrowsecurity, (
    SELECT string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod), attnotnull), ', '
                      ORDER BY attnum)
    FROM pg_attribute WHERE attrelid = here.oid AND attnum > 0 AND NOT attisdropped))
FROM here WHERE relkind NOT IN ('i', 'I')
UNION ALL
SELECT 'index', relname::text, concat_ws(' ', indrelid::regclass, indisunique, indisvalid, (
    SELECT string_agg(pg_get_indexdef(indexrelid, place, false), ', ' ORDER BY place)
    FROM generate_series(1, indnkeyatts) AS place), pg_get_expr(indpred, indrelid))
FROM here JOIN pg_index ON indexrelid = here.oid
UNION ALL
SELECT 'check', conname::text, concat_ws(' ', conrelid::regclass, convalidated)
FROM here JOIN pg_constraint ON conrelid = here.oid WHERE contype = 'c'
UNION ALL
SELECT 'trigger', tgname::text, concat_ws(' ', tgrelid::regclass, tgtype, tgenabled,
    tgfoid::regprocedure, pg_get_expr(tgqual, tgrelid), nullif(tgattr::text, ''),
    nullif(tgnargs, 0), nullif(tgconstraint, 0))
FROM here JOIN pg_trigger ON tgrelid = here.oid WHERE NOT tgisinternal
UNION ALL
SELECT 'rule', rulename::text, ev_class::regclass::text
FROM here JOIN pg_rewrite ON ev_class = here.oid
UNION ALL
SELECT 'policy', polname::text, polrelid::regclass::text
FROM here JOIN pg_policy ON polrelid = here.oid
UNION ALL
SELECT 'heir', inhrelid::regclass::text, inhparent::regclass::text
FROM here JOIN pg_inherits ON here.oid IN (inhrelid, inhparent)
UNION ALL
SELECT 'operator', oprname::text, oid::regoperator::text
FROM pg_operator WHERE oprnamespace = current_schema()::regnamespace
UNION ALL
SELECT 'function', proname::text, concat_ws(' ', pg_get_function_arguments(pg_proc.oid), lanname,
    prosecdef, proconfig = ARRAY[format('search_path=%I, pg_temp', current_schema())], prosrc)
FROM pg_proc JOIN pg_language AS spoken ON prolang = spoken.oid
WHERE pronamespace = current_schema()::regnamespace
"""

_EXPECTED: Final = frozenset(
    {
        (
            "table",
            "meta",
            "r p f id integer t, ledger text t, cap text t, account text t, capacity text t, "
            "unit text t, neighbors text t, created text t, secret bytea t",
        ),
        (
            "table",
            "events",
            "r p f seq bigint t, event text t, entry text t, kind text t, cost text f, "
            "payload text t, at text t, digest text t",
        ),
        ("index", "meta_pkey", "meta t t id"),
        ("index", "events_pkey", "events t t seq"),
        ("index", "events_event", "events t t event"),
        ("index", "events_once", "events t t entry, kind"),
        ("index", "events_cost", "events f t cost (kind = 'reserve'::text)"),
        ("check", "meta_id_check", "meta t"),
        ("check", "meta_secret_check", "meta t"),
        ("check", "events_event_check", "events t"),
        ("check", "events_kind_check", "events t"),
        ("check", "events_digest_check", "events t"),
        ("check", "events_check", "events t"),
        ("trigger", "meta_change", "meta 58 O append_only()"),
        ("trigger", "events_change", "events 58 O append_only()"),
        ("trigger", "events_order", "events 7 O in_order()"),
        ("function", "append_only", f" plpgsql f t {_REFUSE}"),
        ("function", "in_order", f" plpgsql f t {_ORDER}"),
    }
)

# Unreadable data, missing objects, and rows that a policy withholds.
_UNREADABLE: Final = ("XX", "42P01", "42703", "42883", "42501")


@final
@dataclass(frozen=True, slots=True)
class PostgresTables(Tables):
    """The tables in a connection whose search path is their schema."""

    connection: Any
    schema: str

    @property
    @override
    def made(self) -> bool:
        return "meta" in self.found()

    def found(self) -> set[str]:
        """Return which tables the schema has, without temporary tables of the session."""
        return {
            name
            for (name,) in self.select(
                "SELECT relname::text FROM pg_class "
                "JOIN pg_namespace AS own ON own.oid = relnamespace "
                "WHERE nspname = ? AND nspname = current_schema() "
                "AND relname IN ('meta', 'events')",
                self.schema,
            )
        }

    @override
    def make(self) -> None:
        for statement in _OBJECTS:
            self.connection.execute(statement)

    @property
    @override
    def renewed(self) -> bool:
        return self.version() == str(VERSION)

    @override
    def renew(self) -> None:
        if self.renewed:
            return
        ((owner,),) = self.select(
            "SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = 'meta'::regclass"
        )
        if not owner:
            raise LedgerUnavailable(
                f"the first allowance needs a ledger of format {VERSION}; the one in the schema "
                f"{self.schema!r} has format {SAME_TABLES}, and only its owner can upgrade it. "
                "Nothing was written. Have the owner write the first allowance, or open a new "
                "ledger"
            )
        self.connection.execute(_mark(VERSION))

    def version(self) -> str | None:
        """Return the format in the mark of the tables; None if a ledger did not create them."""
        ((mark,),) = self.select("SELECT obj_description('meta'::regclass, 'pg_class')")
        version = (mark or "").removeprefix(MARK)
        return None if mark == version or not version.isdecimal() else version

    @override
    def select(self, query: str, *values: object) -> Iterator[tuple[Any, ...]]:
        return iter(self.connection.execute(query.replace("?", "%s"), values))

    @override
    def _insert(self, table: Table, row: Sequence[object]) -> None:
        marks = ", ".join(["%s"] * len(row))
        self.connection.execute(f"INSERT INTO {table} VALUES ({marks})", row)

    @override
    def altered(self) -> Iterator[str]:
        yield from differing(_EXPECTED, self.connection.execute(_CATALOG))

    @override
    def damaged(self) -> Iterator[str]:
        return iter(())

    @override
    def collected(self, part: Iterator[str]) -> list[str]:
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
