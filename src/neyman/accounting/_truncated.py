"""Poisson samples with a largest size."""

import math
from collections import defaultdict
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np

from neyman.accounting._samplers import drawn_without_replacement
from neyman.arguments import whole
from neyman.curves import (
    TradeOff,
    approx_dp,
    dominated_by,
    identity,
    mixture,
    poisson,
    poisson_replace,
    subsample,
)
from neyman.curves._algebra._group import replaced
from neyman.errors import InvalidParameter, UnsupportedComposition
from neyman.numerics import Real, ceil_float, exact, exp, floor_float, text
from neyman.numerics._distributions._binomial import log_binomial_mass
from neyman.sensitivity import check_neighbors

__all__ = ["Dropped", "truncated_poisson", "truncated_poisson_places"]

Dropped: TypeAlias = Literal["at_random", "by_any_rule"]

# Smaller probabilities count as this.
_LEAST = Fraction(2) ** -900
# Masses within this many standard deviations plus counts of the mean are summed one by one.
_SPREADS, _COUNTS = 40, 400


def truncated_poisson(
    f: TradeOff,
    *,
    sampling_probability: Real,
    most: int,
    records: int,
    neighbors: str,
    dropped: Dropped,
) -> TradeOff:
    """Return f on a Poisson sample that is cut to `most` records if it is larger.

    Dropped at random: assume that an attacker knows whether `most` of the other records were
    sampled, which has probability w. If not, the step is Poisson's. If so, the one record takes the
    place of another with probability r, and the sum moves twice:

        (1 - w) f_p + w (f of one record replaced)_r,   r = E[p most/(K + 1) | K >= most]

    where slopes match, K of Binomial(records - 1, p) the others sampled. Dropped by any rule, which
    may depend on the data: everything is lost with probability w.

    Args:
        f: the guarantee on the batch, for one record added or removed.
        sampling_probability: p in (0, 1], of each record independently.
        most: the largest size of a batch.
        records: the number of records, public: of the larger of two datasets that differ by one
            record, or of each if one is replaced. A record that is added to n makes it n + 1.
        neighbors: "add_remove" or "replace_one".
        dropped: "at_random", a uniform choice of `most` of the sample; or "by_any_rule".

    Guarantee: exact if no batch is cut, or if each one is. Otherwise a bound: `answer.of` is
        "class", and the other end is the loss if all other records add nothing.
    Error: probabilities are known to about 1e-13, relatively, and rounded to the worse side.

    Raises:
        InvalidParameter: if a size, the probability, the relation or the rule makes no sense.
        UnsupportedComposition: if any rule may cut off batches and each one is full.

    Source: proof: docs/theory/truncation.md; Ganesh et al. (2025), "Tighter privacy analysis for
        truncated Poisson sampling".

    >>> from neyman.curves import gdp
    >>> step = truncated_poisson(
    ...     gdp(1), sampling_probability=0.01, most=16, records=1_000,
    ...     neighbors="add_remove", dropped="at_random",
    ... )
    >>> f"{(step ** 128).epsilon(1e-5):.4f}"
    '3.9135'
    """
    p = exact(sampling_probability, "sampling_probability")
    n, size = whole("records", records, 1), whole("most", most, 1)
    if not 0 < p <= 1:
        raise InvalidParameter(f"sampling_probability must be above 0 and at most 1; got {text(p)}")
    if dropped not in ("at_random", "by_any_rule"):
        raise InvalidParameter(
            f"dropped={dropped!r} must be a rule that is known; write 'at_random' or 'by_any_rule'"
        )
    swapped = check_neighbors(neighbors) == "replace_one"
    sampling = poisson_replace if swapped else poisson
    plain = sampling(f, p)
    if size >= n:
        return plain
    low, high = _chance(n - 1, size, p)
    if dropped == "by_any_rule":
        if high == 1:
            raise _all_lost(f, size, n, p)
        kept = sampling(f, floor_float(p * (1 - high)))
        return dominated_by(plain @ approx_dp(0, high), attained=kept)
    moved = replaced(f)
    if p == 1:
        fixed = drawn_without_replacement if swapped else poisson
        return fixed(moved, Fraction(size, n))
    # The probability that the one record is sampled and kept while the batch is full.
    share = p * Fraction(size, size + 1)
    if low:
        share = min(share, _chance(n, size + 1, p)[1] * size / (n * low))
    sampled = subsample if swapped else poisson
    weights: dict[TradeOff, Fraction] = defaultdict(Fraction)
    weights[plain] += 1 - high
    weights[sampled(moved, share)] += low
    weights[sampled(moved, p)] += high - low
    used = {curve: weight for curve, weight in weights.items() if weight}
    # The probability that the one record is in the batch.
    least = p * (1 - high) + Fraction(size, n) * _chance(n, size + 1, p)[0]
    return dominated_by(
        mixture(list(used.values()), list(used)), attained=sampling(f, floor_float(least))
    )


