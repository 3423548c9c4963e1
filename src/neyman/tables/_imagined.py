"""The sums of a statistic over made-up or public rows, for previews."""
# pyarrow carries no types of its own.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, final

import numpy as np

from neyman.aggregate import Counted, IntArray, MadeUp, Reading, Shape, Spreads
from neyman.errors import InvalidParameter
from neyman.numerics import EVEN, TYPICAL, Array, Between
from neyman.tables._alike import Alike
from neyman.tables._engines._duckdb_engine import DuckDB
from neyman.tables._engines._engine import Engine
from neyman.tables._keys._keys import Keys
from neyman.tables._keys._unknown_keys import UnknownKeys
from neyman.tables._sources._frames import frame
from neyman.tables._sql import integer
from neyman.tables._statements._companion import MARK
from neyman.tables._statements._statement import Question, by_group, groups_of
from neyman.tables._statistics._statistic import Component, Measured, Statistic
from neyman.tables._unit import Rows
from neyman.tables._view import View

__all__ = ["ImaginedRows"]

_ROWS: Final = 4096
_MOST: Final = 2**62
# Digits of what a row adds on average: a variance is a small difference of large ones.
_DIGITS: Final = 12
# Of columns that are guessed; a row has a value of the common rank in each with the root of it.
_CORRELATION: Final = 0.3


