"""What was packed is what the library says, rounded outwards, and the page reads it so."""

import base64
import json
import random
from importlib.resources import files

import numpy as np
import pytest
from tests.explorer.node import answers, needs_node

from neyman.accounting import CANONNE_KAMATH_STEINKE, MIRONOV, dp_sgd, rdp_epsilon
from neyman.explorer._grid import DELTAS, NOISES, ODDS, ORDERS, RATES, SHARES, STEPS, USUAL, stops
from neyman.explorer._packing import ABSENT, BYTES, decoded, encoded
from neyman.numerics import Array

PACKED = json.loads(files("neyman.explorer").joinpath("trainings.json").read_text("utf-8"))
GRID = {"deltas": DELTAS, "odds": ODDS, "shares": SHARES, "usual": USUAL, "orders": ORDERS}
MANY = [pytest.param(2, id="few"), pytest.param(150, id="many", marks=pytest.mark.soak)]


def name_of(noise, rate, steps):
    return f"{noise:g},{rate:g},{steps}"


def records(text):
    held = base64.b64decode(text)
    return [held[k : k + BYTES] for k in range(0, len(held), BYTES)]


def quick(draw, count):
    """Return trainings that sample often, which the library answers in milliseconds."""
    often = [
        stop for stop in stops() if stop[1] * stop[2] >= 10 and name_of(*stop) in PACKED["stops"]
    ]
    return draw.sample(often, count)


def test_a_bracket_is_rounded_outwards_and_hardly():
    draw = random.Random(1)
    for _ in range(5000):
        upper = draw.random() * 10 ** draw.uniform(-30, 3)
        lower = upper * (1 - draw.random() * 10 ** draw.uniform(-16, 0))
        low, high = decoded(encoded(lower, upper))
        assert low <= lower <= upper <= high <= upper * (1 + 3e-11)
        assert high - low <= 1.2 * (upper - lower) + 1e-9 * upper
    assert decoded(encoded(0.0, 0.0)) == (0.0, 0.0)
    assert decoded(ABSENT) is None


@needs_node
def test_the_page_reads_what_was_written():
    draw = random.Random(2)
    texts = draw.sample(sorted(PACKED["stops"].values()), 20)
    for text, found in zip(texts, answers("recordOf", texts), strict=True):
        for mine, seven in zip(found, records(text), strict=True):
            theirs = decoded(seven)
            if theirs is None:
                assert mine is None
            else:
                assert mine[1] == theirs[1]
                assert mine[0] <= theirs[0] <= mine[0] * (1 + 1e-14)


def test_what_is_left_out_lies_below_what_was_packed():
    assert {f"{noise:g},{rate:g}" for noise in NOISES for rate in RATES} == PACKED["steps"].keys()
    assert {name_of(noise, rate, STEPS[-1]) for noise in NOISES for rate in RATES} <= PACKED[
        "stops"
    ].keys()
    often = {name_of(*stop) for stop in stops() if stop[1] * stop[2] >= 10}
    assert often <= PACKED["stops"].keys() <= {name_of(*stop) for stop in stops()}


@pytest.mark.parametrize("count", MANY)
def test_what_was_packed_is_derived_again(count):
    for noise, rate, steps in quick(random.Random(3), count):
        curve = dp_sgd(noise, rate, steps)
        held = [decoded(seven) for seven in records(PACKED["stops"][name_of(noise, rate, steps)])]
        scale = held[DELTAS.index(USUAL)][1]
        places = np.asarray([*ODDS, *(share * scale for share in SHARES)])
        mu = curve.mu(slack=1e-8, bracket=True)
        true = [
            *pairs(curve.epsilon(np.asarray(DELTAS), bracket=True)),
            *pairs(curve.delta(places, bracket=True)),
            (mu.lower, mu.upper),
        ]
        assert len(true) == len(held)
        for mine, (lower, upper) in zip(held, true, strict=True):
            if mine is not None:
                assert mine[0] <= upper * (1 + 1e-12)
                assert lower <= mine[1] * (1 + 1e-12)


def pairs(answer):
    lower, upper = (np.asarray(side, dtype=float).tolist() for side in answer)
    return zip(lower, upper, strict=True)


@needs_node
@pytest.mark.parametrize("count", MANY)
def test_curves_made_of_packed_points_enclose_the_librarys(count):
    chosen = quick(random.Random(4), count)
    epsilons, deltas = [0.02, 0.3, 1.7, 4.0], [3e-2, 2e-4, 1e-5, 7e-8]
    alphas = [1e-6, 1e-3, 0.05, 0.4, 0.9]
    code = (
        f"(text) => {{ const knots = new Knots(recordOf(text), {json.dumps(GRID)});"
        f"return [{epsilons}.map((x) => knots.delta(x)), {deltas}.map((x) => knots.epsilon(x)),"
        f"{alphas}.map((x) => knots.tpr(x))]; }}"
    )
    texts = [PACKED["stops"][name_of(*stop)] for stop in chosen]
    for stop, found in zip(chosen, answers(code, texts), strict=True):
        curve = dp_sgd(*stop)
        true = [curve.delta(epsilons, bracket=True), curve.epsilon(deltas, bracket=True)]
        encloses(found[0], *true[0])
        encloses(found[1], *true[1])
        at = alphas if count > 10 else alphas[2:3]
        encloses(found[2] if count > 10 else found[2][2:3], *curve.tpr(at, bracket=True))


def encloses(found, lower: Array, upper: Array):
    low, high = np.asarray(found, dtype=float).T
    assert np.all(low <= np.asarray(upper) * (1 + 1e-12) + 1e-300)
    assert np.all(high >= np.asarray(lower) * (1 - 1e-12))


@needs_node
def test_other_methods_are_those_of_the_library():
    noise, rate, steps = 1.0, 0.01, 1000
    curve = dp_sgd(noise, rate, steps)
    renyi = PACKED["steps"]["1,0.01"]["renyi"]
    # The library leaves out orders that take longest; so are they here.
    orders = [order for order, found in zip(ORDERS, renyi, strict=True) if found is not None]
    summed = [found * steps for found in renyi if found is not None]
    for name, by in (("renyiEpsilon", CANONNE_KAMATH_STEINKE), ("momentsEpsilon", MIRONOV)):
        (found,) = answers(f"([r, a]) => {name}(r, a, 1e-5)", [(summed, orders)])
        true = rdp_epsilon(curve, 1e-5, by=by, orders=orders)
        assert abs(found / true - 1) < 1e-9
        assert found >= curve.epsilon(1e-5)


@needs_node
def test_several_phases_enclose_the_librarys_composition():
    phases = [(1.0, 0.01, 1000), (1.1, 0.02, 300)]
    curve = dp_sgd(*phases[0]) @ dp_sgd(*phases[1])
    given = {"grid": {**GRID, "slack": 1e-8}, **PACKED}
    choice = {"phases": phases}
    code = (
        "([choice, data]) => { const f = new Phased(phasesOf(choice, data), data.grid);"
        "return [f.epsilon(1e-5), f.delta(1), f.tpr(0.01), f.delta(0)]; }"
    )
    ((epsilon, delta, tpr, advantage),) = answers(code, [(choice, given)])
    for found, true in (
        (epsilon, curve.epsilon(1e-5, bracket=True)),
        (delta, curve.delta(1, bracket=True)),
        (tpr, curve.tpr(0.01, bracket=True)),
        (advantage, curve.advantage(bracket=True)),
    ):
        encloses([found], [true.lower], [true.upper])
    assert epsilon[1] < 1.15 * curve.epsilon(1e-5)
