"""Propose, test, release: noise calibrated to how far the actual data can move an answer."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Self, final

import numpy as np

from neyman.aggregate import IntArray
from neyman.curves import TradeOff, approx_dp, dominated_by
from neyman.errors import InvalidParameter
from neyman.mechanisms._bits import OPERATING_SYSTEM, BitSource
from neyman.mechanisms._gaussian import Gaussian
from neyman.mechanisms._law import require_flint
from neyman.mechanisms._mechanism import Mechanism
from neyman.mechanisms._precision import working_precision
from neyman.numerics import Real, exact, text
from neyman.sensitivity import Sensitivity

__all__ = ["ProposeTestRelease"]

_LEAST: Final = Fraction(1, 2**200)
_FARTHEST: Final = 2**60


@final
@dataclass(frozen=True, slots=True, init=False)
class ProposeTestRelease:
    """Releases an answer with noise for a proposed bound, if the data are far from breaking it.

    1. Propose, in public: `sensitivity`, a bound between neighbours for most datasets.

    2. Test: let d be how many units must change until the data have a neighbour at which the answer
    differs by more than the bound; 0 if there is one now. The test says yes if d + K > threshold, K
    the noise `test`, P(K > threshold) <= failure.

    3. Release, after a yes: the answer plus the noise `answer`. After a no, nothing.

    d moves by at most 1 between neighbours. With `f_test` the curve of a move by 1, the guarantee
    is

        f_{0,failure} ⊗ f_test ⊗ f_answer

    Guarantee: exactly that curve, if d is as in 2 or smaller, and moves by at most 1 between
        neighbours; this cannot be checked here. For the draws see `Mechanism.add_noise`.
    Source: Dwork and Lei (2009), "Differential privacy and robust statistics"; the conditions:
        `accounting.propose_test_release`.

    Attributes:
        test: noise on the distance.
        answer: noise on the answer.
        sensitivity: the proposed bound.
        failure: the largest probability of a yes if the bound does not hold, exact.

    >>> from neyman.testing import SeededBits  # for tests and examples only, never for a release
    >>> one = Sensitivity(neighbors="add_remove", l2_squared=Fraction(1))
    >>> ptr = ProposeTestRelease.calibrate(one, mu=1, test_share=0.36, failure=1e-6)
    >>> print(ptr.tradeoff)
    dominated_by(gdp(mu=1) @ approx_dp(epsilon=0, delta=1e-06))
    >>> ptr.threshold
    8
    >>> ptr.run(1, np.array([500]), SeededBits(1)) is None
    True
    """

    test: Mechanism
    answer: Mechanism
    sensitivity: Sensitivity
    failure: Fraction

    def __init__(
        self, *, test: Mechanism, answer: Mechanism, sensitivity: Sensitivity, failure: Real
    ) -> None:
        """Create the mechanism from two noises, the bound and the failure.

        Args:
            test: noise on the distance.
            answer: noise on the answer.
            sensitivity: the proposed bound.
            failure: the largest probability of a yes if the bound does not hold.

        Raises:
            InvalidParameter: if the failure is outside [2^-200, 1/2).
        """
        share = exact(failure, "failure")
        if not _LEAST <= share < Fraction(1, 2):
            raise InvalidParameter(
                f"failure must be in [2^-200, 1/2); got {text(share)}. Write a small probability, "
                "such as 1e-9"
            )
        object.__setattr__(self, "test", test)
        object.__setattr__(self, "answer", answer)
        object.__setattr__(self, "sensitivity", sensitivity)
        object.__setattr__(self, "failure", share)

    @classmethod
    def calibrate(
        cls, sensitivity: Sensitivity, mu: Real, *, test_share: Real, failure: Real
    ) -> Self:
        """Return Gaussian noise for both that makes the whole G_mu ⊗ f_{0,failure}.

            mu_test^2 = test_share mu^2,  mu_answer^2 = (1 - test_share) mu^2

        Args:
            sensitivity: the proposed bound, in the L2 norm.
            mu: of test and answer together.
            test_share: the test's share of mu^2, in (0, 1).
            failure: the largest probability of a yes if the bound does not hold.

        Raises:
            SensitivityMismatch: if the L2 norm is not bounded.
            InvalidParameter: if a number is out of range, or needs noise that cannot be drawn.
        """
        whole, share = exact(mu, "mu"), exact(test_share, "test_share")
        if not 0 < share < 1 or whole <= 0:
            raise InvalidParameter(
                "mu must be positive and test_share strictly between 0 and 1; "
                f"got mu={text(whole)}, test_share={text(share)}"
            )
        unit = Gaussian.calibrate(sensitivity, whole)
        return cls(
            test=Gaussian(variance=1 / (share * whole**2)),
            answer=Gaussian(variance=unit.variance / (1 - share)),
            sensitivity=sensitivity,
            failure=failure,
        )

    @property
    def tradeoff(self) -> TradeOff:
        """The guarantee of the whole, whether the test says yes or no."""
        one = Sensitivity(
            neighbors=self.sensitivity.neighbors,
            l1=Fraction(1),
            l2_squared=Fraction(1),
            coordinates=1,
            largest=1,
        )
        released = self.answer.tradeoff(self.sensitivity)
        return dominated_by(approx_dp(0, self.failure) @ self.test.tradeoff(one) @ released)

    @property
    def threshold(self) -> int:
        """The least t with P(K > t) <= failure, decided in ball arithmetic.

        Raises:
            MissingExtra: if python-flint is not installed.
        """
        require_flint()
        low, high = -1, 1
        while not self._fails_rarely(high):
            low, high = high, 2 * high
            if high > _FARTHEST:
                raise InvalidParameter(
                    f"failure={text(self.failure)} is beyond what {self.test} can tell; write a "
                    "larger one"
                )
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._fails_rarely(middle) else (middle, high)
        return high

    def _fails_rarely(self, t: int) -> bool:
        """Return whether P(|K| > t) <= 2 failure; K is symmetric."""
        twice = 2 * self.failure
        with working_precision(512):
            scaled = self.test.law.tail(t) * twice.denominator
            return bool(scaled <= twice.numerator)

    def run(
        self, distance: int, values: IntArray, source: BitSource = OPERATING_SYSTEM
    ) -> IntArray | None:
        """Return the noisy answer, or None if the test says no.

        Args:
            distance: d, exact; SENSITIVE.
            values: the answer, int64, lattice units, |values| <= 2^62; SENSITIVE.
            source: of fair bits.

        Raises:
            MissingExtra: if python-flint is not installed.
            InvalidParameter: if the distance is not an int, or the values are not an int64 array.
        """
        if type(distance) is not int:
            raise InvalidParameter(
                f"a distance must be an int; got a value of type {type(distance).__name__}"
            )
        threshold = self.threshold
        # Larger distances pass almost surely; a check would let private data raise an error.
        near = np.array([min(max(distance, 0), _FARTHEST)], dtype=np.int64)
        noisy = self.answer.add_noise(values, source)
        passed = int(self.test.add_noise(near, source)[0]) > threshold
        return noisy if passed else None

    def describe(self) -> dict[str, object]:
        """Return the public record: everything that the guarantee depends on."""
        bound = self.sensitivity
        return {
            "mechanism": "propose_test_release",
            "test": self.test.describe(),
            "answer": self.answer.describe(),
            "sensitivity": {
                "neighbors": bound.neighbors,
                "l1": None if bound.l1 is None else text(bound.l1),
                "l2_squared": None if bound.l2_squared is None else text(bound.l2_squared),
                "coordinates": bound.coordinates,
                "largest": bound.largest,
            },
            "failure": text(self.failure),
        }
