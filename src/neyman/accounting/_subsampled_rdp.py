"""Rényi curves of subsampled mechanisms by their authors' formulas, as upper bounds.

If you know the pair of laws, use `poisson(f, q)` or `without_replacement(f, ...)`: their cumulant
is exact and never worse. These functions are for a base with Rényi bounds only, and for comparison.
All return `rdp` statements: compose by `@` and `**`, convert last. Between the given orders, K(a) =
(a - 1) D_a is convex and lies below its chords.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from neyman.accounting._samplers import Sampled, check_relation
from neyman.arguments import whole
from neyman.curves import TradeOff, gdp, identity, poisson, rdp
from neyman.errors import InvalidParameter
from neyman.numerics import Array, Interval, Real, exact, exp, expm1, log, ordinary, text
from neyman.numerics._distributions._binomial import log_binomial_mass, log_even_mass
from neyman.numerics._interval import Operand, interval
from neyman.numerics._primitives import log1mexp, softplus
from neyman.sensitivity import Neighbors

__all__ = [
    "ODD_MOMENTS",
    "poisson_gaussian_rdp",
    "poisson_rdp",
    "without_replacement_rdp",
]

ODD_MOMENTS = (
    "all odd moments E_Q[(P/Q - 1)^j] of the mechanism's likelihood ratio are at least 0, j >= 3, "
    "for every pair of neighbours"
)
_MOST_ORDER = 4096
# For a smaller share, squares of 1 / share leave the doubles.
_LEAST_SHARE = Fraction(1, 2**500)
# The least that `rdp` takes.
_LEAST_DIVERGENCE = Fraction(1, 2**100)


def poisson_gaussian_rdp(
    *, noise_multiplier: Real, sampling_probability: Real, orders: Sequence[Real]
) -> Sampled:
    """Return the Rényi curve of the Poisson-sampled Gaussian at any orders, for add_remove.

        log Σ_k C(a, k) (1 - q)^(a-k) q^k e^(k(k-1)/(2 sigma^2)) / (a - 1) at integer orders a;

    at other orders the integral itself. The result is the larger of both directions; the direction
    with the record is the larger one.

    Args:
        noise_multiplier: sigma, divided by the largest norm of a record.
        sampling_probability: q, 0 or in [2^-500, 1].
        orders: at least 1/2, one of them at least 1.

    Raises:
        InvalidParameter: if a parameter is out of range.

    Guarantee: exact.
    Error: rounded up; a value below 2^-100 becomes 2^-100.
    Source: Mironov, Talwar and Zhang (2019), "Rényi differential privacy of the sampled Gaussian
        mechanism".

    >>> step = poisson_gaussian_rdp(noise_multiplier=1, sampling_probability=0.1, orders=[2, 4.5])
    >>> f"{step.curve.renyi(2):.8f}, {(step.curve ** 10).epsilon(1e-2):.4f}"
    '0.01703686, 1.4640'
    """
    sigma = ordinary(exact(noise_multiplier, "noise_multiplier"), "noise_multiplier")
    q = _share(exact(sampling_probability, "sampling_probability"), "sampling_probability")
    f = poisson(gdp(1 / sigma), q)
    asked = [exact(order, "order") for order in orders]
    values = f.renyi(np.asarray([float(order) for order in asked]))
    if q > 0:
        # Squares of both parameters can underflow.
        values = np.maximum(values, float(_LEAST_DIVERGENCE))
    return _statement(asked, values, f"{f}", "add_remove")


def poisson_rdp(
    f: TradeOff, *, sampling_probability: Real, orders: Sequence[int], assume: str | None = None
) -> Sampled:
    """Return the Rényi curve of a mechanism on a Poisson sample, at integer orders, for add_remove.

        log( (1-q)^(a-1) (a q - q + 1) + C(a, 2) q^2 (1-q)^(a-2) e^(D_2)
             + 3 Σ_(j>=3) C(a, j) q^j (1-q)^(a-j) e^((j-1) D_j) ) / (a - 1)

    and never more than without sampling. Under `ODD_MOMENTS` the factor 3 is 1. Then the direction
    with the record is the larger one, and the bound is exact for it.

    Args:
        f: the guarantee on the sample for one record added or removed. The bound uses its
            divergences of orders 2 to the largest one, in both directions.
        sampling_probability: q, 0 or in [2^-500, 1].
        orders: ints in [2, 4096].
        assume: None, or `ODD_MOMENTS`, which is then recorded among the assumptions. It is known
            for Gaussian and Laplace noise and for randomised response.

    Guarantee: an upper bound, by the theorem as published; it is not proved again here.

    Raises:
        InvalidParameter: if a parameter is out of range, or no order has a finite bound.
        RelationMismatch: if f is proved for replace_one.

    Source: Zhu and Wang (2019), "Poisson subsampled Rényi differential privacy": the general upper
        bound, and the tight one under its condition.

    >>> from neyman.curves import laplace
    >>> step = poisson_rdp(laplace(1), sampling_probability=0.01, orders=range(2, 33))
    >>> f"{step.curve.renyi(2):.3e}"
    '8.573e-05'
    """
    if assume not in (None, ODD_MOMENTS):
        raise InvalidParameter(
            f"assume={assume!r} names no assumption that is known here; write "
            "neyman.accounting.ODD_MOMENTS, or None"
        )
    q = _share(exact(sampling_probability, "sampling_probability"), "sampling_probability")
    check_relation(f, "add_remove", "Poisson sampling of added records")
    asked = _whole_orders(orders)
    divergence = _divergences(f, max(asked))
    assumptions = () if assume is None else (assume,)
    if q in (0, 1):
        trivial = divergence if q else np.zeros_like(divergence)
        return _statement(asked, trivial[np.asarray(asked)], f"{f}", "add_remove", assumptions)
    factor = log(3.0) if assume is None else 0.0
    values = [_zhu_wang(a, q, divergence, factor) for a in asked]
    return _statement(asked, np.asarray(values), f"{f}", "add_remove", assumptions)


def without_replacement_rdp(
    f: TradeOff, *, records: int, batch: int, orders: Sequence[int]
) -> Sampled:
    """Return the Rényi curve of a mechanism on a batch drawn without replacement, for replace_one.

        log( 1 + g^2 C(a, 2) min{4 (e^(D_2) - 1), e^(D_2) min{2, (e^D - 1)^2}}
               + Σ_(j>=3) g^j C(a, j) e^((j-1) D_j) min{2, (e^D - 1)^j} ) / (a - 1)

    with g = batch / records and D the divergence of order infinity; never more than without
    sampling.

    Args:
        f: the guarantee on the batch for one record replaced. The bound uses its divergences of
            orders 2 to the largest one and of infinity, in both directions.
        records: n, the number of records; public.
        batch: how many are drawn, at most n, and at least 2^-500 n.
        orders: ints in [2, 4096].

    Guarantee: an upper bound, by the theorem as published; it is not proved again here.

    Raises:
        InvalidParameter: if a parameter is out of range, or no order has a finite bound.
        RelationMismatch: if f is proved for add_remove.

    Source: Wang, Balle and Kasiviswanathan (2019), "Subsampled Rényi differential privacy and
        analytical moments accountant", theorem 9.

    >>> step = without_replacement_rdp(gdp(1), records=1000, batch=10, orders=[2, 8])
    >>> f"{step.curve.renyi(2):.3e}, {step.neighbors}"
    '5.435e-04, replace_one'
    """
    n, m = whole("records", records, 1), whole("batch", batch, 1)
    if not m <= n:
        raise InvalidParameter(f"batch must be from 1 to the number of records, {n}; got {m}")
    check_relation(f, "replace_one", "sampling without replacement")
    asked = _whole_orders(orders)
    divergence = _divergences(f, max(asked))
    largest = float(f.renyi(np.inf))
    share = _share(Fraction(m, n), "batch / records")
    values = [_wang(a, share, divergence, largest) for a in asked]
    return _statement(asked, np.asarray(values), f"{f}", "replace_one")


def _share(value: Fraction, name: str) -> Fraction:
    """Return 0, 1 or a number that is far from both; a larger share has a larger loss."""
    if not 0 <= value <= 1:
        raise InvalidParameter(f"{name} must be in [0, 1]; got {text(value)}")
    if 0 < value < _LEAST_SHARE:
        bits = value.numerator.bit_length() - value.denominator.bit_length()
        raise InvalidParameter(
            f"{name} is about 2^{bits}, below 2^-500; write a larger one, which loses more, or 0"
        )
    return Fraction(1) if 1 - value < _LEAST_SHARE else value


def _whole_orders(orders: Sequence[int]) -> list[int]:
    asked = sorted({whole("order", order, 2) for order in orders})
    if not asked or asked[-1] > _MOST_ORDER:
        raise InvalidParameter(
            f"orders must be whole numbers from 2 to {_MOST_ORDER}, at least one; got {orders!r}"
        )
    return asked


def _divergences(f: TradeOff, most: int) -> Array:
    """Return D_j at index j, from 2 to the largest order; 0 only for perfect privacy."""
    least = 0.0 if f == identity() else float(_LEAST_DIVERGENCE)
    return np.concatenate([np.zeros(2), np.maximum(f.renyi(np.arange(2.0, most + 1)), least)])


def _zhu_wang(a: int, q: Fraction, divergence: Array, factor: Operand) -> float:
    """The masses of all j add up to 1, so the sum is 1 and terms of one sign."""
    j = np.arange(2.0, a + 1)
    k = Interval.exactly(divergence[2 : a + 1]) * (j - 1) + interval(factor) * np.where(
        j > 2, 1.0, 0.0
    )
    # log(c e^k - 1)
    return _capped(log_binomial_mass(j, a, q, 1 - q) + (k + log1mexp(-k)), a, divergence)


def _wang(a: int, share: Fraction, divergence: Array, largest: float) -> float:
    j = np.arange(2.0, a + 1)
    d = Interval.exactly(divergence[2 : a + 1])
    ways = log_even_mass(j, a) + log(2.0) * a
    term = d * (j - 1) + (log(expm1(largest)) * j).smaller(log(2.0))
    second = log(4.0) + d + log1mexp(-d)
    term = Interval.where(j > 2, term, term.smaller(second))
    return _capped(ways + log(Interval.of(share)) * j + term, a, divergence)


def _capped(terms: Interval, a: int, divergence: Array) -> float:
    """Return log(1 + Σ e^term) / (a - 1) rounded up, at most the value without sampling.

    It is 0 only if that value is 0, because a small sum may have underflowed.
    """
    top = float(np.max(terms.upper))
    if not np.isfinite(top):
        return float(divergence[a])
    total = log(exp(terms - top).total()) + top
    value = softplus(total) / (a - 1)
    return min(max(float(value.upper), float(_LEAST_DIVERGENCE)), float(divergence[a]))


def _statement(
    orders: Sequence[Real],
    values: Array,
    what: str,
    neighbors: Neighbors,
    assumptions: tuple[str, ...] = (),
) -> Sampled:
    points = [
        (order, max(exact(value, "divergence"), _LEAST_DIVERGENCE) if value > 0 else 0)
        for order, value in zip(orders, values, strict=True)
        if np.isfinite(value)
    ]
    if not points:
        raise InvalidParameter(
            f"sampling by Rényi orders needs a finite divergence at these orders; {what} has none. "
            "One (epsilon, delta) gives none either. Write poisson(f, q) of the curve"
        )
    return Sampled(curve=rdp(points), neighbors=neighbors, assumptions=assumptions)
