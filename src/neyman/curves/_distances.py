"""How far two trade-off functions are apart, and a curve in one number; all certified.

The smallest t >= 0 with f(x + t) - t <= g(x) for all x is, by the lines that support either,

    sup over real epsilon of (delta_g - delta_f) / (1 + e^epsilon).

With y = e^-epsilon both y delta(epsilon) are convex, on [0, 1] for each direction, and vanish at 0:
the supremum is over a bounded interval, and nothing is cut off.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from neyman.arguments import check_type
from neyman.curves._curve import Answer, Curve, answers_of
from neyman.curves._named._constructors import approx_dp, gdp
from neyman.curves._tradeoff import TradeOff
from neyman.errors import InvalidParameter
from neyman.numerics import Array, Interval
from neyman.numerics._convex_cells import Ask, area_under, most_above
from neyman.numerics._primitives import log

__all__ = [
    "Comparison",
    "GaussianReport",
    "compare",
    "gaussian_report",
    "levy_distance",
    "roc_area",
    "sup_distance",
]

_NONE = Interval.exactly(0.0)
_PLACES = np.concatenate([[0.0], np.geomspace(1e-12, 0.01, 13), np.linspace(0.02, 1.0, 50)])


def roc_area(f: Curve) -> Answer:
    """Return the area under the ROC of the best attacker, 1 - ∫ f, rounded up.

    1/2 if the attacker can only guess. Two curves that cross may have the same area, so the area
    does not order curves.

    Args:
        f: a guarantee, or one of its directions.

    Error: the bracket; 1 - area to a relative 1e-6 to 1e-4, more where f is steep.

    >>> from neyman.curves import gdp, identity, pure_dp
    >>> [f"{roc_area(f).value:.4f}" for f in (identity(), pure_dp(1), gdp(1))]
    ['0.5000', '0.7311', '0.7603']
    """
    below = area_under(f.beta_bracket, _PLACES)
    return _answer((1 - below).clip(0.0, 1.0), f)


def levy_distance(f: Curve, g: Curve) -> Answer:
    """Return the smallest t with f(x + t) - t <= g(x) <= f(x - t) + t for all x, rounded up.

    Above 1 a curve counts as 0; below 0 there is no condition. The Berry-Esseen band has this
    geometry.

    Args:
        f: a guarantee, or one direction.
        g: the same.

    Error: the bracket, about 1e-10 relatively and 1e-12 absolutely beyond that of the profiles.
    Source: Kaissis et al. (2024), "Beyond the calibration point: mechanism comparison in
        differential privacy", for the one-sided distance.

    >>> from neyman.curves import gdp, pure_dp
    >>> f"{levy_distance(gdp(1), pure_dp(1)).value:.6f}"
    '0.039596'
    """
    if f == g:
        return _exactly_zero(f)
    first, second = _shift(f, g), _shift(g, f)
    return _answer(_larger(first, second), f, g)


def sup_distance(f: Curve, g: Curve) -> Answer:
    """Return sup |f - g|, rounded up.

    Error: the bracket, about 1e-10 relatively and 1e-12 absolutely beyond that of the curves.

    >>> from neyman.curves import laplace, pure_dp
    >>> f"{sup_distance(pure_dp(1), laplace(1)).value:.6f}"
    '0.073028'
    """
    if f == g:
        return _exactly_zero(f)
    one, other = f.beta_bracket, g.beta_bracket
    found = [most_above(a, b, (1.0, 0.0), _PLACES) for a, b in ((one, other), (other, one))]
    return _answer(_larger(*found), f, g)


@final
@dataclass(frozen=True, slots=True)
class Comparison:
    """Which of two guarantees is the more private, as far as it is proved.

    Attributes:
        at_least: whether f >= g everywhere is proved, as by `f.implies(g)`.
        at_most: whether g >= f everywhere is proved.
        above: by how much f is above g: the smallest t with f(x + t) - t <= g(x).
        below: by how much it is below: the smallest t with g(x + t) - t <= f(x).
    """

    at_least: bool
    at_most: bool
    above: Answer
    below: Answer

    @property
    def crossing(self) -> bool:
        """Whether each is proved to be above the other somewhere: neither is the more private."""
        return self.above.lower > 0 and self.below.lower > 0


def compare(f: TradeOff, g: TradeOff) -> Comparison:
    """Return how two guarantees stand to each other; trade-off functions may cross.

    >>> from neyman.curves import gdp, pure_dp
    >>> compare(pure_dp(1), gdp(1)).crossing
    True
    >>> found = compare(gdp(1), gdp(2))
    >>> found.at_least, found.at_most, found.crossing
    (True, False, False)
    """
    for name, curve in (("f", f), ("g", g)):
        check_type(name, curve, TradeOff, "a guarantee, such as gdp(1)")
    zero = _exactly_zero(f)
    at_least, at_most = f.implies(g), g.implies(f)
    return Comparison(
        at_least,
        at_most,
        zero if at_most else _answer(_shift(f, g), f, g),
        zero if at_least else _answer(_shift(g, f), f, g),
    )


@final
@dataclass(frozen=True, slots=True)
class GaussianReport:
    """G_mu ⊗ f_{0,slack} as the report of a guarantee, and what that costs.

    Attributes:
        mu: the reported number; the curve is proved to be above.
        slack: probability that was set aside.
        regret: the smallest t with f(x + t) - t <= (G_mu ⊗ f_{0,slack})(x): how much more private
            the guarantee is than the report.
    """

    mu: float
    slack: float
    regret: Answer


def gaussian_report(f: TradeOff, *, slack: float = 0.0) -> GaussianReport:
    """Return the smallest mu with f >= G_mu ⊗ f_{0,slack}, and the regret of reporting only that.

    Args:
        f: the guarantee.
        slack: in [0, 1); a subsampled composition has a useful mu only with some.

    Raises:
        InvalidParameter: if no mu is finite.

    Source: Gomez et al. (2025), "(epsilon, delta) considered harmful: best practices for reporting
        differential privacy guarantees", without their cut of the tails.

    >>> from neyman.curves import pure_dp
    >>> report = gaussian_report(pure_dp(1))
    >>> f"{report.mu:.6f} {report.regret.value:.6f}"
    '1.232035 0.057546'
    """
    mu = f.mu(slack=slack)
    if not np.isfinite(mu):
        raise InvalidParameter(
            f"f must have a Gaussian curve below it; got {f}, which has none. Write a "
            "slack, such as gaussian_report(f, slack=1e-9)"
        )
    told = gdp(mu) @ approx_dp(0, slack)
    regret = _exactly_zero(f) if told == f else _answer(_shift(f, told), f)
    return GaussianReport(mu, slack, regret)


# -- internals ------------------------------------------------------------------------------------


def _shift(f: Curve, g: Curve) -> Interval:
    """Bracket the smallest t >= 0 with f(x + t) - t <= g(x)."""
    sides = [(f, g)] if f.symmetric and g.symmetric else [(f, g), (f.swap(), g.swap())]
    found = [most_above(_convex(high), _convex(low), (2.0, -1.0), _PLACES) for low, high in sides]
    return _larger(*found)


def _convex(curve: Curve) -> Ask:
    """Return z -> y delta(-log y), y = 1 - z: convex, and falling to 0 at 1.

    Its slope in z, and y times that of delta in epsilon, are within [-1, 0]: that settles rounding.
    """

    def at(z: Array) -> Interval:
        y = 1 - Interval.exactly(np.minimum(z, 1 - 2.0**-53))
        epsilon = -log(y)
        # delta moves by at most as much as epsilon.
        near = epsilon.middle
        delta = curve.delta_bracket(near).decimals() - (epsilon - Interval.decimal(near))
        return Interval.where(z < 1, (y * delta).larger(0), _NONE)

    return at


def _larger(*found: Interval) -> Interval:
    return Interval(
        np.max([b.lower for b in found], axis=0), np.max([b.upper for b in found], axis=0)
    )


def _answer(found: Interval, *curves: Curve) -> Answer:
    method = max(curve.method for curve in curves)
    certified = all(curve.certified for curve in curves)
    low, high = float(found.lower), float(found.upper)
    return Answer(high, low, high, method if certified else "estimate", answers_of(*curves))


def _exactly_zero(f: Curve) -> Answer:
    return Answer(0.0, 0.0, 0.0, f.method, answers_of(f))
