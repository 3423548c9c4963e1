"""Integer features: exact sums, and a sensitivity that no pair of records passes."""

import math
from fractions import Fraction

import numpy as np
import pytest

from neyman.functional import Basis, Circle, Cumulative, Density, Interval, Octaves, Scales, Weights
from neyman.functional._bases._features import MOST_RECORDS, feature_sensitivity, feature_sums
from neyman.functional._bases._symmetric_waves import cosines

BASES = {
    "interval": Basis(Interval(-5, 5, outside="clip"), Fraction(1, 2), Density(), True),
    "circle": Basis(Circle(24), Fraction(1), Density(), True),
    "cumulative": Basis(Interval(0, 1, outside="drop"), Fraction(1, 25), Cumulative(), True),
    "weights": Basis(Circle(1), Fraction(1, 20), Weights(1, 5, 100), True),
    "octaves": Basis(Interval(0, 1, outside="clip"), Fraction(1, 25), Octaves(4), True),
    "scales": Basis(Interval(0, 1, outside="clip"), Fraction(1, 25), Scales(), True),
    "uncounted": Basis(Interval(0, 1, outside="clip"), Fraction(1, 20), Density(), False),
    "uncounted circle": Basis(Circle(24), Fraction(1), Cumulative(), False),
}


@pytest.fixture(params=BASES.values(), ids=BASES)
def basis(request):
    return request.param


def matrix(basis):
    """Return all features, from the definition: of the whole circle, not of an eighth of it."""
    m, a = basis.circle_nodes, basis.amplitudes
    place = np.outer(np.arange(1, basis.highest + 1), np.arange(basis.nodes)) % m
    waves = [np.cos(2 * np.pi * (np.arange(m) / m - quarter)) for quarter in (0, 0.25)]
    count = [np.full((1, basis.nodes), np.rint(a[0]))] if basis.counted else []
    rows = [np.rint(wave[place] * a[1:, None]) for wave in waves]
    return np.concatenate([*count, *rows]).astype(np.int64)


def test_labels_are_called_as_announced(basis):
    assert tuple(basis.labels()) == basis.label_names


def test_products_with_single_nodes_are_the_features(basis):
    assert (basis.products(np.eye(basis.nodes)) == matrix(basis)).all()
    assert np.abs(matrix(basis)).max() <= 2**24


def test_norms_of_an_eighth_are_those_of_all_nodes(basis):
    squares = (matrix(basis).astype(object) ** 2).sum(axis=0)
    norms, largest = basis.norms()
    assert set(norms.tolist()) == set(squares.tolist())
    assert norms.tolist() == squares[: len(norms)].tolist()
    assert largest == np.abs(matrix(basis)).max()


