"""Groups that nobody declared: found whole, bounded by a unit's own rows alone, never told."""

import hashlib
import json
import math
import re
from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neyman.aggregate import FoundGroups
from neyman.errors import EngineFailure, InvalidTable, UnknownColumn
from neyman.publish import margins
from neyman.sensitivity import NewGroups
from neyman.tables import Bounds, Entity, Keys, Rows, UnknownKeys, open_table
from random_cases import random_cases

BY = UnknownKeys("g")
BOUNDS = Bounds(-2, 3, grid=0.5)
COLUMNS = ("u VARCHAR", "g VARCHAR", "x DOUBLE")
rows = st.lists(
    st.tuples(
        st.sampled_from(["u", "v", "w", None]),
        st.sampled_from(["a", "b", "", ":", "ü'\"; --", "a\x1f", None]),
        st.one_of(st.none(), st.sampled_from([math.nan, 0.5, 1.0]), st.floats(-4, 5)),
    ),
    max_size=40,
)
units = st.one_of(
    st.just(Rows()),
    st.builds(Entity, st.just("u"), max_rows=st.integers(1, 8)),
    st.builds(
        lambda most, rows: Entity("u", max_rows=most, max_rows_per={"g": rows, "x": 1}),
        st.integers(1, 8),
        st.integers(1, 4),
    ),
)


def md5(*parts: object) -> str:
    return hashlib.md5(":".join(map(str, parts)).encode(), usedforsecurity=False).hexdigest()


def salt_of(aggregate) -> str:
    said = {name: part for name, part in aggregate.query.items() if name != "computation"}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def step(x: float) -> int:
    inside = min(max(x, float(BOUNDS.lower)), float(BOUNDS.upper))
    return math.floor(inside / float(BOUNDS.grid) + 0.5)


def opened(fill, table, unit=None):
    source = fill("reference", COLUMNS, table)
    return open_table(source, unit=unit or Rows(), bounds={"x": BOUNDS}, name="reference")


def found(aggregate) -> dict[tuple[str, ...], list[int]]:
    groups = aggregate.unknown.find()
    assert len(set(groups.keys)) == len(groups.keys)
    return dict(zip(groups.keys, groups.integers.tolist(), strict=True))


def reference(table, unit, aggregate) -> dict[tuple[str, ...], list[int]]:
    """Plain Python: r rows of a pair by their digests, m of a unit by the second halves.

    With one row in a group it is m groups of a unit by md5(salt, hex of the key, unit).
    """
    measured = aggregate.query["statistic"] != "count"
    salt = salt_of(aggregate)
    units_ = defaultdict(lambda: defaultdict(list))
    kept = defaultdict(list)
    for u, g, x in table:
        if g is None or (measured and (x is None or math.isnan(x))):
            continue
        k = [step(x)] if measured else []
        if unit.entity is None:
            kept[g].append(k)
        elif u is not None:
            units_[u][g].append(k)
    for u, groups in units_.items():
        most = unit.max_rows
        in_each = min([most, *(rows for columns, rows in unit.max_rows_per if columns == ("g",))])
        first = sorted(groups, key=lambda g: md5(salt, g.encode().hex(), u))
        left = first[:most] if in_each == 1 else first
        total = sum(min(len(groups[g]), in_each) for g in left)
        heavy = []
        for g in left:
            if total <= most and len(groups[g]) <= in_each:
                kept[g] += groups[g]
                continue
            seen: Counter[tuple[int, ...]] = Counter()
            hashed = []
            for k in groups[g]:
                seen[tuple(k)] += 1
                hashed.append((md5(salt, g.encode().hex(), *k, seen[tuple(k)], u), k))
            # Where r is m, the cut to m does the other's work.
            chosen = sorted(hashed)[: None if 1 < in_each == most else in_each]
            heavy += [(digest[16:], g, k) for digest, k in chosen]
        for _, g, k in sorted(heavy)[:most]:
            kept[g].append(k)
    low, high = BOUNDS.steps
    centre = (low + high) // 2
    weight = max(high - centre, centre - low)
    return {
        (g,): [weight * len(ks), sum(k[0] - centre for k in ks)] if measured else [len(ks)]
        for g, ks in kept.items()
    }


