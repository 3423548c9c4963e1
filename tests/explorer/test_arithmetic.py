"""The page's closed forms against the library: each bracket holds the library's, and no wider."""

import math
import random

import numpy as np
import pytest
from tests.explorer.node import answers, needs_node

import neyman as ny
from neyman.audit._massart import joint_deviation
from neyman.curves import group
from neyman.numerics import Interval
from neyman.numerics._primitives import normal_quantile, normal_sf

pytestmark = needs_node
NEAR = 1e-9
# Cases in each run, and in the long one.
FEW = [pytest.param(60, id="few"), pytest.param(1500, id="many", marks=pytest.mark.soak)]


def decimals(draw, low, high, count, digits=4):
    """Return numbers of so many digits, evenly on a logarithmic scale."""
    return [float(f"{10 ** draw.uniform(low, high):.{digits}g}") for _ in range(count)]


def agrees(found, lower, upper):
    """Say whether an upper bound is at least the library's lower and hardly above its upper."""
    low, high = np.asarray(found, dtype=float).T
    lower, upper = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
    assert np.all(low <= high)
    assert np.all(high >= lower)
    assert np.all(low <= upper)
    with np.errstate(invalid="ignore"):
        assert np.all((high <= upper * (1 + NEAR) + 1e-300) | np.isinf(upper))
        assert np.all((low >= lower * (1 - NEAR) - 1e-300) | np.isinf(lower))


def test_the_tail_of_the_normal_law_at_thousands_of_points():
    draw = random.Random(1)
    points = [draw.uniform(-9, 37) for _ in range(2500)] + [0.0, 2.0, 3.0, 5.0, 10.0, 1e-300]
    found = answers("(x) => upperTail([x, x])", points)
    true = normal_sf(Interval.exactly(np.asarray(points)))
    agrees(found, true.lower, true.upper)
    widths = [(high - low) / high for low, high in found]
    bound = [2e-12 if x < 2 else 2e-15 * (2 + x * x) for x in points]
    assert all(width <= most for width, most in zip(widths, bound, strict=True))


def test_the_quantile_of_the_normal_law_at_thousands_of_points():
    draw = random.Random(2)
    chances = decimals(draw, -12, -0.001, 1000) + [draw.random() for _ in range(500)]
    found = answers("(p) => upperQuantile(decimal(p))", chances)
    true = -normal_quantile(Interval.decimal(np.asarray(chances)))
    low, high = np.asarray(found).T
    assert np.all(low <= true.upper)
    assert np.all(high >= true.lower)
    assert np.all(high - low < 1e-11 * (1 + np.abs(high)))


@pytest.mark.parametrize("count", FEW)
@pytest.mark.parametrize("view", ["delta", "tpr", "epsilon"])
def test_gaussian_guarantees_are_the_librarys(view, count):
    draw = random.Random(3)
    ranges = {"delta": (-2, 1.3), "tpr": (-9, -0.01), "epsilon": (-12, -0.5)}
    mus = decimals(draw, -1.7, 1, count)
    places = decimals(draw, *ranges[view], count)
    found = answers(
        f"([mu, x]) => new Gaussian(mul(decimal(mu), decimal(mu))).{view}(x)",
        list(zip(mus, places, strict=True)),
    )
    both = [getattr(ny.gdp(mu), view)(x, bracket=True) for mu, x in zip(mus, places, strict=True)]
    agrees(found, [one.lower for one in both], [one.upper for one in both])


def cases_of_closed_forms(draw, count):
    for _ in range(count):
        (epsilon,), (failure,) = decimals(draw, -2, 0.8, 1), decimals(draw, -9, -2, 1)
        times = draw.randrange(2, 60)
        core, many = f"decimal({epsilon})", f"new PureMany(decimal({epsilon}), {times})"
        failing = f"failures({failure}, {times})"
        yield draw.choice(
            [
                (f"new Pure({core})", ny.pure_dp(epsilon)),
                (f"new Laplace({core})", ny.laplace(epsilon)),
                (
                    f"new Failing(new Pure({core}), decimal({failure}))",
                    ny.approx_dp(epsilon, failure),
                ),
                (many, ny.pure_dp(epsilon) ** times),
                (f"new Failing({many}, {failing})", ny.approx_dp(epsilon, failure) ** times),
            ]
        )


