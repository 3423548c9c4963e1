"""What makes a function a trade-off function (Dong, Roth and Su, 2022, proposition 2.2)."""

import numpy as np
import pytest

from neyman.curves import TradeOff, gdp
from neyman.numerics import Interval

GRID = np.unique(np.concatenate([np.linspace(0, 1, 401), np.logspace(-12, -2, 60)]))
# The estimates of a leaf without brackets, and the golden section of a hull.
SLACK = 1e-9


def test_f_is_convex(curve):
    lower, upper = curve.beta_bracket(GRID)
    rng = np.random.default_rng(0)
    i, j, k = np.sort(rng.integers(0, GRID.size, (3, 20_000)), axis=0)
    distinct = (i < j) & (j < k)
    i, j, k = i[distinct], j[distinct], k[distinct]
    share = (GRID[k] - GRID[j]) / (GRID[k] - GRID[i])
    chord = share * upper[i] + (1 - share) * upper[k]
    assert np.all(lower[j] <= chord + SLACK)


def test_f_does_not_increase(curve):
    lower, upper = curve.beta_bracket(GRID)
    assert np.all(lower[1:] <= upper[:-1] + SLACK)


def test_f_is_below_the_diagonal_and_ends_at_nothing(curve):
    lower, upper = curve.beta_bracket(GRID)
    assert np.all(lower >= 0)
    assert np.all(lower <= 1 - GRID + SLACK)
    assert np.all(upper <= 1 - GRID + SLACK)
    assert curve.beta(1) == 0


def test_errors_and_power_add_up(curve):
    beta, tpr = curve.beta_bracket(GRID), curve.tpr_bracket(GRID)
    assert np.all(beta.lower + tpr.lower <= 1 + SLACK)
    assert np.all(beta.upper + tpr.upper >= 1 - SLACK)


def test_power_is_never_below_the_false_positive_rate(curve):
    small = np.logspace(-300, 0, 100)
    assert np.all(curve.tpr(small) >= small)


def test_swap_of_a_pair_is_an_involution(pair):
    assert pair.swap().swap() == pair


@pytest.mark.shows("S1.8")
def test_swap_is_an_involution(curve):
    assert curve.swap().swap() == curve
    assert curve.symmetric == (curve.swap() == curve or curve.add == curve.remove.swap())


@pytest.mark.shows("S0.1", "S1.8")
def test_swap_is_the_inverse_function(pair):
    """f(f^-1(a)) = a wherever f falls strictly."""
    inside = GRID[(GRID > 0.01) & (GRID < 0.99)]
    image = pair.beta_bracket(inside).lower
    falling = (image > 1e-6) & (image < pair.beta_bracket(np.asarray(0.0)).lower - 1e-6)
    again = pair.swap().beta_bracket(image[falling]).lower
    assert np.allclose(again, inside[falling], rtol=0, atol=1e-7)


def test_the_hull_is_below_both_directions_and_above_every_line(leaf):
    """The smaller of f and f^-1 is not convex for the tilted leaf; the public curve is its hull."""
    f = TradeOff(leaf, leaf.swap())
    a = np.linspace(0, 1, 2001)
    both = np.minimum((1 - a) * (1 - a / 2), leaf.swap().beta_bracket(a).lower)
    hull = f.beta(a)
    assert np.all(hull <= both + SLACK)
    assert np.max(both - hull) > 1e-3
    # The largest convex function below: by its corners on the grid.
    corners = [0]
    for k in range(1, a.size):
        while len(corners) > 1:
            i, j = corners[-2:]
            if (both[j] - both[i]) * (a[k] - a[i]) < (both[k] - both[i]) * (a[j] - a[i]):
                break
            corners.pop()
        corners.append(k)
    assert np.allclose(hull, np.interp(a, a[corners], both[corners]), rtol=0, atol=1e-6)


@pytest.mark.shows("S0.8", "S1.10")
def test_the_leaf_is_its_closed_form(leaf):
    assert np.allclose(
        leaf.beta_bracket(GRID).lower, (1 - GRID) * (1 - GRID / 2), rtol=0, atol=1e-12
    )
    x = np.linspace(-0.6, 0.4, 50)
    c = np.clip(1.5 - np.exp(x), 0, 1)
    assert np.allclose(
        leaf.delta_bracket(x).lower, np.where(c < 1, c**2 / 2, 1 - np.exp(x)), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize(
    ("law", "bend"),
    [
        (test_f_is_convex, lambda a, beta: np.where(a > 0.5, beta, beta + 1e-3)),
        (test_f_does_not_increase, lambda a, beta: beta + 1e-4 * (a > 0.9999)),
        (
            test_f_is_below_the_diagonal_and_ends_at_nothing,
            lambda a, beta: beta + 1e-8 * (a < 1),
        ),
        (test_errors_and_power_add_up, lambda a, beta: beta + 1e-8 * (a < 1)),
    ],
)
def test_broken_twins_break_the_laws(law, bend):
    class Bent:
        """A Gaussian's curve, bent a little."""

        def beta_bracket(self, alpha):
            lower, upper = gdp(1).beta_bracket(alpha)
            safe = np.maximum(upper, 1e-300)
            return Interval(
                *(np.asarray(bend(alpha, side)) for side in (np.maximum(lower, 1e-300), safe))
            )

        def tpr_bracket(self, alpha):
            return gdp(1).tpr_bracket(alpha)

        def beta(self, alpha):
            return float(self.beta_bracket(np.asarray(float(alpha))).lower)

    with pytest.raises(AssertionError):
        law(Bent())
