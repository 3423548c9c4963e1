"""Samplers: linear in their normal numbers, so their covariance is found exactly, not by chance."""

import math

import mpmath
import numpy as np
import pytest

from neyman.errors import InvalidParameter
from neyman.functional import Matern, MaternPath, SquaredExponential, simulate_grid
from neyman.functional._gaussian_processes._matern_path import (
    _halving,
    _mixed,
    _normal,
    stationary_root,
    step_noise,
    transition,
)
from neyman.functional._gaussian_processes._simulated import _spectrum, _summed, _transformed

MATERNS = [Matern(0.5, 0.6), Matern(1.5, 0.6), Matern(2.5, 0.6)]
KERNELS = [SquaredExponential(0.6), *MATERNS]


class Unit(np.random.Generator):
    """A source of normal numbers all of which are 0 but one."""

    def __init__(self, place):
        super().__init__(np.random.PCG64(1))
        self.place, self.size = place, None

    def standard_normal(self, size):
        found = np.zeros(size)
        self.size = found.size
        found.flat[self.place] = 1.0
        return found


def covariance_of(draw):
    first = Unit(0)
    columns = [np.asarray(draw(first)).ravel()]
    columns += [np.asarray(draw(Unit(k))).ravel() for k in range(1, first.size)]
    matrix = np.array(columns).T
    return matrix @ matrix.T


@pytest.mark.shows("S2.9")
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize(("step", "shape"), [(0.5, (7,)), (2.4, (3, 2))])
def test_covariance_on_a_grid(kernel, step, shape):
    if len(shape) == 2 and kernel in MATERNS[:1]:
        shape = (2, 2)
    places = np.stack(
        [x.ravel() for x in np.meshgrid(*(step * np.arange(n) for n in shape), indexing="ij")],
        axis=1,
    )
    found = covariance_of(lambda g: simulate_grid(kernel, step=step, shape=shape, generator=g))
    np.testing.assert_allclose(found, kernel.covariance(places, places), atol=1e-13)


@pytest.mark.parametrize(("step", "shape"), [(0.002, (300,)), (0.05, (5, 4))])
def test_covariance_where_few_waves_carry_it(step, shape):
    """The spectrum is found on a coarser torus, and the path of a line in short transforms."""
    kernel = SquaredExponential(0.6)
    places = np.stack(
        [x.ravel() for x in np.meshgrid(*(step * np.arange(n) for n in shape), indexing="ij")],
        axis=1,
    )
    found = covariance_of(lambda g: simulate_grid(kernel, step=step, shape=shape, generator=g))
    np.testing.assert_allclose(found, kernel.covariance(places, places), atol=3e-13)


@pytest.mark.parametrize("kernel", [SquaredExponential(0.6), *MATERNS], ids=repr)
def test_the_spectrum_of_a_coarse_torus_is_that_of_the_fine_one(kernel):
    torus = [200_000]
    found = _spectrum(kernel, 0.001, torus)
    fine = _transformed(kernel, [0.001], torus)
    assert np.abs(found - fine[: len(found)]).sum() < 1e-13 * fine.sum()
    assert fine[len(found) :].sum() < 2e-13 * fine.sum()


@pytest.mark.parametrize("kept", [1, 7, 131, 250, 251, 501])
def test_short_transforms_are_the_long_one(kept):
    random = np.random.default_rng(8)
    waves = random.normal(size=kept) + 1j * random.normal(size=kept)
    waves[0] = waves[0].real
    np.testing.assert_allclose(
        _summed(waves.copy(), 1000), np.fft.irfft(waves, 1000), atol=1e-14 * math.sqrt(kept)
    )


def test_a_long_grid_does_not_meet_its_own_end():
    kernel = SquaredExponential(0.6)
    found = covariance_of(lambda g: simulate_grid(kernel, step=0.6, shape=(60,), generator=g))
    places = 0.6 * np.arange(60)
    np.testing.assert_allclose(found, kernel.covariance(places, places), atol=1e-13)


