"""The pair of two mixtures of normals of one variance, shifted to opposite sides."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, TypeAlias, final

import numpy as np

from neyman.curves._curve import Curve
from neyman.curves._divergences._binomial_renyi import outermost_renyi
from neyman.curves._divergences._law_renyi import renyi_by_law
from neyman.curves._divergences._outer_renyi import outer_renyi
from neyman.curves._formulas import Summaries, Views
from neyman.curves._order import largest_ratio
from neyman.curves._pair import Pair, Tails, middles
from neyman.curves._pairs._gaussian import GaussianPair
from neyman.curves._pairs._identity import IdentityPair
from neyman.curves._solvers._sources import GaussianMixtureSource
from neyman.curves._solvers._view import left_of_zero
from neyman.errors import InvalidParameter
from neyman.numerics import (
    Array,
    GaussianMixtureLaw,
    Interval,
    LossSum,
    Shifts,
    ceil_float,
    complement,
    exp_outward,
    ordinary,
    square_roots,
    text,
)
from neyman.numerics._laws._normal_mixture import NormalMixtures
from neyman.numerics._primitives import log, log1p
from neyman.numerics._rising import Risen, rising_root
from neyman.overriding import override

__all__ = ["GaussianMixturePair", "Weighted", "gaussian_mixture_pair"]

Weighted: TypeAlias = tuple[tuple[Fraction, Fraction], ...]
_MOST_MEANS = 256
_LEAST, _MOST = Fraction(2) ** -100, Fraction(2) ** 30


def gaussian_mixture_pair(
    variance: Fraction,
    p: Iterable[tuple[Fraction, Fraction]],
    q: Iterable[tuple[Fraction, Fraction]],
    relation: str | None,
) -> Pair:
    """Return the pair Σ p_j N(m_j, variance), Σ q_j N(m_j, variance), in its one normal form.

    No mean of P is above one of Q. The unit of length and the origin are free: means become whole
    numbers without a common divisor, the largest of P's 0.

    Args:
        variance: positive.
        p: means with their weights, which sum to 1.
        q: the same.
        relation: the neighbouring relation that the pair is for; None if any.

    Raises:
        InvalidParameter: if the weights or the means are not so.
    """
    under, over = _gathered(p, "P"), _gathered(q, "Q")
    origin = max(under)
    if origin > min(over):
        raise InvalidParameter(
            f"P has a mean {text(origin)} above Q's {text(min(over))}; "
            "write mixtures with all means of P at most those of Q"
        )
    moved = [{mean - origin: w for mean, w in side.items()} for side in (under, over)]
    unit = _common(mean for side in moved for mean in side)
    if unit == 0:
        return IdentityPair()
    first, second = (tuple(sorted((m / unit, w) for m, w in side.items())) for side in moved)
    scaled = variance / unit**2
    if len(first) == len(second) == 1:
        return GaussianPair(second[0][0] ** 2 / scaled)
    below = tuple((-mean, weight) for mean, weight in first)
    return GaussianMixturePair(scaled, below, second, relation)


def _gathered(side: Iterable[tuple[Fraction, Fraction]], name: str) -> dict[Fraction, Fraction]:
    weights: dict[Fraction, Fraction] = {}
    for mean, weight in side:
        if weight < 0:
            raise InvalidParameter(f"{name} has a weight {text(weight)}; write none below 0")
        weights[mean] = weights.get(mean, Fraction(0)) + weight
    kept = {mean: weight for mean, weight in weights.items() if weight}
    if sum(kept.values(), Fraction(0)) != 1:
        raise InvalidParameter(
            f"the weights of {name} sum to {text(sum(kept.values(), Fraction(0)))}; "
            "write weights that sum to exactly 1, as Fractions if need be"
        )
    return kept


def _common(means: Iterable[Fraction]) -> Fraction:
    """Return the largest number such that each mean is a whole multiple of it."""
    found = list(means)
    scale = math.lcm(*(mean.denominator for mean in found))
    return Fraction(math.gcd(*(int(mean * scale) for mean in found)), scale)


@final
@dataclass(frozen=True, slots=True)
class GaussianMixturePair(Pair):
    """P = Σ p_j N(-m_j, variance), Q = Σ q_j N(m_j, variance), all m_j at least 0.

    The likelihood ratio increases in z, so every best test is a half-line, and every view a sum of
    normal tails at the place where the loss takes a value:

        delta(t) = Q(Z > z) - e^t P(Z > z),  l(z) = t.

    Write it by `gaussian_mixture_pair`, which knows its one normal form.

    Error: the place is proved from both sides; delta by its positive terms only
        (numerics/_laws/_normal_mixture.py): relative, about 1e-13 where delta is above 1e-10.
    Source: Karlin and Rubin (1956) for the half-lines; Zhu, Dong and Wang (2022), definition 7,
        for what a dominating pair is.
    """

    variance: Fraction
    p: Weighted
    q: Weighted
    relation: str | None = None

    kind: ClassVar[str] = "gaussian_mixture"
    keys: ClassVar[Mapping[str, str]] = {"relation": "neighbors"}
    proved: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse parameters that no double can represent."""
        if max(len(self.p), len(self.q)) > _MOST_MEANS:
            raise InvalidParameter(
                f"a mixture must have at most {_MOST_MEANS} different means; got "
                f"{max(len(self.p), len(self.q))}. Write fewer: move the weight of some outwards, "
                "to a mean with more loss"
            )
        for mean, weight in (*self.p, *self.q):
            ordinary(weight, "a weight")
            if mean and not _LEAST**2 <= mean**2 / self.variance <= _MOST**2:
                raise InvalidParameter(
                    "means must be 0 or within [2^-100, 2^30] standard deviations; got "
                    f"{text(mean)} with a variance of {text(self.variance)}. Write such a mean"
                )

    def __str__(self) -> str:
        sides = (
            " + ".join(f"{_brief(w)} N({text(m)}, s²)" for m, w in side)
            for side in (self._below, self.q)
        )
        return f"gaussian_mixture({' against '.join(sides)}, s² = {text(self.variance)})"

    @override
    def swap(self) -> Pair:
        p, q = (((-mean, w) for mean, w in side) for side in (self.q, self._below))
        return gaussian_mixture_pair(self.variance, p, q, self.relation)

    @property
    def _below(self) -> Weighted:
        """The means of P, at most 0, with their weights."""
        return tuple((-mean, weight) for mean, weight in self.p)

    def _shifts(self, side: Weighted) -> Shifts:
        means = (
            math.copysign(square_roots(mean**2 / self.variance)[0], mean) if mean else 0.0
            for mean, _ in side
        )
        return Shifts(tuple(means), tuple(float(weight) for _, weight in side))

    @property
    def _mixtures(self) -> NormalMixtures:
        return NormalMixtures(self._shifts(self._below), self._shifts(self.q))

    @override
    def loss_source(self) -> GaussianMixtureSource:
        return GaussianMixtureSource(self._mixtures, (self._least, self._most))

    @override
    def loss_law(self) -> LossSum:
        return LossSum.of(GaussianMixtureLaw(self._shifts(self._below), self._shifts(self.q)))

    # -- tails --------------------------------------------------------------------------------

    @override
    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:  # noqa: ARG002
        flat, mixtures = np.ravel(np.asarray(t, dtype=np.float64)), self._mixtures
        over, under = flat >= self._most, flat <= self._least
        found = mixtures.place(np.where(over | under, 0.0, flat))
        z = np.where(np.isfinite(found.lower), found.lower, found.upper)
        known = middles(
            (
                mixtures.log_p_above(z),
                mixtures.log_p_below(z),
                mixtures.log_q_above(z),
                mixtures.log_q_below(z),
            )
        )
        # Beyond the largest loss nothing is above, below the least one nothing is below.
        none, all_ = (over, under) * 2, (under, over) * 2
        sides = (
            np.where(empty, -np.inf, np.where(whole, 0.0, side)).reshape(np.shape(t))
            for side, empty, whole in zip(known, none, all_, strict=True)
        )
        return Tails(*sides)

    @override
    def views(self) -> Views:
        return Views(
            log_delta=self._log_delta, epsilon=self._epsilon, beta=self._beta, tpr=self._tpr
        )

    @override
    def summaries(self) -> Summaries:
        return Summaries(
            renyi=self._renyi, zcdp=self._zcdp, mu=self._mu, outer_gaussian=self._outer_gaussian
        )

    def _log_delta(self, epsilon: Array) -> Interval:
        near, shape = Interval.decimal(epsilon), np.shape(epsilon)
        low, high = np.ravel(near.lower), np.ravel(near.upper)
        lower, upper = np.full(low.shape, -np.inf), np.zeros(low.shape)
        right, left = low >= 0, low < 0
        if np.any(right):
            upper[right] = self._right_of_zero(low[right]).upper
            lower[right] = self._right_of_zero(high[right]).lower
        if np.any(left):
            back = self.swap()
            there = back.log_delta_bracket(-np.ravel(epsilon)[left])
            found = left_of_zero(near.at(left.reshape(shape)), there)
            lower[left], upper[left] = found.lower, found.upper
        upper = np.where(np.isposinf(low), -np.inf, np.minimum(upper, 0.0))
        lower = np.where(np.isneginf(low), 0.0, np.minimum(lower, upper))
        return Interval(lower.reshape(shape), upper.reshape(shape))

    def _right_of_zero(self, t: Array) -> Interval:
        """Delta falls as z grows, so each end of the place bounds it."""
        mixtures = self._mixtures
        # Above the largest loss delta is 0, and there is no place.
        over = t >= self._most
        place = mixtures.place(np.where(over | np.isinf(t), 0.0, t))
        upper = np.where(np.isfinite(place.lower), mixtures.log_delta_at(place.lower).upper, 0.0)
        lower = mixtures.log_delta_at(np.where(np.isfinite(place.upper), place.upper, 0.0)).lower
        lower = np.where(np.isfinite(place.upper), lower, -np.inf)
        return Interval(*(np.where(over, -np.inf, bound) for bound in (lower, upper)))

    def _epsilon(self, delta: Array) -> Interval:
        flat = np.ravel(delta)
        lower, upper = np.zeros(flat.shape), np.zeros(flat.shape)
        lower[flat == 0] = upper[flat == 0] = self._most
        at_zero = self.delta_bracket(np.zeros(()))
        asked = (flat > 0) & (flat < at_zero.upper)
        if np.any(asked):
            near = Interval.decimal(flat[asked])
            level = log(near)
            low, high = self._spent(level.upper, 1), self._spent(level.lower, -1)
            certain = near.upper < at_zero.lower
            lower[asked] = np.where(certain, np.maximum(low, 0.0), 0.0)
            upper[asked] = np.maximum(high, 0.0)
        return Interval(lower.reshape(delta.shape), upper.reshape(delta.shape))

    @property
    def _most(self) -> float:
        """Bound the largest loss: finite where Q has no mean but P's largest."""
        # The largest mean of P is 0; near weight 1 the logarithm needs what is missing.
        return math.inf if self.q[-1][0] > 0 else float((-_log(self.p[-1][1])).upper)

    @property
    def _least(self) -> float:
        """Bound the smallest loss likewise."""
        # Where P is N(0), Q's smallest mean must be 0 too.
        if self.p[0][0] > 0 or self.q[0][0] > 0:
            return -math.inf
        return float(_log(self.q[0][1]).lower)

    def _spent(self, log_delta: Array, side: int) -> Array:
        """Return a loss at which delta is at least (side 1) or at most (side -1) this."""
        mixtures = self._mixtures

        def rising(z: Array) -> Risen:
            bounds, loss = mixtures.log_delta_at(z), mixtures.loss(z)
            middle = (bounds.lower + bounds.upper) / 2
            tail = mixtures.log_p_above(z).upper
            slope = loss.slope * np.exp(np.minimum(loss.value + tail - middle, 700.0))
            return Risen(-middle, (bounds.upper - bounds.lower) / 2, slope)

        z = rising_root(rising, -log_delta)
        place = z.lower if side > 0 else z.upper
        loss = mixtures.loss(np.where(np.isfinite(place), place, 0.0))
        value = loss.value - side * loss.error
        return np.where(np.isfinite(place), value, 0.0 if side > 0 else self._most)

    # -- tests --------------------------------------------------------------------------------

    def _places(self, alpha: Array) -> Interval:
        """Bracket the z with P(Z > z) = alpha in (0, 1): more than alpha lies above the lower."""
        lower, upper = np.full(alpha.shape, -np.inf), np.full(alpha.shape, np.inf)
        near, rest, mixtures = Interval.decimal(alpha), complement(alpha), self._mixtures
        for chosen, part, above in ((alpha <= 0.5, near, True), (alpha > 0.5, rest, False)):
            if np.any(chosen):
                level = log(part.at(chosen))
                low, high = reversed([*level]) if above else level
                lower[chosen] = mixtures.place_of_p(low, above=above).lower
                upper[chosen] = mixtures.place_of_p(high, above=above).upper
        return Interval(lower, upper)

    def _beta(self, alpha: Array) -> Interval:
        return self._test(alpha, above=False)

    def _tpr(self, alpha: Array) -> Interval:
        return self._test(alpha, above=True)

    def _test(self, alpha: Array, *, above: bool) -> Interval:
        flat = np.ravel(alpha)
        low_end, high_end = (flat, flat) if above else (1.0 - flat, 1.0 - flat)
        lower, upper = low_end.copy(), high_end.copy()
        inner = (flat > 0) & (flat < 1)
        if np.any(inner):
            place, mixtures = self._places(flat[inner]), self._mixtures
            if above:
                low, high = mixtures.log_q_above(place.upper), mixtures.log_q_above(place.lower)
            else:
                low, high = mixtures.log_q_below(place.lower), mixtures.log_q_below(place.upper)
            bounds = exp_outward(Interval(low.lower, high.upper))
            lower[inner], upper[inner] = bounds.lower, bounds.upper
        return Interval(lower.reshape(np.shape(alpha)), upper.reshape(np.shape(alpha)))

    # -- summaries ----------------------------------------------------------------------------

    def _outer_gaussian(self) -> Fraction:
        """The distance of the outermost means: each pair of components is closer than that.

        By joint convexity delta is at most the mean of the deltas of the components, paired
        anyhow.
        """
        return (self.q[-1][0] + self.p[0][0]) ** 2 / self.variance

    def _renyi(self, order: Array) -> Interval:
        found = renyi_by_law(self.loss_law(), order, -math.inf)
        square = (self.q[-1][0] + self.p[-1][0]) ** 2 / self.variance
        ends = outermost_renyi(order, square, self.p[-1][1], self.q[-1][1])
        upper = np.minimum(found.upper, np.minimum(ends.upper, outer_renyi(self, order)))
        upper = np.minimum(upper, self._most)
        lower = np.minimum(np.maximum(found.lower, ends.lower), upper)
        unbounded = np.isposinf(order) & math.isinf(self._most)
        return Interval(np.where(unbounded, np.inf, lower), np.where(unbounded, np.inf, upper))

    def _zcdp(self) -> tuple[float, float]:
        upper = ceil_float(self._outer_gaussian() / 2)
        orders = 1 + np.logspace(-3, 2, 16)
        lower = largest_ratio(self, orders)
        return min(lower, upper), upper

    def _mu(self, slack: float) -> tuple[float, float]:
        lower, upper = Curve.mu_bracket(self, slack)
        if slack > 0:
            return lower, upper
        ends = max(self.q[-1][0] + self.p[-1][0], self.q[0][0] + self.p[0][0])
        local = square_roots(ends**2 / self.variance)[0]
        return min(max(lower, local), upper), upper


def _log(weight: Fraction) -> Interval:
    return log1p(-Interval.of(1 - weight)) if 2 * weight > 1 else log(Interval.of(weight))


def _brief(weight: Fraction) -> str:
    written = text(weight)
    return written if len(written) <= 12 else f"{float(weight):.6g}"
