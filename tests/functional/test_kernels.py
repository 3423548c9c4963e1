"""Norms of Gaussian bumps against 40-digit integrals, and against the Gram matrix itself."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from neyman.accounting import hall_gaussian_sigma
from neyman.errors import InvalidParameter
from neyman.functional import (
    Hinge,
    Huber,
    Logistic,
    Matern,
    SquaredExponential,
    density_norm,
    machine_norm,
    mean_norm,
)

KERNELS = [SquaredExponential(0.5), Matern(0.5, 0.7), Matern(1.5, 0.7), Matern(2.5, 0.7)]


def panels(stop, number):
    """Nodes and weights of Gauss and Legendre, 20 on each panel of [0, stop]."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    starts = np.arange(number) * (stop / number)
    half = stop / number / 2
    return (starts[:, None] + half * (nodes + 1)).ravel(), np.tile(half * weights, number)


@pytest.mark.shows("S2.13")
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_norm_of_a_bump_is_the_integral_over_frequencies(kernel):
    """The spectrum is found from the covariance alone."""
    h = 0.6
    r, weight = panels(30.0, 120)
    w, step = panels(9.0, 9)
    spectrum = 2 * np.cos(np.outer(w, r)) @ (weight * kernel.at(r))
    truth = float((np.exp(-((h * w) ** 2)) / spectrum / np.pi) @ step)
    assert kernel.bump_norm_squared(h, 1) == pytest.approx(truth, rel=1e-6)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_covariance_is_the_formula(kernel):
    x, y = np.array([[0.0, 0.0], [3.0, 1.0]]), np.array([[0.3, 0.4]])
    r = np.array([0.5, math.hypot(2.7, 0.6)])
    found = kernel.covariance(x, y)[:, 0]
    nu = getattr(kernel, "smoothness", None)
    if nu is None:
        truth = np.exp(-(r**2) / 2 / 0.25)
    else:
        a = np.sqrt(2 * float(nu)) * r / 0.7
        truth = [1, 1 + a, 1 + a + a**2 / 3][int(nu)] * np.exp(-a)
    np.testing.assert_allclose(found, truth, rtol=1e-14)
    assert kernel.covariance([1e300], [-1e300])[0, 0] == 0


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("ratio", [0.6, 1.0, 1.3])
def test_the_closed_form_is_rounded_up_by_little(dimension, ratio):
    h, length = mpmath.mpf("0.3"), mpmath.mpf(str(round(0.3 * ratio, 6)))
    with mpmath.workdps(40):
        truth = (8 * mpmath.pi**2 * length**2 * (h**2 - length**2 / 2)) ** (-dimension / 2)
        found = SquaredExponential(round(0.3 * ratio, 6)).bump_norm_squared(0.3, dimension)
        assert truth <= found <= truth * (1 + mpmath.mpf(2) ** -45)
        apart = 2 * truth * -mpmath.expm1(-(mpmath.mpf(1) ** 2) / (4 * h**2 - 2 * length**2))
        bound = SquaredExponential(round(0.3 * ratio, 6)).bump_distance_squared(0.3, dimension, 1)
        assert apart <= bound <= apart * (1 + mpmath.mpf(2) ** -44)


@pytest.mark.shows("e2.6")
@pytest.mark.parametrize("length_scale", [math.sqrt(2) * 0.5 + 1e-12, 1.0, 50])
def test_noise_too_smooth_is_refused_with_what_to_write(length_scale):
    with pytest.raises(InvalidParameter, match=r"Write SquaredExponential\(0\.5\)"):
        SquaredExponential(length_scale).bump_norm_squared(0.5, 1)


@pytest.mark.shows("e2.6")
def test_noise_too_smooth_would_hide_nothing():
    """Why: at l = 2 h the Mahalanobis norm of one record grows without end."""
    kernel = SquaredExponential(1.0)
    found = []
    for m in (9, 13, 17, 21):
        x = np.linspace(-3, 3, m)
        with mpmath.workdps(60):
            gram = mpmath.matrix(
                [[mpmath.exp(-((mpmath.mpf(a) - mpmath.mpf(b)) ** 2) / 2) for a in x] for b in x]
            )
            bump = mpmath.matrix([mpmath.exp(-2 * mpmath.mpf(a) ** 2) for a in x])
            found.append(float((bump.T * mpmath.lu_solve(gram, bump))[0]))
    assert found[-1] > 10
    assert all(b > 1.5 * a for a, b in itertools.pairwise(found))
    with pytest.raises(InvalidParameter):
        kernel.bump_norm_squared(0.5, 1)


