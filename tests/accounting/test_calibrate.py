"""Calibration: tight, on the private side, and refusing what has no answer."""

import math
from fractions import Fraction

import pytest

from neyman.accounting._calibrate import calibrate
from neyman.accounting._targets import (
    Advantage,
    BayesError,
    EpsilonDelta,
    MuSlack,
    TprAtFpr,
)
from neyman.accounting._training import dp_sgd
from neyman.curves import approx_dp, gdp, identity, laplace, pure_dp
from neyman.errors import InvalidParameter, NotCertified

# The analytic Gaussian mechanism at sensitivity 1, to 20 digits.
ANALYTIC = [
    (0.1, 1e-5, "30.74956613197745023894"),
    (0.5, 1e-5, "7.03182667558249144271"),
    (1, 1e-5, "3.73063163481594183225"),
    (1, 1e-6, "4.22467888932683528300"),
    (2, 1e-6, "2.23047627118641730106"),
    (8, 1e-5, "0.60022907219895155890"),
]


def gaussian(sigma):
    return gdp(1 / sigma)


def holds(found, *, most=1e-9):
    """The bracket holds the value at one end, and is narrow."""
    assert found.lower <= found.value <= found.upper
    assert found.value in (found.lower, found.upper)
    assert found.upper - found.lower <= most * found.value
    return found


@pytest.mark.shows("S1.15")
@pytest.mark.parametrize(("epsilon", "delta", "truth"), ANALYTIC)
def test_the_analytic_gaussian_from_above_and_within_1e_9(epsilon, delta, truth):
    found = holds(calibrate(gaussian, EpsilonDelta(epsilon, delta)))
    assert found.lower < float(truth)
    # 2e-16 is half a step of the double.
    assert Fraction(truth) * (1 - Fraction(1, 10**15)) <= Fraction(found.value)
    assert found.value <= float(truth) * (1 + 1e-9)
    assert found.curve == gaussian(found.value)
    assert found.curve.delta(epsilon) <= delta
    # The inverse of the profile may lose its last digits.
    assert found.curve.epsilon(delta) <= epsilon * (1 + 1e-12)
    assert gaussian(found.lower).delta(epsilon, bracket=True).lower > delta
    assert found.evaluations <= 14


@pytest.mark.parametrize("epsilon", [1e-3, 0.03, 5, 40, 200])
@pytest.mark.parametrize("delta", [1e-2, 1e-9, 1e-200])
def test_from_small_to_large_epsilon(epsilon, delta):
    found = holds(calibrate(gaussian, EpsilonDelta(epsilon, delta)))
    assert found.curve.log_delta(epsilon) <= math.log(delta)
    assert gaussian(found.lower).log_delta(epsilon, bracket=True).lower > math.log(delta)
    assert found.evaluations <= 24


@pytest.mark.parametrize(
    ("target", "value"),
    [
        (MuSlack(0.25, 0), 4.0),
        (Advantage(gdp(1).advantage()), 1.0),
        (TprAtFpr(gdp(2).tpr(0.001), 0.001), 0.5),
        (BayesError(gdp(1).bayes_error(0.2), 0.2), 1.0),
        (gdp(0.5), 2.0),
        (approx_dp(1, 1e-5), 3.73063163481594183225),
    ],
    ids=repr,
)
def test_every_target_is_met_and_tight(target, value):
    found = holds(calibrate(gaussian, target))
    assert found.value == pytest.approx(value, rel=1e-9)


def test_the_targets_hold_as_they_are_read_by_their_views():
    assert calibrate(gaussian, Advantage(0.1)).curve.advantage() <= 0.1
    assert calibrate(gaussian, TprAtFpr(0.02, 0.01)).curve.tpr(0.01) <= 0.02
    assert calibrate(gaussian, BayesError(0.4, 0.5)).curve.bayes_error(0.5) >= 0.4
    assert calibrate(gaussian, gdp(0.3)).curve.implies(gdp(0.3))


@pytest.mark.shows("S1.26")
def test_mu_with_slack_is_proved_on_both_sides():
    found = holds(calibrate(gaussian, MuSlack(0.5, 1e-5), within=(1.9, 2.1)))
    assert found.curve.mu(slack=1e-5) <= 0.5
    assert gaussian(found.lower).mu(slack=1e-5, bracket=True).lower > 0.5
    # Setting a mass aside can only help.
    assert found.value < 2


