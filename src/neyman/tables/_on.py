"""What a join is on, and which columns it brings: arguments, checked."""

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
        on: a name that both have, several such, or a mapping of names here to names there.

    Raises:
        InvalidTable: if it is nothing of the kind, or empty.
    """
    pairs = _named(on)
    if not pairs:
        raise InvalidTable(
            f"on={on!r} names no columns; write a column that both tables have, such as "
            'on="order_id", several of them, or a mapping {"column here": "column there"}'
        )
    return pairs


def taken_of(columns: object, schema: Schema, pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return what the other table's columns are called here, of those that are brought.

    Args:
        columns: their names, a mapping of names there to names here, or None for all that the
            join is not on.
        schema: the other table's.
        pairs: what the join is on.

    Raises:
        InvalidTable: if they are no names, or were not given for a CSV file.
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
        InvalidTable: if two columns are called alike.
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
    """Refuse what is neither "inner" nor "left".

    Raises:
        InvalidTable: saying what each does.
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
