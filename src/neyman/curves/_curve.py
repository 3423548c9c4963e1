"""The views that every guarantee has, derived once from a handful of bracketed primitives."""

import math
import reprlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias, final

import numpy as np
import numpy.typing as npt

from neyman.calls import plain_calls_of
from neyman.curves._divergences._subgaussian_order import Subgaussianity
from neyman.curves._order import least_mu, least_rho
from neyman.curves._solvers._solver import Solver, using
from neyman.displayed import Displayed
from neyman.errors import InvalidParameter, NotCertified
from neyman.numerics import (
    Array,
    Interval,
    first_double,
    quantile_gap,
    square_roots,
)
from neyman.numerics._primitives import log, log1p

__all__ = ["Answer", "Curve", "View", "answers_of"]

# A float for a scalar question, a float64 array of its shape for an array, an `Answer` of either
# when a bracket is asked for.
View: TypeAlias = Any
# A bracket of mu that is wider, relatively, is worth another bound from below.
_LOOSE = 1e-6


@final
@dataclass(frozen=True, slots=True)
class Answer:
    """A number, or an array of numbers, with its bracket; it unpacks into (lower, upper).

    Attributes:
        value: the safe side: the upper one of a loss, the lower one of an error.
        lower: proved lower bound.
        upper: proved upper bound.
        method: what answered: "closed form", "contour", "lattice", "counted hits", "known samples",
            "trivial bounds", "Rényi orders", or several.
        of: "mechanism": the bracket holds of a pair of laws, whose loss it encloses from both
            sides. "class": no such pair is known. Of a statement, such as rho-zCDP, the safe side
            holds for every member of the class, and so does the other, which is what each one
            loses at least: 0 unless there is something beside the statement. Of a mechanism that
            is `dominated_by` a curve the safe side is the curve's, and the other is what some
            data are known to lose.
    """

    value: View
    lower: View
    upper: View
    method: str
    of: Literal["mechanism", "class"] = "mechanism"

    def __iter__(self) -> Iterator[View]:
        return iter((self.lower, self.upper))


