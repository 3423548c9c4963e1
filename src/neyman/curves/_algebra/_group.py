"""Groups: guarantees for many records at once, or for one record replaced."""

import operator
import reprlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from math import comb

from neyman.curves._algebra._composed import ComposedPair, composed
from neyman.curves._algebra._factors import factors_of
from neyman.curves._algebra._lattice_algebra import MixturePair, mixed
from neyman.curves._algebra._subsample import subsample
from neyman.curves._named._constructors import curve
from neyman.curves._named._joined_constructors import dominated_by
from neyman.curves._pair import Pair, SwappedPair
from neyman.curves._pairs._between import between, ends_of, monotone
from neyman.curves._pairs._chained import chained
from neyman.curves._pairs._discrete import DiscreteGaussianPair, DiscreteLaplacePair
from neyman.curves._pairs._gaussian import GaussianPair
from neyman.curves._pairs._gaussian_mixture import gaussian_mixture_pair
from neyman.curves._pairs._identity import IdentityPair
from neyman.curves._pairs._laplace import LaplacePair
from neyman.curves._pairs._randomized_response import RandomizedResponsePair
from neyman.curves._pairs._sampled import SampledPair, SampledSwapPair, sampled, sampling_of
from neyman.curves._statements._cdp import CdpPair
from neyman.curves._statements._rdp import RdpPair
from neyman.curves._statements._rdp_group import points_of_group
from neyman.curves._statements._zcdp import ZcdpPair
from neyman.curves._tradeoff import TradeOff
from neyman.errors import InvalidParameter, RelationMismatch
from neyman.numerics import Real, exact, shares, text

__all__ = ["chain", "gaussian_mixture", "group", "poisson_replace"]

# Beyond this many changes, smaller weights than this are moved to larger changes.
_MANY, _FAINT = 96, Fraction(1, 10**25)
# Smaller weights underflow; weights with more bits are rounded.
_LEAST, _BITS = Fraction(2) ** -900, 4096


def group(f: TradeOff, size: int) -> TradeOff:
    """Return the guarantee for `size` records added or removed together, of f for one.

        f_k = 1 - (1 - f)^(∘k):  G_mu -> G_(k mu), Laplace and pure epsilon -> k epsilon,

    each step of a composition for itself. A Poisson-sampled Gaussian becomes a mixture: the best
    attack on j sampled records is G_(j mu), and the same half-line is best for all j, so

        N(0, 1) against Σ_j Binomial(k, q)(j) N(j mu, 1),

    whatever the mechanism that is mu-GDP. Another sampled base is bounded as if all k were in
    whenever one is: its group, sampled with probability 1 - (1 - q)^k; what one of them loses is
    lost at least, and answers say that they are of a class. rho-zCDP becomes k^2 rho,
    Rényi bounds become some at lower orders, a shift of discrete noise k shifts. Every other
    guarantee is chained, (1 - f)^(∘k) as it stands, brackets and all. `chain(f, f)` does that for a
    pure epsilon too, where it is a little tighter for one release and has no closed form for many.

    Args:
        f: the guarantee for one record.
        size: k, an int of at least 1.

    Guarantee: what f says of a group. Gaussian and Laplace noise on sums attain it, sampled
        Gaussian noise too. A chain is attained by some pair with the curve f, if f is symmetric,
        and not by every mechanism that has it: write `dominated_by` where you mean one of those.

    Raises:
        InvalidParameter: if `size` is not a whole number of at least 1.

    Source: Dong, Roth and Su (2022), theorem 2.14; Ganesh (2024), "Tight group-level DP guarantees
        for DP-SGD with sampling via mixture of Gaussians mechanisms"; Bun and Steinke (2016),
        proposition 1.9, for zCDP; Mironov (2017), proposition 11, for Rényi bounds.

    >>> from neyman.curves import gdp
    >>> group(gdp(0.5), 4)
    gdp(mu=2)
    """
    count = _size(size)
    return TradeOff(_grouped(curve(f).remove, count), _grouped(f.add, count))


