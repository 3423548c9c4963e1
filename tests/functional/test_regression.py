"""The question of a regression curve: exact sums, and how far one record moves them."""

import math

import numpy as np
import pytest

import neyman as ny
from neyman import functional
from neyman.errors import InvalidParameter
from neyman.functional import Circle, Density, Interval, Units
from neyman.functional._regressions._pairs import pair_sums
from neyman.functional._regressions._regression import regression

RELATIONS = ["add_remove", "replace_one"]
DOMAINS = [Interval(-2, 3, outside="clip"), Interval(-2, 3, outside="drop"), Circle(5)]
BAD = [math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324]


def ask(x, y, **changed):
    declared = {
        "domain": Interval(-2, 3, outside="clip"),
        "bandwidth": 0.4,
        "response": Interval(-1, 3, outside="clip"),
        "neighbors": "add_remove",
        "unit": "one row",
        "name": "doses",
    }
    return regression(np.asarray(x, float), np.asarray(y, float), **(declared | changed))


def squared(move):
    return sum(int(value) ** 2 for value in move)


def steps_of(y, bound):
    """Return k from its definition, in Python; None where it counts for nothing."""
    if math.isnan(y):
        return None
    kept = min(max(y, -1.0), 3.0)
    return math.floor((kept + 1.0) / (4.0 / (2 * bound)) + 0.5) - bound


@pytest.mark.parametrize("domain", DOMAINS, ids=["clip", "drop", "circle"])
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_the_sums_are_those_of_whole_numbers(domain, neighbors):
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.uniform(-3, 4, 60), BAD, rng.uniform(-2, 3, 6)])
    y = np.concatenate([rng.uniform(-2, 4, 60), rng.uniform(-1, 3, 6), BAD])
    question = ask(x, y, domain=domain, neighbors=neighbors)
    channels = functional.RegressionCurve.of_release(_answer(question)).channels
    steps = {"add_remove": 360, "replace_one": 300}[neighbors]
    assert channels.steps == steps
    expected, row = [0] * question.size, 0
    for basis, weighted in ((channels.counts, False), (channels.responses, True)):
        matrix = basis.products(np.eye(basis.nodes))
        for place, answer in zip(x, y, strict=True):
            node = int(basis.axes[0].index(np.array([place]))[0])
            k = steps_of(answer, steps)
            if node == basis.nodes or k is None:
                continue
            for i in range(basis.size):
                feature = round(matrix[i, node] / 256)
                expected[row + i] += feature * (k if weighted else 256)
        row += basis.size
    assert question.compute().tolist() == expected


@pytest.mark.parametrize("domain", DOMAINS, ids=["clip", "drop", "circle"])
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_no_neighbour_moves_the_sums_further_than_stated(domain, neighbors):
    """1,000 pairs of records: anywhere, at ends and bounds, and at no place."""
    rng = np.random.default_rng(2)
    places = [-2.0, 3.0, 0.5, math.nan, math.inf, 9.0]
    answers = [-1.0, 3.0, 1.0, 1.001, math.nan, -math.inf]

    def record():
        far = rng.random() < 0.5
        return (
            rng.choice(places) if far else rng.uniform(-2.5, 3.5),
            rng.choice(answers) if rng.random() < 0.6 else rng.uniform(-2, 4),
        )

    def sums(one):
        return ask([one[0]], [one[1]], domain=domain, neighbors=neighbors).compute()

    stated = ask([0.0], [0.0], domain=domain, neighbors=neighbors).sensitivity
    found = []
    for _ in range(170):
        first, second = record(), record()
        move = sums(first)
        if neighbors == "replace_one":
            move = move - sums(second)
        found.append(squared(move))
        assert int(np.abs(move).max()) <= stated.largest
    assert max(found) <= stated.l2_squared
    assert max(found) >= 0.9 * float(stated.l2_squared)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_the_bound_is_nearly_attained_and_a_wider_response_breaks_it(neighbors):
    question = ask([0.0], [9.0], neighbors=neighbors, bandwidth=0.1)
    allowed = float(question.sensitivity.l2_squared)
    up = question.compute()
    down = ask([0.0], [-9.0], neighbors=neighbors, bandwidth=0.1).compute()
    moves = [up] if neighbors == "add_remove" else [up - down]
    assert 0.99 * allowed <= max(squared(move) for move in moves) <= allowed
    # The broken twin: responses that are not clipped at their bounds.
    channels = functional.RegressionCurve.of_release(_answer(question)).channels
    nodes = channels.counts.axes[0]
    counts = np.zeros(nodes.number, np.int64)
    counts[nodes.index(np.array([0.0]))] = 1
    wide = pair_sums(channels, counts, counts * (channels.steps + 20))
    move = wide if neighbors == "add_remove" else 2 * wide[-channels.responses.size :]
    assert squared(move) > allowed


def test_no_unit_moves_the_sums_further_than_stated():
    rng = np.random.default_rng(3)
    ids, x = rng.integers(0, 200, 1000), rng.uniform(-2, 3, 1000)
    y = rng.choice([-1.0, 3.0, 0.3, math.nan], 1000)
    ids[:8], x[:8], y[:8] = 7, 0.5, 3.0

    def sums(kept):
        question = ask(x[kept], y[kept], units=Units(ids[kept], max_values=4))
        return question.compute(), question.sensitivity

    whole, stated = sums(ids >= 0)
    moved = [squared(whole - sums(ids != unit)[0]) for unit in range(200)]
    assert max(moved) <= stated.l2_squared
    assert moved[7] == max(moved) > 0.99 * float(stated.l2_squared)
    assert stated.l2_squared == 16 * ask(x, y).sensitivity.l2_squared
    # Without the limit the same unit moves them further: the limit is what holds.
    all_of_it = ask(x, y).compute() - ask(x[ids != 7], y[ids != 7]).compute()
    assert squared(all_of_it) > stated.l2_squared


