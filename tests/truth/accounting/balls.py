"""Balls: numbers with a radius that holds their rounding."""

from fractions import Fraction
from math import log

from flint import acb, arb, fmpq

BITS = 448
GOOD = 190  # bits wanted of an answer


def num(text):
    """Return the number that a decimal (or a/b) stands for, at the present precision."""
    x = Fraction(text)
    return arb(fmpq(x.numerator, x.denominator))


def bits(x):
    """Return log2 |x|, roughly; very small for 0."""
    x = abs(x).mid() if isinstance(x, acb) else abs(x.mid())
    if x == 0:
        return -1e9
    mantissa, power = x.man_exp()
    return float(power) + int(mantissa).bit_length()


def shown(x, digits=50):
    return x.mid().str(digits, radius=False)


def shared(a, b, most=60):
    """Return how many digits two balls share."""
    gap = bits(abs(a - b) + a.rad() + b.rad()) - bits(a)
    return max(0, min(most, int(-gap * log(2) / log(10))))


def ball(x):
    """Return (x, the digits that its radius leaves)."""
    return x, min(60, int(x.rel_accuracy_bits() * log(2) / log(10)))


def upper(x):
    """P(N(0, 1) > x)."""
    return (x / arb(2).sqrt()).erfc() / 2


def root(f, low, high):
    """Return where f, of two signs on [low, high], is zero: bisection, then secants."""
    low, high = num(low), num(high)
    up = f(high) > 0
    for _ in range(40):
        middle = ((low + high) / 2).mid()
        low, high = (low, middle) if (f(middle) > 0) == up else (middle, high)
    a, b, fa, fb = low, high, f(low), f(high)
    for _ in range(30):
        c = (b - fb * (b - a) / (fb - fa)).mid()
        if bits(c - b) < -GOOD:
            return c
        a, b, fa, fb = b, c, fb, f(c)
    raise ValueError("secants do not end")
