"""The privacy unit and its contribution limits."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, cast, final

from neyman.calls import plain_calls_of
from neyman.errors import InvalidParameter, InvalidTable
from neyman.overriding import override
from neyman.tables._foreign_key import ForeignKey
from neyman.tables._limits import Limits

__all__ = ["Entity", "Rows", "Unit", "old_limits"]

_MOST: Final = 2**40
_NO_CLAIMS: Final[Mapping[str | tuple[str, ...], int]] = MappingProxyType({})
# What was once declared in their place, and says how to write it now.
_OF_GROUPS: Final = ("max_groups", "max_rows_per_group")


class Unit(ABC):
    """The privacy unit: neighbouring tables differ in one of them."""

    __slots__ = ()

    @property
    @abstractmethod
    def entity(self) -> str | None:
        """The column that names the unit; None if each row is a unit."""

    @abstractmethod
    def limits(self, by: Collection[str], among: int | None) -> Limits:
        """Return the contribution limits of one unit in an answer.

        Args:
            by: the columns where each group has one value.
            among: the number of groups; None if it is not known.
        """

    @property
    @abstractmethod
    def through(self) -> ForeignKey | None:
        """The foreign key to the column, if the table itself does not have it."""

    @property
    @abstractmethod
    def grouped(self) -> tuple[str, ...]:
        """The columns of the groupings with their own limits."""

    @property
    @abstractmethod
    def label(self) -> str:
        """The unit in words."""

    @abstractmethod
    def bounded(self, max_rows: int | None = None, max_rows_per_group: int | None = None) -> "Unit":
        """Return the same unit with other contribution limits; limits that you leave out stay."""

    @abstractmethod
    def once(self) -> "Unit":
        """Return the same unit with at most one row in a group."""

    @abstractmethod
    def without(self, columns: Collection[str] | None = None) -> "Unit":
        """Return the same unit without limits of groups by these columns; None: by any."""

    @abstractmethod
    def describe(self, by: Collection[str]) -> dict[str, object]:
        """Return the public record of the unit and its limits, for JSON.

        Args:
            by: as for `limits`.
        """


@final
@dataclass(frozen=True, slots=True)
class Rows(Unit):
    """Each row is a unit: neighbouring tables differ in one row."""

    @property
    @override
    def entity(self) -> None:
        return None

    @property
    @override
    def through(self) -> None:
        return None

    @property
    @override
    def grouped(self) -> tuple[str, ...]:
        return ()

    @property
    @override
    def label(self) -> str:
        return "one row"

    @override
    def limits(self, by: Collection[str], among: int | None) -> Limits:  # noqa: ARG002
        return Limits(total=1, rows=1, among=among)

    @override
    def bounded(self, max_rows: int | None = None, max_rows_per_group: int | None = None) -> Unit:
        asked = {"max_rows": max_rows, "max_rows_per_group": max_rows_per_group}
        said = ", ".join(f"{name}={value}" for name, value in asked.items() if value is not None)
        raise InvalidTable(
            f"contribution limits ({said}) need a unit that can have several rows, and here each "
            "row is a unit; open the table with unit=Entity(column, max_rows=...)"
        )

    @override
    def once(self) -> Unit:
        return self

    @override
    def without(self, columns: Collection[str] | None = None) -> Unit:  # noqa: ARG002
        return self

    @override
    def describe(self, by: Collection[str]) -> dict[str, object]:  # noqa: ARG002
        return {"rows": 1}


@plain_calls_of
@final
@dataclass(frozen=True, slots=True, init=False)
class Entity(Unit):
    """A unit of all rows that share a value of one column, such as a patient.

    `max_rows` limits the rows of one unit in an answer, over all groups, for every question. Put
    public knowledge about one grouping into `max_rows_per`: for patients with one visit a year,
    write `Entity("patient", max_rows=5, max_rows_per={"year": 1})`. It acts where a question is
    grouped by these columns, and perhaps by more, and lowers the noise there. Other questions
    ignore it. The limit is enforced, so a wrong one loses rows but never privacy.

    If a unit is beyond its limits, a pseudo-random subset of its rows is kept, first within each
    group, then overall. Rows whose unit is NULL belong to nobody and are dropped.

    >>> Entity("patient", max_rows=5, max_rows_per={"year": 1})
    Entity('patient', max_rows=5, max_rows_per={'year': 1})

    Attributes:
        column: the column that names the unit, of text, whole numbers, booleans or dates; or a
            `ForeignKey` if another table names it. A float or decimal that is not whole is NULL.
        max_rows: m, the most rows of one unit in an answer.
        max_rows_per: the most rows of one unit in each group, by the columns of the grouping.
        max_rows_per_group: the most rows in each group, for any groups of a question; from
            `Table.bounded`.
    """

    column: str | ForeignKey
    max_rows: int
    max_rows_per: tuple[tuple[tuple[str, ...], int], ...]
    max_rows_per_group: int | None

    def __init__(
        self,
        column: str | ForeignKey,
        max_rows: int | None = None,
        max_rows_per: Mapping[str | tuple[str, ...], int] = _NO_CLAIMS,
        **other: object,
    ) -> None:
        """Take the column and the limits.

        Args:
            column: the column that names the unit, or a `ForeignKey`.
            max_rows: the most rows of one unit in an answer, in [1, 2^40].
            max_rows_per: the most rows of one unit in each group, by a column or a tuple of
                columns; in [1, 2^40].
            **other: refused: limits of groups need the columns of a grouping.

        Raises:
            InvalidParameter: if a limit is not an integer in its range, or there is none for all
                rows.
        """
        named = column if isinstance(column, str) else column.column
        object.__setattr__(self, "column", column)
        _refuse_other(named, max_rows, other)
        object.__setattr__(self, "max_rows", _limit("max_rows", max_rows, named))
        object.__setattr__(self, "max_rows_per", _claims(max_rows_per, named))
        object.__setattr__(self, "max_rows_per_group", None)

    def __repr__(self) -> str:
        per = {by[0] if len(by) == 1 else by: rows for by, rows in self.max_rows_per}
        said = [repr(self.column), f"max_rows={self.max_rows}"]
        said += [f"max_rows_per={per}"] if per else []
        return f"Entity({', '.join(said)})"

    @property
    @override
    def entity(self) -> str:
        return self.column if isinstance(self.column, str) else self.column.column

    @property
    @override
    def through(self) -> ForeignKey | None:
        return None if isinstance(self.column, str) else self.column

    @property
    @override
    def grouped(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for by, _ in self.max_rows_per for name in by))

    @property
    @override
    def label(self) -> str:
        return f"all rows of one {self.entity}"

    @override
    def limits(self, by: Collection[str], among: int | None) -> Limits:
        known = [rows for _, rows in self._about(by)]
        if self.max_rows_per_group is not None:
            known.append(self.max_rows_per_group)
        return Limits.of(self.max_rows, rows=min(known, default=None), among=among)

    @override
    def bounded(self, max_rows: int | None = None, max_rows_per_group: int | None = None) -> Unit:
        rows = self.max_rows if max_rows is None else _limit("max_rows", max_rows, self.entity)
        in_each = self.max_rows_per_group
        if max_rows_per_group is not None:
            in_each = _limit("max_rows_per_group", max_rows_per_group, self.entity)
        return self._with(max_rows=rows, max_rows_per_group=in_each)

    @override
    def once(self) -> Unit:
        return self.bounded(max_rows_per_group=1)

    @override
    def without(self, columns: Collection[str] | None = None) -> Unit:
        kept = tuple(
            (by, rows)
            for by, rows in self.max_rows_per
            if columns is not None and set(by).isdisjoint(columns)
        )
        return self._with(max_rows_per=kept)

    @override
    def describe(self, by: Collection[str]) -> dict[str, object]:
        record: dict[str, object] = {"entity": self.entity}
        if self.through is not None:
            record["through"] = self.through.describe()
        record["max_rows"] = self.max_rows
        if self.max_rows_per_group is not None:
            record["max_rows_per_group"] = self.max_rows_per_group
        per = [[list(columns), rows] for columns, rows in self._about(by)]
        return record | ({"max_rows_per": per} if per else {})

    def _about(self, by: Collection[str]) -> list[tuple[tuple[str, ...], int]]:
        return [(columns, rows) for columns, rows in self.max_rows_per if set(columns) <= set(by)]

    def _with(self, **changed: object) -> "Entity":
        made = object.__new__(Entity)
        for name in ("column", "max_rows", "max_rows_per", "max_rows_per_group"):
            object.__setattr__(made, name, changed.get(name, getattr(self, name)))
        return made


def _limit(name: str, value: object, entity: str) -> int:
    if type(value) is not int or not 1 <= value <= _MOST:
        raise InvalidParameter(
            f"{name} must be an integer in [1, 2^40]; got {value!r}. Write how many rows one "
            f"{entity} may fill"
        )
    return value


def _claims(written: object, entity: str) -> tuple[tuple[tuple[str, ...], int], ...]:
    if not isinstance(written, Mapping):
        raise InvalidParameter(
            f"max_rows_per must name the grouping of each limit; got {written!r}. Write the most "
            f'rows of one {entity} by column, such as max_rows_per={{"year": 1}}'
        )
    found: dict[tuple[str, ...], int] = {}
    for by, rows in cast("Mapping[object, object]", written).items():
        columns = cast("tuple[object, ...]", by) if isinstance(by, tuple) else (by,)
        if not columns or not all(isinstance(column, str) for column in columns):
            raise InvalidParameter(
                f"max_rows_per must have a column, or a tuple of columns, for each limit; got "
                f'{by!r}. Write it such as max_rows_per={{"year": 1, ("year", "ward"): 1}}'
            )
        name = tuple(sorted(set(cast("tuple[str, ...]", columns))))
        if name in found:
            raise InvalidParameter(
                f"max_rows_per must have each grouping once; got {by!r} again. Write it once"
            )
        found[name] = _limit(f"max_rows_per[{by!r}]", rows, entity)
    return tuple(sorted(found.items()))


def _refuse_other(entity: str, max_rows: object, other: Mapping[str, object]) -> None:
    """Refuse limits of groups without a grouping, because they would also cut other questions."""
    for name in other:
        if name not in _OF_GROUPS:
            raise InvalidParameter(
                f"Entity takes a column, max_rows= and max_rows_per=; got {name}=. "
                f'Write for example Entity("{entity}", max_rows=5, max_rows_per={{"year": 1}})'
            )
    if other:
        written = f'Entity("{entity}", max_rows=5, max_rows_per={{"year": 1}})'
        raise InvalidParameter(old_limits(entity, written))
    if max_rows is None:
        raise InvalidParameter(
            f"one {entity} may fill any number of rows without a limit, and no noise hides that; "
            f'write Entity("{entity}", max_rows=...), the most rows of one of them that count'
        )


def old_limits(entity: str, written: str) -> str:
    """Return why limits of groups need the columns of a grouping.

    Args:
        entity: the privacy unit.
        written: an example to write, such as five rows in all and one per year.
    """
    return (
        "max_groups and max_rows_per_group on a unit are limits about one grouping, and a question "
        f"with another grouping, or none, would count only a part of the rows of one {entity}. "
        f"Write max_rows, the most rows of one {entity} in all, and max_rows_per, the most in each "
        f"group of a grouping that you name: {written}, if one {entity} has at most 1 row per year"
    )
