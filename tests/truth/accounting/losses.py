"""One step: E_P e^{sL}, L = log(dQ/dP), at complex s."""

from fractions import Fraction
from math import ceil, log, log2, sqrt

import numpy as np
from accounting.balls import BITS, bits, num, upper
from flint import acb, acb_mat, arb, ctx


class Mixtures:
    """P and Q mixtures of N(j, sigma^2), as {j: chance}; E by the trapezoidal rule in z."""

    def __init__(self, sigma, p, q, fineness=1.0):
        self.sigma, self.p, self.q = sigma, p, q
        s = float(Fraction(sigma))
        self.wide = s
        self.far = max(abs(j) for j in [*p, *q])
        # Zeros of the mixtures lie at |Im z| = pi sigma (nearer where both signs of j occur).
        self.step = min(0.5, 1.1 * s) / fineness
        self.tables = {}
        self.hint = (0, 320)

    def logs(self, z, chances):
        rows = [
            log(float(Fraction(c))) + j * z / self.wide - j * j / (2 * self.wide**2)
            for j, c in chances.items()
        ]
        return np.logaddexp.reduce(rows, axis=0)

    def node(self, k, h):
        z = k * h
        a, b = (
            sum(num(c) * (j * z / self.sig - self.half * (j * j)).exp() for j, c in chances.items())
            for chances in (self.p, self.q)
        )
        return (-z * z / 2).exp() * self.scale * a, (b / a).log()

    def sums(self, s, level, prec, reach):
        """Return the trapezoidal sum with twice the step, and the one shifted, and the largest."""
        ctx.prec = prec
        x = float(s.real) if isinstance(s, acb) else float(s)
        h = self.step / 2**level
        table = self.tables.setdefault((level, prec), {})
        side = sqrt(2 * log(2) * reach) + 4
        low = -side - self.far * max(0, -x, 1 - x) / self.wide
        high = side + self.far * max(0, x, 1 - x) / self.wide
        index = np.arange(ceil(low / h), int(high / h) + 1)
        z = index * h
        la, lb = self.logs(z, self.p), self.logs(z, self.q)
        height = (-z * z / 2 + la + x * (lb - la)) / log(2)
        top = height.max()
        exact_h = arb(self.step) / 2**level
        self.sig, self.half = num(self.sigma), 1 / (2 * num(self.sigma) ** 2)
        self.scale = 2 * exact_h / (2 * arb.pi()).sqrt()
        totals = [s * 0, s * 0]
        self.window = [int(k) for k in index[height > top - reach]]
        for k in self.window:
            if k not in table:
                table[k] = self.node(k, exact_h)
            w, loss = table[k]
            totals[k & 1] += (s * loss).exp() * w
        return *totals, top + log2(h) - 1.3

    def moment(self, s, need, careful=False):
        """Return E_P e^{sL} to `need` bits relatively."""
        level, prec = self.hint
        if careful:  # a coarser step could take the oscillation for another
            fast = 2 * abs(float(s.imag)) * self.far / self.wide
            level = max(level, ceil(log2(max(1, fast * self.step / np.pi))))
        while True:
            even, odd, top = self.sums(s, level, prec, prec - 20)
            full, lack = (even + odd) / 2, bits(even - odd)
            size = bits(full)
            wanted = need + max(0, top - size) + 60
            if wanted > prec:
                prec = 64 * ceil(wanted * 1.05 / 64)
                continue
            # Halving the step squares the error.
            if lack - size > -need / 2 - 10:
                level += 1
                continue
            self.used = (level, prec)
            level -= lack - size < -need - 40 and level > 0
            self.hint = (level, max(320, prec - 64))
            ctx.prec = BITS
            return full

    def line(self, c, h, state):
        """Yield E_P e^{sL} at s = c + i h j, j = 0, 1, ..., to state["need"] bits."""
        j, made, side = 0, None, 24
        while True:
            self.moment(acb(c, h * (j + side**2)), state["need"])
            ctx.prec = self.used[1]
            if self.used != made:
                made = self.used
                self.sums(c, *made, made[1] - 20)
                nodes = [self.tables[made][k] for k in self.window]
                turn = [acb(0, h * loss).exp() for _, loss in nodes]
                rows = [[acb(1)] * len(nodes)]
                for _ in range(side):
                    rows.append([a * b for a, b in zip(rows[-1], turn, strict=True)])
                leap = rows.pop()
                rows = acb_mat(rows)
                here = [acb(c * x, h * j * x).exp() * w / 2 for w, x in nodes]
            columns = []
            for _ in range(side):
                columns.append(here)
                here = [a * b for a, b in zip(here, leap, strict=True)]
            block = acb_mat(columns) * rows.transpose()
            ctx.prec = BITS
            yield from block.entries()
            j += side**2


