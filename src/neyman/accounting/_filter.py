"""Filters: how a sequence of releases, each chosen after the answers before, spends a cap."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import ClassVar, final

from neyman.curves import TradeOff, gdp, identity, pure_dp
from neyman.errors import InvalidParameter, NotCertified, UnsupportedComposition
from neyman.numerics import exact, ndtri
from neyman.overriding import override

__all__ = ["Filter", "GaussianFilter", "PureFilter", "filter_for", "filter_from"]

# A smaller amount counts as nothing: its square root is not a normal double.
_LEAST = Fraction(1, 10**300)
# Sums of many fractions get long; curves refuse fractions with more bits.
_LONGEST_BITS = 4096
_SIX_DIGITS = Context(prec=6, rounding=ROUND_FLOOR)
_FIFTY_DIGITS = Context(prec=50, rounding=ROUND_FLOOR)
_TWELVE_DIGITS_UP = Context(prec=12, rounding=ROUND_CEILING)
# A charge must be positive.
_LEAST_CHARGE = Fraction(1, 10**30)


@dataclass(frozen=True, slots=True)
class Filter(ABC):
    """A cap, and a cost for every release, in exact fractions of one account.

        sum of costs <= capacity   implies   all releases together satisfy the cap

    This holds even if each release, its noise and the decision to make it depend on earlier
    answers.

    Attributes:
        capacity: the most that may be spent, in the account's unit.

    Guarantee: costs round up and the capacity rounds down, so the implication holds as computed.
    Source: Rogers, Roth, Ullman and Vadhan, *Privacy odometers and filters*, NeurIPS 2016.
    """

    capacity: Fraction

    account: ClassVar[str]

    def __post_init__(self) -> None:
        """Refuse a capacity that is not positive."""
        if self.capacity < _LEAST:
            raise InvalidParameter(
                f"a capacity must be positive; got {float(self.capacity):g} {self.account}"
            )

    def cost(self, curve: TradeOff) -> Fraction:
        """Return the charge for a release with this trade-off function.

        Args:
            curve: of the release.

        Raises:
            NotCertified: if the curve is an estimate, not a bound.
            UnsupportedComposition: if no finite amount of the account bounds it.
            InvalidParameter: if the cost is not positive.

        Error: rounded up.
        """
        if not curve.certified:
            raise NotCertified(
                f"{curve} is an estimate and cannot be charged; charge a curve with proved bounds"
            )
        cost = self._bound(curve)
        if cost is None:
            raise UnsupportedComposition(f"{curve} {self._advice}")
        if cost <= 0:
            raise InvalidParameter(
                f"{curve} costs nothing, so it is no release of data; "
                "write the trade-off function of the mechanism that draws"
            )
        return cost

    def cost_beside(self, curve: TradeOff, failure: float) -> Fraction | None:  # noqa: ARG002
        """Return an amount c with curve >= (the guarantee of c) ⊗ f_{0,failure}.

        Args:
            curve: the trade-off function of a release.
            failure: a probability in (0, 1) that is charged elsewhere.

        Returns:
            The least such amount, rounded up to twelve digits. None if there is none, or if this
                account does not split charges.
        """
        return None

    def about_beside(self, curve: TradeOff, failure: float) -> Fraction:  # noqa: ARG002
        """Return a quick estimate of the least result of `cost_beside`; 0 if there is none.

        It decides which of two charges to compute, and is not a charge itself.
        """
        return Fraction(0)

    @property
    @abstractmethod
    def _advice(self) -> str:
        """What is wrong with a curve that has no bound, and what to do."""

    @abstractmethod
    def _bound(self, curve: TradeOff) -> Fraction | None:
        """Return the smallest amount of the account that bounds the curve, rounded up."""

    def spent_curve(self, total: Fraction) -> TradeOff:
        """Return the guarantee of all releases together once `total` is spent.

        Error: exact, except that a total of thousands of bits is rounded up by less than 2^-2048.
        """
        if max(total.numerator.bit_length(), total.denominator.bit_length()) > _LONGEST_BITS:
            rounded = Fraction(math.ceil(total * 2**2048), 2**2048)
            total = self.capacity if total <= self.capacity < rounded else rounded
        return self._curve(total)

    @abstractmethod
    def _curve(self, amount: Fraction) -> TradeOff:
        """Return the weakest guarantee that costs this amount of the account."""

    @abstractmethod
    def largest(self, remaining: Fraction) -> TradeOff:
        """Return the weakest single guarantee that still fits, to six digits, rounded down."""


@final
@dataclass(frozen=True, slots=True)
class GaussianFilter(Filter):
    """A filter in mu^2: releases that are mu_i-GDP with sum mu_i^2 <= M^2 are M-GDP together.

    Source: Smith and Thakurta, *Fully adaptive composition for Gaussian differential privacy*,
        2022; Koskela, Tobaben and Honkela, *Individual privacy accounting with Gaussian
        differential privacy*, ICLR 2023.

    >>> from fractions import Fraction
    >>> from neyman.curves import gdp
    >>> GaussianFilter(Fraction(1)).cost(gdp(0.1))
    Fraction(1, 100)
    """

    account: ClassVar[str] = "mu^2"

    @property
    def _advice(self) -> str:
        return (
            "is bounded by no Gaussian, so this ledger cannot charge it; release through Gaussian "
            "or Laplace noise, or keep a ledger whose cap has a delta, which can pay for the tail: "
            "approx_dp(epsilon, delta), or gdp(mu) @ approx_dp(0, delta)"
        )

    def _bound(self, curve: TradeOff) -> Fraction | None:
        return curve.tight_gaussian()

    @override
    def cost_beside(self, curve: TradeOff, failure: float) -> Fraction | None:
        mu = curve.mu_bracket(failure)[1]
        if not math.isfinite(mu):
            return None
        # A double may mean its decimal, so take the larger of the two.
        square = max(exact(mu, "mu"), Fraction(mu)) ** 2
        rounded = _TWELVE_DIGITS_UP.divide(Decimal(square.numerator), Decimal(square.denominator))
        return max(Fraction(rounded), _LEAST_CHARGE)

    @override
    def about_beside(self, curve: TradeOff, failure: float) -> Fraction:
        # The Gaussian with the advantage that remains.
        try:
            advantage = (curve.advantage() - failure) / (1 - failure)
        except UnsupportedComposition:
            # Some curves have no profile; they are charged without a tail.
            return Fraction(0)
        return (
            Fraction(2 * float(ndtri((1 + advantage) / 2))) ** 2
            if 0 < advantage < 1
            else Fraction(0)
        )

    def _curve(self, amount: Fraction) -> TradeOff:
        return gdp(squared=amount)

    @override
    def largest(self, remaining: Fraction) -> TradeOff:
        if remaining < _LEAST:
            return identity()
        return gdp(Fraction(_SIX_DIGITS.plus(_FIFTY_DIGITS.sqrt(_decimal(remaining)))))


@final
@dataclass(frozen=True, slots=True)
class PureFilter(Filter):
    """A filter in epsilon: epsilon_i-DP releases with sum epsilon_i <= E are E-DP together.

    Source: Rogers, Roth, Ullman and Vadhan (2016): basic composition is a filter.

    >>> from fractions import Fraction
    >>> from neyman.curves import laplace
    >>> PureFilter(Fraction(1)).cost(laplace(0.1))
    Fraction(1, 10)
    """

    account: ClassVar[str] = "epsilon"

    @property
    def _advice(self) -> str:
        return (
            "has no finite epsilon, and this ledger adds up epsilons: its cap is pure differential "
            "privacy, or delta_aside is all of its delta; release through Laplace noise, or keep a "
            "ledger with a cap such as gdp(1), or with a smaller delta_aside, which leaves a part "
            "of the delta for Gaussian noise"
        )

    def _bound(self, curve: TradeOff) -> Fraction | None:
        return curve.outer_pure()

    def _curve(self, amount: Fraction) -> TradeOff:
        return pure_dp(amount)

    @override
    def largest(self, remaining: Fraction) -> TradeOff:
        if remaining < _LEAST:
            return identity()
        return pure_dp(Fraction(_SIX_DIGITS.plus(_decimal(remaining))))


_FILTERS: Mapping[str, type[GaussianFilter] | type[PureFilter]] = {
    GaussianFilter.account: GaussianFilter,
    PureFilter.account: PureFilter,
}


def filter_for(cap: TradeOff) -> Filter:
    """Return the filter that spends a cap.

    If a Gaussian lies above the cap, G_M >= cap, the account is mu^2 and the capacity is M^2 for
    the largest such M, rounded down. For f_{epsilon,0}, which has no such Gaussian, the account is
    epsilon.

    Args:
        cap: the guarantee that all releases together must satisfy.

    Raises:
        NotCertified: if the cap is an estimate.
        InvalidParameter: if the cap is neither of these, or fails with probability 1.

    >>> from neyman.curves import gdp
    >>> filter_for(gdp(0.1)).capacity
    Fraction(1, 100)
    """
    if not cap.certified:
        raise NotCertified(f"cap={cap} is an estimate; write a cap with proved bounds: gdp(1)")
    if float(cap.delta(math.inf)) >= 1:
        raise InvalidParameter(
            f"cap={cap} protects nothing: with delta = 1 the rows themselves may be released; "
            "write a small delta, such as approx_dp(1, 1e-6)"
        )
    # For a bound, use the bound, even if the mechanism itself may be more private.
    cap = cap.dominating()
    squared = cap.inner_gaussian()
    if squared > 0:
        return GaussianFilter(squared)
    epsilon = cap.inner_pure()
    if epsilon > 0 and epsilon == cap.outer_pure():
        return PureFilter(epsilon)
    raise InvalidParameter(
        f"cap={cap} has no account that releases could be charged to; write gdp(mu) or "
        "approx_dp(epsilon, delta) for Gaussian noise, or pure_dp(epsilon) for Laplace noise alone"
    )


def filter_from(account: str, capacity: Fraction) -> Filter:
    """Return the filter that was fixed when a ledger was opened.

    Args:
        account: "mu^2" or "epsilon".
        capacity: the most that may be spent, in the account's unit.

    Raises:
        InvalidParameter: if no filter has this account.
    """
    if account not in _FILTERS:
        raise InvalidParameter(
            f"account must be one of {', '.join(sorted(_FILTERS))}; got {account!r}"
        )
    return _FILTERS[account](capacity)


def _decimal(value: Fraction) -> Decimal:
    return _FIFTY_DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))
