"""Bandwidths far below the domain: a shorter circle, the same exactness, the same reading."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from neyman import functional
from neyman.errors import InvalidParameter
from neyman.functional import Basis, Circle, Density, DensityFunction, Interval, Octaves, Scales
from neyman.functional._bases._features import feature_sensitivity
from neyman.functional._densities._coefficients import Coefficients
from neyman.functional._densities._function import ReleasedFunction

LINE = Interval(-5, 5, outside="drop")
FINE = Basis(LINE, Fraction(10, 1030), Octaves(9), True)
TURN = Basis(Circle(24), Fraction(24, 1030), Density(), True)


@pytest.fixture(params=[FINE, TURN], ids=["interval", "circle"])
def basis(request):
    return request.param


def rows(basis, nodes):
    """Return features at some nodes, from the definition."""
    m, a = basis.circle_nodes, basis.amplitudes
    place = np.outer(nodes, np.arange(1, basis.highest + 1)) % m
    count = np.full((len(nodes), 1), np.rint(a[0]))
    waves = [
        np.rint(np.cos(2 * np.pi * (np.arange(m) / m - part))[place] * a[1:]) for part in (0, 0.25)
    ]
    return np.concatenate([count, *waves], axis=1)


def ends_and_others(basis):
    others = np.random.default_rng(0).integers(0, basis.nodes, 200)
    last = basis.nodes - 1
    return np.unique([0, 1, 2, last // 2, last - 2, last - 1, last, *others])


def exact_release(basis, counts):
    """Return what is released of so many records at each node, with as good as no noise."""
    sums = basis.sums(counts)
    return ReleasedFunction(basis, tuple(sums.tolist()), 1.0, None, 1, basis.bandwidth)


@pytest.mark.parametrize("share", [Fraction(1, 1025), Fraction(1, 2047), Fraction(1, 8000)])
@pytest.mark.parametrize("domain", [LINE, Circle(24)])
def test_the_nodes_reach_from_end_to_end_and_sums_of_doubles_are_exact(domain, share):
    basis = Basis(domain, share * domain.length, Scales(), True)
    period, nodes, steps = basis.lattice
    assert nodes <= 2**16
    assert nodes & (nodes - 1) == 0
    assert domain.length / period == Fraction(steps, nodes)
    assert period / nodes <= basis.bandwidth / 8
    if not domain.closed:
        assert 96 * basis.bandwidth <= period - domain.length <= 97 * basis.bandwidth
        (axis,) = basis.axes
        assert axis.index(np.array([-5.0, 5.0, 5.1])).tolist() == [0, steps, steps + 1]


def test_finer_than_an_eight_thousandth_is_refused():
    with pytest.raises(InvalidParameter, match="bandwidth must be in"):
        Basis(LINE, Fraction(10, 8001), Scales(), True)


def test_the_record_says_how_long_the_circle_is_and_old_ones_need_not():
    assert FINE.record()["circle"] == str(FINE.lattice.period)
    assert Basis.of_record(FINE.record()) == FINE
    coarse = Basis(LINE, Fraction(10, 1024), Scales(), True)
    assert "circle" not in coarse.record()
    assert coarse.period == 20


def test_another_length_of_the_circle_is_refused():
    found = DensityFunction(exact_release(FINE, np.ones(FINE.nodes, np.int64)))
    record = json.loads(json.dumps(found.to_json()))
    assert functional.read(record) == found
    record["raw"]["basis"]["circle"] = "20"
    with pytest.raises(InvalidParameter, match="malformed"):
        functional.read(record)


def test_sums_at_single_nodes_are_the_features(basis):
    nodes = ends_and_others(basis)
    numbers = np.zeros((basis.nodes, len(nodes)))
    numbers[nodes, np.arange(len(nodes))] = 1
    assert (rows(basis, nodes) == basis.products(numbers).T).all()


def test_norms_of_an_eighth_are_those_of_all_nodes(basis):
    norms, largest = basis.norms()
    known = set(norms.tolist())
    for nodes in np.array_split(np.arange(basis.nodes), 64):
        found = rows(basis, nodes)
        assert set((found * found).sum(axis=1).astype(np.int64).tolist()) <= known
        assert np.abs(found).max() <= largest
    assert feature_sensitivity(basis, "add_remove").l2_squared == max(known)


@pytest.mark.shows("S2.13")
def test_no_two_records_are_farther_apart_than_the_sensitivity_not_even_at_both_ends(basis):
    columns = rows(basis, ends_and_others(basis))
    squares = (columns * columns).sum(axis=1)
    apart = float((squares[:, None] + squares - 2 * (columns @ columns.T)).max())
    replaced = float(feature_sensitivity(basis, "replace_one").l2_squared)
    assert max(apart, squares.max()) * (1 - 2**-20) <= replaced
    assert replaced <= 2.5 * squares.max()
    added = float(feature_sensitivity(basis, "add_remove").l2_squared)
    assert squares.max() <= added <= 2**48 * (1 + 1e-4)


def test_a_neighbouring_table_moves_the_sums_by_no_more(basis):
    random = np.random.default_rng(5)
    added = float(feature_sensitivity(basis, "add_remove").l2_squared)
    replaced = float(feature_sensitivity(basis, "replace_one").l2_squared)
    counts = random.integers(0, 50, basis.nodes)
    counts[[0, -1]] = 7
    sums, last = basis.sums(counts), basis.nodes - 1
    for node, other in [(0, last), (last, 0), *random.integers(0, basis.nodes, (6, 2))]:
        more = counts.copy()
        more[node] += 1
        moved = (basis.sums(more) - sums).astype(float)
        assert moved @ moved <= added
        more[other] -= min(1, more[other])
        moved = (basis.sums(more) - sums).astype(float)
        assert moved @ moved <= replaced


def test_kernels_of_one_end_do_not_reach_the_other():
    counts = np.zeros(FINE.nodes, np.int64)
    counts[-1] = 10**6
    found = exact_release(FINE, counts)
    beside = np.linspace(-5, -4, 1001)
    assert np.abs(found(beside)).max() < 2e-4 * float(found(5.0))


@pytest.mark.parametrize("place", [0.0, 1 / 3, 0.999, 1.0])
def test_the_waves_of_the_domain_are_read_off_a_shorter_circle(place):
    """Of one place, which is the worst: the highest waves of it are not small."""
    counts = np.zeros(FINE.nodes, np.int64)
    node = round(place * FINE.lattice.steps)
    counts[node] = 10**6
    found = Coefficients.of(exact_release(FINE, counts), folded=True)
    waves = np.cos(np.pi * np.arange(found.values.size) * node / FINE.lattice.steps)
    known = np.exp(-(found.frequencies[0] ** 2) / 2)
    off = np.abs(found.values - waves)
    assert off[known > 0.1].max() < 1e-4
    assert off[known > 0.05].max() < 2e-3
    assert off.max() < 0.04


def test_the_noise_of_each_wave_is_that_of_its_formula():
    """Of 150 releases: the mean ratio of 20 waves is known to 2.6 %, of 200 to 0.8 %.

    The noise of the real parts alone, without a window, is twice that.
    """
    random = np.random.default_rng(1)
    sums = FINE.sums(np.ones(FINE.nodes, np.int64))
    noise = np.rint(random.normal(0, 2**30, (150, sums.size))).astype(np.int64)
    noise[:, 0] = 0
    values = []
    for moved in noise:
        f = ReleasedFunction(FINE, tuple((sums + moved).tolist()), 2.0**30, None, 1, FINE.bandwidth)
        coefficients = Coefficients.of(f, folded=True)
        values.append(coefficients.values)
    ratio = np.var(values, axis=0)[1:] / coefficients.noise[1:]
    assert abs(ratio[:20].mean() - 1) < 0.11
    alone = (2.0**30 / (coefficients.count * FINE.amplitudes[1:])) ** 2
    assert 1.6 < (alone[:200] / coefficients.noise[1:201]).mean() < 2.3
    for first in range(20, ratio.size - 200, 200):
        assert abs(ratio[first : first + 200].mean() - 1) < 0.04


@pytest.mark.parametrize("outside", ["count", "drop"])
def test_a_cluster_in_a_domain_a_thousand_times_too_wide_is_seen(released, outside):
    """With the start that a fitting domain needs, its top was 60 times too low."""
    values = np.random.default_rng(3).normal(300, 1, 20_000)
    domain = Interval(-1000, 1000, outside=outside)
    found = DensityFunction(
        released(values, domain=domain, bandwidth=None, records=20_000, target=None, mu=1.0)
    )
    top = 1 / math.sqrt(2 * math.pi)
    assert abs(float(found(300.0)) / top - 1) < 0.1
    np.testing.assert_allclose(found.ppf([0.05, 0.5, 0.95]), [298.355, 300, 301.645], atol=0.15)
    band = found.band(0.95)
    assert (band.lower <= found(band.x)).all()


def test_a_kernel_that_is_read_wider_does_not_come_out_at_the_other_end(released):
    """Mass at the upper end: a circle of 1.02 T would show it at the lower one."""
    values = 100 - np.random.default_rng(3).exponential(1, 2_000)
    fine = released(values, domain=Interval(0, 100, outside="drop"), bandwidth=0.025, mu=None)
    (low, high) = fine.reach[0]
    assert low == Fraction(1, 40)
    assert high < 1
    wide = fine.smooth(high)
    assert abs(wide(0.0)) < 1e-3
    assert abs(wide.integral(0, 20)) < 1e-3
    with pytest.raises(InvalidParameter, match="bandwidth must be in"):
        fine.smooth(5)
    # As it is handed over the density may be read as smooth as one likes.
    assert DensityFunction(fine).smooth(5)(0.0) < 1e-3
    record = fine.to_json()
    record["basis"]["circle"] = "103"
    with pytest.raises(InvalidParameter):
        functional.read(record)
