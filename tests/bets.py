"""The bets of many runs of `Sequential` at once."""

import numpy as np

from neyman.audit import Sequential
from neyman.audit._null import Claim


def pairs_until(
    claim: Claim, inside: np.ndarray, outside: np.ndarray, level: float = 0.05
) -> np.ndarray:
    """Return after how many pairs each row refutes the claim; 0 where it never does.

    Args:
        claim: that is tested.
        inside: finite scores with the record, a row a run.
        outside: scores without.
        level: of each run.
    """
    test = Sequential(claim, level=level)
    odds, deltas = np.exp(test._epsilons), test._deltas
    runs, most = inside.shape
    found = np.zeros(runs, dtype=np.intp)
    log_wealth = np.zeros((runs, test._shares.size))
    means, squares = np.zeros((runs, 2)), np.zeros(runs)
    for i in range(most):
        values = np.stack([inside[:, i], outside[:, i]], axis=1)
        if i >= 2:
            spread = np.sqrt(np.maximum(squares / (2 * i - 2), 1e-12))
            gap = means[:, 0] - means[:, 1]
            effect = np.maximum(np.maximum(np.abs(gap) / spread, test._claimed), 1e-3)
            offsets = test._epsilons * (spread / effect)[:, None]
            sign = np.where(gap >= 0, 1.0, -1.0)[:, None]
            x, y = np.split(sign * (values - means.mean(axis=1)[:, None]), 2, axis=1)
            gains = 1.0 * (x > offsets) - odds * (y > offsets)
            gains += 1.0 * (y < -offsets) - odds * (x < -offsets) - deltas
            payoff = np.mean(2 * gains / (2 * odds + deltas), axis=1)
            log_wealth += np.log1p(payoff[:, None] * test._shares)
            won = np.mean(np.exp(log_wealth), axis=1) >= 1 / level
            found[won & (found == 0)] = i + 1
        before = values - means
        means += before / (i + 1)
        squares += np.sum(before * (values - means), axis=1)
    return found
