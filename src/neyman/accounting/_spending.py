"""A mutable account in memory: a release is charged before it is drawn, never beyond the cap."""

import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable
from fractions import Fraction
from typing import final

import numpy as np

from neyman.accounting._budget import Amount, Budget
from neyman.curves import TradeOff, approx_dp, identity, rdp
from neyman.curves._statements._real_line import rounded_up
from neyman.errors import BudgetExceeded, InvalidParameter, NotCertified, UnsupportedComposition
from neyman.numerics import Real, exact, standing, text

__all__ = [
    "AdvancedSpending",
    "BudgetSpending",
    "RenyiSpending",
    "Spending",
]

_LEAST = Fraction(1, 2**1000)
_LEAST_BOUND = Fraction(1, 2**100)
_Costs = tuple[Fraction, ...]


class Spending(ABC):
    """An account of one or several capacities; a release must fit into all of them.

    Each release, its noise, and the decision to make it may depend on earlier answers. An account
    is one mutable object: charge first, then draw. It lasts only as long as the process; use a
    `Ledger` for a budget that must last longer.

    Guarantee: costs round up, capacities round down, and sums are exact. A charge that does not fit
        raises and changes nothing. Charges from several threads are made one after the other.
    """

    def __init__(self, capacities: _Costs) -> None:
        self._capacities = capacities
        self._spent = tuple(Fraction(0) for _ in capacities)
        self._turn = threading.Lock()

    @abstractmethod
    def _costs(self, curve: TradeOff) -> _Costs:
        """Return the charge for a release, rounded up."""

    @abstractmethod
    def _curve(self, spent: _Costs) -> TradeOff:
        """Return the guarantee of the releases so far."""

    @final
    @property
    def capacities(self) -> _Costs:
        """The capacity of each account."""
        return self._capacities

    @final
    @property
    def spent(self) -> _Costs:
        """The amount spent from each account."""
        return self._spent

    @final
    def fits(self, curve: TradeOff) -> bool:
        """Return whether `charge` would accept this release."""
        return self._room(self._costs(curve)) is not None

    @final
    def charge(self, curve: TradeOff) -> None:
        """Charge a release; draw it only after this has returned.

        Args:
            curve: the trade-off function of the release.

        Raises:
            BudgetExceeded: if it does not fit; nothing is charged.
            NotCertified: if the curve is an estimate.
            UnsupportedComposition: if no finite amount of the account bounds it.
        """
        costs = self._costs(curve)
        with self._turn:
            spent = self._room(costs)
            if spent is None:
                raise BudgetExceeded(
                    f"{curve} costs more than what is left; ask for less, or stop here"
                )
            self._spent = spent

    @final
    def total(self) -> TradeOff:
        """Return the guarantee of all releases so far, if no more will follow.

        Guarantee: only for an analyst who stops here for reasons fixed beforehand. If the answers
            decide when to stop, use the cap, or a `LossOdometer`.
        """
        spent = self._spent
        return self._curve(spent) if any(spent) else identity()

    def _room(self, costs: _Costs) -> _Costs | None:
        after = tuple(s + c for s, c in zip(self._spent, costs, strict=True))
        fits = all(a <= c for a, c in zip(after, self._capacities, strict=True))
        return after if fits else None


@final
class BudgetSpending(Spending):
    """The two accounts of a ledger, in memory: a filter, and a sum of deltas.

    It charges the same as a ledger with the same cap, so it can charge trainings too.
    `BudgetSpending(Budget(rule))` is a filter alone: in mu^2 for Gaussians, epsilon for pure DP,
    rho for zCDP.

    >>> from neyman.accounting import budget_for, dp_sgd
    >>> from neyman.curves import approx_dp
    >>> account = BudgetSpending(budget_for(approx_dp(8, 1e-5)))
    >>> account.charge(dp_sgd(noise_multiplier=1, sampling_probability=0.01, steps=1000))
    >>> [f"{float(part / most):.3f}" for part, most in zip(account.spent, account.capacities)]
    ['0.082', '0.081']
    >>> from neyman.curves import gdp
    >>> account = BudgetSpending(budget_for(gdp(1)))
    >>> account.charge(gdp(0.6))
    >>> account.fits(gdp(0.8)), account.fits(gdp(0.81))
    (True, False)
    """

    def __init__(self, budget: Budget) -> None:
        super().__init__((budget.capacity.cost, budget.capacity.delta))
        self._budget = budget

    def _costs(self, curve: TradeOff) -> _Costs:
        amount = self._budget.cost(curve)
        return amount.cost, amount.delta

    def _curve(self, spent: _Costs) -> TradeOff:
        return self._budget.spent_curve(Amount(*spent))