class Closed:
    """A formula of s."""

    def __init__(self, formula):
        self.formula = formula

    def moment(self, s, *_):
        return self.formula(s)

    def line(self, c, h, _):
        j = 0
        while True:
            yield self.formula(acb(c, h * j))
            j += 1


def dpsgd(sigma, q, fineness=1.0):
    rest = str(Fraction(1) - Fraction(q))
    return Mixtures(sigma, {0: "1"}, {0: rest, 1: q}, fineness)


def group(sigma, q, k, fineness=1.0):
    p, chances, c = Fraction(q), {}, 1
    for j in range(k + 1):
        chances[j] = str(c * p**j * (1 - p) ** (k - j))
        c = c * (k - j) // (j + 1)
    return Mixtures(sigma, {0: "1"}, chances, fineness)


def poisson_replace(sigma, q, fineness=1.0):
    rest = str(Fraction(1) - Fraction(q))
    return Mixtures(sigma, {0: rest, -1: q}, {0: rest, 1: q}, fineness)


def gaussian(mu):
    return Closed(lambda s: (num(mu) ** 2 * s * (s - 1) / 2).exp())


def laplace(e0):
    def formula(s):
        e, w = num(e0), s - arb(1) / 2
        grow = (w * e).exp()
        return (-e / 2).exp() * (grow + 1 / grow + (grow - 1 / grow) / (2 * w)) / 2

    return Closed(formula)


def response(e0):
    def formula(s):
        e = num(e0)
        return ((s * e).exp() + ((1 - s) * e).exp()) / (1 + e.exp())

    return Closed(formula)


def legendre(low, high, pieces, n):
    nodes = [arb.legendre_p_root(n, k, weight=True) for k in range(n)]
    width = (high - low) / pieces
    for i in range(pieces):
        for x, w in nodes:
            yield low + width * (i + (1 + x) / 2), w * width / 2


def subsampled_laplace(e0, q, fineness=1.0):
    ctx.prec = BITS
    e, p = num(e0), num(q)
    table = [(((-e).exp() * p + 1 - p).log(), arb(1) / 2)]
    table.append(((e.exp() * p + 1 - p).log(), (-e).exp() / 2))
    for x, w in legendre(-e, e, 4, int(60 * fineness)):
        table.append((((x.exp() - 1) * p + 1).log(), w * (-(x + e) / 2).exp() / 4))
    return Closed(lambda s: sum((s * x).exp() * w for x, w in table))


def symmetrised(sigma, q, fineness=1.0):
    """C_q(G_mu): beyond x = mu/2 the remove loss, an atom at 0, and the mirror image."""
    ctx.prec = BITS
    mu, p = 1 / num(sigma), num(q)
    table = []
    for x, w in legendre(mu / 2, mu / 2 + 40, 40, int(50 * fineness)):
        loss = (1 + p * ((mu * x - mu**2 / 2).exp() - 1)).log()
        table.append((loss, w * (-x * x / 2).exp() / (2 * arb.pi()).sqrt()))
    atom = (1 - p) * (1 - 2 * upper(mu / 2))
    return Closed(lambda s: atom + sum(((s * x).exp() + ((1 - s) * x).exp()) * w for x, w in table))