@pytest.mark.parametrize("m", [2**p for p in range(8, 16)])
def test_waves_have_the_same_digits_in_each_eighth(m):
    cosine = cosines(m)
    sine = np.roll(cosine, m // 4)
    assert np.abs(cosine - np.cos(2 * np.pi * np.arange(m) / m)).max() < 1e-15
    assert (cosine == np.roll(cosine[::-1], 1)).all()
    assert (cosine == -np.roll(cosine, m // 2)).all()
    assert (sine == np.roll(cosine[::-1], 1 + m // 4)).all()


def test_features_are_the_waves_to_half_an_integer(basis):
    found = matrix(basis)
    j, count = basis.highest, int(basis.counted)
    turns = np.outer(np.arange(1, j + 1), np.arange(basis.nodes)) / basis.circle_nodes
    scale = basis.amplitudes[1:, None]
    cosine, sine = found[count : count + j], found[count + j :]
    assert np.abs(cosine - scale * np.cos(2 * np.pi * turns)).max() < 0.5 + 1e-6
    assert np.abs(sine - scale * np.sin(2 * np.pi * turns)).max() < 0.5 + 1e-6


def test_sums_are_exact_in_pythons_integers(basis):
    counts = np.random.default_rng(0).integers(0, 2**18, basis.nodes)
    counts[3] = MOST_RECORDS - counts.sum()
    exact = [
        sum(int(t) * int(c) for t, c in zip(row, counts, strict=True)) for row in matrix(basis)
    ]
    assert feature_sums(basis, counts).tolist() == exact
    # What one product of doubles would give is not that.
    assert (matrix(basis).astype(float) @ counts.astype(float)).tolist() != exact


def test_no_record_is_longer_than_the_sensitivity_of_add_remove_and_one_is_as_long(basis):
    columns = matrix(basis).T.astype(object)
    longest = max(int((column * column).sum()) for column in columns)
    found = feature_sensitivity(basis, "add_remove")
    assert found.l2_squared == longest
    assert found.coordinates == basis.size
    assert found.largest == np.abs(matrix(basis)).max()
    assert math.isclose(longest, 2**48, rel_tol=1e-5)


@pytest.mark.shows("S2.13")
def test_no_two_records_are_farther_apart_than_the_sensitivity_of_replace_one(basis):
    columns = matrix(basis).T.astype(np.float64)
    # Entries below 2^25 and at most a few hundred of them: within 2^-20 of the integers.
    squares = (columns * columns).sum(axis=1)
    apart = float((squares[:, None] + squares - 2 * (columns @ columns.T)).max())
    sensitivity = feature_sensitivity(basis, "replace_one")
    assert np.ptp(columns, axis=0).max() <= sensitivity.largest
    found = float(sensitivity.l2_squared)
    assert max(apart, squares.max()) * (1 - 2**-20) <= found
    assert found <= max(apart, squares.max()) * (1 + 1e-4) + (0 if basis.domain.closed else 2**46)


def test_a_neighbouring_table_moves_the_sums_by_no_more(basis):
    random = np.random.default_rng(5)
    added = float(feature_sensitivity(basis, "add_remove").l2_squared)
    replaced = float(feature_sensitivity(basis, "replace_one").l2_squared)
    counts = random.integers(0, 50, basis.nodes)
    sums = feature_sums(basis, counts)
    for node, other in random.integers(0, basis.nodes, (40, 2)):
        more = counts.copy()
        more[node] += 1
        moved = (feature_sums(basis, more) - sums).astype(float)
        assert moved @ moved <= added
        more[other] -= min(1, more[other])
        moved = (feature_sums(basis, more) - sums).astype(float)
        assert moved @ moved <= replaced


def test_every_double_is_at_one_node_or_at_none():
    values = np.array([-1e308, -np.inf, -5, -4.99, 0, 5, 5.01, 1e308, np.inf, np.nan, 5e-324])
    clip = BASES["interval"]
    last = clip.nodes - 1
    found = clip.axes[0].index(values)
    assert found[[0, 1, 2]].tolist() == [0, 0, 0]
    assert found[[5, 6, 7, 8]].tolist() == [last] * 4
    assert found[9] == clip.nodes
    drop = Basis(Interval(-5, 5, outside="drop"), Fraction(1, 2), Density(), True)
    nowhere = drop.axes[0].index(values) == drop.nodes
    assert nowhere.tolist() == [True, True, *[False] * 4, True, True, True, True, False]
    turned = (
        BASES["circle"]
        .axes[0]
        .index(np.array([0, 24, -1e-300, 23.9999999, 1e17, 1e300, np.inf, np.nan], float))
    )
    assert turned[:4].tolist() == [0, 0, 0, 0]
    assert 0 <= turned[4] < BASES["circle"].nodes
    assert turned[5:].tolist() == [BASES["circle"].nodes] * 3


def test_a_value_counts_at_the_nearest_node(basis):
    values = np.random.default_rng(3).uniform(0, float(basis.domain.length), 500)
    step = basis.period / basis.circle_nodes
    distance = np.abs(basis.axes[0].index(values + basis.domain.start) * step - values)
    assert np.minimum(distance, basis.period - distance).max() <= step / 2 * (1 + 1e-9)
    assert step <= float(basis.bandwidth) / 16


def test_the_division_of_the_budget_is_the_best_one(basis):
    """No other scales of the same norm give a smaller weighted sum of squares."""
    r = basis.amplitudes[not basis.counted :] / 2**24
    assert math.isclose(float(r @ r), 1, rel_tol=1e-12)
    h = float(basis.bandwidth)
    frequencies = 2 * np.pi / basis.period * np.arange(basis.highest + 1)
    weights = basis.target.weights(frequencies, h)[not basis.counted :]
    j = np.arange(not basis.counted, basis.highest + 1)
    wave = np.where(j > 0, 2.0, 1.0) * np.exp(-2 * (np.pi * h * j / basis.period) ** 2)
    # A term j > 0 has two parts, of mean square 1/2 each.
    kept = np.where(j > 0, 2.0, 1.0) * 0.5 ** (j > 0)

    def loss(scales):
        return float((kept * (weights * wave / scales) ** 2).sum())

    random = np.random.default_rng(2)
    for _ in range(20):
        other = r * np.exp(0.1 * random.normal(size=r.size))
        assert loss(other / np.linalg.norm(other)) > loss(r)
