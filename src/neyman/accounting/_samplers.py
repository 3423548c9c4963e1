"""The guarantees of samplers of batches, each for its neighbouring relation."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from neyman.arguments import whole
from neyman.curves import (
    TradeOff,
    dominated_by,
    gdp,
    group,
    mixture,
    subsample,
)
from neyman.curves._pair import Pair
from neyman.curves._pairs._allocation import AllocationPair
from neyman.curves._pairs._clones import ClonesPair
from neyman.curves._pairs._gaussian import GaussianPair
from neyman.curves._pairs._gaussian_mixture import gaussian_mixture_pair
from neyman.errors import InvalidParameter, RelationMismatch, UnsupportedComposition
from neyman.numerics import Real, exact, ordinary
from neyman.sensitivity import Neighbors

__all__ = [
    "DOUBLED_POISSON",
    "Sampled",
    "drawn_without_replacement",
    "random_allocation",
    "shuffled",
    "with_replacement",
    "without_replacement",
]

DOUBLED_POISSON = (
    "a batch drawn without replacement loses no more under composition, for one record replaced, "
    "than a Poisson sample of the same rate whose one record moves the sum by as much; no proof "
    "of this is known"
)


# Counts of draws with a smaller probability are not distinguished.
_SELDOM = Fraction(1, 10**20)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """The guarantee of a sampler, with its relation and its assumptions.

    Attributes:
        curve: of one step; compose it by `curve ** steps`.
        neighbors: the neighbouring relation of the guarantee.
        assumptions: what is assumed without proof, one sentence each; empty if nothing is.
    """

    curve: TradeOff
    neighbors: Neighbors
    assumptions: tuple[str, ...] = ()

    @property
    def proved(self) -> bool:
        """Whether nothing is assumed without proof."""
        return not self.assumptions


def without_replacement(
    f: TradeOff, *, records: int, batch: int, assume: str | None = None
) -> Sampled:
    """Return f on a batch of fixed size, drawn anew at each step, for one record replaced.

        C_p(f) = min(f_p, f_p^-1)**,   f_p = p f + (1 - p) Id,   p = batch / records

    It is proved for each step. It is loose under composition, because both directions are charged
    in every step. So the curve bounds a class (`answer.of`). Its lower bound has one direction in
    all steps. Under Gaussian noise, one record of length 1 among zeros attains it; under other
    noise there is none.

    Args:
        f: the guarantee on the batch for one record replaced.
        records: n, the number of records; public.
        batch: how many are drawn, at most n.
        assume: None, or `DOUBLED_POISSON` for the tighter rule that depends on it. The assumption
            is then recorded in the result.

    Raises:
        InvalidParameter: if the sizes make no sense, or another assumption is named.
        RelationMismatch: if f is proved for add_remove.
        UnsupportedComposition: if an assumption about Gaussian noise is made of other noise.

    Source: Dong, Roth and Su (2022), theorem 4.2; the operator is `curves.subsample`.

    >>> from neyman.curves import gdp
    >>> step = without_replacement(gdp(1), records=100, batch=10)
    >>> f"{step.curve.delta(0):.6f}"
    '0.038292'
    """
    if assume not in (None, DOUBLED_POISSON):
        raise InvalidParameter(
            f"assume={assume!r} names no assumption that is known here; write "
            "neyman.accounting.DOUBLED_POISSON, or None for what is proved"
        )
    n, m = whole("records", records, 1), whole("batch", batch, 1)
    if not 1 <= m <= n:
        raise InvalidParameter(f"batch must be from 1 to the number of records, {n}; got {m}")
    check_relation(f, "replace_one", "sampling without replacement")
    if m == n:
        return Sampled(curve=f, neighbors="replace_one")
    share = Fraction(m, n)
    if assume is not None:
        curve = TradeOff(_one_way(f.remove, share), _one_way(f.add, share).swap())
        return Sampled(curve=curve, neighbors="replace_one", assumptions=(DOUBLED_POISSON,))
    return Sampled(curve=drawn_without_replacement(f, share), neighbors="replace_one")


def drawn_without_replacement(f: TradeOff, share: Fraction) -> TradeOff:
    """Return a bound with both directions in every step, and as attained one direction in all."""
    bound = subsample(f, share)
    if any(pair.kind != GaussianPair.kind for pair in (f.remove, f.add)):
        return dominated_by(bound)
    one = TradeOff(_one_way(f.remove, share), _one_way(f.add, share).swap())
    return dominated_by(bound, attained=one)


def with_replacement(f: TradeOff, *, records: int, batch: int) -> Sampled:
    """Return f on a batch drawn anew at each step, with each record counted each time it is drawn.

    One record is drawn J times, J of Binomial(batch, 1/records), and replacing it replaces J
    entries of the batch:

        C_η(g),   η = P(J > 0),   g = mixture over j of (f for j replaced), given J > 0

    Args:
        f: the guarantee on the batch for one record replaced.
        records: n, the number of records; public.
        batch: how many are drawn; may exceed n.

    Guarantee: a bound, for one record replaced; loose under composition, like that of
        `without_replacement`. The lower bound of its answers is 0. Counts that occur in fewer than
        one of 10^20 batches are treated as if the record were drawn every time.

    Raises:
        InvalidParameter: if the sizes make no sense.
        RelationMismatch: if f is proved for add_remove.

    Source: Balle, Barthe and Gaboardi (2018), "Privacy amplification by subsampling", theorem 10;
        the operator is `curves.subsample`.

    >>> from neyman.curves import gdp
    >>> f"{with_replacement(gdp(1), records=100, batch=10).curve.delta(0):.6f}"
    '0.037914'
    """
    n, m = whole("records", records, 1), whole("batch", batch, 1)
    check_relation(f, "replace_one", "sampling with replacement")
    drawn = 1 - Fraction(n - 1, n) ** m
    weights: list[Fraction] = []
    for j in range(1, m + 1):
        weight = Fraction(math.comb(m, j) * (n - 1) ** (m - j), n**m) / drawn
        if weight < _SELDOM and j > m // n:
            break
        weights.append(weight)
    groups = [group(f, j) for j in range(1, len(weights) + 1)]
    if len(groups) < m:
        weights.append(1 - sum(weights, Fraction(0)))
        groups.append(group(f, m))
    bound = subsample(mixture(weights, groups), drawn)
    return Sampled(curve=dominated_by(bound), neighbors="replace_one")


def random_allocation(
    *, noise_multiplier: Real, steps: int, epochs: int = 1, chosen: int = 1
) -> TradeOff:
    """Return noisy gradient descent where each record is in one random step of every epoch.

    Each record chooses its step uniformly and independently (balls in bins); Gaussian noise.

        e^L = (1/T) Σ_t e^(x_t/σ² - 1/2σ²),  x ~ N(0, σ² I_T)

    Args:
        noise_multiplier: σ divided by the largest norm of a record, in [1/4, 100].
        steps: T, the steps of an epoch, in [1, 10^6].
        epochs: how many times records are allocated anew.
        chosen: how many steps of an epoch a record is in; only 1 is supported.

    Guarantee: for one record added or removed; exact for one epoch, by a lattice for several.
    Error: the width of the bracket. For one epoch it is at most 1e-6, relatively, for T <= 10^5, σ
        >= 1/2 and delta >= 1e-12. It is a few per cent of the larger direction if single ratios
        decide. `add` alone may be known only up to a factor of 30 if it is much smaller than
        `remove`.

    Raises:
        InvalidParameter: if a parameter is out of range.
        UnsupportedComposition: if `chosen` is more than one step.

    Source: Chua et al. (2025); Feldman and Shenfeld (2025); proofs: docs/theory/allocation.md.

    >>> f"{random_allocation(noise_multiplier=1, steps=10).delta(1):.6e}"
    '2.782869e-03'
    """
    noise, count = (
        exact(noise_multiplier, "noise_multiplier"),
        whole("steps", steps, 1),
    )
    passes, several = (
        whole("epochs", epochs, 1),
        whole("chosen", chosen, 1),
    )
    if several > 1:
        raise UnsupportedComposition(
            "random_allocation gives each record one step in each epoch; got "
            f"{several} of {count} steps. Write random_allocation("
            f"steps={max(count // several, 1)}, epochs={several}, ...) and allocate each record "
            "once in each block of steps"
        )
    if count == 1:
        return gdp(1 / ordinary(noise, "noise_multiplier")) ** passes
    pair = AllocationPair(noise, count)
    return TradeOff(pair, pair.swap()) ** passes


def shuffled(epsilon0: Real, *, reports: int) -> Sampled:
    """Return the guarantee of a shuffler of local reports, for one report replaced.

    Each report alone is epsilon0-DP, even if it depends on earlier reports. All are permuted at
    random.

    Args:
        epsilon0: of each report; in (0, 700].
        reports: n, in [2, 10^6]; public.

    Guarantee: an upper bound for every local randomiser, by clones with probability e^-epsilon0.
        The factor 2/(e^epsilon0 + 1), proved only for some randomisers, is not used. `answer.of` is
        "class", with lower end 0, because a randomiser may reveal nothing. Write `curve ** times`
        for several shuffles of fresh reports, by a lattice.

    Raises:
        InvalidParameter: if a parameter is out of range.

    Source: Feldman, McMillan and Talwar (2021), theorem 3.1.

    >>> f"{shuffled(2, reports=10_000).curve.epsilon(1e-6):.5f}"
    '0.15505'
    """
    pair = ClonesPair(exact(epsilon0, "epsilon0"), whole("reports", reports, 1))
    return Sampled(curve=dominated_by(TradeOff(pair, pair)), neighbors="replace_one")


def _one_way(pair: Pair, share: Fraction) -> Pair:
    square = pair.outer_gaussian() if pair.kind == GaussianPair.kind else None
    if square is None:
        raise UnsupportedComposition(
            f"the assumption is about Gaussian noise; got {pair}. Write gdp(f.mu()) where mu is "
            "finite, or assume nothing"
        )
    none, one = Fraction(0), Fraction(1)
    return gaussian_mixture_pair(
        1 / square, [(none, one)], [(none, 1 - share), (one, share)], "replace_one"
    )


def check_relation(f: TradeOff, relation: Neighbors, what: str) -> None:
    for pair in (f.remove, f.add):
        if pair.neighbors not in (None, relation):
            raise RelationMismatch(
                f"{pair} is proved for neighbors={pair.neighbors!r}, and {what} for {relation!r}; "
                "write a guarantee of that relation"
            )
