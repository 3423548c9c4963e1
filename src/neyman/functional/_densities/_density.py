"""The density of an array of private values: the question, and its expected error."""

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
    """Ask for the kernel density of an array of values; each value is one privacy unit.

        f(x) = (1/n) sum_i K_h(x - x_i)

    The whole curve costs no more budget than its value at one point. The release has the integer
    coefficients of the curve. `functional.function` makes a function of them, and every use of it,
    at any larger bandwidth, is free. So you need not know a good bandwidth before the release: with
    `records` in its place, the release has a small bandwidth, and the function chooses a good one
    from it. On a line or circle of length T, with a public guess n,

        n >= 10,000   h = T / 4000,                                      target = Octaves(9)
        n < 10,000    h = max(T / 1000, T 0.25 * 1.06 n^(-1/5) / 16),    target = Scales()

    With many records, the domain can be a thousand standard deviations wide. With few, h is half of
    `pilot_bandwidth`. Its measured error is 1.1 times that of a release at the best bandwidth, and
    1.5 times at worst; at the pilot itself with `Density()` it is 1.15 and 1.7 times. On a box, h
    is the pilot. If the type of the values has whole numbers only, h is at least 1 (or T / 10),
    because smaller bandwidths only show the heaps.

    Args:
        values: private, a NumPy array of any real dtype, shape (n,); for a box of d sides one
            record per row, shape (n, d). They are read after the ledger is charged, and no value
            raises an error: a value at no place of the domain counts for nothing (under
            replace_one: as if spread evenly over the circle).
        domain: the domain of the values: `Interval(lower, upper, outside=...)`, `Circle(period)`,
            or a `Box` of two or three of them.
        bandwidth: h, the standard deviation of the kernel, in the units of the values; for a box
            one for each side. Public; after the release only larger ones are available. Give this
            or `records`.
        records: a public guess of the number of records, in place of a bandwidth. Under add_remove
            their number is private, so write what you know without looking.
        neighbors: "add_remove", where the number of records is private and also released, or
            "replace_one", where it is public.
        unit: the privacy unit, in the words of the ledger; each value is one unit, unless `units`
            says otherwise.
        name: the name of the dataset in the ledger; other values need another name.
        target: the weights of errors, which divide the budget between frequencies. The default is
            `Scales()` on a box and with `records`: larger bandwidths are then nearly as accurate.
            It is `Density()` on a line with a bandwidth. There, `Cumulative()` is best for
            integrals and quantiles.
        units: the unit of each value and the contribution limit, if one unit can have several
            values; by default each value is a unit. Under add_remove only.

    Returns:
        The question with its exact L2 sensitivity, not yet computed.

    Raises:
        InvalidParameter: if an argument is not valid, both or neither of bandwidth and records are
            given, or the array is not a NumPy array of real numbers, has more than 2^36 of them, or
            is empty under replace_one.

    Guarantee: with Gaussian noise of variance v it is exactly mu-GDP, mu^2 = l2_squared / v.
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
    """Ask for the kernel density of records that can be counted at public nodes.

    It is `density` for a `Countable`, an array or columns of a table, which knows its privacy unit.
    `neyman.publish.density` calls it.

    Args:
        countable: private records with one number each; for a box one for each side.
        domain: as for `density`.
        bandwidth: as for `density`.
        records: as for `density`, a public guess.
        target: as for `density`.

    Raises:
        InvalidParameter: if an argument is not valid, or both or neither of bandwidth and records
            are given.
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
        bias: the squared bias of smoothing.
        sampling: the variance from the sampling of the records.
        noise: the variance of the noise, over the domain.
    """

    bias: float
    sampling: float
    noise: float

    @property
    def total(self) -> float:
        """The sum of the three parts."""
        return self.bias + self.sampling + self.noise


def normal_risk(
    domain: Side, *, bandwidth: Real, records: int, mu: Real, neighbors: Neighbors, spread: Real
) -> Risk:
    """Return the expected error of a private density of normal values; it needs no data.

        bias      (1/(2 sqrt(pi))) (1/r - 2^(3/2)/sqrt(h^2 + 2 s^2) + 1/s),  r = sqrt(h^2 + s^2)
        sampling  (1/(2 sqrt(pi) n)) (1/h - 1/r)
        noise     |T| c^2 / (2 pi h^2 n^2 mu^2),   c^2 = 1 or, under replace_one, 2

    The first two are those of any kernel estimate. The noise is negligible if n h mu^2 is large
    compared to |T|, and infinite if T is not bounded. Use it to choose a bandwidth or a mu from
    public numbers.

    Args:
        domain: the domain T.
        bandwidth: h, in the units of the values.
        records: n, public or a guess.
        mu: mu of the release.
        neighbors: the neighbouring relation.
        spread: s, the standard deviation of the assumed normal values; public.

    Raises:
        InvalidParameter: if a number is not positive, or extremely large or small.

    Error: exact for a normal law well inside the domain. Under replace_one the noise is too large
        by sqrt(2 pi) h over the period (relative). It does not include the noise of a released
        count, and assumes the target `Density()`.
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
    """Return the basis of a density on a domain.

    Args:
        domain: a line, a circle, or a box of such sides.
        bandwidth: one number, or one for each side of a box.
        target: the weights of errors; by default `Density()` on one side and `Scales()` on a box.
        counted: whether the number of records is private and released.

    Raises:
        InvalidParameter: if the domain does not allow it.
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
