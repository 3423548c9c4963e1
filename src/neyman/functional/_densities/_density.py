"""The density of an array of private values: a question that the door can answer."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import Aggregate, Countable
from neyman.arguments import check_type
from neyman.functional._arrays import ArrayRecords, Units, records_of
from neyman.functional._bases._abstract_basis import CoefficientReading
from neyman.functional._bases._density_bases import basis_on
from neyman.functional._bases._domain import Domain
from neyman.functional._bases._target import Target
from neyman.functional._densities._bandwidth import started_at
from neyman.functional._question import question_of
from neyman.numerics import Real
from neyman.sensitivity import Neighbors

__all__ = ["density", "density_of"]

_DOMAINS: Final = 'Interval(lower, upper, outside="clip"), Circle(period) or Box(side, side)'


def density(
    values: npt.NDArray[np.generic],
    *,
    domain: Domain,
    bandwidth: Real | Sequence[Real] | None = None,
    records: int | None = None,
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
    it, at any larger bandwidth, is free. So the bandwidth need not be known beforehand: with
    `records` in its place the release is made at a small one, and `select_bandwidth` reads from it
    which is good. On a line or circle of length T, with a public guess n,

        h = max(T / 1000, T 0.25 * 1.06 n^(-1/5) / 16),   target = Scales(),

    half of `pilot_bandwidth`: measured, the error is then 1.1 times that of a release at the best
    bandwidth, which nobody knows, and 1.5 times at worst. At the pilot itself with `Density()` it
    is 1.15 and 1.7 times: a wide choice costs little where the noise of 1, 2, 4 and 8 h is shared.
    On a box h is the pilot, as the same target is the default there. Of values whose type has
    whole numbers only, h is at least 1 (or T / 10): finer ones show heaps, and nothing between.

    Args:
        values: private, a NumPy array of any real dtype, any shape; of a box of d sides one record
            a row, shape (n, d). They are read when the question is paid for, and none can raise an
            error: a value at no place of the domain counts for nothing (under replace_one: as if
            spread evenly over the circle).
        domain: where values lie: `Interval(lower, upper, outside=...)`, `Circle(period)`, or a
            `Box` of two or three of them.
        bandwidth: h, the standard deviation of the kernel, in the units of the values; of a box
            one for each side. Public, the least that can be read. Either this or `records`.
        records: in place of a bandwidth: about how many records there are. Public: under
            add_remove their number is private, so write what is known without looking.
        neighbors: "add_remove", where the number of records is private and released along, or
            "replace_one", where it is public.
        unit: who is protected, in the words of the ledger; each value of the array is one's,
            unless `units` says otherwise.
        name: stands for these values in the ledger: another name is another dataset.
        target: what errors weigh; on a box and with `records` by default `Scales()`, which
            divides the same budget so that wider bandwidths come out nearly as well; on a line with
            a bandwidth `Density()`; there `Cumulative()` divides it so that integrals and
            quantiles come out best.
        units: whose each value is, and how many of one unit count, where one unit can have
            several; by default each value is a unit. Under add_remove only.

    Returns:
        The question with its exact L2 sensitivity, not yet computed.

    Raises:
        InvalidParameter: if a declaration is unusable, bandwidth and records are both given or
            neither is, or the array is none of NumPy's, is not of real numbers, holds more than
            2^36, or is empty under replace_one.

    Guarantee: under Gaussian noise of variance v exactly mu-GDP, mu^2 = l2_squared / v.
    Source: Hall, Rinaldo and Wasserman, *Differential privacy for functions and functional data*,
        JMLR 2013 (Gaussian process noise with the kernel of the estimator).
    """
    check_type("domain", domain, Domain, _DOMAINS)
    columns = records_of(values, len(domain.sides)).T
    countable = ArrayRecords.of(
        *(("values", column) for column in columns),
        name=name,
        unit=unit,
        neighbors=neighbors,
        units=units,
    )
    return density_of(countable, domain=domain, bandwidth=bandwidth, records=records, target=target)


def density_of(
    countable: Countable,
    *,
    domain: Domain,
    bandwidth: Real | Sequence[Real] | None = None,
    records: int | None = None,
    target: Target | None = None,
) -> Aggregate:
    """Ask for the kernel density of whatever can be counted at public nodes.

    As `density`, of records that say themselves where they lie and who is protected: an array, or
    columns of a table, for which `neyman.publish.density` calls this.

    Args:
        countable: private records, with one number each; of a box one for each side.
        domain: as for `density`.
        bandwidth: as for `density`.
        records: as for `density`, a public guess.
        target: as for `density`.

    Raises:
        InvalidParameter: if a declaration is unusable, or bandwidth and records are both given or
            neither is.
    """
    check_type("domain", domain, Domain, _DOMAINS)
    least, weighed = started_at(domain, bandwidth, records, target, countable.whole)
    basis = basis_on(domain, least, weighed, counted=countable.records is None)
    return question_of(
        countable,
        {
            "statistic": basis.statistic,
            "basis": basis.record(),
            "rules": basis.rules,
        },
        rule=basis,
        axes=basis.axes,
        one=basis.sensitivity(countable.neighbors),
        size=basis.size,
        reading=CoefficientReading(basis),
        sums=basis.sums,
    )
