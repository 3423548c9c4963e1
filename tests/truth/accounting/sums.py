"""Losses that are summed: closed tails, residues, polynomials, shuffled reports."""

from math import ceil, sqrt

import numpy as np
from accounting.balls import GOOD, ball, bits, num, root, shared, upper
from accounting.contour import Lattice
from accounting.losses import response
from flint import acb, arb, arb_poly, ctx, fmpz


class Few:
    """Poisson-sampled Gaussian once or twice; remove: Q = (1-q) N(0) + q N(1), P = N(0)."""

    def __init__(self, sigma, q, step):
        self.s, self.q, self.step = num(sigma), num(q), arb(step)

    def tails(self, t):
        """P(L > t), Q(L > t), in the remove direction."""
        inside = t.exp() - 1 + self.q
        if not inside > 0:
            return arb(1), arb(1)
        x = (inside / self.q).log() * self.s + 1 / (2 * self.s)
        p = upper(x)
        return p, (1 - self.q) * p + self.q * upper(x - 1 / self.s)

    def once(self, e):
        p, q = self.tails(e)
        return q - e.exp() * p

    def twice(self, e):
        """E_Q of the first loss of delta_1(e - L); L = log(1-q) + room / (1 + e^-v)."""
        floor = (1 - self.q).log()
        room, total, v = e - 2 * floor, arb(0), arb(0)
        p, q = self.tails(room + floor)
        limit = arb(2) ** -500
        for sign in (1, -1):
            v = arb(0) if sign == 1 else -self.step
            small = 0
            while small < 10:
                share = 1 / (1 + (-v).exp())
                m, loss = room * share, floor + room * share
                rise = (1 - self.q) * m.expm1()
                z = (rise / self.q).log() * self.s + 1 / (2 * self.s)
                density = (-z * z / 2).exp() / (2 * arb.pi()).sqrt() * loss.exp()
                slope = self.s * loss.exp() / rise * room * share * (1 - share)
                part = density * slope * self.once(e - loss)
                total += part * self.step
                small = small + 1 if abs(part) < abs(total) * limit else 0
                v += sign * self.step
        return total + q - e.exp() * p


def few(sigma, q, times, direction, quantity, at):
    """Return (value, digits) of one or two steps; add by delta(e) = 1 - e^e + e^e remove(-e)."""
    ctx.prec = 900
    answers = []
    for step in ("1/24", "1/29"):
        pair, e = Few(sigma, q, num(step)), num(at)
        if quantity != "delta":
            p, tail = pair.tails(e if direction == "remove" else -e)
            value = {
                ("p_above", "remove"): p,
                ("q_below", "remove"): 1 - tail,
                ("p_above", "add"): 1 - tail,
                ("q_below", "add"): p,
            }[quantity, direction]
        else:
            form = pair.once if times == 1 else pair.twice
            value = form(e) if direction == "remove" else 1 - e.exp() + e.exp() * form(-e)
        answers.append(value)
    return answers[0], shared(*answers)


def gaussian_delta(mu, e):
    return upper(e / mu - mu / 2) - e.exp() * upper(e / mu + mu / 2)


def gaussian_epsilon(mu, delta):
    goal = num(delta).log()
    e = root(lambda e: gaussian_delta(mu, e).log() - goal, "0.001", "400")
    # One Newton step from an exact point gives a ball.
    slope = -e.exp() * upper(e / mu + mu / 2)
    return ball(e - (gaussian_delta(mu, e) - num(delta)) / slope)


def laplace_delta(e0, n, at):
    return ball(laplace_profile(e0, n, num(at)))


def laplace_epsilon(e0, n, at):
    """Secants on log delta, first roughly, from the Gaussian of the same variance."""
    goal = num(at).log()
    c, apart = gaussian_epsilon(num(e0) * arb(n).sqrt(), at)[0].mid(), arb(1) / 64
    for good in (50, GOOD):
        a, b = c, (c * (1 + apart)).mid()
        fa, fb = ((laplace_profile(e0, n, x, good) / num(at)).log() for x in (a, b))
        while True:
            c = (b - fb * (b - a) / (fb - fa)).mid()
            if bits(c - b) < 5 - good:
                break
            a, b, fa, fb = b, c, fb, laplace_profile(e0, n, c, good).log() - goal
        apart = arb(1) / 2**44
    return c, 50


def laplace_profile(e0, n, e, good=GOOD):
    """n Laplace losses: a sum over k of (1 + 1/2w)^k (1 - 1/2w)^(n-k) e^{wa}, by residues at 0.

    With w = s - 1/2, E_P e^{sL} = e^{-e0/2} ((1 + 1/2w) e^{w e0} + (1 - 1/2w) e^{-w e0}) / 2.
    A term counts where a = e0 (2k - n) - e > 0: else its contour closes to the right.
    """
    e0, total, half, top = num(e0), arb(0), arb(1) / 2, -1e9
    outer = (e * half - e0 * half * n).exp() / arb(2) ** n
    for k in range(max(0, ceil((n + float(e / e0)) / 2 - 1e-9)), n + 1):
        a = e0 * (2 * k - n) - e
        if not a > 0:
            continue
        value = residue(n, k, a, good)
        if k == n:
            value += arb(2) ** n * (a * half).exp()
        term = value * fmpz.bin_uiui(n, k) * outer
        total += term
        top = max(top, bits(term))
        if bits(term) < top - good - 20:
            break
    return total


