"""A filter, and beside it the probability that releases fail outright."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final, final

from neyman.accounting._filter import Filter, filter_for
from neyman.accounting._tail import Tail, cheapest_tail, failure_within
from neyman.curves import TradeOff, approx_dp, gdp, pure_dp
from neyman.errors import InvalidParameter, UnsupportedComposition
from neyman.numerics import Real, at_least, at_most, exact, text

__all__ = ["Amount", "Budget", "budget_for", "cap_of"]

_SPARED: Final = Fraction(1, 2**40)
# A tail that saves less is not worth its delta.
_NEARLY: Final = Fraction(99, 100)
# Of the delta of a cap that leaves no Gaussian without it.
_BY_DEFAULT: Final = Fraction(1, 10)


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

    Each release is at least f_i ⊗ f_{0,delta_i}, f_i charged to the filter. All of them together
    are as private as the filter's capacity ⊗ f_{0,delta}, however each depends on the answers
    before (docs/theory/accounts.md).

    Attributes:
        filter: what f_i is charged to.
        delta: what may be spent of delta, on tails and on what fails outright; 0 where nothing was
            set aside.
    """

    filter: Filter
    delta: Fraction = Fraction(0)

    @property
    def capacity(self) -> Amount:
        """All that may be spent."""
        return Amount(self.filter.capacity, self.delta)

    def cost(self, curve: TradeOff) -> Amount:
        """Return what a release with this trade-off function is charged, both numbers rounded up.

            (mu^2, t) with curve >= G_mu ⊗ f_{0,t}

        Under an account of mu^2, of all t the one with the least max(mu^2 / capacity, t / delta);
        t is 0, but for what fails outright, unless a tail saves one part in a hundred. The charge
        depends on the curve and on what was fixed at opening, and never on what is spent.

        Raises:
            NotCertified, InvalidParameter: as `Filter.cost`.
            UnsupportedComposition: if the account bounds it by no finite amount, or it may fail
                outright and no delta was set aside for that.

        >>> from neyman.accounting import dp_sgd
        >>> from neyman.curves import gdp
        >>> budget = budget_for(approx_dp(8, 1e-5))
        >>> float(budget.cost(gdp(0.1)).cost), float(budget.cost(gdp(0.1)).delta)
        (0.01, 0.0)
        >>> run = dp_sgd(noise_multiplier=1, sampling_probability=0.01, steps=1000)
        >>> f"{float(budget.share(budget.cost(run))):.4f}"
        '0.0816'
        """
        core, failed = self._parted(curve)
        if not self.delta or not core.certified:
            return Amount(self.filter.cost(core), failed)
        whole = self._whole(core)
        if whole is None or self.filter.about_beside(core, float(self.delta)) < whole * _NEARLY:
            tail = _tail(self, core, whole, failed)
            if tail is not None:
                return Amount(tail.cost, tail.failure + failed)
        return Amount(self.filter.cost(core) if whole is None else whole, failed)

    def due(self, curve: TradeOff, delta: Fraction) -> Amount:
        """Return what a release costs at least that was charged this much of delta.

        A charge is proved by this, by whatever rule its two numbers were chosen.

        Raises:
            NotCertified, InvalidParameter, UnsupportedComposition: as `cost`.
        """
        core, failed = self._parted(curve)
        if delta > failed and core.certified:
            cost = self.filter.cost_beside(core, failure_within(delta - failed))
            if cost is not None:
                return Amount(cost, delta)
        return Amount(self.filter.cost(core), failed)

    def share(self, amount: Amount) -> Fraction:
        """Return the larger of the shares that an amount is of both accounts."""
        cost = amount.cost / self.filter.capacity
        return max(cost, amount.delta / self.delta) if self.delta else cost

    def _parted(self, curve: TradeOff) -> "tuple[TradeOff, Fraction]":
        """Return a release without what fails outright, and the probability of that."""
        # The filter refuses an estimate, which may be no curve at all.
        if not curve.certified:
            return curve, Fraction(0)
        core, _, delta = curve.without_failure()
        if delta and not self.delta:
            raise UnsupportedComposition(
                f"{curve} fails outright with probability {at_most(delta, 6)}, and this ledger has "
                "set no delta aside for that; write Ledger.open(..., cap=approx_dp(epsilon, "
                "delta)) or cap=gdp(mu) @ approx_dp(0, delta), which set a part of their delta "
                "aside, declare the groups, or write noise whose curve has no delta"
            )
        return core, delta

    def _whole(self, core: TradeOff) -> Fraction | None:
        """Return what a release costs without a tail; None if no amount bounds it."""
        try:
            return self.filter.cost(core)
        except UnsupportedComposition:
            return None

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


