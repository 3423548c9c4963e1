"""What a power moment says about an excess: the stated errors, against sixty digits."""

import mpmath as mp
import numpy as np

from neyman.numerics._distributions._moment_bound import excess_threshold, log_excess_bound


def _growth(x: mp.mpf) -> mp.mpf:
    return mp.expm1(x) / x if x else mp.mpf(1)


def _threshold(b: mp.mpf, z: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
    """S, and the size of what it is made of."""
    upper, lower = (mp.log(mp.sinh(c * z / 2) / (c * z / 2)) for c in (b + 1, b or mp.mpf("1e-50")))
    size = z + mp.log1p(1 / b) if b * z > 1 else z / 2 + upper + lower
    return z / 2 + upper - lower, size


def _bregman(b: mp.mpf, y: mp.mpf) -> mp.mpf:
    """The integral of (1 - e^-t) e^(-bt), times b + 1."""
    return (b + 1) * (y * _growth(-b * y) - y * _growth(-(b + 1) * y))


def _places(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    b = np.concatenate([10 ** rng.uniform(-12, 9, count), -rng.uniform(0, 0.5, count), [0.0, -0.5]])
    return b, 10 ** rng.uniform(-8, 2.7, b.size)


def test_the_threshold_is_rounded_up_by_its_stated_error() -> None:
    rng = np.random.default_rng(1)
    b, z = _places(rng, 400)
    z = z * np.where(rng.random(z.size) < 0.2, 10 ** rng.uniform(0, 100, z.size), 1.0)
    found = excess_threshold(b, z)
    with mp.workdps(60):
        for value, *place in zip(found, b, z, strict=True):
            truth, size = _threshold(*(mp.mpf(float(x)) for x in place))
            off = (mp.mpf(float(value)) - truth) / size * 2**49
            assert 0.25 < off < 1.75, place


def test_the_bound_is_rounded_up_by_its_stated_error() -> None:
    rng = np.random.default_rng(2)
    b, z = _places(rng, 400)
    divergence, y = 10 ** rng.uniform(-12, 2, b.size), 10 ** rng.uniform(-8, 2.5, b.size)
    found = log_excess_bound(b, divergence, y, z)
    with mp.workdps(60):
        for value, *place in zip(found, b, divergence, y, z, strict=True):
            c, r, t, w = (mp.mpf(float(x)) for x in place)
            top = r * _growth(c * r) + _bregman(c, t)
            truth = mp.log(top) - mp.log1p(c) - mp.log(w) + c * t - mp.log(_growth(c * w))
            size = 40 + abs(c) * (r + t + w) + abs(mp.log(r)) + abs(mp.log(w))
            off = (mp.mpf(float(value)) - truth) / size * 2**50
            assert 0.25 < off < 1.75, place
