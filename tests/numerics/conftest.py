"""Cumulants and tails of mixtures of normals in balls, not by the formulas of the code."""

import math
from dataclasses import dataclass

import mpmath as mp
import numpy as np
import pytest
from flint import acb, arb, ctx

from frozen import frozen
from neyman.numerics import DELTA, P_ABOVE, Q_ABOVE, GaussianMixtureLaw, Shifts

BITS = 256


@dataclass(frozen=True)
class Steps:
    """One step's loss under P on a fine grid: weights and losses as balls."""

    weight: list
    loss: list
    double_loss: np.ndarray
    double_log_weight: np.ndarray

    def moment(self, s):
        """E_P e^{sL}."""
        ctx.prec = BITS
        s = acb(s.real, s.imag)
        return sum((w * (s * x).exp() for w, x in zip(self.weight, self.loss, strict=True)), acb(0))

    def cumulant(self, c):
        """K(c), K'(c), K''(c) in doubles."""
        log = self.double_log_weight + c * self.double_loss
        share = np.exp(log - log.max())
        mean = share @ self.double_loss / share.sum()
        spread = share @ (self.double_loss - mean) ** 2 / share.sum()
        return log.max() + math.log(share.sum()), mean, spread


def steps(law, low, high, height, *, reverse=False):
    """Lay a trapezoidal grid that is exact to 1e-40 for low <= Re s <= high, |Im s| <= height."""
    ctx.prec = BITS
    turn = law.p.far + law.q.far
    if reverse:
        low, high = 1 - high, 1 - low
    most = max(abs(low), abs(high), abs(1 - low), abs(1 - high))
    depth = min(math.pi / 4 / turn, 6.0)
    h = 2 * math.pi * depth / (110 + depth**2 + height * math.pi / 4 + 0.4 * most)
    h = 2.0 ** math.floor(math.log2(h))
    z = np.arange(math.floor((-22 - most * turn) / h), math.ceil((22 + most * turn) / h) + 1) * h

    def log_ratio(shifts):
        rows = [
            math.log(w) + t * z - t * t / 2
            for t, w in zip(shifts.means, shifts.weights, strict=True)
        ]
        return np.logaddexp.reduce(rows, axis=0)

    log_a, log_b = log_ratio(law.p), log_ratio(law.q)
    log = [-z * z / 2 + (1 - c) * log_a + c * log_b for c in (low, high, 0.0, 1.0)]
    kept = np.any([row > row.max() - 115 for row in log], axis=0)
    weight, loss = [], []
    unit = arb(h) / (2 * arb.pi()).sqrt()
    for x in z[kept].tolist():
        a, b = (ratio(shifts, arb(x)) for shifts in (law.p, law.q))
        weight.append((-arb(x) * x / 2).exp() * unit * (b if reverse else a))
        loss.append((a / b).log() if reverse else (b / a).log())
    loss_double, back = (log_b - log_a)[kept], -1 if reverse else 1
    log_weight = (-z * z / 2 + (log_b if reverse else log_a))[kept] + math.log(h) - 0.91893853320467
    return Steps(weight, loss, back * loss_double, log_weight)


def ratio(shifts, x):
    """Σ w_j e^(t_j x - t_j²/2); the weight of a mean at 0 is what the others leave."""
    total, rest = arb(0), arb(1)
    for t, w in zip(shifts.means, shifts.weights, strict=True):
        if t:
            total += arb(w) * (arb(t) * x - arb(t) * t / 2).exp()
            rest -= arb(w)
    return total + rest if 0.0 in shifts.means else total


def tails(law, count, functional, position, *, reverse=False):
    """Return a threshold at a saddle and log F there, to about 20 digits, for F of `count` steps;
    None where the characteristic function falls too slowly for that.

    `position` is how far from the pole the saddle lies, in units of its spread at the pole.
    """
    rough = steps(law, -1.0, 3.0, 1.0, reverse=reverse)
    shift = functional.shift
    scale = 1 / math.sqrt(count * rough.cumulant(shift + 0.5)[2])
    c = shift + min(position * scale, 20 / (law.p.far + law.q.far), 60.0)
    near = steps(law, c, c, 1.0, reverse=reverse)
    value, mean, square = near.cumulant(c)
    t = count * mean - 1 / (c - shift) - (1 / c if functional.double else 0.0)
    spread = math.sqrt(count * square + 1 / (c - shift) ** 2)
    period = max(24 * spread, 70 / (c - shift))
    h = math.pi / period
    height = 0.0
    if 9 * (law.p.far + law.q.far) > 8 * math.sqrt(count * square):
        return None
    for _ in range(2):
        height = max(3 * height, 9 / math.sqrt(count * square))
        grid = steps(law, c, c, height, reverse=reverse)
        modulus = float(abs(grid.moment(complex(c, height))).log().mid())
        if count * (modulus - value) < -60:
            break
    else:
        return None
    ctx.prec = BITS
    s, unit = acb(c), acb(0, h)
    turns = [(unit * x).exp() for x in grid.loss]
    waves = [acb(w) * (s * x).exp() for w, x in zip(grid.weight, grid.loss, strict=True)]
    sums, j, small, largest = [acb(0), acb(0)], 0, 0, arb(0)
    while small < 4:
        at = s + j * unit
        total = sum(waves, acb(0))
        term = total**count * (-(at - shift) * arb(t)).exp() / (at - shift)
        term = term / at if functional.double else term
        sums[j & 1] += term / (1 if j else 2)
        largest = largest.max(abs(term))
        small = small + 1 if bool(abs(term) < largest * arb(1e-24)) else 0
        waves = [w * turn for w, turn in zip(waves, turns, strict=True)]
        j += 1
    full = (sums[0] + sums[1]).real * h / arb.pi()
    coarse = sums[0].real * 2 * h / arb.pi()
    assert abs(float((coarse / full - 1).mid())) < 1e-15
    return t, full.log()


@frozen
def kept_tails(p, q, count, shift, double, position, reverse):
    """Return t + i log F of `tails`, which are real both; 0 for None."""
    law = GaussianMixtureLaw(Shifts(*map(tuple, p)), Shifts(*map(tuple, q)))
    functional = next(
        f for f in (P_ABOVE, Q_ABOVE, DELTA) if (f.shift, f.double) == (shift, double)
    )
    found = tails(law, count, functional, position, reverse=bool(reverse))
    with mp.workdps(45):
        return mp.mpc(found[0], found[1].mid().str(40, radius=False)) if found else mp.mpf(0)


def frozen_tails(law, count, functional, position, *, reverse=False):
    """Return what `tails` does, which takes a fifth of a second."""
    p, q = ((shifts.means, shifts.weights) for shifts in (law.p, law.q))
    shape = functional.shift, functional.double
    found = kept_tails(p, q, count, *shape, position, reverse)
    return (float(found.real), arb(mp.nstr(found.imag, 40))) if found else None


@pytest.fixture
def exact_steps():
    return steps


@pytest.fixture
def exact_tail():
    return frozen_tails
