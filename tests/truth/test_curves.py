"""Every view encloses frozen 30-digit values, tightly, and answers on the private side."""

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import mpmath as mp
import numpy as np
import pytest

from neyman.curves import (
    Pair,
    TradeOff,
    Views,
    approx_dp,
    bounded_range,
    gdp,
    identity,
    laplace,
    pure_dp,
)
from neyman.numerics import Interval

TRUTH = json.loads(Path(__file__).with_name("curves_truth.json").read_text(encoding="utf-8"))
MAKERS = {"gdp": (gdp, 1), "pure_dp": (pure_dp, 1), "laplace": (laplace, 1)}
MAKERS |= {"bounded_range": (bounded_range, 1)}
MAKERS |= {"approx_dp": (approx_dp, 2), "identity": (identity, 0)}
LOSSES = ("delta", "log_delta", "epsilon", "tpr", "renyi", "mu", "zcdp")
# A number with fewer than ten steps to the next subnormal has no relative accuracy.
SUBNORMAL = 1e-306
STEP = 2.0**-52


def build(name):
    words = name.split()
    make, count = MAKERS[words[0]]
    curve = make(*map(float, words[1 : 1 + count]))
    if "**" in words:
        curve = curve ** int(words[-1])
    return curve @ approx_dp(0, float(words[-1])) if "@" in words else curve


def ask(curve, view, row, **options):
    """Return a view at all places of a row at once; the summaries have one place."""
    at = [] if view in ("mu", "zcdp") else [[float(x) for x in row]]
    return getattr(curve, view)(*at, **options)


def brackets(curve, views):
    """Yield (view, place, lower, upper, truth as text)."""
    for view, row in views.items():
        bounds = np.broadcast_arrays(*map(np.atleast_1d, ask(curve, view, row, bracket=True)))
        for at, lower, upper in zip(row, *bounds, strict=True):
            yield view, at, float(lower), float(upper), row[at]


def decimal(x):
    """Return the decimal that a double prints as, which is what it stands for."""
    return mp.mpf(repr(float(x)))


def misses(curve, views):
    """Return the places where a bracket does not hold the truth."""
    found = []
    with mp.workdps(60):
        for view, at, lower, upper, shown in brackets(curve, views):
            truth = mp.mpf(shown)
            # Thirty digits were kept.
            room = abs(truth) * mp.mpf(10) ** -29 if mp.isfinite(truth) else 0
            low, high = min(lower, decimal(lower)), max(upper, decimal(upper))
            if not low <= truth + room or not truth - room <= high:
                found.append((view, at, lower, upper, shown))
    return found


def allowed_width(view, at, truth, curve):
    """Return how wide a bracket may be, relative to the truth (log_delta: to 1 + |log delta|).

    Where a difference of arguments decides, the step to which they are known is allowed for.
    """
    x = abs(float(at)) if at else 0.0
    bound = math.inf if curve.outer_pure() is None else float(curve.outer_pure())
    loss = 0.0 if bound == math.inf else bound
    kept = 1 - curve.delta(math.inf)
    if view == "zcdp":
        return 1.1e-8
    if view in ("beta", "tpr") and x < kept:
        # An argument known to a step moves Phi(z + mu) by mu steps more.
        mu = 0.0 if curve.mu() == math.inf else curve.mu()
        share = 1e-14 * (40 + mu) * (1 + math.sqrt(-2 * math.log(truth)))
        return share + 4e-15 * loss + 20 * STEP * x * (1 + mu) / (kept - x)
    if view == "renyi" and x != 1:
        return 4e-15 * (50 + 2 * loss) + (3 * STEP / abs(1 - x) if kept < 1 else 0.0)
    if view == "epsilon":
        return 1e-12 if x < 0.9 else 1e-10
    if view in ("delta", "log_delta"):
        near = 4 * STEP * bound / abs(bound - x) if x != bound < math.inf else 0.0
        return near + (1e-13 + 2e-14 * abs(math.log(truth)) if view == "delta" else 2e-13)
    return 1e-12


