"""What a release says of values whose density it does not show."""

from dataclasses import replace

import numpy as np
import pytest

from neyman.functional import DensityFunction, Interval, TabulatedDensity

HEAPS = np.random.default_rng(5).choice(200, 25, replace=False)
MASSES = np.random.default_rng(6).dirichlet(np.full(25, 0.5))


def read_of(released, values, domain, seed=0, records=None):
    found = released(
        np.asarray(values, np.float64),
        seed=seed,
        domain=domain,
        bandwidth=None,
        records=len(values) if records is None else records,
        neighbors="add_remove",
        target=None,
    )
    return DensityFunction(found)


def places(n, seed):
    return np.random.default_rng(seed).choice(HEAPS, n, p=MASSES)


UNRESOLVED = {
    "heaped": (places, Interval(0, 200, outside="drop")),
    "narrow": (
        lambda n, s: np.random.default_rng(s).normal(size=n),
        Interval(-20_000, 20_000, outside="drop"),
    ),
    "clipped": (
        lambda n, s: np.random.default_rng(s).normal(size=n),
        Interval(-1.5, 1.5, outside="clip"),
    ),
}


@pytest.mark.parametrize("why", UNRESOLVED)
def test_values_that_have_no_density_are_called_so_and_why(released, why):
    """In all of five releases of 10,000; the sentence names its own cause and no other."""
    draw, domain = UNRESOLVED[why]
    for seed in range(5):
        f = read_of(released, draw(10_000, seed), domain, seed)
        assert f.unresolved is not None
        assert [one for one in UNRESOLVED if one in f.unresolved.partition(";")[0]] == [why]
        assert f.unresolved in repr(f)


SMOOTH = {
    "normal": (lambda r, n: r.normal(size=n), (-4, 4)),
    "exponential": (lambda r, n: r.exponential(size=n), (0, 8)),
    "uniform": (lambda r, n: r.random(n), (0, 1)),
    "outlier": (lambda r, n: r.normal(size=n) * np.where(r.random(n) < 0.9, 0.1, 1), (-4, 4)),
    "claw": (
        lambda r, n: np.where(
            r.random(n) < 0.5, r.normal(size=n), r.integers(-2, 3, n) / 2 + r.normal(size=n) / 10
        ),
        (-4, 4),
    ),
}


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("count", [300, 3000, 100_000])
def test_a_smooth_density_is_not_called_unresolved(released, name, count):
    draw, ends = SMOOTH[name]
    for seed in range(3):
        values = draw(np.random.default_rng(seed), count)
        f = read_of(released, values, Interval(*ends, outside="drop"), seed)
        assert f.unresolved is None
        assert "not resolved" not in repr(f)


def test_read_smoother_than_the_heaps_it_is_resolved(released):
    f = read_of(released, places(10_000, 1), Interval(0, 200, outside="drop"))
    assert f.unresolved is not None
    assert f.smooth(10).unresolved is None


def test_too_few_records_are_no_error(released):
    f = read_of(released, places(3, 1), Interval(0, 200, outside="drop"), records=1000)
    assert isinstance(repr(f), str)


@pytest.mark.parametrize("kind", ["density", "total", "noise"])
@pytest.mark.parametrize("heaped", [True, False])
def test_every_band_holds_the_density_and_has_a_width(released, kind, heaped):
    for seed, count in ((0, 1000), (1, 30_000)):
        values = (
            places(count, seed) if heaped else np.random.default_rng(seed).normal(100, 25, count)
        )
        f = read_of(released, values, Interval(0, 200, outside="drop"), seed)
        for one in (f, f.smooth(5)):
            band = one.band(0.95, kind)
            handed = one(band.x)
            assert (band.lower <= handed + 1e-12).all()
            assert (handed <= band.upper + 1e-12).all()
            assert (band.lower >= 0).all()
            assert (band.upper > band.lower).all()
            np.testing.assert_array_equal(band.estimate, np.maximum(handed, 0))


def law_of(f, masses, at):
    """Return the waves of a law on places, each moved to its node, as a release has them."""
    c = f.reading.coefficients
    (axis,) = f.raw.basis.axes
    moved = axis.step * np.rint(np.asarray(at) / axis.step)
    waves = c.frequencies[0] / c.bandwidths[0]
    return c, np.cos(np.multiply.outer(waves, moved)) @ masses


@pytest.mark.soak
def test_bands_of_heaped_values_hold_the_law_blurred_by_the_kernel(released):
    """Of 30 of level 0.95 at least 26: 25 or fewer have a chance of 0.003. A twin must fail.

    The twin is the band for what the reading is expected to be, about the sum of the waves.
    """
    held = twin = 0
    for seed in range(30):
        f = read_of(released, places(30_000, seed), Interval(0, 200, outside="drop"), seed)
        c, means = law_of(f, MASSES, HEAPS)
        kernel = f.reading.smoothed([1])
        band = f.band(0.95)
        blurred = replace(c, values=means).on_places(kernel)
        truth = np.interp(band.x, np.linspace(0, 200, blurred.size), np.maximum(blurred, 0))
        held += bool(((band.lower <= truth + 1e-9) & (truth <= band.upper + 1e-9)).all())
        noise = f.noise_sd(band.x)
        twin += bool((np.abs(truth - f(band.x)) <= 4 * noise).all())
    assert held >= 26
    assert twin <= 3


def test_the_noise_band_holds_what_the_records_would_give_without_noise(released):
    """Of 40 of level 0.95 at least 34, with heaps at which a sum of waves is far below 0."""
    held = 0
    for seed in range(40):
        values = places(3000, seed)
        f = read_of(released, values, Interval(0, 200, outside="drop"), seed)
        at, counts = np.unique(values, return_counts=True)
        c, means = law_of(f, counts / counts.sum(), at)
        exact = replace(f.reading, coefficients=replace(c, values=means)).proper(f.shares)
        band = f.band(0.95, "noise")
        truth = TabulatedDensity(exact)(band.x)
        held += bool(((band.lower <= truth + 1e-12) & (truth <= band.upper + 1e-12)).all())
    assert held >= 34
