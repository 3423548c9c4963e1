"""Functions, operators and casts of a PostgreSQL database that could replace its own.

The search path of our sessions has pg_catalog only. What remains are casts, which belong to no
schema (the owner of an enum can define its cast to text), and objects that a superuser put into
pg_catalog.
"""
# pyright: basic, reportMissingImports=false

from typing import Any

from sqlglot import exp, tokenize

from neyman.tables._engines._spelling import words_before_brackets

__all__ = ["stand_ins"]

# What initdb made has a smaller number, and is written in C or in SQL.
_OWN = "16384::oid"
_FOUND = f"""
SELECT p.proname::text
FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname = ANY(%(words)s)
  AND (p.oid >= {_OWN} OR l.lanname NOT IN ('internal', 'sql'))
UNION
SELECT 'operator ' || o.oprname
FROM pg_operator o
WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprname = ANY(%(signs)s)
  AND o.oid >= {_OWN}
UNION
SELECT 'CAST(' || format_type(c.castsource, NULL)
  || ' AS ' || format_type(c.casttarget, NULL) || ')'
FROM pg_cast c
WHERE c.oid >= {_OWN} AND c.casttarget < {_OWN} AND (
  c.castsource < {_OWN} OR c.castsource IN (
    SELECT a.atttypid
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
      JOIN pg_class r ON r.oid = a.attrelid JOIN pg_namespace n ON n.oid = r.relnamespace
    WHERE t.typtype = 'e' AND (n.nspname::text, r.relname::text) IN (
      SELECT * FROM unnest(%(schemas)s::text[], %(tables)s::text[]))))
ORDER BY 1
"""


def stand_ins(own: Any, statement: exp.Query, text: str) -> list[str]:
    """Return the called objects that the database has beside, or in place of, its own.

    Args:
        own: our own session.
        statement: the tree of the statement, for its tables.
        text: the text that is sent.
    """
    tables = [table for table in statement.find_all(exp.Table) if table.db]
    told = {
        "words": sorted(words_before_brackets(text, "postgres")),
        "signs": sorted({token.text for token in tokenize(text, "postgres")}),
        "schemas": [table.db for table in tables],
        "tables": [table.name for table in tables],
    }
    return [name for (name,) in own.execute(_FOUND, told).fetchall()]
