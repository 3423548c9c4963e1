"""What contribution limits and bounds did to an answer, as far as its noise lets it be told."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from decimal import ROUND_UP, Context, Decimal
from typing import Final, final

from neyman.aggregate import COMPANION, PARTS, Noise
from neyman.errors import InvalidParameter

__all__ = ["Companion"]

# No number is larger; of NaN every comparison is false.
_MOST: Final = 1e300
# From here on a share of units that are cut, or of values that are moved, is a warning.
_WARNED: Final = 0.01
# From here on a half-width, as a share of all units, leaves the share of those cut unknown.
_UNKNOWN: Final = 0.1


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Companion:
    """How many units were cut, how many of their rows are missing, how many values were moved.

    Counts are of units and private: each is the noisy number with the half-width of its interval,
    which holds the true one with at least `confidence`. That on what is missing is a lower bound.

    Attributes:
        entity: the column that names the unit.
        of: what limits count: "rows", or "groups" where a unit adds once to each of its groups.
        limit: the most of them that count of one unit; None where limits of groups cut as well.
        confidence: of each interval, and of the lower bound.
        units: about how many units have rows that count.
        units_half_width: of the interval around it.
        cut: about how many of them have more than counts.
        cut_half_width: of the interval around it.
        missing: at least so many rows, or groups of a unit, are not in the answer.
        moved: the sum over units of the share of its rows with a value that bounds moved; None
            where there are no bounds.
        moved_half_width: of the interval around it.
    """

    entity: str
    of: str
    limit: int | None
    confidence: float
    units: float
    units_half_width: float
    cut: float
    cut_half_width: float
    missing: int
    moved: float | None
    moved_half_width: float

    @staticmethod
    def read(
        record: Mapping[str, object], noisy: Sequence[int], noise: Noise, confidence: float
    ) -> "Companion":
        """Read the four noisy integers of a question's companion.

        With B and S the kept and the lost parts of units that are cut, each of which keeps at least
        r rows, the rows that are missing are at least r S (1 + S / B): S / B is the mean of lost
        over kept rows of a unit, and that quotient is convex (Jensen). S is taken at the lower end
        and B at the upper end of their intervals, each of which fails on that side with half of
        what the confidence leaves. Of a unit that is cut 1/1024 at least is kept, so B is at least
        S / 1023.

        Args:
            record: what is public of them (`neyman.aggregate.Companion`).
            noisy: the integers.
            noise: that was added to each.
            confidence: in (0, 1).
        """
        whole, kept, lost, moved = (value / PARTS for value in noisy)
        width = noise.half_width(confidence) / PARTS
        least, limit = record["least"], record["limit"]
        units, units_width = whole + kept + lost, _sum_width(noise, 3, confidence)
        lower, upper = lost - width, max(kept + width, (lost - width) / (PARTS - 1))
        rows = int(str(least)) * lower * (1 + lower / upper) if lower > 0 else 0.0
        return Companion(
            entity=str(record["entity"]),
            of=str(record["of"]),
            limit=limit if isinstance(limit, int) else None,
            confidence=confidence,
            units=units,
            units_half_width=units_width,
            cut=kept + lost,
            cut_half_width=_sum_width(noise, 2, confidence),
            missing=math.floor(rows * (1 - 1e-12)),
            moved=moved if record["bounds"] else None,
            # Shares are rounded down to 1024ths, unit by unit.
            moved_half_width=width + (max(units, 0) + units_width) / PARTS,
        )

    @property
    def cuts(self) -> bool:
        """Whether more than 1 % of the units were cut, or a row is missing for each 100 of them.

        As far as the noise tells.
        """
        most = _WARNED * max(self.units, 1)
        return self.cut - self.cut_half_width > most or self.missing > most

    @property
    def moves(self) -> bool:
        """Whether bounds moved more than 1 % of an average unit's values, as far as it tells."""
        moved = 0.0 if self.moved is None else self.moved - self.moved_half_width
        return moved > _WARNED * max(self.units, 1)

    @property
    def warns(self) -> bool:
        """Whether the answer is of a part of the rows, or of values that were moved."""
        return self.cuts or self.moves

    @property
    def sentences(self) -> tuple[str, ...]:
        """What a reader must know of the answer, a sentence each."""
        return tuple(filter(None, (self._rows(), self._values())))

    @property
    def _least_units(self) -> float:
        return max(self.units - self.units_half_width, 1)

    def _rows(self) -> str:
        about = f"{_number(self.cut)} ± {_number(self.cut_half_width)}"
        if self.cuts:
            share = _percent(min(self.cut / max(self.units, 1), 1))
            limit = "the limits allow" if self.limit is None else f"the limit of {self.limit:,}"
            than = f"{self.of} than {limit}"
            missing = f"at least {_down(self.missing):,} {_what(self.of)}"
            more = f"; {missing}" if self.missing else ""
            return f"Rows missing: {share} of units ({about}) have more {than}{more}."
        if self.cut_half_width > _UNKNOWN * max(self.units, 1):
            return (
                f"Rows missing: not known. About {_number(max(self.units, 0))} units are too few "
                f"to say at this budget (± {_number(self.cut_half_width)})."
            )
        most = max(self.cut + self.cut_half_width, 0) / self._least_units
        return f"Rows cut by the limits: few. They cut at most {_at_most(most)} of units."

    def _values(self) -> str | None:
        if self.moved is None:
            return None
        units = max(self.units, 1)
        if self.moves:
            share = _percent(min(self.moved / units, 1))
            return f"Values moved to the bounds: {share} of an average unit's."
        if self.moved_half_width > _UNKNOWN * units:
            return "Values moved to the bounds: not known, there are too few units to say."
        most = max(self.moved + self.moved_half_width, 0) / self._least_units
        return f"Values moved to the bounds: at most {_at_most(most)} of an average unit's."

    def to_json(self) -> dict[str, object]:
        """Return the record, JSON-able."""
        return asdict(self)

    @staticmethod
    def from_json(record: Mapping[str, object]) -> "Companion":
        """Rebuild what `to_json` wrote.

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
    """Whether a value is one that `to_json` writes."""
    if name in ("entity", "of"):
        return isinstance(value, str) and (name == "entity" or value in ("rows", "groups"))
    if value is None:
        return name in ("limit", "moved")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if name in ("limit", "missing"):
        return isinstance(value, int) and (name == "limit") <= value <= _MOST
    if name == "confidence":
        return 0 < value < 1
    return abs(value) <= _MOST and (value >= 0 or not name.endswith("half_width"))


def _sum_width(noise: Noise, terms: int, confidence: float) -> float:
    """Return the half-width of a sum of noisy integers; the least of two that both hold."""
    each = math.nextafter(1 - (1 - confidence) / terms, 1)
    widths = (
        terms * noise.half_width(each),
        math.sqrt(terms) * noise.radius(1, COMPANION, confidence),
    )
    return min(widths) / PARTS


def _what(of: str) -> str:
    if of == "rows":
        return "rows are not in this number"
    return "times a unit is left out of a group that it is in"


def _number(value: float) -> str:
    return f"{round(value):,}"


def _at_most(share: float) -> str:
    """Write a share in per cent, rounded up to two digits."""
    percent = Decimal(100 * min(share, 1))
    return f"{Context(prec=2, rounding=ROUND_UP).plus(percent):f} %"


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.0f} %"


def _down(value: int) -> int:
    """Keep three digits, rounded down."""
    scale = 10 ** max(len(str(value)) - 3, 0)
    return value // scale * scale