@pytest.mark.parametrize("kernel", MATERNS, ids=repr)
@pytest.mark.parametrize("step", [1e-9, 1e-4, 0.03, 0.4, 0.81, 5.0, 100.0])
def test_noise_of_a_step_keeps_its_digits(kernel, step):
    """Against P - A P A^T in 120 digits: nothing is left of it in doubles at 1e-9."""
    q = kernel.states
    with mpmath.workdps(120):
        u = mpmath.mpf(step) * mpmath.sqrt(2 * q - 1) / mpmath.mpf("0.6")
        nilpotent = mpmath.eye(q)
        for i in range(q - 1):
            nilpotent[i, i + 1] += 1
        for j in range(q):
            nilpotent[q - 1, j] -= math.comb(q, j)
        a = mpmath.zeros(q)
        power = mpmath.eye(q)
        for j in range(q):
            a += power * u**j / math.factorial(j) * mpmath.exp(-u)
            power = power * nilpotent
        third = mpmath.mpf(1) / 3
        p = [[[1]], [[1, 0], [0, 1]], [[1, 0, -third], [0, third, 0], [-third, 0, 1]]][q - 1]
        p = mpmath.matrix(p)
        truth = p - a * p * a.T
        root = step_noise(kernel, np.array(step))
        found = root @ root.T
        for i in range(q):
            assert found[i, i] == pytest.approx(float(truth[i, i]), rel=1e-12)
            for j in range(q):
                scale = float(mpmath.sqrt(truth[i, i] * truth[j, j]))
                assert found[i, j] == pytest.approx(float(truth[i, j]), abs=1e-12 * scale)
        still = stationary_root(kernel)
        np.testing.assert_allclose(still @ still.T, np.array(p.tolist(), float), atol=1e-14)
        np.testing.assert_allclose(
            transition(kernel, np.array(step)), np.array(a.tolist(), float), rtol=1e-12, atol=1e-300
        )


@pytest.mark.parametrize("kernel", MATERNS, ids=repr)
@pytest.mark.parametrize("half", [2.0**-12, 0.1, 3.0])
def test_halving_is_conditioning_on_both_ends(kernel, half):
    """The joint covariance of left, middle and right comes out again."""
    root, half_root = stationary_root(kernel), step_noise(kernel, np.array(half))
    p, a = root @ root.T, transition(kernel, np.array(half))
    from_left, from_right, rest = _halving(kernel, half)
    cross = a @ a @ p
    middle_left = from_left @ p + from_right @ cross
    np.testing.assert_allclose(middle_left, a @ p, atol=1e-10)
    middle_right = from_left @ cross.T + from_right @ p
    np.testing.assert_allclose(middle_right, (a @ p).T, atol=1e-10)
    variance = middle_left @ from_left.T + middle_right @ from_right.T + rest @ rest.T
    np.testing.assert_allclose(variance, p, atol=1e-10)
    assert np.trace(rest @ rest.T) < np.trace(half_root @ half_root.T)


def test_hashed_numbers_are_normal():
    """10^6 of them: moments and neighbouring products within 6 sd (2e-9 each)."""
    z = _normal(_mixed(_mixed(np.arange(10**6, dtype=np.uint64)) ^ np.uint64(5)))
    assert np.isfinite(z).all()
    for found, sd in (
        (z.mean(), 1),
        ((z**2).mean() - 1, math.sqrt(2)),
        ((z[1:] * z[:-1]).mean(), 1),
        ((z[256:] * z[:-256]).mean(), 1),
        ((z**4).mean() - 3, math.sqrt(96)),
    ):
        assert abs(found) < 6 * sd / 1000
    assert np.isfinite(_normal(np.array([0, 2**64 - 1], dtype=np.uint64))).all()


PATHS = [MaternPath(kernel, -2, 6, seed=3) for kernel in MATERNS]


