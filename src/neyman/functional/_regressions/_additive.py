"""A private regression on several features: a sum of curves, and of surfaces of two features."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import Aggregate
from neyman.arguments import whole
from neyman.digests import digest
from neyman.errors import InvalidParameter
from neyman.functional._arrays import ArrayRecords, Units, rows
from neyman.functional._bases._abstract_basis import CoefficientReading
from neyman.functional._bases._domain import Interval
from neyman.functional._regressions._additive_terms import (
    MOST_DEGREE,
    AdditiveTerms,
    feature_domains,
    feature_pairs,
)
from neyman.sensitivity import Neighbors

__all__ = ["additive_regression"]

# Raise it whenever the integers of an unchanged question change.
_RULES: Final = 1
# Degree 4; from so many records on 6, and 8.
_DEGREES: Final = ((2_000, 4), (50_000, 6))


def additive_regression(
    x: npt.NDArray[np.generic],
    y: npt.NDArray[np.generic],
    *,
    domains: Sequence[Interval],
    response: Interval,
    neighbors: Neighbors,
    unit: str,
    name: str,
    records: int | None = None,
    degree: int | None = None,
    interactions: Sequence[Sequence[int]] = (),
    units: Units | None = None,
) -> Aggregate:
    """Ask for the mean response y as a sum of curves, one for each feature.

        m(x) = c + sum_k f_k(x_k) + sum of f_kl(x_k, x_l) over the interactions

    Every f is a polynomial of the given degree. The release has the sums over records of all
    products of two polynomials, and of y times each polynomial. `functional.function` makes an
    `AdditiveCurve` of them, which estimates the curvature of each f from the noisy sums.

    Args:
        x: private, a NumPy array of any real dtype, shape (n, D), one row per record; D at most 16.
        y: private, shape (n,). Both are read after the ledger is charged, and no value raises an
            error: a record with NaN, or at no place of a domain or of the response, counts for
            nothing.
        domains: the domain of each feature, `Interval(lower, upper, outside="clip")`.
        response: the public bounds of y, `Interval(lower, upper, outside="clip")`. The noise is
            proportional to their distance; clipped values bias the curves.
        neighbors: "add_remove", where the number of records is private and also released, or
            "replace_one", where it is public.
        unit: the privacy unit, in the words of the ledger; each record is one unit, unless `units`
            says otherwise.
        name: the name of the dataset in the ledger; other records need another name.
        records: a public guess of the number of records. Up to 2,000 the degree is 4, up to 50,000
            it is 6, and beyond that 8. Give this or `degree`.
        degree: the degree of the polynomials, from 1 to 12. 1 is linear regression.
        interactions: pairs of features, counted from 0, whose joint effect is not a sum of two
            curves.
        units: the unit of each record, and the contribution limit. Under add_remove only.

    Raises:
        InvalidParameter: if an argument is not valid, or the arrays are not of real numbers, have
            different lengths, or are empty under replace_one.

    Guarantee: with Gaussian noise of variance v it is exactly mu-GDP, mu^2 = l2_squared / v.
    Source: Vu and Slavkovic, *Differential privacy for clinical trial data*, ICDM workshops 2009,
        and Wang, *Revisiting differentially private linear regression*, UAI 2018, for regression
        from noisy sums of products.
    """
    terms = AdditiveTerms(
        feature_domains(domains),
        response,
        _degree(records, degree),
        feature_pairs(interactions),
        neighbors,
    )
    array = rows(x, len(terms.domains), "x")
    arrays = ArrayRecords.of(
        *((f"x{k}", array[:, k]) for k in range(array.shape[1])),
        ("y", y),
        name=name,
        unit=unit,
        neighbors=neighbors,
        units=units,
    )
    if y.size != len(array):
        raise InvalidParameter("x and y must have one length: a row of x and a y for each record")

    return Aggregate(
        query={
            "statistic": "additive_regression",
            "channels": terms.record(),
            "rules": _RULES,
            "records": arrays.records,
            **arrays.describe(),
            "unit_records": arrays.unit_records,
            "computation": digest("additive_regression", terms, arrays.unit_records, _RULES),
        },
        source=arrays.source,
        unit=unit,
        sensitivity=arrays.bound(terms.sensitivity()),
        size=terms.size,
        reading=CoefficientReading(terms),
        compute=lambda: terms.sums(arrays.kept()),
    )


def _degree(records: int | None, degree: int | None) -> int:
    if (records is None) == (degree is None):
        raise InvalidParameter(
            "a regression must have one of records= and degree=; got "
            f"{'neither' if records is None else 'both'}. Write records=, a public guess of their "
            "number, or degree=, the degree of the polynomials"
        )
    if degree is not None:
        return whole("degree", degree, 1, MOST_DEGREE)
    number = whole("records", records, 1, 2**53)
    return next((found for most, found in _DEGREES if number <= most), _DEGREES[-1][1] + 2)