def test_pure_dp_of_laplace_noise():
    def make(scale):
        return laplace(1 / scale)

    assert holds(calibrate(make, EpsilonDelta(0.5, 0))).value == pytest.approx(2, rel=1e-9)
    assert holds(calibrate(make, pure_dp(0.5))).value == pytest.approx(2, rel=1e-9)
    # delta(x) = 1 - e^((x - epsilon)/2)
    found = holds(calibrate(make, EpsilonDelta(1, 1e-5)))
    assert found.value == pytest.approx(1 / (1 - 2 * math.log1p(-1e-5)), rel=1e-9)


def test_privacy_that_shrinks_with_the_parameter_gives_the_largest():
    found = holds(calibrate(gdp, EpsilonDelta(1, 1e-5)))
    assert found.value == found.lower
    assert found.value == pytest.approx(1 / 3.73063163481594183225, rel=1e-9)
    assert calibrate(gdp, EpsilonDelta(1, 1e-5), within=(0, 1)).value == pytest.approx(
        found.value, rel=1e-9
    )
    tiny = holds(calibrate(gdp, MuSlack(1e-6, 0), within=(0, 1)))
    assert tiny.value == pytest.approx(1e-6, rel=1e-9)
    assert tiny.value <= 1e-6


@pytest.mark.parametrize("mu", [0.3, 0.01, 1e-4, 1e-6])
def test_steps_are_the_last_that_fit(mu):
    target = EpsilonDelta(2, 1e-6)
    found = calibrate(lambda n: gdp(mu) ** n, target, integer=True)
    assert isinstance(found.value, int)
    assert (found.value, found.upper) == (found.lower, found.value + 1)
    # By squares of mu, independently.
    most = (1 / 2.23047627118641730106 / mu) ** 2
    assert found.value == math.floor(most)
    assert found.evaluations <= 20
    assert (gdp(mu) ** found.value).delta(2) <= 1e-6 < (gdp(mu) ** (found.value + 1)).delta(2)


def test_ints_within_bounds_and_from_zero():
    target = EpsilonDelta(1, 1e-5)
    assert calibrate(lambda n: gdp(5) ** n, target, integer=True, within=(0, 99)).value == 0
    found = calibrate(lambda n: gdp(0.1) ** n, target, integer=True, within=(0, 1000))
    assert found.value == 7
    # Ints on which privacy grows: the least.
    least = calibrate(lambda n: gdp(Fraction(10, n)), target, integer=True)
    assert (least.lower, least.value) == (37, 38)


def test_floats_and_ints_are_pythons_own():
    kinds = []

    def note(x):
        kinds.append(type(x))
        return gdp(0.5) ** x if isinstance(x, int) else gdp(x)

    found = calibrate(note, MuSlack(2, 0))
    assert set(kinds) == {float}
    assert len(kinds) == found.evaluations
    kinds.clear()
    calibrate(note, MuSlack(2, 0), integer=True)
    assert set(kinds) == {int}


def test_what_no_parameter_meets_is_refused_and_said():
    with pytest.raises(InvalidParameter, match="no parameter meets the target"):
        calibrate(gaussian, EpsilonDelta(1, 1e-5), within=(1, 3))
    with pytest.raises(InvalidParameter, match="no parameter meets the target"):
        calibrate(gaussian, EpsilonDelta(1, 0))
    with pytest.raises(InvalidParameter, match="no parameter meets the target"):
        calibrate(gaussian, pure_dp(1))
    with pytest.raises(InvalidParameter, match="no parameter meets the target"):
        calibrate(lambda e: approx_dp(e, 1e-4), EpsilonDelta(1, 1e-5), within=(0, 5))
    with pytest.raises(InvalidParameter, match="no parameter meets the target"):
        calibrate(lambda n: gdp(5) ** n, EpsilonDelta(1, 1e-5), integer=True)


def test_what_every_parameter_meets_is_refused_and_said():
    with pytest.raises(InvalidParameter, match="proved to miss"):
        calibrate(gaussian, EpsilonDelta(1, 1e-5), within=(4, 10))
    with pytest.raises(InvalidParameter, match="proved to miss"):
        calibrate(lambda _: identity(), EpsilonDelta(1, 1e-5))


