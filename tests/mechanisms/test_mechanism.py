"""Calibration, guarantees, public accuracy and refusals of the two mechanisms."""

import json
import pickle
import subprocess
import sys
import threading
from dataclasses import FrozenInstanceError, fields
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from neyman.curves import gdp, laplace
from neyman.errors import InvalidParameter, SensitivityMismatch
from neyman.mechanisms import Gaussian, Laplace
from neyman.mechanisms._rounded import draw
from neyman.sensitivity import Sensitivity
from neyman.testing import SeededBits

SUMMARY = json.loads((Path(__file__).parents[1] / "truth" / "noise_summary.json").read_text())
BOTH = Sensitivity(neighbors="add_remove", l1=Fraction(3), l2_squared=Fraction(5))
ONLY_L1 = Sensitivity(neighbors="add_remove", l1=Fraction(3))
ONLY_L2 = Sensitivity(neighbors="add_remove", l2_squared=Fraction(5))
PAIR = [Gaussian(scale=10), Laplace(scale=10)]


def mechanism_of(row):
    return {"gaussian": Gaussian, "laplace": Laplace}[row["law"]](scale=Fraction(row["scale"]))


@pytest.mark.shows("S0.11", "S1.13", "approximate", "curve of Gaussian")
@pytest.mark.parametrize("mu", [0.1, Fraction(1, 10), Decimal("0.1")])
def test_gaussian_calibration_is_exact(mu):
    mechanism = Gaussian.calibrate(BOTH, mu)
    assert mechanism.variance == 500
    assert mechanism.tradeoff(BOTH) == gdp(0.1)


@pytest.mark.shows("S4.1", "curve of Laplace")
@pytest.mark.parametrize("epsilon", [0.3, Fraction(3, 10), Decimal("0.3")])
def test_laplace_calibration_is_exact(epsilon):
    mechanism = Laplace.calibrate(BOTH, epsilon)
    assert mechanism.scale == 10
    assert mechanism.tradeoff(BOTH) == laplace(Fraction(3, 10))


@pytest.mark.shows("S3.1")
def test_scale_and_variance_are_two_ways_to_say_one_thing():
    assert Gaussian(scale=0.5) == Gaussian(variance=0.25)
    assert hash(Gaussian(scale=10)) == hash(Gaussian(variance=100))
    assert Gaussian(variance=2).variance == 2
    for wrong in ({}, {"scale": 1, "variance": 1}):
        with pytest.raises(InvalidParameter, match="exactly one of them"):
            Gaussian(**wrong)


@pytest.mark.shows("S3.1", "e0.1", "e1.12")
def test_the_norm_must_be_bounded():
    with pytest.raises(SensitivityMismatch, match="Write Laplace noise"):
        Gaussian(scale=1).tradeoff(ONLY_L1)
    with pytest.raises(SensitivityMismatch, match="Write Laplace noise"):
        Gaussian.calibrate(ONLY_L1, 1)
    with pytest.raises(SensitivityMismatch, match="Write Gaussian noise"):
        Laplace(scale=1).tradeoff(ONLY_L2)
    with pytest.raises(SensitivityMismatch, match="Write Gaussian noise"):
        Laplace.calibrate(ONLY_L2, 1)


@pytest.mark.shows("no-budget")
@pytest.mark.parametrize("budget", [0, -1, Fraction(-1, 2)])
def test_budget_must_be_positive(budget):
    with pytest.raises(InvalidParameter, match=r"mu=.* not positive"):
        Gaussian.calibrate(BOTH, budget)
    with pytest.raises(InvalidParameter, match=r"epsilon=.* not positive"):
        Laplace.calibrate(BOTH, budget)


@pytest.mark.parametrize("kind", [Gaussian, Laplace])
def test_scale_outside_the_supported_range_is_refused(kind):
    assert kind(scale=0.125) != kind(scale=2**40)
    with pytest.raises(InvalidParameter, match="finer grid"):
        kind(scale=Fraction(1, 8) - Fraction(1, 10**30))
    with pytest.raises(InvalidParameter, match="coarser grid"):
        kind(scale=2**40 + Fraction(1, 10**30))
    for scale in (0, -1):
        with pytest.raises(InvalidParameter, match="not positive"):
            kind(scale=scale)
    with pytest.raises(InvalidParameter, match="scale"):
        kind(scale=float("nan"))


def test_records_are_json_and_read_back():
    assert Gaussian(scale=10).describe() == {"mechanism": "gaussian", "variance": "100"}
    assert Laplace(scale=Fraction(1, 3)).describe() == {"mechanism": "laplace", "scale": "1/3"}
    record = json.loads(json.dumps(Gaussian(variance=Fraction(10, 7)).describe()))
    assert Gaussian(variance=Fraction(record["variance"])).variance == Fraction(10, 7)


