"""Every row of the table of functions against ball arithmetic, over the whole range of doubles.

The stated errors are assumed by every certified number: a row that the library breaks fails here.
"""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from flint import arb, ctx

from neyman.numerics._interval import Interval
from neyman.numerics._primitives import PRIMITIVES, log_running, log_sum, log_total

BITS, POINTS = 300, 400
PAGE = Path(__file__).parents[2] / "docs/theory/rounding.md"


def phi(x):
    return (-x / arb(2).sqrt()).erfc() / 2


def mills(x):
    """(1 - Phi(x)) / phi(x), by Tricomi's function in the tail: erfc ends there."""
    if x > 1:
        return arb.hypgeom_u(x * x / 2, arb(0.5), arb(0.5)) / arb(2).sqrt()
    return (arb.pi() / 2).sqrt() * (x * x / 2).exp() * (x / arb(2).sqrt()).erfc()


def log_phi(x):
    if x < 0:
        return (mills(-x) / (2 * arb.pi()).sqrt()).log() - x * x / 2
    return (-(x / arb(2).sqrt()).erfc() / 2).log1p()


TRUTHS = {
    "exp": arb.exp,
    "log": arb.log,
    "expm1": arb.expm1,
    "log1p": arb.log1p,
    "log1mexp": lambda x: (-x.expm1()).log() if x > -0.5 else (-x.exp()).log1p(),
    "log1p_gap": lambda x: (x - x.log1p()) * x.sgn(),
    "sinh": arb.sinh,
    "tanh": arb.tanh,
    "asinh": arb.asinh,
    "atan": arb.atan,
    "logistic": lambda x: x.exp() / (1 + x.exp()),
    "softplus": lambda x: x.exp().log1p(),
    "phi": phi,
    "normal_sf": lambda x: phi(-x),
    "log_phi": log_phi,
    "normal_log_sf": lambda x: log_phi(-x),
    "erf_inverse": arb.erfinv,
    "mills": mills,
    "psi": lambda x: 1 - x * mills(x),
    "log_sinhc": lambda x: x + ((-2 * x).expm1() / (-2 * x)).log(),
    "atanh": arb.atanh,
    "erf": arb.erf,
    "log_growth": lambda x: ((-x).expm1() / -x).log() + x,
    "log_peak": lambda x: (x - 1) * (x - 1).log() - x * x.log(),
}
# Where a value is no double any more, and where arguments that tell are.
LARGEST = {"exp": 709.7, "expm1": 709.7, "sinh": 710.4, "mills": 1e150, "psi": 1e100}
LEAST = {"sinh": -710.4, "mills": -37.6, "psi": -37.5, "log_phi": -1e150, "normal_log_sf": -1e150}
LARGEST |= {"normal_log_sf": 1e150, "log_phi": 1e150}


def points_of(primitive):
    """Points everywhere: all sizes, both signs, and dense where functions change their form."""
    rng = np.random.default_rng(16)
    sizes = 10.0 ** rng.uniform(-307, 307, POINTS)
    near = 10.0 ** rng.uniform(-18, 3, POINTS)
    found = [sizes, -sizes, near, -near, rng.uniform(-40, 40, 2 * POINTS), 1 - near, near - 1]
    found.append(rng.uniform(-760, 760, POINTS))
    low = max(primitive.domain[0], LEAST.get(primitive.name, -math.inf))
    high = min(primitive.domain[1], LARGEST.get(primitive.name, math.inf))
    x = np.unique(np.concatenate(found))
    return x[(x > low) & (x < high)]


def truth(primitive, x):
    """The value to at least a hundred bits."""
    bits = BITS
    while True:
        ctx.prec = bits
        value = TRUTHS[primitive.name](arb(float(x)))
        if value.is_finite() and value.rel_accuracy_bits() > 100:
            return value
        bits *= 2
        if bits > 40_000:
            return None


def worst_share(primitive):
    """The largest error found, as a share of the one that is stated."""
    worst = 0.0
    x = points_of(primitive)
    with np.errstate(all="ignore"):
        values = primitive.function(x)
        ulps = np.broadcast_to(
            primitive.ulps(x) if callable(primitive.ulps) else primitive.ulps, x.shape
        )
    for place, value, stated in zip(x.tolist(), values.tolist(), ulps.tolist(), strict=True):
        if abs(value) < 1e-305 and abs(place) > 1e-300:
            # Near the end of the doubles a step is a share of its own: the interval holds it.
            continue
        true = truth(primitive, place)
        assert true is not None, (primitive.name, place)
        allowed = (stated * abs(true) + primitive.absolute) * arb(2) ** -52 + 5e-324
        worst = max(worst, float((abs(arb(value) - true) / allowed).mid()))
    return worst


@pytest.mark.parametrize(
    "primitive", [p for p in PRIMITIVES if p.name in TRUTHS], ids=lambda p: p.name
)
def test_a_primitive_is_within_its_stated_error(primitive):
    share = worst_share(primitive)
    print(f"{primitive.name}: {share:.2f} of what is stated")
    assert share < 0.75