@final
@dataclass(frozen=True, slots=True)
class ImaginedRows:
    """Imagined rows of a question; its own statement runs on them.

    Attributes:
        question: the question.
        engine: the engine of the private rows; it does not run.
        view: the view of the private rows.
    """

    question: Question
    engine: Engine = field(repr=False)
    view: View = field(repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the statistic."""
        return tuple(measured.column for measured in self.question.statistic.columns)

    def made_up(self, spreads: Spreads) -> MadeUp:
        """Run the statement on made-up rows, a group for each case."""
        measured = self.question.statistic.columns
        guessed = [_between(one, spreads) for one in measured]
        cases = [
            [_even(one, i) for i, one in enumerate(measured)],
            _guessed(measured, [TYPICAL] * len(measured)),
            _guessed(measured, guessed),
            [np.array([float(one.bounds.lower)]) for one in measured],
            [np.array([float(one.bounds.upper)]) for one in measured],
        ]
        even, typical, spread, low, high = self._sums(cases)
        named = any(one.column in spreads for one in measured)
        return MadeUp(
            even=even, typical=typical, spread=spread if named else None, ends=(low, high)
        )

    def counted(self, public: object) -> Counted:
        """Run the statement on public rows, and count them."""
        alike = Alike.of(public, self.engine, self.view, self.question.unit)
        asked = self.question
        counting = Question(
            _Counting(asked.statistic), alike.unit, asked.keys, asked.salt, asked.max_rows
        )
        width = 1 + len(asked.statistic.components)
        found = _integers(alike.engine, counting, alike.view, width)
        kept = found[:, 0]
        if not kept.any():
            raise InvalidParameter(
                "a row of the public table must count in the question; none does. Write a table "
                "with rows in its groups, whose values are known"
            )
        means = found[:, 1:].sum(axis=0) / kept.sum()
        return Counted(
            source=alike.engine.identity,
            rows=alike.rows(),
            kept=tuple(kept.tolist()),
            limited=alike.unit == self.question.unit,
            shape={"one_row": tuple(float(f"{mean:.{_DIGITS}g}") for mean in means)},
        )

    def shaped(self, shape: Shape) -> Array:
        """Return the average contribution of one row."""
        found = np.array(shape.get("one_row", ()), dtype=np.float64)
        limits = [component.limit for component in self.question.statistic.components]
        if found.size != len(limits) or not np.all(np.abs(found) <= np.array(limits, np.float64)):
            raise InvalidParameter(
                f"like must have {len(limits)} sums within the bounds of this question; got those "
                "of another one. Write publish.likeness(question, table)"
            )
        return found

    def _sums(self, cases: Sequence[Sequence[Array]]) -> Iterator[Array]:
        """Yield the average contribution of a row of each case."""
        import pyarrow as pa

        statistic = self.question.statistic
        # Rows whose sum still fits: of the largest integers few.
        most = max(component.limit for component in statistic.components)
        fit = min(_ROWS, _MOST // most)
        parts = [[column[:fit] for column in case] or [np.zeros(1)] for case in cases]
        rows = [len(case[0]) for case in parts]
        # Longer than the name of any column.
        key = "k" * (1 + max((len(name) for name in self.columns), default=0))
        columns: dict[str, object] = {
            name: np.concatenate([case[i] for case in parts]) for i, name in enumerate(self.columns)
        }
        columns[key] = np.repeat(np.arange(len(cases)), rows)
        source = frame(pa.table(columns), "made up")
        engine = DuckDB((source,), source.schema())
        keys = Keys({key: list(range(len(cases)))})
        made = Question(statistic, Rows(), keys, "", fit)
        found = _integers(
            engine, made, View(engine.schema, engine.relation), len(statistic.components)
        )
        return iter(found / np.array(rows)[:, None])


@final
@dataclass(frozen=True, slots=True)
class _Counting(Statistic):
    """A statistic with the number of its rows in front."""

    inner: Statistic

    @property
    def columns(self) -> tuple[Measured, ...]:
        return self.inner.columns

    @property
    def complete(self) -> bool:
        return self.inner.complete

    @property
    def per_unit(self) -> bool:
        return self.inner.per_unit

    @property
    def components(self) -> tuple[Component, ...]:
        return (Component(lambda _: integer(1), 1, 1), *self.inner.components)

    @property
    def names(self) -> tuple[str, ...]:
        return self.inner.names

    def describe(self) -> dict[str, object]:
        return self.inner.describe()

    def reading(self, *, unit_rows: int, weight: int = 1) -> Reading:
        return self.inner.reading(unit_rows=unit_rows, weight=weight)


def _integers(engine: Engine, question: Question, view: View, width: int) -> IntArray:
    """Return the integers of every group, one row each."""
    statement = question.statement(view)
    if isinstance(question.keys, UnknownKeys):
        return engine.groups(statement, len(question.keys.columns), width, MARK[1])[0].integers
    found = engine.integers(statement, 1 + width)
    return by_group(found, groups_of(question.keys) or 0)


def _between(measured: Measured, spreads: Spreads) -> Between:
    """Return the law of a column's values on the range; a typical one if it is not given."""
    if measured.column not in spreads:
        return TYPICAL
    lower, upper = float(measured.bounds.lower), float(measured.bounds.upper)
    return Between.of(measured.column, *spreads[measured.column], lower, upper)


def _even(measured: Measured, place: int) -> Array:
    """Return values spread uniformly over the bounds, different from those of other columns."""
    return _scaled(measured, EVEN.quantile(_ranks(place)))


def _guessed(measured: Sequence[Measured], laws: Sequence[Between]) -> list[Array]:
    """Return values of each law on the grid, correlated with each other."""
    common, found = _ranks(0), list[Array]()
    for i, (one, law) in enumerate(zip(measured, laws, strict=True)):
        own, chosen, rounded = (_ranks(3 * i + j) for j in (1, 2, 3))
        ranks = np.where(chosen < _CORRELATION**0.5, common, own)
        lower, grid = float(one.bounds.lower), float(one.bounds.grid)
        # Rounded up as often as it takes to keep the mean, so that coarse grids keep it too.
        steps = np.floor((_scaled(one, law.quantile(ranks)) - lower) / grid + rounded)
        found.append(np.minimum(lower + grid * steps, float(one.bounds.upper)))
    return found


def _scaled(measured: Measured, parts: Array) -> Array:
    lower, upper = float(measured.bounds.lower), float(measured.bounds.upper)
    return lower + (upper - lower) * parts


def _ranks(place: int) -> Array:
    """Return numbers that fill (0, 1) uniformly, and a cube together with those of other places."""
    if not place:
        return (np.arange(_ROWS) + 0.5) / _ROWS
    return (np.arange(_ROWS) + 0.5) * np.sqrt(_prime(place)) % 1.0


def _prime(place: int) -> int:
    """Return the place-th prime; the ratio of roots of different primes is irrational."""
    number = 1
    for _ in range(place):
        number += 1
        while any(number % divisor == 0 for divisor in range(2, int(number**0.5) + 1)):
            number += 1
    return number
