"""The arguments of a join, checked: its condition, and the columns that it adds."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias, cast, get_args

from neyman.errors import InvalidTable
from neyman.tables._schema import Column, Schema

__all__ = ["How", "On", "Taken", "pairs_of", "refuse_no_how", "taken_of", "with_columns"]

On: TypeAlias = str | Sequence[str] | Mapping[str, str]
Taken: TypeAlias = Sequence[str] | Mapping[str, str] | None
How: TypeAlias = Literal["inner", "left"]


def pairs_of(on: object) -> tuple[tuple[str, str], ...]:
    """Return pairs of a column of the table and a column of the other.

    Args:
        on: a name that both tables have, several, or a mapping of names here to names there.

    Raises:
        InvalidTable: if it is something else, or empty.
    """
    pairs = _named(on)
    if not pairs:
        raise InvalidTable(
            f"on={on!r} names no columns; write a column that both tables have, such as "
            'on="order_id", several of them, or a mapping {"column here": "column there"}'
        )
    return pairs


def taken_of(columns: object, schema: Schema, pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the new names of the columns that the join adds.

    Args:
        columns: their names, a mapping of names there to names here, or None for all columns that
            are not in the condition.
        schema: the schema of the other table.
        pairs: the condition of the join.

    Raises:
        InvalidTable: if they are not names, or are missing for a CSV file.
        UnknownColumn: if there is no such column.
    """
    if columns is None:
        if not schema.told:
            raise InvalidTable(
                "the columns of a CSV file are not shown: without a header, its first line would "
                "be a record. Write the columns that the join brings, as in "
                'columns=["name"], or columns=[] for none'
            )
        on = {theirs for _, theirs in pairs}
        return {name: name for name in schema.names if name not in on}
    named = _named(columns)
    if named is None:
        raise InvalidTable(
            f"columns={columns!r} names no columns; write a list of the other table's, or a "
            'mapping {"column there": "name here"}'
        )
    for name, _ in named:
        _ = schema[name]
    return dict(named)


def with_columns(schema: Schema, more: Sequence[Column], told: bool) -> Schema:
    """Return the schema with more columns after its own.

    Raises:
        InvalidTable: if two columns have the same name.
    """
    known = {name.casefold(): name for name in schema.names}
    told = told and schema.told
    for column in more:
        other = known.get(column.name.casefold())
        if other is not None:
            both = f"a column {other!r}" if told else "a column of one name"
            raise InvalidTable(
                f"both tables have {both}; leave it out of columns, or write what it is called "
                'here, as in columns={"column there": "name here"}'
            )
        known[column.name.casefold()] = column.name
    return Schema((*schema.columns, *more), told)


def refuse_no_how(how: object) -> None:
    """Refuse a word that is not "inner" or "left".

    Raises:
        InvalidTable: with the meaning of both.
    """
    if not (isinstance(how, str) and how in get_args(How)):
        raise InvalidTable(
            f'how={how!r} is no kind of join; write "inner", which drops rows without a match, or '
            '"left", which keeps them with NULL in the joined columns'
        )


def _named(given: object) -> tuple[tuple[str, str], ...] | None:
    match given:
        case str():
            return ((given, given),)
        case Mapping():
            pairs = tuple(cast("Mapping[object, object]", given).items())
        case Iterable():
            pairs = tuple((name, name) for name in cast("Iterable[object]", given))
        case _:
            return None
    if all(isinstance(name, str) for pair in pairs for name in pair):
        return cast("tuple[tuple[str, str], ...]", pairs)
    return None
