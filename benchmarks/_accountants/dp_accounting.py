"""Google's dp-accounting: connect-the-dots privacy loss distributions, at the default grid."""

import math
from functools import reduce

from dp_accounting import dp_event
from dp_accounting.mechanism_calibration import calibrate_dp_mechanism
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.pld.common import DifferentialPrivacyParameters
from dp_accounting.pld.pld_privacy_accountant import PLDAccountant

from benchmarks._accountants import Answer

PACKAGE, METHOD = "dp-accounting", "PLD"


def _steps(sigma: float, q: float, steps: int):
    return pld.from_gaussian_mechanism(sigma, sampling_prob=q).self_compose(steps)


def _pure(eps: float, loss: float = 0.0):
    return pld.from_privacy_parameters(DifferentialPrivacyParameters(eps, loss))


def _epsilon(parts: list, delta: float) -> Answer:
    whole = reduce(lambda one, other: one.compose(other), parts)
    return Answer([whole.get_epsilon_for_delta(delta)])


def gaussians(sigmas: list[float], delta: float) -> Answer:
    return _epsilon([pld.from_gaussian_mechanism(sigma) for sigma in sigmas], delta)


def laplace(eps: float, times: int, delta: float) -> Answer:
    return _epsilon([pld.from_laplace_mechanism(1 / eps).self_compose(times)], delta)


def dpsgd(sigma: float, q: float, steps: int, delta: float) -> Answer:
    return _epsilon([_steps(sigma, q, steps)], delta)


def mixed(phases: list, laplace: float, response: float, pure: list, delta: float) -> Answer:
    parts = [_steps(sigma, q, steps) for sigma, q, steps in phases]
    parts += [pld.from_laplace_mechanism(1 / laplace), _pure(response)]
    return _epsilon([*parts, _pure(pure[0]).self_compose(pure[1])], delta)


def discrete_gaussian(sigma: float, times: int, delta: float) -> Answer:
    return _epsilon([pld.from_discrete_gaussian_mechanism(sigma).self_compose(times)], delta)


def discrete_laplace(rate: float, sensitivity: int, times: int, delta: float) -> Answer:
    one = pld.from_discrete_laplace_mechanism(rate, sensitivity=sensitivity)
    return _epsilon([one.self_compose(times)], delta)


def sampled_laplace(eps: float, q: float, times: int, delta: float) -> Answer:
    one = pld.from_laplace_mechanism(1 / eps, sampling_prob=q)
    return _epsilon([one.self_compose(times)], delta)


def approximate(eps: float, loss: float, times: int, delta: float) -> Answer:
    return _epsilon([_pure(eps, loss).self_compose(times)], delta)


def group(sigma: float, q: float, times: int, size: int, delta: float) -> Answer:
    counts = range(size + 1)
    one = pld.from_mixture_gaussian_mechanism(
        sigma,
        [float(count) for count in counts],
        [math.comb(size, count) * q**count * (1 - q) ** (size - count) for count in counts],
    )
    return _epsilon([one.self_compose(times)], delta)


def noise(epsilon: float, delta: float, q: float, steps: int) -> Answer:
    def run(sigma: float):
        step = dp_event.PoissonSampledDpEvent(q, dp_event.GaussianDpEvent(sigma))
        return dp_event.SelfComposedDpEvent(step, steps)

    return Answer([calibrate_dp_mechanism(PLDAccountant, run, epsilon, delta)])


def deltas(sigma: float, q: float, steps: int, at: list[float]) -> Answer:
    return Answer([float(d) for d in _steps(sigma, q, steps).get_delta_for_epsilon(at)])


ANSWERS = {
    "gaussians": gaussians,
    "laplace": laplace,
    "dpsgd": dpsgd,
    "mixed": mixed,
    "discrete_gaussian": discrete_gaussian,
    "discrete_laplace": discrete_laplace,
    "sampled_laplace": sampled_laplace,
    "approximate": approximate,
    "group": group,
    "noise": noise,
    "deltas": deltas,
}