# A training is priced before it is asked, when it is, and when it is asked again.
@lru_cache(maxsize=32)
def _tail(budget: Budget, core: TradeOff, whole: Fraction | None, failed: Fraction) -> Tail | None:
    return cheapest_tail(
        lambda failure: budget.filter.cost_beside(core, failure),
        (budget.filter.capacity, budget.delta),
        (whole, failed),
    )


def cap_of(
    *,
    mu: Real | None = None,
    epsilon: Real | None = None,
    delta: Real | None = None,
    rho: Real | None = None,
    delta_aside: Real | None = None,
) -> TradeOff | None:
    """Return the cap that people write as mu, as rho, or as epsilon, with delta or alone.

    Who keeps mu^2 = 2 rho keeps rho. `delta_aside` comes beside mu and rho, and is a part of
    the delta that goes with epsilon.

    Returns:
        The cap; None where none of the three is given.

    >>> cap_of(rho=0.5), cap_of(epsilon=1), cap_of(mu=1, delta_aside=1e-6)
    (gdp(mu=1), pure_dp(epsilon=1), gdp(mu=1) @ approx_dp(epsilon=0, delta=1e-06))
    """
    if epsilon is not None:
        return pure_dp(epsilon) if delta is None else approx_dp(epsilon, delta)
    if mu is None and rho is None:
        return None
    core = gdp(mu) if mu is not None else gdp(squared=2 * exact(rho or 0, "rho"))
    return core if delta_aside is None else core @ approx_dp(0, delta_aside)


def budget_for(cap: TradeOff, delta_aside: Real | None = None) -> Budget:
    """Return the budget that spends a cap, with a part of its delta set aside for tails.

        capacity ⊗ f_{0,delta_aside} >= cap

    With cap = g ⊗ f_{0,d}, d > delta_aside, the filter spends
    g ⊗ f_{0,(d-delta_aside)/(1-delta_aside)}; with d = delta_aside it spends g. So f_{epsilon,d}
    with all of d aside spends epsilon, for Laplace noise, and with less mu^2, for Gaussian noise.

    Args:
        cap: what all releases together keep.
        delta_aside: how much of the cap's delta to set aside, for tails of releases and for what
            fails outright. None for the usual: a tenth of approx_dp's, all of
            gdp(mu) @ approx_dp(0, d)'s, and nothing where the cap has none.

    Raises:
        NotCertified: if the cap is an estimate.
        InvalidParameter: if the cap cannot be spent, or has not so much delta.

    >>> from neyman.curves import approx_dp
    >>> budget_for(approx_dp(1, 1e-6)).delta, budget_for(approx_dp(1, 1e-6), 1e-6).filter
    (Fraction(1, 10000000), PureFilter(capacity=Fraction(1, 1)))
    """
    core, least, _ = cap.without_failure()
    share = _usual(core, least) if delta_aside is None else exact(delta_aside, "delta_aside")
    # Of a cap that protects nothing the filter says so.
    if not share or least == 1:
        return Budget(filter_for(cap))
    if not 0 < share <= least:
        found = f"has delta {at_least(least, 6)} to set aside" if least else "has no delta"
        raise InvalidParameter(
            f"delta_aside must be from 0 to the cap's delta; got {text(share)}, and cap={cap} "
            f"{found}. Write cap=approx_dp(epsilon, delta) or gdp(mu) @ approx_dp(0, delta), and "
            "a delta_aside up to that delta"
        )
    # A little less, so that the whole is proved to keep the cap in rounded arithmetic too.
    rest = (least - share) / (1 - share) * (1 - _SPARED)
    return Budget(filter_for(core @ approx_dp(0, rest) if rest else core), share)


def _usual(core: TradeOff, delta: Fraction) -> Fraction:
    """Return how much of a cap's delta is set aside where nobody says."""
    # Beside a Gaussian, delta that is not set aside buys next to nothing.
    return delta if not delta or core.inner_gaussian() > 0 else delta * _BY_DEFAULT
