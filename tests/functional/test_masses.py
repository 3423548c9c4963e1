"""The masses of values on a grid, read from released counts of each value."""

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import neyman as ny
from neyman import functional
from neyman.errors import InvalidParameter
from neyman.functional import MassFunction
from neyman.functional._densities._masses import _own
from neyman.functional._densities._nearest import nearest_masses
from neyman.tables import Bins, Keys, Rows, open_table

K = 101
YEARS = np.arange(K)
BELL = np.exp(-0.5 * ((YEARS - 38) / 25) ** 2)
LAWS = {
    "smooth": BELL / BELL.sum(),
    "rounds": (BELL * np.where(YEARS % 10 == 0, 12, 1))
    / (BELL * np.where(YEARS % 10 == 0, 12, 1)).sum(),
    "few": np.bincount([0, 7, 40, 41, 90], weights=[0.1, 0.3, 0.2, 0.35, 0.05], minlength=K),
}


def counted(law, n, random, mu=1.0):
    """Return the masses of a release of n values, and the counts without noise."""
    exact = np.bincount(random.choice(K, n, p=law), minlength=K)
    noisy = np.rint(exact + random.normal(0, 1 / mu, K)).astype(int)
    return MassFunction(0.0, 1.0, tuple(noisy.tolist()), math.sqrt(1 / mu**2 + 1 / 12)), exact


def released(place: Path, by, rows=None, noise=None):
    rows = (
        {"age": np.random.default_rng(0).choice(K, 4000, p=LAWS["smooth"])}
        if rows is None
        else rows
    )
    table = open_table(pa.table(rows), unit=Rows(), name="people")
    question = table.count(by)
    place.mkdir(exist_ok=True)
    ledger = ny.Ledger.open(place / "l", cap=ny.gdp(9), unit="one row", neighbors="add_remove")
    noise = noise or ny.Gaussian.calibrate(question.sensitivity, mu=1)
    return ny.release(question, noise, ledger, entry="e")


def test_counts_by_bins_and_by_whole_keys_are_the_same_masses(tmp_path: Path):
    bins = released(tmp_path, Keys({"age": Bins.uniform(-0.5, 100.5, K, outside="drop")}))
    f = functional.masses(bins)
    assert (f.first, f.step, f.counts) == (0.0, 1.0, tuple(bins.columns["count"]))
    assert f.stddev == bins.columns["stddev"][0]
    keys = released(tmp_path / "k", Keys({"age": list(range(K))}))
    g = functional.masses(keys)
    assert (g.first, g.step, len(g.counts)) == (0.0, 1.0, K)
    assert abs(g.mean() - f.mean()) < 0.5


def test_it_has_the_methods_of_a_discrete_distribution():
    f, _ = counted(LAWS["few"], 10_000, np.random.default_rng(1))
    x = f.points
    assert f.masses.min() >= 0
    assert f.masses.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_array_equal(f(x), f.masses)
    np.testing.assert_array_equal(f.pmf(x + 0.5), 0)
    assert f(-1) == f(K) == f(np.inf) == 0
    np.testing.assert_allclose(np.diff(f.cdf(x)), f.masses[1:], atol=1e-12)
    assert (f.cdf(-0.1), f.cdf(100), f.cdf(1e9), f.sf(100)) == (0, 1, 1, 0)
    np.testing.assert_array_equal(f.cdf(x + 0.9), f.cdf(x))
    heavy = x[f.masses > 0.01]
    np.testing.assert_array_equal(f.ppf(f.cdf(heavy)), heavy)
    assert f.median() == 40
    assert f.mode() == 41
    draws = f.rvs(20_000, generator=np.random.default_rng(2))
    # Means of 20,000 draws: five of their deviations.
    assert abs(draws.mean() - f.mean()) < 5 * f.std() / math.sqrt(20_000)
    assert f.var() == pytest.approx(float(f.masses @ (x - f.mean()) ** 2))
    assert set(draws) <= set(x)


def test_a_record_is_read_back_bit_by_bit(tmp_path: Path):
    f, _ = counted(LAWS["few"], 1000, np.random.default_rng(1))
    assert functional.read(f.to_json()) == f
    functional.save(f, tmp_path / "f.npz")
    again = functional.load(tmp_path / "f.npz", MassFunction)
    np.testing.assert_array_equal(again.masses, f.masses)


