"""riskcal: trade-off curves read off dp-accounting's distributions."""

import numpy as np
from riskcal.accountants import CTDAccountant
from riskcal.calibration.blackbox import find_noise_multiplier_for_epsilon_delta

from benchmarks._accountants import Answer

PACKAGE, METHOD = "riskcal", "CTD"


def _run(history: list[tuple[float, float, int]]) -> CTDAccountant:
    accountant = CTDAccountant()
    accountant.history = history
    return accountant


def gaussians(sigmas: list[float], delta: float) -> Answer:
    return Answer([_run([(sigma, 1.0, 1) for sigma in sigmas]).get_epsilon(delta=delta)])


def dpsgd(sigma: float, q: float, steps: int, delta: float) -> Answer:
    return Answer([_run([(sigma, q, steps)]).get_epsilon(delta=delta)])


def noise(epsilon: float, delta: float, q: float, steps: int) -> Answer:
    found = find_noise_multiplier_for_epsilon_delta(CTDAccountant, q, steps, epsilon, delta)
    return Answer([float(found)])


def rates(sigma: float, q: float, steps: int, at: list[float]) -> Answer:
    beta = _run([(sigma, q, steps)]).get_beta(alpha=np.asarray(at))
    return Answer((1 - beta).tolist())


ANSWERS = {"gaussians": gaussians, "dpsgd": dpsgd, "noise": noise, "rates": rates}
