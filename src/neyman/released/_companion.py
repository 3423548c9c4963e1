"""The effect of contribution limits and bounds on an answer, as far as its noise shows it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from decimal import ROUND_UP, Context, Decimal
from typing import Final, NamedTuple, final

from neyman.aggregate import COMPANION, PARTS, Noise
from neyman.errors import InvalidParameter
from neyman.released._question import many_of

__all__ = ["Companion", "told_by_another"]

# No number is larger; comparisons with NaN are false.
_MOST: Final = 1e300
# A larger share of units that are cut, or of values that are moved, is a warning.
_WARNED: Final = 0.01
# With a larger half-width, as a share of all units, the share of units that are cut is unknown.
_UNKNOWN: Final = 0.1


class _Words(NamedTuple):
    """What limits cut, in the words of a sentence."""

    head: str
    more: str
    missing: str


_WHAT: Final = {
    "rows": _Words("Rows missing", "have more rows", "{} rows do not count"),
    "groups": _Words(
        "Missing from groups", "are in more groups", "{} pairs of a {} and a group do not count"
    ),
}


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Companion:
    """How many units were cut, how many of their rows are missing, how many values were moved.

    Counts are of units, and are private. Each is published as a noisy number with the half-width of
    its interval, which contains the true number with a probability of at least `confidence`.
    `missing` is a lower bound.

    Attributes:
        entity: the column that names the unit.
        of: what limits count: "rows", or "groups" if a unit adds once to each of its groups. None
            if no limit can cut anything, so that nothing is cut and nothing is missing.
        limit: the most of them that count for one unit; None if limits of groups also cut.
        confidence: of each interval, and of the lower bound.
        units: an estimate of how many units have rows that count.
        units_half_width: of the interval around it.
        cut: an estimate of how many of them have more than what counts.
        cut_half_width: of the interval around it.
        missing: at least this many rows, or groups of a unit, are not in the answer.
        moved: the sum over units of the share of its rows with a value that bounds moved; None if
            there are no bounds.
        moved_half_width: of the interval around it.
        totals: whether the totals of units were moved, instead of their values.
    """

    entity: str
    of: str | None
    limit: int | None
    confidence: float
    units: float
    units_half_width: float
    cut: float
    cut_half_width: float
    missing: int
    moved: float | None
    moved_half_width: float
    totals: bool = False

    @staticmethod
    def read(
        record: Mapping[str, object], noisy: Sequence[int], noise: Noise, confidence: float
    ) -> "Companion":
        """Return the companion from the four noisy integers of a question.

        Let B and S be the kept and the lost shares of units that are cut, each of which keeps at
        least r rows. The missing rows are at least r S (1 + S / B): S / B is the mean of lost over
        kept rows of a unit, and that quotient is convex (Jensen). S is taken at the lower end and B
        at the upper end of their intervals; each fails on that side with half of 1 - confidence. A
        unit that is cut keeps at least 1/1024, so B is at least S / 1023.

        Args:
            record: the public part of `neyman.aggregate.Companion`.
            noisy: the integers.
            noise: the noise on each.
            confidence: in (0, 1).
        """
        whole, kept, lost, moved = (value / PARTS for value in noisy)
        of, limit = record["of"], record["limit"]
        units, terms = (whole, 1) if of is None else (whole + kept + lost, 3)
        width, units_width = (
            noise.half_width(confidence) / PARTS,
            _sum_width(noise, terms, confidence),
        )
        cuts = of is not None
        return Companion(
            entity=str(record["entity"]),
            of=str(of) if cuts else None,
            limit=limit if isinstance(limit, int) else None,
            confidence=confidence,
            units=units,
            units_half_width=units_width,
            cut=kept + lost if cuts else 0.0,
            cut_half_width=_sum_width(noise, 2, confidence) if cuts else 0.0,
            missing=_missing(int(str(record["least"])), kept, lost, width) if cuts else 0,
            moved=moved if record["bounds"] else None,
            # Shares are rounded down to 1024ths, unit by unit.
            moved_half_width=width + (max(units, 0) + units_width) / PARTS,
            totals=bool(record.get("totals")),
        )

    @property
    def cuts(self) -> bool:
        """Whether more than 1 % of the units were cut, or a row per 100 units is missing.

        This is as certain as the noise allows.
        """
        most = _WARNED * max(self.units, 1)
        return self.cut - self.cut_half_width > most or self.missing > most

    @property
    def moves(self) -> bool:
        """Whether bounds moved more than 1 % of the values of each unit, on average.

        This is as certain as the noise allows.
        """
        moved = 0.0 if self.moved is None else self.moved - self.moved_half_width
        return moved > _WARNED * max(self.units, 1)

    @property
    def warns(self) -> bool:
        """Whether the answer covers only a part of the rows, or values that were moved."""
        return self.cuts or self.moves

    @property
    def sentences(self) -> tuple[str, ...]:
        """What a reader must know about the answer, one sentence each."""
        return tuple(filter(None, (self._rows(), self._values())))

    @property
    def _least_units(self) -> float:
        return max(self.units - self.units_half_width, 1)

    @property
    def _many(self) -> str:
        return many_of(self.entity)

    def _rows(self) -> str | None:
        if self.of is None:
            return None
        what, half = _WHAT[self.of], _number(self.cut_half_width)
        limit = "the limits allow" if self.limit is None else f"the limit of {self.limit:,}"
        if self.cuts:
            share = _percent(min(self.cut / max(self.units, 1), 1))
            missing = what.missing.format(f"{_down(self.missing):,}", self.entity)
            more = f"; at least {missing}" if self.missing else ""
            about = f"{_number(self.cut)} ± {half}"
            return f"{what.head}: {share} of {self._many} ({about}) {what.more} than {limit}{more}."
        if self.cut_half_width > _UNKNOWN * max(self.units, 1):
            return f"{what.head}: not known. {self._too_few} (± {half})."
        most = max(self.cut + self.cut_half_width, 0) / self._least_units
        return f"{what.head}: at most {_at_most(most)} of {self._many} {what.more} than {limit}."

    def _values(self) -> str | None:
        if self.moved is None:
            return None
        head = f"{'Totals' if self.totals else 'Values'} moved to the bounds"
        units = max(self.units, 1)
        if self.moved_half_width > _UNKNOWN * units and not self.moves:
            return f"{head}: not known. {self._too_few}."
        most = max(self.moved + self.moved_half_width, 0) / self._least_units
        share = _percent(min(self.moved / units, 1)) if self.moves else f"at most {_at_most(most)}"
        if self.totals:
            return f"{head}: they are of {share} of the rows of each {self.entity}, on average."
        return f"{head}: {share} of the values of each {self.entity}, on average."

    @property
    def _too_few(self) -> str:
        units = f"{_number(max(self.units, 0))} {self._many}"
        return f"There are only about {units}, too few to tell at this budget"

    def to_json(self) -> dict[str, object]:
        """Return the record, for JSON."""
        return asdict(self)

    @staticmethod
    def from_json(record: Mapping[str, object]) -> "Companion":
        """Return the companion that `to_json` recorded.

        Args:
            record: from `to_json`.

        Raises:
            InvalidParameter: if the record is malformed.
        """
        for name in (field.name for field in fields(Companion)):
            if name not in record or not _fits(name, record[name]):
                raise InvalidParameter(
                    f"the record of a release's companion lacks {name}, or has another type or an "
                    "impossible value there; write what Release.to_json gives"
                )
        return Companion(**{field.name: record[field.name] for field in fields(Companion)})  # pyright: ignore[reportArgumentType]


def _fits(name: str, value: object) -> bool:
    """Return whether `to_json` could have written this value."""
    if value is None:
        return name in ("of", "limit", "moved")
    if name == "totals":
        return isinstance(value, bool)
    if name in ("entity", "of"):
        return isinstance(value, str) and (name == "entity" or value in _WHAT)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if name in ("limit", "missing"):
        return isinstance(value, int) and (name == "limit") <= value <= _MOST
    if name == "confidence":
        return 0 < value < 1
    return abs(value) <= _MOST and (value >= 0 or not name.endswith("half_width"))


def _sum_width(noise: Noise, terms: int, confidence: float) -> float:
    """Return the half-width of a sum of noisy integers; the smaller of two that are both valid."""
    each = math.nextafter(1 - (1 - confidence) / terms, 1)
    widths = (
        terms * noise.half_width(each),
        math.sqrt(terms) * noise.radius(1, COMPANION, confidence),
    )
    return min(widths) / PARTS


def _missing(least: int, kept: float, lost: float, width: float) -> int:
    """Return the lower bound of what is missing, if each unit that is cut keeps `least`."""
    lower, upper = lost - width, max(kept + width, (lost - width) / (PARTS - 1))
    rows = least * lower * (1 + lower / upper) if lower > 0 else 0.0
    return math.floor(rows * (1 - 1e-12))


def _number(value: float) -> str:
    return f"{round(value):,}"


def _at_most(share: float) -> str:
    """Return a share in per cent, rounded up to two digits."""
    percent = Decimal(100 * min(share, 1))
    return f"{Context(prec=2, rounding=ROUND_UP).plus(percent):f} %"


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.0f} %"


def _down(value: int) -> int:
    """Return the number with three digits, rounded down."""
    scale = 10 ** max(len(str(value)) - 3, 0)
    return value // scale * scale


def told_by_another(at: int, batch: Sequence[str]) -> str:
    """Return a sentence that names the question of a batch whose companion also covers this one.

    Args:
        at: its index, from 0.
        batch: the names of the questions, in order; any further ones are numbered.
    """
    where = f"'{batch[at]}'" if at < len(batch) else f"question {at + 1} of the batch"
    return (
        f"For the effect of limits and bounds, see {where}, where the same rows count under the "
        "same limits."
    )
