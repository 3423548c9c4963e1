"""The float64 inverses stay within an eighth of the band; the exact forward functions are exact."""

from fractions import Fraction

import flint
import mpmath as mp
import numpy as np
import pytest

from neyman.mechanisms._folded import FoldedLaplace, FoldedNormal
from neyman.mechanisms._rounded import BAND

NORMAL, LAPLACE = FoldedNormal(Fraction(1)), FoldedLaplace(Fraction(1))
# Where the usual rational approximations of the normal quantile change form, V being twice the
# tail: central to tail, |z| = 0.674, sqrt(-2 log(V/2)) = 2, 5 and 8; and where log's do.
BRANCHES = [2 * np.exp(-2), 0.5, 0.15, 2 * np.exp(-12.5), 2 * np.exp(-32.0), np.sqrt(0.5), 1.0]


def points(count, seed):
    """Probabilities in (0, 1): uniform, log-uniform to 2^-1000, near branches and near 2^-k."""
    rng = np.random.default_rng(seed)
    part = count // 5
    ulps = rng.integers(-2000, 2000, part)
    near = np.array(BRANCHES)[rng.integers(0, len(BRANCHES), part)] * (1 + ulps * 2.0**-52)
    wide = np.array(BRANCHES)[rng.integers(0, len(BRANCHES), part)] * (
        1 + rng.normal(0, 1e-3, part)
    )
    powers = 2.0 ** -rng.integers(0, 1000, part) * (1 - rng.integers(0, 9, part) * 2.0**-53)
    chosen = np.concatenate(
        [rng.random(part), 2 ** -rng.uniform(0, 1000, part), near, wide, powers]
    )
    return chosen[(chosen > 0) & (chosen <= 1)]


def normal_error(v, z):
    """Error of z as the root of erfc(z / sqrt 2) = v: one Newton step, in balls."""
    x = flint.arb(z) / flint.arb(2).sqrt()
    slope = -(flint.arb(2) / flint.arb.pi()).sqrt() * (-x * x).exp()
    return abs(float((x.erfc() - flint.arb(v)) / slope))


def laplace_error(v, z):
    return abs(float(flint.arb(z) + flint.arb(v).log()))


def worst_share_of_band(law, error, v):
    z = law.magnitude(v.copy())
    with flint.ctx.workprec(160):
        errors = np.array([error(*pair) for pair in zip(v.tolist(), z.tolist(), strict=True)])
    return float(np.max(errors / (BAND * (z + 1))))


@pytest.mark.parametrize(("law", "error"), [(NORMAL, normal_error), (LAPLACE, laplace_error)])
def test_float64_inverse_is_within_an_eighth_of_the_band(law, error):
    assert worst_share_of_band(law, error, points(100_000, seed=1)) <= 1 / 8


@pytest.mark.soak
@pytest.mark.parametrize(("law", "error"), [(NORMAL, normal_error), (LAPLACE, laplace_error)])
def test_float64_inverse_at_a_million_points(law, error):
    assert worst_share_of_band(law, error, points(1_000_000, seed=2)) <= 1 / 8


def test_broken_twin_in_single_precision_is_outside_the_band():
    class Single:
        def magnitude(self, v):
            return NORMAL.magnitude(v).astype(np.float32).astype(np.float64)

    assert worst_share_of_band(Single(), normal_error, points(1000, seed=3)) > 1


@pytest.mark.parametrize("length", [63, 127, 319])
@pytest.mark.parametrize("scale", [Fraction(1, 8), Fraction(10, 3), Fraction(2**40)])
@pytest.mark.parametrize("distance", [0, 0.7, 5])
def test_boundary_is_the_exact_floor(length, scale, distance):
    j = int(distance * scale)
    with mp.workdps(150):
        ratio = mp.mpf(2 * j + 1) / 2 * scale.denominator / scale.numerator
        normal = int(mp.floor(mp.erfc(ratio / mp.sqrt(2)) * mp.mpf(2) ** length))
        laplace = int(mp.floor(mp.exp(-ratio) * mp.mpf(2) ** length))
    assert FoldedNormal(scale**2).boundary(j, length) == normal
    assert FoldedLaplace(scale).boundary(j, length) == laplace


def test_boundary_does_not_depend_on_the_users_precision_and_leaves_it_alone():
    with flint.ctx.workprec(20):
        answer = NORMAL.boundary(2, 127)
        assert flint.ctx.prec == 20
    assert answer == NORMAL.boundary(2, 127)


def test_irrational_scale_needs_no_rounding():
    """sigma = sqrt(2): t_0 = erfc(1/4), of a rational argument."""
    with mp.workdps(60):
        expected = int(mp.floor(mp.erfc(mp.mpf(1) / 4) * 2**127))
    assert FoldedNormal(Fraction(2)).boundary(0, 127) == expected
