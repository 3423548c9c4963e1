"""What an answer would look like, before anything is charged or any row is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, cast, final

from neyman.aggregate import Aggregate
from neyman.arguments import check_type, whole
from neyman.errors import InvalidParameter
from neyman.mechanisms import Mechanism
from neyman.printable import printable_lines
from neyman.publish._foreseen import Foreseen, foreseen_by
from neyman.publish._shown import Shown, shown_by
from neyman.released import text_of
from neyman.tradeoff import TradeOff

__all__ = ["SIZES", "Preview", "compared", "preview"]

# Sizes of groups for which intervals are told where none is named.
SIZES: Final = (100, 1_000, 10_000, 100_000)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A question with its noise, before it is asked. Public: no row has a part in it.

    Attributes:
        query: the question, as the ledger would record it.
        mechanism: the noise, as the ledger would record it.
        curve: what the answer guarantees, and is charged for.
        groups: how many there are an answer for; 0 where nobody declared them.
        integers: how many are released; 0 where that is not known.
        confidence: of the intervals.
        numbers: of one group, what their noise does to them.
        shown: which groups are shown, where nobody declared them.
        sql: the statement that would be run, where there is one.
    """

    query: Mapping[str, object]
    mechanism: Mapping[str, object]
    curve: TradeOff
    groups: int
    integers: int
    confidence: float
    numbers: tuple[Foreseen, ...]
    sql: str | None = field(repr=False)
    shown: Shown | None = None

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, *, sql: bool = False) -> str:
        """Return it for people.

        Args:
            sql: whether the statement comes along.
        """
        noise = ", ".join(f"{name} {value}" for name, value in self._noise.items())
        many = "1 group" if self.groups == 1 else f"{self.groups:,} groups"
        released = "1 integer" if self.integers == 1 else f"{self.integers:,} integers"
        size = f"{many}, {released}" if self.groups else "groups that nobody declared"
        lines = [
            f"{self.query.get('statistic')}: {size}; {noise}; {self.curve}",
            *(() if self.shown is None else (str(self.shown),)),
            text_of(
                {
                    "number": [number.name for number in self.numbers],
                    "rows of the group": [number.size for number in self.numbers],
                    "stddev": [number.spread for number in self.numbers],
                    f"{100 * self.confidence:g} % interval": [n.width for n in self.numbers],
                }
            ),
        ]
        if sql and self.sql is not None:
            lines.append(printable_lines(self.sql))
        return "\n".join(lines)

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
            "confidence": self.confidence,
            "numbers": [number.to_json() for number in self.numbers],
            "shown": None if self.shown is None else self.shown.to_json(),
            "sql": self.sql,
        }


def compared(sizes: Sequence[int]) -> list[int]:
    """Return the sizes to make groups up of: one more where it is one, to tell what depends on it.

    Args:
        sizes: those asked for.
    """
    if len(sizes) > 1:
        return list(sizes)
    return [*sizes, *(2 * size if size < 2**52 else size // 2 for size in sizes)]


def preview(
    aggregate: Aggregate,
    mechanism: Mechanism,
    *,
    records: Sequence[int] = SIZES,
    confidence: float = 0.95,
) -> Preview:
    """Say what a release would look like: its noise in the units of its numbers, and its SQL.

    The noise of a count or a sum is the same whatever is in the table. That of a mean, of another
    quotient or of a curve depends on how many rows a group has: it is told for groups of given
    sizes whose made-up rows are spread evenly over the bounds. Nothing is charged, no row is read.

    Args:
        aggregate: the question.
        mechanism: its noise.
        records: sizes of groups, public.
        confidence: of the intervals, in (0, 1).

    Raises:
        InvalidParameter: if a size or the confidence is unusable.
        SensitivityMismatch: if the question does not bound the norm that the noise needs.

    Error: exact where a number has the same noise in groups of all sizes; of other numbers the
        interval is that of one release whose noise happened to be 0.

    >>> import neyman as ny, pyarrow as pa
    >>> rows = pa.table({"minutes": [30.0, 60.0]})
    >>> table = ny.open_table(rows, unit=ny.Rows(), name="visits",
    ...                       bounds={"minutes": ny.Bounds(0, 120, grid=1)})
    >>> question = table.mean("minutes")
    >>> noise = ny.Gaussian.calibrate(question.sensitivity, mu=0.5)
    >>> for number in preview(question, noise, records=[100, 10_000]).numbers:
    ...     print(number.name, number.records, round(number.half_width, 2))
    mean 100 3.34
    mean 10000 0.03
    """
    check_type("aggregate", aggregate, Aggregate, "a question, such as table.count()")
    check_type("mechanism", mechanism, Mechanism, "its noise, such as Gaussian.calibrate(...)")
    check_type("records", records, Sequence, "a list of sizes, such as records=[1000]")
    sizes = sorted({whole("records", size, 1, 2**53) for size in records})
    if not sizes:
        raise InvalidParameter("records of no sizes was given; write at least one, such as [1000]")
    imagined = aggregate.imagined
    several = compared(sizes)
    made = {} if imagined is None else dict(zip(several, imagined(several), strict=True))
    width = next((integers.size for integers in made.values()), aggregate.size)
    return Preview(
        query=dict(aggregate.query),
        mechanism=mechanism.describe(),
        curve=mechanism.tradeoff(aggregate.sensitivity),
        groups=aggregate.size // width,
        integers=aggregate.size,
        confidence=confidence,
        numbers=foreseen_by(aggregate, mechanism, made, sizes, confidence),
        sql=None if aggregate.sql is None else aggregate.sql(),
        shown=shown_by(aggregate, mechanism, confidence),
    )
