"""Sources of bits."""

import itertools
import os
from collections import deque

import numpy as np
import pytest

from neyman.errors import BrokenRandomness
from neyman.mechanisms import OPERATING_SYSTEM, Gaussian, OperatingSystem, ReportNoisyMax, _bits
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


def answers(*blocks):
    """What os.urandom gives where it repeats these, each call the next of them."""
    turn = itertools.cycle(blocks)
    return lambda size: (next(turn) * (size // 8 + 1))[:size]


def counter():
    """Numbers that count up: nothing repeats, and nearly all bits are zero."""
    return lambda size: b"".join(i.to_bytes(8, "little") for i in range(size // 8))


URANDOM = os.urandom
FAIR = os.urandom(4096)
STUCK = {
    "zeros": answers(bytes(8)),
    "ones": answers(b"\xff" * 8),
    **{f"blocks of {size}": answers(FAIR[:size]) for size in (1, 3, 8, 16, 24, 32, 64, 100, 496)},
    "one answer": answers(FAIR * 2),
    "two answers in turn": answers(FAIR * 2, FAIR[::-1] * 2),
    "zeros in the end": lambda size: URANDOM(size // 2) + bytes(size - size // 2),
    "zeros at first": lambda size: bytes(size // 2) + URANDOM(size - size // 2),
    "counting": counter(),
    "few ones": lambda size: bytes(
        a & b for a, b in zip(URANDOM(size), URANDOM(size), strict=True)
    ),
    "short": lambda size: URANDOM(size - 1),
    "empty": lambda _: b"",
    "nothing": lambda _: None,
    "failing": lambda _: (_ for _ in ()).throw(OSError("no entropy")),
}


@pytest.fixture(autouse=True)
def nothing_was_read_before(monkeypatch):
    monkeypatch.setattr(_bits, "_BEGAN", deque(maxlen=64))


@pytest.mark.parametrize("bits", STUCK.values(), ids=STUCK)
@pytest.mark.parametrize("count", [1, 3, 1000])
def test_bits_that_are_visibly_none_are_refused_in_words(monkeypatch, bits, count):
    monkeypatch.setattr(os, "urandom", bits)

    def draw_thrice():
        for _ in range(3):
            Gaussian(scale=10).add_noise(np.zeros(count, dtype=np.int64))

    with pytest.raises(BrokenRandomness, match="operating system") as caught:
        draw_thrice()
    assert caught.value.__context__ is None


@pytest.mark.parametrize("bits", STUCK.values(), ids=STUCK)
@pytest.mark.parametrize("of", [Gaussian(scale=10), ReportNoisyMax(epsilon=1, sensitivity=1)])
def test_they_are_refused_before_anything_is_charged(monkeypatch, bits, of):
    monkeypatch.setattr(os, "urandom", bits)
    if bits is STUCK["two answers in turn"]:
        # Told once each was given, and that is one question later.
        of.require_sampler()
    with pytest.raises(BrokenRandomness):
        of.require_sampler()


def test_fair_bits_are_not_refused():
    """Error rate below 2^-57: each of 6,000 calls is refused with a probability below 2^-70."""
    for count in [0, 1, 2, 63, 10_000] * 1_200:
        assert OPERATING_SYSTEM.uint64(count).shape == (count,)


def test_a_draw_takes_no_bits_of_the_witness(monkeypatch):
    given = URANDOM(512 + 24)
    monkeypatch.setattr(os, "urandom", lambda size: given[:size])
    assert OPERATING_SYSTEM.uint64(3).tobytes() == given[512:]
