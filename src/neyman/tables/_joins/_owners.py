"""The owners of each row, through foreign keys.

owner   the distinct (key, unit) of the next table, and of the tables that it points to

A row of the view is joined with the owners of its key, once for each. Locality: whether (key, unit)
is an owner depends on paths that end in a row that names this unit. Removing another unit removes
the rows that name it, and the rows that lead to no other unit. No path of this unit has such a row,
so its pairs stay, and no pair is added. Hence the rows of a unit in the view do not depend on other
units (docs/theory/contributions.md).
"""

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from neyman.errors import InvalidTable
from neyman.tables import _sql as sql
from neyman.tables._engines._engine import Engine
from neyman.tables._foreign_key import ForeignKey
from neyman.tables._kind import coded
from neyman.tables._on import with_columns
from neyman.tables._schema import Column, Schema, called
from neyman.tables._sources._sources import engine_of
from neyman.tables._sql import Tree
from neyman.tables._view import Joined, View

__all__ = ["owned"]

_OWNER = "neyman_owner"


def owned(engine: Engine, view: View, key: ForeignKey) -> tuple[Engine, View]:
    """Return the rows with their owners, in a column with the name of the last table's column.

    Raises:
        InvalidTable: if the tables cannot be read together, columns do not match, the table itself
            has a column with that name, or the path passes the last table before its end.
        UnknownColumn: if a table does not have a column.
    """
    engine, schema, relation = _opened(engine, key)
    query = exp.Select().from_(relation)
    terms: list[Tree] = []
    for i, (ours, theirs) in enumerate(key.on):
        here, there = view.schema[ours].matched(schema[theirs])
        query = query.select(sql.named(there, f"v{i}")).where(sql.known(there))
        terms.append(here.eq(sql.column(f"v{i}", _OWNER)))
    told = schema.told
    names: list[str | None] = []
    passed = [schema.names]
    while isinstance(key.owner, ForeignKey):
        step = key.owner
        engine, onto, relation = _opened(engine, step)
        pairs = [schema[ours].matched(onto[theirs]) for ours, theirs in step.on]
        same = exp.and_(*(here.eq(there) for here, there in pairs))
        query = query.join(relation, on=same)
        key, schema, told = step, onto, told and onto.told
        names.append(None)
        passed.append(schema.names)
    _refuse_named_on_the_way(engine, passed)
    named = schema[key.owner]
    # By canonical bytes: a collation can take two units for one.
    unit = named.identity()
    query = query.select(sql.named(unit, "u")).where(sql.known(unit)).distinct()
    column = Column(key.owner, "u", coded(named.kind), sql.column("u", _OWNER))
    owners = query.subquery(sql.identifier(_OWNER))
    joined = Joined(owners, exp.and_(*terms), left=False, names=(*names, key.owner))
    return engine, replace(
        view,
        schema=with_columns(view.schema, [column], told),
        joins=(*view.joins, joined),
    )


def _refuse_named_on_the_way(engine: Engine, passed: Sequence[Sequence[str]]) -> None:
    """Refuse a chain that passes its last table, which names the units, before its end.

    A row of it would belong to two units: the one that it names and the one that it points to.
    """
    *before, last = passed
    places = range(engine.tables - len(passed), engine.tables - 1)
    for place, columns in zip(places, before, strict=True):
        # Columns first: what a file is called by is a digest of all of it.
        if columns == last and engine.identities[place] == engine.identities[-1]:
            raise InvalidTable(
                "a chain of foreign keys comes twice through the table that names the unit: each "
                "of its rows names a unit and points on to another's, and neither can be taken out "
                "alone; end the chain where the table is first reached"
            )


def _opened(engine: Engine, key: ForeignKey) -> tuple[Engine, Schema, Tree]:
    """Return an engine that also reads the next table, the columns of it, and its relation."""
    other = engine_of(key.to, key.name)
    alias = called(engine.tables)
    engine, relation = engine.beside(other)
    columns = (
        replace(column, made=sql.column(column.inside, alias)) for column in other.schema.columns
    )
    schema = replace(other.schema, columns=tuple(columns))
    return engine, schema, exp.alias_(relation, alias, quoted=True, table=True)
