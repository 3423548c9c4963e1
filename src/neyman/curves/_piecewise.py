"""Curves that a user gives: broken lines, points (epsilon, delta), and functions."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from neyman.curves._pair import Pair
from neyman.curves._pairs._discrete import DiscretePair
from neyman.curves._pairs._erased import erased
from neyman.curves._tradeoff import TradeOff
from neyman.curves._validity import check_curve, check_profile
from neyman.errors import InvalidParameter
from neyman.numerics import Interval, Real, exact, exact_size, text
from neyman.numerics._primitives import exp

__all__ = ["approx_dp_points", "of_curve", "of_profile", "piecewise", "piecewise_hull"]

Knot: TypeAlias = tuple[Fraction, Fraction]
_MOST_EPSILON = 700


def piecewise(alpha: Sequence[Real], beta: Sequence[Real]) -> TradeOff:
    """Return the broken line through points of a trade-off function, for all ordered neighbours.

    Args:
        alpha: type I errors, increasing from 0 to 1.
        beta: the least type II error at each; convex, not increasing, at most 1 - alpha.

    Guarantee: exact; the knots are rationals, and the curve is that of two discrete laws.

    Raises:
        InvalidParameter: if this is no trade-off function; the error names the knot.

    >>> f = piecewise([0, 0.2, 1], [1, 0.6, 0])
    >>> f"{f.beta(0.1):.6f} {f.delta(0):.6f}"
    '0.800000 0.200000'
    """
    return _curve(_checked(_knots(alpha, beta)))


def piecewise_hull(alpha: Sequence[Real], beta: Sequence[Real]) -> TradeOff:
    """Return the largest trade-off function below a broken line: never more privacy than the line.

    Parts above 1 - alpha are cut, and parts that are not convex are bridged from below.

    Args:
        alpha: type I errors, increasing from 0 to 1.
        beta: type II errors in [0, 1].

    Raises:
        InvalidParameter: if these are no points from 0 to 1.

    >>> piecewise_hull([0, 0.2, 0.5, 1], [1, 0.9, 0.2, 0]) == piecewise([0, 0.5, 1], [1, 0.2, 0])
    True
    """
    return _curve(_hull(_knots(alpha, beta)))


def approx_dp_points(points: Iterable[tuple[Real, Real]]) -> TradeOff:
    """Return what several (epsilon, delta) points guarantee together: max_i f_i.

    Args:
        points: pairs (epsilon, delta) that all hold of one mechanism; epsilon in [0, 700].

    Guarantee: e^epsilon is rounded up to a double, and all else is exact. Answers are of this
        curve; write `dominated_by` for a mechanism that may lose less.

    Raises:
        InvalidParameter: if there is no point, or one leaves its range.

    Source: Dong, Roth and Su (2022), proposition 2.12.

    >>> f = approx_dp_points([(0.5, 0.1), (1, 0.01)])
    >>> f"{f.delta(0.5):.6f} {f.delta(0.75):.6f} {f.delta(1):.6f}"
    '0.100000 0.060596 0.010000'
    """
    lines: list[Knot] = [(Fraction(0), Fraction(0))]
    for first, second in points:
        epsilon, delta = exact(first, "epsilon"), exact(second, "delta")
        if not (0 <= epsilon <= _MOST_EPSILON and 0 <= delta <= 1):
            raise InvalidParameter(
                f"(epsilon, delta)=({text(epsilon)}, {text(delta)}) leaves [0, {_MOST_EPSILON}] x "
                "[0, 1]; write points in it"
            )
        odds = _exp_up(epsilon)
        lines += [(1 - delta, odds), ((1 - delta) / odds, 1 / odds)]
    if len(lines) == 1:
        raise InvalidParameter(
            "points must be at least one pair; got none. Write for example [(1, 1e-6)]"
        )
    return _curve(_envelope(lines))


def of_profile(
    delta: Callable[[float], Real], *, epsilons: Iterable[Real], relative_error: Real
) -> TradeOff:
    """Return the guarantee of a privacy profile that is known by a function, at some epsilons.

    The lines that the profile supports there make the curve; between them it gives away more than
    the profile says, by second order in the spacing.

    Args:
        delta: the profile.
        epsilons: where it is evaluated, in [0, 700].
        relative_error: by how much more than delta(epsilon) the true profile may be, relatively.

    Guarantee: as good as the function: nothing but its values, and the error stated, are used.
        Answers are of the curve that is returned, which loses more than the profile says.

    Raises:
        InvalidParameter: if a value is out of range, or if by more than the error stated the values
            increase or are not convex in e^epsilon; it names the epsilon.

    >>> from neyman.curves import gdp
    >>> f = of_profile(gdp(1).delta, epsilons=[k / 8 for k in range(60)], relative_error=0)
    >>> 0 <= f.delta(1) - gdp(1).delta(1) < 1e-12, 0 < f.delta(0.9) - gdp(1).delta(0.9) < 5e-4
    (True, True)
    """
    room = 1 + exact_size(relative_error, "relative_error")
    found: list[tuple[Fraction, Fraction]] = []
    for epsilon in epsilons:
        asked = float(exact(epsilon, "epsilon"))
        # The value holds at the given double, which may differ from the fraction.
        found.append((exact(asked, "epsilon"), exact(delta(asked), "delta")))
    check_profile(found, room)
    return approx_dp_points([(at, min(value * room, Fraction(1))) for at, value in found])


def of_curve(beta: Callable[[float], Real], *, alphas: Sequence[Real], error: Real) -> TradeOff:
    """Return the guarantee of a trade-off function that is known by a function, at some alphas.

    Between neighbours a convex curve is above the chords of the cells beside; the hull of these is
    taken, so that the answer is below the function everywhere.

    Args:
        beta: the trade-off function: convex and not increasing.
        alphas: where it is evaluated, increasing from 0 to 1.
        error: by how much the true value may be above or below, absolutely.

    Guarantee: as good as the function: its convexity, its values and the error stated are used.
        Answers are of the curve that is returned, which loses more than the function says.

    Raises:
        InvalidParameter: if the alphas do not go from 0 to 1, the error is negative, or the values
            are by more than the error out of range, above 1 - alpha, increasing or not convex; it
            names the alpha.

    >>> from neyman.curves import gdp
    >>> f = of_curve(gdp(1).beta, alphas=[k / 64 for k in range(65)], error=1e-12)
    >>> bool(gdp(1).beta(0.3) - 2e-4 < f.beta(0.3) <= gdp(1).beta(0.3))
    True
    """
    off = exact_size(error, "error")
    # The values hold at the given doubles.
    places = [exact(float(exact(a, "alpha")), "alpha") for a in alphas]
    values = [exact(beta(float(a)), "beta") for a in places]
    check_curve(list(zip(places, values, strict=True)), off)
    knots = _knots(places, [min(max(v, Fraction(0)), Fraction(1)) for v in values])
    low = [(a, max(b - off, Fraction(0))) for a, b in knots]
    low[-1] = (low[-1][0], Fraction(0))
    high = [(a, b + off) for a, b in knots]
    between = [_crossing(low, high, j) for j in range(len(knots) - 1)]
    return _curve(_cut(_hull(sorted([*low, *between]))))


# -- knots --------------------------------------------------------------------------------------


def _knots(alpha: Sequence[Real], beta: Sequence[Real]) -> list[Knot]:
    xs, ys = [exact(a, "alpha") for a in alpha], [exact(b, "beta") for b in beta]
    if len(xs) != len(ys) or len(xs) < 2:
        raise InvalidParameter(
            f"alpha and beta must have the same length, at least 2; got {len(xs)} and {len(ys)} "
            "numbers. Write for example [0, 0.5, 1] and [1, 0.2, 0]"
        )
    if (xs[0], xs[-1]) != (0, 1):
        raise InvalidParameter(
            f"alpha must go from 0 to 1; got {xs[0]} to {xs[-1]}. Write for example [0, 0.5, 1]"
        )
    for k, (a, b) in enumerate(zip(xs, ys, strict=True)):
        if not 0 <= b <= 1:
            raise _bad(k, (a, b), "beta leaves [0, 1]")
        if k and xs[k - 1] == a:
            raise _bad(k, (a, b), "alpha has two values, and the curve is continuous, at 0 too")
        if k and xs[k - 1] > a:
            raise _bad(k, (a, b), "alpha does not increase")
    return list(zip(xs, ys, strict=True))


def _bad(k: int, knot: Knot, found: str) -> InvalidParameter:
    return InvalidParameter(
        f"knot {k}, ({text(knot[0])}, {text(knot[1])}), is on no trade-off function: {found}; "
        "write one that is convex, not increasing and at most 1 - alpha, or piecewise_hull"
    )


def _checked(knots: list[Knot]) -> list[Knot]:
    for k, (a, b) in enumerate(knots):
        if b > 1 - a:
            raise _bad(k, (a, b), "beta is above 1 - alpha")
        if k and knots[k - 1][1] < b:
            raise _bad(k, (a, b), "beta increases")
    for k in range(1, len(knots) - 1):
        (a, b), (c, d), (e, f) = knots[k - 1 : k + 2]
        if (d - b) * (e - c) > (f - d) * (c - a):
            raise _bad(k, knots[k], "it lies above the line through its neighbours")
    return knots


def _hull(knots: list[Knot]) -> list[Knot]:
    """Return the corners of the largest convex function below, from (0, b) to (1, 0)."""
    kept: list[Knot] = []
    for a, b in [(a, min(b, 1 - a)) for a, b in knots]:
        while len(kept) > 1:
            (c, d), (e, f) = kept[-2:]
            if (f - d) * (a - e) < (b - f) * (e - c):
                break
            kept.pop()
        if kept and kept[-1][0] == a:
            kept[-1] = (a, min(b, kept[-1][1]))
        else:
            kept.append((a, b))
    return kept


def _crossing(low: list[Knot], high: list[Knot], j: int) -> Knot:
    """Return a point below the curve on cell j: where the chords of its neighbours meet."""
    (a, first), (b, second) = low[j], low[j + 1]
    width = b - a
    # The steepest fall that the cell before allows, and the slightest behind.
    down = (high[j - 1][1] - first) / (a - low[j - 1][0]) if j else None
    up = (second - high[j + 2][1]) / (low[j + 2][0] - b) if j + 2 < len(low) else Fraction(0)
    up = max(up, Fraction(0))
    if down is None:
        return a, min(Fraction(1) - a, second + up * width)
    if down <= up:
        return (a + b) / 2, min(first, second) - down * width
    far = min(max((first - second - up * width) / (down - up), Fraction(0)), width)
    return a + far, first - down * far


def _cut(knots: list[Knot]) -> list[Knot]:
    """Return the larger of a convex line and 0."""
    kept: list[Knot] = []
    for c, d in knots:
        if d > 0:
            kept.append((c, d))
            continue
        a, b = kept[-1] if kept else (c, Fraction(0))
        kept.append((a + (c - a) * b / (b - d) if d else c, Fraction(0)))
        break
    return kept if kept[-1][0] == 1 else [*kept, (Fraction(1), Fraction(0))]


def _envelope(lines: list[Knot]) -> list[Knot]:
    """Return the corners on [0, 1] of the largest of lines c - s a."""
    kept: list[Knot] = []
    for c, s in sorted(lines, key=lambda line: (-line[1], line[0])):
        if kept and kept[-1][1] == s:
            kept.pop()
        while kept and _meets(kept[-1], (c, s)) <= (
            _meets(kept[-2], kept[-1]) if len(kept) > 1 else 0
        ):
            kept.pop()
        kept.append((c, s))
    corners = [(_meets(first, second), first) for first, second in pairwise(kept)]
    inside = [(x, c - s * x) for x, (c, s) in corners if 0 < x < 1]
    return [(Fraction(0), kept[0][0]), *inside, (Fraction(1), max(c - s for c, s in lines))]


def _meets(steep: Knot, flat: Knot) -> Fraction:
    return (steep[0] - flat[0]) / (steep[1] - flat[1])


def _exp_up(epsilon: Fraction) -> Fraction:
    if epsilon == 0:
        return Fraction(1)
    return Fraction(float(exp(Interval.of(epsilon)).upper))


def _curve(knots: list[Knot]) -> TradeOff:
    """Return the curve of the laws whose likelihood ratios are the slopes."""
    knots = [
        knot
        for k, knot in enumerate(knots)
        if k in (0, len(knots) - 1) or not _straight(knots[k - 1], knot, knots[k + 1])
    ]
    p, q = [Fraction(0)], [1 - knots[0][1]]
    for (a, b), (c, d) in pairwise(knots):
        p.append(c - a)
        q.append(b - d)
    # What betrays the dataset either way is a failure by itself, and composes so.
    lost = min(q[0], sum((a for a, b in zip(p, q, strict=True) if not b), Fraction(0)))
    if not 0 < lost < 1:
        pair: Pair = DiscretePair(tuple(p), tuple(q))
        return TradeOff(pair, pair)
    only_p = [k for k, b in enumerate(q) if not b and p[k]]
    q[0] -= lost
    p[only_p[0]] -= lost
    core = DiscretePair(tuple(a / (1 - lost) for a in p), tuple(b / (1 - lost) for b in q))
    pair = erased(core, ((lost, 1),))
    return TradeOff(pair, pair)


def _straight(first: Knot, middle: Knot, last: Knot) -> bool:
    return (middle[1] - first[1]) * (last[0] - middle[0]) == (last[1] - middle[1]) * (
        middle[0] - first[0]
    )
