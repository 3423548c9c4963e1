"""The density of a category and a value: small groups borrow, unlike ones do not."""

import math
from itertools import combinations

import numpy as np
import pytest

from neyman import functional
from neyman.errors import InvalidParameter
from neyman.functional import Circle, DensityFunction, Functions, GroupedDensity, Interval

LINE = Interval(-4, 4, outside="count")
SIZES = {("small",): 200, ("middle",): 1_000, ("large",): 10_000}
X = np.linspace(-4, 4, 801)[:-1] + 0.005


def peaks(*parts):
    """Return how to draw from a mixture of normals (share, mean, sd), and its density."""
    shares = [share for share, *_ in parts]

    def drawn(number, generator):
        kinds = generator.choice(len(parts), number, p=shares)
        means, sds = (np.array([part[k] for part in parts])[kinds] for k in (1, 2))
        return generator.normal(means, sds)

    def density(x):
        return sum(
            share * np.exp(-(((x - mean) / sd) ** 2) / 2) / (sd * math.sqrt(2 * math.pi))
            for share, mean, sd in parts
        )

    return drawn, density


TWO = peaks((0.5, -1.5, 0.5), (0.5, 1.5, 0.5))
SKEW = peaks((0.6, -1, 0.4), (0.4, 0.5, 1))
ONE = peaks((1, 0, 1))


@pytest.fixture
def grouped(released):
    """Return the grouped density of laws, one a group, and its seed."""

    def made(laws, seed, sizes=SIZES, **declared):
        generator = np.random.default_rng(seed)
        found = {}
        for place, (key, law) in enumerate(zip(sizes, laws, strict=True)):
            values = law[0](sizes[key], generator)
            alone = {"domain": LINE, "bandwidth": 0.06, "seed": 10 * seed + place} | declared
            raw = released(values, target=functional.Scales(), **alone)
            found[key] = DensityFunction(raw)
        return GroupedDensity(Functions(("size",), found))

    return made


def losses(density, laws):
    """Return the squared errors of each group: read alone, read beside the others."""
    return np.array(
        [
            [((f(X) - law[1](X)) ** 2).mean() for f in (curve, density.conditional(key))]
            for (key, curve), law in zip(density.curves.items(), laws, strict=True)
        ]
    )


def test_small_groups_that_are_alike_borrow_from_large_ones(grouped):
    lost = np.mean([losses(grouped([TWO] * 3, seed), [TWO] * 3) for seed in range(6)], axis=0)
    ratios = lost[:, 1] / lost[:, 0]
    assert ratios[0] < 0.7
    assert ratios[1] < 0.7
    assert ratios[2] < 1.05


def test_groups_that_are_unlike_lose_nothing(grouped):
    laws = [TWO, SKEW, ONE]
    lost = np.mean([losses(grouped(laws, seed), laws) for seed in range(6)], axis=0)
    ratios = lost[:, 1] / lost[:, 0]
    assert ratios[0] < 1.1
    assert ratios[1] < 1.1
    # The twin: each group is given the density of the others.
    for k in range(2):
        others = laws[2][1](X)
        assert ((others - laws[k][1](X)) ** 2).mean() > 2 * lost[k, 1]


def test_the_joint_density_is_that_of_a_group_times_its_share(grouped):
    laws = [TWO, SKEW, ONE]
    density = grouped(laws, 1)
    shares = density.probabilities()
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["large",] == pytest.approx(10_000 / 11_200, abs=0.01)
    f = density.conditional(("small",))
    assert f.integral(-4, 4) == pytest.approx(1)
    np.testing.assert_allclose(density.pdf(("small",), X), shares["small",] * f(X))
    given = density.probabilities_at(X)
    total = sum(given.values())
    seen = np.isfinite(total)
    np.testing.assert_allclose(total[seen], 1)
    assert given["large",][400] > 0.8
    mixed = sum(density.pdf(key, X) for key in SIZES)
    assert np.abs(density.marginal()(X) - mixed).max() < 0.03
    assert density.marginal().count == pytest.approx(
        sum(curve.count for curve in density.curves.values())
    )
    assert density.side == LINE
    assert "3 groups" in str(density)
    assert "small: 0.0" in str(density)


def test_synthetic_rows_have_the_shares_and_values_of_the_density(grouped):
    density = grouped([TWO, SKEW, ONE], 1)
    keys, values = density.rvs(20_000, generator=np.random.default_rng(1))
    again = density.rvs(20_000, generator=np.random.default_rng(1))
    assert keys == again[0]
    assert (values == again[1]).all()
    for key, share in density.probabilities().items():
        rows = np.array([one == key for one in keys])
        # Known to sd 0.0035 at most; six and a half of them.
        assert rows.mean() == pytest.approx(share, abs=0.023)
        f = density.conditional(key)
        below = (values[rows] <= f.median()).mean()
        assert below == pytest.approx(0.5, abs=6.5 * 0.5 / math.sqrt(rows.sum()))
    assert density.rvs(0, generator=np.random.default_rng(1))[0] == []


