"""A released regression curve: two released sums, and the curves that are read from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
import numpy.typing as npt

from neyman.errors import InvalidParameter
from neyman.functional._abstract import NoisyCount
from neyman.functional._channels import ReleasedChannels
from neyman.functional._densities._function import ReleasedFunction
from neyman.functional._regressions._pairs import PairChannels
from neyman.functional._regressions._regression_fit import RegressionFit
from neyman.functional._regressions._smoother import Sums, Table
from neyman.functional._regressions._smoothers import GaussianProcess, NadarayaWatson, Ridge
from neyman.numerics import Array, Real, exact, text
from neyman.overriding import override

__all__ = ["RegressionCurve"]


@final
@dataclass(frozen=True, slots=True)
class RegressionCurve(ReleasedChannels[PairChannels]):
    """Private means of y at every x, to be read as often and in as many ways as one likes.

    Released are noisy sums over records of waves at x, and of (y - c) times them. Everything here
    is post-processing of these integers.
    """

    kind: ClassVar[str] = "regression"
    statistics: ClassVar[tuple[str, ...]] = ("regression",)

    version: ClassVar[int] = 1

    @classmethod
    @override
    def channels_of(cls, record: Mapping[str, object]) -> PairChannels:
        return PairChannels.of_record(record)

    def __call__(self, x: npt.ArrayLike) -> Array:
        """Return `gaussian_process()` at each x. Keep that fit where many calls follow."""
        return self.gaussian_process()(x)

    @property
    def density(self) -> ReleasedFunction:
        """The density of x, with all its views; its bandwidth is the least."""
        basis = self.channels.counts
        integers = self.integers[: basis.size]
        return ReleasedFunction(
            basis, integers, self.stddev, self.records, self.unit_records, basis.bandwidth
        )

    @property
    @override
    def noisy_count(self) -> NoisyCount:
        return self.density.noisy_count

    def gaussian_process(self) -> RegressionFit:
        """Return the curve read by the Gaussian process that is likeliest, given the release.

        Length-scale, variance of the curve and variance of the responses about it are those of
        the largest marginal likelihood of the noisy sums, whose noise is known. No choice is left.
        Records are where the noisy counts have them, no more blurred than the noise asks for.

        Raises:
            InvalidParameter: if the number of records can nowhere be told from its noise, or the
                release leaves the curve open everywhere by more than a sixteenth of the distance
                of the bounds.

        Error: an estimate. `noise_sd` of it has noise, drawing and smoothing in it.
        Source: Rasmussen and Williams, *Gaussian processes for machine learning*, 2006, ch. 5.
        """
        table, sums = self._read()
        return RegressionFit.of(table, sums, GaussianProcess.likeliest(table, sums))

    def nadaraya_watson(self, bandwidth: Real) -> RegressionFit:
        """Return the mean of responses in a moving window, the quotient of two kernel sums.

        Args:
            bandwidth: the window's, at least that of the release.

        Raises:
            InvalidParameter: if it is below that of the release, or too large for the domain.
        """
        h = self._within(bandwidth, float(self.channels.domain.largest_bandwidth))
        return RegressionFit.of(*self._read(), NadarayaWatson(h))

    def ridge(self, bandwidth: Real, regularization: Real) -> RegressionFit:
        """Return kernel ridge regression: argmin sum (y_i - c - f(x_i))^2 + r ||f||_H^2.

        H has the kernel exp(-(d / bandwidth)^2 / 2); r stands against single squared errors, as in
        `kernel_machine`.

        Args:
            bandwidth: of the kernel of the curve, at least that of the release.
            regularization: r > 0.

        Raises:
            InvalidParameter: if the bandwidth is below that of the release or above a quarter of
                the circle that the domain is bent to, or r is not positive.
        """
        h = self._within(bandwidth, self.channels.domain.period / 4)
        r = exact(regularization, "regularization")
        if r <= 0:
            raise InvalidParameter(
                f"regularization={text(r)} is not positive; write about the variance of the "
                "responses over that of the curve, or more for the noise"
            )
        return RegressionFit.of(*self._read(), Ridge(h, float(r)))

    def _read(self) -> tuple[Table, Sums]:
        count = self.density.count
        if count <= 0:
            raise InvalidParameter(
                f"the released number of records is {count:.6g}, so there is no curve: the noise "
                "is larger than the data; spend more"
            )
        table = Table.of(self.channels, self.stddev, self.unit_records)
        return table, table.sums(np.array(self.integers, dtype=np.float64), self.records)

    def _within(self, bandwidth: Real, most: float) -> float:
        asked, least = exact(bandwidth, "bandwidth"), self.channels.bandwidth
        if not least <= asked <= most:
            raise InvalidParameter(
                f"bandwidth={text(asked)} was asked of a curve released at {text(least)}; write "
                f"one in [{float(least):.6g}, {most:.6g}]"
            )
        return float(asked)
