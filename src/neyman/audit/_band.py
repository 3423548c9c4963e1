"""A simultaneous band for trade-off curves from two lists of scores, without a split.

Two bounds of the error rates at every threshold share the level: Massart's, in which the
deviations of the two samples add up to q at most, and Berk and Jones', which is sharp where an
error rate is small.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, final

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from neyman.audit._berk_jones import TailBound, tail_bound
from neyman.audit._checks import check_delta, check_level
from neyman.audit._lines import ErrorRates, lower_hull
from neyman.audit._lower_bound import LowerBound
from neyman.audit._massart import joint_deviation
from neyman.audit._null import Claim, Null
from neyman.audit._scores import Scores, read_scores
from neyman.calls import plain_calls, plain_calls_of
from neyman.displayed import Displayed
from neyman.numerics import Array
from neyman.numerics._special import ndtri

__all__ = ["CurveBand", "curve_band"]

# Of the level, for Berk and Jones' bounds; the rest is Massart's. Fixed before any data.
_TAILS: Final = 0.2
# Ways to divide Massart's deviation among the two samples.
_CELLS: Final = 64
# Of a parameter that is computed from a point.
_SAFE: Final = 1e-9

Counted = tuple[NDArray[np.intp], NDArray[np.intp]]


@plain_calls_of
@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CurveBand(Displayed):
    """Bounds for a trade-off curve from two lists of scores, at all thresholds at once.

    Attributes:
        level: the upper end and the lower end each fail with at most this probability.
        inside: how many scores there are with the record.
        outside: how many scores there are without the record.
        upper: the mechanism's own trade-off curve lies nowhere above it.
        lower: the errors of this attack lie nowhere below it. Another attack may achieve
            smaller errors, so this is no guarantee.
    """

    level: float
    inside: int
    outside: int
    upper: ErrorRates = field(repr=False)
    lower: ErrorRates = field(repr=False)
    _families: tuple[ErrorRates, ...] = field(repr=False)

    def refutes(self, claim: Claim) -> bool:
        """Whether the scores refute a claim. You may ask of any number of claims.

        Args:
            claim: a guarantee, or one direction of it, such as `f.remove`.

        Guarantee: if the runs are independent, a claim that holds is refuted with probability at
            most `level`, all claims together.

        Raises:
            InvalidParameter: if it is no guarantee.
            NotCertified: if it gives estimates only.
        """
        null = Null(claim)

        def above(x: Array, y: Array) -> Array:
            return null.ends(x.ravel())[0].reshape(x.shape) - y

        return self._most(above) > 0

    def mu(self) -> LowerBound:
        """Return the largest mu for which the band refutes the claim of mu-GDP."""

        def parameter(x: Array, y: Array) -> Array:
            return ndtri(1 - x) - ndtri(y)

        return self._bound(parameter, "mu", 0.0)

    def epsilon(self, delta: float) -> LowerBound:
        """Return the largest epsilon for which the band refutes (epsilon, delta)-DP.

        Args:
            delta: in [0, 1). You may ask for several.

        Raises:
            InvalidParameter: if delta is outside.
        """
        check_delta(delta)

        def parameter(x: Array, y: Array) -> Array:
            first, second = np.maximum(1 - delta - y, 0) / x, np.maximum(1 - delta - x, 0) / y
            return np.log(np.maximum(first, second))

        return self._bound(parameter, "epsilon", delta)

    def __str__(self) -> str:
        return (
            f"{self.inside:,} scores with the record and {self.outside:,} without, at all "
            f"thresholds at once: {self.mu()}"
        )

    def _most(self, of: Callable[[Array, Array], Array]) -> float:
        """Return the most that a point proves, whichever way the deviations were divided."""
        with np.errstate(divide="ignore", invalid="ignore"):
            proved = [
                np.nan_to_num(of(*points), nan=-np.inf, posinf=np.inf).max(axis=1).min()
                for points in self._families
            ]
        return float(max(proved))

    def _bound(self, of: Callable[[Array, Array], Array], what: str, delta: float) -> LowerBound:
        value = max(0.0, self._most(of) * (1 - _SAFE) - _SAFE)
        return LowerBound(value=value, of=what, delta=delta, level=self.level, rule=None, seed=None)


@plain_calls
def curve_band(inside: npt.ArrayLike, outside: npt.ArrayLike, *, level: float = 0.05) -> CurveBand:
    """Return a band for the trade-off curve that holds at all thresholds at once.

        x(t) + y(t) <= x_n(t) + y_n(t) + q at all t, with probability 1 - 4/5 level
        x(t) <= U(n0 x_n(t)) and y(t) <= U(n1 y_n(t)) at all t, with probability 1 - level/5

    No score is set aside, nothing is learnt and nothing is random. Where one threshold is enough,
    `refute` proves a little more; the band answers for every claim at once.

    Args:
        inside: scores of an attack on runs with the record, one a run; large ones speak for the
            record. Where small ones do, give the scores with the other sign.
        outside: scores on runs without it.
        level: of each end of the band.

    Guarantee: if all runs are independent, `upper` lies below the mechanism's trade-off curve
        somewhere with probability at most `level`, and `lower` lies above the errors of the attack
        somewhere with probability at most `level`, whatever the laws of the scores.

    Raises:
        InvalidParameter: if a list is too short or holds NaN, or the level is outside (0, 1/2).

    Source: Massart (1990), theorem 1; Berk and Jones (1979); docs/theory/audit.md.

    >>> import numpy as np
    >>> from neyman.curves import gdp
    >>> draw = np.random.default_rng(0)
    >>> band = curve_band(draw.normal(1, 0.5, 500), draw.normal(0, 0.5, 500))
    >>> band.refutes(gdp(1)), band.refutes(gdp(2)), 1.5 < float(band.mu()) < 2
    (True, False, True)
    """
    scores = read_scores(inside, outside, least=2)
    check_level(level)
    sizes = scores.outside.size, scores.inside.size
    q = joint_deviation(*sizes, (1 - _TAILS) * level)
    # Two independent samples hold at once with the product of their probabilities.
    tails = [tail_bound(n, 1 - float(np.sqrt(1 - _TAILS * level))) for n in sizes]
    counted = _counted(scores)
    families = _shifted(counted, sizes, q), _sharp(counted, tails)
    return CurveBand(
        level=level,
        inside=sizes[1],
        outside=sizes[0],
        upper=_upper(families),
        lower=_lower(counted, sizes, q, tails),
        _families=families,
    )


def _counted(scores: Scores) -> Counted:
    """Return false positives, increasing, and false negatives of every rule "above t"."""
    values = np.unique(np.concatenate([scores.outside, scores.inside]))
    sides = [np.sort(side) for side in (scores.outside, scores.inside)]
    below = [np.append(0, np.searchsorted(side, values, side="right"))[::-1] for side in sides]
    return scores.outside.size - below[0], below[1]


def _shifted(counted: Counted, sizes: tuple[int, int], q: float) -> ErrorRates:
    """Return the hull of the errors, moved by every division of q, a row each."""
    hull = lower_hull(counted[0] / sizes[0], counted[1] / sizes[1])
    share = np.linspace(0, q, _CELLS + 1)
    # On a cell of divisions both errors count as the larger ones.
    x = np.minimum(hull.alpha + share[1:, None], 1.0)
    return ErrorRates(x, np.minimum(hull.beta + q - share[:-1, None], 1.0))


def _sharp(counted: Counted, tails: list[TailBound]) -> ErrorRates:
    """Return the points of the sharp bounds, one row."""
    x, y = (tail.upper(counts) for tail, counts in zip(tails, counted, strict=True))
    return ErrorRates(x[None], y[None])


def _upper(families: tuple[ErrorRates, ErrorRates]) -> ErrorRates:
    """Return a convex line that no curve in the confidence set exceeds."""
    shifted, sharp = families
    at = np.unique(np.concatenate([shifted.alpha[0], shifted.alpha[-1]]))
    heights = np.zeros(at.size)
    for row in range(_CELLS):
        hull_x: Array = shifted.alpha[row]
        hull_y: Array = shifted.beta[row]
        heights = np.maximum(heights, np.interp(at, hull_x, hull_y, left=1.0))
    x = np.concatenate([[0.0], at, sharp.alpha[0], [1.0]])
    y = np.concatenate([[1.0], heights, sharp.beta[0], [0.0]])
    return lower_hull(x, y)


def _lower(
    counted: Counted, sizes: tuple[int, int], q: float, tails: list[TailBound]
) -> ErrorRates:
    """Return a convex line that no error of the attack lies below."""
    hull = lower_hull(counted[0] / sizes[0], counted[1] / sizes[1])
    share = np.linspace(0, q, _CELLS + 1)
    x = np.maximum(hull.alpha - share[1:, None], 0.0)
    y = np.maximum(hull.beta - q + share[:-1, None], 0.0)
    # A rate is at least what is left by the bound of its complement.
    sharp = (
        1 - tail.upper(n - counts) for tail, n, counts in zip(tails, sizes, counted, strict=True)
    )
    lines = [
        lower_hull(np.append(x.ravel(), 1.0), np.append(y.ravel(), 0.0)) for x, y in ((x, y), sharp)
    ]
    at = np.unique(np.concatenate([line.alpha for line in lines]))
    first, second = (np.interp(at, *line) for line in lines)
    gap = first - second
    # Where they cross, the larger of two convex lines has a corner.
    crossed = np.flatnonzero(gap[:-1] * gap[1:] < 0)
    step = gap[crossed] / (gap[crossed] - gap[crossed + 1])
    corners = at[crossed] + step * (at[crossed + 1] - at[crossed])
    at = np.sort(np.concatenate([at, corners]))
    first, second = (np.interp(at, *line) for line in lines)
    return ErrorRates(at, np.maximum(first, second))
