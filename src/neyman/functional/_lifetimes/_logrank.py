"""The log-rank test of groups by their released counts, with the noise in its variance.

With Y(i, k) at risk in group i and cell k, e(i, k) events, Y(k) and e(k) the sums over groups, p(i,
k) = Y(i, k) / Y(k) and h(k) = e(k) / Y(k),

    U(i) = sum_k sum_l (1{i = l} - p(i, k)) (e(l, k) - h(k) Y(l, k)) = sum_k e(i, k) - p(i, k) e(k)

is the observed minus the expected number of events. The counts of the sum are not smoothed; p and h
are. If hazards are equal, an error of p or of h alone does not change the mean of U.
"""

# scipy carries no types of its own.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from typing import NamedTuple

import numpy as np

from neyman.arguments import check_type, whole
from neyman.errors import InvalidParameter
from neyman.functional._answers import Answer, found_in
from neyman.functional._lifetimes._life_table import CELLS
from neyman.functional._lifetimes._product_limit import exposure
from neyman.functional._lifetimes._survival_curve import SurvivalCurve, tables_of
from neyman.numerics import Array

__all__ = ["LogRank", "logrank"]


class LogRank(NamedTuple):
    """A log-rank test.

    Attributes:
        statistic: U^T V^-1 U of all groups except the last, V the variance of noise and sampling.
        pvalue: the probability of a larger statistic if hazards are equal, by the chi-squared law.
        degrees: degrees of freedom, the number of groups minus one.
        excess: U of each group, the observed minus the expected events.
        until: the time up to which all curves are known and compared.
        of: the hypothesis in words.
    """

    statistic: float
    pvalue: float
    degrees: int
    excess: tuple[float, ...]
    until: float
    of: str


def logrank(
    first: SurvivalCurve | Answer,
    second: SurvivalCurve | Answer,
    *others: SurvivalCurve | Answer,
    cause: int = 1,
) -> LogRank:
    """Test whether groups have equal hazards, by their released curves. It costs no budget.

    Args:
        first: the curve of a group, or the answer of a session.
        second: the curve of another group of disjoint people, for instance from the same release by
            groups. Both have the same horizon and number of causes; their noise may differ.
        others: curves of further groups.
        cause: the cause whose hazards are compared; events of other causes count as censorings.

    Raises:
        InvalidParameter: if two curves are the same release, the horizons differ, or noise hides a
            curve.

    Error: the size of the test is an estimate, because it treats events as Gaussian; the noise is.
    Source: Mantel (1966), "Evaluation of survival data and two new rank order statistics"; Gondara
        and Wang (2020) for tests from released counts.
    """
    from scipy.stats import chi2

    curves = _curves(first, second, *others)
    which = whole("cause", cause, 1, curves[0].channels.causes) - 1
    tables = [tables_of(curve) for curve in curves]
    times = min((times for _, _, times in tables), key=len)
    cells = np.arange(CELLS) < len(times) - 1
    parts = exposure(curves[0].channels.causes)
    exposed = np.array([np.maximum(parts @ smooth.numbers, 0.0) for smooth, _, _ in tables])
    events = np.array([np.maximum(smooth.events[which], 0.0) for smooth, _, _ in tables])
    everybody = np.maximum(exposed.sum(axis=0), 1e-9)
    hazard = np.minimum(events.sum(axis=0) / everybody, 1.0)
    kept = np.eye(len(curves))[:, :, None] - (exposed / everybody)[:, None, :]
    excess, variance = np.zeros(len(curves)), np.zeros((len(curves), len(curves)))
    for place, (curve, (_, plain, _)) in enumerate(zip(curves, tables, strict=True)):
        weights = kept[:, place] * cells
        moves = weights @ _residuals(parts, hazard, which)
        excess += moves @ plain.numbers
        variance += moves @ plain.covariance @ moves.T
        drawn = curve.unit_records * exposed[place] * hazard * (1 - hazard)
        variance += (weights * drawn) @ weights.T
    degrees = len(curves) - 1
    some, among = excess[:degrees], variance[:degrees, :degrees]
    statistic = float(some @ np.linalg.solve(among, some))
    until = float(times[-1])
    return LogRank(
        statistic,
        float(chi2.sf(statistic, degrees)),
        degrees,
        tuple(float(each) for each in excess),
        until,
        f"equal hazards of {len(curves)} groups up to {until:g}, of noise and of drawing records",
    )


def _curves(*given: SurvivalCurve | Answer) -> tuple[SurvivalCurve, ...]:
    curves = tuple(map(found_in, given))
    for place, curve in enumerate(curves):
        name = ("first", "second", "others")[min(place, 2)]
        check_type(
            name, curve, SurvivalCurve, "what functional.function(release) gives of survival"
        )
    kinds = {(curve.channels.horizon, curve.channels.causes) for curve in curves}
    if len(kinds) > 1 or len(set(curves)) < len(curves):
        raise InvalidParameter(
            "curves to compare must have disjoint people, one horizon and as many causes. Write "
            "curves of one release by groups"
        )
    return curves


def _residuals(parts: Array, hazard: Array, cause: int) -> Array:
    """Return the matrix from the numbers of a table to e - h Y of each cell."""
    found = -hazard[:, None] * parts
    found[:, cause * CELLS : (cause + 1) * CELLS] += np.eye(CELLS)
    return found
