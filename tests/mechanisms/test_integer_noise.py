"""Laws that live on the integers, and canonical noise: draws and tails against 50 digits."""

import hashlib
import json
from fractions import Fraction
from pathlib import Path

import flint
import mpmath as mp
import numpy as np
import pytest

from neyman.curves import gdp, laplace, pure_dp
from neyman.errors import BrokenRandomness
from neyman.mechanisms._canonical_law import FoldedCanonical, bracketed
from neyman.mechanisms._canonical_steps import (
    GaussianSteps,
    LaplaceSteps,
    LogisticSteps,
    TulapSteps,
)
from neyman.mechanisms._discrete_gaussian import FoldedTheta
from neyman.mechanisms._discrete_laplace import FoldedGeometric
from neyman.mechanisms._rounded import BAND, draw
from neyman.mechanisms._staircase import FoldedStaircase
from neyman.mechanisms._uniform import Uniform
from neyman.testing import SeededBits
from sequential import RIGHT, WRONG, chi_square, folded_cells, verdict

TRUTH = json.loads((Path(__file__).parents[1] / "truth" / "integer_noise.json").read_text())["laws"]
DRAWS = 4_000_000
# Nominal chance that a right sampler fails one of the fifteen; the bits are seeded besides. It is
# the chance that a sequential test errs, too, one way or the other.
ERROR_RATE = 1e-12


def law_of(row, stretch=Fraction(1)):
    """The law of a row; `stretch` makes it a little wider, which is what a broken twin does."""
    first, *rest = row["parameters"]
    x = Fraction(first)
    return {
        "discrete_gaussian": lambda: FoldedTheta((x * stretch) ** 2),
        "discrete_laplace": lambda: FoldedGeometric(x * stretch),
        "staircase": lambda: FoldedStaircase(x / stretch, *rest),
        "tulap": lambda: FoldedCanonical(TulapSteps(x / stretch, Fraction(rest[0])), rest[1]),
        "canonical_gaussian": lambda: FoldedCanonical(GaussianSteps((x / stretch) ** 2), rest[0]),
        "canonical_laplace": lambda: FoldedCanonical(LaplaceSteps(x / stretch), rest[0]),
        "canonical_logistic": lambda: FoldedCanonical(LogisticSteps(x / stretch), rest[0]),
    }[row["law"]]()


ROUNDED = [row for row in TRUTH if row["law"] != "discrete_gaussian"]
EVERY = pytest.mark.parametrize("row", TRUTH, ids=lambda r: f"{r['law']}-{r['parameters']}")
EACH_ROUNDED = pytest.mark.parametrize(
    "row", ROUNDED, ids=lambda r: f"{r['law']}-{r['parameters']}"
)


def counted(noise, row):
    cell = np.searchsorted(row["edges"], noise, side="right")
    return np.bincount(cell, minlength=len(row["probabilities"]))


def chances(row):
    return np.array([float(p) for p in row["probabilities"]])


def fits(noise, row):
    return chi_square(counted(noise, row), chances(row)) > ERROR_RATE


def wider(row):
    # Staircases of steep steps hardly move with epsilon.
    return law_of(row, Fraction(106, 100) if row["law"] == "staircase" else Fraction(102, 100))


def told_apart(law, row):
    """Say by some 10^5 draws of `law` whether they are of the row or of the law too wide."""
    twin, bits = wider(row), SeededBits(12)
    return verdict(
        lambda draws: counted(law.draw(draws, bits), row),
        chances(row),
        folded_cells(lambda j: twin.boundary(j, 127) / 2.0**127, np.array(row["edges"])),
        error_rate=ERROR_RATE,
        batch=50_000,
        most=DRAWS,
    )