@pytest.mark.shows("S2.11")
def test_mahalanobis_norms_of_random_differences_rise_to_the_bound():
    """1,000 random neighbours, at 40 points, solved in 60 digits."""
    h, reach = 0.5, 4
    rng = np.random.default_rng(3)
    x = np.linspace(-3, 7, 40)
    bound = density_norm(
        SquaredExponential(h), bandwidth=h, dimension=1, diameter=reach, neighbors="replace_one"
    )
    peak = 1 / math.sqrt(2 * math.pi) / h
    pairs = [*rng.uniform(0, reach, (999, 2)).tolist(), [0, reach]]
    with mpmath.workdps(60):
        mx = [mpmath.mpf(a) for a in x]
        gram = mpmath.matrix([[mpmath.exp(-((a - b) ** 2) * 2) for a in mx] for b in mx])
        lower = mpmath.cholesky(gram)
        inverse = np.array((lower**-1).tolist(), dtype=object)
        columns = [[mpmath.exp(-((a - mpmath.mpf(t)) ** 2) * 2) for a in mx] for t in (0, reach)]
        last = inverse @ (np.array(columns[0]) - np.array(columns[1]))
        largest = float(mpmath.sqrt(sum(c * c for c in last))) * peak
    assert bound * (1 - 1e-7) < largest <= bound * (1 + 1e-12)
    # The others in doubles: a nugget keeps them below, for it is more noise.
    factor = np.linalg.cholesky(np.exp(-((x[:, None] - x) ** 2) * 2) + 1e-9 * np.eye(40))
    t = np.array(pairs)
    moves = np.exp(-((x[:, None] - t[:, 0]) ** 2) * 2) - np.exp(-((x[:, None] - t[:, 1]) ** 2) * 2)
    norms = np.linalg.norm(np.linalg.solve(factor, moves), axis=0) * peak
    assert norms.max() <= bound * (1 + 1e-12)
    assert norms.max() > bound * (1 - 1e-4)


@pytest.mark.shows("S2.12")
def test_constants_of_machines_and_means():
    assert machine_norm(Hinge(0), regularization=10, neighbors="replace_one") * 10 == 2
    assert machine_norm(Logistic(), regularization=10, neighbors="add_remove") * 10 == 1
    assert machine_norm(Huber(3), regularization=2, neighbors="replace_one") == 3
    assert (
        mean_norm(2.5, neighbors="add_remove") * 2 == 5 == mean_norm(2.5, neighbors="replace_one")
    )
    with pytest.raises(InvalidParameter, match="without bound"):
        machine_norm(Logistic(), regularization=0, neighbors="add_remove")
    with pytest.raises(InvalidParameter, match="squared"):
        Huber(1e30)


def test_the_penalty_of_a_mean_is_that_of_a_sum_divided_by_twice_the_records():
    """Hall, Rinaldo and Wasserman's lambda: L / (lambda n)."""
    declared = {"neighbors": "replace_one", "penalty": 0.1}
    assert machine_norm(Hinge(0), **declared, records=1000) * 100 == 1
    assert machine_norm(Huber(3), **declared, records=10) == 3
    for given, words in (
        ({"penalty": 0.1}, "got none. Write records="),
        ({"penalty": 0.1, "records": 0}, "records must be a whole number.*got 0"),
        ({"penalty": 0, "records": 9}, "penalty=0 is not positive"),
        (
            {"penalty": 1, "records": 9, "regularization": 1},
            "must be one of regularization and penalty; got both",
        ),
        ({}, "must be one of regularization and penalty; got neither"),
    ):
        with pytest.raises(InvalidParameter, match=words):
            machine_norm(Hinge(0), neighbors="replace_one", **given)
    with pytest.raises(InvalidParameter, match="must have a public number of records"):
        machine_norm(Hinge(0), neighbors="add_remove", penalty=0.1, records=9)


