"""Regressions on several features: exact sums, how far a record moves them, and what is read."""

import math

import numpy as np
import pytest

import neyman as ny
from neyman import functional
from neyman.errors import InvalidParameter
from neyman.functional import AdditiveCurve, Circle, Interval, Units
from neyman.testing import SeededBits

RELATIONS = ["add_remove", "replace_one"]
BAD = [math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324]
DOMAINS = [Interval(-1, 1, outside="clip"), Interval(0, 4, outside="drop")]
PAIRS = [[], [(0, 1)]]
IDS = ["curves", "interaction"]


def ask(x, y, **changed):
    declared = {
        "domains": DOMAINS,
        "response": Interval(-1, 3, outside="clip"),
        "degree": 3,
        "neighbors": "add_remove",
        "unit": "one row",
        "name": "doses",
    }
    rows = np.asarray(x, float).reshape(-1, 2)
    return functional.additive_regression(rows, np.asarray(y, float), **(declared | changed))


class Answer:
    """What `functional.function` needs of a release."""

    def __init__(self, question, noisy, noise):
        self.query = question.query
        self.columns = question.reading.columns(noisy, noise, 0.95)


def squared(move):
    return sum(int(value) ** 2 for value in move)


def curve_of(x, y, *, mu, seed=1, **declared):
    """Release with seeded noise; mu=None adds as good as none."""
    question = ask(x, y, **declared)
    noise = ny.Gaussian(scale=1)
    if mu is not None:
        noise = ny.Gaussian.calibrate(question.sensitivity, mu=mu)
    noisy = noise.add_noise(question.compute(), SeededBits(seed))
    return functional.function(Answer(question, noisy, noise), AdditiveCurve)


# -- what is released --------------------------------------------------------------------------


def integers_of(place, degree, pairs):
    """Return u of a record by its definition; None where it is at no place."""
    if any(math.isnan(value) for value in place) or not 0 <= place[1] <= 4:
        return None
    node = [
        math.floor((min(max(place[0], -1), 1) + 1) / (2 / 1024) + 0.5),
        math.floor(place[1] / (4 / 1024) + 0.5),
    ]
    share = {1: 1, 2: 4 / 5, 3: 16 / 25}
    formula = {
        1: lambda t: t,
        2: lambda t: (3 * t**2 - 1) / 2,
        3: lambda t: (5 * t**3 - 3 * t) / 2,
    }
    alone = [
        [math.floor(1024 * share[j] * formula[j](k / 512 - 1) + 0.5) for j in range(1, degree + 1)]
        for k in node
    ]
    joint = [
        math.floor(alone[0][i] * alone[1][j] / 1024)
        for _ in pairs
        for i in range(degree)
        for j in range(degree - 1 - i)
    ]
    return [1024, *alone[0], *alone[1], *joint]


@pytest.mark.parametrize("pairs", PAIRS, ids=IDS)
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_the_sums_are_those_of_whole_numbers(pairs, neighbors):
    rng = np.random.default_rng(1)
    x = np.concatenate([np.add(rng.uniform(-1.5, 1.5, (60, 2)), [0, 2.2]), np.resize(BAD, (6, 2))])
    y = np.concatenate([rng.uniform(-2, 4, 60), BAD])
    question = ask(x, y, neighbors=neighbors, interactions=pairs)
    steps = functional.AdditiveTerms.of_record(question.query["channels"]).steps
    number = 7 + 3 * len(pairs)
    products, responses = np.zeros((number, number), object), np.zeros(number, object)
    for place, answer in zip(x, y, strict=True):
        u = integers_of(place, 3, pairs)
        if u is None or math.isnan(answer):
            continue
        kept = min(max(answer, -1.0), 3.0)
        k = math.floor((kept + 1) / (4 / (2 * steps)) + 0.5) - steps
        products += np.outer(np.array(u, object), np.array(u, object))
        responses += k * np.array(u, object)
    upper = [products[a, b] for a in range(number) for b in range(a, number)]
    expected = upper[neighbors == "replace_one" :] + responses.tolist()
    assert question.compute().tolist() == expected


