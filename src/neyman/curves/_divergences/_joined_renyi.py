"""Rényi divergences of what is made of several pairs, from those of the pairs.

A mixture whose index is seen has e^K = Σ w_i e^(K_i). The worst of several has delta = max delta_i,
and e^K - 1 is an integral of delta, at all epsilon and of both directions, with a density of one
sign: so it is at most Σ (e^(K_i) - 1) for orders above 1, at least that sum for orders below. Both
are log(1 + Σ w_i (e^(K_i) - 1)) / (a - 1), with its limits Σ w_i D_i at 1 and max D_i at infinity.

Source: Liese and Vajda (2006), theorem 11, for f-divergences as integrals of delta.
"""

from collections.abc import Sequence

import numpy as np

from neyman.numerics import ULP, Array, Bracket

__all__ = ["joined_renyi"]


def joined_renyi(order: Array, weights: Sequence[float], parts: Sequence[Bracket]) -> Bracket:
    """Bracket log(1 + Σ w_i (e^((a-1) D_i) - 1)) / (a - 1).

    Args:
        order: a > 0, any shape; infinity too.
        weights: w_i > 0; each may be off by a relative ULP.
        parts: brackets of D_i at these orders.

    Error: ULP (16 + 4 (a + 1) max D), relatively, outward.
    """
    share = np.asarray(weights).reshape((-1,) + (1,) * order.ndim)
    lower, upper = (
        _joined(order, share, np.stack([getattr(part, side) for part in parts]))
        for side in ("lower", "upper")
    )
    size = np.max(np.stack([part.upper for part in parts]), axis=0)
    finite = np.isfinite(size) & np.isfinite(order)
    reach = np.where(finite, order + 1, 0.0) * np.where(finite, size, 0.0)
    slack = ULP * (16 + 4 * reach)
    return Bracket(np.maximum(lower * (1 - slack), 0.0), upper * (1 + slack))


def _joined(order: Array, share: Array, divergence: Array) -> Array:
    inner = np.isfinite(order) & (order != 1)
    c = np.where(inner, order - 1, 1.0)
    with np.errstate(all="ignore"):
        k = np.where(inner, c * divergence, 0.0)
        top: Array = np.max(k, axis=0)
        small: Array = np.sum(share * np.expm1(np.minimum(k, 1.0)), axis=0)
        large: Array = np.sum(share * np.exp(k - top), axis=0)
        near = np.log1p(np.maximum(small, -1.0))
        far = top + np.log(large + (1 - float(np.sum(share))) * np.exp(-top))
        inside = np.where(top <= 1, near, far) / c
    value: Array = np.where(order == 1, np.sum(share * divergence, axis=0), inside)
    infinite = np.any(np.isposinf(divergence), axis=0) & (order >= 1)
    value = np.where(np.isposinf(order), np.max(divergence, axis=0), value)
    return np.where(infinite, np.inf, value)