@pytest.mark.parametrize("statistic", ["count", "mean"])
@random_cases(10, soak=100)
@given(rows=rows, unit=units)
def test_integers_follow_the_rules(fill, statistic, rows, unit):
    table = opened(fill, rows, unit)
    aggregate = table.count(BY) if statistic == "count" else table.mean("x", BY)
    assert found(aggregate) == reference(rows, unit, aggregate)


@random_cases(10, soak=100)
@given(rows=rows, total=st.integers(1, 6), most=st.integers(1, 3))
def test_a_unit_moves_no_more_than_the_sensitivity_says(fill, rows, total, most):
    """Nor the choice within any other unit: only its own few groups differ."""
    unit = Entity("u", max_rows=total, max_rows_per={"g": most})
    for statistic in ("count", "mean"):
        moved = Counter()
        new = 0
        asked = []
        for table in (rows, [row for row in rows if row[0] != "u"]):
            made = opened(fill, table, unit)
            aggregate = made.count(BY) if statistic == "count" else made.mean("x", BY)
            asked.append((aggregate, found(aggregate)))
        (aggregate, with_u), (_, without) = asked
        zero = [0] * aggregate.unknown.width
        for key in with_u | without:
            before, after = without.get(key, zero), with_u.get(key, zero)
            assert key in with_u
            if before != after:
                moved[key] = sum(abs(a - b) for a, b in zip(after, before, strict=True))
            if key not in without:
                new += 1
                assert after[aggregate.unknown.count] <= aggregate.sensitivity.new_groups.largest
        assert sum(moved.values()) <= aggregate.sensitivity.l1
        assert len(moved) <= total
        assert new <= aggregate.sensitivity.new_groups.most


def test_keys_of_every_kind():
    from datetime import date

    frame = pa.table(
        {
            "text": ["a", "", None, "a"],
            "whole": pa.array([2**62, -5, 0, 2**62], pa.int64()),
            "big": pa.array([2**64 - 1, 7, 7, 2**64 - 1], pa.uint64()),
            "truth": [True, False, None, True],
            "day": [date(1, 1, 1), date(9999, 12, 31), None, date(1, 1, 1)],
        }
    )
    table = open_table(frame, unit=Rows(), name="t")
    expected = {
        "text": {"a": 2, "": 1},
        "whole": {2**62: 2, -5: 1, 0: 1},
        # Beyond 64 bits is no key.
        "big": {7: 2},
        "truth": {True: 2, False: 1},
        "day": {"0001-01-01": 2, "9999-12-31": 1},
    }
    for column, counts in expected.items():
        unknown = table.count(UnknownKeys(column)).unknown
        groups = unknown.find()
        keys = unknown.columns(groups.keys)[column]
        assert dict(zip(keys, groups.integers[:, 0].tolist(), strict=True)) == counts
        assert {type(key) for key in keys} == {type(key) for key in counts}
    pair = table.count(UnknownKeys("whole", "text"))
    assert found(pair) == {(str(2**62), "a"): [2], ("-5", ""): [1]}