@pytest.mark.parametrize("pairs", PAIRS, ids=IDS)
@pytest.mark.parametrize("neighbors", RELATIONS)
def test_no_neighbour_moves_the_sums_further_than_stated(pairs, neighbors):
    """300 pairs of records: anywhere, at ends and bounds, and at no place."""
    rng = np.random.default_rng(2)
    places, answers = [-1.0, 1.0, 0.0, 4.0, math.nan, 9.0], [-1.0, 3.0, 1.0, math.nan, -math.inf]

    def record():
        place = [rng.choice(places), rng.choice([0.0, 4.0, 2.0, math.nan, -1.0])]
        if rng.random() < 0.3:
            place = [rng.uniform(-1, 1), rng.uniform(0, 4)]
        return place, rng.choice(answers) if rng.random() < 0.8 else rng.uniform(-2, 4)

    def sums(one):
        return ask([one[0]], [one[1]], neighbors=neighbors, interactions=pairs).compute()

    stated = ask([0, 0], [0], neighbors=neighbors, interactions=pairs).sensitivity
    found = []
    for _ in range(300):
        move = sums(record())
        if neighbors == "replace_one":
            move = move - sums(record())
        found.append(squared(move))
        assert int(np.abs(move).max()) <= stated.largest
    assert max(found) <= stated.l2_squared
    assert max(found) >= 0.8 * float(stated.l2_squared)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_the_bound_is_nearly_attained_and_an_answer_beyond_its_bounds_breaks_it(neighbors):
    question = ask([1, 4], [3], neighbors=neighbors)
    allowed = float(question.sensitivity.l2_squared)
    move = question.compute()
    if neighbors == "replace_one":
        move = move - ask([1, 4], [-1], neighbors=neighbors).compute()
    assert 0.85 * allowed <= squared(move) <= allowed
    if neighbors == "add_remove":
        assert squared(move) == allowed
    # The broken twin: responses that are not clipped at their bounds.
    move[-7:] = move[-7:] * 1.3
    assert squared(move) > allowed


def test_no_unit_moves_the_sums_further_than_stated():
    ids = np.array([1, 2, 2, 2, 3])
    x, y = np.tile([1.0, 4.0], (5, 1)), np.full(5, 3.0)

    def sums(kept, most):
        return ask(x[kept], y[kept], units=Units(ids[kept], max_values=most))

    whole, rest = sums(ids > 0, 2), sums(ids != 2, 2)
    move = squared(whole.compute() - rest.compute())
    assert move == whole.sensitivity.l2_squared == 4 * ask([1, 4], [3]).sensitivity.l2_squared


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_no_value_raises_an_error_and_order_does_not_matter(neighbors):
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.uniform(-2, 5, (300, 2)), np.resize(BAD, (30, 2))])
    y = np.concatenate([rng.uniform(-2, 4, 300), np.resize(BAD, 30)])
    order = rng.permutation(len(x))
    first = ask(x, y, neighbors=neighbors).compute()
    assert (first == ask(x[order], y[order], neighbors=neighbors).compute()).all()


def test_the_question_is_public():
    question = ask([0.123456, 0.4], [0.654321])
    assert "123456" not in repr(question) + str(question.query)
    assert "654321" not in repr(question) + str(question.query)
    others = [ask([0, 0], [0], degree=4), ask([0, 0], [0], interactions=[(0, 1)])]
    assert len({str(one.query) for one in (question, *others)}) == 3


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"degree": None}, "one of records= and degree=; got"),
        ({"records": 100}, "one of records= and degree=; got"),
        ({"degree": 13}, "degree"),
        ({"degree": 1, "interactions": [(0, 1)]}, "degree of at least 2"),
        ({"interactions": [(0, 0)]}, "pairs of two features"),
        ({"interactions": [(0, 2)]}, "pairs of two features"),
        ({"interactions": [(0, 1), (1, 0)]}, "each once"),
        ({"interactions": [0]}, "list of pairs"),
        ({"interactions": [("a", "b")]}, "no pair"),
        ({"domains": DOMAINS[:1]}, "must have shape \\(n, 1\\)"),
        ({"domains": [*DOMAINS[:1], Circle(4)]}, "each of domains"),
        ({"domains": []}, "1 to 16"),
        ({"domains": [Interval(0, 1, outside="count")] * 2}, "outside"),
        ({"response": (0, 1)}, "bounds of y"),
        ({"neighbors": "some"}, "neighbouring relation"),
        ({"y": np.zeros(3)}, "must have one length"),
        ({"x": [[1.0, 2.0]]}, "asarray"),
    ],
)
def test_unusable_declarations_are_refused(changed, words):
    given = {
        "x": np.zeros((2, 2)),
        "y": np.zeros(2),
        "domains": DOMAINS,
        "response": Interval(-1, 3, outside="clip"),
        "degree": 3,
        "neighbors": "add_remove",
        "unit": "one row",
        "name": "doses",
    }
    with pytest.raises(InvalidParameter, match=words):
        functional.additive_regression(**(given | changed))


