"""What must hold of every law of a privacy loss, asked of a leaf."""

import json

import numpy as np
import numpy.typing as npt

from neyman.curves import Leaf, TradeOff
from neyman.numerics import Array
from neyman.numerics._interval import Interval

__all__ = ["check_leaf"]

_POINTS, _FAR = 401, 60.0
_EVERY, _NARROW = 20, 1e-7
# Relative width of a tail, and below what size none is asked for.
_WIDTH, _LEAST = 1e-8, 1e-280


def check_leaf(leaf: Leaf) -> None:
    """Assert that the tails of a leaf are those of a privacy loss, and that it is read back.

    Asked on 401 thresholds within the reach, at its ends and beyond. A density that is wrong by a
    share of 1e-6 is found, if it is so in a twentieth of the reach; a tail that is wrong by the
    same amount everywhere is not, where its complement is computed from it.

    Raises:
        AssertionError: naming the law that fails, and where.
    """
    least, most = (float(np.clip(end, -_FAR, _FAR)) for end in leaf.reach)
    inner = np.linspace(least, most, _POINTS)
    # Beside some of them another: of a narrow cell the ratio of the masses is known closely.
    close = inner[_EVERY // 2 :: _EVERY] + _NARROW
    ends = [-1e-9, 0.0, 1e-9, least - 1, most + 1]
    t = np.unique(np.concatenate((inner, close, ends)))
    t = t[np.append(np.diff(np.exp(t)) > 0, True)]
    for tail in leaf.tails(t):
        assert type(tail) is Interval, (
            f"tails must be Intervals, of neyman.numerics; got {type(tail).__name__}. Write "
            "Interval.exactly(t), and functions of it"
        )
    _check_tails(leaf, t)
    _check_ratio(leaf, t)
    _check_symmetry(leaf, t)
    _check_ends(leaf)
    _check_delta(leaf, t)
    swapped = leaf.swap()
    assert swapped.swap() == leaf, "swap().swap() must be the leaf itself"
    guarantee = TradeOff(leaf, swapped)
    written = json.loads(json.dumps(guarantee.to_json()))
    assert TradeOff.from_json(written) == guarantee, "a record must be read back as what it was"


def _first(t: Array, wrong: npt.NDArray[np.bool_]) -> str:
    return f"at t = {float(t[np.argmax(wrong)])!r}"


def _whole(leaf: Leaf) -> list[Interval]:
    """Return what P and Q leave to the part of the loss without atoms and infinities."""
    found: list[Interval] = []
    for jumps, alone in zip(leaf.jumps(), leaf.alone(), strict=True):
        rest = 1 - alone
        for i in range(jumps.lower.size):
            rest = rest - jumps.at(np.asarray([i]))
        found.append(rest)
    return found


def _check_tails(leaf: Leaf, t: Array) -> None:
    names = ("P(L > t)", "Q(L > t)", "P(L <= t)", "Q(L <= t)")
    tails = leaf.tails(t)
    for name, tail in zip(names, tails, strict=True):
        wrong = ~((tail.lower <= tail.upper) & (tail.upper >= 0) & (tail.lower <= 1))
        assert not np.any(wrong), f"{name} must be a probability; {_first(t, wrong)}"
        falls = ">" in name
        first, last = (tail.upper, tail.lower) if falls else (tail.lower, tail.upper)
        wrong = (last[1:] > first[:-1]) if falls else (last[1:] < first[:-1])
        way = "fall" if falls else "rise"
        assert not np.any(wrong), f"{name} must {way} with t; {_first(t, wrong)}"
        wide = tail.upper - tail.lower > _WIDTH * tail.upper
        wide &= tail.lower > _LEAST
        assert not np.any(wide), (
            f"{name} must keep a relative accuracy of its own; {_first(t, wide)}. Write -expm1(x) "
            "for 1 - exp(x), and no difference of nearly equal numbers"
        )
    pairs = ((0, 2, "P"), (1, 3, "Q"))
    for (above, below, law), whole in zip(pairs, _whole(leaf), strict=True):
        total = tails[above] + tails[below]
        wrong = (total.lower > whole.upper + 1e-12) | (total.upper < whole.lower - 1e-12)
        assert not np.any(wrong), (
            f"{law}(L > t) + {law}(L <= t) must be 1, less atoms and infinite losses; "
            f"{_first(t, wrong)}"
        )


def _check_ratio(leaf: Leaf, t: Array) -> None:
    """A cell's mass in Q is between e^t of its ends times its mass in P."""
    tails = leaf.tails(t)
    ends = np.exp(t)
    for side, sign in (("p_above", 1), ("p_below", -1)):
        p, q = getattr(tails, side), getattr(tails, side.replace("p_", "q_"))
        p_most = sign * (p.lower[:-1] - p.upper[1:]), sign * (p.upper[:-1] - p.lower[1:])
        q_most = sign * (q.lower[:-1] - q.upper[1:]), sign * (q.upper[:-1] - q.lower[1:])
        (p_low, p_high), (q_low, q_high) = (
            (np.minimum(*both), np.maximum(*both)) for both in (p_most, q_most)
        )
        wrong = (q_high < ends[:-1] * p_low * (1 - 1e-9) - 1e-300) | (
            q_low > ends[1:] * p_high * (1 + 1e-9) + 1e-300
        )
        assert not np.any(wrong), (
            "Q(a < L <= b) must be between e^a and e^b times P(a < L <= b), for L = log dQ/dP; "
            + _first(t, wrong)
        )


def _check_symmetry(leaf: Leaf, t: Array) -> None:
    if not leaf.mirrored:
        return
    assert leaf.reach[0] == -leaf.reach[1], "the reach of a symmetric loss must be (-x, x)"
    here, there = leaf.tails(t), leaf.tails(-t)
    for one, other in ((here.p_above, there.q_below), (here.q_above, there.p_below)):
        room = 1e-12 * other.upper
        wrong = (one.lower > other.upper + room) | (one.upper < other.lower - room)
        assert not np.any(wrong), (
            "P(L > t) must be Q(L <= -t), and Q(L > t) be P(L <= -t), where `mirrored` is true; "
            + _first(t, wrong)
        )


def _check_ends(leaf: Leaf) -> None:
    least, most = leaf.reach
    beyond = leaf.tails(np.asarray([np.nextafter(least, -np.inf) - 1e-9, most + 1e-9]))
    for tail, at in ((beyond.p_above, 1), (beyond.q_above, 1)):
        assert np.isinf(most) or float(tail.upper[at]) <= 1e-300, (
            f"beyond the reach, {most!r}, P(L > t) and Q(L > t) must be 0"
        )
    for tail, at in ((beyond.p_below, 0), (beyond.q_below, 0)):
        assert np.isinf(least) or float(tail.upper[at]) <= 1e-300, (
            f"below the reach, {least!r}, P(L <= t) and Q(L <= t) must be 0"
        )


def _check_delta(leaf: Leaf, t: Array) -> None:
    """Delta falls, and is convex in e^t."""
    found, x = leaf.delta_bracket(t), np.exp(t)
    wrong = found.lower[1:] > found.upper[:-1]
    assert not np.any(wrong), f"delta must not rise; {_first(t, wrong)}"
    slope = np.diff(found.upper) / np.diff(x), np.diff(found.lower) / np.diff(x)
    room = 1e-9 * np.abs(slope[0][1:]) + 4e-15 / np.minimum(np.diff(x)[1:], np.diff(x)[:-1])
    wrong = np.minimum(*slope)[:-1] > np.maximum(*slope)[1:] + room
    assert not np.any(wrong), f"delta must be convex in e^t; {_first(t, wrong)}"
