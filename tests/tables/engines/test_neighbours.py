"""Neighbours of random tables on servers: `tests/fuzz` on PostgreSQL and Spark."""

import os
from collections import Counter
from random import Random

import pytest

from fuzz.check import checks, reproduction, shrunk
from fuzz.engines import SparkFrames, World, serving

LARGE = int(os.environ.get("NEYMAN_FUZZ", "100000"))


def sound(world: World, number: int, seed: int, units: int = 3) -> Counter[str]:
    count: Counter[str] = Counter()
    for check in checks(world, Random(seed), number, units=units):
        if check.wrong:
            pytest.fail(reproduction(check, *shrunk(world, check.ask, check.data, check.gone)))
        count.update(checks=1, moved=check.moved.l1 > 0, attained=check.attained)
    return count


def test_no_unit_moves_an_answer_of_postgres_beyond_its_bounds(postgres):
    with serving(postgres) as world:
        assert sound(world, 40, 1)["attained"]


@pytest.mark.soak
def test_many_neighbours_on_postgres(postgres, capsys):
    with serving(postgres) as world:
        count = sound(world, LARGE // 10, 2, units=6)
    with capsys.disabled():
        print(f"\nneighbours on PostgreSQL: {dict(count)}")


@pytest.mark.soak
def test_many_neighbours_on_spark(spark, capsys):
    count = sound(SparkFrames(spark), LARGE // 100, 2, units=6)
    with capsys.disabled():
        print(f"\nneighbours on Spark: {dict(count)}")