def chain(first: TradeOff, *others: TradeOff) -> TradeOff:
    """Return the guarantee for the ends of a chain of datasets, of those for its links.

        T(P, Q) >= f and T(Q, R) >= g:  T(P, R) >= g ∘ (1 - f)

    Links of different sizes do not commute. `group` is the same for equal links, and knows better
    where the pair of the whole group is known.

    Args:
        first: the guarantee between the first two datasets.
        others: those of the other links, in their order.

    Raises:
        RelationMismatch: if the links are proved for different neighbouring relations.

    Source: Dong, Roth and Su (2022), theorem 2.14 and its proof.

    >>> from neyman.curves import approx_dp, gdp, pure_dp
    >>> f"{chain(gdp(1), pure_dp(1)).delta(0):.6f}"
    '0.678818'
    >>> f"{chain(approx_dp(1, 0.01), approx_dp(1, 0.01)).delta(2):.6f}"
    '0.037183'
    """
    links = (first, *others)
    return TradeOff(
        chained([(f.remove, 1) for f in links]), chained([(f.add, 1) for f in reversed(links)])
    )


def poisson_replace(f: TradeOff, sampling_probability: Real) -> TradeOff:
    """Return f on a Poisson sample, for one record replaced by another.

    If f = G_mu for one record added, the pair is (1 - q) N(0) + q N(-mu) against
    (1 - q) N(0) + q N(mu). In the worst case the record and its replacement move the answer to
    opposite sides of the answer without either, and one half-line is the best test of both. If f is
    not Gaussian, the bound is C_q(f ∘ (1 - f)): given that the record is in the sample, it is
    removed and the other one is added.

    Args:
        f: the guarantee on the sample for one record added or removed.
        sampling_probability: q in [0, 1], of each record by itself.

    Guarantee: for neighbours that differ by one record replaced, replace_one. If f is not
        Gaussian, the result is a bound: `answer.of` is "class", and the other end is 0.

    Raises:
        InvalidParameter: if q is outside.
        RelationMismatch: if f is proved for replace_one already, or is a sampled guarantee that is
            not Gaussian.

    Source: Lebeda, Regehr, Kamath and Steinke (2024), "Avoiding pitfalls for privacy accounting of
        subsampled mechanisms under composition", for the pair; Balle, Barthe and Gaboardi (2018),
        theorem 8, and Dong, Roth and Su (2022), theorem 4.2, for the bound.

    >>> from neyman.curves import gdp, laplace
    >>> f"{(poisson_replace(gdp(1), 0.01) ** 1000).epsilon(1e-5):.6f}"
    '2.843440'
    >>> f"{poisson_replace(laplace(1), 0.01).delta(0):.6f}"
    '0.006321'
    """
    q = exact(sampling_probability, "sampling_probability")
    if not 0 <= q <= 1:
        raise InvalidParameter(f"sampling_probability={text(q)} leaves [0, 1]; write a probability")
    ends = (end for pair in (curve(f).remove, f.add) for end in ends_of(pair))
    if all(_noise(end) in (GaussianPair.kind, IdentityPair.kind) for end in ends):
        return TradeOff(_replaced(f.remove, q), _replaced(f.add, q))
    for pair in (f.remove, f.add):
        _refuse_replaced(pair)
    bound = f.dominating()
    here, there = sampling_of(bound.remove), sampling_of(bound.add)
    if here is not None and there is not None and here.probability == there.probability:
        bound, q = TradeOff(here.base, there.base.swap()), q * here.probability
    return dominated_by(subsample(replaced(bound), q))


def replaced(f: TradeOff) -> TradeOff:
    """Return the guarantee for one record replaced, of f for one added or removed.

    f ∘ (1 - f) of the two directions: the record is removed, and the other one is added.
    """
    if f.remove == f.add == f.add.swap():
        return group(f, 2)
    return chain(TradeOff(f.add, f.remove), f)


