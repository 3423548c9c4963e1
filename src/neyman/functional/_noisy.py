"""The noisy integers of a released function, and what is public of them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self, cast

from neyman.errors import InvalidParameter
from neyman.functional._abstract import Released

__all__ = ["Noisy"]


class Noisy(NamedTuple):
    """What every function made of coefficients keeps of its release.

    Attributes:
        integers: as released.
        stddev: of the noise on each.
        records: n where it is public, else None.
        unit_records: most records of one unit, r.
    """

    integers: tuple[int, ...]
    stddev: float
    records: int | None
    unit_records: int

    @classmethod
    def of_release(cls, release: Released) -> Self:
        """Read the columns of a release."""
        columns = release.columns
        return cls(
            tuple(cast("Sequence[int]", columns["coefficient"])),
            cast("float", columns["stddev"][0]),
            cast("int | None", release.query["records"]),
            _positive(release.query["unit_records"]),
        )

    @classmethod
    def of_record(cls, record: Mapping[str, object]) -> Self:
        """Read what `record` wrote, bit by bit."""
        return cls(
            tuple(cast("list[int]", record["integers"])),
            float.fromhex(str(record["stddev"])),
            cast("int | None", record["records"]),
            _positive(record["unit_records"]),
        )

    def record(self) -> dict[str, object]:
        """Return the part of a function's record, JSON-able."""
        return {
            "records": self.records,
            "unit_records": self.unit_records,
            "stddev": self.stddev.hex(),
            "integers": list(self.integers),
        }

    def fits(self, size: int, *, counted: bool) -> bool:
        """Return whether they are those of a density of so many integers."""
        number = 1 if self.records is None else self.records
        whole = (*self.integers, number)
        # By functions of the interpreter: there can be a million integers.
        return (
            len(self.integers) == size
            and (self.records is None) == counted
            and set(map(type, whole)) == {int}
            and min(whole) > -(2**63)
            and max(whole) < 2**63
            and number > 0
            and 0 < self.stddev < 2.0**62
            and type(self.unit_records) is int
            and self.unit_records > 0
        )


def _positive(written: object) -> int:
    if type(written) is not int or written < 1:
        raise InvalidParameter(
            "unit_records of a function must be a whole number of at least 1, the most records of "
            "one unit; write what to_json() of a released function gives"
        )
    return written
