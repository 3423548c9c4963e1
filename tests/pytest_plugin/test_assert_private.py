"""The plugin of pytest, in small suites of its own."""

import json

import pytest

import neyman.pytest._assert_private  # noqa: F401 - pytester unloads what a suite loads itself
from neyman.pytest._audits import Audits

SUITE = """
import math
from neyman.curves import pure_dp

def noisy(scale):
    lost = 1 - math.exp(-1 / scale)
    def run(data, rng):
        # On integers: noise of floats is refuted, too.
        return int(sum(data) + rng.geometric(lost) - rng.geometric(lost))
    return run

def test_healthy(assert_private):
    assert not assert_private(noisy(1), [1, 0, 1], [1, 0], pure_dp(1), draws=400).refuted

def test_half_the_noise(assert_private):
    assert_private(noisy(0.25), ["secret", 1][1:], [1, 1], pure_dp(1), draws=400)

def test_nothing():
    pass
"""


@pytest.fixture
def suite(pytester):
    """A small suite, run as a person runs it; its processes load no plugin but ours."""

    def run(*words, level='"0.001"', source=SUITE):
        line = f"neyman_level = {level}" if level else ""
        pytester.makepyprojecttoml(f"[tool.pytest.ini_options]\n{line}\n")
        pytester.makepyfile(source)
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", *words)

    return run


def test_a_mechanism_that_loses_more_fails_its_test(suite):
    found = suite("--neyman-seed", "5", "-p", "no:xdist")
    found.assert_outcomes(passed=2, failed=1)
    found.stdout.fnmatch_lines(
        [
            "E*pure_dp(epsilon=1) is refuted at level 0.00025*",
            "E*Repeat it with --neyman-seed 5.",
            "*audits of private mechanisms*",
            "*test_half_the_noise: pure_dp(epsilon=1) is refuted*",
            "*test_healthy: pure_dp(epsilon=1) is not refuted*",
            "Repeat them with --neyman-seed 5.",
        ]
    )
    # What the inputs hold stays out of the report.
    assert "secret" not in found.stdout.str().partition("audits of private")[2]


def test_a_seed_repeats_a_run(suite, pytester):
    reports = []
    for name in ("one", "two"):
        suite("--neyman-seed", "7", f"--neyman-report={name}.json", "-p", "no:xdist")
        reports.append(json.loads((pytester.path / f"{name}.json").read_text()))
    assert reports[0] == reports[1]
    assert reports[0]["seed"] == 7
    broken, healthy = reports[0]["audits"]
    assert healthy["p_value"] > 0.001 > broken["p_value"]
    assert broken["refuted"]
    assert sum(one["level"] for one in reports[0]["audits"]) < 0.001


def test_processes_share_the_level_and_the_seed(suite, pytester):
    suite("-n", "2", "--neyman-report=two.json").assert_outcomes(passed=2, failed=1)
    shared = json.loads((pytester.path / "two.json").read_text())
    suite("--neyman-seed", str(shared["seed"]), "--neyman-report=one.json", "-p", "no:xdist")
    alone = json.loads((pytester.path / "one.json").read_text())
    assert sorted(map(str, shared["audits"])) == sorted(map(str, alone["audits"]))


@pytest.mark.parametrize("level", ["", '"no"', '"0"', '"0.5"', '"nan"'])
def test_a_level_is_asked_of_those_who_audit_and_of_nobody_else(suite, level):
    found = suite("-p", "no:xdist", level=level)
    found.assert_outcomes(passed=1, errors=2)
    found.stdout.fnmatch_lines(["*Write neyman_level = *"])


def test_a_suite_without_audits_says_nothing_of_them(suite):
    found = suite(level="", source="def test_nothing():\n    pass\n")
    assert "neyman" not in found.stdout.str().partition("plugins")[2].partition("\n")[2]


def test_levels_of_many_audits_add_up_to_less_than_that_of_the_suite():
    audits = Audits(level=0.01, seed=1, tests=3)
    levels = [audits.next(test)[0] for test in "abc" for _ in range(40)]
    assert sum(levels) <= 0.01
    assert len({Audits(level=0.01, seed=1).next(test)[1] for test in "abc"}) == 3


def test_seeds_do_not_depend_on_other_tests():
    alone, beside = (Audits(level=0.01, seed=1) for _ in range(2))
    beside.next("a")
    assert alone.next("b")[1] == beside.next("b")[1]
    assert Audits(level=0.01, seed=2).next("b")[1] != Audits(level=0.01, seed=1).next("b")[1]
