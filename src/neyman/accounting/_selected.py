"""The best of a random number of runs, from the privacy profile of one run."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from neyman.accounting._repeated import log_inverse_gamma
from neyman.curves import TradeOff, approx_dp_points, dominated_by, identity
from neyman.errors import InvalidParameter
from neyman.numerics import Array, Real, exact, text

__all__ = ["repeat_and_select_profile"]

# A slack larger than the effect on a slope of rounding and of the error of gamma.
_SLACK, _ROUNDED = 1e-8, 1e-12
_MOST_MEAN, _MOST_SHAPE, _MOST_EPSILON = 10**6, 100, 300.0
# The number of points of the profile, the ratios, the result, and each side of the integral.
_PROFILE, _RATIOS, _ANSWERS, _CELLS = 256, 400, 96, 6000
_NOTHING = 1e-40


def repeat_and_select_profile(f: TradeOff, *, mean: Real, shape: Real) -> TradeOff:
    """Return the guarantee of the best of K runs, as points (epsilon, delta) for small deltas.

        delta(x + y) <= mean delta_f(x) + e^x ∫ (g(1 - f(t)) - e^y g(t))_+ dt,    x, y >= 0

    g is the slope of s -> E s^K, K as in `repeat_and_select`. For a pure epsilon and geometric K
    the sum is (3 epsilon, 0). It is far smaller than the bound from divergences, for delta and for
    a few compositions, unless K is Poisson with a large mean; `best` takes the better of both.

    Args:
        f: the guarantee of one run, in both directions. If a run may fail outright, the result may
            fail `mean` times as often.
        mean: the mean of K, in [1, 10^6].
        shape: eta in [0, 100]: 1 for a geometric number of runs, 0 for a logarithmic one; or
            infinity, for a Poisson number.

    Guarantee: a bound at 96 points and between them: `answer.of` is "class". The best run may be
        chosen by any order of what a run publishes, including its score.

    Raises:
        InvalidParameter: if the mean or the shape is out of range.

    Source: proof: docs/theory/selection.md. Liu and Talwar (2019), "Private selection from private
        candidates", for pure epsilon; Koskela, Redberg and Wang (2024), "Privacy profiles for
        private selection", for the first term alone.

    >>> from neyman.accounting import repeat_and_select
    >>> from neyman.curves import gdp
    >>> for how in (repeat_and_select_profile, repeat_and_select):
    ...     print(f"{how(gdp(0.5), mean=10, shape=1).epsilon(1e-5):.2f}")
    3.18
    4.32
    """
    times = exact(mean, "mean")
    slope = _slope(times, shape)
    if f == identity():
        return f
    epsilons, deltas = _profile(f)
    # Below this epsilon, the bound hardly changes.
    ratios, excess = _excess(epsilons, deltas, slope, 1e-4 / float(times))
    at = (epsilons[:, None] + np.log(ratios)).ravel() * (1 + _ROUNDED)
    lost = (
        float(times) * (deltas[:, None] + np.exp(epsilons)[:, None] * excess).ravel() * (1 + _SLACK)
    )
    order = np.argsort(at)
    # A delta at an epsilon is a bound at every larger one.
    at = at[order]
    least: Array = np.minimum.accumulate(lost[order])
    asked: Array = np.linspace(0.0, float(at[-1]), _ANSWERS)
    found = np.searchsorted(at, asked, side="right") - 1
    kept = least[np.maximum(found, 0)]
    useful = (found >= 0) & (kept < 1)
    points: list[tuple[Real, Real]] = list(
        zip(asked[useful].tolist(), kept[useful].tolist(), strict=True)
    )
    return dominated_by(approx_dp_points(points or [(0, 1)]))


def _slope(times: Fraction, shape: Real) -> Callable[[Array], Array]:
    """Return the slope of E s^K at s = 1 - u, divided by the slope at s = 1, which is E K."""
    endless = shape == math.inf
    eta = 0.0 if endless else float(exact(shape, "shape"))
    if not 1 <= times <= _MOST_MEAN or not 0 <= eta <= _MOST_SHAPE:
        raise InvalidParameter(
            f"mean={text(times)} and shape={shape!r} must be in [1, {_MOST_MEAN}] and in "
            f"[0, {_MOST_SHAPE}], or shape=math.inf; write shape=1 for a geometric number of runs"
        )
    if endless:
        return lambda u: np.exp(-float(times) * u)
    log_inverse = log_inverse_gamma(float(times), eta)
    gamma, rest = math.exp(-log_inverse), -math.expm1(-log_inverse)
    return lambda u: (gamma / (gamma + rest * u)) ** (eta + 1)


def _profile(f: TradeOff) -> tuple[Array, Array]:
    """Return epsilons, from 0 to where delta no longer falls, and their deltas."""
    top = float(f.epsilon(0))
    if top == 0:
        return np.zeros(1), np.zeros(1)
    if not top <= _MOST_EPSILON:
        top = 2.0**-10
        while top < _MOST_EPSILON and _falls(f, top):
            top *= 2
        top = min(top, _MOST_EPSILON)
    near = np.geomspace(top * 2.0**-12, top, _PROFILE // 4)
    epsilons = np.unique(np.concatenate([np.linspace(0.0, top, _PROFILE), near]))
    return epsilons, np.asarray(f.delta(epsilons), dtype=np.float64)


def _falls(f: TradeOff, epsilon: float) -> bool:
    here, beyond = (float(f.delta(e)) for e in (epsilon, 2 * epsilon))
    return here > _NOTHING and beyond < here * (1 - _SLACK)


def _excess(
    epsilons: Array, deltas: Array, slope: Callable[[Array], Array], finest: float
) -> tuple[Array, Array]:
    """Return ratios e^y and ∫ (g(1 - f(t)) - e^y g(t))_+ dt / g(1), rounded up, until it is 0."""
    small: Array = np.geomspace(finest, 0.5, _CELLS)
    t = np.concatenate([[0.0], small, 1 - small[-2::-1], [1.0]])
    u = np.concatenate([[1.0], 1 - small, small[-2::-1], [0.0]])
    weights = np.maximum(np.where(t[1:] <= 0.5, np.diff(t), -np.diff(u)), 0.0) * (1 + _SLACK)
    # f is above the lines of its profile; each cell uses its worse ends.
    above = np.zeros(t.size)
    for odds, delta in zip(np.exp(epsilons).tolist(), deltas.tolist(), strict=True):
        above = np.maximum(above, np.maximum(1 - delta - odds * t, (u - delta) / odds))
    above = np.maximum(above * (1 - _ROUNDED) - 2.0**-51, 0.0)
    high = slope(above[1:]) * (1 + _SLACK)
    low = slope(u[:-1]) * (1 - _SLACK)
    largest = float(np.max(high / low)) * (1 + _ROUNDED)
    ratios = np.geomspace(1.0, largest, _RATIOS)
    ratios[-1] = largest
    excess = [float(np.sum(weights * np.maximum(high - ratio * low, 0.0))) for ratio in ratios]
    return ratios, np.asarray(excess)