@pytest.mark.shows("S2.13")
@pytest.mark.parametrize("dimension", [1, 2])
def test_the_density_of_the_paper_moves_by_its_constant(dimension):
    """sqrt(2) / (n (2 pi h^2)^(d/2)), Hall, Rinaldo and Wasserman, section 4.1."""
    n, h = 1000, 0.1
    given = {"bandwidth": h, "dimension": dimension, "neighbors": "replace_one"}
    moved = density_norm(SquaredExponential(h), diameter=50, **given) / n
    known = math.sqrt(2) / (n * (2 * math.pi * h * h) ** (dimension / 2))
    assert moved == pytest.approx(known, rel=1e-12)
    noise = math.sqrt(2 * math.log(2 / 1e-5)) * math.sqrt(2) / n
    noise /= (2 * math.pi * h * h) ** (dimension / 2)
    assert hall_gaussian_sigma(1, 1e-5, moved) == pytest.approx(noise, rel=1e-9)


@pytest.mark.shows("S2.11", "S2.12")
def test_the_norm_of_noise_with_corners_is_that_of_the_function_and_its_slope():
    """||f||^2 = (f(0)^2 + f(1)^2) / 2 + the integral of f'^2 + g^2 f^2 over [0, 1] / (2 g).

    It is the example of a Sobolev space in Hall, Rinaldo and Wasserman: noise exp(-g |s - t|).
    """
    h, g, rng = 0.2, 5, np.random.default_rng(12)
    kernel, x = Matern(0.5, Fraction(1, g)), np.linspace(0, 1, 20_001)
    peak = 1 / math.sqrt(2 * math.pi) / h
    bound = density_norm(kernel, bandwidth=h, dimension=1, diameter=1, neighbors="replace_one")
    largest = 0.0
    for one, other in [(0.3, 0.9), *rng.uniform(0, 1, (50, 2))]:
        bumps = [peak * np.exp(-((x - t) ** 2) / (2 * h * h)) for t in (one, other)]
        f = bumps[0] - bumps[1]
        slope = -((x - one) * bumps[0] - (x - other) * bumps[1]) / h**2
        inside = np.trapezoid(slope**2 + g**2 * f**2, x) / (2 * g)
        norm = math.sqrt((f[0] ** 2 + f[-1] ** 2) / 2 + inside)
        values = [np.linalg.solve(kernel.covariance(x[::k], x[::k]), f[::k]) for k in (2000, 50)]
        seen = [math.sqrt(f[::k] @ v) for k, v in zip((2000, 50), values, strict=True)]
        assert seen[0] <= seen[1] <= norm * (1 + 1e-9)
        assert seen[1] == pytest.approx(norm, rel=1e-3, abs=1e-9)
        assert norm <= bound
        largest = max(largest, norm / bound)
    assert largest > 0.6


@pytest.mark.parametrize(
    "make",
    [
        lambda: Matern(1, 1),
        lambda: Matern(0.5, 0),
        lambda: SquaredExponential(-1),
        lambda: SquaredExponential(1e-50).bump_norm_squared(1e-50, 30),
        lambda: Matern(1.5, 1).bump_norm_squared(1, 2),
        lambda: SquaredExponential(1).covariance([[1, 2]], [1]),
        lambda: SquaredExponential(1).covariance([math.nan], [1]),
        lambda: SquaredExponential(1).bump_norm_squared(1, 0),
        lambda: Hinge(2),
    ],
)
def test_what_has_no_meaning_is_refused(make):
    with pytest.raises(InvalidParameter):
        make()


@pytest.mark.parametrize("loss", [Logistic(), Hinge(0.25), Huber(0.7)], ids=repr)
def test_slopes_are_those_of_a_convex_loss_within_its_constants(loss):
    f = np.linspace(-4, 4, 8001)
    for y in (-1.0, 0.6, 1.0):
        slope = loss.slope(np.full_like(f, y), f)
        steps = np.diff(slope) / np.diff(f)
        assert np.abs(slope).max() <= float(loss.lipschitz)
        assert steps.min() >= -1e-12
        assert steps.max() <= float(loss.curvature) * (1 + 1e-9)
        assert steps.max() >= float(loss.curvature) * 0.99
