"""A query of a spec, with all that it is asked of."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, Self, final

from neyman.aggregate import Aggregate
from neyman.divided import SHARE, divided
from neyman.errors import InvalidParameter, InvalidTable, SensitivityMismatch, SpecError
from neyman.mechanisms import NOISES, USUAL_NOISES, Mechanism, Thresholded, noise_charged
from neyman.publish._plan import Step
from neyman.publish._queries import Query
from neyman.publish._queries._query import Groups
from neyman.sensitivity import Sensitivity
from neyman.tables import Table

__all__ = ["QueryOnTable", "in_part"]


_GAUSSIAN: Final = 'noise = "gaussian" with mu'
_LAPLACE: Final = 'noise = "laplace" with epsilon'
# What to write where a noise does not go with the integers of a query.
_INSTEAD: Final[Mapping[str, str]] = {
    "gaussian": _LAPLACE,
    "laplace": _GAUSSIAN,
    "discrete_gaussian": _GAUSSIAN,
    "discrete_laplace": _GAUSSIAN,
    "staircase": _LAPLACE,
    "canonical": f"{_GAUSSIAN} or {_LAPLACE}",
}


@final
@dataclass(frozen=True, slots=True)
class QueryOnTable:
    """One query with its table, not compiled yet.

    Attributes:
        query: as the spec has it.
        table: the rows that it is about, with the limits that it is asked under.
        by: its groups.
        amount: of a query with a share, what it may spend, and of which account of a ledger.
    """

    query: Query
    table: Table = field(repr=False)
    by: Groups
    amount: tuple[str, Fraction] | None = None

    @classmethod
    def of(cls, query: Query, table: Table, by: Groups) -> Self:
        """Take only the rows that a query is about, and its own limits where it has some."""
        with in_part(f"query {query.entry!r}"):
            if query.where is not None:
                table = table.where(query.where)
            if query.limited:
                table = table.bounded(
                    max_rows=query.max_rows, max_rows_per_group=query.max_rows_per_group
                )
        return cls(query, table, by)

    def question(self, table: Table) -> Aggregate:
        """Ask a table, this one or a like one.

        Raises:
            SpecError, InvalidTable: if it does not go with the table.
        """
        with in_part(f"query {self.query.entry!r}"):
            return self.query.ask(table, self.by)

    def noise(self, question: Aggregate) -> Mechanism:
        """Calibrate the noise to what the query may spend.

        Raises:
            SpecError, InvalidParameter: if there is no such noise.
        """
        query, sensitivity = self.query, question.sensitivity
        if self.amount is not None:
            with in_part(f"query {query.entry!r}"):
                noise = noise_charged(sensitivity, *self.amount)
        else:
            noise = self._named_noise(sensitivity)
        if query.delta is None:
            return noise
        with in_part(f"query {query.entry!r}"):
            return Thresholded.calibrate(sensitivity, noise=noise, delta=query.delta)

    def _named_noise(self, sensitivity: Sensitivity) -> Mechanism:
        """Return the noise of the query's name, or the usual one for what it spends."""
        ((key, share),) = self.query.spends.items()
        name = self.query.noise or USUAL_NOISES[key]
        if NOISES[name].one_integer and sensitivity.coordinates != 1:
            raise SpecError(
                f"query {self.query.entry!r}: this noise hides one integer, and one unit moves up "
                f"to {sensitivity.coordinates} here, for a mean is two and each group is one; "
                f"write {_INSTEAD[name]}, or a count or sum without by, or with max_rows = 1"
            )
        try:
            return NOISES[name].makes[key](sensitivity, share)
        except SensitivityMismatch as error:
            raise SpecError(
                f"query {self.query.entry!r}: {error}; in a spec, write {_INSTEAD[name]}"
            ) from error

    def drawn_noise(self, question: Aggregate) -> Mechanism:
        """Return the noise that is drawn: that of the budget which the companion leaves.

        Raises:
            SpecError, InvalidParameter: if there is no such noise.
        """
        return divided([(question, self.noise(question), self._companion)])[0].noise

    @property
    def _companion(self) -> Fraction:
        given = self.query.companion
        return SHARE if given is None else Fraction(given)

    def step(self) -> Step:
        """Return the question with its noise.

        Raises:
            SpecError, InvalidTable, InvalidParameter: if it cannot be asked so.
        """
        question = self.question(self.table)
        noise, query = self.noise(question), self.query
        return Step(
            entry=query.entry,
            aggregate=question,
            mechanism=noise,
            companion=self._companion,
            batch=query.batch,
        )


@contextmanager
def in_part(place: str, kind: type[Exception] | None = None) -> Generator[None]:
    """Say of a mistake which part of the spec it is in; of one of a table as this kind of error."""
    try:
        yield
    except InvalidParameter as error:
        raise SpecError(f"{place}: {error}") from error
    except InvalidTable as error:
        raise (kind or type(error))(f"{place}: {error}") from error
