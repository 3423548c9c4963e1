"""The coefficients of a sum of curves, from noisy sums of products."""

# scipy carries no types of its own.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

import math
from dataclasses import dataclass
from itertools import product
from typing import Final, NamedTuple, Self, final

import numpy as np

from neyman.functional._regressions._additive_terms import SCALE, AdditiveTerms
from neyman.numerics import Array

__all__ = ["AdditiveFit", "AdditiveSums"]

# How fast variances of coefficients fall with the degree, and variances of responses about the
# curve, in units of B^2.
_DECAYS: Final = (0.02, 0.15, 0.4, 0.8)
_RESIDUALS: Final = (0.005, 0.02, 0.08, 0.25)
_GUESSES: Final = (0.02, 0.05)
_CONSTANT: Final = 0.5
_FIRST: Final = 0.1
_LEAST: Final = 1e-6
# What is not seen of a feature is not thereby 0: its variance is as if this had been seen, too.
_SPREAD: Final = 0.1
_STEPS: Final = 12
# Variances of deviations that are weighed, and the least eigenvalue of the mean products.
_DEVIATIONS: Final = np.concatenate([[0.0], np.geomspace(1e-6, 1.0, 40)])
_LEAST_PRODUCT: Final = 1e-4
_LEAST_DENSITY: Final = 0.02
_POINTS: Final = 48


class AdditiveSums(NamedTuple):
    """Released sums in units of the polynomials, where a record with response B adds 1.

    Attributes:
        products: G, shape (p, p).
        responses: s, shape (p,).
        product_sd: standard deviation of the noise of G.
        response_sd: standard deviation of the noise of s.
    """

    products: Array
    responses: Array
    product_sd: Array
    response_sd: Array

    @classmethod
    def of(cls, terms: AdditiveTerms, integers: Array, stddev: float, records: int | None) -> Self:
        """Return the released integers in these units."""
        shares, number = terms.shares, len(terms.functions)
        scale = SCALE**2 * np.outer(shares, shares)
        first, second = terms.pairs()
        products, deviations = np.zeros((number, number)), np.full((number, number), stddev)
        products[first, second] = integers[: len(first)]
        products[second, first] = integers[: len(first)]
        if records is not None:
            products[0, 0], deviations[0, 0] = records * SCALE**2, 0.0
        each = SCALE * terms.steps * shares
        return cls(
            products / scale, integers[len(first) :] / each, deviations / scale, stddev / each
        )

    @property
    def number(self) -> float:
        """n, the number of records."""
        return float(self.products[0, 0])


@final
@dataclass(frozen=True, slots=True, eq=False)
class AdditiveFit:
    """The posterior of the coefficients given the sums, a mixture of Gaussians.

    Attributes:
        mean: the mean of b, in units of B.
        covariance: the covariance of b.
        products: the estimated mean products of each two polynomials over records.
    """

    mean: Array
    covariance: Array
    products: Array

    @classmethod
    def of(cls, terms: AdditiveTerms, sums: AdditiveSums) -> Self:
        """Return the posterior of the coefficients."""
        products = _denoised(terms, sums)
        middle = float(np.clip(sums.responses[0] / sums.number, -1.0, 1.0))
        # The noise of G counts by the size of b: first as if that were small, then as it was found.
        squares = np.where(np.arange(len(products)) > 0, *_GUESSES)
        mean = covariance = np.zeros(0)
        for _ in range(2):
            mean, covariance = _mixture(terms, sums, products, middle, squares)
            squares = mean**2 + np.diag(covariance)
        mean[0] += middle
        for array in (mean, covariance, products):
            array.setflags(write=False)
        return cls(mean, covariance, products)

    def deviation(self, rows: Array) -> Array:
        """Return the standard deviation of the value of each row of polynomials."""
        squares = np.einsum("...a,ab,...b->...", rows, self.covariance, rows)
        return np.sqrt(np.maximum(squares, 0.0))


def _mixture(
    terms: AdditiveTerms, sums: AdditiveSums, products: Array, middle: float, squares: Array
) -> tuple[Array, Array]:
    """Return mean and covariance of b minus the middle, over all falls and residuals."""
    variance = sums.response_sd**2 + sums.product_sd**2 @ squares
    variance += (sums.product_sd[:, 0] * middle) ** 2
    whole_products = sums.number * products
    data = sums.responses - middle * whole_products[:, 0]
    found = [
        _likeliest(terms, data, np.diag(variance) + residual * whole_products, whole_products, fall)
        for fall, residual in product(_DECAYS, _RESIDUALS)
    ]
    likely = np.array([one.likelihood for one in found])
    chances = np.exp(likely - likely.max())
    chances /= chances.sum()
    mean = np.sum([c * one.mean for c, one in zip(chances, found, strict=True)], axis=0)
    covariance = np.sum(
        [
            c * (one.covariance + np.outer(one.mean - mean, one.mean - mean))
            for c, one in zip(chances, found, strict=True)
        ],
        axis=0,
    )
    return mean, covariance