@pytest.mark.shows("S0.9")
@pytest.mark.parametrize("name", TRUTH)
def test_brackets_hold_the_truth(name):
    assert misses(build(name), TRUTH[name]) == []


@pytest.mark.parametrize("name", TRUTH)
def test_brackets_are_tight(name):
    curve = build(name)
    wide = []
    for view, at, lower, upper, shown in brackets(curve, TRUTH[name]):
        truth = float(mp.mpf(shown))
        if lower == upper or not math.isfinite(truth) or abs(truth) < SUBNORMAL:
            continue
        whole = {"log_delta": 1 + abs(truth), "epsilon": max(truth, 0.01)}.get(view, abs(truth))
        if upper - lower > allowed_width(view, at, truth, curve) * whole:
            wide.append((view, at, (upper - lower) / whole, shown))
    assert wide == []


@pytest.mark.parametrize("name", TRUTH)
def test_plain_answers_are_the_private_side(name):
    curve = build(name)
    for view, row in TRUTH[name].items():
        bounds = ask(curve, view, row, bracket=True)
        private = bounds.upper if view in LOSSES else bounds.lower
        assert np.array_equal(ask(curve, view, row), private)


PUBLISHED = [
    # Profile and curve of a Gaussian: Balle and Wang (2018), Dong, Roth and Su (2022).
    (gdp(1), "delta", 1, "0.1269367375066439458"),
    (gdp(0.1), "delta", 1, "1.2308359836427041957e-25"),
    (gdp(0.5), "delta", 1, "0.0068295949831145753842"),
    (gdp(1), "delta", 0, "0.38292492254802620728"),
    (gdp(1), "delta", 5, "5.7937216919194941042e-7"),
    (gdp(1), "delta", 10, "9.8127058268469559492e-23"),
    (gdp(2), "delta", 10, "9.9402028161181527684e-6"),
    (gdp(5), "delta", 10, "0.61662373041021237369"),
    (gdp(10), "delta", 50, "0.46049330589861399706"),
    (gdp(0.5), "beta", 0.05, "0.87386510180656970725"),
    (gdp(1), "beta", 1e-10, "0.9999999586967711563"),
    (gdp(1), "beta", 1e-5, "0.99945246856219122515"),
    (gdp(1), "beta", 0.01, "0.90763775192630606415"),
    (gdp(1), "beta", 0.05, "0.74048897715855592935"),
    (gdp(1), "beta", 0.5, "0.15865525393145705141"),
    (gdp(1), "beta", 0.9, "0.011257914512604765376"),
    (gdp(2), "beta", 0.01, "0.62791941456450568356"),
    (gdp(3), "beta", 0.05, "0.087685463249703569347"),
    # Laplace noise: Dong, Roth and Su (2022), section 2.
    (laplace(1), "delta", 0, "0.393469340287367"),
    (laplace(1), "delta", 0.25, "0.312710721209028"),
    (laplace(1), "delta", 0.5, "0.221199216928595"),
    (laplace(1), "delta", 0.9, "0.048770575499286"),
    # Kullback-Leibler divergences of the same: mu^2 / 2 and epsilon + e^-epsilon - 1.
    (gdp(1), "renyi", 1, "0.5"),
    (laplace(1), "renyi", 1, "0.367879441171442"),
    (laplace(0.5), "renyi", 1, "0.106530659712633"),
    (laplace(2), "renyi", 1, "1.13533528323661"),
]
# epsilon(delta) at delta = 1e-3, 1e-5, 1e-6, 1e-9, and the noise of the analytic Gaussian
# mechanism, Balle and Wang (2018).
EPSILONS = {
    0.1: (".1975339732", ".3406693647", ".3968573776", ".5351482316"),
    0.25: (".5920067184", ".9263415040", "1.0607018623", "1.3956157139"),
    0.5: ("1.3522762448", "1.9930914044", "2.2540846502", "2.9097323808"),
    1: ("3.1386705486", "4.3771780957", "4.8865541175", "6.1739350467"),
    2: ("7.5812799246", "9.9972561464", "10.9971512142", "13.5347722192"),
    3: ("13.0881791646", "16.6754944028", "18.1634457591", "21.9455899910"),
    5: ("27.1760171344", "33.1037323359", "35.5663437141", "41.8333750806"),
    10: ("80.0325260942", "91.8172896247", "96.7172719639", "109.1955968818"),
}
ANALYTIC = [
    (0.1, 1e-5, "30.74956613197745023894"),
    (0.5, 1e-5, "7.03182667558249144271"),
    (1, 1e-5, "3.73063163481594183225"),
    (1, 1e-6, "4.22467888932683528300"),
    (2, 1e-6, "2.23047627118641730106"),
    (8, 1e-5, "0.60022907219895155890"),
]
# The Gaussian of pure DP and of Laplace noise.
TIGHT_MU = [(pure_dp(1), 1.232035), (pure_dp(0.5), 0.623893)]
TIGHT_MU += [(laplace(1), 1.030064), (laplace(2), 1.800905)]


