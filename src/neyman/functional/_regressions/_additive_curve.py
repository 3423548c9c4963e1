"""A released sum of curves: its values, its parts and their errors."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar, Final, final

import numpy as np
import numpy.typing as npt

from neyman.arguments import whole
from neyman.displayed import Displayed
from neyman.errors import InvalidParameter
from neyman.functional._abstract import NoisyCount
from neyman.functional._arguments import numbers
from neyman.functional._channels import ReleasedChannels
from neyman.functional._regressions._additive_fit import AdditiveFit, AdditiveSums
from neyman.functional._regressions._additive_terms import SCALE, AdditiveTerms, Features
from neyman.numerics import Array
from neyman.overriding import override

__all__ = ["AdditiveCurve", "Effect"]

_MOST_KEPT: Final = 8


@final
@dataclass(frozen=True, slots=True)
class AdditiveCurve(ReleasedChannels[AdditiveTerms]):
    """The mean of y as a function of several features: a constant plus a curve for each.

    The release has noisy sums over records of products of polynomials, and of y times polynomials.
    Everything here is post-processing of these integers.

    With G the sums of products and s those of responses, s = G b + residuals + noise. The prior of
    the coefficients b is Gaussian, with a variance for each feature that falls with the degree. The
    curve is a mean over the variances, the fall and the variance of the residuals, weighted by the
    marginal likelihood of s. You have nothing to choose.

    Error: an estimate. The noise of G counts as noise of s, in proportion to the coefficients.
    Source: Hastie and Tibshirani, *Generalized additive models*, 1990; Bernstein and Sheldon,
        *Differentially private Bayesian linear regression*, NeurIPS 2019, for regression from noisy
        sums by a model of them.
    """

    kind: ClassVar[str] = "additive_regression"
    statistics: ClassVar[tuple[str, ...]] = ("additive_regression",)
    version: ClassVar[int] = 1

    @classmethod
    @override
    def channels_of(cls, record: Mapping[str, object]) -> AdditiveTerms:
        return AdditiveTerms.of_record(record)

    @property
    @override
    def noisy_count(self) -> NoisyCount:
        if self.records is not None:
            return NoisyCount(float(self.records), 0.0)
        return NoisyCount(self.integers[0] / SCALE**2, self.stddev / SCALE**2)

    @property
    def fit(self) -> AdditiveFit:
        """The coefficients of the polynomials, computed once.

        Raises:
            InvalidParameter: if the released number of records is within three standard deviations
                of its noise.
        """
        return _fit_of(self)

    def __call__(self, x: npt.ArrayLike) -> Array:
        """Return the mean response at each place, within the bounds of y.

        Args:
            x: one row per place, shape (..., D).

        Raises:
            InvalidParameter: if a place is outside the domains or has another number of features,
                or as for `fit`.
        """
        terms = self.channels
        low, high = float(terms.response.lower), float(terms.response.upper)
        found = terms.response.middle + terms.response.half * (self._polynomials(x) @ self.fit.mean)
        return np.asarray(np.clip(found, low, high), np.float64)

    def sd(self, x: npt.ArrayLike) -> Array:
        """Return the posterior standard deviation of the mean at each place, given the release.

        It includes noise, sampling of records and shrinkage.

        Raises:
            InvalidParameter: as for a call.
        """
        return self.channels.response.half * self.fit.deviation(self._polynomials(x))

    @property
    def effects(self) -> tuple["Effect", ...]:
        """The curve of each feature, then the surface of each interaction."""
        return tuple(Effect(self, features) for features in self.channels.groups if features)

    def effect(self, *features: int) -> "Effect":
        """Return the curve of one feature, or the surface of an interaction.

        Args:
            features: the features, counted from 0, in order.

        Raises:
            InvalidParameter: if there is no such feature or interaction.
        """
        places = tuple(whole("a feature", k, 0, len(self.channels.domains) - 1) for k in features)
        found = next((one for one in self.effects if one.features == places), None)
        if found is None:
            raise InvalidParameter(
                f"effect must be that of a feature or of a declared interaction; got {features}. "
                f"Write effect(k), k from 0 to {len(self.channels.domains) - 1}, or declare "
                "interactions=[(k, l)] before the release"
            )
        return found

    def _polynomials(self, x: npt.ArrayLike) -> Array:
        terms = self.channels
        return terms.values(dict(enumerate(_features_of(x, len(terms.domains)))))


@final
@dataclass(frozen=True, slots=True)
class Effect(Displayed):
    """One part of a sum of curves. Its mean over the records is 0, by the released estimate.

    Attributes:
        curve: the whole sum.
        features: its one or two features.
    """

    curve: AdditiveCurve = field(repr=False)
    features: Features

    def __call__(self, x: npt.ArrayLike) -> Array:
        """Return the effect at each place, in the units of y.

        Args:
            x: places of one feature, any shape; places of an interaction, shape (..., 2).

        Raises:
            InvalidParameter: if a place is outside the domain, or as for `AdditiveCurve.fit`.
        """
        found = self.curve.channels.response.half * (self._polynomials(x) @ self.curve.fit.mean)
        return np.asarray(found, np.float64)

    def sd(self, x: npt.ArrayLike) -> Array:
        """Return the posterior standard deviation at each place, given the release.

        Raises:
            InvalidParameter: as for a call.
        """
        return self.curve.channels.response.half * self.curve.fit.deviation(self._polynomials(x))

    @property
    def importance(self) -> float:
        """The standard deviation of the effect over the records, in the units of y: an estimate."""
        fit, some = self.curve.fit, self.curve.channels.groups[self.features]
        means, part = fit.products[0, some], fit.mean[some]
        spread = fit.products[some, some] - np.outer(means, means)
        return self.curve.channels.response.half * math.sqrt(max(float(part @ spread @ part), 0.0))

    def grid(self, points: int) -> tuple[Array, Array]:
        """Return equally spaced places over the domain of one feature, and the effect there.

        Raises:
            InvalidParameter: if it is the effect of an interaction, or `points` is below 2.
        """
        axis, *others = self.features
        if others:
            raise InvalidParameter(
                "grid must be that of one feature; this effect has two. Call it at places"
            )
        x = self.curve.channels.domains[axis].grid(points)
        return x, self(x)

    def _polynomials(self, x: npt.ArrayLike) -> Array:
        """Return its polynomials at places minus their means, and 0 for all others."""
        places = numbers("x", x)[..., None] if len(self.features) == 1 else x
        each = _features_of(places, len(self.features))
        terms, means = self.curve.channels, self.curve.fit.products[0]
        values = terms.values(dict(zip(self.features, each, strict=True)))
        own, found = terms.groups[self.features], np.zeros(values.shape)
        found[..., own] = values[..., own] - means[own]
        return found


@lru_cache(maxsize=_MOST_KEPT)
def _fit_of(curve: AdditiveCurve) -> AdditiveFit:
    number = curve.noisy_count
    if not number.exceeds_noise:
        raise InvalidParameter(
            f"the released number of records is {number.count:.6g} ± {number.stddev:.3g} of noise, "
            "so there is no curve: the noise is as large as the data; spend more"
        )
    integers = np.array(curve.integers, np.float64)
    sums = AdditiveSums.of(curve.channels, integers, curve.stddev, curve.records)
    return AdditiveFit.of(curve.channels, sums)


def _features_of(x: npt.ArrayLike, number: int) -> list[Array]:
    """Return the features of places, shape (...) each.

    Raises:
        InvalidParameter: if the number of features differs.
    """
    places = numbers("x", x)
    if places.ndim < 1 or places.shape[-1] != number:
        raise InvalidParameter(
            f"x must have {number} features in its last axis; got shape {places.shape}. Write "
            f"shape (..., {number}), one row a place"
        )
    return [places[..., k] for k in range(number)]
