"""The inversion of a cumulant, on a line through the saddle point."""

from math import log2, sqrt

from accounting.balls import GOOD, bits, num, shared
from accounting.losses import Closed
from flint import acb, arb

# value(s, e), the interval of c, and the exponent's shift.
KERNELS = {
    "delta": (lambda s: 1 / (s * (s - 1)), 1, 1, None),
    "q_above": (lambda s: 1 / (s - 1), 1, 1, None),
    "p_above": (lambda s: 1 / s, 0, 0, None),
    "one_minus_delta": (lambda s: 1 / (s * (1 - s)), 1, 0, 1),
    "q_below": (lambda s: 1 / (1 - s), 1, None, 1),
    "p_below": (lambda s: -1 / s, 0, None, 0),
}


class Sum:
    """Steps [(leaf, times)] in one direction."""

    def __init__(self, steps, direction):
        self.steps, self.add = steps, direction == "add"
        self.extra = max(log2(float(t)) for _, t in steps) + 20

    def cumulant(self, s, need=GOOD, careful=False):
        if self.add:
            s = 1 - s
        return sum(leaf.moment(s, need + self.extra, careful).log() * t for leaf, t in self.steps)

    def line(self, c, h, state):
        c, h = (1 - c, -h) if self.add else (c, h)
        moments = [leaf.line(c, h, state) for leaf, _ in self.steps]
        while True:
            yield sum(next(m).log() * t for m, (_, t) in zip(moments, self.steps, strict=True))


def derivatives(f, c):
    """Return f, f', f'' at a real c, by differences with 2^-60."""
    d = arb(1) / 2**60
    low, mid, high = f(c - d), f(c), f(c + d)
    return mid, (high - low) / (2 * d), (high - 2 * mid + low) / d**2


def saddle(f, low, high, slope):
    """Return where the increasing function `slope`(f's derivatives) is zero, in (low, high)."""

    def place(t):  # t real onto the interval
        if low is None:
            return high - 2.0**t
        if high is None:
            return low + 2.0**t
        return low + (high - low) / (1 + 2.0**-t)

    sign = -1 if low is None else 1
    t, step = 0.0, 2.0

    def value(t):
        return sign * float(slope(derivatives(f, arb(place(t))), place(t)))

    above = value(t) > 0
    while (value(t) > 0) == above:
        t += -step if above else step
        if abs(t) > 60:
            raise ValueError("no saddle point")
    a, b = (t, t + step) if above else (t - step, t)
    while b - a > 0.02:
        m = (a + b) / 2
        a, b = (a, m) if value(m) > 0 else (m, b)
    return place((a + b) / 2)


FEWER = 84  # bits wanted on a hyperbola, which is costly


def trapezoid(total, c, h, value, accuracy=GOOD):
    """Return [(s, w)] whose sum of Im w is the integral of value(s, cumulant) / (2 pi i).

    The step is halved until the even and the odd half of the nodes agree to accuracy / 2 bits;
    the whole is then right to about accuracy.
    """
    c = arb(c)
    while True:
        state, found, small, top = {"need": accuracy + total.extra + 20}, [], 0, None
        for j, k in enumerate(total.line(c, h, state)):
            s = acb(c, h * j)
            y = value(s, k)
            top = bits(y) if top is None else top
            low = bits(y) - top
            state["need"] = max(60, accuracy + total.extra + 20 + min(0, low))
            small = small + 1 if low < -accuracy - 15 else 0
            found.append((s, y * acb(0, h / arb.pi() / (1 if j else 2))))
            if small > 20 + j / 20:
                break
            if j > 400000:
                raise ValueError("the contour does not end")
        even, odd = (sum(w.imag for _, w in found[i::2]) for i in (0, 1))
        if bits(even - odd) - bits(even + odd) < -accuracy / 2:
            return found
        h = h / 2


def bent(total, c, size, h, value, accuracy=FEWER):
    """The same on a hyperbola, c + 0.35 size (cosh v - 1) + i size sinh v, where e^{-st} decays.

    It is for few effective steps, where the cumulant hardly decays on the line.
    """
    side, c, size, tops = -1 if total.add else 1, arb(c), arb(size), []

    def half(first, h):
        found, small, need = [], 0, accuracy + 20
        while small < 6:
            e = (h * (len(found) + first)).exp()
            x, y = 0.35 * side * size * (e + 1 / e - 2) / 2, size * (e - 1 / e) / 2
            s = acb((c + x).mid(), y.mid())  # exact: at high precision its radius would count
            slope = acb(0.35 * side * y, size * (e + 1 / e) / 2)
            part = value(s, total.cumulant(s, max(60, need), True)) * slope
            tops.append(bits(part))
            need = accuracy + 20 + min(0, tops[-1] - tops[0])
            small = small + 1 if tops[-1] - tops[0] < -accuracy - 10 else 0
            found.append((s, part * h / arb.pi() / (1 if found or first else 2)))
        return found

    grid, h = half(0, h), arb(h)
    while True:
        shifted = half(arb(1) / 2, h)
        even, odd = (sum(w.imag for _, w in part) for part in (grid, shifted))
        grid, h = [(s, w / 2) for s, w in grid + shifted], h / 2
        if bits(even - odd) - bits(even + odd) < -accuracy / 2:
            return grid


