"""A question of a session: look at it, preview it, release it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, final

from neyman.aggregate import Aggregate, IntArray
from neyman.calls import plain_calls_of
from neyman.displayed import Displayed
from neyman.divided import SHARE
from neyman.door import release
from neyman.mechanisms import Mechanism
from neyman.numerics import Real
from neyman.sensitivity import Sensitivity
from neyman.session._answer import Answer, answer_of
from neyman.session._spends import Spends

if TYPE_CHECKING:
    from neyman.publish import Preview
    from neyman.session._session import Session

from neyman.released import RecordedQuestion

__all__ = ["Question"]


@plain_calls_of
@final
@dataclass(frozen=True, slots=True)
class Question(Displayed):
    """A question of a table, checked against its columns and types, and not yet asked.

    Attributes:
        aggregate: the question itself, as `neyman.release` takes it.
        session: whose ledger pays.
    """

    aggregate: Aggregate
    session: "Session" = field(repr=False)

    def __repr__(self) -> str:
        question = RecordedQuestion.of(self.aggregate.query)
        of = ", ".join(question.columns[:1] if question.own else question.columns)
        return (
            f"<{question.statistic}{of and f' of {of}'}, not asked yet; protects "
            f"{self.aggregate.unit}>"
        )

    @property
    def sensitivity(self) -> Sensitivity:
        """How far one unit can move the exact integers of the answer."""
        return self.aggregate.sensitivity

    @property
    def sql(self) -> str | None:
        """The statement that would be run; None where there is none."""
        return None if self.aggregate.sql is None else self.aggregate.sql()

    def compute(self) -> IntArray:
        """Return the exact integers. NOT private: for tests on rows that you may look at."""
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
        """Return the noise that spends a budget, given as for `release`."""
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
        """Say how large the noise of a release would be; nothing is charged, no row is read.

        Args:
            mu: as for `release`, with `epsilon`, `rho`, `share`, `noise` and `delta`.
            epsilon: see mu.
            rho: see mu.
            share: see mu.
            noise: see mu.
            delta: see mu.
            records: a public number of rows of the table, or several.
            like: public rows like the private ones, from which sizes and spreads are taken.
            spread: by column, a mean and a standard deviation, a public guess.
            confidence: of the intervals.
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
        """Charge the ledger, answer with noise and store the answer.

        The same id asked again returns the stored answer, free.

        Args:
            id: the name of this release in the ledger.
            mu: what it may spend, in Gaussian differential privacy; exactly one of mu, epsilon,
                rho, share, or a mechanism as noise.
            epsilon: in pure differential privacy.
            rho: in zero-concentrated differential privacy.
            share: a part of the ledger's whole budget, in (0, 1].
            noise: the name of a noise for mu, epsilon or rho, as in a spec; or a mechanism.
            delta: what may be spent of delta_aside, where nobody declared the groups.
            confidence: of the noise intervals, in (0, 1).
            companion: the share of the budget that tells what limits and bounds did.

        Returns:
            The release; of a function, the released function at its best reading.

        Raises:
            InvalidParameter: if there is no ledger, or a declaration is unusable.
            BudgetExceeded: if it would pass the budget; nothing is charged.
            EntryConflict: if the id stands for something else in the ledger.
            SensitivityMismatch, MissingExtra, RelationMismatch, BrokenRandomness, EngineFailure,
            LedgerUnavailable, LedgerCorrupt: as `neyman.release`.

        Guarantee: that of `neyman.release`.
        """
        ledger = self.session.paying
        made = self.noise(mu=mu, epsilon=epsilon, rho=rho, share=share, noise=noise, delta=delta)
        answer = release(
            self.aggregate, made, ledger, entry=id, confidence=confidence, companion=companion
        )
        return answer_of(self.session.keep(id, answer.declared(self.session.complete)))
