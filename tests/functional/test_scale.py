"""Intervals on a scale: released on a line, read in the units of the values."""

import json
import math

import numpy as np
import pytest
from scipy.stats import lognorm, t

from neyman import functional
from neyman.errors import InvalidParameter
from neyman.functional import Asinh, Box, Circle, DensityFunction, Interval, Log
from neyman.functional._densities._band import noise_of

SCALES = {
    "log": Interval(0.01, 300, outside="drop").scaled(Log()),
    "counted": Interval(0.01, 300, outside="count").scaled(Log()),
    "clipped": Interval(0.01, 300, outside="clip").scaled(Log()),
    "asinh": Interval(-50, 300, outside="drop").scaled(Asinh(2)),
}


@pytest.fixture(params=SCALES.values(), ids=SCALES)
def domain(request):
    return request.param


@pytest.fixture
def read(released):
    def read(values, domain, **declared):
        declared = {"bandwidth": None, "records": len(values), "target": None} | declared
        return DensityFunction(released(values, domain=domain, **declared))

    return read


@pytest.fixture
def skew(domain, read):
    """Return a density of lognormal values, which is far from normal."""
    values = np.random.default_rng(1).lognormal(0, 1, 5_000)
    return read(values, domain)


def nodes_of(domain):
    return functional.Basis(domain, domain.length / 50, functional.Scales(), True).axes[0]


def test_every_double_is_at_one_node_and_their_order_is_kept(domain):
    axis = nodes_of(domain)
    low, high = domain.ends
    values = np.sort(np.random.default_rng(0).uniform(low, high, 10_000))
    found = axis.index(values)
    assert (np.diff(found) >= 0).all()
    assert axis.index(np.array([low, high])).tolist() == [0, axis.inside - 1]
    near = np.rint((domain.on_line(values) - domain.start) / axis.step)
    assert (np.abs(found - near) <= 1).all()
    assert (found == near).mean() > 0.999


@pytest.mark.parametrize("name", ["log", "counted", "clipped"])
def test_values_outside_and_none_have_the_places_that_are_declared(name):
    axis = nodes_of(SCALES[name])
    none = axis.number
    expected = {
        "log": [none] * 5,
        "counted": [none - 3, none - 3, none - 2, none - 2, none - 1],
        "clipped": [0, 0, none - 1, none - 1, none],
    }
    found = axis.index(np.array([-math.inf, 0.0, 1e300, math.inf, math.nan]))
    assert found.tolist() == expected[name]


def test_the_public_edges_between_nodes_decide_alone():
    """A value and the next double below it are at different nodes only at an edge."""
    axis = nodes_of(SCALES["log"])
    values = np.exp(np.linspace(math.log(0.01), math.log(300), 5_001))
    below = np.nextafter(values, 0)[1:]
    assert (axis.index(values[1:]) - axis.index(below)).max() <= 1


def test_a_neighbour_moves_the_integers_by_no_more_wherever_it_is(domain):
    basis = functional.Basis(domain, domain.length / 50, functional.Scales(), True)
    (axis,) = basis.axes
    low, high = domain.ends
    values = np.random.default_rng(2).uniform(low, high, 100)
    added = float(basis.sensitivity("add_remove").l2_squared)
    replaced = float(basis.sensitivity("replace_one").l2_squared)

    def sums(records):
        counts = np.bincount(axis.index(np.asarray(records)), minlength=axis.number + 1)
        return basis.sums(counts[: axis.number]).astype(float)

    base = sums(values)
    for other in (low, high, low - 1, high + 1, math.nan, math.inf, *values[:5]):
        moved = sums([*values, other]) - base
        assert moved @ moved <= added
        moved = sums([*values[1:], other]) - base
        assert moved @ moved <= replaced


def test_it_is_a_density_in_the_units_of_the_values(skew, domain):
    low, high = domain.ends
    places = domain.off_line(np.linspace(domain.start, float(domain.line.upper), 200_001))
    for a, b in ((low, high), (0.5, 2), (1, 5)):
        x = places[(places >= a) & (places <= b)]
        mass = float(np.trapezoid(skew(x), x))
        assert math.isclose(mass, float(skew.cdf(b) - skew.cdf(a)), rel_tol=2e-3)
        assert math.isclose(mass, skew.integral(a, b), rel_tol=2e-3)
    assert skew([low - 1, high + 1]).tolist() == [0, 0]
    assert skew.cdf([low - 1, low, high, high + 1]).tolist() == [0, 0, 1, 1]


