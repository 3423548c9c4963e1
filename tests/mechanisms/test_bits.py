"""Sources of bits."""

import numpy as np

from neyman.mechanisms import OPERATING_SYSTEM, OperatingSystem
from neyman.testing import SeededBits


def test_operating_system_gives_fair_bits():
    """Error rate below 64 x 1e-12: each bit of 10^6 words is within 7 standard errors of 1/2."""
    words = OPERATING_SYSTEM.uint64(10**6)
    assert words.shape == (10**6,)
    assert words.dtype == np.uint64
    ones = [int(np.count_nonzero(words >> np.uint64(k) & np.uint64(1))) for k in range(64)]
    assert max(abs(count - 5e5) for count in ones) < 7 * 500


def test_operating_system_never_repeats():
    assert OperatingSystem() == OPERATING_SYSTEM
    assert not np.array_equal(OPERATING_SYSTEM.uint64(4), OPERATING_SYSTEM.uint64(4))
    assert OPERATING_SYSTEM.uint64(0).shape == (0,)


def test_seeded_bits_repeat_and_do_not_depend_on_the_pieces():
    whole = SeededBits(5).uint64(5)
    source = SeededBits(5)
    assert np.array_equal(np.concatenate([source.uint64(3), source.uint64(2)]), whole)
    assert not np.array_equal(SeededBits(6).uint64(5), whole)


def test_seeded_bits_say_that_they_are_not_private():
    assert "NEVER for a release" in str(SeededBits.__doc__)