@pytest.mark.shows("S2.7")
@pytest.mark.parametrize("path", PATHS, ids=["1/2", "3/2", "5/2"])
def test_the_same_point_has_the_same_bits_whatever_else_is_asked(path):
    rng = np.random.default_rng(1)
    x = rng.uniform(-2, 6, 1001)
    whole = path(x)
    order = rng.permutation(x.size)
    assert (path(x[order]) == whole[order]).all()
    assert all(path(float(x[k])) == whole[k] for k in range(0, 1001, 97))
    assert (np.concatenate([path(part) for part in np.array_split(x, 13)]) == whole).all()
    assert (path(x[::-1])[::-1] == whole).all()
    assert np.std(whole) > 0.3


@pytest.mark.shows("S2.9")
@pytest.mark.parametrize("kernel", MATERNS, ids=repr)
def test_paths_have_the_kernels_covariance(kernel):
    """3,000 stretches 30 length scales apart: 21 entries within 7 sd, by chance below 1e-10."""
    x = np.array([0.0, 0.05, 0.3, 0.7, 1.1, 1.9])
    starts = 18.0 * np.arange(3000)
    path = MaternPath(kernel, 0, starts[-1] + 2, seed=11)
    draws = path((starts[:, None] + x).ravel()).reshape(3000, 6)
    truth = kernel.covariance(x, x)
    sd = np.sqrt((1 + truth**2) / 3000)
    assert (np.abs(draws.T @ draws / 3000 - truth) < 7 * sd).all()


def test_a_path_is_continuous_across_its_lattice():
    for kernel in MATERNS:
        path = MaternPath(kernel, 0, 1, seed=4)
        knots = np.arange(1, 64) / 64
        apart = np.abs(path(np.nextafter(knots, 0)) - path(knots))
        assert apart.max() < 1e-9


@pytest.mark.parametrize(
    "make",
    [
        lambda: simulate_grid(SquaredExponential(1), step=0, shape=(3,), generator=Unit(0)),
        lambda: simulate_grid(SquaredExponential(1), step=1e-9, shape=(3,), generator=Unit(0)),
        lambda: MaternPath(Matern(0.5, 1), 1, 0, seed=1),
        lambda: MaternPath(Matern(0.5, 1), 0, 1e12, seed=1),
        lambda: MaternPath(Matern(0.5, 1), 0, 1, seed=-1),
        lambda: MaternPath(Matern(0.5, 1), 0, 1, seed=1)(1.1),
    ],
)
def test_what_cannot_be_drawn_is_refused(make):
    with pytest.raises(InvalidParameter):
        make()


# --- why noise of a random series under an exact function is no release


def test_noise_of_few_random_waves_is_seen_through():
    """100 waves, 200 points: what is orthogonal to the waves has no noise at all."""
    rng = np.random.default_rng(5)
    x = np.linspace(0, 4, 200)
    kernel = SquaredExponential(0.05)
    waves, phases = rng.normal(0, 1 / 0.05, 50), rng.uniform(0, 2 * math.pi, 50)
    features = np.sqrt(2 / 50) * np.cos(np.outer(x, waves) + phases)
    # Of the right covariance, nearly: it looks like noise of this kernel.
    assert np.abs(features @ features.T - kernel.covariance(x, x)).max() < 0.8
    free = np.linalg.svd(features)[0][:, 50:]
    move = kernel.covariance(x, [2.0])[:, 0]
    right = 0
    for _ in range(100):
        present = rng.integers(2)
        seen = present * move + 10 * features @ rng.normal(size=50)
        right += (np.linalg.norm(free.T @ seen) > 0.1) == present
    # mu = 1 / 10 allows 0.52.
    assert right == 100
    # A kernel of full rank leaves nothing to project on: the same move is mu = 1/10 at most.
    factor = np.linalg.cholesky(kernel.covariance(x, x) + 1e-10 * np.eye(200))
    assert np.linalg.norm(np.linalg.solve(factor, move)) <= 1 + 1e-6