def test_a_family_that_goes_both_ways_is_refused():
    def valley(x):
        return gdp(abs(x - 3) + 0.01)

    with pytest.raises(InvalidParameter, match="not monotone"):
        calibrate(valley, EpsilonDelta(1, 1e-5))
    with pytest.raises(InvalidParameter, match="not monotone"):
        calibrate(gaussian, EpsilonDelta(1, 1e-5), increasing=False)
    assert calibrate(gaussian, EpsilonDelta(1, 1e-5), increasing=True).value > 3.7


@pytest.mark.parametrize(
    "within", [(3, 1), (1, 1), (-1, 1), (math.nan, 1), (1, math.nan), (1, math.inf)]
)
def test_bounds_that_bound_nothing_are_refused(within):
    with pytest.raises(InvalidParameter, match="within must be"):
        calibrate(gaussian, EpsilonDelta(1, 1e-5), within=within)


@pytest.mark.parametrize("within", [(0.5, 7), (0, 2**60)])
def test_bounds_of_ints_are_ints(within):
    with pytest.raises(InvalidParameter, match="within must be"):
        calibrate(lambda n: gdp(1) ** n, EpsilonDelta(1, 1e-5), within=within, integer=True)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: EpsilonDelta(-1, 1e-5),
        lambda: EpsilonDelta(1, 1),
        lambda: EpsilonDelta(0, 0),
        lambda: EpsilonDelta(math.inf, 1e-5),
        lambda: EpsilonDelta("1", 1e-5),
        lambda: MuSlack(0, 0.1),
        lambda: MuSlack(1, 1),
        lambda: Advantage(0),
        lambda: Advantage(math.nan),
        lambda: TprAtFpr(0.01, 0.01),
        lambda: TprAtFpr(1, 0.5),
        lambda: BayesError(0.5, 0.5),
        lambda: BayesError(0.1, 1),
    ],
)
def test_targets_that_are_none_are_refused(wrong):
    with pytest.raises(InvalidParameter):
        wrong()


def test_what_make_does_wrong_is_said_with_the_parameter():
    with pytest.raises(InvalidParameter, match="return a TradeOff"):
        calibrate(lambda x: x, EpsilonDelta(1, 1e-5))
    with pytest.raises(InvalidParameter) as caught:
        calibrate(lambda x: approx_dp(1, x), EpsilonDelta(1, 1e-5))
    assert "calibrate tried 2.0" in caught.value.__notes__[0]


def test_an_estimate_is_no_guarantee():
    from neyman.curves import Pair, Tails, TradeOff

    class Loose(Pair):
        kind = "tests.loose"

        def log_tails(self, t, *, closed=False):  # noqa: ARG002
            return Tails(t * 0 - 1, t * 0 - 1, t * 0 - 1, t * 0 - 1)

        def cumulant(self, s):
            return s * 0

        def parameters(self):
            return {}

    loose = Loose()
    with pytest.raises(NotCertified):
        calibrate(lambda _: TradeOff(loose, loose), EpsilonDelta(1, 1e-5))


@pytest.mark.parametrize(
    ("epsilon", "truth"),
    [(1, "3.8128168307019874"), (2, "2.127375434714147"), (8, "0.8825284902764458")],
)
def test_the_noise_of_training(epsilon, truth):
    from neyman.accounting._training import dp_sgd

    found = holds(
        calibrate(
            lambda noise: dp_sgd(noise_multiplier=noise, sampling_probability=0.01, steps=10**4),
            EpsilonDelta(epsilon, 1e-5),
        )
    )
    assert float(truth) * (1 - 1e-15) <= found.value <= float(truth) * (1 + 1e-8)
    assert found.curve.delta(epsilon) <= 1e-5
    assert found.evaluations <= 16


def test_the_steps_and_the_sampling_of_training():
    from neyman.accounting._training import dp_sgd

    target = EpsilonDelta(1, 1e-5)
    noise = 3.8128168307019874 * (1 + 1e-9)
    steps = calibrate(
        lambda n: dp_sgd(noise_multiplier=noise, sampling_probability=0.01, steps=n),
        target,
        integer=True,
    )
    assert (steps.value, steps.upper) == (10**4, 10**4 + 1)
    rate = holds(
        calibrate(
            lambda q: dp_sgd(noise_multiplier=noise, sampling_probability=q, steps=10**4),
            target,
            within=(0, 1),
        )
    )
    assert rate.value == pytest.approx(0.01, rel=1e-8)