def test_its_quantiles_draws_and_moments_are_those_of_the_values(skew, domain):
    shares = np.linspace(0.001, 0.999, 99)
    places = skew.ppf(shares)
    np.testing.assert_allclose(skew.cdf(places), shares, atol=1e-9)
    low, high = domain.ends
    assert ((places >= low) & (places <= high)).all()
    draws = skew.rvs(200_000, generator=np.random.default_rng(0))
    assert abs(draws.mean() - skew.mean()) < 5 * skew.std() / math.sqrt(200_000)
    assert abs(skew.median() - 1) < 0.1
    grid = np.geomspace(0.05, 5, 2_001)
    assert math.isclose(float(skew(skew.mode())), float(skew(grid).max()), rel_tol=0.01)
    logs = np.log(skew(draws))
    assert abs(-logs.mean() - skew.entropy()) < 5 * logs.std() / math.sqrt(200_000)


def test_its_bands_are_about_the_density(skew):
    for kind in ("density", "total", "noise"):
        band = skew.band(0.95, kind)
        assert (band.lower <= band.upper).all()
        assert (np.diff(band.x) >= 0).all()
    band = skew.band(0.95)
    truth = lognorm(1).pdf(band.x)
    shown = (band.x > 0.1) & (band.x < 5)
    assert ((band.lower <= truth) & (truth <= band.upper))[shown].mean() > 0.95
    places, variance = noise_of(skew.reading, skew.shares, skew.raw.count_variance)
    side, at = skew.sides[0], np.array([0.5, 1.0, 2.0])
    on_line = np.interp(side.on_line(at), places, np.sqrt(variance))
    np.testing.assert_allclose(skew.noise_sd(at), on_line * side.slope(at), rtol=1e-12)


def test_it_is_read_back_bit_by_bit(skew, tmp_path):
    record = json.loads(json.dumps(skew.to_json()))
    again = functional.read(record)
    assert again == skew
    assert again.ppf(0.3) == skew.ppf(0.3)
    functional.save(skew, tmp_path / "skew.npz")
    assert functional.load(tmp_path / "skew.npz") == skew
    table = skew.on_line
    assert functional.read(table.to_json()).mean() == table.mean()


@pytest.mark.parametrize("seed", range(3))
def test_skew_values_are_read_better_on_their_scale(read, seed):
    """Of 2,000 lognormal values on [0.01, 300]: without a scale the error is 10 times as large."""
    values = np.random.default_rng(seed).lognormal(0, 1, 2_000)
    x = np.linspace(0.01, 20, 20_001)
    truth = lognorm(1).pdf(x)
    plain, scaled = (
        float(((read(values, domain, seed=seed)(x) - truth) ** 2).mean())
        for domain in (Interval(0.01, 300, outside="drop"), SCALES["log"])
    )
    assert scaled < plain / 4


def test_long_tails_on_both_sides_are_read_on_asinh(read):
    values = np.random.default_rng(0).standard_t(2, 5_000)
    domain = Interval(-1000, 1000, outside="drop")
    x = np.linspace(-10, 10, 5_001)
    plain, scaled = (
        float(((read(values, one)(x) - t(2).pdf(x)) ** 2).mean())
        for one in (domain, domain.scaled(Asinh(1)))
    )
    assert scaled < plain / 4


def test_scales_are_refused_where_they_are_not_carried():
    line = Interval(1, 10, outside="clip").scaled(Log())
    with pytest.raises(InvalidParameter, match="lower must be positive"):
        Interval(0, 10, outside="clip").scaled(Log())
    with pytest.raises(InvalidParameter, match="unit must be positive"):
        Asinh(0)
    with pytest.raises(InvalidParameter, match="density of one column"):
        Box(line, Circle(3))
    asked = {"neighbors": "add_remove", "unit": "one row", "name": "x"}
    with pytest.raises(InvalidParameter, match="density of one column"):
        functional.regression(
            np.ones(3), np.ones(3), domain=line, records=10, response=line.within, **asked
        )
    values = np.ones(3)
    with pytest.raises(InvalidParameter, match="scale"):
        line.within.scaled("log")
    before = functional.density(values, domain=line.within, records=10, **asked)
    after = functional.density(values, domain=line, records=10, **asked)
    assert before.query["computation"] != after.query["computation"]
