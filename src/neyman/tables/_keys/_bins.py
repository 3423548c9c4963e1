"""Bins between public cut points, for numbers and dates."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from itertools import pairwise
from numbers import Number
from typing import Literal, NamedTuple, TypeAlias, cast, final

from sqlglot import exp

from neyman.aggregate import Columns, IntArray
from neyman.arguments import check_type, got, whole
from neyman.calls import plain_calls_of
from neyman.errors import InvalidParameter, InvalidTable
from neyman.numerics import Real, exact
from neyman.overriding import override
from neyman.tables._keys._cuts import day_bin, number_bin
from neyman.tables._keys._domain import Domain
from neyman.tables._schema import Column
from neyman.tables._sql import Tree

__all__ = ["Bin", "Bins"]

Edge: TypeAlias = float | date
Outside: TypeAlias = Literal["drop", "clip"]

_MOST = 2**12
_SMALLEST, _LARGEST = Fraction(10) ** -250, Fraction(10) ** 250
_WHOLE = 2**53


class Bin(NamedTuple):
    """One bin: `lower` is in it; `upper` is not, except in the last bin."""

    lower: Edge
    upper: Edge


@plain_calls_of
@final
@dataclass(frozen=True, slots=True, init=False)
class Bins(Domain):
    """Bins between public cut points: [e0, e1), [e1, e2), ..., and the closed last one [em, en].

    Numbers are compared as doubles with the doubles nearest to the edges, dates with dates. NULL
    and NaN are in no bin. Choose the edges without looking at the data.

    Attributes:
        edges: increasing cut points: doubles, integers if all are whole, or dates.
        outside: "drop" leaves out rows below the first and above the last edge; "clip" counts them
            in the nearest bin.

    >>> Bins([-60, 0, 15, 60, 180], outside="drop")
    Bins([-60, 0, 15, 60, 180], outside='drop')
    >>> Bins.uniform(0, 1, 4, outside="clip").edges
    (0.0, 0.25, 0.5, 0.75, 1.0)
    """

    edges: tuple[Edge, ...]
    outside: Outside

    def __init__(self, edges: Iterable[object], *, outside: Outside) -> None:
        """Take cut points; a float counts as the decimal that it prints as, rounded to a double.

        Raises:
            InvalidTable: if there are not 2 to 4097 of them, they do not increase, mix numbers and
                dates, or are beyond 1e250 or nearer to 0 than 1e-250, or if `outside` is not "drop"
                or "clip".
            InvalidParameter: if one is not finite.
        """
        check_type("edges", edges, Iterable, "a list of cut points such as [0, 15, 60]")
        listed = list(edges)
        if isinstance(edges, str) or not 2 <= len(listed) <= _MOST + 1:
            raise InvalidTable(
                f"there must be 2 to {_MOST + 1} edges, such as [0, 15, 60]; got {len(listed)}"
            )
        if type(outside) is not str or outside not in ("drop", "clip"):
            raise InvalidTable(
                "outside must be 'drop' (rows beyond the edges are left out) or 'clip' (they count "
                f"in the nearest bin); got {got(outside)}"
            )
        object.__setattr__(self, "edges", _edges(listed))
        object.__setattr__(self, "outside", outside)

    @classmethod
    def uniform(cls, lower: Real, upper: Real, number: int, *, outside: Outside) -> "Bins":
        """Return bins of equal width: edges lower + i (upper - lower) / number, rounded to doubles.

        Raises:
            InvalidTable: if there are too many, or they do not increase.
            InvalidParameter: if an end is not finite, or `number` is not a positive integer.
        """
        number = whole("number", number, 1, _MOST)
        first, last = exact(lower, "lower"), exact(upper, "upper")
        width = (last - first) / number
        return cls((first + i * width for i in range(number + 1)), outside=outside)

    def __repr__(self) -> str:
        many = len(self.edges) > 12
        shown = [str(edge) for edge in (self.edges[:3] if many else self.edges)]
        shown += ["...", str(self.edges[-1])] if many else []
        return f"Bins([{', '.join(shown)}], outside={self.outside!r})"

    def __len__(self) -> int:
        return len(self.edges) - 1

    @property
    @override
    def kind(self) -> str:
        return "bins"

    @property
    @override
    def by_value(self) -> bool:
        return False

    @property
    @override
    def cells(self) -> tuple[Bin, ...]:
        return tuple(Bin(*ends) for ends in pairwise(self.edges))

    @override
    def texts(self) -> list[str]:
        return [str(i) for i in range(len(self))]

    @override
    def names(self, column: str) -> tuple[str, ...]:
        return f"{column}_from", f"{column}_to"

    @override
    def columns(self, column: str, places: IntArray) -> Columns:
        shown = [edge.isoformat() if isinstance(edge, date) else edge for edge in self.edges]
        at: list[int] = places.tolist()
        lower, upper = [shown[i] for i in at], [shown[i + 1] for i in at]
        return dict(zip(self.names(column), (lower, upper), strict=True))  # pyright: ignore[reportReturnType]

    @override
    def describe(self) -> dict[str, object]:
        written = [
            edge.isoformat() if isinstance(edge, date) else float(edge).hex() for edge in self.edges
        ]
        return {"bins": {"edges": written, "outside": self.outside}}

    @override
    def only(self, places: IntArray) -> "Bins":  # noqa: ARG002
        return self

    @override
    def joined(self, other: Domain, column: str) -> "Bins":
        if self != other:
            raise InvalidTable(
                f"column {column!r} is cut into {self!r} and into {other!r}; write the same bins "
                "in both"
            )
        return self

    @override
    def find(self, cell: object, column: str) -> int:
        cells = cast("tuple[object, ...]", self.cells)
        if isinstance(cell, tuple) and cell in cells:
            return cells.index(cast("object", cell))
        raise InvalidTable(
            f"{cell!r} is no bin of column {column!r}; write its two edges, such as "
            f"({self.edges[0]}, {self.edges[1]})"
        )

    @override
    def told(self, query: exp.Select, column: Column, alias: str) -> tuple[exp.Select, Tree]:
        clipped = self.outside == "clip"
        days = [edge for edge in self.edges if isinstance(edge, date)]
        if days:
            return day_bin(query, column.day(), days, clipped)
        edges = [float(cast("float", edge)) for edge in self.edges]
        return number_bin(query, column.number(), edges, clipped, alias)

    @override
    def placed(
        self,
        query: exp.Select,
        value: Tree,
        column: Column,  # noqa: ARG002
        alias: str,  # noqa: ARG002
    ) -> tuple[exp.Select, Tree]:
        return query, value


def _edges(listed: Sequence[object]) -> tuple[Edge, ...]:
    days = [edge for edge in listed if isinstance(edge, date) and not isinstance(edge, datetime)]
    if days and len(days) < len(listed):
        raise InvalidTable("the edges mix dates and other things; write dates only, or numbers")
    edges = tuple(days) if days else _doubles(listed)
    for low, high in pairwise(edges):
        if not cast("float", low) < cast("float", high):
            raise InvalidTable(
                f"the edge {high} does not lie above {low} before it; write increasing edges"
            )
    return edges


def _doubles(listed: Sequence[object]) -> tuple[Edge, ...]:
    found: list[float] = []
    for edge in listed:
        if isinstance(edge, datetime):
            raise InvalidTable(f"the edge {edge!r} is a time; write dates, or numbers")
        if not isinstance(edge, Number):
            raise InvalidParameter(
                f"the edge {edge!r} is a {type(edge).__name__}; write numbers, or for a column of "
                "dates datetime.date objects, such as date(2024, 12, 31)"
            )
        number = exact(edge, "edge")
        if number and not _SMALLEST <= abs(number) <= _LARGEST:
            raise InvalidParameter(f"the edge {edge!r} is not 0 nor in [1e-250, 1e250]; write one")
        found.append(float(number))
    if all(edge.is_integer() and abs(edge) <= _WHOLE for edge in found):
        return tuple(int(edge) for edge in found)
    return tuple(found)
