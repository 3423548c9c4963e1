"""The questions of the contest: what is asked, under which noise, and how far answers are off."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, final

import neyman as ny
from benchmarks._tables import truth
from benchmarks._tables.data import keys
from neyman import publish
from neyman.aggregate import Aggregate
from neyman.mechanisms import Mechanism
from neyman.tables import Count, Mean, Sum, Table, Unit

__all__ = ["BOUNDS", "PLANE", "TARGET", "Budget", "Case", "cases"]

BOUNDS: Final = {
    "arr_delay": ny.Bounds(-60, 180, grid=1),
    "dep_delay": ny.Bounds(-60, 180, grid=1),
    "distance": ny.Bounds(0, 5000, grid=1),
}
PLANE: Final = ny.Entity("tailnum", max_rows=200, max_rows_per={"dest": 20})
TARGET: Final = ny.EpsilonDelta(1, 1e-6)
DECILES: Final = [decile / 10 for decile in range(11)]


@final
@dataclass(frozen=True, slots=True)
class Budget:
    """The noise of one release, and a ledger that pays for very many.

    Attributes:
        words: what is spent.
        noise: for a question.
        cap: of the ledger.
        delta: of it, for groups that nobody declared.
    """

    words: str
    noise: Callable[[Aggregate], Mechanism]
    cap: ny.TradeOff
    delta: float | None = None


@final
@dataclass(frozen=True, slots=True)
class Case:
    """A question.

    Attributes:
        name: as in the tables of peers.
        title: in words.
        ask: of a table.
        budget: that it is asked under.
        errors: of an answer, mean absolute ones by what is wrong.
        unit: who is protected.
    """

    name: str
    title: str
    ask: Callable[[Table], Aggregate]
    budget: Budget
    errors: truth.Errors
    unit: Unit = field(default_factory=ny.Rows)


def _discrete(question: Aggregate) -> Mechanism:
    return ny.mechanisms.DiscreteLaplace.calibrate(question.sensitivity, epsilon=1)


def _laplace(question: Aggregate) -> Mechanism:
    return ny.Laplace.calibrate(question.sensitivity, epsilon=1)


def _thresholded(question: Aggregate) -> Mechanism:
    noise = _discrete(question)
    return ny.mechanisms.Thresholded.calibrate(question.sensitivity, noise=noise, delta=1e-6)


def _gaussian() -> Budget:
    """All of (1, 1e-6): the largest mu that implies it."""
    mu = ny.calibrate(ny.gdp, TARGET).value
    return Budget("(1, 1e-6)", lambda q: ny.Gaussian.calibrate(q.sensitivity, mu=mu), ny.gdp(10**3))


def cases(path: Path) -> list[Case]:
    """Return the questions of a file of flights."""
    carriers, places = keys(path, "carrier"), keys(path, "dest")
    cells = ny.Keys({"month": range(1, 13)}) * ny.Keys({"hour": range(24)})
    integers = Budget("epsilon = 1", _discrete, ny.pure_dp(500))
    pure = Budget("epsilon = 1", _laplace, ny.pure_dp(500))
    unknown = Budget("(1, 1e-6)", _thresholded, ny.approx_dp(500, 1e-3), 1e-3)
    normal = _gaussian()

    def quantiles(by: ny.Keys | None, *wanted: float) -> Callable[[Table], Aggregate]:
        return lambda t: publish.quantiles(t, "arr_delay", wanted, by=by)

    def several(table: Table) -> Aggregate:
        delay, miles = table.measured("arr_delay"), table.measured("distance")
        return table.statistics([Count(), Mean(delay), Sum(miles)], carriers)

    def line(table: Table) -> Aggregate:
        return publish.linear_regression(table, "arr_delay", ["dep_delay"])

    def count(by: ny.Keys | ny.UnknownKeys) -> Callable[[Table], Aggregate]:
        return lambda t: t.count(by)

    at = truth.Truth(path)
    by_carrier = count(carriers)
    return [
        Case("A", "count by 16 carriers", by_carrier, integers, at.counts("carrier")),
        Case("B", "count by unknown destination", count(ny.UnknownKeys("dest")), unknown, at.found),
        Case("C", "sum of distances", lambda t: t.sum("distance"), integers, at.sum),
        Case("D", "mean arrival delay", lambda t: t.mean("arr_delay"), pure, at.mean),
        Case("E1", "median arrival delay", quantiles(None, 0.5), normal, at.ranks("median")),
        Case("E11", "eleven deciles", quantiles(None, *DECILES), normal, at.ranks("deciles")),
        Case(
            "E16",
            "eleven deciles by 16 carriers",
            quantiles(carriers, *DECILES),
            normal,
            at.ranks_of_carriers,
        ),
        Case("G", "count by month and hour, 288 cells", count(cells), integers, at.cells),
        Case("V", "variance, sd and mean", lambda t: t.variance("arr_delay"), pure, at.variance),
        Case("R", "line of arrival on departure delay", line, pure, at.line),
        Case("S", "count, mean and sum by carrier together", several, normal, at.several),
        Case("I", "count by 105 dest., unit a plane", count(places), pure, at.planes, PLANE),
    ]