def test_the_normal_quantile_is_within_its_stated_error():
    """By one step of Newton's method from it: z - z* = log(Phi(z)/p) Phi(z)/density."""
    primitive = next(p for p in PRIMITIVES if p.name == "normal_quantile")
    rng = np.random.default_rng(5)
    p = np.concatenate([10 ** rng.uniform(-307, 0, POINTS), rng.random(POINTS)])
    p = np.append(p, 1 - 10 ** rng.uniform(-16, -1, POINTS))
    worst, ctx.prec = 0.0, 400
    for q, z in zip(p.tolist(), primitive.function(p).tolist(), strict=True):
        x = arb(z)
        density = (-x * x / 2).exp() / (2 * arb.pi()).sqrt()
        off = phi(x) / density * (phi(x) / arb(q)).log()
        stated = (primitive.ulps * abs(z) + primitive.absolute) * 2.0**-52
        worst = max(worst, float((abs(off) / stated).mid()))
    print(f"normal_quantile: {worst:.2f} of what is stated")
    assert worst < 0.75


@pytest.mark.parametrize("primitive", PRIMITIVES, ids=lambda p: p.name)
def test_an_interval_holds_the_values_of_all_that_is_in_it(primitive):
    x = points_of(primitive)
    rng = np.random.default_rng(3)
    with np.errstate(all="ignore"):
        moved = np.clip(x * (1 + rng.uniform(-1e-3, 1e-3, x.size)), *primitive.domain)
        wide = Interval(*np.sort([x, moved], axis=0))
        inner = primitive.function(wide.lower + (wide.upper - wide.lower) * rng.random(x.size))
    found = primitive(wide)
    assert np.all(found.lower <= inner)
    assert np.all(inner <= found.upper)


@pytest.mark.parametrize("primitive", PRIMITIVES, ids=lambda p: p.name)
def test_ends_of_the_range_are_no_error_and_never_on_the_wrong_side(primitive):
    ends = np.asarray([-np.inf, -1e308, -5e-324, 0.0, 5e-324, 1e308, np.inf])
    found = primitive(Interval(ends[:-1], ends[1:]))
    assert not np.any(np.isnan(found.lower) | np.isnan(found.upper))
    assert np.all(found.lower <= found.upper)
    assert np.all(found.lower < np.inf)
    pole = np.isneginf(found.upper)
    assert not np.any(pole) or primitive.domain != (-math.inf, math.inf)


def test_what_is_exact_stays_so():
    names = {p.name: p for p in PRIMITIVES if not math.isnan(p.zero)}
    assert len(names) > 10
    for primitive in names.values():
        lower, upper = primitive(np.asarray(primitive.zero))
        assert lower == upper == 0


def test_the_page_states_the_errors_that_the_code_states():
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", PAGE.read_text("utf-8"), re.MULTILINE))
    assert sorted(rows) == sorted(p.name for p in PRIMITIVES)
    for primitive in PRIMITIVES:
        flat = primitive.ulps(np.zeros(())) if callable(primitive.ulps) else primitive.ulps
        assert rows[primitive.name].split()[0].rstrip(",") == f"{float(flat):g}", primitive.name


def test_the_logarithm_of_a_sum_holds_it_however_small_its_terms():
    rng = np.random.default_rng(4)
    terms = rng.uniform(-5000, 3, (20, 60))
    terms[0] = -np.inf
    found = log_total(Interval.exactly(terms))
    assert np.isneginf(found.upper[0])
    assert np.isneginf(found.lower[0])
    with ctx.workprec(BITS):
        for row, lower, upper in list(zip(terms, *found, strict=True))[1:]:
            truth = sum((arb(float(x)).exp() for x in row), arb(0)).log()
            assert arb(float(lower)) <= truth <= arb(float(upper))
            assert upper - lower <= 1e-13 * (1 + abs(upper))


def test_the_log_of_a_sum_is_within_its_stated_error():
    rng = np.random.default_rng(6)
    x = np.concatenate([rng.uniform(-800, 5, 600), rng.uniform(-1.4, 0.1, 600)])
    y = np.concatenate([x[:600] + rng.uniform(-40, 40, 600), np.log(-np.expm1(-np.exp(x[600:])))])
    y[::7] = x[::7]
    ctx.prec, worst = BITS, 0.0
    for a, b, value in zip(x.tolist(), y.tolist(), np.logaddexp(x, y).tolist(), strict=True):
        true = arb(a) + ((arb(b) - arb(a)).exp()).log1p()
        stated = (abs(true) + 4) * arb(2) ** -52
        worst = max(worst, float((abs(arb(value) - true) / stated).mid()))
    print(f"log_sum: {worst:.2f} of what is stated")
    assert worst < 0.75
    found = log_sum(Interval.exactly(x), Interval.exactly(y))
    assert np.all(found.lower <= found.upper)
    nothing = Interval.exactly(np.full(x.shape, -np.inf))
    alone = log_sum(Interval.exactly(x), nothing)
    assert np.array_equal(alone.lower, x)
    assert np.array_equal(alone.upper, x)
    assert np.all(log_sum(nothing, nothing).upper == -np.inf)


@pytest.mark.parametrize("rate", [-0.5, 0.0, 0.5])
def test_the_logs_of_running_sums_hold_the_exact_ones(rate):
    rng = np.random.default_rng(9)
    logs = rate * np.arange(700) - 300 + rng.uniform(-30, 3, 700)
    logs[[0, 5, 300]] = -np.inf
    found = log_running(Interval.exactly(logs))
    ctx.prec, total = BITS, arb(0)
    assert found.lower[0] == found.upper[0] == -np.inf
    for k in range(1, logs.size):
        total += arb(float(logs[k])).exp() if np.isfinite(logs[k]) else 0
        assert arb(found.lower[k]) <= total.log() <= arb(found.upper[k])
    assert np.max(found.upper[1:] - found.lower[1:]) < (1e-10 if rate <= 0 else 1e-11)
