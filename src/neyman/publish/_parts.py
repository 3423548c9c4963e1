"""The statistics of a publication, each with its noisy integers and the facts that they are of."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, final

import numpy as np

from neyman.aggregate import Columns, IntArray, Noise, SumsReading, Term
from neyman.publish._combined import Known
from neyman.publish._facts import Fact, Variable, facts_of, variable_of
from neyman.released import Release

__all__ = ["Part", "known_of", "parts_of"]

_CONTINUOUS: Final = ("gaussian", "laplace")


@final
@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Part:
    """One statistic of one release.

    Attributes:
        place: of the release in its publication.
        name: of the release.
        release: itself.
        query: of the statistic.
        names: what its columns are called in the release, by what they are called alone.
        reading: of its integers.
        terms: what each is of.
        integers: noisy, shape (groups, width).
        noise: on each.
        facts: the number of rows of each group.
        variable: what it adds up; None of more columns, or none.
    """

    place: int
    name: str
    release: Release
    query: Mapping[str, object]
    names: Mapping[str, str]
    reading: SumsReading
    terms: tuple[Term | None, ...]
    integers: IntArray = field(repr=False)
    noise: Noise
    facts: tuple[Fact, ...] = field(repr=False)
    variable: Variable | None

    @property
    def law(self) -> str:
        """What the noise is called in the ledger."""
        return str(self.release.mechanism.get("mechanism"))

    @property
    def chosen(self) -> bool:
        """Whether a group is shown because its own noisy count is large."""
        return self.release.threshold is not None

    @property
    def counts(self) -> tuple[int, int] | None:
        """Which integer is the number of rows, and times what; None where none is."""
        rows = [(i, term.rows) for i, term in enumerate(self.terms) if term and not term.total]
        return rows[0] if rows else None

    def columns(self) -> Columns:
        """The columns of the statistic, called as if it had been asked alone."""
        return {own: self.release.columns[held] for own, held in self.names.items()}


def parts_of(name: str, place: int, release: Release) -> Iterator[Part]:
    """Yield the statistics of a release whose integers can be put together with others."""
    drawn = release.drawn
    if drawn is None:
        return
    readings = drawn.reading.apart()
    width = sum(size for size, _ in readings)
    if not width or not drawn.integers.size:
        return
    table, start = drawn.integers.reshape(-1, width), 0
    for (size, reading), side in zip(readings, release.sides, strict=True):
        if isinstance(reading, SumsReading):
            yield Part(
                place=place,
                name=name,
                release=release,
                query=side.query,
                names={own: held for own, held in side.names.items() if own not in release.keys},
                reading=reading,
                terms=reading.terms,
                integers=table[:, start : start + size],
                noise=drawn.noise,
                facts=facts_of(release, side.query, len(table)),
                variable=variable_of(release, side.query),
            )
        start += size


def known_of(form: np.ndarray[tuple[int], np.dtype[np.float64]], noise: Noise, law: str) -> Known:
    """Return a noisy integer as a number of which something is known.

    The noise of a law that is drawn as an integer becomes unimodal, as the bounds of intervals
    need it, by adding a uniform number: that has a variance of 1/12, too.
    """
    more = 0.0 if law in _CONTINUOUS else 1 / 12
    return Known(tuple(form.tolist()), noise.stddev**2 + more, 0.5, law)
