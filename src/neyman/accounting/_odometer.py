"""What has been spent so far, at every moment at once."""

import threading
from fractions import Fraction
from typing import final

import numpy as np

from neyman.accounting._zcdp_filter import ZcdpFilter
from neyman.curves import TradeOff
from neyman.errors import InvalidParameter
from neyman.numerics import Interval, Real, exact, log, text

__all__ = ["LossOdometer"]

# Doublings around the expected spending, either way.
_REACH = 40


@final
class LossOdometer:
    """A bound of the privacy loss that holds at all times, without a cap.

    With probability at least 1 - delta over all answers, at every moment t,

        log(chance of the answers so far / their chance on a neighbour) <= epsilon_t

    however each release, and the moment of stopping, depended on the answers. If release i is
    rho_i-zCDP given the past, then for every lambda > 0 exp(lambda L_t - lambda (lambda + 1) V_t),
    V_t = sum rho_i, is a supermartingale of mean at most 1 (the divergence of order lambda + 1 of
    release i is at most (lambda + 1) rho_i), and by Ville's inequality L_t <= (lambda + 1) V_t +
    log(1/d) / lambda for all t, but with probability d. One lambda is fixed for each of 81
    doublings of V, best there, with d = w delta, w positive and adding up to 1; epsilon_t is the
    least of the 81 bounds.

    Source: Rogers, Roth, Ullman and Vadhan (2016), for odometers; Whitehouse, Ramdas, Rogers and Wu
        (2023), for bounds of this kind.

    >>> from neyman.curves import gdp
    >>> odometer = LossOdometer(delta=1e-6, expected_rho=0.1)
    >>> for _ in range(20):
    ...     odometer.charge(gdp(0.1))
    >>> f"{odometer.epsilon():.3f} against {(gdp(0.1) ** 20).epsilon(1e-6):.3f} at a fixed time"
    '2.518 against 1.995 at a fixed time'
    """

    __slots__ = ("_rests", "_rule", "_slopes", "_spent", "_turn")

    def __init__(self, *, delta: Real, expected_rho: Real) -> None:
        """Fix what is fixed before the first answer.

        Args:
            delta: with which the bound may ever fail; in (0, 1).
            expected_rho: where the bound is sharpest; positive, chosen before looking.

        Raises:
            InvalidParameter: if a parameter is outside.
        """
        failure, middle = exact(delta, "delta"), exact(expected_rho, "expected_rho")
        if not Fraction(1, 2**1000) < failure < 1 or not Fraction(1, 2**60) < middle < 2**60:
            raise InvalidParameter(
                "delta must be strictly between 0 and 1 and expected_rho positive; got "
                f"delta={text(failure)}, expected_rho={text(middle)}"
            )
        doublings = np.arange(-_REACH, _REACH + 1)
        shares = [Fraction(1, (1 + abs(j)) ** 2) for j in doublings.tolist()]
        ratio = Interval.of(sum(shares)) * (1.0 + np.abs(doublings)) ** 2
        need = log(ratio) - log(Interval.of(failure))
        # Any lambda would do: best at so many doublings.
        order = Interval.exactly(np.sqrt(need.upper / (float(middle) * 2.0**doublings)))
        self._slopes, self._rests = order + 1, need / order
        self._rule = ZcdpFilter(Fraction(1))
        self._spent = Fraction(0)
        self._turn = threading.Lock()

    @property
    def spent(self) -> Fraction:
        """The sum of rho_i, exact."""
        return self._spent

    def charge(self, curve: TradeOff) -> None:
        """Count a release, before it is drawn.

        Raises:
            NotCertified: if the curve is an estimate.
            UnsupportedComposition: if it has no finite rho.
        """
        cost = self._rule.cost(curve)
        with self._turn:
            self._spent += cost

    def epsilon(self) -> float:
        """Return the bound now, rounded up; 0 before the first release."""
        if not self._spent:
            return 0.0
        return float(np.min((self._slopes * Interval.of(self._spent) + self._rests).upper))
