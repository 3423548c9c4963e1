"""Calibration, guarantees over the moves of integers, records and refusals of the new noise."""

import json
import pickle
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from neyman.accounting import EpsilonDelta, calibrate
from neyman.curves import (
    TradeOff,
    approx_dp,
    discrete_gaussian,
    discrete_laplace,
    gdp,
    identity,
    laplace,
    pure_dp,
    rdp,
    read,
    staircase,
)
from neyman.errors import InvalidParameter, SensitivityMismatch
from neyman.mechanisms import Canonical, DiscreteGaussian, DiscreteLaplace, Laplace, Staircase
from neyman.mechanisms._moves import changed_coordinates, largest_coordinate, moves
from neyman.mechanisms._staircase import _moment
from neyman.sensitivity import Sensitivity
from neyman.testing import SeededBits


def sensitivity(l1=None, l2=None, coordinates=None, largest=None):
    return Sensitivity(
        neighbors="add_remove",
        l1=None if l1 is None else Fraction(l1),
        l2_squared=None if l2 is None else Fraction(l2),
        coordinates=coordinates,
        largest=largest,
    )


ONE = sensitivity(1, 1)
MECHANISMS = [
    DiscreteGaussian(scale=10),
    DiscreteLaplace(scale=10),
    Staircase(epsilon=Fraction(1, 3), period=7, width=3),
    Canonical(curve=gdp(Fraction(1, 3)), period=2),
    Canonical(curve=discrete_laplace(1), period=2),
]


# -- moves -------------------------------------------------------------------------------------


def check_moves(l1, l2, coordinates, largest):
    """Against every vector of five integers."""
    if l1 is None and l2 is None:
        return
    asked = sensitivity(l1, l2, coordinates, largest)
    size = 10 if coordinates is None else coordinates

    def inside(v):
        return (
            (l1 is None or sum(v) <= l1)
            and (l2 is None or sum(d * d for d in v) <= l2)
            and sum(d > 0 for d in v) <= size
            and (largest is None or max(v, default=0) <= largest)
        )

    width = min(5, size) if coordinates else 5
    everything = [
        tuple(sorted(v, reverse=True)) for v in product(range(6), repeat=width) if inside(v)
    ]
    found = moves(asked)
    for v in everything:
        assert any(all(a <= b for a, b in zip(v, (*m, *[0] * 9), strict=False)) for m in found), (
            v,
            found,
        )
    for m in found:
        assert inside(m)
        assert m == tuple(sorted(m, reverse=True))
        for i in range(len(m) + 1):
            grown = [*m, 0]
            grown[i] += 1
            assert not inside(tuple(d for d in grown if d)), (m, grown)
    assert largest_coordinate(asked) == max(m[0] for m in found)
    assert changed_coordinates(asked) == max(len(m) for m in found)


@pytest.mark.parametrize("l1", [None, 1, 2, Fraction(7, 2), 5])
@pytest.mark.parametrize("l2", [None, 1, 2, 4, Fraction(21, 2)])
def test_moves_are_the_maximal_ones(l1, l2):
    for coordinates, largest in product([None, 1, 2, 3], [None, 1, 2]):
        check_moves(l1, l2, coordinates, largest)


def test_one_number_has_one_move_however_large():
    assert moves(sensitivity(l1=10**6, coordinates=1)) == [(10**6,)]
    with pytest.raises(SensitivityMismatch, match="coordinates=1"):
        moves(sensitivity(l1=1000))
    assert moves(sensitivity(l1=10**6, coordinates=1000, largest=1000)) == [(1000,) * 1000]
    for wrong in ({"coordinates": 0}, {"largest": 0}, {"largest": -1}):
        with pytest.raises(InvalidParameter, match="at least 1"):
            sensitivity(l1=1, **wrong)


# -- guarantees --------------------------------------------------------------------------------


