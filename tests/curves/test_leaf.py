"""A curve from outside of the package goes wherever one of the library goes."""

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import mpmath
import numpy as np
import pytest

from leaves import Cauchy, Gumbel, cauchy, gumbel
from neyman.accounting import EpsilonDelta, calibrate
from neyman.curves import Lattice, Leaf, LossTails, TradeOff, gdp, group, poisson, read
from neyman.errors import InvalidParameter
from neyman.ledger import Ledger
from neyman.numerics import Interval
from neyman.testing import check_leaf

LEAVES = [gumbel("1/10"), gumbel(1), cauchy("1/10"), cauchy(3)]
mpmath.mp.dps = 30


def gumbel_delta(shift, epsilon):
    """Return the largest of 1 - f(alpha) - e^epsilon alpha, which is at f' = -e^epsilon."""
    k = mpmath.exp(mpmath.mpf(shift))
    log_u = (mpmath.mpf(epsilon) - mpmath.mpf(shift)) / (k - 1)
    if log_u >= 0:
        return mpmath.mpf(0)
    return -mpmath.expm1(k * log_u) + mpmath.exp(mpmath.mpf(epsilon)) * mpmath.expm1(log_u)


def cauchy_delta(shift, epsilon):
    """Return the integral of (q - e^epsilon p)_+ between the roots of the quadratic."""
    d, odds = mpmath.mpf(shift), mpmath.exp(mpmath.mpf(epsilon))
    if odds == 1:
        low, high = d / 2, mpmath.inf
    else:
        # Of (odds - 1) x^2 - 2 odds d x + odds (1 + d^2) - 1, where q > odds p.
        square = (odds * d) ** 2 - (odds - 1) * (odds * (1 + d * d) - 1)
        if square <= 0:
            return mpmath.mpf(0)
        low, high = ((odds * d + side * mpmath.sqrt(square)) / (odds - 1) for side in (-1, 1))

    def share(x):
        return mpmath.atan(x) / mpmath.pi

    return (share(high - d) - share(low - d)) - odds * (share(high) - share(low))


@pytest.mark.parametrize("epsilon", [0, 0.01, 0.05, 0.09, 0.3, 0.9])
@pytest.mark.parametrize("shift", ["0.1", "1"])
def test_the_profile_is_the_one_of_the_definition(shift, epsilon):
    lower, upper = Gumbel(Fraction(shift)).delta(epsilon, bracket=True)
    truth = float(gumbel_delta(shift, repr(epsilon)))
    assert lower - 1e-16 <= truth <= upper + 1e-16
    assert upper - lower < 1e-14
    lower, upper = cauchy(shift).delta(epsilon, bracket=True)
    truth = float(cauchy_delta(shift, repr(epsilon)))
    assert lower - 1e-14 <= truth <= upper + 1e-14


@pytest.mark.parametrize("curve", LEAVES, ids=str)
def test_the_laws_hold(curve):
    check_leaf(curve.remove)
    check_leaf(curve.add)


# One of each kind; the others in the long trials.
@pytest.mark.parametrize(
    "curve",
    [LEAVES[0], *(pytest.param(f, marks=pytest.mark.soak) for f in LEAVES[1:4])],
    ids=str,
)
def test_it_composes_and_samples_with_both_ends_proved(curve):
    many = curve**30
    epsilon = many.epsilon(1e-5, bracket=True)
    assert 0 < epsilon.lower <= epsilon.upper <= epsilon.lower * 1.001
    assert many.delta(epsilon.upper) <= 1e-5 * 1.01
    together = (curve**3 @ gdp(0.5)).delta(0.5, bracket=True)
    assert max(gdp(0.5).delta(0.5), curve.delta(0.5, bracket=True).lower) <= together.upper
    assert together.upper - together.lower <= 1e-4 * together.upper
    sampled = (poisson(curve, Fraction(1, 10)) ** 5).delta(0.01, bracket=True)
    assert sampled.lower <= sampled.upper < (curve**5).delta(0.01)


