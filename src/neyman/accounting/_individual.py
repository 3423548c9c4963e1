"""A budget for every record: each pays for its own norm, and is left out once its part is spent."""

import threading
from fractions import Fraction
from typing import final

import numpy as np
import numpy.typing as npt

from neyman.errors import InvalidParameter
from neyman.numerics import Real, exact, text

__all__ = ["IndividualSpending"]

_IntArray = npt.NDArray[np.int64]
# What a record may spend, in the units of the counts.
_WHOLE = 2**50


@final
class IndividualSpending:
    """Sums of vectors with Gaussian noise, where record i pays ||v_i||^2 / variance in mu^2.

    Before each sum you pass the squared norm of every record's own contribution; `admit` returns
    which records may take part. A contribution must depend only on its own record and on the sums
    released before. A record that would exceed mu^2 is left out of that sum, as if it had
    contributed 0, and pays nothing. Every release, its noise and the contributions may depend on
    the sums before.

    The values are SENSITIVE. What a record has spent depends on the record, and so does which
    records take part. Release none of it, not even the number that is left. `repr` shows none of
    it.

    Guarantee: all sums together are mu-GDP, neighbors="add_remove". Costs are rounded up to units
        of mu^2 / 2^50, and by 2^-49 relatively; no record's sum is ever above mu^2.
    Source: Feldman and Zrnic (2021), "Individual privacy accounting via a Rényi filter"; Koskela,
        Tobaben and Honkela (2023), for Gaussian differential privacy.

    >>> import numpy as np
    >>> budget = IndividualSpending(records=3, mu=1)
    >>> for _ in range(4):
    ...     budget.admit(np.array([100, 50, 0]), variance=300).tolist()
    [True, True, True]
    [True, True, True]
    [False, True, True]
    [False, True, True]
    """

    __slots__ = ("_capacity", "_spent", "_turn")

    def __init__(self, *, records: int, mu: Real) -> None:
        """Set the budget of every record.

        Args:
            records: how many there are, at least 1.
            mu: the budget of each; positive.

        Raises:
            InvalidParameter: if mu is not positive, or there are no records.
        """
        target = exact(mu, "mu")
        if type(records) is not int or records < 1 or not Fraction(1, 2**100) < target < 2**100:
            raise InvalidParameter(
                "mu must be positive and records an int of at least 1; got "
                f"mu={text(target)}, records={records!r}"
            )
        self._capacity = target**2
        self._spent = np.zeros(records, dtype=np.int64)
        self._turn = threading.Lock()

    def __repr__(self) -> str:
        return f"IndividualSpending(records={self._spent.size}, mu_squared={self._capacity})"

    def admit(self, squared_norms: _IntArray, *, variance: Real) -> npt.NDArray[np.bool_]:
        """Charge the records that can pay, and return which they are; sum over these alone.

        Args:
            squared_norms: int64, one for each record, in squared grid units, 0 to 2^62: exact, or
                rounded up. You guarantee that they are correct.
            variance: of the noise on every coordinate, in squared grid units; positive.

        Returns:
            Booleans of shape (records,); SENSITIVE.

        Raises:
            InvalidParameter: if the array or the variance is not like this.
        """
        noise = exact(variance, "variance")
        if not Fraction(1, 2**200) <= noise <= 2**200:
            raise InvalidParameter(
                f"variance={text(noise)} is not positive, or not in [2^-200, 2^200]; write "
                "the variance of the noise in squared grid units"
            )
        if squared_norms.dtype != np.int64 or squared_norms.shape != self._spent.shape:
            raise InvalidParameter(
                f"squared_norms must be int64, one for each of {self._spent.size} records; got "
                f"{squared_norms.dtype} of shape {squared_norms.shape}"
            )
        factor = float(Fraction(_WHOLE) / (noise * self._capacity)) * (1 + 2.0**-51)
        with np.errstate(over="ignore"):
            costs = np.ceil(squared_norms.astype(np.float64) * factor * (1 + 2.0**-51))
        # All costs above the capacity are treated alike, so they fit into an integer.
        units = np.minimum(costs, 2.0 * _WHOLE).astype(np.int64)
        # A negative norm is a mistake that would give budget back.
        units = np.where(squared_norms < 0, 2 * _WHOLE, units)
        with self._turn:
            active = units <= _WHOLE - self._spent
            self._spent = np.where(active, self._spent + units, self._spent)
        return active

    def spent(self) -> npt.NDArray[np.float64]:
        """Return an estimate of the mu^2 spent by every record, shape (records,); SENSITIVE."""
        return self._spent.astype(np.float64) * (float(self._capacity) / _WHOLE)