@final
class RenyiSpending(Spending):
    """Rényi divergences at finitely many orders: they add at each, and none may exceed its bound.

    All releases together satisfy `rdp(points)`, at all the orders.

    Source: Feldman and Zrnic (2021), "Individual privacy accounting via a Rényi filter", applied
        at each order.

    >>> from neyman.curves import gdp
    >>> account = RenyiSpending([(2, 1), (8, 4)])
    >>> account.charge(gdp(0.5))
    >>> [round(float(spent), 12) for spent in account.spent]
    [0.25, 1.0]
    """

    def __init__(self, points: Iterable[tuple[Real, Real]]) -> None:
        read = [(exact(order, "order"), exact(bound, "divergence")) for order, bound in points]
        if len({order for order, _ in read}) < len(read) or any(b <= 0 for _, b in read):
            raise InvalidParameter(
                "points of a cap must be pairs of an order and a positive bound, each order once"
            )
        self._cap = rdp(read)
        self._orders = tuple(order for order, _ in read)
        super().__init__(tuple(bound for _, bound in read))

    def _costs(self, curve: TradeOff) -> _Costs:
        _check_certified(curve)
        orders = np.asarray([standing(order)[1] for order in self._orders])
        uppers = [float(x) for x in curve.renyi_bracket(orders).upper]
        if not all(map(math.isfinite, uppers)):
            raise UnsupportedComposition(
                f"{curve} has an infinite divergence at an order of the cap; release through "
                "Gaussian or Laplace noise, or cap smaller orders"
            )
        return tuple(map(_shortest_above, uppers))

    def _curve(self, spent: _Costs) -> TradeOff:
        # `rdp` takes no smaller bound.
        bounds = (max(rounded_up(_up(s)), _LEAST_BOUND) for s in spent)
        return rdp(zip(self._orders, bounds, strict=True))


@final
class AdvancedSpending(Spending):
    """(epsilon, delta)-DP at the rate of advanced composition, for adaptively chosen parameters.

    Releases that are (e_i, d_i)-DP given the past may continue while

        sqrt(2 log(1/delta') sum e_i^2) + sum e_i^2 / 2 <= epsilon   and   sum d_i <= delta''

    and are (epsilon, delta' + delta'')-DP together. The first condition means that sum e_i^2 is at
    most 2 (sqrt(log(1/delta') + epsilon) - sqrt(log(1/delta')))^2. For Gaussian noise a cap in mu
    allows more.

    Source: Whitehouse, Ramdas, Rogers and Wu (2023), "Fully-adaptive composition in differential
        privacy", theorem 1.

    >>> from neyman.curves import approx_dp
    >>> account = AdvancedSpending(epsilon=1, concentration=5e-7, failures=5e-7, each=1e-8)
    >>> for _ in range(33):
    ...     account.charge(approx_dp(0.03, 1e-8))
    >>> account.fits(approx_dp(0.03, 1e-8))
    True
    """

    def __init__(self, *, epsilon: Real, concentration: Real, failures: Real, each: Real) -> None:
        """Set the cap.

        Args:
            epsilon: of all releases together; positive.
            concentration: delta', the price of the square root; in (0, 1).
            failures: delta'', the sum of all d_i; in [0, 1).
            each: the d_i of every charge, at which its curve is converted to epsilon; in [0, 1).

        Raises:
            InvalidParameter: if a parameter is out of range.
        """
        whole, first = exact(epsilon, "epsilon"), exact(concentration, "concentration")
        self._sum, self._each = exact(failures, "failures"), exact(each, "each")
        if not (0 < whole <= 700 and _LEAST <= first < 1 and 0 <= self._sum < 1 - first):
            raise InvalidParameter(
                "epsilon must be in (0, 700], and the two deltas must add up to less than 1; got "
                f"epsilon={text(whole)}, concentration={text(first)}, failures={text(self._sum)}"
            )
        if not 0 <= self._each <= self._sum:
            raise InvalidParameter(
                f"each must be from 0 to failures={text(self._sum)}; got {text(self._each)}"
            )
        self._cap = approx_dp(whole, first + self._sum)
        log = -math.log(first) if first < Fraction(1, 2) else -math.log1p(float(first - 1))
        # The difference of roots, without cancellation; ten library calls and roundings at most.
        root = float(whole) / (math.sqrt(log + float(whole)) + math.sqrt(log))
        squares = Fraction(2 * root * root) * (1 - Fraction(1, 2**44))
        super().__init__((squares, self._sum))

    def _costs(self, curve: TradeOff) -> _Costs:
        _check_certified(curve)
        loss = float(curve.epsilon(standing(self._each)[0]))
        if not math.isfinite(loss):
            raise UnsupportedComposition(
                f"{curve} has no finite epsilon at delta={text(self._each)}; fix a larger `each`"
            )
        return _shortest_above(loss) ** 2, self._each

    def _curve(self, spent: _Costs) -> TradeOff:  # noqa: ARG002
        return self._cap


def _check_certified(curve: TradeOff) -> None:
    if not curve.certified:
        raise NotCertified(
            f"{curve} is an estimate and cannot be charged; charge a curve with proved bounds"
        )


def _shortest_above(value: float) -> Fraction:
    """Return the decimal that a double prints as, or the double itself if it is larger."""
    return rounded_up(value)


def _up(value: Fraction) -> float:
    return math.nextafter(float(value), math.inf)
