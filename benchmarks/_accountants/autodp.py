"""autodp: Rényi composition, exact for Gaussians."""

import math

from autodp import calibrator_zoo, mechanism_zoo, transformer_zoo

from benchmarks._accountants import Answer

PACKAGE, METHOD = "autodp", "RDP"


def _step(sigma: float, q: float):
    sample = transformer_zoo.AmplificationBySampling()
    return sample(mechanism_zoo.GaussianMechanism(sigma), q, improved_bound_flag=True)


def _epsilon(mechanisms: list, times: list[int], delta: float) -> Answer:
    whole = transformer_zoo.Composition()(mechanisms, times)
    return Answer([float(whole.get_approxDP(delta))])


def gaussians(sigmas: list[float], delta: float) -> Answer:
    each = [mechanism_zoo.ExactGaussianMechanism(sigma) for sigma in sigmas]
    whole = transformer_zoo.ComposeGaussian()(each, [1] * len(each))
    return Answer([float(whole.get_approxDP(delta))])


def laplace(eps: float, times: int, delta: float) -> Answer:
    return _epsilon([mechanism_zoo.LaplaceMechanism(1 / eps)], [times], delta)


def dpsgd(sigma: float, q: float, steps: int, delta: float) -> Answer:
    return _epsilon([_step(sigma, q)], [steps], delta)


def mixed(phases: list, laplace: float, response: float, pure: list, delta: float) -> Answer:
    mechanisms = [_step(sigma, q) for sigma, q, _ in phases]
    mechanisms += [
        mechanism_zoo.LaplaceMechanism(1 / laplace),
        mechanism_zoo.RandresponseMechanism(1 / (1 + math.exp(-response))),
        mechanism_zoo.RandresponseMechanism(1 / (1 + math.exp(-pure[0]))),
    ]
    return _epsilon(mechanisms, [*(steps for _, _, steps in phases), 1, 1, pure[1]], delta)


def discrete_gaussian(sigma: float, times: int, delta: float) -> Answer:
    return _epsilon([mechanism_zoo.DiscreteGaussianMechanism(sigma)], [times], delta)


def sampled_laplace(eps: float, q: float, times: int, delta: float) -> Answer:
    sample = transformer_zoo.AmplificationBySampling()
    return _epsilon([sample(mechanism_zoo.LaplaceMechanism(1 / eps), q)], [times], delta)


def noise(epsilon: float, delta: float, q: float, steps: int) -> Answer:
    def run(sigma: float, name: str = "steps"):  # noqa: ARG001
        return transformer_zoo.Composition()([_step(sigma, q)], [steps])

    # It returns the mechanism, from which the noise can no longer be read.
    tried: list[float] = []

    def watched(sigma: float, name: str = "steps"):
        tried.append(float(sigma))
        return run(sigma, name)

    calibrator_zoo.eps_delta_calibrator()(watched, epsilon, delta, [0.5, 20])
    return Answer([tried[-1]])


def deltas(sigma: float, q: float, steps: int, at: list[float]) -> Answer:
    whole = transformer_zoo.Composition()([_step(sigma, q)], [steps])
    return Answer([float(whole.get_approx_delta(epsilon)) for epsilon in at])


def rates(sigma: float, q: float, steps: int, at: list[float]) -> Answer:
    whole = transformer_zoo.Composition()([_step(sigma, q)], [steps])
    return Answer([1 - float(whole.get_fDP(alpha)) for alpha in at])


ANSWERS = {
    "gaussians": gaussians,
    "laplace": laplace,
    "dpsgd": dpsgd,
    "mixed": mixed,
    "discrete_gaussian": discrete_gaussian,
    "sampled_laplace": sampled_laplace,
    "noise": noise,
    "deltas": deltas,
    "rates": rates,
}
