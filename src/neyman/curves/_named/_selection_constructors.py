"""What selecting one of several candidates gives away, by name."""

from fractions import Fraction

from neyman.curves._named._constructors import identity
from neyman.curves._named._joined_constructors import best
from neyman.curves._pairs._logistic import LogisticPair
from neyman.curves._statements._real_line_constructors import zcdp
from neyman.curves._tradeoff import TradeOff
from neyman.errors import InvalidParameter
from neyman.numerics import Real, exact, text

__all__ = ["bounded_range"]

# What zcdp() takes.
_LEAST_RHO, _MOST_RHO = Fraction(2) ** -100, Fraction(700)


def bounded_range(eta: Real, *, times: int = 1) -> TradeOff:
    """Return the curve of `times` adaptive releases whose loss has range eta, max L - min L <= eta.

    Once: f(alpha) = (1 - alpha) / (1 + (e^eta - 1) alpha), the logistic curve, exactly the worst
    such release. The exponential mechanism with weights e^(eta u / (2 sensitivity)) is one. It is
    also eta-DP, and half as costly: mu = 2 Phi^-1(e^(eta/2) / (1 + e^(eta/2))).
    Several times: the better of that curve composed and of zCDP with rho = times eta^2 / 8. Neither
    is exact then, for no single release is as bad as the curve at every alpha. An account of rho is
    charged zcdp(eta^2 / 8), not the curve.

    Args:
        eta: 0, or in [2^-500, 700]; a float means the decimal it prints as.
        times: how many releases, each chosen after seeing the last; at least 1.

    Guarantee: an upper bound on the loss of any such releases; `bracket=True` encloses the bound.

    Raises:
        InvalidParameter: if a parameter is outside.

    Source: Dong, Durfee and Rogers (2020), "Optimal differential privacy composition for
        exponential mechanisms"; Cesar and Rogers (2021), "Bounding, concentrating, and truncating",
        theorem 3, for eta^2/8; the curve: docs/theory/selection.md.

    >>> f"{bounded_range(1).mu():.4f}, {bounded_range(0.1, times=100).epsilon(1e-5):.3f}"
    '0.6239, 2.166'
    """
    value = exact(eta, "eta")
    if value < 0:
        raise InvalidParameter(f"eta={text(value)} is negative; write a number of at least 0")
    if type(times) is not int or times < 1:
        raise InvalidParameter(
            f"times must be an int of at least 1; got {times!r}. Write the number of selections"
        )
    if not value:
        return identity()
    pair = LogisticPair(value)
    once = TradeOff(pair, pair)
    rho = times * value**2 / 8
    if times == 1 or not _LEAST_RHO <= rho <= _MOST_RHO:
        return once**times
    return best(once**times, zcdp(rho))