@pytest.mark.shows(
    "draws of Canonical",
    "draws of DiscreteGaussian",
    "draws of DiscreteLaplace",
    "draws of Staircase",
)
@EVERY
def test_draws_follow_the_exact_cell_probabilities(row):
    law = law_of(row)
    assert told_apart(law, row) == RIGHT
    assert fits(law.draw(DRAWS // 10, SeededBits(12)), row)


@pytest.mark.shows("twin of DiscreteGaussian", "twin of DiscreteLaplace", "twin of Staircase")
@EVERY
def test_broken_twin_a_little_too_wide_fails(row):
    assert told_apart(wider(row), row) == WRONG


@pytest.mark.soak
@EVERY
def test_four_million_draws_follow_the_exact_cell_probabilities(row):
    assert fits(law_of(row).draw(DRAWS, SeededBits(12)), row)
    assert not fits(wider(row).draw(DRAWS, SeededBits(12)), row)


@EVERY
@pytest.mark.parametrize("length", [63, 127])
def test_boundaries_are_exact_floors(row, length):
    with mp.workdps(60):
        for j, shown in row["tails"].items():
            assert law_of(row).boundary(int(j), length) == int(mp.mpf(shown) * 2**length)


@EVERY
def test_second_moment(row):
    law = law_of(row)
    if row["law"] == "discrete_laplace":
        from neyman.mechanisms import DiscreteLaplace

        found = DiscreteLaplace(scale=Fraction(row["parameters"][0])).stddev
    elif row["law"] == "staircase":
        found = law.moment(2) ** 0.5
    else:
        found = law.second_moment() ** 0.5
    assert found == pytest.approx(float(row["stddev"]), rel=1e-12, abs=0)


@EVERY
@pytest.mark.parametrize("confidence", [0.1, 0.5, 0.95, 0.9999, 1 - 2.0**-53])
def test_half_width_is_the_smallest(row, confidence):
    law = law_of(row)
    h = law.half_width(confidence)
    with flint.ctx.workprec(200):
        assert float(law.tail(h)) <= 1 - confidence
        if h:
            assert float(law.tail(h - 1)) > 1 - confidence


def alike(law, draws):
    """Return whether float64 and ball arithmetic draw the same, from the same bits."""
    fast = draw(law, draws, SeededBits(7))
    return np.array_equal(fast, draw(law, draws, SeededBits(7), band=1.0 + 0.5 / law.scale))


@EACH_ROUNDED
def test_ball_arithmetic_decides_as_float64_does(row):
    assert alike(law_of(row), 1500)


@pytest.mark.soak
@EACH_ROUNDED
def test_ball_arithmetic_decides_many_draws_as_float64_does(row):
    assert alike(law_of(row), 50_000)


@pytest.mark.parametrize("sigma", [Fraction(1, 8), Fraction(3), Fraction(300)])
def test_table_decides_as_single_comparisons_do(sigma):
    law = FoldedTheta(sigma**2)
    drawn = law.draw(40, SeededBits(3))
    words = SeededBits(3).uint64(40)
    for k, word in zip(drawn.tolist(), words.tolist(), strict=True):
        size = Uniform(word >> 1, 63, SeededBits(4)).nearest(law, 0 if sigma < 10 else abs(k))
        assert k == (-size if word & 1 else size)


class Script:
    """A source that reads out given words."""

    def __init__(self, *words):
        self.words = list(words)

    def uint64(self, n):
        given, self.words = self.words[:n], self.words[n:]
        return np.array(given, dtype=np.uint64)


def test_tied_bits_are_lengthened_until_they_decide():
    law = FoldedTheta(Fraction(9))
    leading, following = law.boundary(4, 63), law.boundary(4, 127) & (2**64 - 1)
    word = leading << 1
    assert law.draw(1, Script(word, following - 1))[0] == 5
    assert law.draw(1, Script(word, following + 1))[0] == 4
    assert law.draw(1, Script(word, following, 2**64 - 1))[0] == 4
    assert law.draw(1, Script(word | 1, following, 0))[0] == -5


def test_bits_beyond_the_table_are_followed():
    """V below 2^-63 t: further out than any entry of the table."""
    law = FoldedTheta(Fraction(9))
    found = law.draw(1, Script(0, 2**32))[0]
    assert found >= law.table().size - 1
    assert law.boundary(int(found) - 1, 127) > 2**32 >= law.boundary(int(found), 127)


def test_dead_source_is_refused():
    class Dead:
        def uint64(self, n):
            return np.zeros(n, dtype=np.uint64)

    for law in (FoldedTheta(Fraction(1)), FoldedGeometric(Fraction(1))):
        with pytest.raises(BrokenRandomness, match="zero bits in a row"):
            law.draw(3, Dead())


# -- the float64 inverses ----------------------------------------------------------------------


def exact_z(law, v):
    """z with P(|X| > scale z) = v, in balls, by the formulas and not by float64."""
    arb = flint.arb
    v = arb(v)
    if isinstance(law, FoldedGeometric):
        a = arb(flint.fmpq(law.exact_scale.denominator, law.exact_scale.numerator))
        z = -v.log() - (a / 2).cosh().log()
        return z if z > 0 else arb(0)
    if isinstance(law, FoldedStaircase):
        e = arb(flint.fmpq(law.epsilon.numerator, law.epsilon.denominator))
        b, period, width = (-e).exp(), law.period, law.width
        start = (arb(2 * width - 1) / 2) * (1 - b) / period
        w = v * (start + b)
        m = max(0, int((-(w.log()) / e).floor().unique_fmpz()))
        return start + m * (1 - b) + b - w * (m * e).exp()
    return canonical_z(law.steps, v / 2)


def canonical_z(steps, h):
    arb, gap = flint.arb, steps.exact_gap()
    if isinstance(steps, TulapSteps):
        e = arb(flint.fmpq(steps.epsilon.numerator, steps.epsilon.denominator))
        k = arb(flint.fmpq(steps.delta.numerator, steps.delta.denominator)) / e.expm1()
        c = (1 - gap) / 2
        n = max(0, int(float(((c + k) / (h + k)).log() / e)) - 1)
        h = (n * e).exp() * (h + k) - k
        while h < c:
            h, n = e.exp() * (h + k) - k, n + 1
        return n * gap + arb(1) / 2 - h
    shift = {
        GaussianSteps: lambda: arb(
            flint.fmpq(steps.mu_squared.numerator, steps.mu_squared.denominator)
        ).sqrt(),
        LaplaceSteps: lambda: arb(flint.fmpq(steps.epsilon.numerator, steps.epsilon.denominator)),
        LogisticSteps: lambda: arb(flint.fmpq(steps.eta.numerator, steps.eta.denominator)),
    }[type(steps)]()
    quantile, survival = {
        GaussianSteps: (
            lambda g: arb(2).sqrt() * (2 * g).erfcinv(),
            lambda s: (s / arb(2).sqrt()).erfc() / 2,
        ),
        LaplaceSteps: (
            lambda g: -(2 * g).log() if g <= 0.5 else (2 * (1 - g)).log(),
            lambda s: (-s).exp() / 2 if s >= 0 else 1 - s.exp() / 2,
        ),
        LogisticSteps: (lambda g: ((1 - g) / g).log(), lambda s: 1 / (1 + s.exp())),
    }[type(steps)]
    s = quantile(h)
    n = (s / shift + arb(1) / 2).floor().unique_fmpz()
    return int(n) * gap + arb(1) / 2 - survival(s - int(n) * shift)


INVERSES = [
    *(FoldedGeometric(s) for s in (Fraction(1, 8), Fraction(3), Fraction(2**40))),
    FoldedStaircase(Fraction(1, 2**20), 7, 3),
    FoldedStaircase(Fraction(1), 10, 4),
    FoldedStaircase(Fraction(50), 3, 1),
    FoldedStaircase(Fraction(17, 3), 1000, 55),
    *(
        FoldedCanonical(steps, 7)
        for steps in (
            TulapSteps(Fraction(1), Fraction(0)),
            TulapSteps(Fraction(8), Fraction(0)),
            TulapSteps(Fraction(1, 1000), Fraction(0)),
            TulapSteps(Fraction(1, 10), Fraction(3, 10)),
            TulapSteps(Fraction(1), Fraction(1, 10**6)),
            GaussianSteps(Fraction(1)),
            GaussianSteps(Fraction(64)),
            GaussianSteps(Fraction(1, 2**20)),
            LaplaceSteps(Fraction(1, 10)),
            LaplaceSteps(Fraction(8)),
            LogisticSteps(Fraction(1, 1000)),
            LogisticSteps(Fraction(8)),
        )
    ),
]


def points(count, seed):
    rng = np.random.default_rng(seed)
    part = count // 3
    far = 2 ** -rng.uniform(0, 60, part)
    powers = 2.0 ** -rng.integers(0, 60, part) * (1 - rng.integers(0, 9, part) * 2.0**-53)
    return np.concatenate([rng.random(part), far, powers])


def worst_share_of_band(law, v):
    z = law.magnitude(v.copy())
    with flint.ctx.workprec(400):
        errors = [
            abs(float(exact_z(law, x) - flint.arb(found)))
            for x, found in zip(v.tolist(), z.tolist(), strict=True)
        ]
    return float(np.max(np.array(errors) / (BAND * (z + 1))))


@pytest.mark.parametrize("law", INVERSES, ids=str)
def test_float64_inverse_is_within_an_eighth_of_the_band(law):
    assert worst_share_of_band(law, points(1500, seed=1)) <= 1 / 8


@pytest.mark.soak
@pytest.mark.parametrize("law", INVERSES, ids=str)
def test_float64_inverse_at_many_points(law):
    assert worst_share_of_band(law, points(100_000, seed=2)) <= 1 / 8


def test_broken_twin_in_single_precision_is_outside_the_band():
    law = FoldedStaircase(Fraction(1), 10, 4)

    class Single:
        scale = law.scale

        def magnitude(self, v):
            return law.magnitude(v).astype(np.float32).astype(np.float64)

    v = points(300, seed=3)
    z = Single().magnitude(v.copy())
    with flint.ctx.workprec(400):
        errors = [
            abs(float(exact_z(law, x) - flint.arb(y)))
            for x, y in zip(v.tolist(), z.tolist(), strict=True)
        ]
    assert max(errors / (BAND * (z + 1))) > 1


# -- canonical noise ---------------------------------------------------------------------------


def upper(law, reach):
    """P(K > k) for k in -reach..reach, and the places."""
    with flint.ctx.workprec(200):
        tails = np.array([float(law.tail(j)) for j in range(reach + 1)])
    k = np.arange(-reach, reach + 1)
    folded = tails[np.where(k >= 0, k, -k - 1)] / 2
    return k, np.where(k >= 0, folded, 1 - folded)


CURVES = [
    (TulapSteps(Fraction(1), Fraction(0)), pure_dp(1)),
    (TulapSteps(Fraction(1, 2), Fraction(0)), pure_dp(0.5)),
    (GaussianSteps(Fraction(1)), gdp(1)),
    (GaussianSteps(Fraction(4)), gdp(2)),
    (LaplaceSteps(Fraction(1)), laplace(1)),
]


@pytest.mark.shows("curve of Canonical")
@pytest.mark.parametrize("period", [1, 3, 4])
@pytest.mark.parametrize(("steps", "curve"), CURVES, ids=str)
def test_a_shift_by_the_period_is_exactly_the_curve(steps, curve, period):
    """T(K, K + period) = f: at every threshold, whose errors it meets."""
    law = FoldedCanonical(steps, period)
    k, above = upper(law, 12 * period)
    places = np.flatnonzero((k >= -8 * period) & (k <= 8 * period))
    alpha, beta = above[places], 1 - above[places - period]
    assert beta == pytest.approx(curve.beta(alpha), rel=0, abs=2e-13)


@pytest.mark.parametrize(("steps", "curve"), CURVES, ids=str)
def test_smaller_shifts_are_above_the_curve(steps, curve):
    law = FoldedCanonical(steps, 4)
    k, above = upper(law, 48)
    places = np.flatnonzero((k >= -32) & (k <= 32))
    for shift in (1, 2, 3):
        alpha, beta = above[places], 1 - above[places - shift]
        assert np.all(beta >= curve.beta(alpha) - 2e-13)
        assert np.any(beta > curve.beta(alpha) + 1e-3)


@pytest.mark.shows("twin of Canonical")
def test_broken_twin_with_the_laws_mixed_up_is_not_the_curve():
    """N(0, 1) is another noise than the canonical one of G_1."""
    k, above = upper(FoldedCanonical(GaussianSteps(Fraction(1)), 4), 48)
    from scipy.special import ndtr

    gauss = ndtr(-(k + 0.5) / 4)
    assert 0.001 < np.max(np.abs(gauss - above)) < 0.01
    assert np.max(np.abs(1 - ndtr(-(k + 0.5) / 4 + 1) - gdp(0.99).beta(gauss))) > 1e-3


@pytest.mark.parametrize(
    ("curve", "steps"),
    [(gdp(1), GaussianSteps(Fraction(1))), (laplace(1), LaplaceSteps(Fraction(1)))],
    ids=str,
)
@pytest.mark.parametrize("period", [1, 2, 7])
def test_brackets_give_the_same_tails_within_the_stated_distance(curve, steps, period):
    table, exact = bracketed(curve, period), FoldedCanonical(steps, period)
    assert table.distance < 1e-10
    with flint.ctx.workprec(200):
        truth = np.array([float(exact.tail(j)) for j in range(table.doubles.size)])
    assert np.sum(np.abs(truth - table.doubles)) + truth[-1] <= table.distance
    noise = table.draw(1000, SeededBits(1))
    assert np.array_equal(noise[:900], exact.draw(1000, SeededBits(1))[:900])


DIGESTS = {
    "discrete_gaussian-100": "4bfd40a05a3bd454fa40f696a4f447cb4fc3637d3a09b964a635ea9d79b8cd28",
    "discrete_laplace-3": "03d57d9b707244246b122199fb68c22736cfd33d8b0c905ce5a96ff256e35eb7",
    "staircase-1": "57b6b9f65f994a6e2e9984f0717ac4ce61da4ea77dd0e9621754acee24abcf65",
    "canonical_gaussian-1": "f676c7f9fa7fa1b837f19a23ddb8c3563609cbae8d26782ad737dc797ee06a55",
    "tulap-1": "b8a0fcd4ec0f9cd104a20ff041dc64439e32c3af53f4fabe94be1b6e4233289f",
}


@pytest.mark.parametrize("name", DIGESTS)
def test_seeded_stream_is_the_same_on_every_machine(name):
    """Digests frozen from draws that ball arithmetic decided, every one."""
    row = next(r for r in TRUTH if f"{r['law']}-{r['parameters'][0]}" == name)
    noise = law_of(row).draw(20_000, SeededBits(2026))
    assert hashlib.sha256(noise.astype("<i8").tobytes()).hexdigest() == DIGESTS[name]
