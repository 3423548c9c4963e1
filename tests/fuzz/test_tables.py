"""Neighbours of random tables: no unit moves the integers of a question beyond its bounds."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest

from fuzz.built import Built, Over, drawn, statistics
from fuzz.check import Check, checks, exceeded, reproduction, shrunk, wrong
from fuzz.engines import Files, World, held
from fuzz.functions import FUNCTIONS
from fuzz.questions import Ask
from fuzz.tables import Data
from neyman.sensitivity import NewGroups, Sensitivity
from neyman.tables import Component, Count, Measured, Statistic
from neyman.tables import _sql as sql
from neyman.tables._joins import _public_join
from neyman.tables._statements import _companion, _statement
from neyman.tables._statements._bounding import Bounding

SMALL, FOUND, LARGE = 60, 24, int(os.environ.get("NEYMAN_FUZZ", "100000"))
SEED = int(os.environ.get("NEYMAN_FUZZ_SEED", "1"))


def sound(world: World, found: list[Check]) -> None:
    """Fail with the least case."""
    for check in found:
        if check.wrong:
            least = shrunk(world, check.ask, check.data, check.gone)
            pytest.fail(reproduction(check, *least))


@pytest.fixture(scope="module")
def seen() -> list[Check]:
    with held() as world:
        found = list(checks(world, Random(SEED), SMALL))
        # Of all questions too few are by groups that nobody declared.
        found += checks(world, Random(SEED), FOUND, kinds=("entity",), change=_found)
        for kind in statistics():
            if all(_named(check.ask) != kind.__qualname__ for check in found):
                found += checks(world, Random(SEED), 3, change=_asking(kind))
        sound(world, found)
    return found


def test_no_unit_moves_an_answer_beyond_what_is_declared(seen):
    assert len(seen) >= SMALL + FOUND


def test_every_statistic_and_every_function_is_tried(seen):
    tried = Counter(_named(check.ask) for check in seen)
    assert tried.keys() >= {kind.__qualname__ for kind in statistics()}
    assert len(tried.keys() & FUNCTIONS.keys()) >= len(FUNCTIONS) - 2


def test_declared_bounds_are_no_wider_than_they_must_be(seen):
    there = [check for check in seen if check.moved.l1]
    assert sum(check.attained for check in there) > len(there) / 8


BROKEN: dict[str, Callable[[Sensitivity], Sensitivity]] = {
    "l1": lambda s: replace(s, l1=s.l1 and s.l1 * 99 / 100),
    "l2_squared": lambda s: replace(s, l2_squared=s.l2_squared * 99 / 100),
    "coordinates": lambda s: replace(s, coordinates=max(1, s.coordinates - 1)),
    "largest": lambda s: replace(s, largest=max(1, s.largest - 1)),
    "new_groups.most": lambda s: replace(s, new_groups=_less(s.new_groups, 1, 0)),
    "new_groups.largest": lambda s: replace(s, new_groups=_less(s.new_groups, 0, 1)),
}


def _less(new: NewGroups | None, groups: int, weight: int) -> NewGroups | None:
    if new is None:
        return None
    return NewGroups(most=max(1, new.most - groups), largest=max(1, new.largest - weight))


@pytest.mark.parametrize("bound", BROKEN)
def test_a_bound_that_is_a_little_too_small_is_found(seen, bound):
    named = [wrong for c in seen for wrong in exceeded(BROKEN[bound](c.sensitivity), c.moved)]
    assert any(wrong.startswith(bound) for wrong in named)


@dataclass(frozen=True)
class Wild(Statistic):
    """Of whose component the limits are not those of its formula."""

    column: Measured

    @property
    def columns(self):
        return (self.column,)

    @property
    def components(self):
        return (Component(lambda k: k[0] * 7, -1, 1),)

    @property
    def names(self):
        return Count().names

    def describe(self):
        return {"statistic": "wild"}

    def reading(self, **given):
        return Count().reading(**given)


def _wild(ask: Ask, _: Data) -> Ask:
    return replace(ask, what=Built("Wild", (("column", Over("x")),)), by=None)


def _counted(ask: Ask, _: Data) -> Ask:
    return replace(ask, what=Built("Count", (("poisson", False),)), most=2**20)


def _found(ask: Ask, data: Data) -> Ask:
    # The groups of a unit are its own, and all of them are gone with it.
    by = ("unknown", "u", "k", "g")
    return replace(_counted(ask, data), by=by, where=None, limits=(), max_rows=2)


def _asking(kind: type[Statistic]) -> Callable[[Ask, Data], Ask]:
    return lambda ask, _: replace(ask, what=drawn(Random(SEED), kind, ["x", "y"]))


def _joined(ask: Ask, data: Data) -> Ask:
    at = data["t"].place("k")
    keys = sorted({row[at] for row in data["t"].rows if row[at] is not None}) or [0]
    return replace(_counted(ask, data), public=("inner", ("k",), tuple((key, 1) for key in keys)))


def _unclamped(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_statement, "_add", lambda component, k, _: component.value(k))


def _unlimited(patch: pytest.MonkeyPatch) -> None:
    def looser(*, limits: Any, **given: Any) -> Bounding:
        more = replace(limits, rows=limits.rows + 1, total=limits.total + 1)
        return Bounding(limits=more, **given)

    patch.setattr(_statement, "Bounding", looser)


def _multiplied(patch: pytest.MonkeyPatch) -> None:
    whole = _public_join._sorted
    patch.setattr(_public_join, "_sorted", lambda *given: [2 * one for one in whole(*given)])


def _whole(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_companion, "_part", lambda some, _: sql.cast(some * sql.wide(1024), "BIGINT"))


TWINS = {
    "a component without its clamp": (_unclamped, _wild, ("row",)),
    "a limit that is not enforced": (_unlimited, _counted, ("entity",)),
    "a companion of shares that are not divided": (_whole, _counted, ("entity",)),
    "a join that multiplies rows": (_multiplied, _joined, ("row",)),
}


@pytest.mark.parametrize("twin", TWINS)
def test_a_broken_twin_is_found_and_its_case_made_small(monkeypatch, twin):
    broken, change, kinds = TWINS[twin]
    with held() as world:
        sound(world, list(checks(world, Random(2), 6, kinds=kinds, change=change)))
        broken(monkeypatch)
        found = checks(world, Random(2), 60, kinds=kinds, change=change)
        bad = next(check for check in found if check.wrong)
        ask, data, gone = shrunk(world, bad.ask, bad.data, bad.gone)
        assert wrong(world, ask, data, gone)
        assert len(data["t"].rows) <= 3
        assert (ask.where, ask.made, ask.join) == (None, None, None)
        assert "wrong(Frames(), ask, data, gone)" in reproduction(bad, ask, data, gone)


def test_a_statistic_whose_fields_cannot_be_drawn_says_what_to_add():
    @dataclass(frozen=True)
    class Odd(Wild):
        shape: complex = 1j

    with pytest.raises(
        AssertionError, match=r"cannot draw .* for .*Odd.shape; write how into _SIMPLE or _value"
    ):
        drawn(Random(0), Odd, ["x"])


def test_files_and_databases_through_the_public_interface(tmp_path):
    draw = Random(SEED)
    world = Files(tmp_path, draw)
    sound(world, list(checks(world, draw, 12)))


def _named(ask: Ask) -> str:
    return ask.what.name if isinstance(ask.what, Built) else ask.what[0]


@pytest.mark.soak
def test_many_neighbours_on_duckdb(capsys):
    count: Counter[str] = Counter()
    with held() as world:
        for check in checks(world, Random(SEED + 1), LARGE, units=6):
            sound(world, [check])
            count.update(checks=1, moved=check.moved.l1 > 0, attained=check.attained)
    with capsys.disabled():
        print(f"\nneighbours on DuckDB: {dict(count)}")


@pytest.mark.soak
def test_many_neighbours_through_the_public_interface(tmp_path):
    draw = Random(SEED + 2)
    world = Files(tmp_path, draw)
    for check in checks(world, draw, LARGE // 20):
        sound(world, [check])
