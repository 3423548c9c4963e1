"""The bands of a released curve as pictures and pages show them. Post-processing, free."""

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
    """A curve with its bands, each simultaneous: over the whole curve at once, an estimate.

    Attributes:
        noise: for the curve of these records without noise.
        total: with the drawing of independent records as well, for the population.
        fit: the reading that a regression was drawn by.
    """

    noise: Band
    total: Band
    fit: RegressionFit | None


@lru_cache(maxsize=_MOST_KEPT)
def bands_of(curve: SurvivalCurve | RegressionCurve, level: float) -> Bands:
    """Return the bands of a curve from 100 simulated releases, the same each time.

    A regression is read by `gaussian_process`.

    Args:
        curve: released.
        level: that each band covers the whole curve with.

    Raises:
        InvalidParameter: if its noise hides the curve.
    """
    read = curve if isinstance(curve, SurvivalCurve) else curve.gaussian_process()

    def band(kind: BandKind) -> Band:
        return read.band(level, kind, generator=public_generator(), repetitions=_REPETITIONS)

    fit = None if isinstance(read, SurvivalCurve) else read
    return Bands(band("noise"), band("total"), fit)


def independent_records(query: Mapping[str, object]) -> bool:
    """Return whether no unit has more than one record in the answer to a question.

    Where one may have several, records are not independent, and no band for them is shown.
    """
    return query.get("unit_records") == 1
