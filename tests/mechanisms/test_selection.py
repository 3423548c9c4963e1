"""Selections are drawn exactly, with the chances of their formula and the curve that they claim."""

import pickle
from fractions import Fraction

import numpy as np
import pytest

from neyman.curves import bounded_range, dominated_by, gdp, laplace
from neyman.errors import BrokenRandomness, InvalidParameter
from neyman.mechanisms import ExponentialMechanism, PermuteAndFlip, ReportNoisyMax
from neyman.mechanisms._decided import LazyUniform, below, decided
from neyman.mechanisms._exponential import level_of
from neyman.mechanisms._noisy_max import noisy_argmax
from neyman.mechanisms._permute_and_flip import coins
from neyman.testing import SeededBits
from sequential import RIGHT, WRONG, verdict

ALL = pytest.mark.parametrize("kind", [ExponentialMechanism, PermuteAndFlip, ReportNoisyMax])
SCORES = np.array([0, 3, -2, 3, 1, 2, -5], dtype=np.int64)
GAPS = (SCORES.max() - SCORES).astype(np.uint64)
X = np.linspace(-3.0, 3.0, 121)


def excess(p, q):
    """Return the profile of the pair of laws (p, q) at X."""
    return np.sum(np.maximum(q - np.exp(X)[:, None] * p, 0.0), axis=1)


def counting(kind, epsilon):
    """Return what counts so many draws; its bits go on from one call to the next."""
    choice, bits = kind(epsilon=epsilon, sensitivity=1), SeededBits(3)

    def counts(draws):
        chosen = [choice.select(SCORES, bits) for _ in range(draws)]
        return np.bincount(chosen, minlength=SCORES.size)

    return counts


def chi_square(seen, chances):
    expected = seen.sum() * chances
    return float(np.sum((seen - expected) ** 2 / expected))


def chances(kind):
    """Return those of the law that is claimed, and of a fifth more epsilon."""
    return [kind(epsilon=x, sensitivity=1).probabilities(SCORES) for x in (1.5, 1.8)]


@pytest.mark.shows(
    "draws of ExponentialMechanism",
    "draws of PermuteAndFlip",
    "draws of ReportNoisyMax",
    "twin of ExponentialMechanism",
    "twin of PermuteAndFlip",
    "twin of ReportNoisyMax",
)
@ALL
def test_draws_have_the_chances_of_the_formula(kind):
    """Sequentially: told from a fifth of the rate, and that from it, at 1e-9 either way."""
    right, wrong = chances(kind)
    assert right.sum() == pytest.approx(1, abs=1e-9)
    for epsilon, answer in ((1.5, RIGHT), (1.8, WRONG)):
        counts = counting(kind, epsilon)
        assert answer == verdict(counts, right, wrong, error_rate=1e-9, batch=500, most=20_000)


@pytest.mark.soak
@ALL
def test_twenty_thousand_draws_have_the_chances_of_the_formula(kind):
    # Six degrees of freedom: the seed is fixed, and a fifth of the rate is seen at once.
    seen = counting(kind, 1.5)(20_000)
    right, wrong = chances(kind)
    assert chi_square(seen, right) < 25 < chi_square(seen, wrong)


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(1, 10**6), Fraction(40)])
def test_floats_decide_as_balls_do(rate):
    levels, counts = np.unique(GAPS, return_counts=True)
    for seed in range(100):
        assert level_of(levels, counts, rate, SeededBits(seed)) == level_of(
            levels, counts, rate, SeededBits(seed), band=1.0
        )
        assert np.array_equal(
            coins(GAPS, rate, SeededBits(seed)), coins(GAPS, rate, SeededBits(seed), band=2.0)
        )
        assert noisy_argmax(GAPS, rate, SeededBits(seed)) == noisy_argmax(
            GAPS, rate, SeededBits(seed), band=100.0
        )


class Zeros:
    """Bits that are always zero: every lower end is 0, and a Laplace draw without end."""

    def uint64(self, n):
        return np.zeros(n, dtype=np.uint64)


def test_a_broken_source_is_told():
    with pytest.raises(BrokenRandomness, match="is broken"):
        noisy_argmax(GAPS, Fraction(1), Zeros())
    with pytest.raises(BrokenRandomness, match="is broken"):
        decided([LazyUniform(0, 64, Zeros())], lambda: None)


def test_uniform_integers_are_uniform():
    bits = SeededBits(5)
    seen = np.bincount([below(6, bits) for _ in range(12_000)])
    assert np.sum((seen - 2000) ** 2) / 2000 < 25
    assert below(1, bits) == 0


