"""The draws follow the exact law, and are a function of the bits alone."""

import hashlib
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from neyman.errors import BrokenRandomness
from neyman.mechanisms import OPERATING_SYSTEM
from neyman.mechanisms._folded import FoldedLaplace, FoldedNormal
from neyman.mechanisms._rounded import BAND, draw
from neyman.testing import SeededBits
from sequential import RIGHT, WRONG, chi_square, folded_cells, verdict

CELLS = json.loads((Path(__file__).parents[1] / "truth" / "noise_cells.json").read_text())
DRAWS = 10**7
# Nominal chance that a right sampler fails one chi-square test; there are ten, on the system's own
# bits. It is the chance that a sequential test errs, too, one way or the other.
ERROR_RATE = 1e-12


def law_of(name, scale):
    return FoldedNormal(scale**2) if name == "gaussian" else FoldedLaplace(scale)


def counted(noise, row):
    edges = np.array(row["edges"])
    step = int(edges[1] - edges[0])
    cell = np.clip((noise - edges[0]) // step + 1, 0, edges.size)
    return np.bincount(cell, minlength=edges.size + 1)


def chances(row):
    return np.array([float(p) for p in row["probabilities"]])


def fits(noise, row):
    return chi_square(counted(noise, row), chances(row)) > ERROR_RATE


def wider(row):
    """Return the law that is one percent too wide."""
    # The narrowest Gaussian is nonzero in 634 of 10^7 draws: only 5 % too wide shows there.
    factor = "1.05" if (row["law"], row["scale"]) == ("gaussian", "1/8") else "1.01"
    return law_of(row["law"], Fraction(row["scale"]) * Fraction(factor))


def told_apart(law, row):
    """Say by some 10^5 draws of `law` whether they are of the row or of the law too wide."""
    twin = wider(row)
    return verdict(
        lambda draws: counted(draw(law, draws, OPERATING_SYSTEM), row),
        chances(row),
        folded_cells(lambda j: twin.boundary(j, 127) / 2.0**127, np.array(row["edges"])),
        error_rate=ERROR_RATE,
        batch=50_000,
        most=DRAWS,
    )


EVERY = pytest.mark.parametrize("row", CELLS, ids=lambda row: f"{row['law']}-{row['scale']}")


@EVERY
@pytest.mark.shows("S0.11", "e0.2", "draws of Gaussian", "draws of Laplace", "exact-noise")
def test_draws_follow_the_exact_cell_probabilities(row):
    law = law_of(row["law"], Fraction(row["scale"]))
    assert told_apart(law, row) == RIGHT
    assert fits(draw(law, DRAWS // 10, OPERATING_SYSTEM), row)


@EVERY
@pytest.mark.shows("twin of Gaussian", "twin of Laplace")
def test_broken_twin_one_percent_too_wide_fails(row):
    assert told_apart(wider(row), row) == WRONG


@pytest.mark.soak
@EVERY
def test_ten_million_draws_follow_the_exact_cell_probabilities(row):
    law = law_of(row["law"], Fraction(row["scale"]))
    assert fits(draw(law, DRAWS, OPERATING_SYSTEM), row)
    assert not fits(draw(wider(row), DRAWS, OPERATING_SYSTEM), row)


@pytest.mark.parametrize("exponent", [-3, 0, 10, 28, 40])
@pytest.mark.parametrize("name", ["gaussian", "laplace"])
def test_ball_arithmetic_decides_as_float64_does(name, exponent):
    """A band as wide as the lattice sends every draw to the balls: same bits, same integers."""
    law = law_of(name, Fraction(2) ** exponent)
    fast = draw(law, 4000, SeededBits(7))
    slow = draw(law, 4000, SeededBits(7), band=1.0 + 0.5 / law.scale)
    assert np.array_equal(fast, slow)


@pytest.mark.soak
@pytest.mark.parametrize("exponent", [-3, 0, 10, 20, 28, 34, 40])
@pytest.mark.parametrize("name", ["gaussian", "laplace"])
def test_ball_arithmetic_decides_a_million_draws_as_float64_does(name, exponent):
    law = law_of(name, Fraction(2) ** exponent)
    fast = draw(law, 10**6, SeededBits(8))
    assert np.array_equal(fast, draw(law, 10**6, SeededBits(8), band=1.0 + 0.5 / law.scale))


def test_broken_twin_without_a_band_is_told_apart():
    """At 2^40 float64 alone misplaces draws, so the equality above can fail."""
    law = FoldedNormal(Fraction(2) ** 80)
    bits = 100_000
    trusted = draw(law, bits, SeededBits(7))
    assert not np.array_equal(trusted, draw(law, bits, SeededBits(7), band=0.0))


@pytest.mark.parametrize(
    ("name", "exponent", "digest"),
    [
        ("gaussian", -3, "e6d48472bb9bf06efa126fb685f5b7a28ff151e7264313e91af28fba92ce2271"),
        ("gaussian", 0, "5688839ddf4ff7dbb3c7eb91a2844060bf0f4ab54d8f274ec7f17482a8767eab"),
        ("gaussian", 20, "1b8e7a9970fe043379e5ce17a94be4e71cadaed602e0f7a9f2219f3a16df064e"),
        ("gaussian", 36, "1dffb06239ff54869a6686e723197a8f9eb463839920ea816becc6f0e09e3e64"),
        ("laplace", -3, "293d94fa0629d125e840a364550b177e4413faa30ff5594c008e66c755fa1e64"),
        ("laplace", 0, "fbd07c50d1f9c54cd2b7a965442db60f0c602a90a1974835981104d8b8a0f15d"),
        ("laplace", 20, "505a87e400b2738a6253607ca852b676f58a7b64897b819b7b83aed9f8b8379c"),
        ("laplace", 36, "10ec1d36ddba8e9dda5c2700db20ed8cf6429670220d2f4319e4f57b7a0b1603"),
    ],
)
def test_seeded_stream_is_the_same_on_every_machine(name, exponent, digest):
    """Digests frozen from draws that ball arithmetic decided, every one."""
    noise = draw(law_of(name, Fraction(2) ** exponent), 100_000, SeededBits(2026))
    assert hashlib.sha256(noise.astype("<i8").tobytes()).hexdigest() == digest


@pytest.mark.parametrize(("name", "spread"), [("gaussian", 1.0), ("laplace", 2.0**0.5)])
def test_largest_scale_has_the_right_spread(name, spread):
    """Error rate below 2e-11: seven standard errors of the mean and variance of 10^5 draws."""
    noise = draw(law_of(name, Fraction(2**40)), 10**5, OPERATING_SYSTEM) / (2.0**40 * spread)
    assert abs(np.mean(noise**2) - 1) < 7 * np.std(noise**2) / 10**2.5
    assert abs(np.mean(noise)) < 7 / 10**2.5


class Script:
    """A source that reads out given words, then the system's."""

    def __init__(self, *words):
        self.words = list(words)

    def uint64(self, n):
        given, self.words = self.words[:n], self.words[n:]
        fresh = OPERATING_SYSTEM.uint64(n - len(given))
        return np.concatenate([np.array(given, dtype=np.uint64), fresh])


def test_leading_zeros_are_followed_into_the_tail():
    """V in [5, 6) 2^-191: |Z| is 15.9, and -ln V is 130.6."""
    words = (0, 0, 5 << 2, 2**60)
    top = 2.0 * 5 * 2.0**-190
    normal = FoldedNormal(Fraction(4) ** 20)
    assert abs(draw(normal, 1, Script(*words))[0] / 2**20) == pytest.approx(15.9, abs=0.5)
    laplace = FoldedLaplace(Fraction(2) ** 20)
    assert abs(draw(laplace, 1, Script(*words))[0] / 2**20) == pytest.approx(-np.log(top), abs=1)


def test_tied_bits_are_lengthened_until_they_decide():
    """63 bits that contain the boundary itself: the next word decides, either way."""
    law = FoldedNormal(Fraction(9))
    leading = law.boundary(4, 63)
    following = law.boundary(4, 127) & (2**64 - 1)
    word = leading << 1
    assert draw(law, 1, Script(word, following - 1))[0] == 5
    assert draw(law, 1, Script(word, following + 1))[0] == 4
    assert draw(law, 1, Script(word, following, 0))[0] == 5
    assert draw(law, 1, Script(word, following, 2**64 - 1))[0] == 4


def test_sign_is_the_lowest_bit():
    word = 2**60
    law = FoldedNormal(Fraction(10**6))
    up, down = draw(law, 1, Script(word)), draw(law, 1, Script(word | 1))
    assert up[0] == -down[0] > 0


def test_dead_source_is_refused():
    class Dead:
        def uint64(self, n):
            return np.zeros(n, dtype=np.uint64)

    with pytest.raises(BrokenRandomness, match="zero bits in a row"):
        draw(FoldedNormal(Fraction(1)), 3, Dead())


def test_few_draws_need_ball_arithmetic_up_to_the_full_speed_scale():
    """Share of doubtful draws at 2^28: 2 band scale E(z + 1) = 2.7e-5; here below 1e-4."""

    class Counted:
        scale = 2.0**28
        asked = 0

        def magnitude(self, upper):
            return FoldedNormal(Fraction(4) ** 28).magnitude(upper)

        def boundary(self, j, length):
            self.asked += 1
            return FoldedNormal(Fraction(4) ** 28).boundary(j, length)

    law = Counted()
    draw(law, 10**6, OPERATING_SYSTEM, BAND)
    assert 0 < law.asked < 2 * 100 + 10
