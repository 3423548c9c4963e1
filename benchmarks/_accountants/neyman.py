"""This package: exact inversion, with certified brackets."""

import numpy as np

from benchmarks._accountants import Answer
from neyman import curves
from neyman.accounting import EpsilonDelta, calibrate
from neyman.curves import TradeOff, approx_dp, compose, gdp, laplace, poisson, pure_dp

PACKAGE, METHOD = "neyman", "exact"
# SciPy is imported by the first question; the others import it before the clock starts.
gdp(1).epsilon(0.5)


def _steps(sigma: float, q: float, steps: int) -> TradeOff:
    return poisson(gdp(1 / sigma), q) ** steps


def _epsilon(curve: TradeOff, delta: float) -> Answer:
    return Answer([curve.epsilon(delta)], lambda: [curve.epsilon(delta, bracket=True).lower])


def gaussians(sigmas: list[float], delta: float) -> Answer:
    return _epsilon(compose(*(gdp(1 / sigma) for sigma in sigmas)), delta)


def laplaces(eps: float, times: int, delta: float) -> Answer:
    return _epsilon(laplace(eps) ** times, delta)


def dpsgd(sigma: float, q: float, steps: int, delta: float) -> Answer:
    return _epsilon(_steps(sigma, q, steps), delta)


def mixed(
    phases: list[list[float]], laplace: float, response: float, pure: list[float], delta: float
) -> Answer:
    training = [_steps(sigma, q, int(steps)) for sigma, q, steps in phases]
    rest = [curves.laplace(laplace), pure_dp(response), pure_dp(pure[0]) ** int(pure[1])]
    return _epsilon(compose(*training, *rest), delta)


def discrete_gaussian(sigma: float, times: int, delta: float) -> Answer:
    return _epsilon(curves.discrete_gaussian(sigma) ** times, delta)


def discrete_laplace(rate: float, sensitivity: int, times: int, delta: float) -> Answer:
    return _epsilon(curves.discrete_laplace(rate, sensitivity=sensitivity) ** times, delta)


def sampled_laplace(eps: float, q: float, times: int, delta: float) -> Answer:
    return _epsilon(poisson(laplace(eps), q) ** times, delta)


def approximate(eps: float, loss: float, times: int, delta: float) -> Answer:
    return _epsilon(approx_dp(eps, loss) ** times, delta)


def group(sigma: float, q: float, times: int, size: int, delta: float) -> Answer:
    return _epsilon(curves.group(_steps(sigma, q, times), size), delta)


def noise(epsilon: float, delta: float, q: float, steps: int) -> Answer:
    found = calibrate(lambda sigma: _steps(sigma, q, steps), EpsilonDelta(epsilon, delta))
    return Answer([found.value], lambda: [found.lower])


def deltas(sigma: float, q: float, steps: int, at: list[float]) -> Answer:
    curve, points = _steps(sigma, q, steps), np.asarray(at)
    return Answer(curve.delta(points), lambda: curve.delta(points, bracket=True).lower)


def rates(sigma: float, q: float, steps: int, at: list[float]) -> Answer:
    curve, points = _steps(sigma, q, steps), np.asarray(at)
    return Answer(curve.tpr(points), lambda: curve.tpr(points, bracket=True).lower)


ANSWERS = {
    "gaussians": gaussians,
    "laplace": laplaces,
    "dpsgd": dpsgd,
    "mixed": mixed,
    "discrete_gaussian": discrete_gaussian,
    "discrete_laplace": discrete_laplace,
    "sampled_laplace": sampled_laplace,
    "approximate": approximate,
    "group": group,
    "noise": noise,
    "deltas": deltas,
    "rates": rates,
}