@plain_calls_of
class Curve(Displayed, ABC):
    """A trade-off function f and everything that can be computed from it.

    f(alpha) is the smallest type II error of a test with type I error alpha that tells two
    neighbouring datasets apart. Losses (delta, epsilon, Rényi, mu, rho, power) are rounded up,
    errors (beta, Bayes error) down; `bracket=True` gives both sides, as an `Answer`.
    A float means the decimal that it prints as, in arguments, in answers and in brackets.

    Source: Dong, Roth and Su (2022), "Gaussian differential privacy", section 2.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def certified(self) -> bool:
        """Whether the brackets are proved bounds; else every view is an estimate."""

    @property
    @abstractmethod
    def symmetric(self) -> bool:
        """Whether f is its own inverse."""

    @property
    @abstractmethod
    def of_class(self) -> bool:
        """Whether the views bound a class of mechanisms that has no single worst pair."""

    @abstractmethod
    def swap(self) -> "Curve":
        """Exchange the two datasets: the inverse function of f."""

    @abstractmethod
    def log_delta_bracket(self, epsilon: Array) -> Interval:
        """Bracket log delta at any real epsilon."""

    @abstractmethod
    def delta_bracket(self, epsilon: Array) -> Interval:
        """Bracket delta at any real epsilon."""

    def epsilon_bracket(self, delta: Array) -> Interval:
        """Bracket the smallest epsilon >= 0 with delta(epsilon) <= delta, to the last bit."""
        upper = first_double(lambda e: self.delta_bracket(e).upper <= delta, delta.shape)
        lower = first_double(lambda e: self.delta_bracket(e).lower <= delta, delta.shape)
        # The double before it was seen to have a larger delta.
        lower = np.where(np.isfinite(lower), np.maximum(np.nextafter(lower, -1.0), 0.0), lower)
        return Interval(np.minimum(lower, upper), upper)

    @property
    @abstractmethod
    def method(self) -> str:
        """How the views are evaluated: "closed form", "contour", "lattice"."""

    @abstractmethod
    def beta_bracket(self, alpha: Array) -> Interval:
        """Bracket f at alpha in [0, 1]."""

    @abstractmethod
    def tpr_bracket(self, alpha: Array) -> Interval:
        """Bracket 1 - f at alpha in [0, 1], with its own relative accuracy."""

    @abstractmethod
    def renyi_bracket(self, order: Array) -> Interval:
        """Bracket the Rényi divergence at positive orders, infinity included."""

    @abstractmethod
    def outer_gaussian(self) -> Fraction | None:
        """Return a mu^2 with f >= G_mu, rounded up; None where there is none.

        Of a composition it is the sum over the factors.
        """

    @abstractmethod
    def tight_gaussian(self) -> Fraction | None:
        """Return a mu^2 with f >= G_mu that may take longer to find; None where there is none.

        It is the square of `f.mu()`, and what a ledger that counts mu^2 charges. Of a composition
        that is less than the sum over its factors, which `outer_gaussian` is.

        >>> from neyman.curves import laplace
        >>> f = laplace(0.1) ** 10
        >>> float(f.tight_gaussian()) / float(f.outer_gaussian()) < 0.68
        True
        """

    @abstractmethod
    def inner_gaussian(self) -> Fraction:
        """Return the largest mu^2 with G_mu >= f, rounded down; 0 where there is none."""

    @abstractmethod
    def outer_pure(self) -> Fraction | None:
        """Return the smallest epsilon with f >= f_{epsilon,0}, rounded up; None if infinite."""

    @abstractmethod
    def inner_pure(self) -> Fraction:
        """Return the largest epsilon with f_{epsilon,0} >= f, rounded down."""

    def mu_bracket(self, slack: float) -> tuple[float, float]:
        """Bracket the smallest mu with f >= G_mu ⊗ f_{0,slack}."""
        if slack > 0:
            square = self.outer_gaussian()
            lower, upper = least_mu(self, slack)
            # What needs nothing set aside needs no more with it.
            return lower, upper if square is None else min(upper, square_roots(square)[1])
        square = self.tight_gaussian()
        if square is None:
            return np.inf, np.inf
        # No mu with less advantage than f can do.
        advantage = float(self.delta_bracket(np.asarray(0.0)).lower)
        gap = quantile_gap(Interval.decimal(advantage), 1 - Interval.decimal(advantage))
        return float(gap.larger(0).lower), square_roots(square)[1]

    def zcdp_bracket(self) -> tuple[float, float]:
        """Bracket the smallest rho with D_order <= rho order for all orders > 1."""
        return least_rho(self)

    def tcdp_bracket(self, omega: float) -> tuple[float, float]:
        """Bracket the smallest rho with D_order <= rho order for orders in (1, omega)."""
        return least_rho(self, self.zcdp_bracket()[1], omega)

    @abstractmethod
    def subgaussian_bracket(self) -> Subgaussianity:
        """Bracket E_Q[L], and the least tau^2 with E_Q e^(x (L - E L)) <= e^(x^2 tau^2 / 2)."""

    # -- the privacy profile ------------------------------------------------------------------

    def delta(
        self, epsilon: npt.ArrayLike, *, bracket: bool = False, solver: Solver | None = None
    ) -> View:
        """Return the privacy profile, rounded up.

        delta(epsilon) = E_P[(e^L - e^epsilon)_+], L = log dQ/dP

        Args:
            epsilon: any real numbers, any shape.
            bracket: return an `Answer` with `.lower` and `.upper`.
            solver: how a composition is read: `Auto`, `Contour` or `Lattice`; every view of the
                profile takes one.

        Error: the bracket; relative, about 1e-14 for closed forms, more in far tails.
        Source: Dong, Roth and Su (2022), proposition 2.12; for Gaussians Balle and Wang (2018).

        >>> from neyman.curves import gdp
        >>> f"{gdp(1).delta(1):.10f}"
        '0.1269367375'
        """
        at = _real(epsilon, "epsilon")
        return self._ask(lambda f: f.delta_bracket(at), solver, bracket, up=True)

    def log_delta(
        self, epsilon: npt.ArrayLike, *, bracket: bool = False, solver: Solver | None = None
    ) -> View:
        """Return log delta(epsilon), which lives on where delta underflows, rounded up.

        >>> from neyman.curves import gdp
        >>> f"{gdp(1).log_delta(50):.6f}"
        '-1233.869083'
        """
        at = _real(epsilon, "epsilon")
        return self._ask(lambda f: f.log_delta_bracket(at), solver, bracket, up=True)

    def epsilon(
        self, delta: npt.ArrayLike, *, bracket: bool = False, solver: Solver | None = None
    ) -> View:
        """Return the smallest epsilon >= 0 with delta(epsilon) <= delta, rounded up.

        Infinite where delta is below the mass that betrays the dataset outright.

        Args:
            delta: in [0, 1], any shape.
            bracket: return an `Answer` with `.lower` and `.upper`.
            solver: as for `delta`.

        >>> from neyman.curves import gdp
        >>> f"{gdp(1).epsilon(1e-5):.10f}"
        '4.3771780957'
        """
        target = _within(delta, "delta", 0.0, 1.0)
        return self._ask(lambda f: f.epsilon_bracket(target), solver, bracket, up=True)

    # -- the errors of the best test ----------------------------------------------------------

    def beta(
        self, alpha: npt.ArrayLike, *, bracket: bool = False, solver: Solver | None = None
    ) -> View:
        """Return f(alpha), the least type II error at type I error alpha, rounded down.

        Attained as `tpr` is.

        >>> from neyman.curves import gdp
        >>> f"{gdp(1).beta(0.05):.10f}"
        '0.7404889772'
        """
        at = _within(alpha, "alpha", 0, 1)
        return self._ask(lambda f: f.beta_bracket(at), solver, bracket, up=False)

    def tpr(
        self, fpr: npt.ArrayLike, *, bracket: bool = False, solver: Solver | None = None
    ) -> View:
        """Return 1 - f(fpr), rounded up: no attack of this false positive rate finds more.

        In one direction, as of f.remove, the best test attains it. Where the two directions differ
        f is a convex hull, and between its corners no attack on one of them attains 1 - f: the
        larger of f.remove.tpr and f.add.tpr is attained.
        """
        at = _within(fpr, "fpr", 0, 1)
        return self._ask(lambda f: f.tpr_bracket(at), solver, bracket, up=True)

    def advantage(self, *, bracket: bool = False, solver: Solver | None = None) -> View:
        """Return max_alpha (1 - alpha - f(alpha)) = delta(0), the total variation, rounded up.

        An attack on one of the directions attains it.
        """
        return self.delta(0.0, bracket=bracket, solver=solver)

    def bayes_error(
        self, prior: npt.ArrayLike, *, bracket: bool = False, solver: Solver | None = None
    ) -> View:
        """Return the least error probability of a guess at this prior, rounded down.

        min_alpha (1 - prior) alpha + prior f(alpha) = prior (1 - delta(log((1 - prior)/prior)))

        An attack on one of the directions attains it.

        Args:
            prior: probability of the alternative before looking, in (0, 1), any shape.
            bracket: return an `Answer` with `.lower` and `.upper`.
            solver: as for `delta`.
        """
        odds = Interval.decimal(_prior(prior))
        epsilon = log1p(-odds) - log(odds)

        def error(f: Curve) -> Interval:
            # delta moves by at most as much as epsilon.
            near = epsilon.middle
            delta = f.delta_bracket(near).decimals() - (epsilon - Interval.decimal(near))
            # Guessing the likelier side needs no data.
            return (odds * (1 - delta)).larger(0).smaller(odds.smaller(1 - odds))

        return self._ask(error, solver, bracket, up=False)

    def posterior(
        self,
        prior: npt.ArrayLike,
        *,
        fpr: npt.ArrayLike,
        bracket: bool = False,
        solver: Solver | None = None,
    ) -> View:
        """Return the belief that an accusation is right, at best, rounded up.

        prior tpr / (prior tpr + (1 - prior) fpr), for the best attack of that false positive rate;
        attained as `tpr` is.

        Args:
            prior: probability of the alternative before looking, in (0, 1).
            fpr: false positive rate of the attack, in (0, 1], broadcast against `prior`.
            bracket: return an `Answer` with `.lower` and `.upper`.
            solver: as for `delta`.
        """
        odds, rate = np.broadcast_arrays(_prior(prior), _within(fpr, "fpr", 0.0, 1.0))
        if np.any(rate == 0):
            raise InvalidParameter(
                f"fpr={reprlib.repr(fpr)} accuses nobody wrongly, and the belief is then 1 or "
                "undefined; write rates in (0, 1]"
            )
        guilty = Interval.decimal(odds)

        def belief(f: Curve) -> Interval:
            ratio = Interval.decimal(rate) / f.tpr_bracket(rate).decimals()
            return (1 / (1 + (1 - guilty) / guilty * ratio)).clip(0.0, 1.0)

        return self._ask(belief, solver, bracket, up=True)

    # -- moments and one-number summaries -----------------------------------------------------

    def renyi(self, order: npt.ArrayLike, *, bracket: bool = False) -> View:
        """Return the Rényi divergence D_order(Q || P) = K(order) / (order - 1), rounded up.

        Args:
            order: at least 0. 0 is -log P{q > 0}, 1 Kullback-Leibler, infinity the largest loss;
                from 1 on it is infinite where Q has mass and P has none.
            bracket: return an `Answer` with `.lower` and `.upper`.

        Source: Rényi (1961); van Erven and Harremoës (2014); Mironov (2017).
        """
        orders = _real(order, "order")
        if np.any(orders < 0):
            raise InvalidParameter(f"order={order!r} is negative; write an order of at least 0")

        def divergence(f: Curve) -> Interval:
            found = f.renyi_bracket(np.where(orders == 0, 1.0, orders))
            if not np.any(orders == 0):
                return found
            pairs = zip(_none(f), found, strict=True)
            return Interval(*(np.where(orders == 0, none, other) for none, other in pairs))

        return self._ask(divergence, None, bracket, up=True)

    def mu(
        self, *, slack: float = 0.0, bracket: bool = False, solver: Solver | None = None
    ) -> View:
        """Return the smallest mu with f >= G_mu ⊗ f_{0,slack}, rounded up; infinite if none.

        Args:
            slack: probability in [0, 1) that is set aside before the Gaussian is fitted.
            bracket: return an `Answer` with `.lower` and `.upper`.
            solver: as for `delta`.

        Error: the bracket; relative about 1e-13 without slack, 1e-10 to 1e-6 with it.
        """
        share = float(_scalar(_within(slack, "slack", 0.0, 1.0), "slack"))
        if share == 1:
            raise InvalidParameter("slack=1 sets everything aside; write a slack in [0, 1)")
        return self._ask(lambda f: _mu(f, share, bracket), solver, bracket, up=True)

    def zcdp(self, *, bracket: bool = False) -> View:
        """Return the smallest rho with D_order <= rho order for all orders > 1, rounded up.

        Error: the bracket, relative 1e-8 to 1e-6 where no closed form is known.
        Source: Bun and Steinke (2016), definition 1.1.
        """
        return self._ask(lambda f: _both(f.zcdp_bracket()), None, bracket, up=True)

    # -- internals ----------------------------------------------------------------------------

    def dominating(self) -> "Curve":
        """Return the curve itself, or its bound if it comes from `dominated_by`."""
        return self

    def _ask(
        self,
        question: Callable[["Curve"], Interval],
        solver: Solver | None,
        bracket: bool,
        *,
        up: bool,
    ) -> View:
        with using(solver) as effort:
            # The safe end needs no more than what dominates.
            bounds = question(self if bracket else self.dominating())
        value = _plain(bounds.upper if up else bounds.lower)
        if not bracket:
            return value
        if not self.certified:
            raise NotCertified(
                f"bracket=True must have a curve with proved brackets; got {self}, which gives "
                "estimates only. Write bracket=False, or give its pair proved brackets "
                "(docs/contributing/curve.md)"
            )
        lower, upper = _plain(bounds.lower), _plain(bounds.upper)
        return Answer(value, lower, upper, effort.method, answers_of(self))


def answers_of(*curves: Curve) -> Literal["mechanism", "class"]:
    """Return what answers about curves are of."""
    return "class" if any(curve.of_class for curve in curves) else "mechanism"


def _none(f: Curve) -> Interval:
    """Bracket the divergence of order 0: the other direction's mass of infinite loss."""
    mass = f.swap().delta_bracket(np.asarray(np.inf))
    return -log1p(-mass)