def test_a_composition_of_gumbel_noise_is_what_a_simulation_finds():
    shift, times, n, epsilon = Fraction(1, 2), 5, 400_000, 0.8
    leaf, rng = Gumbel(shift), np.random.default_rng(7)
    k = math.exp(shift)
    # Under Q, u^k is uniform; the loss is shift + (k - 1) log u.
    loss = times * float(shift) + (k - 1) / k * np.log(rng.random((times, n))).sum(axis=0)
    seen = np.maximum(-np.expm1(epsilon - loss), 0.0)
    lower, upper = (gumbel(shift) ** times).remove.delta(epsilon, bracket=True)
    error = 5 * seen.std() / math.sqrt(n)
    assert lower - error <= seen.mean() <= upper + error
    assert upper - lower < error
    assert leaf.delta(epsilon) < upper


def test_beyond_the_largest_loss_nothing_is_left():
    many = gumbel(1) ** 30
    # At the largest loss itself, hardly a density is left: any grid shows it.
    assert many.remove.delta(30.0, solver=Lattice(0.1)) < 1e-16
    assert many.remove.delta(71.0) == 0
    assert many.delta(71.0) == many.add.delta(71.0)


def test_a_group_of_a_leaf_is_as_close_as_the_leaf():
    # tpr is 1 - (1 - alpha)^k, so that a chain of n is the leaf with k^n.
    three, known = group(gumbel("1/10"), 3), gumbel("3/10")
    chain, leaf = three.remove, known.remove
    for epsilon in (-0.5, 0.1):
        lower, upper = chain.delta(epsilon, bracket=True)
        truth = leaf.delta(epsilon, bracket=True)
        assert lower <= truth.upper
        assert truth.lower <= upper <= lower * (1 + 1e-9)
    lower, upper = three.add.epsilon(1e-3, bracket=True)
    truth = known.add.epsilon(1e-3, bracket=True)
    assert lower <= truth.upper
    assert truth.lower <= upper <= lower * (1 + 1e-8)
    assert (three**2).delta(0.3) == pytest.approx((known**2).delta(0.3), rel=1e-3)


def test_the_power_of_a_tiny_size_is_known_where_the_density_ends():
    for size in (1e-12, 1e-6):
        found = Cauchy(Fraction(1, 10)).tpr(size, bracket=True)
        most = math.exp(float(2 * mpmath.asinh(mpmath.mpf("0.05"))))
        assert 1.0001 * size < found.lower <= found.upper <= most * size * (1 + 1e-12)
        assert found.upper <= found.lower * 1.0001


@pytest.mark.parametrize("order", [0.01, 0.5, 0.999, 1.0, 1.001, 2.0, 1e3])
def test_divergences_are_close_at_every_order(order):
    d = mpmath.mpf("0.1")

    def loss(x):
        return mpmath.log1p(x * x) - mpmath.log1p((x - d) ** 2)

    def mean(g):
        places = [-mpmath.inf, -10, 0, d / 2, 1, 10, mpmath.inf]
        return mpmath.quad(lambda x: g(loss(x)) / (mpmath.pi * (1 + x * x)), places)

    lower, upper = Cauchy(Fraction(1, 10)).renyi(order, bracket=True)
    with mpmath.workdps(20):
        if order == 1:
            truth = mean(lambda x: x * mpmath.exp(x))
        else:
            truth = mpmath.log(mean(lambda x: mpmath.exp(order * x))) / (order - 1)
    assert lower * (1 - 1e-9) <= truth <= upper * (1 + 1e-9)
    assert upper <= lower * (1 + 1e-3)


@final
@dataclass(frozen=True, slots=True)
class Uniform(Leaf):
    """Uniform noise of length 1: the loss is 0 or infinite."""

    shift: Fraction

    kind: ClassVar[str] = "tests.uniform"

    @property
    def symmetric(self):
        return True

    @property
    def reach(self):
        return 0.0, 0.0

    def jumps(self):
        both = Interval(*(np.reshape(end, 1) for end in 1 - Interval.of(self.shift)))
        return both, both

    def alone(self):
        return Interval.of(self.shift), Interval.of(self.shift)

    def tails(self, t):
        nothing = Interval.exactly(np.zeros(np.shape(t)))
        return LossTails(nothing, nothing, nothing, nothing)


