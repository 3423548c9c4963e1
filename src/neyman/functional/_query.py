"""From an array of private values to a question that the door can answer."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import Aggregate, Columns, Countable, IntArray, Noise
from neyman.arguments import whole
from neyman.functional._arrays import ArrayRecords
from neyman.functional._basis import Basis
from neyman.functional._domain import Domain, check_domain
from neyman.functional._features import feature_sensitivity, whole_sums
from neyman.functional._target import Density, Target
from neyman.functional._units import Units
from neyman.numerics import Real, exact
from neyman.sensitivity import Neighbors

__all__ = ["CoefficientReading", "density", "density_of", "pilot_bandwidth"]

# Raise it whenever the integers of an unchanged question change.
_RULES: Final = 3


def density(
    values: npt.NDArray[np.generic],
    *,
    domain: Domain,
    bandwidth: Real,
    neighbors: Neighbors,
    unit: str,
    name: str,
    target: Target | None = None,
    units: Units | None = None,
) -> Aggregate:
    """Ask for the kernel density of an array of values, each of them one unit's.

        f(x) = (1/n) sum_i K_h(x - x_i)

    The whole curve costs what its value at one point costs. What is released are the integer
    coefficients of the curve; `functional.function` makes a function of them, and every view of
    it, at any larger bandwidth, is free.

    Args:
        values: private, a NumPy array of any real dtype, any shape. They are read when the
            question is paid for, and none can raise an error: a value at no place of the domain
            counts for nothing (under replace_one: as if spread evenly over the circle).
        domain: where values lie: `Interval(lower, upper, outside=...)` or `Circle(period)`.
        bandwidth: h, the standard deviation of the kernel, in the units of the values. Public; a
            small one is a pilot from which larger ones are read: see `pilot_bandwidth`.
        neighbors: "add_remove", where the number of records is private and released along, or
            "replace_one", where it is public.
        unit: who is protected, in the words of the ledger; each value of the array is one's,
            unless `units` says otherwise.
        name: stands for these values in the ledger: another name is another dataset.
        target: what errors weigh; `Density()` by default. `Scales()` divides the same budget so
            that wider bandwidths come out nearly as well, `Cumulative()` so that integrals and
            quantiles come out best.
        units: whose each value is, and how many of one unit count, where one unit can have
            several; by default each value is a unit. Under add_remove only.

    Returns:
        The question with its exact L2 sensitivity, not yet computed.

    Raises:
        InvalidParameter: if a declaration is unusable, or the array is none of NumPy's, is not of
            real numbers, holds more than 2^36, or is empty under replace_one.

    Guarantee: under Gaussian noise of variance v exactly mu-GDP, mu^2 = l2_squared / v.
    Source: Hall, Rinaldo and Wasserman, *Differential privacy for functions and functional data*,
        JMLR 2013 (Gaussian process noise with the kernel of the estimator).
    """
    return density_of(
        ArrayRecords.of(("values", values), name=name, unit=unit, neighbors=neighbors, units=units),
        domain=domain,
        bandwidth=bandwidth,
        target=target,
    )


def density_of(
    records: Countable, *, domain: Domain, bandwidth: Real, target: Target | None = None
) -> Aggregate:
    """Ask for the kernel density of whatever can be counted at public nodes.

    As `density`, of records that say themselves where they lie and who is protected: an array, or
    columns of a table, for which `neyman.publish.density` calls this.

    Args:
        records: private, with one number each.
        domain: as for `density`.
        bandwidth: as for `density`.
        target: as for `density`.

    Raises:
        InvalidParameter: if a declaration is unusable.
    """
    chosen = Density() if target is None else target
    basis = Basis(domain, exact(bandwidth, "bandwidth"), chosen, records.records is None)
    count = records.counter(basis.axes)

    def compute() -> IntArray:
        return whole_sums(basis, count())

    return Aggregate(
        query={
            "statistic": "density",
            "basis": basis.record(),
            "records": records.records,
            "rules": _RULES,
            **records.describe(),
        },
        source=records.source,
        unit=records.unit,
        sensitivity=records.bound(feature_sensitivity(basis, records.neighbors)),
        size=basis.size,
        reading=CoefficientReading(basis),
        compute=compute,
    )


def pilot_bandwidth(domain: Domain, records: int) -> Fraction:
    """Return a small bandwidth to release at, from a public guess of the number of records.

        h = 0.25 (1.06 (length / 8) records^(-1/5))

    A quarter of the normal-reference rule for a domain eight standard deviations wide. Larger
    bandwidths are free afterwards, smaller ones are not there. Kept within what the domain takes.

    >>> from neyman.functional import Interval
    >>> float(pilot_bandwidth(Interval(-60, 180, outside="clip"), records=300_000))
    0.638

    Args:
        domain: where values lie.
        records: about how many there are. Public: under add_remove their number is private, so
            write what is known without looking.

    Raises:
        InvalidParameter: if `records` is no whole number from 1 to 2^53.
    """
    check_domain(domain)
    rule = 0.25 * 1.06 / 8 * whole("records", records, 1, 2**53) ** -0.2
    # Three digits: a public number that people can read.
    share = min(max(Fraction(f"{rule:.3g}"), Fraction(1, 1000)), Fraction(1, 10))
    return Fraction(f"{float(share * domain.length):.3g}")


@final
@dataclass(frozen=True, slots=True)
class CoefficientReading:
    """The noisy integers as they are, each by its frequency and part."""

    basis: Basis

    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        """Return the columns."""
        width = noise.half_width(confidence)
        j = self.basis.highest
        harmonics = list(range(1, j + 1))
        count = [0] if self.basis.counted else []
        integers = [int(value) for value in noisy.tolist()]
        return {
            "frequency": count + harmonics * 2,
            "part": ["count"] * len(count) + ["cos"] * j + ["sin"] * j,
            "coefficient": integers,
            "stddev": [noise.stddev] * len(integers),
            "lower": [value - width for value in integers],
            "upper": [value + width for value in integers],
        }
