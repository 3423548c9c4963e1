"""Groups for rows without a value, and for all values that nobody declared."""

import math
from datetime import date
from decimal import Decimal

import pyarrow as pa
import pytest

import neyman as ny
from neyman.errors import InvalidTable
from neyman.publish import crosstab, quantiles
from neyman.tables import Bins, Bounds, Entity, Keys, Rows, Values, open_table

WARDS = ["north", "south", None, "east", "Bavaria", "north", None]
ROWS = {
    "who": ["a", "a", "a", "b", "b", "c", "d"],
    "ward": WARDS,
    "x": [1.0, 2.0, 3.0, 4.0, 5.0, math.nan, None],
}
NAMED = Values(["north", "south"], missing="not recorded", other="all other wards")


def opened(unit=Rows(), **more):  # noqa: B008
    bounds = {"x": Bounds(0, 5, grid=1)}
    return open_table(pa.table(ROWS | more), unit=unit, bounds=bounds, name="t")


def counts(keys, **given):
    return opened(**given).count(keys).compute().tolist()


def test_none_is_the_group_of_rows_without_a_value():
    keys = Keys({"ward": ["north", None, "south"]})
    assert counts(keys) == [2, 2, 1]
    assert keys.to_columns() == {"ward": ["north", "missing", "south"]}


@pytest.mark.shows("rest")
def test_a_typo_is_seen_among_the_others():
    keys = Keys({"ward": ["north", "south", None]}, other=True)
    assert counts(keys) == [2, 1, 2, 2]
    assert keys.to_columns() == {"ward": ["north", "south", "missing", "other"]}
    assert counts(Keys({"ward": NAMED})) == [2, 1, 2, 2]
    assert Keys({"ward": NAMED}).to_columns()["ward"][2:] == ["not recorded", "all other wards"]


def test_others_alone_leave_out_rows_without_a_value():
    assert counts(Keys({"ward": Values(["north"], other="elsewhere")})) == [2, 3]


def test_every_row_is_in_one_cell_of_several_columns():
    keys = Keys({"ward": NAMED, "x": Values([1, 2], missing="none", other="more")})
    found = counts(keys)
    assert sum(found) == len(WARDS)
    assert found == [1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 2]


@pytest.mark.shows("rest")
@pytest.mark.parametrize(
    ("cells", "type_", "keys", "expected"),
    [
        ([1.0, 1.5, math.nan, None, math.inf, 2.0], pa.float64(), [1, 2], [1, 1, 2, 2]),
        ([1.0, 1.5, math.nan, None], pa.float32(), [1], [1, 2, 1]),
        ([2**64 - 1, 5, None], pa.uint64(), [5], [1, 1, 1]),
        ([Decimal("1.0"), Decimal("1.5"), None], pa.decimal128(5, 1), [1], [1, 1, 1]),
        ([True, False, None], pa.bool_(), [True], [1, 1, 1]),
        ([date(1, 1, 1), date(9999, 12, 31), None], pa.date32(), [date(1, 1, 1)], [1, 1, 1]),
        (["", "a", None], pa.string(), [""], [1, 1, 1]),
    ],
)
def test_columns_of_every_type_have_both_groups(cells, type_, keys, expected):
    table = open_table(pa.table({"g": pa.array(cells, type_)}), unit=Rows(), name="t")
    rest = Keys({"g": Values(keys, missing="none", other="others")})
    assert table.count(rest).compute().tolist() == expected
    assert all(isinstance(cell, str) for cell in rest.to_columns()["g"])


def test_empty_fields_of_a_csv_file_have_no_value(written):
    table = open_table(written(b"a,ward\n1,north\n2,\n3,east\n"), unit=Rows())
    assert table.count(Keys({"ward": ["north", None]}, other=True)).compute().tolist() == [1, 1, 1]
    with pytest.raises(InvalidTable, match="write None for the rows without a value"):
        table.count(Keys({"ward": ["north", ""]}))


def test_all_statistics_take_them():
    keys = Keys({"ward": NAMED})
    table = opened(Entity("who", max_rows=2))
    assert len(table.mean("x", keys).compute()) == 8
    assert table.count_units(keys).compute().sum() <= 6
    assert len(table.variance("x", keys).compute()) == 12
    found = quantiles(table, "x", [0.5], by=keys)
    assert found.keys == {"ward": ["north", "south", "not recorded", "all other wards"]}
    cells = crosstab(opened(), keys * Keys({"x": [1, None]}, other=True), [["ward"]])
    assert int(cells.compute().sum()) == len(WARDS)
    assert cells.keys["ward"][-4:] == ["north", "south", "not recorded", "all other wards"]


