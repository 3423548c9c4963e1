"""Groups of a statement at Rényi orders, and the table of Mironov's basic mechanisms."""

import math
from fractions import Fraction

import numpy as np
import pytest

from neyman.curves import gdp, group, laplace, randomized_response, rdp

ORDERS = (1.2, 1.5, 2.0, 3.0, 5.0, 17.0, 200.0)


@pytest.mark.shows("S4.12")
@pytest.mark.parametrize("order", ORDERS)
def test_basic_mechanisms(order):
    """Mironov (2017), table II, at the parameters p and 1/b of his mechanisms."""
    a = order
    for p in (0.55, 0.8, 0.99):
        kept, flipped = math.log(p), math.log(1 - p)
        both = np.logaddexp(a * kept + (1 - a) * flipped, a * flipped + (1 - a) * kept)
        found = randomized_response(kept - flipped).renyi(order)
        assert found == pytest.approx(both / (a - 1), rel=1e-11)
    for e in (0.1, 1.0, 3.0):
        near, far = math.log(a / (2 * a - 1)), math.log((a - 1) / (2 * a - 1))
        both = np.logaddexp(near + e * (a - 1), far - e * a)
        assert laplace(e).renyi(order) == pytest.approx(both / (a - 1), rel=1e-9)
        assert gdp(e).renyi(order) == pytest.approx(a * e**2 / 2, rel=1e-13)


def divergence(p, q, order):
    logs = order * np.log(p) + (1 - order) * np.log(q)
    return float(np.logaddexp.reduce(logs)) / (order - 1)


@pytest.mark.shows("S4.12")
@pytest.mark.parametrize("seed", range(20))
def test_three_laws_in_a_row_obey_the_bound(seed):
    """D_c(P‖R) of random laws, from D_a(P‖Q) and D_b(Q‖R) alone, each the larger of both ways."""
    rng = np.random.default_rng(seed)
    p, q, r = rng.dirichlet(np.full(4, 0.7), 3)
    for a in ORDERS:
        worst = max(divergence(x, y, a) for x, y in ((p, q), (q, p), (q, r), (r, q)))
        (point,) = group(rdp([(a, worst)]), 2).remove.points
        c, bound = map(float, point)
        assert c == pytest.approx(a * a / (2 * a - 1), rel=1e-15)
        assert max(divergence(p, r, c), divergence(r, p, c)) <= bound * (1 + 1e-12)


def test_groups_of_gaussians_are_nearly_attained_and_the_factor_is_needed():
    orders = [Fraction(n, 4) for n in range(5, 60)]
    points = [(a, a / 2) for a in orders]
    for size in (1, 2, 4):
        found = group(rdp(points), size)
        for order, bound in found.remove.points:
            exact = size**2 * order / 2
            assert bound >= exact
        middle = found.remove.points[len(found.remove.points) // 2]
        assert middle[1] <= 2 * size**2 * middle[0] / 2
    a = b = Fraction(4)
    c = a * b / (a + b - 1)
    # The twin without b / (b - 1) is below the truth.
    assert a / 2 + b / 2 < 4 * c / 2 <= b / (b - 1) * a / 2 + b / 2


def test_it_improves_the_published_rule():
    """D_(a/2) <= 3 D_a for a pair of neighbours, from a = 4 on."""
    for a in (4, 8, 64):
        found = group(rdp([(a, 1)]), 2)
        order, bound = found.remove.points[0]
        assert order > a / 2
        assert bound < 3
        assert found.renyi(a / 2) <= 3


def test_a_group_of_one_is_the_statement_and_larger_ones_cost_more():
    points = [(2, 0.1), (8, 0.5), (32, 3)]
    assert group(rdp(points), 1) == rdp(points)
    losses = [group(rdp(points), size).renyi(1.25) for size in (1, 2, 3)]
    assert losses[0] < losses[1] < losses[2]
    assert losses[1] > 1.5 * losses[0]


def test_orders_up_to_one_alone_are_chained():
    """No order above 1 is left to bound; the curve is."""
    assert str(group(rdp([(1, 0.1)]), 2)).startswith("chain(2 of rdp")
    assert group(rdp([(0.5, 0.05), (4, 0.3)]), 2) == group(rdp([(4, 0.3)]), 2)


def test_large_groups_are_quick_and_keep_the_order_above_one():
    found = group(rdp([(a, a / 10**9) for a in (2, 8, 64, 1024)]), 1000).remove.points
    assert all(1 < order < 1024 / 500 for order, _ in found)