def test_discrete_gaussian_of_one_count_is_the_leaf():
    noise = DiscreteGaussian(scale=3)
    assert noise.tradeoff(ONE) == discrete_gaussian(3)
    assert noise.tradeoff(sensitivity(l1=5, coordinates=1)) == discrete_gaussian(3, sensitivity=5)
    assert noise.tradeoff(sensitivity(l1=2, l2=2)) == discrete_gaussian(3) ** 2
    assert noise.tradeoff(sensitivity(l1=Fraction(1, 2))) == identity()


@pytest.mark.shows("curve of DiscreteGaussian")
def test_discrete_gaussian_of_a_vector_is_the_worst_of_its_moves():
    noise, asked = DiscreteGaussian(scale=3), sensitivity(l1=3, l2=5)
    one, two = discrete_gaussian(3), discrete_gaussian(3, sensitivity=2)
    found = noise.tradeoff(asked)
    for x in (0.0, 0.5, 1.0):
        expected = max((one**3).delta(x), (one @ two).delta(x))
        assert found.delta(x) == pytest.approx(expected, rel=1e-9)


def test_discrete_gaussian_is_not_as_private_as_its_parameter_says():
    assert DiscreteGaussian(scale=1).tradeoff(ONE).mu() == pytest.approx(1.04576, abs=1e-5)


@pytest.mark.shows("curve of DiscreteLaplace")
def test_discrete_laplace_of_a_vector_is_that_of_one_coordinate():
    """The chain of steps by 1: every split of the move is above it."""
    noise = DiscreteLaplace(scale=2)
    whole = noise.tradeoff(sensitivity(l1=4))
    assert whole == discrete_laplace(0.5, sensitivity=4)
    alpha = np.linspace(0.001, 0.999, 57)
    for split in ((3, 1), (2, 2), (2, 1, 1), (1, 1, 1, 1)):
        f = identity()
        for part in split:
            f = f @ discrete_laplace(0.5, sensitivity=part)
        assert np.all(f.beta(alpha) >= whole.beta(alpha) - 1e-12)
    iterated = alpha
    for _ in range(4):
        iterated = 1 - discrete_laplace(0.5).beta(iterated)
    assert 1 - iterated == pytest.approx(whole.beta(alpha), abs=1e-12)


def test_whole_numbers_move_by_whole_numbers():
    assert DiscreteLaplace(scale=2).tradeoff(sensitivity(l1=Fraction(5, 2))) == discrete_laplace(
        0.5, sensitivity=2
    )
    assert DiscreteLaplace(scale=2).tradeoff(sensitivity(l1=Fraction(1, 2))) == identity()


@pytest.mark.shows("curve of Staircase")
def test_staircase_of_one_number_and_of_several():
    noise = Staircase(epsilon=1, period=5, width=2)
    one = sensitivity(l1=5, coordinates=1)
    assert noise.tradeoff(one) == staircase(1, period=5, width=2)
    assert noise.tradeoff(sensitivity(l1=3, coordinates=1)) == staircase(
        1, period=5, width=2, sensitivity=3
    )
    both = noise.tradeoff(sensitivity(l1=2))
    assert both.delta(0.5) == pytest.approx(
        max(
            (staircase(1, period=5, width=2, sensitivity=1) ** 2).delta(0.5),
            staircase(1, period=5, width=2, sensitivity=2).delta(0.5),
        ),
        rel=1e-9,
    )
    with pytest.raises(SensitivityMismatch, match="a longer period"):
        noise.tradeoff(sensitivity(l1=6, coordinates=1))


def test_canonical_noise_is_as_private_as_its_curve():
    noise = Canonical(curve=gdp(1), period=5)
    assert noise.slack == 0
    assert noise.tradeoff(sensitivity(l1=5, coordinates=1)) == gdp(1)
    assert noise.tradeoff(sensitivity(l1=2)) == gdp(1) ** 2
    with pytest.raises(SensitivityMismatch, match="a longer period"):
        noise.tradeoff(sensitivity(l1=6, coordinates=1))


