"""Neighbouring arrays: no unit moves the integers of any function beyond what it declares."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from fuzz.arrays import ASKS, ArrayCheck, array_checks, array_reproduction, array_shrunk
from fuzz.check import exceeded

SMALL = 90
LARGE = int(os.environ.get("NEYMAN_FUZZ", "100000")) // 20


def sound(check: ArrayCheck) -> None:
    if check.wrong:
        pytest.fail(array_reproduction(array_shrunk(check)))


@pytest.fixture(scope="module")
def seen() -> list[ArrayCheck]:
    found = list(array_checks(Random(3), SMALL))
    for check in found:
        sound(check)
    return found


def test_no_unit_moves_a_function_beyond_what_it_declares(seen):
    assert {check.ask[0] for check in seen} == set(ASKS)
    assert {check.ask[2] for check in seen} == {"add_remove", "replace_one"}


@pytest.mark.parametrize("bound", ["l2_squared", "largest", "coordinates"])
def test_a_bound_that_is_too_small_is_found(seen, bound):
    part = {"l2_squared": 99, "largest": 99, "coordinates": 90}[bound]

    def smaller(check: ArrayCheck):
        whole = getattr(check.sensitivity, bound)
        return replace(check.sensitivity, **{bound: max(1, whole * part // 100)})

    named = [wrong for check in seen for wrong in exceeded(smaller(check), check.moved)]
    assert any(wrong.startswith(bound) for wrong in named)


@pytest.mark.soak
def test_many_neighbouring_arrays(capsys):
    count: Counter[str] = Counter()
    for check in array_checks(Random(4), LARGE):
        sound(check)
        near = check.moved.l2_squared >= check.sensitivity.l2_squared * 999 / 1000
        count.update(checks=1, moved=check.moved.l1 > 0, attained=near)
    with capsys.disabled():
        print(f"\nneighbouring arrays: {dict(count)}")
