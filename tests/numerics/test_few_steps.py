"""Few steps of a mixture: sums between cuts, their decay and their powers against mpmath."""

import math

import mpmath as mp
import numpy as np
import pytest
from flint import acb, arb

from neyman.curves import Lattice, gdp, poisson
from neyman.numerics import DELTA, GaussianMixtureLaw, LossSum, Shifts, Span
from neyman.numerics._disc import Disc
from neyman.numerics._inversion._cut_law import CutGrid, complex_cut
from neyman.numerics._inversion._cut_line import Decay, powers
from neyman.numerics._inversion._few_steps import FewSteps
from neyman.numerics._inversion._largest_step import Plan
from neyman.numerics._inversion._lines import Place, line_at
from neyman.numerics._inversion._tails import asked
from neyman.numerics._special import faddeeva


def hit(sigma, q):
    return Shifts((0.0, 1 / sigma), (1 - q, q))


def law(q, count):
    return LossSum.of(GaussianMixtureLaw(Shifts((0.0,), (1.0,)), q)).times(count)


def exact(grid, low, high, s):
    """The integral of φ (χ_high - χ_low) B^s, of the very cuts, in balls."""
    t, weight, rest = arb(grid.q.means[1]), arb(grid.q.weights[1]), arb(grid.q.weights[0])
    root, scale = arb(2).sqrt(), (2 * arb.pi()).sqrt()
    s = acb(s.real, s.imag)

    def cut(a, z):
        if math.isinf(a):
            return acb(a > 0)
        return ((((z - a) * arb(grid.rate)).exp() - 1) / arb(grid.sharp) / root).erfc() / 2

    def value(z, _):
        ratio = rest + weight * (t * z - t * t / 2).exp()
        return (s * ratio.log() - z * z / 2).exp() * (cut(high, z) - cut(low, z)) / scale

    pieces = zip(range(-10, 16), range(-9, 17), strict=True)
    tolerance = arb(10) ** -30
    return sum(
        (acb.integral(value, a, b, abs_tol=tolerance, rel_tol=tolerance) for a, b in pieces), acb(0)
    )


SUMS = [(1.0, 0.01, 3.0, 6.0, 9.0), (0.5, 1e-4, 4.0, 8.0, 5.0), (2.0, 0.1, 1.0, 5.0, 20.0)]


@pytest.mark.parametrize(("sigma", "q", "low", "high", "c"), SUMS)
def test_sums_between_cuts_err_by_less_than_they_say(sigma, q, low, high, c):
    grid = CutGrid.over(hit(sigma, q), 10.0, 1e3, -30.0)
    whole = slice(0, grid.x.size)
    lifted = grid.lifted(c, low, high, 0.0, whole)
    at = np.asarray([c])
    aliases = [math.exp(grid.log_lifted_alias(a, high, at)[0]) for a in (-math.inf, low)]
    for u in (0.0, 40.0):
        phase = np.exp(1j * u * lifted.loss.value)
        steep = np.abs(lifted.terms.value) @ (lifted.loss.error + 1e-15 * lifted.loss.size)
        for row, a in enumerate((-math.inf, low)):
            found = complex(lifted.terms.value[row] @ phase)
            truth = exact(grid, a, high, complex(c, u))
            rounding = 1e-14 * np.abs(lifted.terms.value[row]).sum()
            room = lifted.terms.error[row].sum() + steep[row] * u + aliases[row] + rounding
            assert abs(acb(found.real, found.imag) - truth).upper() <= room
            # It is no empty promise either.
            assert room <= 1e-9 * np.abs(lifted.terms.value[row]).sum()


@pytest.mark.parametrize(("sigma", "q", "low", "high", "c"), SUMS)
def test_the_difference_decays_as_bounded(sigma, q, low, high, c):
    grid = CutGrid.over(hit(sigma, q), 10.0, 1e3, -30.0)
    log = grid.log_base + c * grid.loss
    weights = grid.between(low, high) * np.exp(log)
    decay = Decay.of(grid, c, (low, high), math.log(weights.sum()))
    u = np.geomspace(1.0, 300.0, 12)
    lifted = grid.lifted(c, low, high, 0.0, slice(0, grid.x.size))
    size = (
        np.abs(np.exp(1j * np.outer(u, lifted.loss.value)) @ lifted.terms.value[1]) / weights.sum()
    )
    bound = np.exp(decay.log_bound(u))
    assert np.all(size <= bound * (1 + 1e-9) + 1e-12)
    assert bound[-1] < 0.1
    assert np.all(np.diff(bound) <= 0)


def test_the_levels_add_up():
    grid = CutGrid.over(hit(1.0, 0.01), 8.0, 100.0, -20.0)
    levels = [(-math.inf, 0.0), (0.0, 2.5), (2.5, 7.0), (7.0, math.inf)]
    parts = np.stack([grid.between(*pair) for pair in levels])
    assert np.all(parts >= 0)
    np.testing.assert_allclose(parts.sum(axis=0), 1, rtol=1e-14)


def test_powers_of_sums_err_by_less_than_they_say():
    rng = np.random.default_rng(5)
    for n in (1, 2, 3, 17, 300):
        h = (1 - rng.random(6) * 0.2) * np.exp(1j * rng.normal(size=6))
        g = h * rng.random(6) * 10.0 ** -rng.integers(1, 12, 6)
        errors = np.abs(np.stack([h, g])) * 1e-14
        shift = errors * np.exp(1j * rng.normal(size=(2, 6)))
        found, wrong = powers(Disc(h + shift[0], errors[0]), Disc(g + shift[1], errors[1]), n)
        with mp.workdps(50):
            for i in range(6):
                a, b = mp.mpc(h[i]), mp.mpc(g[i])
                assert abs(a**n - (a - b) ** n - mp.mpc(found[i])) <= wrong[i]