@pytest.mark.shows("S1.11")
@pytest.mark.parametrize(("curve", "view", "at", "value"), PUBLISHED)
def test_published_values(curve, view, at, value):
    lower, upper = getattr(curve, view)(at, bracket=True)
    digits = len(value.split("e")[0].replace("0.", "").replace(".", ""))
    assert lower * (1 - 10.0 ** (1 - digits)) <= float(value) <= upper * (1 + 10.0 ** (1 - digits))


@pytest.mark.shows("S1.15")
@pytest.mark.parametrize("mu", EPSILONS)
def test_published_epsilons(mu):
    for delta, value in zip((1e-3, 1e-5, 1e-6, 1e-9), EPSILONS[mu], strict=True):
        assert gdp(mu).epsilon(delta) == pytest.approx(float(value), rel=0, abs=6e-11)


@pytest.mark.parametrize(("epsilon", "delta", "scale"), ANALYTIC)
def test_analytic_gaussian_mechanism(epsilon, delta, scale):
    found = 1 / math.sqrt(approx_dp(epsilon, delta).inner_gaussian())
    assert found == pytest.approx(float(scale), rel=1e-12)
    assert found >= float(scale) * (1 - 1e-15)


@pytest.mark.parametrize(("curve", "mu"), TIGHT_MU)
def test_gaussian_of_bounded_losses(curve, mu):
    assert curve.mu() == pytest.approx(mu, abs=5e-7)


# -- twins that are wrong by little, and must be found out ------------------------------------


def test_broken_twin_with_a_mu_off_by_one_in_1e12_is_found():
    wrong = gdp(squared=Fraction(10**12 + 1, 10**12) ** 2)
    found = {view for view, *_ in misses(wrong, TRUTH["gdp 1"])}
    assert found >= {"delta", "epsilon", "beta", "tpr", "renyi", "mu", "zcdp"}


def test_broken_twin_with_an_epsilon_off_by_one_in_1e12_is_found():
    wrong = laplace(Fraction(10**12 + 1, 10**12))
    found = {view for view, *_ in misses(wrong, TRUTH["laplace 1"])}
    assert found >= {"delta", "epsilon", "beta", "tpr", "renyi", "mu"}


@dataclass(frozen=True, slots=True)
class Downwards(Pair):
    """A Gaussian whose profile is rounded to nearest, not up."""

    core: Pair = gdp(1).remove
    kind: ClassVar[str] = "tests.downwards"

    proved = True

    def parameters(self):
        return {}

    def log_tails(self, t, *, closed=False):
        return self.core.log_tails(t, closed=closed)

    def cumulant(self, s):
        return self.core.cumulant(s)

    def views(self):
        return Views(delta=self._delta)

    def _delta(self, epsilon):
        lower, upper = self.core.delta_bracket(epsilon)
        middle = np.sqrt(lower) * np.sqrt(upper)
        return Interval(middle, middle)


def test_broken_twin_that_rounds_to_nearest_is_found():
    views = {"delta": TRUTH["gdp 1"]["delta"]}
    pair = Downwards()
    assert len(misses(TradeOff(pair, pair), views)) > 5
    assert misses(gdp(1), views) == []
