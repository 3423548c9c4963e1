"""Microsoft's prv-accountant: upper bounds, at eps_error = 0.01 and delta_error = delta / 1000."""

from prv_accountant import (
    ApproximateDPMechanism,
    GaussianMechanism,
    LaplaceMechanism,
    PoissonSubsampledGaussianMechanism,
    PRVAccountant,
    PureDPMechanism,
)
from prv_accountant.dpsgd import find_noise_multiplier

from benchmarks._accountants import Answer

PACKAGE, METHOD = "prv-accountant", "PRV"


def _epsilon(variables: list, times: list[int], delta: float) -> Answer:
    accountant = PRVAccountant(
        variables, eps_error=0.01, delta_error=delta / 1000, max_self_compositions=times
    )
    return Answer([accountant.compute_epsilon(delta, times)[2]])


def gaussians(sigmas: list[float], delta: float) -> Answer:
    return _epsilon([GaussianMechanism(sigma) for sigma in sigmas], [1] * len(sigmas), delta)


def laplace(eps: float, times: int, delta: float) -> Answer:
    return _epsilon([LaplaceMechanism(eps)], [times], delta)


def dpsgd(sigma: float, q: float, steps: int, delta: float) -> Answer:
    return _epsilon([PoissonSubsampledGaussianMechanism(q, sigma)], [steps], delta)


def mixed(phases: list, laplace: float, response: float, pure: list, delta: float) -> Answer:
    variables = [PoissonSubsampledGaussianMechanism(q, sigma) for sigma, q, _ in phases]
    variables += [LaplaceMechanism(laplace), PureDPMechanism(response), PureDPMechanism(pure[0])]
    return _epsilon(variables, [*(steps for _, _, steps in phases), 1, 1, pure[1]], delta)


def approximate(eps: float, loss: float, times: int, delta: float) -> Answer:
    return _epsilon([ApproximateDPMechanism(eps, loss)], [times], delta)


def noise(epsilon: float, delta: float, q: float, steps: int) -> Answer:
    return Answer([float(find_noise_multiplier(q, steps, epsilon, delta, eps_error=0.01))])


def deltas(sigma: float, q: float, steps: int, at: list[float]) -> Answer:
    accountant = PRVAccountant(
        [PoissonSubsampledGaussianMechanism(q, sigma)],
        eps_error=0.01,
        delta_error=1e-13,
        max_self_compositions=[steps],
    )
    return Answer([accountant.compute_delta(epsilon, [steps])[2] for epsilon in at])


ANSWERS = {
    "gaussians": gaussians,
    "laplace": laplace,
    "dpsgd": dpsgd,
    "mixed": mixed,
    "approximate": approximate,
    "noise": noise,
    "deltas": deltas,
}
