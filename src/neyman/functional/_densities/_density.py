"""The density of an array of private values: what the door can answer, and how well it will."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import Aggregate, Countable
from neyman.arguments import check_type, whole
from neyman.errors import InvalidParameter
from neyman.functional._arguments import each
from neyman.functional._arrays import ArrayRecords, Units, records_of
from neyman.functional._bases._abstract_basis import CoefficientReading
from neyman.functional._bases._basis import Basis
from neyman.functional._bases._domain import Domain, ScaledInterval, Side, check_side
from neyman.functional._bases._field_basis import FieldBasis
from neyman.functional._bases._target import Density, Scales, Target
from neyman.functional._densities._bandwidth import started_at
from neyman.functional._gaussian_processes._kernels import check_length
from neyman.functional._question import question_of
from neyman.numerics import Real, exact
from neyman.sensitivity import Neighbors, check_neighbors

__all__ = ["Risk", "density", "density_of", "normal_risk"]

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

        n >= 10,000   h = T / 4000,                                      target = Octaves(9)
        n < 10,000    h = max(T / 1000, T 0.25 * 1.06 n^(-1/5) / 16),    target = Scales()

    Of many records the domain may be a thousand standard deviations wide. The start of fewer is
    half of `pilot_bandwidth`: measured, the error is then 1.1 times that of a release at the best
    bandwidth, which nobody knows, and 1.5 times at worst. At the pilot itself with `Density()` it
    is 1.15 and 1.7 times: a wide choice costs little where the noise of 1, 2, 4 and 8 h is shared.
    On a box h is the pilot, as the same target is the default there. Of values whose type has
    whole numbers only, h is at least 1 (or T / 10): finer ones show heaps, and nothing between.

    Args:
        values: private, a NumPy array of any real dtype, shape (n,); of a box of d sides one record
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
    if isinstance(domain, ScaledInterval) and not isinstance(countable, ArrayRecords):
        raise InvalidParameter(
            "a column of a table takes no scale, because one SQL statement counts it at equally "
            "spaced places. Write Interval(lower, upper, outside=...) without a scale, or "
            "functional.density of the column as an array"
        )
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


@final
@dataclass(frozen=True, slots=True)
class Risk:
    """Parts of an expected integrated squared error, in one over the units of the values.

    Attributes:
        bias: of smoothing, squared.
        sampling: variance from which records were drawn.
        noise: variance of the noise, over the domain.
    """

    bias: float
    sampling: float
    noise: float

    @property
    def total(self) -> float:
        """Their sum."""
        return self.bias + self.sampling + self.noise


def normal_risk(
    domain: Side, *, bandwidth: Real, records: int, mu: Real, neighbors: Neighbors, spread: Real
) -> Risk:
    """Return the error of a private density of normal values: a utility to be had for free.

        bias      (1/(2 sqrt(pi))) (1/r - 2^(3/2)/sqrt(h^2 + 2 s^2) + 1/s),  r = sqrt(h^2 + s^2)
        sampling  (1/(2 sqrt(pi) n)) (1/h - 1/r)
        noise     |T| c^2 / (2 pi h^2 n^2 mu^2),   c^2 = 1 or, under replace_one, 2

    The first two are those of any kernel estimate. The noise costs n^2 h^2 mu^2 / |T| times less
    than it would for one value: of no consequence once n h mu^2 is large against |T|, and without a
    bounded T infinite. Choose by it, among public numbers, a bandwidth or a mu.

    Args:
        domain: T.
        bandwidth: h, in the units of the values.
        records: n, public or a guess.
        mu: of the release.
        neighbors: the relation.
        spread: s, standard deviation of the normal values that are thought of; public.

    Raises:
        InvalidParameter: if a number is not positive, or far beyond all use.

    Error: exact for a normal law well inside the domain; the noise too large by sqrt(2 pi) h over
        the period, relatively, under replace_one. The noise of a released count, and of
        targets other than `Density()`, is not in it.
    Source: Fryer (1976), "Some errors associated with the non-parametric estimation of density
        functions"; Hall, Rinaldo and Wasserman (2013), section 4.1, for the order of the noise.

    >>> from neyman.functional import Interval
    >>> found = normal_risk(Interval(-4, 4, outside="clip"), bandwidth=0.27, records=1000, mu=1,
    ...                     neighbors="replace_one", spread=1)
    >>> f"{found.bias:.6f} {found.sampling:.6f} {found.noise:.6f}"
    '0.000257 0.000772 0.000035'
    """
    check_neighbors(neighbors)
    check_side(domain)
    records = whole("records", records, 1, 2**53)
    h, s, m = (
        float(check_length(x, name))
        for x, name in ((bandwidth, "bandwidth"), (spread, "spread"), (mu, "mu"))
    )
    wide, middle = math.hypot(h, s), math.sqrt(h * h + 2 * s * s)
    unit = 1 / (2 * math.sqrt(math.pi))
    moved = 2 if neighbors == "replace_one" else 1
    return Risk(
        bias=max(unit * (1 / wide - 2**1.5 / middle + 1 / s), 0.0),
        sampling=unit * (1 / h - 1 / wide) / records,
        noise=float(domain.length) * moved / (2 * math.pi * (h * records * m) ** 2),
    )


def basis_on(
    domain: Domain,
    bandwidth: Real | Sequence[Real],
    target: Target | None,
    *,
    counted: bool,
) -> Basis | FieldBasis:
    """Return what a density on a domain is released in.

    Args:
        domain: a line, a circle, or a box of such sides.
        bandwidth: one number, or one for each side of a box.
        target: what errors weigh; by default `Density()` on one side and `Scales()` on a box.
        counted: whether the number of records is private and released.

    Raises:
        InvalidParameter: if the domain cannot carry it.
    """
    first, *others = domain.sides
    if others:
        found = each("bandwidth", bandwidth, len(domain.sides))
        if target is not None:
            check_type("target", target, Target, "Density() or Scales()")
        return FieldBasis(domain.sides, found, Scales() if target is None else target, counted)
    if isinstance(bandwidth, Sequence) and not isinstance(bandwidth, str):
        raise InvalidParameter("bandwidth must be one number for values on a line; got several")
    chosen = Density() if target is None else target
    return Basis(first, exact(bandwidth, "bandwidth"), chosen, counted)
