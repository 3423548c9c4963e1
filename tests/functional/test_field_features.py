"""Features of fields: exact sums, and a sensitivity that no pair of records passes."""

import math
from fractions import Fraction
from functools import reduce
from itertools import product

import numpy as np
import pytest

from neyman.errors import InvalidParameter
from neyman.functional import Box, Circle, Cumulative, Density, FieldBasis, Interval, Scales
from neyman.functional._bases._features import MOST_RECORDS
from neyman.functional._bases._field_features import axes_of, field_sums
from neyman.functional._bases._fixed_point import contracted, fixed_product, scaled
from neyman.functional._bases._symmetric_waves import cosines
from neyman.functional._bases._waves import spread
from neyman.functional._densities._density import basis_on

LINE, TURN = Interval(0, 1, outside="clip"), Circle(24)
BASES = {
    "plane": FieldBasis((LINE, LINE), (Fraction(1, 10), Fraction(1, 16)), Scales(), True),
    "hour by delay": FieldBasis((TURN, LINE), (Fraction(3), Fraction(1, 10)), Density(), True),
    "torus": FieldBasis((TURN, TURN), (Fraction(4), Fraction(5)), Scales(), True),
    "uncounted": FieldBasis((LINE, TURN), (Fraction(1, 12), Fraction(4)), Scales(), False),
    "space": FieldBasis((LINE, TURN, TURN), (Fraction(1, 10), 5, 6), Scales(), True),
    "uncounted space": FieldBasis((TURN,) * 3, (Fraction(5),) * 3, Density(), False),
}


@pytest.fixture(params=BASES.values(), ids=BASES)
def basis(request):
    return request.param


def features(basis):
    """Return the table of each axis, from the definition."""
    tables = []
    for m, j, axis in zip(basis.circle_nodes, basis.highest, basis.axes, strict=True):
        turns = np.arange(m) / m
        place = np.outer(np.arange(j + 1), np.arange(axis.number)) % m
        waves = (np.cos(2 * np.pi * (turns - quarter)) for quarter in (0, 0.25))
        cosine, sine = (np.rint(2.0**20 * wave).astype(np.int64)[place] for wave in waves)
        tables.append(np.concatenate([cosine, sine[1:]]))
    return tables


def test_features_are_the_nearest_integers_to_the_waves(basis):
    for axis, table in zip(axes_of(basis), features(basis), strict=True):
        assert (axis.matrix == table).all()