@pytest.mark.shows("curve of Canonical")
def test_canonical_noise_by_brackets_says_what_it_set_aside():
    curve = discrete_gaussian(2)
    noise = Canonical(curve=curve, period=3)
    assert 0 < noise.slack < 1e-9
    assert noise.slack >= noise.law.distance + curve.tpr(noise.law.distance)
    found = noise.tradeoff(sensitivity(l1=3, coordinates=1))
    assert found == curve @ approx_dp(0, noise.slack)
    # f(alpha + x) - x is at least what is claimed.
    x = 0.01
    slack = x + float(curve.tpr(x))
    alpha = np.linspace(0, 1 - x, 101)
    claimed = (curve @ approx_dp(0, slack)).beta(alpha)
    assert np.all(np.maximum(curve.beta(alpha + x) - x, 0) >= claimed - 1e-12)
    assert np.max(curve.beta(alpha + x) - x - claimed) > 1e-3


# -- calibration -------------------------------------------------------------------------------


def test_calibrations_are_exact():
    assert DiscreteGaussian.calibrate(sensitivity(l2=5), rho=Fraction(1, 40)).variance == 100
    assert DiscreteLaplace.calibrate(sensitivity(l1=3), epsilon=0.3).scale == 10
    assert DiscreteLaplace.calibrate(sensitivity(l1=3), 0.3).tradeoff(
        sensitivity(l1=3)
    ).outer_pure() == Fraction(3, 10)
    for asked, square in (
        (sensitivity(l1=5, coordinates=1), 25),
        (sensitivity(l1=5), 25),
        (sensitivity(l1=35, coordinates=5, largest=7), 245),
        (sensitivity(l1=6, largest=2), 12),
        (sensitivity(l1=3, l2=Fraction(11, 2)), 5),
    ):
        assert DiscreteGaussian.calibrate(asked, rho=Fraction(1, 2)).variance == square
    noise = DiscreteGaussian.calibrate(ONE, rho=0.125)
    assert noise.tradeoff(ONE).zcdp() == 0.125
    for budget in (0, -1):
        with pytest.raises(InvalidParameter, match="not positive"):
            DiscreteGaussian.calibrate(ONE, budget)
        with pytest.raises(InvalidParameter, match="not positive"):
            DiscreteLaplace.calibrate(ONE, budget)


def test_a_target_is_searched():
    found = calibrate(lambda s: DiscreteGaussian(scale=s).tradeoff(ONE), EpsilonDelta(1, 1e-5))
    assert found.curve.delta(1) <= 1e-5
    assert found.value == pytest.approx(3.7306, abs=0.2)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1, 3, 10, 40])
@pytest.mark.parametrize("period", [1, 2, 7, 100, 1000])
@pytest.mark.parametrize("power", [1, 2])
def test_the_best_staircase_is_the_best(epsilon, period, power):
    one = sensitivity(l1=period, coordinates=1)
    noise = Staircase.calibrate(one, epsilon, power=power)
    costs = _moment(float(epsilon), period, np.arange(1, period + 1, dtype=float), power)
    assert costs[noise.width - 1] <= np.min(costs) * (1 + 1e-12)
    assert noise.tradeoff(one).outer_pure() == Fraction(str(epsilon))


def test_the_best_staircase_beats_laplace_where_epsilon_is_large():
    one = sensitivity(l1=100, coordinates=1)
    assert Staircase.calibrate(one, 5, power=2).stddev < 0.62 * Laplace.calibrate(one, 5).stddev


def test_staircases_are_for_one_number():
    with pytest.raises(SensitivityMismatch, match="Laplace noise"):
        Staircase.calibrate(sensitivity(l1=3), 1, power=1)
    with pytest.raises(InvalidParameter, match="power"):
        Staircase.calibrate(ONE, 1, power=3)


