"""Exact integers of neighbours against what a question declares, and the least case that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np

from fuzz.built import Built
from fuzz.engines import Files, World
from fuzz.questions import Ask, ask_of
from fuzz.tables import Data, Gone, Relation, data_of, gone_of, without
from neyman.aggregate import Aggregate, FoundGroups
from neyman.errors import EngineFailure, NeymanError
from neyman.sensitivity import Sensitivity

__all__ = ["Check", "Moved", "checks", "exceeded", "moved", "reproduction", "shrunk", "wrong"]

Answer = dict[Any, Any]
# How often a question is asked without its companion as well.
_BOTH = 0.2
KINDS = ("row", "entity", "entity", "owner")


@dataclass(frozen=True)
class Moved:
    """How far the integers of neighbours are apart."""

    l1: int
    l2_squared: int
    coordinates: int
    largest: int
    new: int = 0
    heaviest: int = 0


@dataclass(frozen=True)
class Answers:
    """The integers of a question, and of its companion where it has one.

    Attributes:
        own: of the question.
        beside: the four of the companion.
        same: whether the companion's statement gives the same own integers.
    """

    own: Answer
    beside: Answer
    same: bool = True


@dataclass(frozen=True)
class Check:
    """One pair of neighbours, one question, and what is wrong."""

    ask: Ask
    data: Data
    gone: Gone
    moved: Moved
    sensitivity: Sensitivity
    wrong: tuple[str, ...]

    @property
    def attained(self) -> bool:
        """Whether the declared bound is as small as it can be."""
        return self.moved.l2_squared == self.sensitivity.l2_squared


def answer(question: Aggregate) -> Answer:
    """Return the integers of each group; of declared groups, all of them together."""
    return _keyed(question.compute() if question.unknown is None else question.unknown.find())


def _keyed(found: Any) -> Answer:
    if isinstance(found, FoundGroups):
        return dict(zip(found.keys, found.integers, strict=True))
    return {None: found}


def moved(question: Aggregate, before: Answer, after: Answer) -> Moved:
    """Compare, exactly; a group that is not there has zeros."""
    changes: list[int] = []
    heavy = [0]
    for key in before.keys() | after.keys():
        both = [found.get(key) for found in (before, after)]
        there = [part for part in both if part is not None]
        if len(there) < 2:
            unknown = question.unknown
            assert unknown is not None
            heavy.append(abs(int(there[0][unknown.count])))
        one, other = (np.zeros_like(there[0]) if part is None else part for part in both)
        differ = np.nonzero(one != other)[0]
        changes += [int(a) - int(b) for a, b in zip(one[differ], other[differ], strict=True)]
    sizes = [abs(change) for change in changes]
    return Moved(
        l1=sum(sizes),
        l2_squared=sum(size * size for size in sizes),
        coordinates=len(sizes),
        largest=max(sizes, default=0),
        new=len(heavy) - 1,
        heaviest=max(heavy),
    )


def exceeded(sensitivity: Sensitivity, found: Moved) -> list[str]:
    """Name the bounds that do not hold."""
    pairs = [
        ("l1", found.l1, sensitivity.l1),
        ("l2_squared", found.l2_squared, sensitivity.l2_squared),
        ("coordinates", found.coordinates, sensitivity.coordinates),
        ("largest", found.largest, sensitivity.largest),
    ]
    if found.new:
        new = sensitivity.new_groups
        pairs += [("new_groups.most", found.new, 0 if new is None else new.most)]
        pairs += [("new_groups.largest", found.heaviest, 0 if new is None else new.largest)]
    return [
        f"{name}: moved by {there}, declared {bound}"
        for name, there, bound in pairs
        if bound is not None and there > bound
    ]


def checks(
    world: World,
    draw: Random,
    number: int,
    *,
    kinds: Sequence[str] = KINDS,
    units: int = 3,
    change: Callable[[Ask, Data], Ask] = lambda ask, _: ask,
) -> Iterator[Check]:
    """Draw tables, questions and neighbours until there are so many checks.

    Args:
        world: where the tables lie.
        draw: the source of all.
        number: of checks.
        kinds: of units.
        units: that are left out of the same tables, one after the other.
        change: what is to be different in each question.
    """
    done = 0
    while done < number:
        if isinstance(world, Files):
            world.start()
        data, kind = data_of(draw, world.lacks), draw.choice(kinds)
        gone = [found for _ in range(units) if (found := gone_of(draw, data, kind)) is not None]
        asks = [change(ask_of(draw, data, kind), data) for _ in range(4)]
        for found in _checked(world, data, asks, list(dict.fromkeys(gone)), draw):
            yield found
            done += 1
            if done >= number:
                return


def _checked(
    world: World, data: Data, asks: list[Ask], gone: list[Gone], draw: Random
) -> Iterator[Check]:
    places = world.place(data)
    asked = [(ask, question) for ask in asks if (question := _question(ask, places)) is not None]
    before = [_answered(question, draw) for _, question in asked]
    for unit in gone:
        places = world.place(without(data, unit))
        for (ask, question), was in zip(asked, before, strict=True):
            again = question
            if not world.stays or draw.random() < 0.1:
                again = _question(ask, places)
            after = None if again is None else _answered(again, draw)
            yield _check(ask, data, unit, question, again, was, after)


def _check(
    ask: Ask,
    data: Data,
    gone: Gone,
    question: Aggregate,
    again: Aggregate | None,
    before: Answers | None,
    after: Answers | None,
) -> Check:
    found, wrong_ = Moved(0, 0, 0, 0), list[str]()
    if again is None:
        wrong_.append("the question is refused of the neighbour alone")
    else:
        if again.query != question.query or again.sensitivity != question.sensitivity:
            wrong_.append("query or sensitivity depend on the rows")
        if before is None or after is None:
            wrong_.append("the engine fails")
        else:
            found = moved(question, before.own, after.own)
            wrong_ += exceeded(question.sensitivity, found)
            wrong_ += _companion(question, before, after)
    return Check(ask, data, gone, found, question.sensitivity, tuple(wrong_))


def _companion(question: Aggregate, before: Answers, after: Answers) -> list[str]:
    """Name what is wrong with the integers beside the question."""
    if question.companion is None:
        return []
    said = exceeded(question.companion.sensitivity, moved(question, before.beside, after.beside))
    other = [] if before.same and after.same else ["the question's own integers are others there"]
    return [f"companion: {one}" for one in said + other]


def wrong(world: World, ask: Ask, data: Data, gone: Gone) -> tuple[str, ...]:
    """Return what is wrong with one question of two neighbours; nothing where it is refused."""
    return next((c.wrong for c in _checked(world, data, [ask], [gone], Random(0))), ())


def _question(ask: Ask, places: Any) -> Aggregate | None:
    try:
        return ask.of(places)
    except NeymanError:
        return None


def _answered(question: Aggregate, draw: Random) -> Answers | None:
    try:
        if question.companion is None:
            return Answers(answer(question), {})
        found, beside = question.companion.compute()
        again = _keyed(found)
        # The companion's statement gives the question's own integers too.
        own = answer(question) if draw.random() < _BOTH else again
    except EngineFailure:
        return None
    same = own.keys() == again.keys() and all((own[key] == again[key]).all() for key in own)
    return Answers(own, _keyed(beside), same)


def shrunk(
    world: World, ask: Ask, data: Data, gone: Gone, most: int = 400
) -> tuple[Ask, Data, Gone]:
    """Leave out parts of the question, rows and values while it stays wrong."""
    left = [most]

    def fails(ask: Ask, data: Data, gone: Gone) -> bool:
        left[0] -= 1
        return left[0] >= 0 and bool(wrong(world, ask, data, gone))

    straight = replace(gone, turned=False)
    gone = straight if fails(ask, data, straight) else gone
    # Parts first: a join, say, can do what more rows would.
    ask = _plainer(ask, data, gone, fails)
    data, gone = _fewer(ask, data, gone, fails)
    ask = _plainer(ask, data, gone, fails)
    return ask, _simple(ask, data, gone, fails), gone


def _fewer(ask: Ask, data: Data, gone: Gone, fails: Callable[..., bool]) -> tuple[Data, Gone]:
    for name in data:
        height = len(data[name].rows)
        while height:
            first = 0
            while first < len(data[name].rows):
                rows = data[name].rows
                cut = range(first, min(first + height, len(rows)))
                fewer = replace(data[name], rows=rows[: cut.start] + rows[cut.stop :])
                unit = gone
                if gone.kind == "row" and name == "t":
                    if gone.unit in cut:
                        first += height
                        continue
                    unit = replace(gone, unit=gone.unit - len(cut) * (gone.unit >= cut.stop))
                if fails(ask, {**data, name: fewer}, unit):
                    data, gone = {**data, name: fewer}, unit
                else:
                    first += height
            height //= 2
    return data, gone


def _plainer(ask: Ask, data: Data, gone: Gone, fails: Callable[..., bool]) -> Ask:
    plain = Ask(what=ask.what)
    for name in ("where", "made", "public", "join", "limits", "by", "bounds", "most", "max_rows"):
        less = replace(ask, **{name: getattr(plain, name)})
        if less != ask and fails(less, data, gone):
            ask = less
    parts = dict(ask.what.held).get("parts", ()) if isinstance(ask.what, Built) else ()
    for part in parts:
        if fails(replace(ask, what=part), data, gone):
            return replace(ask, what=part)
    return ask


def _simple(ask: Ask, data: Data, gone: Gone, fails: Callable[..., bool]) -> Data:
    for name, part in data.items():
        for row in range(len(part.rows)):
            for at in range(len(part.columns)):
                rows = [list(cells) for cells in data[name].rows]
                if rows[row][at] is None:
                    continue
                rows[row][at] = None
                less = Relation(part.columns, tuple(map(tuple, rows)))
                if fails(ask, {**data, name: less}, gone):
                    data = {**data, name: less}
    return data


def reproduction(check: Check, ask: Ask, data: Data, gone: Gone) -> str:
    """Write a failure as Python that needs no seed."""
    tables = ",\n    ".join(f"{name!r}: {part!r}" for name, part in data.items())
    return (
        "; ".join(check.wrong)
        + "\n\nimport datetime\nfrom decimal import Decimal\nfrom math import inf, nan\n"
        "from fuzz.built import *\nfrom fuzz.check import *\nfrom fuzz.engines import *\n"
        "from fuzz.questions import *\nfrom fuzz.tables import *\n\n"
        f"data = {{\n    {tables},\n}}\nask = {ask!r}\ngone = {gone!r}\n"
        "print(wrong(Frames(), ask, data, gone))"
    )
