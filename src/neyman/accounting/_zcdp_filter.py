"""zCDP as an account."""

from fractions import Fraction
from typing import ClassVar, final

from neyman.accounting._filter import Filter
from neyman.curves import TradeOff, identity, zcdp
from neyman.curves._statements._zcdp import rho_of
from neyman.overriding import override

__all__ = ["ZcdpFilter"]

_LEAST = Fraction(1, 2**100)


@final
class ZcdpFilter(Filter):
    """A filter in rho: releases that are rho_i-zCDP with sum rho_i <= rho are rho-zCDP together.

    Source: Feldman and Zrnic (2021), "Individual privacy accounting via a Rényi filter", at every
        order; Whitehouse, Ramdas, Rogers and Wu (2023), "Fully-adaptive composition".

    >>> from neyman.curves import bounded_range, gdp
    >>> ZcdpFilter(Fraction(1)).cost(gdp(0.1))
    Fraction(1, 200)
    """

    __slots__ = ()

    account: ClassVar[str] = "rho"

    @property
    def _advice(self) -> str:
        return (
            "has no finite rho, so this account cannot charge it; release through Gaussian or "
            "Laplace noise"
        )

    def _bound(self, curve: TradeOff) -> Fraction | None:
        first, second = rho_of(curve.remove), rho_of(curve.add)
        return None if first is None or second is None else max(first, second)

    def _curve(self, amount: Fraction) -> TradeOff:
        return zcdp(amount)

    @override
    def largest(self, remaining: Fraction) -> TradeOff:
        return identity() if remaining < _LEAST else zcdp(remaining)
