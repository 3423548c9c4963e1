"""Rényi divergences from the certified cumulant."""

import numpy as np

from neyman.numerics import Array, Interval, LossSum, Span

__all__ = ["renyi_by_law"]

# D_1 lies between the divergences of orders 1 -+ these; the smaller, the more of K is rounded.
_NEAR_ONE = 2.0 ** -np.asarray([12.0, 18.0, 20.0, 22.0, 24.0, 26.0, 32.0, 40.0])


def renyi_by_law(law: LossSum, order: Array, log_singular: float) -> Interval:
    """Bracket K(order) / (order - 1).

    Orders next to 1 are bracketed by their neighbours, for D grows with the order.

    Args:
        law: of the loss, without singular masses.
        order: positive, any shape; infinity is answered by +inf from above and 0 from below.
        log_singular: log Q{p = 0}; where there is some, orders from 1 on are infinite.
    """
    flat = np.ravel(order)
    lower, upper = np.zeros(flat.shape), np.full(flat.shape, np.inf)
    for i, a in enumerate(flat.tolist()):
        if a >= 1 and log_singular > -np.inf:
            lower[i] = np.inf
        elif law.usable[0] < a < law.usable[1]:
            lower[i], upper[i] = _at(law, a) if a != 1 else (0.0, np.inf)
            for gap in _NEAR_ONE[np.abs(a - 1) < _NEAR_ONE].tolist():
                lower[i] = max(lower[i], _at(law, 1 - gap)[0])
                upper[i] = min(upper[i], _at(law, 1 + gap)[1])
    return Interval(lower.reshape(order.shape), upper.reshape(order.shape))


def _at(law: LossSum, a: float) -> tuple[float, float]:
    real = law.prepared(Span(a, a, 0.0)).real(np.asarray([a]))
    value, error = real.value[0], real.error[0]
    if not np.isfinite(value + error):
        return 0.0, np.inf
    found = Interval.within(value, 0.0, error) / (Interval.exactly(a) - 1)
    return max(float(found.lower), 0.0), float(found.upper)