# -- what is read ------------------------------------------------------------------------------


def bent(x):
    return np.sin(2 * x[:, 0]) / 2 + (x[:, 1] - 2) ** 2 / 4 - 0.2


def drawn(records, seed, of=bent):
    rng = np.random.default_rng(seed)
    x = np.column_stack([2 * rng.beta(2, 2, records) - 1, 4 * rng.beta(2, 3, records)])
    return x, of(x) + rng.normal(0, 0.2, records)


def test_without_noise_it_is_least_squares():
    x, y = drawn(20_000, 1)
    curve = curve_of(x, y, mu=None, degree=3)
    t = x * [1, 1 / 2] - [0, 1]
    columns = [np.ones(len(x)), *(t[:, k] ** j for k in (0, 1) for j in (1, 2, 3))]
    solved = np.linalg.lstsq(np.column_stack(columns), y, rcond=None)[0]
    expected = np.column_stack(columns) @ solved
    assert np.max(np.abs(curve(x) - expected)) < 0.01


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_known_curves_are_found_and_what_has_no_effect_has_none(neighbors):
    x, y = drawn(5000, 2, of=lambda x: np.sin(2 * x[:, 0]) / 2)
    curve = curve_of(x, y, mu=1, records=5000, degree=None, neighbors=neighbors)
    first, second = curve.effects
    assert np.sqrt(np.mean((curve(x) - np.sin(2 * x[:, 0]) / 2) ** 2)) < 0.05
    assert first.importance == pytest.approx(np.std(np.sin(2 * x[:, 0]) / 2), rel=0.1)
    assert second.importance < 0.06
    places, values = first.grid(101)
    shape = np.sin(2 * places) / 2
    assert np.max(np.abs(values - shape)[10:-10]) < 0.1
    assert abs(float(np.mean(first(x[:, 0])))) < 0.02


def test_a_joint_effect_is_found_where_it_was_declared_and_not_elsewhere():
    def joint(x):
        return x[:, 0] * (x[:, 1] - 2)

    x, y = drawn(20_000, 3, of=joint)
    errors = {
        len(pairs): np.sqrt(
            np.mean((curve_of(x, y, mu=1, degree=4, interactions=pairs)(x) - joint(x)) ** 2)
        )
        for pairs in PAIRS
    }
    assert errors[1] < 0.06 < 0.2 < errors[0]
    curve = curve_of(x, y, mu=1, degree=4, interactions=[(0, 1)])
    assert curve.effect(0, 1).importance > 4 * max(one.importance for one in curve.effects[:2])
    assert curve.effect(0, 1)([[0.5, 3.0], [0.5, 1.0]]) == pytest.approx([0.5, -0.5], abs=0.15)


def noisy_line(x, y, rng):
    """Least squares from noisy sums, the budget in two halves."""
    rows = np.column_stack([np.ones(len(x)), x[:, 0], x[:, 1] / 2 - 1])
    products = rows.T @ rows + rng.normal(0, math.sqrt(2 * 6), (3, 3))
    totals = rows.T @ (np.clip(y, -1, 3) - 1) + rng.normal(0, math.sqrt(2 * 12), 3)
    return 1 + rows @ np.linalg.solve(products, totals)


