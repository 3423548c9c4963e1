"""The preview of an answer, before anything is charged or any row is read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import cast, final

from neyman.aggregate import Aggregate
from neyman.arguments import check_type
from neyman.curves import TradeOff
from neyman.displayed import Displayed
from neyman.divided import SHARE, Part, divided
from neyman.mechanisms import Mechanism, Thresholded
from neyman.numerics import Real, at_most
from neyman.printable import printable_lines
from neyman.publish._expected_noise import ExpectedNumber, expected_numbers
from neyman.publish._likeness import Likeness, label_of, public_of
from neyman.publish._synthetic_rows import SyntheticRows, of_question, refuse_unknown, spreads_of
from neyman.released import RecordedQuestion, grid_notes

__all__ = ["Preview", "preview", "preview_of"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _ShownGroups:
    """The threshold for undeclared groups. It is public, because it uses no row.

    Attributes:
        threshold: the least noisy count of a group that appears, in lattice units.
        weight: what each row adds to that count; 1 in a count.
        delta: the most probability that a group with a single unit appears.
        surely: a group of so many rows appears with at least `confidence`.
        confidence: that probability.
        noun: "rows" or "units".
    """

    threshold: int
    weight: int
    delta: Fraction
    surely: int
    confidence: float
    noun: str

    def __str__(self) -> str:
        """Return the threshold as text."""
        return (
            f"groups whose noisy count is {self.threshold / self.weight:,.6g} {self.noun} or more "
            f"appear: a group of {self.surely:,} {self.noun} or more with at least "
            f"{100 * self.confidence:g} % probability, a group with a single unit with at most "
            f"delta {at_most(self.delta, 4)}"
        )

    def to_json(self) -> dict[str, object]:
        """Return the threshold, JSON-able."""
        return {
            "threshold": self.threshold,
            "weight": self.weight,
            "delta": str(self.delta),
            "surely_shown_rows": self.surely,
        }


def _shown_groups_of(
    aggregate: Aggregate, mechanism: Mechanism, confidence: float
) -> _ShownGroups | None:
    """Return the threshold; None if all groups are declared.

    A group of n rows appears if w n + K >= threshold, where K is the noise. This is at least as
    likely as |K| <= h if w n - h >= threshold.

    Raises:
        SensitivityMismatch: if one unit passes the threshold without noise.
    """
    weight = aggregate.count_weight
    if not isinstance(mechanism, Thresholded) or weight is None:
        return None
    least = mechanism.threshold + mechanism.half_width(confidence)
    return _ShownGroups(
        threshold=mechanism.threshold,
        weight=weight,
        delta=mechanism.failure(aggregate.sensitivity),
        surely=-(-least // weight),
        confidence=confidence,
        noun=RecordedQuestion.of(aggregate.query).counted,
    )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Preview(Displayed):
    """The preview of a question with its noise. It is public, because it uses no private row.

    Attributes:
        query: the question, as the ledger would record it.
        mechanism: the noise, as the ledger would record it.
        curve: the guarantee of the answer, which is charged.
        groups: the number of groups; 0 if they are not declared.
        integers: the number of integers of the question; 0 if it is unknown.
        beside: the number of integers of its companion.
        confidence: the coverage of the intervals.
        numbers: the numbers of one group, with their noise.
        shown: the threshold for undeclared groups.
        like: a summary of the public rows, if some were given.
        sql: the SQL statement, if there is one.
    """

    query: Mapping[str, object]
    mechanism: Mapping[str, object]
    curve: TradeOff
    groups: int
    integers: int
    beside: int
    confidence: float
    numbers: tuple[ExpectedNumber, ...]
    sql: str | None = field(repr=False)
    shown: _ShownGroups | None = None
    like: Likeness | None = None

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__

    def to_text(self, *, sql: bool = False) -> str:
        """Return the preview as text.

        Args:
            sql: whether to include the SQL statement.
        """
        lines = [*self.head, *self._lines()]
        if sql and self.sql is not None:
            lines.append(printable_lines(self.sql))
        return "\n".join(lines)

    @property
    def question(self) -> RecordedQuestion:
        """The question, with its columns, groups and limits."""
        return RecordedQuestion.of(self.query)

    @property
    def head(self) -> tuple[str, ...]:
        """Lines on the question, its noise and the assumed rows."""
        noise = ", ".join(f"{name} {value}" for name, value in self._noise.items())
        many = "1 group" if self.groups == 1 else f"{self.groups:,} groups"
        released = "1 integer" if self.integers == 1 else f"{self.integers:,} integers"
        if self.beside:
            released += f" and {self.beside} of the companion"
        size = f"{many}, {released}" if self.groups else "undeclared groups"
        return (
            f"{self.question.statistic}: {size}; {noise}; {self.curve}; "
            f"{100 * self.confidence:g} % noise intervals",
            *(() if self.shown is None else (str(self.shown),)),
            *self._assumed(),
        )

    @property
    def rows(self) -> list[list[str]]:
        """A row of text for each number: its name, the size of its group, its intervals."""
        like = "" if self.like is None else self.like.label
        return [[self._called(one.name), one.size, *one.widths(like)] for one in self.numbers]

    def _assumed(self) -> Iterator[str]:
        """Return lines on the assumed sizes of groups, and on the grid."""
        yield from grid_notes(self.question)
        if self.like is not None:
            cut = "" if self.like.limited else ", which has no units, so limits drop no rows"
            yield (
                f"like {self.like.label}: {100 * self.like.kept:.3g} % of its "
                f"{self.like.rows:,} rows count{cut}"
            )
        elif self.groups > 1 and any(number.records is not None for number in self.numbers):
            yield "groups of equal size are assumed; public rows in like would show their sizes"

    def _lines(self) -> list[str]:
        """Return a line for each number, with aligned columns."""
        rows = self.rows
        longest = max(map(len, rows))
        widths = [
            max((len(row[i]) for row in rows if i < len(row)), default=0) for i in range(longest)
        ]
        return ["   ".join(map(str.ljust, row, widths)).rstrip() for row in rows]

    def _called(self, name: str) -> str:
        """Return the name of a number, with its columns."""
        return " ".join([name, ", ".join(column.name for column in self.question.own)]).rstrip()

    @property
    def _noise(self) -> Mapping[str, object]:
        """The record of the noise, without the threshold."""
        return (
            cast("Mapping[str, object]", self.mechanism["noise"]) if self.shown else self.mechanism
        )

    def to_json(self) -> dict[str, object]:
        """Return everything, JSON-able."""
        return {
            "format": "neyman.preview",
            "version": 1,
            "query": dict(self.query),
            "mechanism": dict(self.mechanism),
            "curve": self.curve.to_json(),
            "groups": self.groups,
            "integers": self.integers,
            "beside": self.beside,
            "confidence": self.confidence,
            "numbers": [number.to_json() for number in self.numbers],
            "shown": None if self.shown is None else self.shown.to_json(),
            "like": None if self.like is None else self.like.to_json(),
            "sql": self.sql,
        }


def preview(
    aggregate: Aggregate,
    mechanism: Mechanism,
    *,
    records: int | Sequence[int] | None = None,
    confidence: float = 0.95,
    like: object = None,
    spread: Mapping[str, tuple[Real, Real]] = MappingProxyType({}),
    companion: Real = SHARE,
) -> Preview:
    """Return the noise of a release in the units of its numbers, and its SQL.

    The noise of a count or a sum does not depend on the rows. The noise of a mean, of another
    quotient or of a curve depends on the number of rows in a group and on their values. So the same
    computation runs on synthetic rows:

        at best     values spread evenly over the bounds; for a function this case is called
                    "spread evenly", because values in one place can do better
        typical     mean and standard deviation at 5 % of the range, correlations of 0.3
        at worst    for a mean, variance or covariance the widest possible interval

    If you give them, it also runs on rows with the means and deviations of `spread`, and on the
    public rows of `like`. Nothing is charged, and no private row is read.

    Args:
        aggregate: the question.
        mechanism: its noise.
        records: a public number of rows of the table, or several. With `like`, its share of them
            counts, and groups have its shares; otherwise all count, in groups of equal size. By
            default the number of rows of `like`, or some powers of ten.
        confidence: the coverage of the intervals, in (0, 1).
        like: public rows that resemble the private ones: the path of a .parquet or .csv file, a
            data frame, a table from `open_table`, a result of `likeness`, or the path of its JSON.
        spread: a public estimate of mean and standard deviation by column, in the units of the
            column, after clipping to the bounds. Other columns are typical.
        companion: the share of the budget for the companion, as for `release`.

    Raises:
        InvalidParameter: if a number of rows, the confidence or the spread cannot be used, or
            `like` has the private rows.
        InvalidTable: if the steps of the private table cannot be applied to the public rows.
        UnknownColumn: if the public rows do not have a column.
        SensitivityMismatch: if the question does not bound the norm that the noise needs.

    Error: exact if the noise of a number is the same in groups of all sizes. For other numbers, the
        interval is that of a release whose noise is 0. "at worst" comes from a search among rows at
        the two bounds, and can be 1 % less than the supremum.

    >>> import neyman as ny, pyarrow as pa
    >>> rows = pa.table({"minutes": [30.0, 60.0]})
    >>> table = ny.open_table(rows, unit=ny.Rows(), name="visits",
    ...                       bounds={"minutes": ny.Bounds(0, 120, grid=1)})
    >>> question = table.mean("minutes")
    >>> noise = ny.Gaussian.calibrate(question.sensitivity, mu=0.5)
    >>> seen = preview(question, noise, records=10_000, spread={"minutes": (35, 20)})
    >>> for case, known in seen.numbers[0].cases.items():
    ...     print(case, known)
    at best ± 0.0333
    typical ± 0.0449
    at worst ± 0.0471
    spread ± 0.0361
    """
    check_type("aggregate", aggregate, Aggregate, "a question, such as table.count()")
    check_type("mechanism", mechanism, Mechanism, "its noise, such as Gaussian.calibrate(...)")
    label = label_of(like)
    spreads, public = spreads_of(spread), None if like is None else public_of(like)
    refuse_unknown(spreads, [aggregate])
    rows = of_question(aggregate, records, public, spreads, label)
    (part,) = divided([(aggregate, mechanism, companion)])
    return preview_of(rows, part, confidence)


def preview_of(rows: SyntheticRows, part: Part, confidence: float) -> Preview:
    """Return the preview for given synthetic rows.

    Raises:
        InvalidParameter: if the confidence cannot be used.
        SensitivityMismatch: if the question does not bound the norm that the noise needs.
    """
    aggregate, mechanism = rows.aggregate, part.noise
    return Preview(
        query=dict(aggregate.query),
        mechanism=mechanism.describe(),
        curve=part.curve,
        groups=rows.answered,
        integers=aggregate.kept,
        beside=part.beside_size,
        confidence=confidence,
        numbers=expected_numbers(rows, mechanism, confidence),
        sql=None if aggregate.sql is None else aggregate.sql(),
        shown=_shown_groups_of(aggregate, mechanism, confidence),
        like=rows.like,
    )