def truncated_poisson_places(
    f: TradeOff, *, sampling_probability: Real, most: int, places: int
) -> TradeOff:
    """Return f on a truncated Poisson sample of places, one of which is filled or empty.

    The sample is taken from a public number of places, filled or not. If it has more than `most`
    places, a uniform choice of them is kept. An empty place counts towards `most` and contributes
    nothing. So the choice does not depend on the data, and an attacker may know all of it except
    the one place. If fewer than most - 1 others are in the batch, the one is in it with probability
    p. If most - 1 are, it is in with probability

        r = a/(a + b),    a = most/n P(Binomial(n, p) >= most),
                          b = (1 - p) P(Binomial(n - 1, p) = most - 1)

    and if all `most` are, it is not. The guarantee is a mixture of f_p, f_r and no loss.

    Args:
        f: the guarantee on the batch, for one record added or removed.
        sampling_probability: p in (0, 1], of each place independently.
        most: the largest size of a batch.
        places: n; public, and the same for both of two neighbours.

    Guarantee: exact if no batch is cut. Otherwise a bound: `answer.of` is "class", and the other
        end is the loss if all other places are empty.
    Error: probabilities are known to about 1e-13, relatively, and rounded to the worse side.

    Raises:
        InvalidParameter: if a size or the probability makes no sense.

    Source: proof: docs/theory/truncation.md.

    >>> from neyman.curves import gdp
    >>> step = truncated_poisson_places(gdp(1), sampling_probability=0.01, most=16, places=1_000)
    >>> f"{(step ** 128).epsilon(1e-5):.4f}"
    '0.8775'
    """
    p = exact(sampling_probability, "sampling_probability")
    n, size = whole("places", places, 1), whole("most", most, 1)
    if not 0 < p <= 1:
        raise InvalidParameter(f"sampling_probability must be above 0 and at most 1; got {text(p)}")
    plain = poisson(f, p)
    if size >= n:
        return plain
    in_full = tuple(chance * Fraction(size, n) for chance in _chance(n, size, p))
    out_low, out_high = _mass(n - 1, size - 1, p)
    beside = in_full[0] + (1 - p) * out_low, in_full[1] + (1 - p) * out_high
    fewer = 1 - _chance(n - 1, size - 1, p)[0]
    # Rounded up: any excess of f_r is taken from f_p, and any excess of f_p from the rest.
    share = min(in_full[1] / (in_full[1] + (1 - p) * out_low), Fraction(1))
    heavy = min(beside[1], Fraction(1))
    weights: dict[TradeOff, Fraction] = defaultdict(Fraction)
    weights[poisson(f, share)] += heavy
    weights[plain] += min(fewer, 1 - heavy)
    weights[identity()] += 1 - sum(weights.values())
    used = {curve: weight for curve, weight in weights.items() if weight}
    least = p * max(1 - _chance(n - 1, size - 1, p)[1], Fraction(0)) + in_full[0]
    return dominated_by(
        mixture(list(used.values()), list(used)), attained=poisson(f, floor_float(least))
    )


def _mass(n: int, count: int, p: Fraction) -> tuple[Fraction, Fraction]:
    """Return bounds of P(Binomial(n, p) = count)."""
    if p == 1:
        return Fraction(count == n), Fraction(count == n)
    mass = exp(log_binomial_mass(np.asarray([float(count)]), n, p, 1 - p).smaller(0))
    return Fraction(float(mass.lower[0])), min(Fraction(float(mass.upper[0])), Fraction(1))


def _chance(n: int, size: int, p: Fraction) -> tuple[Fraction, Fraction]:
    """Return bounds of P(Binomial(n, p) >= size): masses around the mean, and geometric tails."""
    if size > n:
        return Fraction(0), Fraction(0)
    if p == 1:
        return Fraction(1), Fraction(1)
    mean, spread = n * p, _COUNTS + _SPREADS * math.isqrt(math.ceil(n * p * (1 - p)))
    first = max(size, math.floor(mean) - spread, 0)
    last = min(n, max(size, math.ceil(mean)) + spread)
    counts = np.arange(first, last + 1, dtype=np.float64)
    masses = exp(log_binomial_mass(counts, n, p, 1 - p).smaller(0))
    total = masses.total()
    # Where masses decrease, they decrease beyond the ends at least as fast as at the ends.
    beyond = Fraction(float(masses.upper[-1])) * _tail(Fraction(n - last) * p, (last + 1) * (1 - p))
    if first > size:
        ahead = _tail(first * (1 - p), (n - first + 1) * p)
        beyond += Fraction(float(masses.upper[0])) * ahead
    low, high = Fraction(float(total.lower)), Fraction(float(total.upper)) + beyond
    if low < _LEAST:
        return Fraction(0), max(min(high, Fraction(1)), _LEAST)
    return min(low, Fraction(1)), min(Fraction(ceil_float(high)), Fraction(1))


def _tail(over: Fraction, under: Fraction) -> Fraction:
    """Return r/(1 - r) for the ratio r = over / under of neighbouring masses, below 1."""
    return over / (under - over)


def _all_lost(f: TradeOff, size: int, n: int, p: Fraction) -> UnsupportedComposition:
    return UnsupportedComposition(
        "with dropped='by_any_rule' the probability of a full batch is charged, so full batches "
        f"must be rare; got {f} on a Poisson sample of {text(p)} of {n} records, cut off at "
        f"{size}. Write a largest size well above {math.ceil(n * p)}, or dropped='at_random'"
    )