def test_what_only_one_law_gives_is_an_infinite_loss():
    leaf = Uniform(Fraction(1, 100))
    check_leaf(leaf)
    f = TradeOff(leaf, leaf)
    assert f.epsilon(0.009) == math.inf
    assert f.epsilon(0.011) == 0
    assert f.delta(800.0, bracket=True).lower <= 0.01 <= f.delta(800.0) <= 0.01 + 1e-15
    pair = group(f, 3).epsilon(0.02, bracket=True)
    assert pair.lower == math.inf
    assert group(f, 3).epsilon(0.0301) == 0
    assert (f**3).mu(slack=0.1) < 1e-100


def test_it_is_calibrated():
    found = calibrate(lambda x: gumbel(Fraction(x)) ** 10, EpsilonDelta(1, 1e-5))
    assert (gumbel(Fraction(found.value)) ** 10).delta(1.0) <= 1e-5
    assert (gumbel(Fraction(found.value) * Fraction(101, 100)) ** 10).delta(1.0) > 1e-5


@pytest.mark.parametrize("curve", LEAVES, ids=str)
def test_it_is_written_down_and_read_back(curve):
    for guarantee in (curve, curve.swap(), poisson(curve, Fraction(1, 10)) ** 7 @ curve):
        assert read(json.dumps(guarantee.to_json())) == guarantee


def test_a_ledger_charges_it_and_reads_it_back(tmp_path):
    ledger = Ledger.open(tmp_path / "l.ledger", cap=gdp(1), unit="person", neighbors="add_remove")
    curve = cauchy("1/10")
    taken = ledger.reserve(
        entry="a",
        request={"query": "count"},
        source="people",
        curve=curve,
        unit="person",
        neighbors="add_remove",
    )
    ledger.commit(taken, [1])
    assert 0 < ledger.spent() <= Fraction(curve.mu()) ** 2 * Fraction(1001, 1000)
    (entry,) = Ledger.existing(tmp_path / "l.ledger").entries()
    assert entry.curve == curve


def test_mistakes_are_named():
    right = Gumbel(Fraction(1, 10))

    class Exchanged(Leaf):
        kind: ClassVar[str] = "tests.exchanged"

        def tails(self, t):
            found = right.tails(t)
            return LossTails(found.p_above, found.q_above, found.q_below, found.p_below)

    class Below(Leaf):
        kind: ClassVar[str] = "tests.below"

        def tails(self, t):
            found = right.tails(t)
            return LossTails(found.q_above, found.p_above, found.q_below, found.p_below)

    class Short(Leaf):
        kind: ClassVar[str] = "tests.short"
        reach = (-math.inf, 0.05)

        def tails(self, t):
            return right.tails(t)

    @dataclass(frozen=True)
    class Rounded(Leaf):
        shift: float
        kind: ClassVar[str] = "tests.rounded"

        def tails(self, t):
            return right.tails(t)

    class Thin(Leaf):
        kind: ClassVar[str] = "tests.thin"
        reach = cauchy("1/10").remove.reach

        def tails(self, t):
            found = cauchy("1/10").remove.tails(t)
            lost = found.q_above * 1e-6
            return LossTails(
                found.p_above, found.q_above - lost, found.p_below, found.q_below + lost
            )

    class Alike(Leaf):
        kind: ClassVar[str] = "tests.alike"
        mirrored = True

        def tails(self, t):
            return right.tails(t)

    class Plain(Leaf):
        kind: ClassVar[str] = "tests.plain"

        def tails(self, t):
            return LossTails(*(tail.upper for tail in right.tails(t)))

    for wrong, says in (
        (Thin(), "must be between"),
        (Alike(), "where `mirrored` is true"),
        (Plain(), "must be Intervals"),
        (Exchanged(), "must be 1"),
        (Below(), "must be between"),
        (Short(), "beyond"),
        (Rounded(0.1), "record"),
    ):
        with pytest.raises((AssertionError, InvalidParameter), match=says):
            check_leaf(wrong)


def test_two_classes_cannot_have_one_kind():
    with pytest.raises(InvalidParameter, match="must be the name of one class"):

        class Another(Leaf):
            kind: ClassVar[str] = Cauchy.kind

    with pytest.raises(InvalidParameter, match="must hold a dot"):

        class Bare(Leaf):
            kind: ClassVar[str] = "bare"
