"""The interface of all strategies that correlate the noise of the steps."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Protocol, Self, TypeVar

from neyman.accounting._participation import Once, Participation
from neyman.curves import TradeOff, dominated_by, gdp, poisson, poisson_replace
from neyman.errors import InvalidParameter
from neyman.numerics import Array, Real, exact, text
from neyman.sensitivity import Neighbors, check_neighbors

__all__ = ["CorrelatedNoise", "Row", "counted"]


class _Vector(Protocol):
    """A value that can be added and scaled: an array of numpy, torch or jax."""

    def __sub__(self, other: Self, /) -> Self: ...

    def __add__(self, other: Self, /) -> Self: ...

    def __mul__(self, other: float, /) -> Self: ...


Row = TypeVar("Row", bound=_Vector)
# Columns count as equally long if their squared norms differ, relatively, by less than this.
_CLOSE = Fraction(1, 2**30)


class CorrelatedNoise(ABC):
    """The matrix mechanism: it releases C G + Z for a matrix C, Z independent N(0, sigma^2).

    Row t of G is the contribution of step t, a vector with norm at most 1 for each record in it.
    The training uses A G + A C^-1 Z: each step is given its row of C^-1 Z as noise.

    Source: Li, Miklau, Hay, McGregor and Rastogi (2015); Denisov, McMahan, Rush, Smith and
        Thakurta (2022), for adaptive streams.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def steps(self) -> int:
        """The number of steps."""

    @property
    @abstractmethod
    def bands(self) -> int:
        """The number of consecutive measurements that a step affects, for a lower triangular C."""

    @abstractmethod
    def sensitivity_squared(self, participation: Participation) -> Fraction:
        """Return max over patterns of ||sum of the columns of a pattern||^2.

        This is for a record that moves each of its rows by at most 1, when it is added or removed.
        A record that is replaced moves each by at most 2.

        Args:
            participation: how many times, and how far apart, a record may contribute.

        Raises:
            InvalidParameter: if there are too many patterns and no closed form is known.

        Error: rounded up.
        """

    @abstractmethod
    def column_sum(self, pattern: range) -> Array:
        """Return the sum of the columns of a pattern, shape (rows of C,).

        Args:
            pattern: the steps of a record.

        Error: about 2^-52 (steps + 8), relatively.
        """

    @abstractmethod
    def error(self) -> tuple[float, float]:
        """Return the root mean square error of a prefix sum per unit of noise: worst and average.

        Error: an estimate; the rounding is not bounded, and about 1e-10.
        """

    @abstractmethod
    def correlated(self, noise: Iterable[Row]) -> Iterator[Row]:
        """Yield the rows of C^-1 Z from independent rows of Z: the noise of each step.

        Args:
            noise: the rows of Z, each with the shape of a gradient and independent entries N(0,
                sigma^2), sigma = noise_multiplier * clipping norm. Arrays of any library work if
                they can be added, and multiplied by a float.

        Guarantee: that of C G + Z, for rows in exact arithmetic. The rounding of floats is not
            covered, as in any other training in floats.

        Raises:
            InvalidParameter: if more rows are requested than there are steps.
        """

    def tradeoff(self, *, noise_multiplier: Real, participation: Participation) -> TradeOff:
        """Return the guarantee, mu = sensitivity / noise_multiplier.

        Args:
            noise_multiplier: standard deviation of Z, divided by the largest norm of a
                contribution.
            participation: how many times, and how far apart, a record may contribute.

        Guarantee: exact, for one record added or removed. A record that is replaced moves twice as
            far: write group(f, 2).

        Raises:
            InvalidParameter: if the noise is not positive, or as `sensitivity_squared`.
        """
        sigma = _positive(noise_multiplier)
        return gdp(squared=self.sensitivity_squared(participation) / sigma**2)

    def cyclic_poisson(
        self,
        *,
        noise_multiplier: Real,
        sampling_probability: Real,
        neighbors: Neighbors = "add_remove",
        groups: int | None = None,
    ) -> TradeOff:
        """Return the guarantee if step t takes a Poisson sample of group t mod groups.

            poisson(gdp(longest column / noise_multiplier), sampling_probability) ** ceil(T/groups)

        The rule that puts records in groups must look at each record alone, such as a public hash.
        Steps of one group share no measurement, so they compose like independent steps.

        Args:
            noise_multiplier: standard deviation of Z, divided by the largest norm of a
                contribution.
            sampling_probability: the probability in [0, 1] that a record enters a step of its
                group. For batches of B from n records it is B * groups / n.
            neighbors: "add_remove" or "replace_one".
            groups: the number of groups, at least the number of bands. None takes the number of
                bands.

        Guarantee: a bound (`answer.of` is "class"), because the last columns may be shorter. The
            lower bound counts only steps of full length.

        Raises:
            InvalidParameter: if there are fewer groups than bands, or a parameter is out of range.

        Source: Choquette-Choo, Ganesh, McKenna, McMahan, Rush, Thakurta and Xu (2023), "(Amplified)
            banded matrix factorization", theorem 4; proof: docs/theory/correlated_noise.md.
        """
        sigma, apart = _positive(noise_multiplier), self.bands if groups is None else groups
        if type(apart) is not int or apart < self.bands:
            raise InvalidParameter(
                f"groups must be an int of at least {self.bands}, so that the steps of one group "
                f"share no measurement; got {apart!r}"
            )
        sampled = {"add_remove": poisson, "replace_one": poisson_replace}[
            check_neighbors(neighbors)
        ]
        longest = self.sensitivity_squared(Once())
        shorter = longest * (1 - _CLOSE)
        full = sum(self._norm_squared(t) >= shorter for t in range(0, self.steps, apart))
        bound, attained = (
            sampled(gdp(squared=square / sigma**2), sampling_probability) ** times
            for square, times in (
                (longest, -(-self.steps // apart)),
                (shorter * (1 - _CLOSE), full),
            )
        )
        return dominated_by(bound, attained=attained)

    def _norm_squared(self, step: int) -> float:
        column = self.column_sum(range(step, step + 1))
        return float(column @ column)


def counted(noise: Iterable[Row], steps: int) -> Iterator[Row]:
    """Yield the rows, and refuse a row beyond the number of steps."""
    for taken, row in enumerate(noise):
        if taken == steps:
            raise InvalidParameter(
                f"the sensitivity is known for {steps} steps; got more than {steps} rows of noise. "
                "Make a strategy with as many steps as you take"
            )
        yield row


def _positive(noise_multiplier: Real) -> Fraction:
    sigma = exact(noise_multiplier, "noise_multiplier")
    if sigma <= 0:
        raise InvalidParameter(
            f"noise_multiplier={text(sigma)} adds no noise; write a positive number"
        )
    return sigma
