"""The special functions of SciPy that are used, with types; SciPy is loaded by the first call."""

# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false

from typing import cast

import numpy as np

from neyman.numerics._complex import ComplexArray
from neyman.numerics._interval import Array

__all__ = [
    "beta_quantile",
    "binomial_at_least",
    "erf",
    "erfcx",
    "erfinv",
    "faddeeva",
    "gamma_above",
    "gamma_below",
    "log_gamma",
    "log_ndtr",
    "ndtr",
    "ndtri",
    "poisson_mean",
    "student",
]


def erf(x: Array) -> Array:
    """Return the error function of x."""
    from scipy.special import erf as function

    return np.asarray(cast("Array", function(x)))


def erfcx(x: Array) -> Array:
    """Return exp(x^2) erfc(x)."""
    from scipy.special import erfcx as function

    return np.asarray(cast("Array", function(x)))


def erfinv(x: Array) -> Array:
    """Return the inverse of erf."""
    from scipy.special import erfinv as function

    return np.asarray(cast("Array", function(x)))


def log_gamma(x: Array) -> Array:
    """Return log Gamma(x), x > 0."""
    from scipy.special import gammaln as function

    return np.asarray(cast("Array", function(x)))


def log_ndtr(x: Array) -> Array:
    """Return log Phi(x)."""
    from scipy.special import log_ndtr as function

    return np.asarray(cast("Array", function(x)))


def ndtr(x: Array) -> Array:
    """Return Phi(x); 0 where it is below 1e-308."""
    from scipy.special import ndtr as function

    return np.asarray(cast("Array", function(x)))


def ndtri(p: Array) -> Array:
    """Return Phi^-1(p)."""
    from scipy.special import ndtri as function

    return np.asarray(cast("Array", function(p)))


def faddeeva(z: ComplexArray) -> ComplexArray:
    """Return exp(-z^2) erfc(-iz), for Im z >= 0; relative error within 2^-42 assumed."""
    from scipy.special import wofz as function

    return np.asarray(cast("ComplexArray", function(z)))


def student(degrees: Array, p: Array) -> Array:
    """Return the p-quantile of Student's law with positive degrees of freedom."""
    from scipy.special import stdtrit as function

    return np.asarray(cast("Array", function(degrees, p)))


def poisson_mean(events: Array, p: Array) -> Array:
    """Return the p-quantile of the gamma law of this shape, above 0.

    It is the mean at which at least `events` Poisson events have probability p.
    """
    from scipy.special import gammaincinv as function

    return np.asarray(cast("Array", function(events, p)))


def beta_quantile(first: Array, second: Array, p: Array) -> Array:
    """Return the p-quantile of the beta law of these shapes, each above 0.

    Error: found within 1e-8 of p for shapes up to 2^20; far beyond that the root can be lost.
    """
    from scipy.special import betaincinv as function

    return np.asarray(cast("Array", function(first, second, p)))


def gamma_below(shape: Array, x: Array) -> Array:
    """Return the chance that a gamma variable of this shape and scale 1 is at most x."""
    from scipy.special import gammainc as function

    return np.asarray(cast("Array", function(shape, x)))


def gamma_above(shape: Array, x: Array) -> Array:
    """Return the chance that a gamma variable of this shape and scale 1 is above x."""
    from scipy.special import gammaincc as function

    return np.asarray(cast("Array", function(shape, x)))


def binomial_at_least(count: Array, number: Array, chance: float) -> Array:
    """Return P(Binomial(number, chance) >= count); 0 where count exceeds number."""
    from scipy.special import betainc as function

    inner = np.clip(count, 1, np.maximum(number, 1))
    found = np.asarray(cast("Array", function(inner, np.maximum(number, 1) - inner + 1, chance)))
    return np.where(count <= 0, 1.0, np.where(count > number, 0.0, found))