def test_phi_of_complex_numbers():
    rng = np.random.default_rng(6)
    zeta = rng.normal(size=200) * 6 + 1j * rng.normal(size=200) * 4
    above, beyond = (cut.value for cut in complex_cut(Disc.exactly(zeta)))
    with mp.workdps(40):
        for z, *both in zip(zeta.tolist(), above.tolist(), beyond.tolist(), strict=True):
            small = 0 if z.real <= 0 else 1
            least = mp.erfc(mp.mpc(z if small else -z) / mp.sqrt(2)) / 2
            assert abs(mp.mpc(both[small]) - least) <= abs(least) * 2.0**-42 * (1 + abs(z) ** 2 / 8)
            w = complex(faddeeva(np.asarray([complex(z.real, abs(z.imag))]))[0])
            v = mp.mpc(z.real, abs(z.imag))
            assert abs(w - mp.exp(-v * v) * mp.erfc(-1j * v)) <= 2.0**-42 * abs(w)


def test_it_agrees_with_the_line_of_the_whole_law():
    rng, agreed = np.random.default_rng(7), 0
    for _ in range(12):
        sigma, q, n = rng.uniform(0.6, 4), rng.uniform(0.1, 0.9), int(rng.integers(3, 20))
        whole = law(hit(sigma, q), n)
        c = 1 + 10 ** rng.uniform(0, 0.7)
        near = whole.sketched(Span(1.0, 2 * c, 0.0))
        real = near.real(np.asarray([c]))
        t = real.slope - 1 / (c - 1) - 1 / c
        spread = math.sqrt(real.curvature[0] + 1 / (c - 1) ** 2)
        if t[0] <= 0.01:
            continue
        line = line_at(whole, DELTA, Place(c, spread, near, 2 * c), t)
        wide = line.tail(DELTA).log_bracket(t)
        found = FewSteps.of(whole).log_tail(t)
        assert wide.lower[0] <= found.upper[0]
        assert found.lower[0] <= wide.upper[0]
        # Where hits are many it may leave the matter to the whole law's line.
        agreed += found.upper[0] - found.lower[0] < 3e-9
    assert agreed >= 7


def test_it_lies_within_the_lattice():
    for sigma, q, n, t in ((1, 0.01, 100, 0.5),):
        f = poisson(gdp(1 / sigma), q) ** n
        found = f.remove.delta(t, bracket=True)
        rough = f.remove.delta(t, solver=Lattice(0.002), bracket=True)
        assert rough.lower <= found.upper
        assert found.lower <= rough.upper
        assert found.upper - found.lower <= 1e-9 * found.upper


def test_many_thresholds_fall_and_bracket_each_other():
    few = FewSteps.of(law(hit(1.0, 0.01), 10))
    t = np.linspace(0.05, 3.0, 24)
    found = few.log_tail(t)
    assert np.all(found.upper - found.lower < 3e-9)
    assert np.all(np.diff(found.lower) < 0)
    # e^t delta(t) rises no faster than e^t, and log delta falls no slower than 0: convexity in e^t.
    delta, x = np.exp(found.upper), np.exp(t)
    slopes = np.diff(delta) / np.diff(x)
    assert np.all(np.diff(slopes) > 0)


@pytest.mark.parametrize("log_delta", [-11.5, -25.0, -46.0, -180.0])
def test_thresholds_have_their_delta(log_delta):
    few = FewSteps.of(law(hit(1.0, 1e-3), 5))
    found = few.threshold(asked(np.asarray(log_delta)))
    ends = few.log_tail(np.asarray([float(found.lower), float(found.upper)]))
    assert ends.upper[0] >= log_delta >= ends.lower[1]
    assert float(found.upper - found.lower) <= 1e-9 * float(found.upper)


def test_more_than_the_total_variation_is_epsilon_zero():
    found = FewSteps.of(law(hit(1.0, 1e-6), 2)).threshold(asked(np.log(np.asarray(1e-5))))
    assert float(found.lower) == -math.inf
    assert float(found.upper) == 0.0


def test_only_few_steps_of_one_mixture_are_taken():
    one = law(hit(1.0, 0.01), 10)
    assert FewSteps.of(one) is not None
    assert FewSteps.of(law(hit(1.0, 0.01), 1)) is None
    assert FewSteps.of(law(hit(1.0, 0.01), 100_000)) is None
    assert FewSteps.of(one.reversed()) is None
    assert FewSteps.of(LossSum(one.terms * 2)) is None
    mirrored = GaussianMixtureLaw(Shifts((-1.0, 0.0), (0.01, 0.99)), Shifts((0.0,), (1.0,)))
    assert FewSteps.of(LossSum.of(mirrored).times(10).reversed()) == FewSteps(
        Shifts((1.0, 0.0), (0.01, 0.99)), 10
    )


def test_a_plan_without_hope_says_so():
    assert Plan.of(hit(1.0, 0.01), 2, -20.0, 1.0).near(60.0) is None


def test_an_endless_threshold_is_answered():
    f = poisson(gdp(1), 0.01) ** 50
    assert f.epsilon(0.0) == math.inf
    assert f.delta([1.0, math.inf])[1] == 0
