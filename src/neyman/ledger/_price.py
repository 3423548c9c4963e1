"""The price of a release, and advice if it costs too much."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

from neyman.accounting import Amount, Budget, steps_within
from neyman.curves import TradeOff, gdp
from neyman.ledger._stock import Steps
from neyman.numerics import at_most, ceil_float

__all__ = ["Price", "instead_text", "price_of", "share_text"]

# If fewer than one in this many of a refused release's steps fit, the number is not searched for.
_FEW: Final = 20
_LITTLE: Final = 1e-9
_TAIL: Final = (
    ". Its tail decides this cost, and the cap has no delta to pay for a tail; for a new ledger "
    "write cap=approx_dp(epsilon, delta), or gdp(mu) @ approx_dp(0, delta)"
)


@final
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Price:
    """The charge that a ledger would make for a release. Nothing was charged.

    Attributes:
        account: what the ledger adds up: "mu^2" or "epsilon".
        cost: in the unit of the account, exactly as it would be charged.
        delta: the charge to the delta that was set aside, for the release's tail and its outright
            failure.
        share: the larger of its shares of the two accounts, rounded up; above 1 it can never fit.
    """

    account: str
    cost: Fraction
    delta: Fraction
    share: float

    @property
    def mu(self) -> float | None:
        """The mu that is charged, rounded up; None if the ledger adds up epsilons."""
        return None if self.account == "epsilon" else gdp(squared=self.cost).mu()

    @property
    def epsilon(self) -> Fraction | None:
        """The epsilon that is charged; None if the ledger adds up squares of mu."""
        return self.cost if self.account == "epsilon" else None

    def __repr__(self) -> str:
        name, value = ("mu", self.mu) if self.epsilon is None else ("epsilon", self.epsilon)
        numbers = {name: value or 0, "delta": self.delta, "share": Fraction(self.share)}
        return f"Price({', '.join(f'{key}={at_most(x, 3)}' for key, x in numbers.items())})"


def price_of(budget: Budget, curve: TradeOff) -> Price:
    """Return the charge of a budget for a release."""
    amount = budget.cost(curve)
    return Price(
        account=budget.filter.account,
        cost=amount.cost,
        delta=amount.delta,
        share=ceil_float(budget.share(amount)),
    )


def share_text(budget: Budget, spent: Amount) -> str:
    """Return the share of each account that an amount takes, rounded up, as text."""
    parts = [(spent.cost, budget.filter.capacity, budget.filter.account)]
    if budget.delta:
        parts.append((spent.delta, budget.delta, "delta"))
    return ", ".join(f"{at_most(100 * part / most, 3)} % of {name}" for part, most, name in parts)


def instead_text(budget: Budget, curve: TradeOff, left: Amount, steps: Steps | None = None) -> str:
    """Return what part of a refused release would fit: some of its steps, or all but its tail.

    Args:
        budget: the budget that refused it.
        curve: of the release.
        left: the remaining amount, in both accounts.
        steps: the steps of the release; None if its curve is a power.

    Returns:
        A clause that begins with a full stop; empty if neither helps.
    """
    if not budget.delta and _tail_decides(budget, curve):
        return _TAIL
    if not budget.delta and steps is None:
        return ""
    step, asked = curve.as_power() if steps is None else (steps.step, steps.count)
    least = max(1, asked // _FEW)
    fitting = steps_within(budget, step, left, least=least, most=asked) if asked > 1 else asked
    if fitting == asked:
        return ""
    few = "none fits" if least == 1 else f"fewer than {least:,} fit"
    return f". You asked for {asked:,} steps; {f'{fitting:,} fit' if fitting else few}"


def _tail_decides(budget: Budget, curve: TradeOff) -> bool:
    """Return whether a release would cost less than half if a little delta paid for its tail."""
    half = budget.filter.cost(curve) / 2
    if budget.filter.about_beside(curve, _LITTLE) > half:
        return False
    beside = budget.filter.cost_beside(curve, _LITTLE)
    return beside is not None and beside < half
