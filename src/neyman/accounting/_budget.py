"""A filter, and beside it the probability that releases fail outright."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

from neyman.accounting._filter import Filter, filter_for
from neyman.curves import TradeOff, approx_dp, gdp, pure_dp
from neyman.errors import InvalidParameter, UnsupportedComposition
from neyman.numerics import Real, at_least, at_most, exact, text

__all__ = ["Amount", "Budget", "budget_for", "cap_of"]

_SPARED: Final = Fraction(1, 2**40)


@final
@dataclass(frozen=True, slots=True)
class Amount:
    """What a release is charged: in the account's unit, and of delta.

    Attributes:
        cost: in the unit of the filter's account.
        delta: the probability that it fails outright.
    """

    cost: Fraction
    delta: Fraction = Fraction(0)

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.cost + other.cost, self.delta + other.delta)

    def __sub__(self, other: "Amount") -> "Amount":
        return Amount(self.cost - other.cost, self.delta - other.delta)

    def times(self, count: int) -> "Amount":
        """Return the amount, `count` times."""
        return Amount(self.cost * count, self.delta * count)

    def fits(self, other: "Amount") -> bool:
        """Whether both numbers are at most the other's."""
        return self.cost <= other.cost and self.delta <= other.delta

    def __str__(self) -> str:
        """Write the cost, and delta after a comma if there is any."""
        return f"{self.cost}, {self.delta}" if self.delta else str(self.cost)


@final
@dataclass(frozen=True, slots=True)
class Budget:
    """A filter for what releases tell, and a sum of deltas for what may betray a unit outright.

        sum of costs <= capacity,   sum of delta_i <= delta

    Each release is f_i ⊗ f_{0,delta_i}, f_i charged to the filter. All of them together are as
    private as the filter's capacity ⊗ f_{0,delta}, however each depends on the answers before
    (docs/theory/unknown_groups.md).

    Attributes:
        filter: what f_i is charged to.
        delta: what may be spent of delta; 0 where nothing was set aside.
    """

    filter: Filter
    delta: Fraction = Fraction(0)

    @property
    def capacity(self) -> Amount:
        """All that may be spent."""
        return Amount(self.filter.capacity, self.delta)

    def cost(self, curve: TradeOff) -> Amount:
        """Return what a release with this trade-off function is charged, both numbers rounded up.

        Raises:
            NotCertified, InvalidParameter: as `Filter.cost`.
            UnsupportedComposition: if the account bounds it by no finite amount, or it may fail
                outright and no delta was set aside for that.
        """
        core, _, delta = curve.without_failure()
        if delta and not self.delta:
            raise UnsupportedComposition(
                f"{curve} fails outright with probability {at_most(delta, 6)}, and this ledger has "
                "set no delta aside for that; write Ledger.open(..., cap=approx_dp(epsilon, "
                "delta), delta_for_groups=...) with a part of the cap's delta, declare the groups, "
                "or write noise whose curve has no delta"
            )
        return Amount(self.filter.cost(core), delta)

    def spent_curve(self, total: Amount) -> TradeOff:
        """Return the guarantee of everything released when `total` has been spent."""
        curve = self.filter.spent_curve(total.cost)
        return curve @ approx_dp(0, total.delta) if total.delta else curve

    def largest(self, remaining: Amount) -> str:
        """Say the weakest single guarantee that still fits, if any does."""
        if remaining.cost <= 0 or remaining.delta < 0:
            return "nothing fits any more"
        curve = f"the most that still fits is {self.filter.largest(remaining.cost)}"
        return f"{curve}, with delta {at_least(remaining.delta, 6)}" if self.delta else curve


def cap_of(
    *,
    mu: Real | None = None,
    epsilon: Real | None = None,
    delta: Real | None = None,
    rho: Real | None = None,
    delta_for_groups: Real | None = None,
) -> TradeOff | None:
    """Return the cap that people write as mu, as rho, or as epsilon, with delta or alone.

    Who keeps mu^2 = 2 rho keeps rho. `delta_for_groups` comes beside mu and rho, and is a part of
    the delta that goes with epsilon.

    Returns:
        The cap; None where none of the three is given.

    >>> cap_of(rho=0.5), cap_of(epsilon=1), cap_of(mu=1, delta_for_groups=1e-6)
    (gdp(mu=1), pure_dp(epsilon=1), gdp(mu=1) @ approx_dp(epsilon=0, delta=1e-06))
    """
    if epsilon is not None:
        return pure_dp(epsilon) if delta is None else approx_dp(epsilon, delta)
    if mu is None and rho is None:
        return None
    core = gdp(mu) if mu is not None else gdp(squared=2 * exact(rho or 0, "rho"))
    return core if delta_for_groups is None else core @ approx_dp(0, delta_for_groups)


def budget_for(cap: TradeOff, delta: Real | None = None) -> Budget:
    """Return the budget that spends a cap, with a part of its delta set aside for outright failure.

        capacity ⊗ f_{0,delta} >= cap

    With cap = g ⊗ f_{0,d}, d > delta, the filter spends g ⊗ f_{0,(d-delta)/(1-delta)}; with
    d = delta it spends g. So f_{epsilon,d} with delta = d spends epsilon, for Laplace noise, and
    with a smaller delta mu^2, for Gaussian noise.

    Args:
        cap: what all releases together keep.
        delta: how much of the cap's delta to set aside; None for nothing.

    Raises:
        NotCertified: if the cap is an estimate.
        InvalidParameter: if the cap cannot be spent, or has not so much delta.

    >>> from neyman.curves import approx_dp
    >>> budget_for(approx_dp(1, 1e-6), 1e-6).filter
    PureFilter(capacity=Fraction(1, 1))
    """
    if delta is None:
        return Budget(filter_for(cap))
    share = exact(delta, "delta_for_groups")
    core, least, _ = cap.without_failure()
    if not 0 < share <= least:
        found = f"has delta {at_least(least, 6)} to set aside" if least else "has no delta"
        raise InvalidParameter(
            f"delta_for_groups={text(share)} was asked of cap={cap}, which {found}; write "
            "cap=approx_dp(epsilon, delta) or gdp(mu) @ approx_dp(0, delta), and a positive "
            "delta_for_groups up to that delta"
        )
    # A little less, so that the whole is proved to keep the cap in rounded arithmetic too.
    rest = (least - share) / (1 - share) * (1 - _SPARED) if share < 1 else Fraction(0)
    return Budget(filter_for(core @ approx_dp(0, rest) if rest else core), share)
