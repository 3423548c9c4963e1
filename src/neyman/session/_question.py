"""A question of a session, which you can preview and release."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias, final

from neyman.aggregate import Aggregate, IntArray
from neyman.calls import plain_calls_of
from neyman.displayed import Displayed
from neyman.divided import SHARE
from neyman.door import release
from neyman.mechanisms import Mechanism
from neyman.numerics import Real
from neyman.released import RecordedQuestion, Release
from neyman.sensitivity import Sensitivity
from neyman.session._spends import Spends

if TYPE_CHECKING:
    from neyman.publish import Preview
    from neyman.session._functions import FunctionRelease, FunctionReleases
    from neyman.session._session import Session

__all__ = ["Answer", "Question", "answer_of"]

Answer: TypeAlias = "Release | FunctionRelease | FunctionReleases"


@plain_calls_of
@final
@dataclass(frozen=True, slots=True)
class Question(Displayed):
    """A question about a table, checked against its columns and types, and not yet released.

    Attributes:
        aggregate: the question in the form that `neyman.release` takes.
        session: the session whose ledger pays.
    """

    aggregate: Aggregate
    session: "Session" = field(repr=False)

    def __repr__(self) -> str:
        question = RecordedQuestion.of(self.aggregate.query)
        of = ", ".join(question.columns[:1] if question.own else question.columns)
        return (
            f"<{question.statistic}{of and f' of {of}'}, not released yet; protects "
            f"{self.aggregate.unit}>"
        )

    @property
    def sensitivity(self) -> Sensitivity:
        """How much one unit can change the exact integers of the answer."""
        return self.aggregate.sensitivity

    @property
    def sql(self) -> str | None:
        """The SQL statement of the question; None if it has none."""
        return None if self.aggregate.sql is None else self.aggregate.sql()

    def compute(self) -> IntArray:
        """Return the exact integers. NOT private: only for tests on rows that you may see."""
        return self.aggregate.compute()

    def noise(
        self,
        *,
        mu: Real | None = None,
        epsilon: Real | None = None,
        rho: Real | None = None,
        share: Real | None = None,
        noise: str | Mechanism | None = None,
        delta: Real | None = None,
    ) -> Mechanism:
        """Return the mechanism that spends a budget, given as for `release`."""
        spends = Spends(mu=mu, epsilon=epsilon, rho=rho, share=share, noise=noise, delta=delta)
        ledger = self.session.ledger
        whole = None if ledger is None else (ledger.account, ledger.capacity)
        return spends.of(self.aggregate, whole)

    def preview(
        self,
        *,
        mu: Real | None = None,
        epsilon: Real | None = None,
        rho: Real | None = None,
        share: Real | None = None,
        noise: str | Mechanism | None = None,
        delta: Real | None = None,
        records: int | Sequence[int] | None = None,
        like: object = None,
        spread: Mapping[str, tuple[Real, Real]] = MappingProxyType({}),
        confidence: float = 0.95,
        companion: Real = SHARE,
    ) -> "Preview":
        """Return how large the noise of a release would be; nothing is charged, no row is read.

        Args:
            mu: as for `release`.
            epsilon: as for `release`.
            rho: as for `release`.
            share: as for `release`.
            noise: as for `release`.
            delta: as for `release`.
            records: a public estimate of the number of rows, or several.
            like: public rows that resemble the private ones; group sizes and spreads are taken
                from them.
            spread: a public estimate of the mean and the standard deviation, by column.
            confidence: the coverage of the intervals, in (0, 1).
            companion: as for `release`.

        Raises:
            InvalidParameter, SensitivityMismatch: as `release`, and as `publish.preview`.
        """
        from neyman.publish import preview

        made = self.noise(mu=mu, epsilon=epsilon, rho=rho, share=share, noise=noise, delta=delta)
        return preview(
            self.aggregate,
            made,
            records=records,
            confidence=confidence,
            like=like,
            spread=spread,
            companion=companion,
        )

    def release(
        self,
        id: str,  # noqa: A002
        *,
        mu: Real | None = None,
        epsilon: Real | None = None,
        rho: Real | None = None,
        share: Real | None = None,
        noise: str | Mechanism | None = None,
        delta: Real | None = None,
        confidence: float = 0.95,
        companion: Real = SHARE,
    ) -> Answer:
        """Charge the ledger, add noise to the answer, and store and return it.

        If the ledger already has the id, the stored answer is returned, free.

        Args:
            id: the id of this release in the ledger.
            mu: the budget of this release in Gaussian differential privacy. Give exactly one of
                mu, epsilon, rho, share, or a mechanism as noise.
            epsilon: the budget in pure differential privacy.
            rho: the budget in zero-concentrated differential privacy.
            share: the budget as a share of the ledger's total budget, in (0, 1].
            noise: the name of a noise for mu, epsilon or rho, as in a spec; or a mechanism.
            delta: the part of delta_aside to spend on undeclared groups.
            confidence: the coverage of the noise intervals, in (0, 1).
            companion: the share of this budget that measures the effect of limits and bounds.

        Returns:
            The release. If the question is a function, the released function.

        Raises:
            InvalidParameter: if there is no ledger, or a declaration cannot be used.
            BudgetExceeded: if the budget does not suffice; nothing is charged.
            EntryConflict: if the id belongs to another question in the ledger.
            SensitivityMismatch, MissingExtra, RelationMismatch, BrokenRandomness, EngineFailure,
            LedgerUnavailable, LedgerCorrupt: as `neyman.release`.

        Guarantee: as for `neyman.release`.
        """
        ledger = self.session.paying
        made = self.noise(mu=mu, epsilon=epsilon, rho=rho, share=share, noise=noise, delta=delta)
        answer = release(
            self.aggregate, made, ledger, entry=id, confidence=confidence, companion=companion
        )
        return answer_of(self.session.keep(id, answer.declared(self.session.complete)))


def answer_of(release: Release) -> Answer:
    """Return a release of a function as that function, and any other release unchanged."""
    if "coefficient" not in release.columns:
        return release
    # A count does not wait for the import of everything that reads a function.
    from neyman.session._functions import functions_of

    return functions_of(release)