# -- values, records, refusals -----------------------------------------------------------------


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_values_draws_and_records(mechanism):
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    values = np.arange(6, dtype=np.int64).reshape(2, 3)
    noisy = mechanism.add_noise(values, SeededBits(3))
    assert noisy.shape == (2, 3)
    assert noisy.dtype == np.int64
    assert np.array_equal(noisy, mechanism.add_noise(values, SeededBits(3)))
    assert mechanism.add_noise(np.zeros(0, dtype=np.int64)).shape == (0,)
    json.dumps(mechanism.describe(), allow_nan=False)
    draws = mechanism.add_noise(np.zeros(200_000, dtype=np.int64), SeededBits(5))
    assert np.std(draws) == pytest.approx(mechanism.stddev, rel=0.02)
    for confidence in (0.5, 0.95):
        covered = np.mean(np.abs(draws) <= mechanism.half_width(confidence))
        assert covered > confidence - 0.005
    low, high = mechanism.ratio_interval(5000, 1000, 0.95)
    assert low < 5 < high < 6
    with pytest.raises(InvalidParameter, match="must be int64"):
        mechanism.add_noise(np.zeros(3))


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_guarantees_are_read_back(mechanism):
    curve = mechanism.tradeoff(ONE)
    assert curve.certified
    assert read(json.dumps(curve.to_json())) == curve


@pytest.mark.parametrize(
    ("mechanism", "record"),
    [
        (
            DiscreteGaussian(variance=Fraction(1, 3)),
            {"mechanism": "discrete_gaussian", "variance": "1/3"},
        ),
        (DiscreteLaplace(scale=0.5), {"mechanism": "discrete_laplace", "scale": "0.5"}),
        (
            Staircase(epsilon=0.1, period=5, width=2),
            {"mechanism": "staircase", "epsilon": "0.1", "period": 5, "width": 2},
        ),
        (
            Canonical(curve=pure_dp(1), period=2),
            {
                "mechanism": "canonical",
                "curve": pure_dp(1).to_json(),
                "period": 2,
                "slack": 0.0,
            },
        ),
    ],
    ids=lambda x: str(x)[:40],
)
def test_records(mechanism, record):
    assert mechanism.describe() == record


@pytest.mark.parametrize(
    "make",
    [
        lambda: DiscreteGaussian(scale=1001),
        lambda: DiscreteGaussian(scale=0.1),
        DiscreteGaussian,
        lambda: DiscreteGaussian(scale=1, variance=1),
        lambda: DiscreteLaplace(scale=0),
        lambda: DiscreteLaplace(scale=2**41),
        lambda: Staircase(epsilon=0, period=3, width=1),
        lambda: Staircase(epsilon=51, period=3, width=1),
        lambda: Staircase(epsilon=1, period=3, width=4),
        lambda: Staircase(epsilon=1, period=3, width=0),
        lambda: Staircase(epsilon=1, period=2**41, width=1),
        lambda: Canonical(curve=gdp(1), period=0),
        lambda: Canonical(curve=gdp(1), period=1.0),
        lambda: Canonical(curve=identity(), period=1),
        lambda: Canonical(curve=approx_dp(0, 1), period=1),
        lambda: Canonical(curve=TradeOff(gdp(1).remove, laplace(1).remove), period=1),
        lambda: Canonical(curve=discrete_gaussian(100), period=10**6),
    ],
)
def test_what_cannot_be_drawn_is_refused(make):
    with pytest.raises(InvalidParameter):
        make()


def test_the_bound_of_a_class_is_no_law_to_draw_from():
    with pytest.raises(InvalidParameter, match="bounds a class"):
        Canonical(curve=rdp([(2, 1)]), period=1)


def test_the_norm_must_be_bounded():
    with pytest.raises(SensitivityMismatch, match="Gaussian noise"):
        DiscreteLaplace(scale=1).tradeoff(sensitivity(l2=1))
    assert DiscreteGaussian(scale=1).tradeoff(sensitivity(l1=1)) == discrete_gaussian(1)