def test_the_first_records_of_a_unit_count_whatever_is_in_them():
    ids = np.array([1, 1, 2, 1])
    question = ask([0.0, 1.0, 2.0, 2.5], [math.nan, 1, 2, 3], units=Units(ids, max_values=2))
    assert (question.compute() == ask([1.0, 2.0], [1, 2]).compute()).all()


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_no_value_raises_an_error_and_order_does_not_matter(neighbors):
    for bad in BAD:
        question = ask([bad, 1.0, bad], [1.0, bad, bad], neighbors=neighbors)
        assert question.compute().shape == (question.size,)
    nothing = ask([math.nan, 1.0], [1.0, math.nan], neighbors=neighbors)
    assert not nothing.compute().any()
    rng = np.random.default_rng(4)
    x, y = rng.uniform(-2, 3, 300), rng.uniform(-1, 3, 300)
    turned = ask(x[::-1], y[::-1], neighbors=neighbors).compute()
    assert (turned == ask(x, y, neighbors=neighbors).compute()).all()
    # A scale of five points is not rounded.
    points = ask([1.0, 1.0, 1.0], [0.0, 1.0, 2.0], neighbors=neighbors).compute()
    assert (points == 3 * ask([1.0], [1.0], neighbors=neighbors).compute()).all()
    one = ask([1.0], [2.0], neighbors=neighbors)
    assert squared(one.compute()) <= one.sensitivity.l2_squared
    same = ask(np.full(1000, 1.0), np.full(1000, 2.0), neighbors=neighbors)
    assert (same.compute() == 1000 * one.compute()).all()


def test_an_empty_array_sums_to_nothing():
    assert not ask([], []).compute().any()
    with pytest.raises(InvalidParameter, match="replace_one"):
        ask([], [], neighbors="replace_one")


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.bool_, np.uint64])
def test_all_real_dtypes_and_shapes_are_taken(dtype):
    values = np.array([[0], [1], [1], [0]]).astype(dtype)
    question = regression(values, values, **_declared())
    plain = regression(values.astype(float).ravel(), values.astype(float).ravel(), **_declared())
    assert (question.compute() == plain.compute()).all()


def test_a_million_records_are_summed_without_rounding():
    """As the sum of pieces that are each exact."""
    rng = np.random.default_rng(5)
    x, y = rng.uniform(-2, 3, 10**6), rng.uniform(-1, 3, 10**6)
    parts = sum(ask(x[i::4], y[i::4]).compute() for i in range(4))
    assert (ask(x, y).compute() == parts).all()


def test_as_many_as_are_allowed_stay_below_2_to_the_63():
    channels = functional.RegressionCurve.of_release(_answer(ask([0.0], [1.0]))).channels
    counts = np.zeros(channels.counts.nodes, np.int64)
    counts[0] = 2**36
    totals = -counts * channels.steps
    one = pair_sums(channels, counts // 2**36, totals // 2**36)
    whole = pair_sums(channels, counts, totals)
    assert [int(value) for value in whole] == [int(value) << 36 for value in one]
    assert int(np.abs(whole).max()) < 2**62


def test_the_question_is_public():
    question = ask([0.123456], [0.654321])
    written = repr(question) + str(question.query)
    assert "123456" not in written
    assert "654321" not in written
    assert question.query["records"] is None
    assert ask([1.0], [1.0], neighbors="replace_one").query["records"] == 1
    other = ask([0.1], [0.1], target=Density())
    assert other.query["channels"] != question.query["channels"]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"bandwidth": 0.01}, "at least"),
        ({"bandwidth": 1}, "bandwidth"),
        ({"response": (0, 1)}, "bounds of y"),
        ({"response": Circle(2)}, "bounds of y"),
        ({"neighbors": "some"}, "neighbouring relation"),
        ({"y": np.zeros(3)}, "must have one shape"),
        ({"y": np.array(["a", "b"])}, "real numbers"),
        ({"x": [1.0, 2.0]}, "asarray"),
        ({"units": Units(np.array([1]), 1)}, "ids"),
        (
            {"units": Units(np.array([1, 2]), 1), "neighbors": "replace_one"},
            "add_remove",
        ),
    ],
)
def test_unusable_declarations_are_refused(changed, words):
    given = {"x": np.array([1.0, 2.0]), "y": np.array([0.0, 1.0])} | _declared() | changed
    with pytest.raises(InvalidParameter, match=words):
        functional.regression(**given)


def _declared():
    return {
        "domain": Interval(-2, 3, outside="clip"),
        "bandwidth": 0.4,
        "response": Interval(-1, 3, outside="clip"),
        "neighbors": "add_remove",
        "unit": "one row",
        "name": "doses",
    }


class _answer:  # noqa: N801
    """What `of_release` needs of a release: here without noise."""

    def __init__(self, question):
        noise = ny.Gaussian(scale=1)
        self.query = question.query
        self.columns = question.reading.columns(np.zeros(question.size, np.int64), noise, 0.95)