def test_dates_that_engines_write_apart_are_in_no_group():
    import duckdb

    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE t AS SELECT unnest(['infinity'::DATE, '-infinity'::DATE, "
        "'0044-03-15 (BC)'::DATE, '10000-01-01'::DATE, '2020-02-29'::DATE]) AS d"
    )
    table = open_table((connection, "t"), unit=Rows(), name="t")
    assert found(table.count(UnknownKeys("d"))) == {("2020-02-29",): [1]}


def test_an_empty_field_of_a_csv_file_is_in_no_group(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('g,x\na,1\n,2\n"",3\nb,4\n07,5\n', encoding="utf-8")
    table = open_table(path, unit=Rows())
    assert found(table.count(UnknownKeys("g"))) == {("a",): [1], ("b",): [1], ("07",): [1]}


def test_no_rows_are_no_groups(fill):
    groups = opened(fill, []).mean("x", BY).unknown.find()
    assert (groups.keys, groups.integers.shape) == ((), (0, 2))


def test_counts_are_those_of_declared_groups(fill):
    table = opened(fill, [("u", "a", 1.0)] * 3 + [("v", "b", 2.0), ("v", None, 2.0)])
    declared = table.count(Keys({"g": ["a", "b"]})).compute().tolist()
    assert [found(table.count(BY))[key,] for key in "ab"] == [[n] for n in declared]


def test_what_is_public(fill):
    table = opened(fill, [("u", "secret", 1.0)], Entity("u", 9, {"g": 4}))
    aggregate = table.mean("x", BY)
    weight = aggregate.sensitivity.largest // 4
    assert aggregate.sensitivity.new_groups == NewGroups(most=9, largest=4 * weight)
    assert aggregate.query["keys"] == {"unknown": ["g"]}
    assert (aggregate.size, aggregate.keys) == (0, {})
    assert "secret" not in aggregate.sql()
    groups = aggregate.unknown.find()
    assert "secret" not in repr(aggregate) + repr(aggregate.unknown) + repr(groups)
    assert aggregate.compute().tolist() == groups.integers.reshape(-1).tolist()


class TestWhatTheEngineGives:
    def test_a_failure_says_no_name(self, fill, monkeypatch):
        table = opened(fill, [("u", "secret", 1.0)])
        aggregate = table.count(BY)

        def broken(*_):
            raise ValueError("a group 736563726574 of 'secret'")

        monkeypatch.setattr(type(table.engine), "read", broken)
        with pytest.raises(EngineFailure) as failure:
            aggregate.unknown.find()
        assert "secret" not in str(failure.value)
        assert failure.value.__context__ is None

    @pytest.mark.parametrize("names", [["zz"], ["61:62"], [""], [None], [3], ["6"]])
    def test_what_is_no_name_is_refused(self, fill, monkeypatch, names):
        table = opened(fill, [("u", "a", 1.0)])
        columns = [np.array(names, object), np.array([1])]
        monkeypatch.setattr(type(table.engine), "read", lambda *_: columns)
        if names == [""]:
            # The empty text.
            assert found(table.count(BY)) == {("",): [1]}
            return
        with pytest.raises(EngineFailure):
            table.count(BY).unknown.find()

    def test_text_that_is_no_utf8_is_in_no_group(self, fill, monkeypatch):
        table = opened(fill, [("u", "a", 1.0)])
        columns = [np.array(["ff", "61"], object), np.array([5, 6])]
        monkeypatch.setattr(type(table.engine), "read", lambda *_: columns)
        assert found(table.count(BY)) == {("a",): [6]}


class TestRefusals:
    def test_a_sum_has_no_count(self, fill):
        with pytest.raises(InvalidTable, match=r"does not count rows\. Write a mean.*by=Keys"):
            opened(fill, []).sum("x", BY)

    def test_columns(self, fill):
        table = opened(fill, [])
        with pytest.raises(UnknownColumn):
            table.count(UnknownKeys("nowhere"))
        moments = pa.table({"t": pa.array([0], pa.timestamp("us"))})
        with pytest.raises(InvalidTable, match="'t' is of type timestamp and has no groups"):
            open_table(moments, unit=Rows(), name="t").count(UnknownKeys("t"))
        with pytest.raises(InvalidTable, match="is called like a column of the answer"):
            open_table(pa.table({"count": ["a"]}), unit=Rows(), name="t").count(
                UnknownKeys("count")
            )

    @pytest.mark.parametrize(
        ("columns", "said"),
        [((), "at least one column"), ((3,), "int is no column name"), (("a", "a"), "repeat")],
    )
    def test_names(self, columns, said):
        with pytest.raises(InvalidTable, match=said):
            UnknownKeys(*columns)

    def test_a_name_alone_is_told_of_both(self, fill):
        with pytest.raises(InvalidTable, match=re.escape('by=UnknownKeys("ward")')):
            opened(fill, []).count("g")


def test_functions_and_margins_are_of_declared_groups(fill):
    table = opened(fill, [])
    for ask in (lambda: table.countable("x", by=BY), lambda: margins(table, BY, [["g"]])):
        with pytest.raises(InvalidTable, match=re.escape("rite by=Keys({")):
            ask()


def test_bounds_of_a_mean_are_those_of_declared_groups():
    frame = pa.table({"g": ["a", "b"], "x": [1.0, 2.0]})
    table = open_table(frame, unit=Rows(), bounds={"x": Bounds(0, 4, grid=1)}, name="t")
    declared = table.mean("x", Keys({"g": ["a"]})).sensitivity
    unknown = table.mean("x", BY).sensitivity
    assert (unknown.l1, unknown.l2_squared, unknown.coordinates) == (
        declared.l1,
        declared.l2_squared,
        declared.coordinates,
    )
    assert declared.new_groups is None
    assert isinstance(table.count(BY).unknown.find(), FoundGroups)
