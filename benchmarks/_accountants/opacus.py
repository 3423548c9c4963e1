"""Opacus: its PRV accountant, at the defaults."""

from opacus.accountants import PRVAccountant
from opacus.accountants.utils import get_noise_multiplier

from benchmarks._accountants import Answer

PACKAGE, METHOD = "opacus", "PRV"


def _epsilon(history: list[tuple[float, float, int]], delta: float) -> Answer:
    accountant = PRVAccountant()
    accountant.history = history
    return Answer([float(accountant.get_epsilon(delta))])


def gaussians(sigmas: list[float], delta: float) -> Answer:
    return _epsilon([(sigma, 1.0, 1) for sigma in sigmas], delta)


def dpsgd(sigma: float, q: float, steps: int, delta: float) -> Answer:
    return _epsilon([(sigma, q, steps)], delta)


def noise(epsilon: float, delta: float, q: float, steps: int) -> Answer:
    found = get_noise_multiplier(
        target_epsilon=epsilon, target_delta=delta, sample_rate=q, steps=steps, accountant="prv"
    )
    return Answer([float(found)])


ANSWERS = {"gaussians": gaussians, "dpsgd": dpsgd, "noise": noise}