class Counted:
    """The top of the words first: those that would favour small remainders are thrown away."""

    def __init__(self):
        self.words = [2**64 - 1, 5]

    def uint64(self, n):
        assert n == 1
        return np.array([self.words.pop(0)], dtype=np.uint64)


def test_words_that_are_not_fair_are_rejected():
    assert below(3 * 2**61, Counted()) == 5


@pytest.mark.shows(
    "curve of ExponentialMechanism", "curve of PermuteAndFlip", "curve of ReportNoisyMax"
)
@ALL
@pytest.mark.parametrize("monotone", [False, True])
def test_no_neighbour_gives_away_more_than_the_curve(kind, monotone):
    rng = np.random.default_rng(7)
    choice = kind(epsilon=1.2, sensitivity=2, monotone=monotone)
    limit = choice.tradeoff.delta(X) + 1e-9
    seen = np.zeros(X.shape)
    for _ in range(150):
        size = int(rng.integers(2, 7))
        first = rng.integers(-12, 13, size)
        move = rng.integers(0 if monotone else -2, 3, size)
        laws = [choice.probabilities(scores) for scores in (first, first + move)]
        for p, q in (laws, laws[::-1]):
            seen = np.maximum(seen, excess(p, q))
    assert np.all(seen <= limit)
    # And a curve of nine tenths would not do.
    smaller = kind(epsilon=1.08, sensitivity=2, monotone=monotone).tradeoff.delta(X)
    assert np.any(seen > smaller)


@ALL
def test_calibration_keeps_the_target_and_wastes_nothing(kind):
    for mu in (1e-9, 1e-5, 0.01, 0.5, 1, 3):
        choice = kind.calibrate(mu, sensitivity=3)
        assert choice.tradeoff.implies(gdp(mu))
        assert choice.tradeoff.mu() > mu * (1 - 1e-11)
    with pytest.raises(InvalidParameter, match="not positive"):
        kind.calibrate(0, sensitivity=1)


def test_curves_rates_and_records():
    choice = ExponentialMechanism(epsilon=0.5, sensitivity=2)
    assert choice.tradeoff == dominated_by(bounded_range(0.5))
    assert choice.rate == Fraction(1, 8)
    assert ExponentialMechanism(epsilon=0.5, sensitivity=2, monotone=True).rate == Fraction(1, 4)
    for kind in (PermuteAndFlip, ReportNoisyMax):
        assert kind(epsilon=0.5, sensitivity=2).tradeoff == dominated_by(laplace(0.5))
    assert choice.describe() == {
        "mechanism": "exponential_mechanism",
        "epsilon": "0.5",
        "sensitivity": "2",
        "monotone": False,
    }
    assert pickle.loads(pickle.dumps(choice)) == choice
    assert choice != PermuteAndFlip(epsilon=0.5, sensitivity=2)


@pytest.mark.parametrize("kind", [ExponentialMechanism, PermuteAndFlip])
def test_the_regret_holds(kind):
    choice = kind(epsilon=1, sensitivity=1)
    for scores in (SCORES, np.array([9, *[0] * 9])):
        gaps = scores.max() - scores
        bad = choice.probabilities(scores)[gaps > choice.regret(scores.size, 0.9)].sum()
        assert bad <= 0.1
    assert choice.regret(1, 0.5) == 2
    with pytest.raises(InvalidParameter, match="strictly between"):
        choice.regret(3, 1.0)


@ALL
def test_extreme_scores(kind):
    choice = kind(epsilon=1, sensitivity=1)
    assert choice.select(np.array([5], dtype=np.int64), SeededBits(1)) == 0
    far = np.array([-(2**62), 2**62, -(2**62)], dtype=np.int64)
    assert choice.select(far, SeededBits(1)) == 1
    many = np.zeros(100_000, dtype=np.int64)
    assert len({choice.select(many, SeededBits(k)) for k in range(20)}) == 20


@ALL
def test_refusals(kind):
    choice = kind(epsilon=1, sensitivity=1)
    for scores in (np.array([1.0]), np.array([], dtype=np.int64), np.zeros((2, 2), np.int64)):
        with pytest.raises(InvalidParameter, match="scores must be int64"):
            choice.select(scores)
    with pytest.raises(InvalidParameter, match="epsilon=0"):
        kind(epsilon=0, sensitivity=1)
    with pytest.raises(InvalidParameter, match="sensitivity must be positive; got 0"):
        kind(epsilon=1, sensitivity=0)