def test_training_at_its_ends():
    from neyman.accounting._training import dp_sgd

    full = dp_sgd(noise_multiplier=2, sampling_probability=1, steps=4)
    assert full == gdp(1)
    for idle in (
        {"sampling_probability": 0, "steps": 9},
        {"sampling_probability": 0.1, "steps": 0},
    ):
        assert dp_sgd(noise_multiplier=2, **idle) == identity()


@pytest.mark.parametrize(
    "wrong",
    [
        {"noise_multiplier": 0},
        {"noise_multiplier": -1},
        {"noise_multiplier": math.nan},
        {"sampling_probability": 1.5},
        {"sampling_probability": -0.1},
        {"sampling_probability": math.nan},
        {"steps": -1},
        {"steps": 2.5},
        {"steps": True},
        {"neighbors": "zero_out"},
    ],
    ids=repr,
)
def test_training_that_is_none_is_refused(wrong):
    from neyman.accounting._training import dp_sgd

    right = {"noise_multiplier": 1, "sampling_probability": 0.01, "steps": 10}
    with pytest.raises(InvalidParameter):
        dp_sgd(**(right | wrong))


def test_one_record_replaced_is_the_pair_of_both():
    from neyman.accounting._training import dp_sgd
    from neyman.curves import poisson_replace

    run = dp_sgd(noise_multiplier=2, sampling_probability=0.1, steps=3, neighbors="replace_one")
    assert run == poisson_replace(gdp(0.5), 0.1) ** 3
    whole = dp_sgd(noise_multiplier=2, sampling_probability=1, steps=4, neighbors="replace_one")
    assert whole == gdp(2)


@pytest.mark.parametrize("steps", [-1, 1.5, 10.0, 1e12, True, None])
def test_steps_are_named_when_they_are_wrong(steps):
    from neyman.accounting._training import dp_sgd

    with pytest.raises(InvalidParameter, match=r"steps must be.*integer=True"):
        dp_sgd(noise_multiplier=1, sampling_probability=0.1, steps=steps)


@pytest.mark.parametrize("target", [1, (1, 1e-5), None, "epsilon"])
def test_what_is_no_target_is_refused(target):
    with pytest.raises(InvalidParameter, match="EpsilonDelta"):
        calibrate(lambda s: gdp(1 / s), target)


@pytest.mark.parametrize("within", [5, (1,), "ab", (None, 2)])
def test_what_is_no_range_is_refused(within):
    with pytest.raises(InvalidParameter, match="within must be"):
        calibrate(lambda s: gdp(1 / s), gdp(1), within=within)


def test_a_target_is_written_as_people_do():
    assert str(EpsilonDelta(Fraction(1, 1000), 1e-5)) == "EpsilonDelta(epsilon=0.001, delta=1e-05)"


def test_a_target_that_all_meet_says_which_was_tried():
    with pytest.raises(InvalidParameter, match=r"every parameter tried meets it, 1\.0 as well"):
        calibrate(lambda q: gdp(q / 100), gdp(1), within=(0, 1))


def test_a_family_that_always_fails_is_refused_without_composing(monkeypatch):
    """f ⊗ f_{0,1} is f_{0,1}: no law is read, on a grid or along a line."""
    curve = dp_sgd(1, 0.01, 100) @ approx_dp(0, 1)
    assert curve == approx_dp(0, 1) == approx_dp(0, 0.5) @ approx_dp(3, 1)
    assert curve.delta(5) == 1
    monkeypatch.setattr("neyman.curves._algebra._composed.read", None)
    for target in (EpsilonDelta(1, 1e-5), MuSlack(1, 1e-5), gdp(1), approx_dp(1, 1e-5)):
        with pytest.raises(InvalidParameter, match="no parameter meets the target"):
            calibrate(lambda sigma: dp_sgd(sigma, 0.01, 100) @ approx_dp(0, 1), target)
    with pytest.raises(InvalidParameter, match="epsilon must be at least 0 and delta"):
        calibrate(gaussian, approx_dp(0, 1))