def invert(make, direction, quantity, at):
    """Return (value, digits): the quantity, or the epsilon at delta `at`, twice evaluated."""
    solve = quantity == "epsilon"
    kernel, shift, low, high = KERNELS["delta" if solve else quantity]
    total = Sum(make(1.0), direction)
    c, e, width = locate(total.cumulant, kernel, shift, low, high, at, solve)

    def value(s, k):
        return (k - (s - shift) * e).exp() * kernel(s)

    away = total.cumulant(acb(c, 1000 * width), 60)
    decays = float((total.cumulant(acb(c)) - away).real) > 130

    def answer(total, move, step):
        here = c + move * width
        if decays:
            grid = trapezoid(total, here, arb(step * width), value)
        else:
            size = max(3 * width, 0.3 * min(abs(c), abs(c - 1))) * (1 + move)
            grid = bent(total, here, size, arb(step * width / size), value)
        return newton(grid, e, num(at)) if solve else sum(w.imag for _, w in grid)

    first = answer(total, 0.0, 0.25)
    return first, shared(first, answer(Sum(make(1.13), direction), 0.2, 0.215))


def locate(real, kernel, shift, low, high, at, solve):
    """Return the saddle c, the threshold, and the width in Im s."""

    def whole(c):
        return real(c) + abs(kernel(c)).log()

    if not solve:
        e = num(at)
        c = saddle(whole, low, high, lambda d, _: d[1] - e)
        return c, e, 1 / sqrt(abs(float(derivatives(whole, arb(c))[2])))
    goal = num(at).log()

    def miss(d, c):
        # log delta at the threshold whose saddle is c, to first order.
        return goal - (d[0] - (c - shift) * d[1] - (2 * arb.pi() * abs(d[2])).log() / 2)

    c = saddle(whole, low, high, miss)
    d = derivatives(whole, arb(c))
    return c, d[1].mid(), 1 / sqrt(abs(float(d[2])))


def newton(grid, e, delta):
    """Return the epsilon where the grid's delta is `delta`; its slope is -e^eps P(L > eps)."""
    x = e
    for _ in range(40):
        moved = [(s, w * (-(s - 1) * (x - e)).exp()) for s, w in grid]
        value = sum(w.imag for _, w in moved)
        slope = sum(((1 - s) * w).imag for s, w in moved)
        step = (value / delta).log() * value / slope
        if bits(step) < -GOOD - 10:
            return x - step
        x = (x - step).mid()
    raise ValueError("Newton does not end")


class Lattice:
    """n losses on offset + step * integers, of one cumulant; tails by one period of Im s."""

    def __init__(self, formula, n, offset, step):
        self.sum, self.offset, self.step = Sum([(Closed(formula), n)], "remove"), offset, step

    def after(self, e):
        """The smallest loss of the lattice above e (or e itself, which counts for nothing)."""
        place = ((e - self.offset) / self.step).mid().floor().unique_fmpz()
        return self.offset + self.step * (place + 1)

    def tail(self, pole, first, variant):
        """Q(L >= first) for the pole at 1, P(L >= first) for that at 0; c is to its right."""

        def kernel(s):
            return self.step / (1 - (-(s - pole) * self.step).exp())

        def whole(c):
            return self.sum.cumulant(c) + kernel(c).log() - (c - pole) * first

        def value(s, k):
            return (k - (s - pole) * first).exp() * kernel(s)

        c = saddle(whole, pole, None, lambda d, _: d[1])
        width = 1 / sqrt(abs(float(derivatives(whole, arb(c))[2])))
        move, step = ((0.0, 0.25), (0.2, 0.215))[variant]
        grid = trapezoid(self.sum, c + move * width, arb(step * width), value)
        return sum(w.imag for _, w in grid)

    def delta(self, at):
        e = num(at)
        found = []
        for variant in (0, 1):
            q, p = (self.tail(pole, self.after(e), variant) for pole in (1, 0))
            found.append(q - e.exp() * p)
        return found[0], shared(*found)
