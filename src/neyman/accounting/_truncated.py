"""Poisson samples that are cut off at a largest size."""

import math
from fractions import Fraction

import numpy as np

from neyman.accounting._whole import whole_number
from neyman.curves import TradeOff, approx_dp, poisson
from neyman.errors import InvalidParameter, UnsupportedComposition
from neyman.numerics import ULP, Real, exact, text
from neyman.numerics._distributions._counts import log_binomial_mass

__all__ = ["truncated_poisson"]

# Chances below it count as this much.
_LEAST = 1e-300


def truncated_poisson(
    f: TradeOff, *, sampling_probability: Real, most: int, records: int
) -> TradeOff:
    """Return f on a Poisson sample of which no more than `most` records are taken.

    f_p, and with the chance P(Binomial(n, p) >= most) everything is lost. Whether so many of the
    other records are sampled has that chance on both sides; where they are not, nothing is cut
    off with or without the one record, and the step is Poisson's. Which records are cut off may
    depend on anything.

    Args:
        f: the guarantee on the batch, for one record added or removed.
        sampling_probability: p of each record by itself.
        most: the largest size of a batch.
        records: n, how many records there are; public.

    Guarantee: for one record added or removed; an upper bound, by the chance of a full batch.
    Error: the chance is within a factor 1/(1 - r) of the true one, r = (n - most) p / ((most + 1)
        (1 - p)).

    Raises:
        InvalidParameter: if a size or the probability makes no sense.
        UnsupportedComposition: if a full batch is no rare event, so that nothing is left.

    Source: proof: docs/theory/truncation.md.

    >>> from neyman.curves import gdp
    >>> step = truncated_poisson(gdp(1), sampling_probability=0.01, most=200, records=10_000)
    >>> f"{(step ** 1000).epsilon(1e-6):.4f}"
    '2.1245'
    """
    p = exact(sampling_probability, "sampling_probability")
    n, size = whole_number(records, "records", least=1), whole_number(most, "most", least=1)
    if not 0 < p < 1:
        raise InvalidParameter(f"sampling_probability={text(p)} leaves (0, 1); write a probability")
    sampled = poisson(f, p)
    if size > n:
        return sampled
    return sampled @ approx_dp(0, _chance(n, size, p, f))


def _chance(n: int, size: int, p: Fraction, f: TradeOff) -> Fraction:
    """Bound P(Binomial(n, p) >= size): masses fall at least geometrically."""
    ratio = Fraction(n - size) * p / ((size + 1) * (1 - p))
    bound = math.inf
    if ratio < 1:
        at = np.asarray([float(size)])
        log, error = log_binomial_mass(at, n, float(p), float(1 - p))
        wrong = float(error[0]) + 8 * ULP * (1 + abs(float(log[0])))
        bound = math.exp(min(float(log[0]) + wrong, 0.0)) * (1 + 4 * ULP) / float(1 - ratio)
        bound = max(bound * (1 + 4 * ULP), _LEAST)
    if bound >= 1:
        raise UnsupportedComposition(
            f"{f} on a Poisson sample of {text(p)} of {n} records cut off at {size} was asked, and "
            "what is proved here charges the chance of so large a batch, which is not small. "
            f"Write a largest size well above {math.ceil(n * p)}, or without_replacement"
        )
    return Fraction(bound)
