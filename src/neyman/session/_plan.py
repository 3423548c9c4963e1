"""A plan: questions that share a budget, priced together before the first is charged."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, final

from neyman.calls import plain_calls_of
from neyman.displayed import Displayed
from neyman.errors import InvalidParameter
from neyman.mechanisms import noise_charged
from neyman.numerics import Real, exact
from neyman.publish import Plan, PlanPreview, Step, publish
from neyman.session._question import Answer, Question, answer_of
from neyman.session._spends import check_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neyman.session._session import Session

__all__ = ["Planned", "planned"]


@plain_calls_of
@final
@dataclass(frozen=True, slots=True)
class Planned(Displayed):
    """Questions by id, each with its part of the budget. Nothing has been charged.

    Attributes:
        plan: the plan in the form that `publish.publish` takes.
        session: the session whose ledger pays.
    """

    plan: Plan
    session: "Session"

    def __str__(self) -> str:
        return str(self.preview())

    def preview(
        self,
        *,
        records: "int | Sequence[int] | None" = None,
        like: object = None,
        spread: Mapping[str, tuple[Real, Real]] = MappingProxyType({}),
    ) -> PlanPreview:
        """Return the price and the size of the noise of each question; no private row is read.

        Args:
            records: a public estimate of the number of rows, or several.
            like: public rows that resemble the private ones.
            spread: a public estimate of the mean and the standard deviation, by column.
        """
        return self.plan.preview(records=records, like=like, spread=spread)

    def release(self) -> dict[str, Answer]:
        """Charge, answer and store every question whose answer the ledger does not have yet.

        Returns:
            The answers of `Question.release`, by id.

        Raises:
            BudgetExceeded: if the budget does not suffice for all; nothing has been charged.
            EntryConflict: if an id belongs to another question in the ledger.
        """
        found = publish(self.plan)
        return {
            name: answer_of(self.session.keep(name, release))
            for name, release in zip(found.names, found.releases, strict=True)
        }


def planned(
    session: "Session",
    questions: Mapping[str, Question],
    *,
    weights: Mapping[str, Real],
    share: Real,
) -> Planned:
    """Divide a share of the ledger's budget among questions, in proportion to their weights.

    Raises:
        InvalidParameter: if there is no question, a weight has an unknown id or is not positive,
            the share is not in (0, 1], or the groups of a question are not declared.
    """
    part = check_share("share", share)
    if not questions:
        raise InvalidParameter(
            "a plan needs at least one question; got none. Write {id: question, ...}"
        )
    for name in weights:
        if name not in questions:
            raise InvalidParameter(
                f"weights must have ids of the plan; got {name!r}. "
                f"Write some of {', '.join(map(repr, questions))}"
            )
    sizes = {name: exact(weights.get(name, 1), f"weights[{name!r}]") for name in questions}
    if min(sizes.values()) <= 0:
        raise InvalidParameter(
            "weights must be positive; got 0 or less. Leave the question out of the plan instead"
        )
    ledger = session.paying
    whole = part * ledger.capacity / sum(sizes.values(), Fraction(0))
    return Planned(
        Plan(
            title="Plan",
            steps=tuple(
                Step(
                    entry=name,
                    aggregate=question.aggregate,
                    mechanism=noise_charged(
                        question.aggregate.sensitivity, ledger.account, whole * sizes[name]
                    ),
                    complete=question.session.complete,
                )
                for name, question in questions.items()
            ),
            files=(),
            ledger=ledger.store,
            cap=ledger.cap,
            unit=ledger.unit,
            neighbors=ledger.neighbors,
            delta_aside=ledger.delta_aside,
        ),
        session,
    )