@pytest.mark.parametrize(("degree", "of", "share"), [(1, None, 1.5), (4, bent, 0.5)])
def test_few_records_are_read_as_well_as_by_a_noisy_line_and_curves_better(degree, of, share):
    of = of or (lambda x: 0.6 * x[:, 0] - 0.3 * (x[:, 1] - 2))
    ours, theirs = [], []
    for seed in range(40):
        x, y = drawn(1000, seed, of)
        curve = curve_of(x, y, mu=1, seed=seed, degree=degree)
        ours.append(np.mean((curve(x) - of(x)) ** 2))
        theirs.append(np.mean((noisy_line(x, y, np.random.default_rng(seed)) - of(x)) ** 2))
    assert np.mean(ours) < share * np.mean(theirs)


def covered(*factors):
    """Return how often the curve is within 1.96 deviations times each factor, of 40 releases."""
    found = []
    for seed in range(40):
        x, y = drawn(1500, seed)
        curve = curve_of(x, y, mu=0.7, seed=seed, degree=4)
        places = drawn(50, seed + 1000)[0]
        reach = 1.96 * np.multiply.outer(factors, curve.sd(places))
        found.append(np.mean(np.abs(curve(places) - bent(places)) < reach, axis=1))
    return np.mean(found, axis=0)


def test_the_deviation_is_what_is_left_open():
    """Mean coverage over releases; its own deviation is below 0.02 by 40 releases.

    The broken twin takes a third of the deviation.
    """
    right, wrong = covered(1, 1 / 3)
    assert right > 0.92
    assert wrong < 0.86


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_records_come_back_and_others_are_refused(neighbors, tmp_path):
    x, y = drawn(500, 4)
    curve = curve_of(x, y, mu=1, neighbors=neighbors, interactions=[(1, 0)])
    assert functional.read(curve.to_json()) == curve
    functional.save(curve, tmp_path / "f")
    back = functional.load(tmp_path / "f", AdditiveCurve)
    assert back == curve
    assert (back(x) == curve(x)).all()
    record = curve.to_json()
    for name, wrong in [("degree", 40), ("neighbors", "any"), ("domains", []), ("degree", "3")]:
        broken = record | {"channels": record["channels"] | {name: wrong}}
        with pytest.raises(InvalidParameter):
            functional.read(broken)
    with pytest.raises(InvalidParameter):
        functional.read(record | {"integers": record["integers"][:-1]})


def test_a_count_that_is_noise_alone_is_refused():
    curve = curve_of(np.zeros((1, 2)), np.zeros(1), mu=0.1)
    with pytest.raises(InvalidParameter, match="spend more"):
        curve([0, 1])


@pytest.mark.parametrize(
    ("read", "words"),
    [
        (lambda c: c([1.0]), "2 features"),
        (lambda c: c(1.0), "2 features"),
        (lambda c: c([2.0, 1.0]), "outside"),
        (lambda c: c.effect(2), "feature"),
        (lambda c: c.effect(0, 1), "interaction"),
        (lambda c: c.effect(), "interaction"),
        (lambda c: c.effect(0)(7), "outside"),
    ],
)
def test_unusable_readings_are_refused(read, words):
    with pytest.raises(InvalidParameter, match=words):
        read(curve_of(*drawn(500, 5), mu=1))


def test_it_goes_through_the_door(tmp_path):
    ledger = ny.Ledger.open(tmp_path / "a", cap=ny.gdp(1), unit="one row", neighbors="add_remove")
    x, y = drawn(2000, 6)
    question = ask(x, y)
    noise = ny.Gaussian.calibrate(question.sensitivity, mu=0.5)
    release = ny.release(question, noise, ledger, entry="sum of curves")
    assert release.guarantee.curve == ny.gdp(0.5)
    curve = functional.function(release, AdditiveCurve)
    # Ten times the error that is seen.
    assert np.sqrt(np.mean((curve(x) - bent(x)) ** 2)) < 0.5
