"""The budget of a ledger: a filter, and a sum of the probabilities of outright failure."""

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
# The share of delta set aside by default if the cap without its delta allows no Gaussian noise.
_BY_DEFAULT: Final = Fraction(1, 10)


@final
@dataclass(frozen=True, slots=True)
class Amount:
    """What a release costs, or what is left of a budget: a cost and a delta.

    An amount fits into another if its cost and its delta are both at most those of the other.

    Attributes:
        cost: in the unit of the filter, such as mu^2.
        delta: the delta that is paid beside the cost, for tails and for outright failures.
    """

    cost: Fraction
    delta: Fraction = Fraction(0)

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.cost + other.cost, self.delta + other.delta)

    def __sub__(self, other: "Amount") -> "Amount":
        return Amount(self.cost - other.cost, self.delta - other.delta)

    def times(self, count: int) -> "Amount":
        """Return `count` times this amount."""
        return Amount(self.cost * count, self.delta * count)

    def fits(self, other: "Amount") -> bool:
        """Return whether cost and delta are both at most those of the other amount."""
        return self.cost <= other.cost and self.delta <= other.delta

    def __str__(self) -> str:
        """Return the cost, followed by a comma and delta if delta is positive."""
        return f"{self.cost}, {self.delta}" if self.delta else str(self.cost)


@final
@dataclass(frozen=True, slots=True)
class Budget:
    """A filter for the costs of releases, and a limit on the sum of their deltas.

        sum of costs <= capacity,   sum of delta_i <= delta

    Each release i has a trade-off function of at least f_i ⊗ f_{0,delta_i}. The filter is charged
    for f_i. All releases together satisfy the filter's capacity ⊗ f_{0,delta}, even if each depends
    on earlier answers (docs/theory/accounts.md).

    Attributes:
        filter: what f_i is charged to.
        delta: the most that the deltas may add up to, for tails and for outright failures; 0 if
            none was set aside.
    """

    filter: Filter
    delta: Fraction = Fraction(0)

    @property
    def capacity(self) -> Amount:
        """The whole budget: the filter's capacity and delta."""
        return Amount(self.filter.capacity, self.delta)

    def cost(self, curve: TradeOff) -> Amount:
        """Return the charge for a release with this trade-off function.

            (mu^2, t) with curve >= G_mu ⊗ f_{0,t}

        If the account is in mu^2, this chooses the t with the least max(mu^2 / capacity, t /
        delta). A tail is used only if it saves more than one part in a hundred; without one, t is
        only the probability of outright failure. The charge depends on the curve and on what was
        fixed when the ledger was opened. It never depends on what is already spent.

        Args:
            curve: the trade-off function of the release.

        Raises:
            NotCertified, InvalidParameter: as `Filter.cost`.
            UnsupportedComposition: if no finite amount of the account bounds the curve, or if the
                release may fail outright and no delta was set aside.

        Error: both numbers are rounded up.

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
        """Return the least amount that a release costs if this much delta is charged for it.

        A charge is correct if it is at least this, whatever rule chose its two numbers.

        Args:
            curve: the trade-off function of the release.
            delta: the delta of the charge.

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
        """Return the larger of the two shares of the budget that an amount takes."""
        cost = amount.cost / self.filter.capacity
        return max(cost, amount.delta / self.delta) if self.delta else cost

    def _parted(self, curve: TradeOff) -> "tuple[TradeOff, Fraction]":
        """Return the curve without its outright failure, and the probability of that failure."""
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
        """Return the cost of a release without a tail, or None if no amount bounds it."""
        try:
            return self.filter.cost(core)
        except UnsupportedComposition:
            return None

    def spent_curve(self, total: Amount) -> TradeOff:
        """Return the guarantee of all releases together once `total` is spent."""
        curve = self.filter.spent_curve(total.cost)
        return curve @ approx_dp(0, total.delta) if total.delta else curve

    def largest(self, remaining: Amount) -> str:
        """Return a sentence that names the weakest single guarantee that still fits, if any."""
        if remaining.cost <= 0 or remaining.delta < 0:
            return "nothing fits any more"
        curve = f"the most that still fits is {self.filter.largest(remaining.cost)}"
        return f"{curve}, with delta {at_least(remaining.delta, 6)}" if self.delta else curve


# The same training is priced several times: for a preview, for its charge and for a retry.
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
    """Return the cap that is written as mu, as rho, or as epsilon with or without delta.

    A cap of mu with mu^2 = 2 rho implies rho-zCDP, so rho is spent as mu.

    Args:
        mu: of Gaussian differential privacy; or
        epsilon: of differential privacy; or
        delta: with epsilon; None for pure differential privacy.
        rho: of zCDP, in place of mu.
        delta_aside: with mu or rho, added to the cap; with epsilon, a part of delta, which does not
            change the cap.

    Returns:
        The cap; None if none of mu, epsilon and rho is given.

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
    """Return the budget that spends a cap, with a part of the cap's delta set aside for tails.

        capacity ⊗ f_{0,delta_aside} >= cap

    Let cap = g ⊗ f_{0,d}. If d > delta_aside, the filter spends g ⊗
    f_{0,(d-delta_aside)/(1-delta_aside)}; if d = delta_aside, it spends g. So for f_{epsilon,d}
    with all of d aside, the account is in epsilon, which suits Laplace noise. With less of d aside
    it is in mu^2, which suits Gaussian noise.

    Args:
        cap: the guarantee that all releases together must satisfy.
        delta_aside: how much of the cap's delta to set aside, for tails of releases and for
            outright failures. None takes the default: a tenth of the delta of approx_dp, all of d
            for gdp(mu) @ approx_dp(0, d), and nothing if the cap has no delta.

    Raises:
        NotCertified: if the cap is an estimate.
        InvalidParameter: if the cap cannot be spent, or if its delta is smaller than `delta_aside`.

    >>> from neyman.curves import approx_dp
    >>> budget_for(approx_dp(1, 1e-6)).delta, budget_for(approx_dp(1, 1e-6), 1e-6).filter
    (Fraction(1, 10000000), PureFilter(capacity=Fraction(1, 1)))
    """
    core, least, _ = cap.without_failure()
    share = _usual(core, least) if delta_aside is None else exact(delta_aside, "delta_aside")
    # The filter refuses a cap that protects nothing.
    if not share or least == 1:
        return Budget(filter_for(cap))
    if not 0 < share <= least:
        found = f"has delta {at_least(least, 6)} to set aside" if least else "has no delta"
        raise InvalidParameter(
            f"delta_aside must be from 0 to the cap's delta; got {text(share)}, and cap={cap} "
            f"{found}. Write cap=approx_dp(epsilon, delta) or gdp(mu) @ approx_dp(0, delta), and "
            "a delta_aside up to that delta"
        )
    # A little less, so that the total is proved to satisfy the cap in rounded arithmetic too.
    rest = (least - share) / (1 - share) * (1 - _SPARED)
    return Budget(filter_for(core @ approx_dp(0, rest) if rest else core), share)


def _usual(core: TradeOff, delta: Fraction) -> Fraction:
    """Return how much of a cap's delta is set aside by default."""
    # Beside a Gaussian, delta that is not set aside buys next to nothing.
    return delta if not delta or core.inner_gaussian() > 0 else delta * _BY_DEFAULT