@pytest.mark.parametrize("m", [k * 2**p for k in (2, 3) for p in range(4, 13)])
def test_an_eighth_of_a_circle_has_the_digits_of_all_of_it(m):
    turns = np.arange(m) / m
    cosine, sine = (np.rint(2.0**20 * wave) for wave in (cosines(m), np.roll(cosines(m), m // 4)))
    assert (cosine == np.rint(2.0**20 * np.cos(2 * np.pi * turns))).all()
    assert (sine == np.rint(2.0**20 * np.cos(2 * np.pi * (turns - 0.25)))).all()


def reference(basis, counts):
    """Return the integers, in Python's own, from the definition."""
    tables = features(basis)
    sums = counts.reshape([axis.number for axis in basis.axes]).astype(object) * 2**20
    for axis, table in enumerate(tables):
        moved = np.moveaxis(sums, axis, 0)
        rows = [sum(int(c) * x for c, x in zip(row, moved, strict=True)) for row in table]
        sums = np.moveaxis((np.array(rows, object) + 2**19) // 2**20, 0, axis)
    amplitudes = spread(basis.lattice)
    found = (amplitudes.astype(object) * sums + 2**25) // 2**26
    return np.clip(found[amplitudes > 0], -(2**62), 2**62).tolist()


def test_features_are_the_waves_to_half_an_integer(basis):
    for table, m, j in zip(features(basis), basis.circle_nodes, basis.highest, strict=True):
        angles = 2 * np.pi * np.outer(np.arange(j + 1), np.arange(table.shape[1])) / m
        assert np.abs(table[: j + 1] / 2**20 - np.cos(angles)).max() <= 2**-21 + 1e-12
        assert np.abs(table[j + 1 :] / 2**20 - np.sin(angles[1:])).max() <= 2**-21 + 1e-12
        assert (table[0] == 2**20).all()


@pytest.mark.parametrize("records", [50, 10**6, MOST_RECORDS - 1, 5 * MOST_RECORDS])
def test_sums_are_those_of_pythons_integers(basis, records):
    nodes = math.prod(axis.number for axis in basis.axes)
    shares = np.random.default_rng(1).dirichlet(np.full(nodes, 0.02))
    counts = np.floor(shares * records).astype(np.int64)
    counts[3] += records - counts.sum()
    assert counts.sum() == records
    assert field_sums(basis, counts).tolist() == reference(basis, counts)


def test_all_records_at_one_node_are_carried(basis):
    counts = np.zeros([axis.number for axis in basis.axes], np.int64)
    for place in (0, -1, counts.size // 3):
        counts[...] = 0
        counts.flat[place] = MOST_RECORDS - 1
        assert basis.sums(counts.ravel()).tolist() == reference(basis, counts)


def test_products_are_exact_at_the_ends_of_their_range():
    amplitudes = np.array([2**30, 2**30, 1, 2**30 - 1])
    sums = np.array([2**57 - 1, -(2**57) + 1, -1, 2**25 + 1])
    exact = [(int(a) * int(x) + 2**25) // 2**26 for a, x in zip(amplitudes, sums, strict=True)]
    assert scaled(amplitudes, sums).tolist() == exact


@pytest.mark.parametrize("nodes", [2, 513, 2**13])
@pytest.mark.parametrize("shift", [0, 20])
def test_limbs_are_exact_where_they_are_largest(nodes, shift):
    random = np.random.default_rng(3)
    matrix = np.full((3, nodes), 2.0**20)
    matrix[1] *= -1
    matrix[2] = random.integers(-(2**20), 2**20, nodes)
    for size in (2**20, 2 ** (57 if shift else 42) // nodes):
        numbers = random.integers(-size, size + 1, (nodes, 3))
        numbers[:, 0], numbers[:, 1] = size, -size
        whole = matrix.astype(np.int64).astype(object) @ numbers.astype(object)
        exact = (whole + (2**19 if shift else 0)) // 2**shift
        assert fixed_product(matrix, numbers, shift).tolist() == exact.T.tolist()


def test_labels_are_called_as_announced(basis):
    assert tuple(basis.labels()) == basis.label_names


def test_amplitudes_have_the_norm_that_is_declared(basis):
    assert math.isclose((basis.amplitudes**2).sum(), 2.0**48, rel_tol=1e-6)
    assert (basis.lattice[basis.kept].ravel()[1:] > 0).all()
    assert (basis.lattice[~basis.kept] == 0).all()
    assert (basis.lattice.flat[0] > 0) == basis.counted
    assert basis.lattice.max() <= 2**30
    assert basis.size == np.count_nonzero(spread(basis.lattice))


def test_the_division_of_the_budget_is_the_best_one():
    """No other amplitudes of the same norm give the waves less weighted noise."""
    basis = FieldBasis((LINE, TURN), (Fraction(1, 10), Fraction(3)), Density(), True)
    a = basis.amplitudes[basis.kept]
    wave = (basis.parts * basis.waves.multipliers(basis.bandwidth))[basis.kept]
    weights = np.ones(a.size)
    weights[0] = 9

    def loss(amplitudes):
        return float(((weights * wave / amplitudes) ** 2).sum())

    random = np.random.default_rng(2)
    for _ in range(20):
        other = a * np.exp(0.1 * random.normal(size=a.size))
        assert loss(other * np.linalg.norm(a) / np.linalg.norm(other)) > loss(a)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("k", [1, 2, 4, 8])
def test_a_mixture_serves_each_of_its_scales(d, k):
    """At most twice the noise of the best division for that scale; Density() has far more."""
    basis = FieldBasis((LINE,) * d, (Fraction(1, 12 if d == 3 else 80),) * d, Scales(), False)
    wave = basis.parts * basis.waves.multipliers([k * h for h in basis.bandwidth])
    a = basis.amplitudes / 2**24
    sd = np.sqrt(((wave[a > 0] / a[a > 0]) ** 2).sum())
    assert sd <= 2.001 * wave[a > 0].sum()


def outer(tables, place):
    rows = (table[:, node] for table, node in zip(tables, place, strict=True))
    return reduce(np.multiply.outer, rows)


def column(basis, nodes):
    """Return the exact integers of one record at a node."""
    counts = np.zeros([axis.number for axis in basis.axes], np.int64)
    counts[nodes] = 1
    return basis.sums(counts.ravel())


@pytest.mark.shows("S2.13")
def test_no_neighbour_is_farther_than_the_sensitivity(basis):
    """A thousand pairs over all the bases, of tables of many records, in exact integers."""
    random = np.random.default_rng(5)
    shape = [axis.number for axis in basis.axes]
    added = basis.sensitivity("add_remove")
    replaced = basis.sensitivity("replace_one")
    counts = random.integers(0, 2**12, shape)
    sums = basis.sums(counts.ravel())
    longest = farthest = 0
    for _ in range(100):
        one, other = (tuple(random.integers(0, shape)) for _ in range(2))
        counts[one] += 1
        more = basis.sums(counts.ravel())
        moved = (more - sums).tolist()
        longest = max(longest, sum(v * v for v in moved))
        assert max(map(abs, moved)) <= added.largest
        counts[other] -= 1
        changed = (basis.sums(counts.ravel()) - sums).tolist()
        farthest = max(farthest, sum(v * v for v in changed))
        assert max(map(abs, changed)) <= replaced.largest
        counts[one] -= 1
        counts[other] += 1
    assert longest <= added.l2_squared
    assert max(longest, farthest) <= replaced.l2_squared
    # Not much larger than need be.
    assert added.l2_squared <= longest * (1 + 3e-4)


def test_no_pair_of_nodes_is_farther_than_the_sensitivity():
    """All pairs of a small torus and of a small box, without the rounding of sums."""
    for name in ("torus", "uncounted", "space"):
        basis = BASES[name]
        tables = [table / 2**20 for table in features(basis)]
        nodes = [np.arange(0, table.shape[1], 3) for table in tables]
        places = list(product(*nodes))[:: 1 + len(list(product(*nodes))) // 1200]
        a = spread(basis.amplitudes)
        columns = np.array([a * outer(tables, place) for place in places]).reshape(len(places), -1)
        squares = (columns * columns).sum(axis=1)
        apart = (squares[:, None] + squares - 2 * columns @ columns.T).max()
        assert apart <= basis.sensitivity("replace_one").l2_squared
        assert squares.max() <= basis.sensitivity("add_remove").l2_squared


def test_the_norm_of_a_column_is_what_it_is_said_to_be(basis):
    random = np.random.default_rng(1)
    shape = [axis.number for axis in basis.axes]
    bound = math.sqrt(basis.sensitivity("add_remove").l2_squared)
    slack = math.sqrt(basis.size) + 200
    for _ in range(5):
        moved = column(basis, tuple(random.integers(0, shape))).astype(float)
        assert abs(np.linalg.norm(moved) - 2**24) < slack
    assert abs(bound - 2**24) < 2 * slack


def test_contraction_is_a_sum_over_each_axis():
    random = np.random.default_rng(0)
    tensor = random.normal(size=(3, 4, 5))
    tables = [random.normal(size=(n, n + 1)) for n in tensor.shape]
    found = contracted(tensor, tables)
    np.testing.assert_allclose(found, np.einsum("abc,ai,bj,ck->ijk", tensor, *tables), rtol=1e-12)


def test_labels_name_every_integer(basis):
    labels = basis.labels()
    d = basis.dimensions
    assert list(labels) == [*(f"frequency_{k + 1}" for k in range(d)), "part"]
    rows = list(zip(*labels.values(), strict=True))
    assert len(set(rows)) == basis.size == len(rows)
    # The integers of a record at the origin: cosines are 1, sines 0.
    at_origin = column(basis, (0,) * d)
    for row, integer in zip(rows, at_origin.tolist(), strict=True):
        amplitude = basis.amplitudes[row[:d]]
        expected = 0 if "sin" in row[-1] else amplitude
        assert abs(integer - expected) <= 1


@pytest.mark.parametrize(
    ("sides", "bandwidth", "says"),
    [
        ((LINE, LINE), (0.1,), "must be 2 numbers"),
        ((LINE, LINE), (0.1, 0.001), "on a side of length 1"),
        ((LINE, TURN), (0.1, 7), "on a side of length 24"),
        ((LINE, LINE), (0.002, 0.002), "Write larger bandwidths"),
        ((LINE,) * 3, (0.01,) * 3, "Write larger bandwidths"),
        ((LINE, LINE), 0.1, "must be 2 numbers"),
        ((LINE, LINE), "0.1", "must be 2 numbers"),
        ((LINE,) * 4, (0.1,) * 4, "two or three sides"),
        ((LINE,), (0.1,), "two or three sides"),
        ((LINE, "x"), (0.1, 0.1), "two or three sides"),
    ],
)
def test_bandwidths_out_of_reach_are_refused(sides, bandwidth, says):
    with pytest.raises(InvalidParameter, match=says):
        basis_on(Box(*sides), bandwidth, None, counted=True)


def test_a_target_of_curves_alone_is_refused():
    with pytest.raises(InvalidParameter, match=r"must be Density\(\) or Scales\(\)"):
        basis_on(Box(LINE, LINE), (0.1, 0.1), Cumulative(), counted=True)
    assert basis_on(Box(LINE, LINE), (0.1, 0.1), None, counted=True).target == Scales()
