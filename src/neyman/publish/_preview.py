"""What an answer would look like, before anything is charged or any row is read."""

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
from neyman.publish._stand_ins import StandIns, of_question, refuse_unknown, spreads_of
from neyman.released import RecordedQuestion, grid_notes

__all__ = ["Preview", "preview", "preview_of"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _ShownGroups:
    """What decides whether a group is shown. Public: no row has a part in it.

    Attributes:
        threshold: the least noisy count that is shown, in lattice units.
        weight: how much each row adds to that count; 1 of a count.
        delta: the most that one unit's own groups are shown with.
        surely: a group of so many rows or more is shown with at least `confidence`.
        confidence: of that.
        noun: what is counted, for people: rows, or units.
    """

    threshold: int
    weight: int
    delta: Fraction
    surely: int
    confidence: float
    noun: str

    def __str__(self) -> str:
        """Write it for people, in what is counted."""
        return (
            f"shown: groups whose noisy count is {self.threshold / self.weight:,.6g} {self.noun} "
            f"or more; a group of {self.surely:,} {self.noun} or more with at least "
            f"{100 * self.confidence:g} % probability; what one unit alone is in "
            f"with at most delta {at_most(self.delta, 4)}"
        )

    def to_json(self) -> dict[str, object]:
        """Return it, JSON-able."""
        return {
            "threshold": self.threshold,
            "weight": self.weight,
            "delta": str(self.delta),
            "surely_shown_rows": self.surely,
        }


def _shown_groups_of(
    aggregate: Aggregate, mechanism: Mechanism, confidence: float
) -> _ShownGroups | None:
    """Return what is shown, or None where all groups are declared.

        n rows are shown if w n + K >= threshold, which w n - h >= threshold makes at least as
        likely as |K| <= h

    Raises:
        SensitivityMismatch: if one unit passes the threshold without any noise.
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
    """A question with its noise, before it is asked. Public: no row has a part in it.

    Attributes:
        query: the question, as the ledger would record it.
        mechanism: the noise, as the ledger would record it.
        curve: what the answer guarantees, and is charged for.
        groups: how many there are an answer for; 0 where nobody declared them.
        integers: how many are released of the question itself; 0 where that is not known.
        beside: how many more, of its companion.
        confidence: of the intervals.
        numbers: of one group, what their noise does to them.
        shown: which groups are shown, where nobody declared them.
        like: what the public rows are like that stand for the private ones, where some were given.
        sql: the statement that would be run, where there is one.
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
        """Return it for people.

        Args:
            sql: whether the statement comes along.
        """
        lines = [*self.head, *self._lines()]
        if sql and self.sql is not None:
            lines.append(printable_lines(self.sql))
        return "\n".join(lines)

    @property
    def question(self) -> RecordedQuestion:
        """The question, read: what it is of, by which groups, under which limits."""
        return RecordedQuestion.of(self.query)

    @property
    def head(self) -> tuple[str, ...]:
        """What is asked with which noise, and which rows are assumed, for people."""
        noise = ", ".join(f"{name} {value}" for name, value in self._noise.items())
        many = "1 group" if self.groups == 1 else f"{self.groups:,} groups"
        released = "1 integer" if self.integers == 1 else f"{self.integers:,} integers"
        if self.beside:
            released += f" and {self.beside} of the companion"
        size = f"{many}, {released}" if self.groups else "groups that nobody declared"
        return (
            f"{self.question.statistic}: {size}; {noise}; {self.curve}; "
            f"{100 * self.confidence:g} % noise intervals",
            *(() if self.shown is None else (str(self.shown),)),
            *self._assumed(),
        )

    @property
    def rows(self) -> list[list[str]]:
        """A row for each number, for people: its name, how many rows it is of, its intervals."""
        like = "" if self.like is None else self.like.label
        return [[self._called(one.name), one.size, *one.widths(like)] for one in self.numbers]

    def _assumed(self) -> Iterator[str]:
        """Say which rows the sizes of groups are those of, and what grid."""
        yield from grid_notes(self.question)
        if self.like is not None:
            cut = "" if self.like.limited else ", which names no units: limits cut none of them"
            yield (
                f"like {self.like.label}: {100 * self.like.kept:.3g} % of its "
                f"{self.like.rows:,} rows count{cut}"
            )
        elif self.groups > 1 and any(number.records is not None for number in self.numbers):
            yield "groups of equal size are assumed; like, public rows, would say how they are"

    def _lines(self) -> list[str]:
        """Write a line for each number, its parts below each other; the last is not padded."""
        rows = self.rows
        longest = max(map(len, rows))
        widths = [
            max((len(row[i]) for row in rows if i < len(row)), default=0) for i in range(longest)
        ]
        return ["   ".join(map(str.ljust, row, widths)).rstrip() for row in rows]

    def _called(self, name: str) -> str:
        """Return the name of a number, with the columns that it is of."""
        return " ".join([name, ", ".join(column.name for column in self.question.own)]).rstrip()

    @property
    def _noise(self) -> Mapping[str, object]:
        """The record of the noise itself, without the threshold."""
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
    """Say what a release would look like: its noise in the units of its numbers, and its SQL.

    The noise of a count or a sum is the same whatever is in the table. That of a mean, of another
    quotient or of a curve depends on how many rows a group has and on what they are like. So the
    very statement is run of made-up rows, and its integers are read as an answer would be:

        at best     values spread evenly over the bounds; of a function called "spread evenly",
                    for values in one place can do better
        typical     mean and standard deviation at 5 % of the range, correlations of 0.3
        at worst    of a mean, variance or covariance the widest interval that there can be

    and, where they are given, of rows with the means and deviations of `spread`, or of public rows,
    `like`. Nothing is charged, and no private row is read.

    Args:
        aggregate: the question.
        mechanism: its noise.
        records: how many rows the table has, public; one number or several. With `like` a part of
            them counts, and groups have its shares; without, all count, in groups of equal size.
            By default as many as `like` has, or some powers of ten.
        confidence: of the intervals, in (0, 1).
        like: public rows like the private ones: the path of a .parquet or .csv file, a data frame,
            a table from `open_table`, what `likeness` returned, or the path of its JSON.
        spread: by column, its mean and standard deviation, a public guess in the column's units, of
            values after they are moved to the bounds. Columns that are not named are typical.
        companion: the share of the budget that the release would spend on it, as of `release`.

    Raises:
        InvalidParameter: if a number of rows, the confidence or the spread is unusable, or `like`
            holds the private rows.
        InvalidTable: if the public rows cannot be made in the steps of the private ones.
        UnknownColumn: if the public rows lack a column.
        SensitivityMismatch: if the question does not bound the norm that the noise needs.

    Error: exact where a number has the same noise in groups of all sizes; of other numbers the
        interval is that of one release whose noise happened to be 0. "at worst" is found by a
        search among rows at the two bounds, and can be 1 % less than the supremum.

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


def preview_of(rows: StandIns, part: Part, confidence: float) -> Preview:
    """Return the preview of rows that stand for the private ones.

    Raises:
        InvalidParameter: if the confidence is unusable.
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