class _Given(NamedTuple):
    """Coefficients for one fall and one residual variance, and the log likelihood of the sums."""

    likelihood: float
    mean: Array
    covariance: Array


def _likeliest(
    terms: AdditiveTerms, data: Array, noise: Array, products: Array, fall: float
) -> _Given:
    """Return the variance of each feature by the EM algorithm, and the coefficients with it.

    Source: Dempster, Laird and Rubin, *Maximum likelihood from incomplete data via the EM
        algorithm*, JRSS B 1977; Tipping, *Sparse Bayesian learning*, JMLR 2001, for variances.
    """
    from scipy.linalg import cholesky, solve_triangular

    functions = terms.functions
    falls = fall ** np.array([sum(j for _, j in one) - 1 for one in functions[1:]], np.float64)
    groups = list(terms.groups.values())[1:]
    prior = np.concatenate([[_CONSTANT], _FIRST * falls])
    found = _Given(-math.inf, np.zeros(data.size), np.diag(prior))
    for _ in range(_STEPS):
        root = np.asarray(cholesky(noise + (products * prior) @ products, lower=True))
        both = np.concatenate([products * prior, data[:, None]], axis=1)
        solved = np.asarray(solve_triangular(root, both, lower=True))
        mean = solved[:, :-1].T @ solved[:, -1]
        covariance = np.diag(prior) - solved[:, :-1].T @ solved[:, :-1]
        likelihood = -0.5 * float(solved[:, -1] @ solved[:, -1]) - float(
            np.log(np.diag(root)).sum()
        )
        found = _Given(likelihood, mean, covariance)
        squares = (mean**2 + np.maximum(np.diag(covariance), 0.0))[1:] / falls
        for group in groups:
            some = slice(group.start - 1, group.stop - 1)
            prior[group] = (
                (float(squares[some].sum()) + _SPREAD) / (falls[some].size + 1) * falls[some]
            )
    return found


def _denoised(terms: AdditiveTerms, sums: AdditiveSums) -> Array:
    """Return the mean products of the polynomials, shrunk to those of independent features.

    A product is that of independent features, each with the density that its own polynomials give,
    plus a deviation. For each two groups of polynomials, the variance of deviations is the
    likeliest one, and each deviation is shrunk by its share of noise. The result is made positive
    definite.
    """
    seen, noise = sums.products / sums.number, sums.product_sd / sums.number
    groups = list(terms.groups.values())
    first = np.concatenate([[1.0], *(_shrunk(seen[0, g], noise[0, g]) for g in groups[1:])])
    means = np.clip(first, -1.0, 1.0)
    tables = [_own_products(terms, means, axis) for axis in range(len(terms.domains))]
    found = _independent(terms, tables)
    found[0], found[:, 0] = means, means
    for k, rows in enumerate(groups[1:], 1):
        for columns in groups[k:]:
            moved = _shrunk(seen[rows, columns] - found[rows, columns], noise[rows, columns])
            found[rows, columns] += moved
            if rows != columns:
                found[columns, rows] = found[rows, columns].T
    values, vectors = np.linalg.eigh(found)
    return (vectors * np.maximum(values, _LEAST_PRODUCT)) @ vectors.T


def _shrunk(deviations: Array, noise: Array) -> Array:
    """Return deviations times the share of their variance that is not noise."""
    variances = _DEVIATIONS.reshape(-1, *(1,) * noise.ndim) + noise**2
    axes = tuple(range(1, variances.ndim))
    with np.errstate(divide="ignore", invalid="ignore"):
        likely = -0.5 * (np.log(variances) + deviations**2 / variances).sum(axis=axes)
    own = float(_DEVIATIONS[int(np.nanargmax(likely))])
    return deviations * own / np.maximum(own + noise**2, _LEAST**2)


def _own_products(terms: AdditiveTerms, means: Array, axis: int) -> Array:
    """Return the mean products of the polynomials of one feature, by its density."""
    nodes, weights = np.polynomial.legendre.leggauss(_POINTS)
    values = np.polynomial.legendre.legvander(nodes, terms.degree)
    own = np.concatenate([means[:1], means[terms.groups[axis,]]])
    density = values @ ((2 * np.arange(terms.degree + 1) + 1) * own)
    masses = np.maximum(density, _LEAST_DENSITY) * weights
    return (values.T * (masses / masses.sum())) @ values


def _independent(terms: AdditiveTerms, tables: list[Array]) -> Array:
    """Return the mean products of the polynomials of independent features."""
    functions = terms.functions
    degrees = np.zeros((len(functions), len(tables)), np.intp)
    for row, function in zip(degrees, functions, strict=True):
        for axis, degree in function:
            row[axis] = degree
    pairs = zip(tables, degrees.T, strict=True)
    return np.prod([table[np.ix_(degree, degree)] for table, degree in pairs], axis=0)
