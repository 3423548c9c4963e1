"""The operator of samples of a fixed size, C_p, on every guarantee."""

from fractions import Fraction

from neyman.curves._algebra._lattice_algebra import BestPair, WorstPair, joined
from neyman.curves._named._constructors import curve
from neyman.curves._pair import Pair
from neyman.curves._pairs._between import monotone
from neyman.curves._pairs._identity import IdentityPair
from neyman.curves._pairs._symmetrised import SymmetrisedPair
from neyman.curves._tradeoff import TradeOff
from neyman.errors import InvalidParameter, RelationMismatch
from neyman.numerics import Real, exact, text

__all__ = ["subsample"]


def subsample(f: TradeOff, share: Real) -> TradeOff:
    """Return C_p(f) = min(f_p, f_p^-1)**, f_p = p f + (1 - p) Id: f on a sample of a fixed size.

    The sample is drawn without replacement and one record may be replaced by another. f holds for
    all ordered neighbours, and so does max(f, f^-1), which is sampled: C_p of it is the larger. A
    guarantee that knows its two directions apart holds for all ordered neighbours as the hull of
    the smaller.

    Args:
        f: the guarantee on the sample, for one record replaced.
        share: p, size of the sample over number of records, in [0, 1]; both public.

    Guarantee: for replace_one. The result is symmetric and composes as every other; its two
        directions are charged in each step, which is loose under composition. Answers are of the
        curve C_p(f); those of the sampler are of `accounting.without_replacement`.

    Raises:
        InvalidParameter: if the share leaves [0, 1].
        RelationMismatch: if f is proved for add_remove.

    Source: Dong, Roth and Su (2022), definition 4.1 and theorem 4.2.

    >>> from neyman.curves import gdp, identity
    >>> f"{subsample(gdp(1), 0.1).delta(0):.6f}"
    '0.038292'
    >>> subsample(gdp(1), 1) == gdp(1), subsample(gdp(1), 0) == identity()
    (True, True)
    """
    p = exact(share, "share")
    if not 0 <= p <= 1:
        raise InvalidParameter(
            f"share={text(p)} leaves [0, 1]; write the size of the sample over the number of "
            "records"
        )
    for pair in (curve(f).remove, f.add):
        if pair.neighbors not in (None, "replace_one"):
            raise RelationMismatch(
                f"{pair} is proved for neighbors={pair.neighbors!r}, and sampling without "
                "replacement for 'replace_one'; write a guarantee of that relation"
            )
    pair = _for_all_ordered(f)
    both = _sampled(pair, p)
    return TradeOff(both, both)


def _for_all_ordered(f: TradeOff) -> Pair:
    """Return a symmetric pair whose curve holds whichever of two neighbours comes first."""
    hull = joined(WorstPair, (f.remove, f.add))
    return hull if hull.symmetric else joined(BestPair, (hull, hull.swap()))


@monotone
def _sampled(pair: Pair, share: Fraction) -> Pair:
    if share == 0 or pair.kind == IdentityPair.kind:
        return IdentityPair()
    if share == 1:
        return pair
    return SymmetrisedPair(pair, share)
