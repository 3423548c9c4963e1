"""A released regression curve: two released sums, and the fits made of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final, final

import numpy as np
import numpy.typing as npt

from neyman.errors import InvalidParameter
from neyman.functional._abstract import NoisyCount
from neyman.functional._channels import ReleasedChannels
from neyman.functional._densities._function import ReleasedFunction
from neyman.functional._regressions._pairs import PairChannels
from neyman.functional._regressions._processes import GaussianProcess
from neyman.functional._regressions._regression_fit import RegressionFit
from neyman.functional._regressions._smoother import Sums, Table
from neyman.functional._regressions._smoothers import NadarayaWatson, Ridge
from neyman.numerics import Array, Real, exact, text
from neyman.overriding import override

__all__ = ["RegressionCurve"]

_MOST_KEPT: Final = 8


@final
@dataclass(frozen=True, slots=True)
class RegressionCurve(ReleasedChannels[PairChannels]):
    """Private means of y at every x; make as many fits as you like.

    The release has noisy sums over records of waves at x, and of (y - c) times them. Everything
    here is post-processing of these integers.
    """

    kind: ClassVar[str] = "regression"
    statistics: ClassVar[tuple[str, ...]] = ("regression",)

    version: ClassVar[int] = 1

    @classmethod
    @override
    def channels_of(cls, record: Mapping[str, object]) -> PairChannels:
        return PairChannels.of_record(record)

    def __call__(self, x: npt.ArrayLike) -> Array:
        """Return `gaussian_process()` at each x."""
        return self.gaussian_process()(x)

    @property
    def density(self) -> ReleasedFunction:
        """The density of x at its smallest bandwidth, a `ReleasedFunction`."""
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
        """Return the fit by a Gaussian process plus a constant, a line or a cubic.

        The curve is a mean over degree, length-scale, variance of the process and variance of the
        responses, weighted by the marginal likelihood of the noisy sums. You have nothing to
        choose. The places of records come from the noisy counts, blurred no more than the noise
        requires. Where the curve is uncertain, `noise_sd` is large. The curve is NaN only where the
        release shows that there is nobody. The fit is computed once.

        Raises:
            InvalidParameter: if the number of records is private and within three standard
                deviations of its noise.

        Error: an estimate. Its `noise_sd` includes noise, sampling and smoothing.
        Source: Rasmussen and Williams, *Gaussian processes for machine learning*, 2006, ch. 5, and
            2.7 for the polynomials.
        """
        return _likeliest(self)

    def nadaraya_watson(self, bandwidth: Real) -> RegressionFit:
        """Return the fit by the mean of responses in a moving window: a quotient of kernel sums.

        Args:
            bandwidth: the bandwidth of the window, at least that of the release.

        Raises:
            InvalidParameter: if the bandwidth is below that of the release, or too large for the
                domain.
        """
        h = self._within(bandwidth, float(self.channels.domain.largest_bandwidth))
        return RegressionFit.of(*_sums_of(self), NadarayaWatson(h))

    def ridge(self, bandwidth: Real, regularization: Real) -> RegressionFit:
        """Return the fit by kernel ridge regression, argmin sum (y_i - c - f(x_i))^2 + r ||f||_H^2.

        H has the kernel exp(-(d / bandwidth)^2 / 2). r is relative to the sum of squared errors, as
        in `kernel_machine`.

        Args:
            bandwidth: the bandwidth of the kernel of H, at least that of the release.
            regularization: r > 0.

        Raises:
            InvalidParameter: if the bandwidth is below that of the release or above a quarter of
                the circle of the domain, or r is not positive.
        """
        h = self._within(bandwidth, self.channels.domain.period / 4)
        r = exact(regularization, "regularization")
        if r <= 0:
            raise InvalidParameter(
                f"regularization={text(r)} is not positive; write about the variance of the "
                "responses over that of the curve, or more for the noise"
            )
        return RegressionFit.of(*_sums_of(self), Ridge(h, float(r)))

    def _within(self, bandwidth: Real, most: float) -> float:
        asked, least = exact(bandwidth, "bandwidth"), self.channels.bandwidth
        if not least <= asked <= most:
            raise InvalidParameter(
                f"bandwidth must be in [{float(least):.6g}, {most:.6g}] for a curve released at "
                f"{text(least)}; got {text(asked)}"
            )
        return float(asked)


@lru_cache(maxsize=_MOST_KEPT)
def _likeliest(curve: RegressionCurve) -> RegressionFit:
    """Return the fit of `gaussian_process`, with read-only arrays."""
    table, sums = _sums_of(curve)
    return RegressionFit.of(table, sums, GaussianProcess.likeliest(table, sums))


def _sums_of(curve: RegressionCurve) -> tuple[Table, Sums]:
    count = curve.density.count
    if count <= 0:
        raise InvalidParameter(
            f"the released number of records is {count:.6g}, so there is no curve: the noise "
            "is larger than the data; spend more"
        )
    table = Table.of(curve.channels, curve.stddev, curve.unit_records)
    return table, table.sums(np.array(curve.integers, dtype=np.float64), curve.records)
