"""The bands of a released curve for pictures and pages. Post-processing, so free."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from neyman.functional._densities._band import Band, BandKind
from neyman.functional._generator import public_generator
from neyman.functional._lifetimes._survival_curve import SurvivalCurve
from neyman.functional._regressions._regression_curve import RegressionCurve
from neyman.functional._regressions._regression_fit import RegressionFit

__all__ = ["Bands", "bands_of", "independent_records"]

# A page has a curve for each group; more would move its ends by a few per cent of their width.
_REPETITIONS: Final = 100
_MOST_KEPT: Final = 64


class Bands(NamedTuple):
    """A curve with its bands; each holds for the whole curve at once, and is an estimate.

    Attributes:
        noise: the band for the curve of these records without noise.
        total: the band for the population, with the sampling error of independent records.
        fit: the fit of a regression.
    """

    noise: Band
    total: Band
    fit: RegressionFit | None


@lru_cache(maxsize=_MOST_KEPT)
def bands_of(curve: SurvivalCurve | RegressionCurve, level: float) -> Bands:
    """Return the bands of a curve from 100 simulated releases; the result is always the same.

    For a regression the curve is `gaussian_process()`.

    Args:
        curve: a released curve.
        level: the probability that a band covers the whole curve.

    Raises:
        InvalidParameter: if its noise hides the curve.
    """
    read = curve if isinstance(curve, SurvivalCurve) else curve.gaussian_process()

    def band(kind: BandKind) -> Band:
        return read.band(level, kind, generator=public_generator(), repetitions=_REPETITIONS)

    fit = None if isinstance(read, SurvivalCurve) else read
    return Bands(band("noise"), band("total"), fit)


def independent_records(query: Mapping[str, object]) -> bool:
    """Return whether each unit has at most one record in the answer to a question.

    Otherwise records are not independent, and pages show no band for the population.
    """
    return query.get("unit_records") == 1