@pytest.mark.parametrize("count", FEW)
@pytest.mark.parametrize("view", ["delta", "tpr", "epsilon"])
def test_other_closed_forms_are_the_librarys(view, count):
    draw = random.Random(4)
    ranges = {"delta": (-2, 1), "tpr": (-9, -0.01), "epsilon": (-10, -0.5)}
    cases = [
        (code, curve, decimals(draw, *ranges[view], 1)[0])
        for code, curve in cases_of_closed_forms(draw, count // 3)
    ]
    list_of_all = ", ".join(f"() => {code}.{view}({x})" for code, _, x in cases)
    found = answers(f"(place) => [{list_of_all}][place]()", list(range(len(cases))))
    both = [getattr(curve, view)(x, bracket=True) for _, curve, x in cases]
    low, high = np.asarray(found).T
    # The library knows compositions by a lattice, less exactly.
    assert np.all(high >= [one.lower for one in both])
    assert np.all(low <= [one.upper for one in both])
    known = np.isfinite(high)
    assert np.all(high[known] - low[known] <= NEAR * high[known] + 1e-300)


def test_groups_of_an_approximate_guarantee_hold_the_librarys():
    draw = random.Random(5)
    cases = [
        (*decimals(draw, -2, 0.5, 1), *decimals(draw, -9, -3, 1), draw.randrange(2, 8))
        for _ in range(3)
    ]
    code = "new Chained(new Failing(new Pure(decimal(e)), decimal(d)), k, true)"
    found = answers(f"([e, d, k]) => [{code}.tpr(0.01), {code}.delta(0.3)]", cases)
    for (tpr, delta), (epsilon, failure, size) in zip(found, cases, strict=True):
        curve = group(ny.approx_dp(epsilon, failure), size)
        for (low, high), true in (
            (tpr, curve.tpr(0.01, bracket=True)),
            (delta, curve.delta(0.3, bracket=True)),
        ):
            assert low <= true.upper * (1 + NEAR)
            assert high >= true.lower * (1 - NEAR)


def test_a_broken_arithmetic_is_found():
    found = answers("(x) => [0, upperTail([x, x])[1] * (1 - 1e-8)]", [0.5])
    true = normal_sf(Interval.exactly(np.asarray([0.5])))
    with pytest.raises(AssertionError):
        agrees(found, true.lower, true.upper)


def test_the_deviation_of_two_samples_is_the_librarys():
    sizes = [(100, 100), (1000, 50), (31, 4000)]
    found = answers("([n, m]) => jointDeviation(n, m, 0.05)", sizes)
    for mine, (first, second) in zip(found, sizes, strict=True):
        assert math.isclose(mine, joint_deviation(first, second, 0.05), rel_tol=NEAR)


def test_scores_refute_what_they_contradict_and_nothing_else():
    draw = np.random.default_rng(6)
    inside, outside = draw.normal(1.5, 1, 400).tolist(), draw.normal(0, 1, 400).tolist()
    code = "([a, b, mu]) => refuted(bandOf(a, b, 0.05), new Gaussian(decimal(mu * mu)))"
    assert answers(code, [(inside, outside, mu) for mu in (0.5, 1.0, 1.5, 2.0)]) == [
        True,
        True,
        False,
        False,
    ]


def test_files_of_scores_are_read_and_others_refused():
    csv = "score,inside\n1.5,1\n0.5,0\n2.5,1\n-1,0\n"
    found = answers(
        "(text) => { try { return readScores(text); } catch (error) { return error.message; } }",
        [
            csv,
            '{"inside": [1, 2], "outside": [0, 1]}',
            "a,b\n1,2",
            '{"inside": [1]}',
            "score,inside\n1,7",
        ],
    )
    assert found[0] == {"inside": [1.5, 2.5], "outside": [0.5, -1]}
    assert found[1] == {"inside": [1, 2], "outside": [0, 1]}
    assert all(text.startswith("This file holds no scores. Write JSON") for text in found[2:])