def residue(n, k, a, good):
    """The coefficient of w^(n-1) in (w + 1/2)^(k-1) (w - 1/2)^(n-k-1) e^{wa}, by a circle.

    Its radius makes the largest value on it small.
    """
    radii = np.array([0.4]) if k == n else 0.05 * 1.07 ** np.arange(140)
    w = radii[:, None] * np.exp(1j * np.pi * (np.arange(24) + 0.5) / 24)
    height = (k - 1) * np.log(abs(1 + 0.5 / w)) + (n - k - 1) * np.log(abs(1 - 0.5 / w))
    height += float(a) * w.real - np.log(abs(w))
    r, half = arb(radii[height.max(axis=1).argmin()]), arb(1) / 2
    count, last = 64, None
    while True:
        total = arb(0)
        for j in range(count // 2):
            w = r * acb(0, 2 * arb.pi() * (j + half) / count).exp()
            ratio = (1 + half / w) ** (k - 1) * (1 - half / w) ** (n - k - 1)
            total += (ratio * (a * w).exp() / w).real * 2
        total /= count
        if last is not None and bits(total - last) - bits(total) < -good:
            return total
        last, count = total, 2 * count


class Finite:
    """n losses offset / n + step k, k = 0, 1, ... with the given masses under P."""

    def __init__(self, masses, n, offset, step):
        power = (arb_poly(masses) ** n).coeffs()
        self.p = power
        self.loss = [offset + step * k for k in range(len(power))]
        self.q = [p * loss.exp() for p, loss in zip(power, self.loss, strict=True)]

    def tails(self, e):
        """Q(L > e), P(L > e)."""
        rows = [
            (q, p) for q, p, loss in zip(self.q, self.p, self.loss, strict=True) if loss.mid() > e
        ]
        return [sum((row[i] for row in rows), arb(0)) for i in (0, 1)]

    def delta(self, at):
        q, p = self.tails(num(at))
        return ball(q - num(at).exp() * p)

    def epsilon(self, delta):
        """Newton on convex pieces, from below."""
        e, before = arb(0), None
        while True:
            q, p = self.tails(e.mid())
            new = ((q - num(delta)) / p).log()
            if before is not None and bits(new - e) < -GOOD:
                return ball(new)
            e, before = new, e


def discrete_gaussian(sigma, n):
    """Mass ~ exp(-k^2 / 2 sigma^2); Q is P shifted by 1; L = (2k - 1) / 2 sigma^2."""
    v = num(sigma) ** 2
    far = int(30 * sqrt(float(v)))
    mass = [(-arb(k * k) / (2 * v)).exp() for k in range(-far, far + 1)]
    whole = sum(mass)
    return Finite([m / whole for m in mass], n, -n * (2 * far + 1) / (2 * v), 1 / v)


def discrete_laplace(a, shift, n):
    """Mass ~ exp(-a |k|); L = a (|k| - |k - shift|)."""
    a = num(a)
    r = (-a).exp()
    top = (1 - r) / (1 + r)
    masses = [top / (1 - r), *(top * r**k for k in range(1, shift)), top * r**shift / (1 - r)]
    return Finite(masses, n, -a * shift * n, 2 * a)


def responses(e0, n):
    """n randomized responses: few are counted, many inverted."""
    e = num(e0)
    if n > 20000:
        return Lattice(response(e0).formula, n, -n * e, 2 * e)
    p = 1 / (1 + e.exp())
    return Finite([1 - p, p], n, -n * e, 2 * e)


def kov(e0, d0, n, quantity, at):
    """n times (e0, d0): delta = 1 - (1 - d0)^n (1 - delta of n pure responses)."""
    kept = (1 - num(d0)) ** n
    pure = responses(e0, n)
    if quantity == "delta":
        value, digits = pure.delta(at)
        return 1 - kept * (1 - value), digits
    e, before = arb(0), None
    while True:
        q, p = pure.tails(e.mid())
        new = ((q - 1 + (1 - num(at)) / kept) / p).log()
        if before is not None and bits(new - e) < -GOOD:
            return ball(new)
        e, before = new, e


def clones(n, e0, delta):
    """The epsilon of C ~ Bin(n-1, e^-e0), A ~ Bin(C, 1/2), and one true report."""
    p, keep = (-num(e0)).exp(), 1 / (1 + (-num(e0)).exp())
    mean, spread = float(p) * (n - 1), sqrt(float(p) * (n - 1))
    span = range(max(0, int(mean - 24 * spread)), min(n - 1, int(mean + 30 * spread)) + 1)
    e, before = arb(1) / 100, None
    while True:
        cut = (e.exp() * keep - (1 - keep)) / ((2 * keep - 1) * (1 + e.exp()))
        first = [int((cut * (c + 1)).mid().floor().unique_fmpz()) + 1 for c in span]
        if first == before:
            return ball(e)
        before, sums = first, [arb(0), arb(0)]
        for c, j in zip(span, first, strict=True):
            if j > c + 1:
                continue
            weight = arb(fmpz.bin_uiui(n - 1, c)) * p**c * (1 - p) ** (n - 1 - c) / arb(2) ** c
            inner = sum(binomials(c, j))
            outer = inner + (fmpz.bin_uiui(c, j - 1) if j else 0)
            sums[0] += weight * (keep * outer + (1 - keep) * inner)
            sums[1] += weight * ((1 - keep) * outer + keep * inner)
        e = ((sums[0] - num(delta)) / sums[1]).log()


def binomials(c, j):
    """C(c, j), C(c, j+1), ..."""
    term = fmpz.bin_uiui(c, j)
    while j <= c:
        yield term
        term = term * (c - j) // (j + 1)
        j += 1
