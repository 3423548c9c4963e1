"""A join of two private tables that name the same units.

A joined row is a pair of rows of one unit, because the join requires equal unit names. So the pairs
of a unit depend only on its rows in both tables, and removing another unit from both does not
change them. Rows multiply within a unit only, and are bounded after the join.
"""

from dataclasses import replace

from sqlglot import exp

from neyman.errors import InvalidTable
from neyman.tables import _sql as sql
from neyman.tables._engines._engine import Engine
from neyman.tables._on import How, On, Taken, pairs_of, refuse_no_how, taken_of, with_columns
from neyman.tables._schema import called
from neyman.tables._sources._sources import engine_of
from neyman.tables._unit import Unit
from neyman.tables._view import Joined, View

__all__ = ["joined"]


def joined(
    engine: Engine,
    view: View,
    unit: Unit,
    source: object,
    *,
    on: On,
    columns: Taken,
    how: How,
    name: str | None,
) -> tuple[Engine, View, tuple[str, ...]]:
    """Return the rows joined with those of another private table of the same units.

    Returns:
        The engine of both, the joined rows, and the names of the new columns.

    Raises:
        InvalidTable: if each row is a unit, the join is not on the unit, an earlier table names
            units by another column, the tables cannot be read together, columns do not match, or
            two columns have the same name.
        UnknownColumn: if a table does not have a column.
    """
    refuse_no_how(how)
    pairs = pairs_of(on)
    _refuse_no_unit(view, unit, pairs)
    other = engine_of(source, name)
    naming = next(theirs for ours, theirs in pairs if ours == unit.entity)
    _refuse_other_names(engine, view, unit, other, naming)
    alias = called(engine.tables)
    engine, relation = engine.beside(other)
    there = {
        column.name: replace(column, made=sql.column(column.inside, alias))
        for column in other.schema.columns
    }
    schema = replace(other.schema, columns=tuple(there.values()))
    same = [view.schema[ours].matched(schema[theirs]) for ours, theirs in pairs]
    taken = taken_of(columns, schema, pairs)
    new = [replace(schema[theirs], name=ours) for theirs, ours in taken.items()]
    step = {
        "join": {
            "on": [list(pair) for pair in pairs],
            "columns": [list(pair) for pair in taken.items()],
            "how": how,
        }
    }
    rows = Joined(
        exp.alias_(relation, alias, quoted=True, table=True),
        exp.and_(*(here.eq(its) for here, its in same)),
        left=how == "left",
        names=(naming,),
    )
    made = replace(
        view,
        schema=with_columns(view.schema, new, schema.told),
        made=(*view.made, step),
        joins=(*view.joins, rows),
    )
    return engine, made, tuple(taken.values())


def _refuse_other_names(engine: Engine, view: View, unit: Unit, other: Engine, naming: str) -> None:
    """Refuse a table that an earlier join reads with another column as the unit.

    A row of it would belong to two units, and could not be removed with one of them only.
    """
    own = unit.entity if unit.through is None else None
    names = (own, *(name for part in view.joins for name in part.names))
    for place, known in enumerate(names):
        # Names first: what a file is called by is a digest of all of it.
        if known != naming and engine.identities[place] == other.identity:
            before = "leads to units by a foreign key" if known is None else f"names them {known!r}"
            raise InvalidTable(
                f"a table was joined that names units {naming!r}, and {before} where it stands "
                "already: each of its rows is of two units, and none can be taken out alone; join "
                "it by the same column, or write the rows of each unit to a table of their own"
            )


def _refuse_no_unit(view: View, unit: Unit, pairs: tuple[tuple[str, str], ...]) -> None:
    if unit.entity is None:
        raise InvalidTable(
            "a table whose unit is one row cannot be joined with a private table: a row would join "
            "any number of rows that are units too. Open the table with unit=Entity(column, ...) "
            "and join on that column, or write join_public where the other table is public"
        )
    # A slip of the pen is told as one, and not as a join on something else than the unit.
    here = [view.schema[ours].name for ours, _ in pairs]
    if unit.entity not in here:
        on = ", ".join(map(repr, here))
        raise InvalidTable(
            f"a join with a private table on {on} mixes rows of different units; write the unit's "
            f"column {unit.entity!r} into on as well, or join_public if the other table is public"
        )
