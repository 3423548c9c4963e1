"""From an array of private values to a question that the door can answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, cast, final, overload

import numpy as np
import numpy.typing as npt

from neyman.aggregate import Aggregate, Columns, Countable, IntArray, Noise
from neyman.arguments import check_type, whole
from neyman.functional._arrays import ArrayRecords
from neyman.functional._asked import asked
from neyman.functional._bases._abstract_basis import AbstractBasis
from neyman.functional._bases._side import Domain, Side
from neyman.functional._bases._target import Target
from neyman.functional._private import records_of
from neyman.functional._units import Units
from neyman.numerics import Real
from neyman.sensitivity import Neighbors

__all__ = ["CoefficientReading", "density", "density_of", "pilot_bandwidth"]

_DOMAINS: Final = 'Interval(lower, upper, outside="clip"), Circle(period) or Box(side, side)'
# Of a length, in so many dimensions: finer ones are better asked for by hand.
_SMALLEST_PILOT: Final = {1: Fraction(1, 1000), 2: Fraction(1, 128), 3: Fraction(1, 24)}


def density(
    values: npt.NDArray[np.generic],
    *,
    domain: Domain,
    bandwidth: Real | Sequence[Real],
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
        values: private, a NumPy array of any real dtype, any shape; of a box of d sides one record
            a row, shape (n, d). They are read when the question is paid for, and none can raise an
            error: a value at no place of the domain counts for nothing (under replace_one: as if
            spread evenly over the circle).
        domain: where values lie: `Interval(lower, upper, outside=...)`, `Circle(period)`, or a
            `Box` of two or three of them.
        bandwidth: h, the standard deviation of the kernel, in the units of the values; of a box
            one for each side. Public; a small one is a pilot from which larger ones are read: see
            `pilot_bandwidth`.
        neighbors: "add_remove", where the number of records is private and released along, or
            "replace_one", where it is public.
        unit: who is protected, in the words of the ledger; each value of the array is one's,
            unless `units` says otherwise.
        name: stands for these values in the ledger: another name is another dataset.
        target: what errors weigh; `Density()` by default, on a box `Scales()`, which
            divides the same budget so that wider bandwidths come out nearly as well; on a line
            `Cumulative()` divides it so that integrals and quantiles come out best.
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
    check_type("domain", domain, Domain, _DOMAINS)
    columns = records_of(values, len(domain.sides)).T
    records = ArrayRecords.of(
        *(("values", column) for column in columns),
        name=name,
        unit=unit,
        neighbors=neighbors,
        units=units,
    )
    return density_of(records, domain=domain, bandwidth=bandwidth, target=target)


def density_of(
    records: Countable,
    *,
    domain: Domain,
    bandwidth: Real | Sequence[Real],
    target: Target | None = None,
) -> Aggregate:
    """Ask for the kernel density of whatever can be counted at public nodes.

    As `density`, of records that say themselves where they lie and who is protected: an array, or
    columns of a table, for which `neyman.publish.density` calls this.

    Args:
        records: private, with one number each; of a box one for each side.
        domain: as for `density`.
        bandwidth: as for `density`.
        target: as for `density`.

    Raises:
        InvalidParameter: if a declaration is unusable.
    """
    check_type("domain", domain, Domain, _DOMAINS)
    basis = domain.basis(bandwidth, target, counted=records.records is None)
    return asked(
        records,
        {
            "statistic": basis.statistic,
            "basis": basis.record(),
            "rules": basis.rules,
        },
        axes=basis.axes,
        one=basis.sensitivity(records.neighbors),
        size=basis.size,
        reading=CoefficientReading(basis),
        sums=basis.sums,
    )


@overload
def pilot_bandwidth(domain: Side, records: int) -> Fraction: ...
@overload
def pilot_bandwidth(domain: Domain, records: int) -> Fraction | tuple[Fraction, ...]: ...
def pilot_bandwidth(domain: Domain, records: int) -> Fraction | tuple[Fraction, ...]:
    """Return small bandwidths to release at, from a public guess of the number of records.

        h_k = 0.25 (4 / ((d + 2) records))^(1 / (d + 4)) length_k / 8

    A quarter of the normal-reference rule for a domain eight standard deviations wide, on each of
    its d sides. Larger bandwidths are free afterwards, smaller ones are not there. Kept between a
    1000th of a length (a 128th in the plane, a 24th in space) and a tenth.

    >>> from neyman.functional import Box, Interval
    >>> delay = Interval(-60, 180, outside="clip")
    >>> float(pilot_bandwidth(delay, records=300_000))
    0.638
    >>> [float(h) for h in pilot_bandwidth(Box(delay, delay), records=1_000)]
    [2.37, 2.37]

    Args:
        domain: where values lie.
        records: about how many there are. Public: under add_remove their number is private, so
            write what is known without looking.

    Returns:
        A number, or of a box one for each side.

    Raises:
        InvalidParameter: if `records` is no whole number from 1 to 2^53.
    """
    check_type("domain", domain, Domain, _DOMAINS)
    number = whole("records", records, 1, 2**53)
    d = len(domain.sides)
    factor = 1.06 if d == 1 else (4 / (d + 2)) ** (1 / (d + 4))
    rule = 0.25 * factor / 8 * number ** (-1 / (d + 4))
    # Three digits: a public number that people can read.
    share = min(max(Fraction(f"{rule:.3g}"), _SMALLEST_PILOT[d]), Fraction(1, 10))
    found = tuple(Fraction(f"{float(share * side.length):.3g}") for side in domain.sides)
    return found[0] if d == 1 else found


@final
@dataclass(frozen=True, slots=True)
class CoefficientReading:
    """The noisy integers as they are, each by what it is a coefficient of, group by group."""

    basis: AbstractBasis

    @property
    def names(self) -> tuple[str, ...]:
        """What its columns are called."""
        return *self.basis.label_names, "coefficient", "stddev", "lower", "upper"

    @property
    def rows(self) -> int:
        """One for each integer of a group."""
        return self.basis.size

    def columns(self, noisy: IntArray, noise: Noise, confidence: float) -> Columns:
        """Return the columns."""
        width = noise.half_width(confidence)
        groups = len(noisy) // self.rows
        labels = cast(
            "Columns", {name: label * groups for name, label in self.basis.labels().items()}
        )
        # Integers of at most 2^62 and noise: far from the end of 64 bits.
        return labels | {
            "coefficient": noisy.tolist(),
            "stddev": [noise.stddev] * len(noisy),
            "lower": (noisy - width).tolist(),
            "upper": (noisy + width).tolist(),
        }
