"""What is found out of a record's content: bounds, attacks that reach them, and one that breaks the
bound of the other relation."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import ndtr, ndtri

import neyman as ny
from neyman.errors import InvalidParameter, RelationMismatch


@pytest.mark.parametrize("mu", [0.1, 1, 3])
@pytest.mark.parametrize("m", [2, 3, 10, 10**6])
def test_both_relations_are_their_formulas(mu, m):
    f = ny.gdp(mu)
    assert f.identification(m) == pytest.approx(ndtr(mu + ndtri(1 / m)), rel=1e-9)

    def negative(a):
        return -(a + (m - 1) * ndtr(mu + ndtri((1 - a) / (m - 1)))) / m

    options = {"xatol": 1e-12}
    found = minimize_scalar(negative, bounds=(0, 1), method="bounded", options=options)
    best = max(-found.fun, -negative(0.0))
    lower, upper = f.identification(m, neighbors="replace_one", bracket=True)
    assert lower <= best * (1 + 1e-12)
    assert best * (1 - 1e-12) <= upper <= best * (1 + 1e-6)
    assert lower >= best * (1 - 1e-6)


def test_two_neighbours_are_told_apart_as_by_the_best_guess():
    for f in (ny.gdp(1), ny.laplace(2), ny.pure_dp(0.3), ny.approx_dp(1, 0.01)):
        found = f.identification(2, neighbors="replace_one")
        assert found == pytest.approx(1 - f.bayes_error(0.5), rel=1e-6)
        assert found >= 1 - f.bayes_error(0.5) - 1e-15


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("m", [2, 3, 50])
def test_an_attack_on_randomized_response_stays_below(epsilon, m):
    """One of m is told with probability e^eps / (e^eps + m - 1), and e^eps too is below m."""
    attack = np.exp(epsilon) / (np.exp(epsilon) + m - 1)
    bound = ny.pure_dp(epsilon).identification(m, neighbors="replace_one")
    assert attack <= bound * (1 + 1e-12)
    assert bound <= min(np.exp(epsilon) / m, 1) * (1 + 1e-7)
    if m == 2:
        assert bound == pytest.approx(attack, rel=1e-6)


def test_contents_on_both_sides_of_nothing_are_found_as_often_as_add_remove_says():
    """N(1, 1) or N(-1, 1), and N(0, 1) without the record: right with probability Phi(1)."""
    attack = float(ndtr(1))
    f = ny.gdp(1)
    assert f.identification(2) == pytest.approx(attack, rel=1e-12)
    # The twin: the bound of the other relation would be broken.
    assert f.identification(2, neighbors="replace_one") < attack - 0.1


def test_gaussian_contents_in_directions_of_their_own_stay_below():
    """m unit vectors under N(z, I): the best guess is the largest coordinate; 20,000 draws."""
    draw, m = np.random.default_rng(0), 20
    x = draw.normal(size=(20_000, m))
    x[:, 0] += 1
    right = np.mean(x.argmax(axis=1) == 0)
    bound = ny.gdp(1).identification(m)
    assert right < bound
    # No bound is reached by a factor of its own choice: chance alone is broken.
    assert right > 1.5 / m


def test_a_reconstruction_is_the_power_at_its_chance():
    f = ny.poisson(ny.gdp(2), 0.1)
    chances = np.array([0.0, 1e-9, 1e-3, 0.5, 1.0])
    assert f.reconstruction(chances).tolist() == f.tpr(chances).tolist()
    assert np.all(f.reconstruction(chances) >= chances)


def test_the_relation_is_that_of_the_curve():
    f = ny.dp_sgd(noise_multiplier=1, sampling_probability=0.1, steps=1, neighbors="replace_one")
    assert f.identification(10) == f.identification(10, neighbors="replace_one")
    with pytest.raises(RelationMismatch, match="replace_one"):
        f.identification(10, neighbors="add_remove")
    for wrong in ({"candidates": 1}, {"candidates": 2.5}, {"candidates": 2, "neighbors": "any"}):
        with pytest.raises(InvalidParameter):
            ny.gdp(1).identification(**wrong)