def test_the_trace_of_smoothing_is_that_of_its_matrix():
    kept = np.random.default_rng(0).random(7)
    kept[0] = 1
    angles = np.pi * np.outer((np.arange(7) + 0.5) / 7, np.arange(1, 7))
    np.testing.assert_allclose(_own(kept), 1 + 2 * np.cos(angles) ** 2 @ kept[1:], atol=1e-12)


@pytest.mark.parametrize(("law", "bar"), [("smooth", 0.3), ("rounds", 1.05), ("few", 1.05)])
def test_masses_are_no_worse_than_counts_and_much_better_where_they_are_smooth(law, bar):
    """Mean squared error over that of the counts, brought to the nearest masses; 30 releases.

    Of heaps the broken twin is a running mean of nine counts: more than three times worse.
    """
    random, errors = np.random.default_rng(4), np.zeros(3)
    for _ in range(30):
        f, _exact = counted(LAWS[law], 1000, random)
        plain = nearest_masses(np.array(f.counts) / f.count, 1.0)
        blurred = np.convolve(plain, np.ones(9) / 9, "same")
        errors += [float(((m - LAWS[law]) ** 2).sum()) for m in (f.masses, plain, blurred)]
    assert errors[0] < bar * errors[1]
    assert law == "smooth" or errors[2] > 3 * errors[0]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("count", [300, 10_000])
def test_bands_hold_the_masses_handed_over_and_what_they_are_for(law, count):
    """Of 60 of level 0.95 at least 52: 51 or fewer have a chance of 0.004. A twin must fail.

    The twin has the width of one point alone.
    """
    random, held = np.random.default_rng(6), np.zeros(3)
    for _ in range(60):
        f, exact = counted(LAWS[law], count, random)
        total, noise = f.band(0.95), f.band(0.95, "noise")
        for band in (total, noise):
            assert ((band.lower <= f.masses) & (f.masses <= band.upper)).all()
            assert ((band.lower < band.upper) & (band.lower >= 0)).all()
        shares = exact / count
        reach = 1.96 * f.stddev / f.count
        held += [
            ((total.lower <= LAWS[law]) & (LAWS[law] <= total.upper)).all(),
            ((noise.lower <= shares) & (shares <= noise.upper)).all(),
            (np.abs(np.array(f.counts) / f.count - shares) <= reach).all(),
        ]
    assert min(held[:2]) >= 52
    assert held[2] < 30


def test_what_is_no_grid_of_counts_is_refused(tmp_path: Path):
    rows = {"age": [1.0, 2, 3], "sex": ["f", "m", "f"]}
    uneven = released(tmp_path, Keys({"age": Bins([0, 1, 2, 5], outside="drop")}), rows)
    with pytest.raises(InvalidParameter, match="equally spaced"):
        functional.masses(uneven)
    words = released(tmp_path / "w", Keys({"sex": ["f", "m", "x"]}), rows)
    with pytest.raises(InvalidParameter, match="of one column of numbers"):
        functional.masses(words)
    two = Keys({"age": Bins.uniform(0, 3, 3, outside="drop"), "sex": ["f", "m"]})
    with pytest.raises(InvalidParameter, match="counts by age, sex"):
        functional.masses(released(tmp_path / "t", two, rows))
    with pytest.raises(InvalidParameter, match=r"release must be.* got a value of type dict"):
        functional.masses({"count": [1, 2, 3]})
    none = MassFunction(0.0, 1.0, (0, -1, 1), 1.0)
    with pytest.raises(InvalidParameter, match="must be positive"):
        none.mean()
    for broken in (
        (0.0, 0.0, (1, 2, 3), 1.0),
        (0.0, 1.0, (1, 2), 1.0),
        (0.0, 1.0, (1, 2.0, 3), 1.0),
    ):
        with pytest.raises(InvalidParameter):
            MassFunction(*broken)


def test_counts_with_other_noise_are_refused(tmp_path: Path):
    years = Keys({"age": Bins.uniform(-0.5, 100.5, K, outside="drop")})
    answer = released(tmp_path, years, noise=ny.Laplace(scale=2))
    with pytest.raises(InvalidParameter, match="Gaussian noise"):
        functional.masses(answer)
