"""Several statistics of the same groups: one statement, one noisy vector, one answer."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

from sqlglot import exp

from neyman.aggregate import Columns, IntArray, Noise, Reading, SumsReading, Term
from neyman.arguments import check_list
from neyman.errors import InvalidParameter
from neyman.overriding import override
from neyman.tables._sql import Tree, integer, wide
from neyman.tables._statistics._statistic import Component, Measured, Statistic, check_statistic

__all__ = ["Together"]

_MULTIPLES: Final = range(1, 65)
_CLOSE: Final = 0.02
_ROOM: Final = 2**22


@final
@dataclass(frozen=True, slots=True)
class Together(Statistic):
    """Several statistics together, each with a share of the squared sensitivity.

    The integers of statistic p are multiplied by a whole number w_p. Then w_p^2 times its own
    squared sensitivity is proportional to its share, to 2 % of w_p if the integers allow it. Under
    Gaussian noise of mu, each statistic has the noise of a separate release at mu sqrt(share / sum
    of shares).

    All rows of a group count, for any values: if a unit has too many, the choice is among all of
    them. A row with NULL or NaN in a column adds nothing to the statistics of that column.

    Attributes:
        parts: the statistics.
        shares: the share of each, positive whole numbers; all 1 by default.
    """

    parts: tuple[Statistic, ...]
    shares: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Check that the answer has one row for each group and a name for each column.

        Raises:
            InvalidParameter: if there are no parts, one is not a statistic, or a share is not
                valid.
        """
        check_list("parts", self.parts, "[Count(), ...]")
        check_list("shares", self.shares, "a list of whole numbers, such as (2, 1)")
        for part in self.parts:
            check_statistic("parts", part)
        object.__setattr__(self, "parts", tuple(self.parts))
        object.__setattr__(self, "shares", tuple(self.shares) or (1,) * len(self.parts))
        if not self.parts:
            raise InvalidParameter("there must be at least one statistic, such as Count()")
        _check_shares(self.shares, len(self.parts))
        for part in self.parts:
            if part.rows != 1 or not part.complete or part.per_unit:
                raise InvalidParameter(
                    f"{part.describe()['statistic']!r} does not give one row a group, is put "
                    "together itself, or a unit adds once to it; ask it by itself, or write its "
                    "parts"
                )
        names = self.names
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InvalidParameter(
                f"the column {twice[0]!r} would stand twice in the answer; leave one of the "
                "statistics out, or rename a column of the table"
            )

    @property
    @override
    def columns(self) -> tuple[Measured, ...]:
        return tuple(dict.fromkeys(column for part in self.parts for column in part.columns))

    @property
    @override
    def complete(self) -> bool:
        return False

    @property
    def weights(self) -> tuple[int, ...]:
        """The factor of the integers of each statistic."""
        limits = [[component.limit for component in part.components] for part in self.parts]
        norms = [
            math.sqrt(sum(limit**2 for limit in own) / share)
            for own, share in zip(limits, self.shares, strict=True)
        ]
        return _balanced(norms, [max(own) for own in limits])

    @property
    @override
    def components(self) -> tuple[Component, ...]:
        place = {column: i for i, column in enumerate(self.columns)}
        found: list[Component] = []
        for part, weight in zip(self.parts, self.weights, strict=True):
            own = [(place[column], column) for column in part.columns]
            found += [_where_known(component, weight, own) for component in part.components]
        return tuple(found)

    @property
    @override
    def names(self) -> tuple[str, ...]:
        return tuple(name for part in self.parts for name in _prefixed(part))

    @override
    def describe(self) -> dict[str, object]:
        return {
            "statistic": "together",
            "parts": [part.describe() for part in self.parts],
            "weights": list(self.weights),
        }

    @override
    def reading(self, *, unit_rows: int, weight: int = 1) -> SumsReading:
        return _Side(
            tuple(
                (
                    len(part.components),
                    _prefixed(part),
                    part.reading(unit_rows=unit_rows, weight=weight * own),
                )
                for part, own in zip(self.parts, self.weights, strict=True)
            )
        )


@final
@dataclass(frozen=True, slots=True)
class _Side(SumsReading):
    """One of several readings: number of integers, names, reading."""

    parts: tuple[tuple[int, tuple[str, ...], Reading], ...]

    @property
    @override
    def terms(self) -> tuple[Term | None, ...]:
        return ()

    @override
    def apart(self) -> list[tuple[int, Reading]]:
        return [(width, reading) for width, _, reading in self.parts]

    @override
    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        table = noisy.reshape(-1, sum(width for width, _, _ in self.parts))
        answer, start = Columns(), 0
        for width, names, reading in self.parts:
            own = table[:, start : start + width].reshape(-1)
            found = reading.columns(own, noise, confidence)
            answer |= dict(zip(names, found.values(), strict=True))
            start += width
        return answer


def _prefixed(part: Statistic) -> tuple[str, ...]:
    """Return names such as mean_delay, mean_delay_lower, ..."""
    first, *rest = part.names
    prefix = "_".join([first, *(measured.column for measured in part.columns)])
    return prefix, *(f"{prefix}_{name}" for name in rest)


def _check_shares(shares: Sequence[object], count: int) -> None:
    whole = all(type(share) is int and share >= 1 for share in shares)
    if len(shares) != count or not whole:
        raise InvalidParameter(
            f"shares must be a whole number of at least 1 for each of the {count} statistics, such "
            f"as (2, 1); got {tuple(shares)!r}. For equal shares leave them out"
        )


def _balanced(norms: Sequence[float], limits: Sequence[int]) -> tuple[int, ...]:
    """Return small whole numbers w with w norm nearly equal, which leave 40 bits for rows."""
    best, error = (1,) * len(norms), math.inf
    for multiple in _MULTIPLES:
        ideal = [multiple * max(norms) / norm for norm in norms]
        weights = tuple(max(1, round(x)) for x in ideal)
        if multiple > 1 and max(w * most for w, most in zip(weights, limits, strict=True)) > _ROOM:
            break
        off = max(abs(w / x - 1) for w, x in zip(weights, ideal, strict=True))
        if off < error:
            best, error = weights, off
        if error <= _CLOSE:
            break
    return best


def _where_known(
    component: Component, weight: int, columns: Sequence[tuple[int, Measured]]
) -> Component:
    """Return the component for rows with all of its columns, times its weight."""

    def value(k: Sequence[Tree]) -> Tree:
        inner = component.value([k[i] for i, _ in columns])
        scaled = inner * wide(weight) if weight > 1 else inner
        if not columns:
            return scaled
        there = (exp.LT(this=k[i], expression=integer(own.absent)) for i, own in columns)
        return exp.Case(ifs=[exp.If(this=exp.and_(*there), true=scaled)], default=integer(0))

    low, high = weight * component.low, weight * component.high
    if not columns:
        return Component(value, low, high)
    return Component(value, min(0, low), max(0, high))