def gaussian_mixture(
    changes: Mapping[Real, Real], *, noise_multiplier: Real, neighbors: str | None = None
) -> TradeOff:
    """Return the curve of Gaussian noise on a sum that changes by a random amount.

    N(0, sigma^2) against Σ_j w_j N(c_j, sigma^2).

    Args:
        changes: weights w_j by change c_j >= 0; the weights sum to 1, as floats to within 1e-12.
            The largest change gets the missing weight. If there are more than 96 changes, the
            weights below 1e-25 count as the next larger change's.
        noise_multiplier: sigma, positive.
        neighbors: the neighbouring relation that this is proved for; None if any.

    Raises:
        InvalidParameter: if a change is negative, or the weights do not sum to 1.

    >>> gaussian_mixture({2: 1}, noise_multiplier=2)
    gdp(mu=1)
    """
    if not isinstance(changes, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidParameter(
            f"changes={reprlib.repr(changes)} is a {type(changes).__name__}; write the weight of "
            "each change, such as {0: 0.9, 1: 0.1}"
        )
    sigma = exact(noise_multiplier, "noise_multiplier")
    if sigma <= 0:
        raise InvalidParameter(
            f"noise_multiplier={text(sigma)} adds no noise; write a positive number"
        )
    lengths = [exact(change, "a change") for change in changes]
    weights = [exact(weight, "a weight") for weight in changes.values()]
    whole = shares(weights)
    if whole is None or min(weights) < 0 or min(lengths) < 0:
        raise InvalidParameter(
            "changes must be at least 0, and their weights at least 0 with the sum 1; got "
            f"{len(weights)} changes with weights of the sum {text(sum(weights, Fraction(0)))}. "
            "Write changes such as {0: 0.9, 1: 0.1}"
        )
    over = list(zip((*lengths, max(lengths)), (*whole[0], whole[1]), strict=True))
    pair = _one_sided(over, sigma**2, neighbors)
    return TradeOff(pair, pair.swap())


def _one_sided(
    over: Iterable[tuple[Fraction, Fraction]], variance: Fraction, relation: str | None
) -> Pair:
    """Return N(0, variance) against a mixture of changes with weights of sum 1."""
    weights: dict[Fraction, Fraction] = {}
    for change, weight in over:
        weights[change] = weights.get(change, Fraction(0)) + weight
    listed = sorted((change, weight) for change, weight in weights.items() if weight)
    least = _FAINT if len(listed) > _MANY else _LEAST
    kept = _outwards(listed, least)
    while len(kept) > 2 * _MANY:
        least *= 1000
        kept = _outwards(listed, least)
    return gaussian_mixture_pair(variance, [(Fraction(0), Fraction(1))], kept, relation)


def _outwards(
    listed: list[tuple[Fraction, Fraction]], least: Fraction
) -> list[tuple[Fraction, Fraction]]:
    """Move weights below `least` to larger changes, which lose more: up to 1, 2, 4, ... on."""
    kept: list[tuple[Fraction, Fraction]] = []
    pending, waited, run = Fraction(0), 0, 1
    for change, weight in listed:
        pending, waited = pending + weight, waited + 1
        faint = pending < least
        if (faint and waited < run) or pending < _LEAST:
            continue
        kept.append((change, _short(pending)))
        pending, waited, run = pending - kept[-1][1], 0, 2 * run if faint else 1
    if pending:
        last = kept.pop()[1] if kept and kept[-1][0] == listed[-1][0] else Fraction(0)
        kept.append((listed[-1][0], max(last + pending, _LEAST)))
    # A weight that doubles cannot hold was raised, at the cost of the heaviest.
    heaviest = max(range(len(kept)), key=lambda place: kept[place][1])
    change, weight = kept[heaviest]
    kept[heaviest] = (change, weight + 1 - sum((w for _, w in kept), Fraction(0)))
    return kept


def _short(weight: Fraction) -> Fraction:
    """Round a weight with more digits than are read down to 512 bits."""
    if weight.denominator.bit_length() <= _BITS:
        return weight
    unit = Fraction(2) ** (weight.numerator.bit_length() - weight.denominator.bit_length() - 512)
    return weight // unit * unit


# -- groups ---------------------------------------------------------------------------------------


@monotone
def _grouped(pair: Pair, size: int) -> Pair:
    if size == 1:
        return pair
    return _RULES.get(pair.kind, _grouped_links)(pair, size)


def _grouped_links(pair: Pair, size: int) -> Pair:
    return chained(((pair, size),))


def _grouped_parts(pair: Pair, size: int) -> Pair:
    return composed([(_grouped(part, size), times) for part, times in factors_of(pair)])


def _grouped_sample(pair: Pair, size: int) -> Pair:
    assert isinstance(pair, SampledPair)
    base, q = pair.base, pair.probability
    square = base.outer_gaussian() if base.kind == GaussianPair.kind else None
    if square is None:
        return between(sampled(_grouped(base, size), 1 - (1 - q) ** size), pair)
    weights = [(Fraction(j), comb(size, j) * q**j * (1 - q) ** (size - j)) for j in range(size + 1)]
    return _one_sided(weights, 1 / square, "add_remove")


def _grouped_mixture(pair: Pair, size: int) -> Pair:
    assert isinstance(pair, MixturePair)
    shares = tuple(share for _, share in pair.parts)
    return mixed(shares, tuple(_grouped(part, size) for part in pair.all_parts))


def _grouped_line(pair: Pair, size: int) -> Pair:
    assert isinstance(pair, ZcdpPair | CdpPair)
    return ZcdpPair(pair.line[1] * size**2)


def _grouped_points(pair: Pair, size: int) -> Pair:
    assert isinstance(pair, RdpPair)
    above = [(order, value) for order, value in pair.points if order > 1]
    return RdpPair.of(points_of_group(above, size)) if above else _grouped_links(pair, size)


def _grouped_shift(pair: Pair, size: int) -> Pair:
    assert isinstance(pair, DiscreteGaussianPair | DiscreteLaplacePair)
    return replace(pair, sensitivity=pair.sensitivity * size)


def _grouped_gaussian(pair: Pair, size: int) -> Pair:
    square = pair.outer_gaussian()
    assert square is not None
    return GaussianPair(square * size**2)


def _grouped_bound(build: Callable[[Fraction], Pair]) -> Callable[[Pair, int], Pair]:
    def rule(pair: Pair, size: int) -> Pair:
        bound = pair.outer_pure()
        assert bound is not None
        return build(size * bound)

    return rule


_RULES: Mapping[str, Callable[[Pair, int], Pair]] = {
    IdentityPair.kind: lambda pair, _: pair,
    GaussianPair.kind: _grouped_gaussian,
    LaplacePair.kind: _grouped_bound(LaplacePair),
    RandomizedResponsePair.kind: _grouped_bound(RandomizedResponsePair),
    SampledPair.kind: _grouped_sample,
    SampledSwapPair.kind: lambda pair, size: _grouped(pair.swap(), size).swap(),
    SwappedPair.kind: lambda pair, size: _grouped(pair.swap(), size).swap(),
    ComposedPair.kind: _grouped_parts,
    MixturePair.kind: _grouped_mixture,
    ZcdpPair.kind: _grouped_line,
    CdpPair.kind: _grouped_line,
    RdpPair.kind: _grouped_points,
    DiscreteGaussianPair.kind: _grouped_shift,
    DiscreteLaplacePair.kind: _grouped_shift,
}


def _size(size: int) -> int:
    try:
        count = operator.index(size)
    except TypeError:
        count = 0
    if count < 1 or isinstance(size, bool):
        raise InvalidParameter(
            f"size must be an int of at least 1; got {size!r}. Write the number of records"
        )
    return count


# -- one record replaced --------------------------------------------------------------------------


@monotone
def _replaced(pair: Pair, q: Fraction) -> Pair:
    """Return the pair of Gaussian noise."""
    _refuse_replaced(pair)
    inner = sampling_of(pair)
    if inner is not None:
        return _replaced(inner.base, q * inner.probability)
    square = pair.outer_gaussian()
    if pair.kind == IdentityPair.kind or q == 0 or not square:
        return IdentityPair()
    out, inside = (Fraction(0), 1 - q), Fraction(1)
    return gaussian_mixture_pair(1 / square, [out, (-inside, q)], [out, (inside, q)], "replace_one")


def _noise(pair: Pair) -> str:
    """Return the kind of the pair that is sampled, or of the pair itself."""
    inner = sampling_of(pair)
    return pair.kind if inner is None else inner.base.kind


def _refuse_replaced(pair: Pair) -> None:
    if pair.neighbors not in (None, "add_remove"):
        raise RelationMismatch(
            f"{pair} is proved for neighbors={pair.neighbors!r}, and what one record adds is "
            "needed here; write the guarantee on the sample for one record added or removed"
        )
