"""The noisy integers of a released function, and what is public of them."""

from collections.abc import Mapping
from typing import NamedTuple, Self, cast

from neyman.functional._abstract import Released

__all__ = ["Noisy"]


class Noisy(NamedTuple):
    """What every function made of coefficients keeps of its release.

    Attributes:
        integers: as released.
        stddev: of the noise on each.
        records: n where it is public, else None.
    """

    integers: tuple[int, ...]
    stddev: float
    records: int | None

    @classmethod
    def of_release(cls, release: Released) -> Self:
        """Read the columns of a release."""
        columns = release.columns
        return cls(
            tuple(cast("int", value) for value in columns["coefficient"]),
            cast("float", columns["stddev"][0]),
            cast("int | None", release.query["records"]),
        )

    @classmethod
    def of_record(cls, record: Mapping[str, object]) -> Self:
        """Read what `record` wrote, bit by bit."""
        return cls(
            tuple(cast("list[int]", record["integers"])),
            float.fromhex(str(record["stddev"])),
            cast("int | None", record["records"]),
        )

    def record(self) -> dict[str, object]:
        """Return the part of a function's record, JSON-able."""
        return {
            "records": self.records,
            "stddev": self.stddev.hex(),
            "integers": list(self.integers),
        }

    def fits(self, size: int, *, counted: bool) -> bool:
        """Return whether they are those of a density of so many integers."""
        whole = [*self.integers, 1 if self.records is None else self.records]
        return (
            len(self.integers) == size
            and (self.records is None) == counted
            and all(type(value) is int and abs(value) < 2**63 for value in whole)
            and whole[-1] > 0
            and 0 < self.stddev < 2.0**62
        )
