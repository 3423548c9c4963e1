"""Bandwidths: for a release, from public numbers; for the estimate, from the release alone."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, overload

from neyman.arguments import check_type, whole
from neyman.errors import InvalidParameter
from neyman.functional._bases._domain import Domain, ScaledInterval, Side
from neyman.functional._bases._target import Octaves, Scales, Target
from neyman.functional._bases._waves import FINE
from neyman.functional._densities._field import ReleasedField
from neyman.functional._densities._function import ReleasedFunction
from neyman.functional._densities._reading import round_reading_of
from neyman.numerics import Real

__all__ = ["pilot_bandwidth", "select_bandwidth", "started_at"]

_DOMAINS: Final = 'Interval(lower, upper, outside="clip"), Circle(period) or Box(side, side)'
# Of a length, in so many dimensions: finer ones are better asked for by hand.
_SMALLEST_PILOT: Final = {1: Fraction(1, 1000), 2: Fraction(1, 128), 3: Fraction(1, 24)}
# From so many records on, a release starts so fine, and shares its noise among so many scales.
_MANY: Final = 10_000
_FINE_START, _FINE_SCALES = Fraction(1, 4000), 9


def started_at(
    domain: Domain,
    bandwidth: Real | Sequence[Real] | None,
    records: int | None,
    target: Target | None,
    heaped: Sequence[bool],
) -> tuple[Real | Sequence[Real], Target | None]:
    """Return the bandwidth and the target of a release; None for the domain's default target.

    On a line or circle of length T, with n records, each as measured
    (benchmarks/results/functions.md):

        n < 10,000      half of the pilot, `Scales()`
        n >= 10,000     T / 4000, `Octaves(9)`, or as above where another target is written

    From 10,000 records on, a bandwidth that is far too small costs almost nothing, and the domain
    can be far too wide. The condition is n mu of about 1,000, and 1/4 is a small mu. In a box the
    bandwidth is the pilot. If `heaped` says that a side has whole numbers, its bandwidth is at
    least 1, because smaller ones only show the heaps.

    Raises:
        InvalidParameter: if both or neither of bandwidth and records are given, or `records` is not
            a whole number from 1 to 2^53.
    """
    if bandwidth is not None and records is None:
        return bandwidth, target
    if bandwidth is not None or records is None:
        raise InvalidParameter(
            "a density must have one of bandwidth= and records=; got "
            f"{'neither' if records is None else 'both'}. Write records=, a public guess of their "
            "number, and let the release choose a bandwidth; or bandwidth=, the smallest one that "
            "you need"
        )
    weighed = Scales() if target is None else target
    if isinstance(domain, ScaledInterval):
        # A step of whole numbers has no length on a scale.
        heaped = (False,)
    pilots = _pilots(domain, records)
    if len(pilots) == 1 and target is None and records >= _MANY:
        length = domain.sides[0].length
        fine = max(_FINE_START * length, Fraction(heaped[0]))
        if fine < FINE * length:
            return fine, Octaves(_FINE_SCALES)
    if len(pilots) == 1:
        pilots = (max(pilots[0] / 2, _rounded(_SMALLEST_PILOT[1] * domain.sides[0].length)),)
    found = tuple(
        max(pilot, min(Fraction(1), side.length / 10)) if whole_only else pilot
        for pilot, side, whole_only in zip(pilots, domain.sides, heaped, strict=True)
    )
    return found[0] if len(found) == 1 else found, weighed


@overload
def pilot_bandwidth(domain: Side, records: int) -> Fraction: ...
@overload
def pilot_bandwidth(domain: Domain, records: int) -> Fraction | tuple[Fraction, ...]: ...
def pilot_bandwidth(domain: Domain, records: int) -> Fraction | tuple[Fraction, ...]:
    """Return a small bandwidth for a release, from a public guess of the number of records.

    Use it for regressions, or to write a bandwidth yourself; `density(records=)` chooses its own.

        h_k = 0.25 (4 / ((d + 2) records))^(1 / (d + 4)) length_k / 8

    This is a quarter of the normal-reference rule for a domain eight standard deviations wide, on
    each of its d sides, limited to between a 1000th of the length (a 128th in the plane, a 24th in
    space) and a tenth. After the release, larger bandwidths are free, and smaller ones are not
    available.

    >>> from neyman.functional import Box, Interval
    >>> delay = Interval(-60, 180, outside="clip")
    >>> float(pilot_bandwidth(delay, records=300_000))
    0.638
    >>> [float(h) for h in pilot_bandwidth(Box(delay, delay), records=1_000)]
    [2.37, 2.37]

    Args:
        domain: the domain of the values.
        records: a public guess of the number of records. Under add_remove their number is private,
            so write what you know without looking.

    Returns:
        A number in the units of the values; for a box, one for each side.

    Raises:
        InvalidParameter: if `records` is not a whole number from 1 to 2^53.
    """
    check_type("domain", domain, Domain, _DOMAINS)
    found = _pilots(domain, records)
    return found[0] if len(found) == 1 else found


def _pilots(domain: Domain, records: int) -> tuple[Fraction, ...]:
    """Return a bandwidth for each side."""
    number = whole("records", records, 1, 2**53)
    d = len(domain.sides)
    factor = 1.06 if d == 1 else (4 / (d + 2)) ** (1 / (d + 4))
    rule = 0.25 * factor / 8 * number ** (-1 / (d + 4))
    share = min(max(Fraction(f"{rule:.3g}"), _SMALLEST_PILOT[d]), Fraction(1, 10))
    return tuple(_rounded(share * side.length) for side in domain.sides)


def _rounded(bandwidth: Fraction) -> Fraction:
    """Return the bandwidth with three digits: a public number for people to read."""
    return Fraction(f"{float(bandwidth):.3g}")


@overload
def select_bandwidth(function: ReleasedFunction) -> float: ...
@overload
def select_bandwidth(function: ReleasedField) -> tuple[float, ...]: ...
def select_bandwidth(function: ReleasedFunction | ReleasedField) -> float | tuple[float, ...]:
    """Return the bandwidth with the least estimated error of the density: free post-processing.

    It is the bandwidth of the Gaussian kernel that `DensityFunction` tries, by the same estimate
    (`docs/theory/density_estimates.md`). An end where the density is not 0 does not count as a
    jump.

    Args:
        function: a `ReleasedFunction` or `ReleasedField`; its own bandwidth has no effect.

    Returns:
        A bandwidth for `smooth`; for a field one for each side, with a common factor.

    Error: an estimate. Values heaped on a few places have no density; the answer is the smallest
        bandwidth.
    Source: Rudemo, *Empirical choice of histograms and kernel density estimators*, Scandinavian
        Journal of Statistics 1982 (the unbiased estimate, without noise); Chiu, *Bandwidth
        selection for kernel density estimation*, Annals of Statistics 1991 (no high frequencies);
        Akaike, *On the likelihood of a time series model*, The Statistician 1978 (the weights).
    """
    released = ReleasedFunction | ReleasedField
    check_type("function", function, released, "functional.function(release).raw of a density")
    factor = max(round_reading_of(function).bandwidth, 1.0)
    return function.bandwidth_at(factor)