@pytest.mark.parametrize("row", SUMMARY, ids=lambda row: f"{row['law']}-{row['scale']}")
def test_stddev_is_that_of_the_rounded_law(row):
    assert mechanism_of(row).stddev == pytest.approx(float(row["stddev"]), rel=1e-12, abs=0)


@pytest.mark.parametrize("row", SUMMARY, ids=lambda row: f"{row['law']}-{row['scale']}")
def test_half_width_is_the_smallest_and_never_too_small(row):
    mechanism = mechanism_of(row)
    for confidence, expected in row["half_widths"].items():
        found = mechanism.half_width(float(confidence))
        assert expected <= found <= expected + (mechanism.law.scale > 2**30)


@pytest.mark.parametrize("mechanism", PAIR, ids=repr)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 4), (2, 0, 5), (40_000, 2)])
def test_every_shape(mechanism, shape):
    values = np.arange(np.prod(shape, dtype=int), dtype=np.int64).reshape(shape)
    noisy = mechanism.add_noise(values, SeededBits(3))
    assert noisy.shape == shape
    assert noisy.dtype == np.int64
    assert np.array_equal(
        noisy - values, draw(mechanism.law, values.size, SeededBits(3)).reshape(shape)
    )


@pytest.mark.parametrize("mechanism", PAIR, ids=repr)
def test_values_up_to_two_to_the_62_do_not_overflow(mechanism):
    widest = type(mechanism)(scale=2**40)
    for value in (2**62, -(2**62)):
        noisy = widest.add_noise(np.full(1000, value))
        assert np.all(np.abs(noisy - value) < 2**46)


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.uint64, np.bool_])
def test_values_that_are_not_int64_are_refused(dtype):
    with pytest.raises(InvalidParameter, match="must be int64"):
        PAIR[0].add_noise(np.zeros(3, dtype=dtype))


@pytest.mark.parametrize("mechanism", PAIR, ids=repr)
def test_mechanisms_are_values(mechanism):
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    with pytest.raises(FrozenInstanceError):
        setattr(mechanism, fields(mechanism)[0].name, Fraction(1))


def test_fresh_bits_by_default():
    zeros = np.zeros(100, dtype=np.int64)
    assert not np.array_equal(PAIR[0].add_noise(zeros), PAIR[0].add_noise(zeros))


def test_threads_draw_apart():
    """2^40, where ball arithmetic is common: threads take turns at its precision."""
    drawn = {}

    def work(k):
        drawn[k] = Gaussian(scale=2**40).add_noise(np.zeros(2000, dtype=np.int64)).tobytes()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    assert len(drawn) == len(set(drawn.values())) == 8


def python(script):
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=600
    )


FORK = """
import os, signal, sys, threading
import numpy as np
from neyman.mechanisms import Gaussian
from neyman.mechanisms._precision import working_precision
held, done = threading.Event(), threading.Event()
def hold():
    with working_precision(100):
        held.set()
        done.wait()
thread = threading.Thread(target=hold, daemon=True)
thread.start()
held.wait()
zeros = np.zeros(2000, dtype=np.int64)
digests = []
for child in range(2):
    reading, writing = os.pipe()
    if os.fork() == 0:
        signal.alarm(240)
        os.write(writing, Gaussian(scale=2**40).add_noise(zeros)[-8:].tobytes())
        os._exit(0)
    assert os.wait()[1] == 0, "the child hung on the parent's lock"
    digests.append(os.read(reading, 64))
done.set()
thread.join()
digests.append(Gaussian(scale=2**40).add_noise(zeros)[-8:].tobytes())
assert len(set(digests)) == 3
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_forked_children_draw_apart_even_when_a_thread_held_the_lock():
    ended = python(FORK)
    assert ended.returncode == 0, ended.stderr


MISSING = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "flint":
            raise ModuleNotFoundError("blocked", name=name)
sys.meta_path.insert(0, Block())
import numpy as np
from neyman.errors import MissingExtra
from neyman.mechanisms import Gaussian
mechanism = Gaussian(scale=10)
assert mechanism.half_width(0.95) == 20
for act in (mechanism.require_sampler, lambda: mechanism.add_noise(np.zeros(3, dtype=np.int64))):
    try:
        act()
    except MissingExtra as error:
        assert "neyman[noise]" in str(error)
        assert error.__context__ is None
    else:
        raise AssertionError("drew without python-flint")
"""


def test_missing_flint_is_refused_before_anything_is_drawn():
    PAIR[0].require_sampler()
    ended = python(MISSING)
    assert ended.returncode == 0, ended.stderr
