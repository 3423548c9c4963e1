"""Bands of fields with sampling; projected fields: integrals, marginals, records."""

import json

import numpy as np
import pytest

from neyman import functional
from neyman.errors import InvalidParameter
from neyman.functional import Box, Circle, DensityFunction, Interval, TabulatedDensity

LINE, TURN = Interval(0, 10, outside="clip"), Circle(24)
DECLARED = {"domain": Box(TURN, LINE), "bandwidth": (2, 0.8)}


def rows(number, seed):
    random = np.random.default_rng(seed)
    return np.column_stack([random.normal(12, 3, number) % 24, random.normal(5, 1.2, number)])


def expected(axes):
    """The mean of the kernel estimate of `rows`, smoothed by 2 and 0.8."""
    (x, y), (a, b) = axes, (9 + 4, 1.44 + 0.64)
    hours = sum(np.exp(-0.5 * (x - 12 + turn) ** 2 / a) for turn in (-24, 0, 24))
    minutes = np.exp(-0.5 * (y - 5) ** 2 / b)
    return np.multiply.outer(hours, minutes) / (2 * np.pi * np.sqrt(a * b))


def bands(released_field, number, repetitions, kind, mu=1):
    for seed in range(repetitions):
        f = released_field(rows(number, seed), seed=seed, mu=mu, **DECLARED)
        yield f.band(0.9, kind, generator=np.random.default_rng(seed), points=13, repetitions=79)


def covered(found):
    return [
        ((band.lower <= expected(band.axes)) & (expected(band.axes) <= band.upper)).all()
        for band in found
    ]


def test_a_total_band_holds_the_population(released_field):
    """Of 60 bands of 90 % at least 43: fewer by chance with probability 1e-4; seeded."""
    assert sum(covered(bands(released_field, 500, 60, "total"))) >= 43
    # The broken twin: noise alone, where sampling is the larger part.
    assert sum(covered(bands(released_field, 500, 60, "noise", mu=3))) < 20


@pytest.mark.soak
@pytest.mark.parametrize("mu", [0.5, 2])
def test_coverage_of_total_bands(released_field, mu):
    """500 bands of 90 %: a share known to 0.0135, three of them from 0.88."""
    assert np.mean(covered(bands(released_field, 1000, 500, "total", mu))) > 0.84


def test_a_total_band_is_wider_and_says_its_kind(released_field):
    f = released_field(rows(2000, 1), **DECLARED)
    asked = {"generator": np.random.default_rng(0), "points": 9, "repetitions": 39}
    noise, total = (f.band(0.9, kind, **asked) for kind in ("noise", "total"))
    assert (total.upper - total.lower).mean() > 1.2 * (noise.upper - noise.lower).mean()
    assert ((total.lower <= total.estimate) & (total.estimate <= total.upper)).all()
    with pytest.raises(InvalidParameter, match="kind must name a band"):
        f.band(0.9, "both", **asked)


def test_a_projected_field_is_integrated(released_field):
    p = DensityFunction(released_field(rows(3000, 2), **DECLARED))
    assert p.integral((0, 0), (24, 10)) == pytest.approx(1, abs=1e-9)
    halves = p.integral((0, 0), (7.7, 10)) + p.integral((7.7, 0), (24, 10))
    assert halves == pytest.approx(1, abs=1e-9)
    turned = p.integral((20, 1), (28, 7))
    assert turned == pytest.approx(
        p.integral((20, 1), (24, 7)) + p.integral((0, 1), (4, 7)), abs=1e-12
    )
    (x, y), values = p.grid((480, 401))
    inside = values[np.ix_((x >= 3) & (x < 17), (y >= 1) & (y < 7))].sum() * (24 / 480) * (10 / 400)
    assert p.integral((3, 1), (17, 7)) == pytest.approx(inside, abs=3e-3)
    for wrong in (((0, 0), (24, 11)), ((5, 5), (4, 6)), ((0,), (1,))):
        with pytest.raises(InvalidParameter):
            p.integral(*wrong)
    with pytest.raises(InvalidParameter, match="must be 2 numbers"):
        p.grid((3, 3, 3))


def test_its_marginal_is_what_is_left(released_field):
    p = DensityFunction(released_field(rows(3000, 2), **DECLARED))
    table = TabulatedDensity(p.table)
    strips = [p.integral((0, a), (24, a + 1)) for a in range(10)]
    assert np.allclose(np.diff(table.marginal(1).cdf(np.arange(11.0))), strips, atol=1e-9)
    # From its own waves: nearly the same, at its own shares of them.
    assert np.allclose(np.diff(p.marginal(1).cdf(np.arange(11.0))), strips, atol=0.02)
    assert p.marginal(0).cdf(24.0) == 1
    with pytest.raises(InvalidParameter, match="axis"):
        p.marginal(2)


def test_it_is_kept(released_field, tmp_path):
    p = DensityFunction(released_field(rows(300, 2), **DECLARED))
    record = json.loads(json.dumps(p.to_json()))
    assert (functional.read(record).values == p.values).all()
    functional.save(p, tmp_path / "p.npz")
    again = functional.load(tmp_path / "p.npz", functional.DensityFunction)
    assert again([3.0, 4.0]) == p([3.0, 4.0])
    table = TabulatedDensity(p.table)
    record = json.loads(json.dumps(table.to_json()))
    assert functional.read(record)([3.0, 4.0]) == p([3.0, 4.0])
    for name, wrong in (("steps", ["0x1p+0"]), ("values", [[1.0]]), ("sides", [])):
        with pytest.raises(InvalidParameter):
            functional.read(record | {name: wrong})
