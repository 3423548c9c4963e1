"""What is kept at some places of a density and not at others."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import neyman.functional._densities._reading as reading
import neyman.functional._densities._wavelets as wavelets
from neyman.functional import Circle, DensityFunction, Interval, Scales
from neyman.functional._densities._coefficients import Coefficients
from neyman.functional._densities._nearest import nearest_density
from neyman.functional._densities._reading import Reading
from neyman.functional._densities._wavelets import kept_wavelets

COMB = [(32 / 63 / 2**k, (65 - 96 / 2**k) / 21, 32 / 63 / 2**k) for k in range(6)]
NORMAL = [(1.0, 0.0, 1.0)]
BIMODAL = [(0.5, -1.0, 2 / 3), (0.5, 1.0, 2 / 3)]


def density_of(mixture):
    def at(x):
        parts = [w * np.exp(-(((x - m) / s) ** 2) / 2) / s for w, m, s in mixture]
        return np.sum(parts, axis=0) / math.sqrt(2 * math.pi)

    return at


def drawn(mixture, records, rng):
    weights, middles, widths = (np.array(part) for part in zip(*mixture, strict=True))
    which = rng.choice(len(mixture), records, p=weights / weights.sum())
    return rng.normal(middles[which], widths[which])


def waves_of(values, noise, side, bandwidth):
    """Return coefficients with these means and this variance of each."""
    weight = np.full(values.size, 2.0)
    weight[0] = 0.0
    steps = np.arange((values.size + 1) // 2 if side.closed else values.size)
    steps = np.concatenate([steps, steps[1:]]) if side.closed else steps
    frequencies = 2 * math.pi * bandwidth / side.period * steps
    return Coefficients((side,), (bandwidth,), True, (frequencies,), values, noise, weight, 2_000.0)


def simulated(repetitions, stated=1.0, seed=3):
    """Return the error of each wavelet reading of 2,000 records, and as it was estimated.

    Args:
        repetitions: how many samples.
        stated: what the noise is said to be, times what it is.
        seed: of them.
    """
    rng, side, waves = np.random.default_rng(seed), Interval(-4, 4, outside="drop"), 96
    x = np.linspace(-4, 4, 4097)
    truth = np.clip(density_of(COMB)(x), 0, None)
    truth /= np.trapezoid(truth, x)
    table = nearest_density((side,), truth)
    w = np.pi * np.arange(waves + 1) / 8
    means = np.trapezoid(np.cos(np.outer(w, x + 4)) * truth, x, axis=1)
    twice = np.trapezoid(np.cos(np.outer(2 * w, x + 4)) * truth, x, axis=1)
    noise = 2e-4 * (1 + np.arange(waves + 1) / 20) ** 2
    noise[0] = 0.0
    variance = ((1 + twice) / 2 - means**2) / 2_000 + noise * stated
    shares = np.exp(-((np.arange(waves + 1) / 30) ** 2))
    errors, estimates = [], []
    for _ in range(repetitions):
        places = rng.choice(x, 2_000, p=truth / truth.sum())
        values = np.cos(np.outer(w, places + 4)).mean(axis=1)
        values += np.sqrt(noise) * rng.standard_normal(waves + 1)
        values[0] = 1.0
        c = waves_of(values, noise * stated, side, 0.05)
        kept, risk = kept_wavelets(c, shares, variance, table)
        errors.append(float((c.weight * (kept**2 - 2 * kept * means)).sum()))
        estimates.append(risk)
    return np.array(errors), np.array(estimates)


def test_the_error_is_estimated_without_bias():
    """|mean difference| below 4 standard errors: chance 6e-5; with noise said to be half, above."""

    def apart(stated):
        errors, estimates = simulated(200, stated)
        difference = estimates - errors
        return abs(difference.mean()) / (difference.std(ddof=1) / math.sqrt(difference.size))

    assert apart(1.0) < 4
    assert apart(0.5) > 4


def test_loud_octaves_stay_out(monkeypatch):
    """Noise alone, at most 4 * 10^4 times that of sampling: 5 of 100 samples at most show it."""
    rng, side = np.random.default_rng(5), Interval(0, 1, outside="drop")
    noise = 1e-5 * (1 + np.arange(513) / 16.0) ** 4
    noise[0] = 0.0
    table = nearest_density((side,), np.ones(129))
    shares = (np.arange(513) == 0).astype(np.float64)
    samples = rng.standard_normal((100, 513)) * np.sqrt(noise + 1 / 4_000)
    samples[:, 0] = 1.0

    def shown():
        found = 0
        for values in samples:
            c = waves_of(values, noise, side, 0.002)
            kept, _ = kept_wavelets(c, shares, noise + 1 / 4_000, table)
            found += bool((np.flatnonzero(kept) > 128).any())
        return found

    assert shown() <= 5
    monkeypatch.setattr(wavelets, "_LOUD", 0.0)
    assert shown() > 5


def read(mixture, records, seed):
    """Return the integrated squared errors of shares alone, and of what is handed over."""
    rng, side = np.random.default_rng(seed), Interval(-4, 4, outside="drop")
    values = drawn(mixture, records, rng)
    w = np.pi * np.arange(301) / 8
    means = np.cos(np.outer(w, values + 4)).mean(axis=1)
    noise = (1 / records) ** 2 * (20 + np.arange(301.0) ** 1.5 / 10)
    noise[0] = 0.0
    means += np.sqrt(noise) * rng.standard_normal(301)
    means[0] = 1.0
    c = replace(waves_of(means, noise, side, 0.01), count=float(records))
    found = Reading.of(c, np.eye(1))
    x = np.linspace(-4, 4, 8193)
    errors = []
    for table in (found.proper(found.shares), found.best()):
        places = np.linspace(-4, 4, table.values.size)
        apart = np.interp(x, places, table.values) - density_of(mixture)(x)
        errors.append(np.trapezoid(apart**2, x))
    return errors


def test_narrow_peaks_beside_wide_ones_are_read_with_less_error():
    """Shares alone have about twice the error for a comb; they are the twin that is not enough."""
    shares, best = np.mean([read(COMB, 10_000, seed) for seed in range(8)], axis=0)
    assert best < 0.75 * shares


def test_what_is_alike_everywhere_is_read_as_before(monkeypatch):
    """Of 24 samples at most a tenth more; with wavelets alone it is more for two wide peaks."""

    def ratio(mixture):
        shares, best = np.mean([read(mixture, 3_000, seed) for seed in range(24)], axis=0)
        return best / shares

    assert ratio(NORMAL) < 1.1
    assert ratio(BIMODAL) < 1.1
    monkeypatch.setattr(
        reading, "kept_wavelets", lambda *given: (kept_wavelets(*given)[0], -np.inf)
    )
    assert ratio(BIMODAL) > 1.1


def test_an_interval_has_no_first_end():
    """Mirrored means give the mirrored curve: even waves as they are, odd ones of other sign."""
    rng, side = np.random.default_rng(2), Interval(0, 1, outside="drop")
    values = np.r_[1.0, rng.standard_normal(200) / (1 + np.arange(200)) + 0.01]
    noise, signs = np.full(201, 1e-6), (-1.0) ** np.arange(201)
    shares = np.exp(-((np.arange(201) / 40) ** 2))
    known = 1 + 0.5 * np.cos(np.pi * np.linspace(0, 1, 513))
    found = [
        kept_wavelets(
            waves_of(means, noise, side, 0.004), shares, noise, nearest_density((side,), table)
        )
        for means, table in ((values, known), (values * signs, known[::-1]))
    ]
    np.testing.assert_allclose(found[1][0], found[0][0] * signs, atol=1e-9)
    assert found[1][1] == pytest.approx(found[0][1])
    assert (found[0][0] != 0).sum() > 50


def test_a_circle_has_no_first_place():
    """Half a turn turns the curve: waves of even numbers as they are, odd ones of other sign."""
    rng, side = np.random.default_rng(2), Circle(1)
    decay = np.r_[1.0, np.tile(1 / (1.0 + np.arange(150)), 2)]
    values = np.r_[1.0, rng.standard_normal(300)] * decay
    numbers = np.r_[np.arange(151), np.arange(1, 151)]
    noise, signs = np.full(301, 1e-6), (-1.0) ** numbers
    shares = np.exp(-((numbers / 40) ** 2))
    known = 1 + 0.5 * np.cos(2 * np.pi * np.linspace(0, 1, 513))
    turned = np.r_[known[256:-1], known[:257]]
    found = [
        kept_wavelets(
            waves_of(means, noise, side, 0.004), shares, noise, nearest_density((side,), table)
        )
        for means, table in ((values, known), (values * signs, turned))
    ]
    np.testing.assert_allclose(found[1][0], found[0][0] * signs, atol=1e-9)
    assert (found[0][0] != 0).sum() > 50


@pytest.mark.parametrize("side", [Interval(0, 1, outside="drop"), Circle(1)])
def test_records_between_nodes_count(side):
    """A peak narrower than any step: the kernels of all records are one value, which varies not."""
    x = np.linspace(0, 1, 2**14 + 1)
    table = nearest_density((side,), np.exp(-(((x - 0.37123) / 0.0005) ** 2) / 2))
    c = waves_of(np.ones(129), np.full(129, 1e-12), side, 0.01)
    curve = wavelets._Curve.of(c, table)
    _, octaves = wavelets._octaves(curve.phasors.size)
    for filters, _ in octaves:
        nodes = 4 * (filters.size - 1)
        kernel = wavelets._on_nodes(filters, nodes)
        most = float((kernel**2).max()) / curve.count
        found = curve._sampling(kernel)
        assert np.isfinite(found).all()
        # At most where the kernel is steepest, between two nodes, or meets its mirror image.
        assert found.max() < 0.3 * most


def test_a_chosen_bandwidth_is_read_by_its_kernel_alone(released):
    values = drawn(COMB, 20_000, np.random.default_rng(1))
    raw = released(values, bandwidth=Fraction(1, 50), target=Scales())
    best = DensityFunction(raw)
    chosen = best.smooth(Fraction(1, 10))
    by_kernel = chosen.reading.proper(chosen.reading.smoothed([5.0]))
    np.testing.assert_array_equal(chosen.values, by_kernel.values)
    by_shares = best.reading.proper(best.shares).values
    assert np.abs(best(np.linspace(-5, 5, by_shares.size)) - by_shares).max() > 1e-3
    band = best.band(0.95)
    assert (band.lower <= best(band.x)).all()
    assert (best(band.x) <= band.upper).all()
