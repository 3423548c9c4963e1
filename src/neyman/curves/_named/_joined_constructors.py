"""Compositions, the worst and the best of two guarantees, mixtures and bounds, by name."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from neyman.curves._algebra._composed import composed
from neyman.curves._algebra._lattice_algebra import BestPair, WorstPair, joined, mixed
from neyman.curves._named._constructors import curve
from neyman.curves._pair import Pair
from neyman.curves._pairs._between import between
from neyman.curves._pairs._gaussian import GaussianPair
from neyman.curves._pairs._identity import IdentityPair
from neyman.curves._tradeoff import TradeOff
from neyman.errors import InvalidParameter
from neyman.numerics import Real, exact, shares, text

__all__ = ["best", "compose", "dominated_by", "mixture", "symmetric_hull", "worst"]


def compose(*guarantees: TradeOff) -> TradeOff:
    """Return f_1 ⊗ f_2 ⊗ ..., what running all of them costs, each chosen after the ones before.

    The same as f_1 @ f_2 @ ..., in one pass. Equal guarantees are counted together; write
    compose(*phases) for a list, f ** n for n copies, and compose() for the identity.

    Args:
        guarantees: in any order.

    Raises:
        InvalidParameter: if one is no guarantee.
        RelationMismatch: if two are proved for different neighbouring relations.
        UnsupportedComposition: where a statement at real orders meets what has no bound there.

    Error: none; Gaussians are merged by the exact sum of the squares of mu, of up to 2^20 bits.
    Source: Dong, Roth and Su (2022), theorem 3.2 and corollary 3.3.

    >>> from neyman.curves import gdp, pure_dp
    >>> compose(gdp(3), gdp(4))
    gdp(mu=5)
    >>> compose(*(pure_dp(0.1) for _ in range(10)), gdp(1)) == gdp(1) @ pure_dp(0.1) ** 10
    True
    """
    for guarantee in guarantees:
        if not isinstance(guarantee, TradeOff):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidParameter(
                "what is composed must be guarantees; got an object of type "
                f"{type(guarantee).__name__}. Write compose(f, g), or compose(*phases) for a list"
            )
    remove = composed([(f.remove, 1) for f in guarantees])
    if all(f.remove is f.add for f in guarantees):
        return TradeOff(remove, remove)
    return TradeOff(remove, composed([(f.add, 1) for f in guarantees]))


def worst(f: TradeOff, g: TradeOff) -> TradeOff:
    """Return the guarantee if either f or g holds and it is unknown which.

    delta = max(delta_f, delta_g); f is the convex hull of the smaller of the two.

    >>> from neyman.curves import gdp, pure_dp
    >>> f"{worst(gdp(1), pure_dp(1)).delta(0):.6f}"
    '0.462117'
    """
    return _each(lambda p, q: joined(WorstPair, (p, q)), f, g)


def best(f: TradeOff, g: TradeOff) -> TradeOff:
    """Return max(f, g), the guarantee of a mechanism that satisfies both f and g.

    The larger of two convex functions is convex, so this is a trade-off function. Its delta is the
    conjugate, which is at most min(delta_f, delta_g). Answers are those of this curve. For a
    mechanism that may lose less, write `dominated_by(best(f, g))`.

    >>> from neyman.curves import gdp, pure_dp
    >>> f"{best(gdp(1), pure_dp(1)).delta(0):.6f}"
    '0.382925'
    """
    return _each(lambda p, q: joined(BestPair, (p, q)), f, g)


def dominated_by(bound: TradeOff, *, attained: TradeOff | None = None) -> TradeOff:
    """Return the guarantee of a mechanism if you know a bound, but not the worst data.

        bound <= f <= attained,  as trade-off functions

    Every answer says that it is of a class (`answer.of`). Its safe end is that of the bound:
    calibration uses it, and a ledger charges it. Its other end is that of the attained guarantee.
    Composition, sampling, groups and mixtures act on both.

    A curve by itself, such as gdp(1) or of_curve(...), is exact: it represents two laws that have
    this curve. Write dominated_by if the mechanism that you mean may lose less.

    Args:
        bound: what the mechanism loses at most; the proof is yours.
        attained: a guarantee whose loss some data reach or exceed, for instance by the best known
            attack; None if nothing is known.

    Raises:
        InvalidParameter: if the attained guarantee loses more than the bound.
        RelationMismatch: if the two are proved for different neighbouring relations.

    >>> from neyman.curves import gdp
    >>> f = dominated_by(gdp(1), attained=gdp(0.9))
    >>> found = (f ** 4).epsilon(1e-5, bracket=True)
    >>> found.of, found.lower == gdp(1.8).epsilon(1e-5, bracket=True).lower
    ('class', True)
    >>> found.value == gdp(2).epsilon(1e-5)
    True
    """
    if attained is None:
        return _each(lambda f, _: between(f, IdentityPair()), bound, bound)
    zero = np.zeros(())
    most, least = curve(bound).delta_bracket(zero).upper, curve(attained).delta_bracket(zero).lower
    if least > most:
        raise InvalidParameter(
            f"what is attained must lose no more than the bound; got an advantage of {least:.6g} "
            f"for attained={attained}, and {most:.6g} for the bound {bound}. Write a curve of what "
            "some attack is known to reach"
        )
    return _each(between, bound, attained)


def symmetric_hull(f: TradeOff) -> TradeOff:
    """Return the convex hull of min(f, f^-1): f is proved in one direction, and it may be either.

    Not to be confused with `f.symmetrize()`, the larger of the two.

    Source: Dong, Roth and Su (2022), section 4.2, for subsampling.

    >>> from neyman.curves import gdp
    >>> f = symmetric_hull(TradeOff(gdp(1).remove, gdp(1).remove))
    >>> f == gdp(1)
    True
    """
    both = joined(WorstPair, (f.remove, f.add, f.remove.swap(), f.add.swap()))
    return TradeOff(both, both)


def mixture(weights: Sequence[Real], curves: Sequence[TradeOff]) -> TradeOff:
    """Return the guarantee if one of the curves is drawn, with these weights, and seen.

    delta(epsilon) = Σ w_i delta_i(epsilon); f(alpha) = inf {Σ w_i f_i(a_i): Σ w_i a_i = alpha},
    where all f_i have one slope. Unseen it loses no more.

    Args:
        weights: positive, with the sum 1, as floats to within 1e-12. The missing weight goes
            to the smallest Gaussian that loses no less than any of the curves, or else to the worst
            of all.
        curves: one for each.

    Raises:
        InvalidParameter: if the weights are not so.
        RelationMismatch: if the curves are proved for different neighbouring relations.

    Source: Wang, Su, Ye and Shi (2023), "Unified enhancement of privacy bounds for mixture
        mechanisms via f-differential privacy".
    """
    given = tuple(exact(weight, "a weight") for weight in weights)
    whole = shares(given)
    if len(given) != len(curves) or whole is None or min(given) <= 0:
        raise InvalidParameter(
            f"weights must be {len(curves)} positive numbers with the sum 1; got "
            f"{[text(w) for w in given]}. Write one for each curve"
        )
    kept, missing = whole
    return TradeOff(
        _mixed(kept, tuple(f.remove for f in curves), missing),
        _mixed(kept, tuple(f.add for f in curves), missing),
    )


def _mixed(kept: tuple[Fraction, ...], parts: tuple[Pair, ...], missing: Fraction) -> Pair:
    """Return the mixture, with the missing weight at the worst of the parts."""
    more = ((missing, _worst(parts)),) if missing else ()
    listed = [(share, part) for share, part in (*zip(kept, parts, strict=True), *more) if share]
    return mixed(*(tuple(column) for column in zip(*listed, strict=True)))


def _worst(parts: tuple[Pair, ...]) -> Pair:
    """Return a pair that loses no less than any, with a known law where one is known."""
    known = [square for square in (part.outer_gaussian() for part in parts) if square is not None]
    if len(known) == len(parts) and max(known) > 0:
        return GaussianPair(max(known))
    return joined(WorstPair, parts)


def _each(build: Callable[[Pair, Pair], Pair], f: TradeOff, g: TradeOff) -> TradeOff:
    return TradeOff(build(curve(f).remove, curve(g).remove), build(f.add, g.add))