def test_conditions_and_made_columns_come_first():
    table = opened().where("ward IS NULL OR ward != 'east'").with_columns(big="x > 2")
    assert table.count(Keys({"ward": NAMED})).compute().tolist() == [2, 1, 2, 1]
    big = table.count(Keys({"big": [True, None]}, other="small"))
    assert big.compute().tolist() == [2, 2, 2]


def test_a_limit_of_each_value_does_not_limit_a_group_of_many():
    unit = Entity("who", max_rows=5, max_rows_per={"ward": 1})
    plain, rest = Keys({"ward": ["north", "south"]}), Keys({"ward": NAMED})
    assert opened(unit).count(plain).query["unit"]["max_rows_per"]
    asked = opened(unit).count(rest)
    assert "max_rows_per" not in asked.query["unit"]
    assert asked.sensitivity.l1 == 5


def test_names_that_a_key_has_are_refused():
    for given in (
        lambda: Keys({"ward": ["other", "north"]}, other=True),
        lambda: Keys({"ward": ["missing", None]}),
        lambda: Keys({"sex": Values([1, 2], missing="1")}),
        lambda: Keys({"sex": Values([1], missing="x", other="x")}),
    ):
        with pytest.raises(InvalidTable, match=r"two groups of column .* names that no key has"):
            given()
    with pytest.raises(InvalidTable, match=r"missing must be the name of a group; got 7. Write"):
        Values([1], missing=7)
    with pytest.raises(InvalidTable, match="must have at least one key beside None"):
        Keys({"ward": [None]})


def test_others_stay_what_they_are_when_keys_are_taken_away():
    keys = Keys({"ward": ["north", "south"]}, other=True)
    left = keys - Keys({"ward": ["north", "south"]}, other=True).filter(
        lambda row: row["ward"] == "south"
    )
    assert counts(left) == [2, 2]
    assert left.to_columns() == {"ward": ["north", "other"]}
    with pytest.raises(InvalidTable, match="has a group of all other values"):
        keys | Keys({"ward": ["east"]})


def test_missing_is_put_together_with_other_keys():
    both = Keys({"ward": ["north", None]}) | Keys({"ward": ["east"]})
    assert both.rows() == [("north",), (None,), ("east",)]
    assert counts(both) == [2, 2, 1]
    assert counts(both - Keys({"ward": ["north", "east"]})) == [2]
    tuples = Keys.tuples(("ward", "who"), [("north", "a"), (None, "d")])
    assert counts(tuples) == [1, 1]
    with pytest.raises(InvalidTable, match="names that no key has"):
        Keys({"ward": ["north", None]}) | Keys({"ward": ["missing"]})


def test_two_names_of_the_group_without_a_value_are_not_put_together():
    none, unknown = (
        Keys({"ward": Values([ward], missing=missing)})
        for ward, missing in (("north", "none"), ("east", "unknown"))
    )
    with pytest.raises(InvalidTable, match=r"calls it 'none' and 'unknown'"):
        none | unknown
    here = none | Keys({"ward": ["east"]})
    assert counts(Keys({"ward": ["east"]}) | none) == counts(here)[::-1][:1] + counts(here)[:2]


def test_the_record_tells_a_group_from_a_key_of_its_name():
    named = Keys({"ward": Values(["north"], other="east")}).describe()
    assert named["rest"] == {"ward": {"other": "east"}}
    assert named != Keys({"ward": ["north", "east"]}).describe()
    assert Keys({"a": [1]}, other=True) * Keys({"x": Bins([0, 1], outside="drop")})


def test_an_answer_says_only_of_rows_that_are_in_no_group(tmp_path):
    db = ny.open(pa.table(ROWS), name="t", unit=ny.Rows(), mu=1, ledger=tmp_path / "l.ledger")

    def notes(name, by):
        return str(db.count(by=by).release(name, mu=0.1))

    assert "Rows with another ward, or without one, are in no group." in notes(
        "a", {"ward": ["north"]}
    )
    assert "Rows without ward are in no group." in notes(
        "b", {"ward": Values(["north"], other="others")}
    )
    assert "Rows with another ward are in no group." in notes("c", {"ward": ["north", None]})
    whole = notes("d", {"ward": NAMED})
    assert "in no group" not in whole
    assert "not recorded" in whole
