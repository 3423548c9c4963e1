"""Curves of densities: against closed forms, and what is refused."""

import math

import numpy as np
import pytest

from neyman.curves import densities, gdp, laplace
from neyman.errors import InvalidParameter, NotCertified


def normal(mean):
    return lambda x: -((x - mean) ** 2) / 2 - math.log(2 * math.pi) / 2


def laplace_at(mean):
    return lambda x: -np.abs(x - mean) - math.log(2)


def uniform(low, high):
    def log(x):
        inside = (x >= low) & (x <= high)
        return np.where(inside, -math.log(high - low), -np.inf)

    return log


NORMAL = densities(normal(0), normal(1), low=-38, high=38)
LAPLACE = densities(laplace_at(0), laplace_at(1), low=-40, high=40, kinks=(0, 1))
EPSILON = np.array([-1.0, 0.0, 0.3, 0.9, 2.0, 5.0])
ALPHA = np.array([1e-10, 1e-4, 0.05, 0.3, 0.5, 0.9])


@pytest.mark.shows("S0.3")
def test_normal_densities_give_the_gaussian_curve():
    exact = gdp(1)
    assert NORMAL.delta(EPSILON) == pytest.approx(exact.delta(EPSILON), rel=1e-11)
    assert NORMAL.beta(ALPHA) == pytest.approx(exact.beta(ALPHA), rel=1e-11)
    assert NORMAL.tpr(ALPHA) == pytest.approx(exact.tpr(ALPHA), rel=1e-11)
    orders = np.array([0.5, 1.0, 2.0, 7.5])
    assert NORMAL.renyi(orders) == pytest.approx(exact.renyi(orders), rel=1e-10)


def test_far_tails_keep_their_digits():
    assert NORMAL.log_delta(20.0) == pytest.approx(gdp(1).log_delta(20.0), rel=1e-12)


def test_laplace_densities_give_the_laplace_curve():
    exact = laplace(1)
    assert LAPLACE.delta(EPSILON[:4]) == pytest.approx(exact.delta(EPSILON[:4]), rel=1e-11)
    assert LAPLACE.beta(ALPHA) == pytest.approx(exact.beta(ALPHA), rel=1e-11)
    assert LAPLACE.renyi(3) == pytest.approx(exact.renyi(3), rel=1e-11)


def test_a_loss_that_turns_is_cut_at_every_crossing():
    """N(0, 1) against N(0, 4): rejected far from 0 on both sides."""
    f = densities(normal(0), lambda x: -(x**2) / 8 - math.log(8 * math.pi) / 2, low=-76, high=76)
    t = 0.25
    edge = math.sqrt((t + math.log(2)) * 8 / 3)
    delta = math.erfc(edge / 2 / math.sqrt(2)) - math.exp(t) * math.erfc(edge / math.sqrt(2))
    assert f.remove.delta(t) == pytest.approx(delta, rel=1e-11)


def test_disjoint_parts_are_singular_masses():
    f = densities(uniform(0, 1), uniform(0.5, 1.5), low=0, high=1.5, kinks=(0.5, 1))
    assert f.delta(0.0) == pytest.approx(0.5, rel=1e-9)
    assert f.epsilon(0.4) == math.inf
    assert np.exp(f.remove.log_singular) == pytest.approx([0.5, 0.5], rel=1e-9)


@pytest.mark.shows("S0.2")
def test_the_errors_of_a_given_test():
    f = densities(normal(0), normal(1), low=-38, high=38, kinks=(1,))
    alpha, beta = f.remove.errors(lambda x: x > 1.0)
    assert alpha == pytest.approx(math.erfc(1 / math.sqrt(2)) / 2, rel=1e-12)
    assert beta == pytest.approx(gdp(1).beta(alpha), rel=1e-11)
    with pytest.raises(InvalidParameter, match="outside"):
        NORMAL.remove.errors(lambda x: x)


def test_estimates_are_not_brackets_and_functions_are_no_record():
    with pytest.raises(NotCertified):
        NORMAL.delta(1.0, bracket=True)
    with pytest.raises(InvalidParameter, match="no exact record"):
        NORMAL.to_json()


@pytest.mark.parametrize(
    ("low", "high", "match"),
    [(0, 0, "interval"), (1, -1, "interval"), (-math.inf, 1, "interval"), (-1, 1, "masses")],
)
def test_domains_that_do_not_hold_the_laws_are_refused(low, high, match):
    with pytest.raises(InvalidParameter, match=match):
        densities(normal(0), normal(1), low=low, high=high)


def test_a_density_that_is_not_a_number_is_refused():
    with pytest.raises(InvalidParameter, match="nan"):
        densities(lambda x: x * np.nan, normal(0), low=-38, high=38)


def cauchy(center):
    return lambda x: -np.log(math.pi * (1 + (x - center) ** 2))


def student(center):
    """With three degrees of freedom."""
    return lambda x: math.log(6 * math.sqrt(3) / math.pi) - 2 * np.log(3 + (x - center) ** 2)


def _cauchy_delta(epsilon):
    """Q of the interval where 1 + x^2 > e^epsilon (1 + (x - 1)^2), less e^epsilon times P of it."""
    a = math.exp(epsilon)
    if a == 1:
        return 2 * math.atan(0.5) / math.pi
    middle, width = a / (a - 1), math.sqrt(max(a - (a - 1) ** 2, 0.0)) / (a - 1)
    ends = middle - width, middle + width
    p, q = ((math.atan(ends[1] - c) - math.atan(ends[0] - c)) / math.pi for c in (0, 1))
    return q - a * p


@pytest.mark.parametrize("end", [1e3, 1e4])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.7])
def test_the_tails_of_cauchy_noise_go_into_delta(end, epsilon):
    f = densities(cauchy(0), cauchy(1), low=-end, high=end, outside=1 / end)
    lost = 2 / math.pi / end
    assert f.delta(math.inf) == pytest.approx(lost, rel=1e-3)
    known = _cauchy_delta(epsilon)
    for pair in (f.remove, f.add):
        assert known <= pair.delta(epsilon) <= known + lost * (1 + 1e-3)


def test_student_noise_needs_little_outside():
    f = densities(student(0), student(1), low=-2000, high=2000, outside=1e-8)
    half = 0.5 / math.sqrt(3)
    inside = 2 / math.pi * (half / (1 + half**2) + math.atan(half))
    assert f.delta(0.0) == pytest.approx(inside, abs=1e-8)
    assert f.delta(0.0) >= inside


def test_what_a_domain_lacks_is_said_and_not_blamed_on_the_densities():
    with pytest.raises(InvalidParameter, match="outside=t for a bound t"):
        densities(cauchy(0), cauchy(1), low=-1e3, high=1e3)
    with pytest.raises(InvalidParameter, match="less what outside= states"):
        densities(cauchy(0), cauchy(1), low=-1e3, high=1e3, outside=1e-4)
    with pytest.raises(InvalidParameter, match="did not settle"):
        densities(cauchy(0), cauchy(1), low=-1e6, high=1e6, outside=1e-6)
    with pytest.raises(InvalidParameter, match=r"outside must be in \[0, 1\)"):
        densities(cauchy(0), cauchy(1), low=-1e3, high=1e3, outside=1.0)