def test_a_band_holds_the_difference_of_two_groups(grouped):
    """At 0.9 of 30 samples: the band is wide, and 24 are passed by chance but once in 10^3."""
    sizes = {("a",): 300, ("b",): 2_000}
    held, far = 0, 0
    for seed in range(30):
        density = grouped([TWO, SKEW], seed, sizes)
        band = density.difference(("a",), ("b",), 0.9)
        true = TWO[1](band.x) - SKEW[1](band.x)
        held += bool(((band.lower <= true) & (true <= band.upper)).all())
        far += bool(((band.lower > 0) | (band.upper < 0)).any())
        assert (band.lower <= band.estimate).all()
        assert (band.estimate <= band.upper).all()
    assert held >= 24
    assert far >= 24
    alike = [grouped([TWO, TWO], seed, sizes).difference(("a",), ("b",), 0.9) for seed in range(30)]
    assert sum(bool(((band.lower > 0) | (band.upper < 0)).any()) for band in alike) <= 6


def test_what_is_read_of_all_groups_is_the_sum_of_their_releases(grouped):
    density = grouped([TWO, SKEW, ONE], 1)
    releases = list(density.releases.values())
    raw = density.marginal().raw
    assert raw.integers == tuple(map(sum, zip(*(one.integers for one in releases), strict=True)))
    assert raw.stddev == pytest.approx(releases[0].stddev * math.sqrt(3))


def test_a_group_without_records_is_refused_and_the_others_are_read(grouped):
    sizes = {("none",): 0, ("some",): 2_000, ("more",): 3_000}
    density = next(
        found
        for seed in range(9)
        if (found := grouped([TWO] * 3, seed, sizes)).curves["none",].count <= 0
    )
    assert density.probabilities()["none",] == 0
    with pytest.raises(InvalidParameter, match="number of records"):
        density.conditional(("none",))
    assert set(density.rvs(100, generator=np.random.default_rng(1))[0]) == {("some",), ("more",)}
    assert (density.probabilities_at(X[300:500])["none",] == 0).all()
    alone = grouped([TWO, ONE], 1, {("a",): 0, ("b",): 500})
    read = alone.conditional(("b",))
    assert read.integral(-4, 4) == pytest.approx(1)


def test_hours_of_the_day_are_grouped_too(grouped):
    density = grouped([TWO] * 3, 1, domain=Circle(8), bandwidth=0.1)
    for one, other in combinations(SIZES, 2):
        assert density.conditional(one)(8.0) == density.conditional(one)(0.0)
        assert density.difference(one, other, 0.9).width > 2


def test_other_things_than_densities_of_one_release_are_refused(grouped, released, released_field):
    density = grouped([TWO] * 3, 1)
    curves = dict(density.curves)
    field = DensityFunction(released_field(np.full((500, 2), 5.0)))
    coarse = DensityFunction(released(np.zeros(500), domain=LINE, bandwidth=0.1))
    for wrong in (
        curves | {("field",): field},
        curves | {("coarse",): coarse},
        {("small",): curves["small",]},
        curves | {("raw",): curves["small",].raw},
    ):
        with pytest.raises(InvalidParameter, match=r"curves.*by group"):
            GroupedDensity(Functions(("size",), wrong))
    for wrong in (curves, None):
        with pytest.raises(InvalidParameter, match="curves"):
            GroupedDensity(wrong)
    with pytest.raises(InvalidParameter, match="two groups"):
        density.difference(("small",), ("small",), 0.9)
    with pytest.raises(InvalidParameter, match="must be a group"):
        density.conditional(("huge",))
    with pytest.raises(InvalidParameter, match="must be a group"):
        density.pdf("small", 0.0)
    with pytest.raises(InvalidParameter, match="level"):
        density.difference(("small",), ("large",), 1.5)


def test_densities_on_a_scale_are_refused(released):
    line = Interval(1, 100, outside="drop").scaled(functional.Log())
    values = np.random.default_rng(1).lognormal(2, 0.5, 500)
    found = {(k,): DensityFunction(released(values, domain=line, seed=k)) for k in (1, 2)}
    with pytest.raises(InvalidParameter, match="curves must be densities without a scale"):
        GroupedDensity(Functions(("group",), found))