def _mu(curve: Curve, slack: float, bracket: bool) -> Interval:
    lower, upper = curve.mu_bracket(slack)
    if bracket and slack == 0 and lower < upper * (1 - _LOOSE) < math.inf:
        # G_mu obeys mu^2/2-zCDP, and so does what is above it.
        least = float((Interval.exactly(curve.zcdp_bracket()[0]) * 2).sqrt().lower)
        lower = max(lower, min(least, upper))
    return _both((lower, upper))


def _both(bounds: tuple[float, float]) -> Interval:
    return Interval(np.asarray(bounds[0]), np.asarray(bounds[1]))


def _plain(value: Array) -> View:
    return float(value) if np.ndim(value) == 0 else value


def _real(value: npt.ArrayLike, name: str) -> Array:
    try:
        array: npt.NDArray[Any] = np.asarray(value)
        # Fractions and Decimals come as objects; text, truth values and complex are refused.
        bad = array.dtype.kind not in "iufO"
        if array.dtype.kind == "O":
            items: list[object] = list(array.flat)
            bad = any(isinstance(item, str | bytes | bool | None) for item in items)
        real = np.asarray(np.nan) if bad else array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        real = np.asarray(np.nan)
    if np.any(np.isnan(real)):
        raise InvalidParameter(
            f"{name}={reprlib.repr(value)} holds what is no real number; write numbers, such as "
            f"{name}=0.5"
        )
    return real


def _scalar(array: Array, name: str) -> Array:
    if array.ndim:
        raise InvalidParameter(f"{name} is an array of shape {array.shape}; write one number")
    return array


def _within(value: npt.ArrayLike, name: str, low: float, high: float) -> Array:
    array = _real(value, name)
    if np.any((array < low) | (array > high)):
        raise InvalidParameter(
            f"{name}={reprlib.repr(value)} leaves [{low:g}, {high:g}]; write numbers in it"
        )
    return array


def _prior(value: npt.ArrayLike) -> Array:
    array = _within(value, "prior", 0.0, 1.0)
    if np.any((array == 0) | (array == 1)):
        raise InvalidParameter(
            f"prior={value!r} leaves nothing to guess; write probabilities strictly between 0 and 1"
        )
    return array
