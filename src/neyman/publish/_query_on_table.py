"""A query of a spec, with its table and groups."""

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
# The noise to suggest if one does not fit the integers of a query.
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
    """A query with its table, not compiled yet.

    Attributes:
        query: the query of the spec.
        table: its rows, with the limits of the query.
        by: its groups.
        amount: the account and the budget of a query with a share; None without a share.
    """

    query: Query
    table: Table = field(repr=False)
    by: Groups
    amount: tuple[str, Fraction] | None = None

    @classmethod
    def of(cls, query: Query, table: Table, by: Groups) -> Self:
        """Return a query with its rows, under its own limits if it has some."""
        with in_part(f"query {query.entry!r}"):
            if query.where is not None:
                table = table.where(query.where)
            if query.limited:
                table = table.bounded(
                    max_rows=query.max_rows, max_rows_per_group=query.max_rows_per_group
                )
        return cls(query, table, by)

    def question(self, table: Table) -> Aggregate:
        """Return the question about a table, this one or a similar one.

        Raises:
            SpecError, InvalidTable: if it does not fit the table.
        """
        with in_part(f"query {self.query.entry!r}"):
            return self.query.ask(table, self.by)

    def noise(self, question: Aggregate) -> Mechanism:
        """Return the noise that spends the budget of the query.

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
        """Return the noise that the query names, or the usual one for its budget."""
        ((key, share),) = self.query.spends.items()
        name = self.query.noise or USUAL_NOISES[key]
        if NOISES[name].one_integer and sensitivity.coordinates != 1:
            raise SpecError(
                f"query {self.query.entry!r}: this noise protects one integer, and a unit changes "
                f"up to {sensitivity.coordinates} here (a mean has two, and each group has its "
                f"own). Write {_INSTEAD[name]}, or a count or sum without by, or with max_rows = 1"
            )
        try:
            return NOISES[name].makes[key](sensitivity, share)
        except SensitivityMismatch as error:
            raise SpecError(
                f"query {self.query.entry!r}: {error}; in a spec, write {_INSTEAD[name]}"
            ) from error

    def drawn_noise(self, question: Aggregate) -> Mechanism:
        """Return the noise that is drawn, with the budget that the companion leaves.

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
            SpecError, InvalidTable, InvalidParameter: if the query cannot be asked.
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
    """Add the part of the spec to an error; raise table errors as `kind`."""
    try:
        yield
    except InvalidParameter as error:
        raise SpecError(f"{place}: {error}") from error
    except InvalidTable as error:
        raise (kind or type(error))(f"{place}: {error}") from error
