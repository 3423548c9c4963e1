"""A release is written and read back whole, in every form."""

import copy
import json
import math
from dataclasses import replace
from fractions import Fraction

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neyman import gdp
from neyman.errors import InvalidParameter
from neyman.released import Guarantee, Release, Spending

MADE = Release(
    entry="a",
    query={"statistic": "mean", "column": "x"},
    mechanism={"mechanism": "gaussian", "variance": "4"},
    guarantee=Guarantee(curve=gdp(0.5), neighbors="add_remove", unit="one row", assumptions=("b",)),
    spending=Spending(
        account="mu^2", cost=Fraction(1, 4), remaining=Fraction(3, 4), cap=Fraction(1)
    ),
    confidence=0.95,
    columns={"ward": ["n", "s"], "mean": [1.5, math.nan], "count": [3, -1], "open": [True, False]},
    keys=("ward",),
    replayed=True,
)


def alike(one, other):
    return str(one) == str(other) and one.to_json() == other.to_json()


YEARS = {"columns": ["year"], "types": ["int"], "values": [["1"], ["2"], ["3"]]}
MANY = {"columns": ["year"], "types": ["int"], "count": 1000, "sha256": "0"}
PATIENT = {"entity": "patient", "max_rows": 5}
ONCE = PATIENT | {"max_rows_per_group": 1}
PER_YEAR = PATIENT | {"max_rows_per": [[["year"], 1]]}


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"unit": {"rows": 1}}, None),
        ({}, None),
        ({"unit": PATIENT}, "at most 5 rows of each patient"),
        ({"unit": PATIENT | {"max_rows": 1}, "keys": YEARS}, "at most 1 row of each patient"),
        ({"unit": PATIENT | {"max_rows": 1200}}, "at most 1,200 rows of each patient"),
        ({"unit": PER_YEAR, "keys": YEARS}, "at most 5 rows of each patient, at most 1 per year"),
        (
            {"unit": PATIENT | {"max_rows_per": [[["age", "ward"], 2]]}, "keys": YEARS},
            "at most 5 rows of each patient, at most 2 per age and ward",
        ),
        # Of several limits the least acts.
        (
            {"unit": PATIENT | {"max_rows_per": [[["ward"], 3], [["year"], 2]]}, "keys": YEARS},
            "at most 5 rows of each patient, at most 2 per year",
        ),
        (
            {"unit": PATIENT | {"max_rows_per": [[["year"], 5]]}, "keys": YEARS},
            "at most 5 rows of each patient",
        ),
        (
            {"unit": ONCE, "keys": YEARS, "statistic": "mean"},
            "at most 5 rows of each patient, at most 1 in each group",
        ),
        (
            {"unit": PER_YEAR | {"max_rows_per_group": 3}, "keys": YEARS},
            "at most 5 rows of each patient, at most 1 per year",
        ),
        (
            {
                "unit": {"entity": "user_id", "max_rows": 5, "max_rows_per": [[["hour"], 1]]},
                "keys": {"columns": ["hour"], "count": 24},
            },
            "at most 5 rows of each user_id, at most 1 per hour",
        ),
        ({"unit": ONCE, "statistic": "mean"}, "at most 1 row of each patient"),
        ({"unit": ONCE, "statistic": "count"}, "each patient once"),
        ({"unit": ONCE, "keys": YEARS, "statistic": "count"}, "each patient once in each group"),
        (
            {"unit": ONCE, "keys": MANY, "statistic": "count"},
            "each patient once in each group, at most 5 groups",
        ),
        (
            {"unit": ONCE | {"max_rows": 1}, "keys": {"unknown": ["year"]}, "statistic": "count"},
            "each patient once in each group, at most 1 group",
        ),
    ],
)
def test_a_release_says_first_how_much_of_one_unit_counts(query, said):
    release = replace(MADE, query={"statistic": "sum"} | query)
    assert release.question.limits == said
    first = str(release).splitlines()[0]
    assert first == f"counted: {said}" if said else "counted: " not in str(release)
    # The guarantee and the cost alone say nothing of the answer.
    assert "counted: " not in release.to_text(rows=0)


@pytest.mark.parametrize("statistic", ["mean", "mean_per_unit"])
def test_a_total_interval_of_a_mean_is_said_to_be_conservative(statistic):
    query = {"statistic": statistic, "column": "x", "unit": PATIENT}
    columns = {name: [1.5] for name in (statistic, "lower", "upper", "total_lower", "total_upper")}
    said = " ".join(replace(MADE, query=query, columns=columns, keys=()).interval_notes)
    assert "if the patients are an independent sample of it; rows of one patient may be" in said
    assert "of a mean are conservative: the spread of the values is not released" in said
    # No variance of units' means can be asked for.
    assert ("ask for their variance" in said) is (statistic == "mean")
    known = replace(MADE, query=query | {"statistic": "variance"}, columns=columns, keys=())
    assert "conservative" not in " ".join(known.interval_notes)
    noise = replace(MADE, query=query, columns={statistic: [1.5], "lower": [1.0]}, keys=())
    assert "conservative" not in " ".join(noise.interval_notes)


def test_why_a_count_has_no_interval_for_the_population_is_said_in_words():
    for unit, units in (({"rows": 1}, "units"), (PATIENT, "patients")):
        query = {"statistic": "count", "unit": unit}
        said = replace(MADE, query=query, columns={"count": [5], "lower": [1]}, keys=())
        assert said.interval_notes[1] == (
            "No interval of a count for the population: a count over everyone has no sampling "
            f"error. Where the number of {units} is itself random, ask for a count with a Poisson "
            "sampling interval."
        )


def test_json_round_trip():
    assert alike(Release.from_json(json.loads(json.dumps(MADE.to_json()))), MADE)


@pytest.mark.shows("formats")
def test_arrow_and_parquet_round_trip(tmp_path):
    assert alike(Release.from_arrow(MADE.to_arrow()), MADE)
    MADE.to_parquet(tmp_path / "a.parquet")
    assert alike(Release.from_parquet(tmp_path / "a.parquet"), MADE)


def test_what_is_read_back_is_equal_though_it_was_asked_now(tmp_path):
    columns = {**MADE.columns, "mean": [1.5, float("nan")]}
    first = replace(MADE, replayed=False, columns=columns)
    first.to_parquet(tmp_path / "a.parquet")
    assert first == MADE
    assert first == Release.from_json(json.loads(json.dumps(first.to_json())))
    assert first == Release.from_arrow(first.to_arrow())
    assert first == Release.from_parquet(tmp_path / "a.parquet")
    assert first != replace(first, columns=columns | {"count": [3, -2]})
    assert first != replace(first, entry="b")


def test_a_part_of_the_rows_is_no_release():
    for rows in (0, 1):
        with pytest.raises(
            InvalidParameter, match=f"must have all 2 rows of the release; got {rows}"
        ):
            Release.from_arrow(MADE.to_arrow().slice(0, rows))
    # Of groups that nobody declared there may be none.
    none = replace(MADE, columns={name: [] for name in MADE.columns})
    assert Release.from_arrow(none.to_arrow()) == none
    written = MADE.to_arrow()
    older = json.loads(written.schema.metadata[b"neyman.release"])
    del older["rows"]
    older = written.replace_schema_metadata({"neyman.release": json.dumps(older)})
    assert Release.from_arrow(older) == MADE


@pytest.mark.shows("formats")
def test_frames():
    polars, pandas = MADE.to_polars(), MADE.to_pandas()
    assert polars["count"].to_list() == pandas["count"].to_list() == [3, -1]
    assert math.isnan(polars["mean"].to_list()[1])
    assert pandas.attrs["neyman.release"]["guarantee"] == MADE.guarantee.to_json()
    assert json.dumps(pandas.attrs)


def test_what_is_no_release_is_refused(tmp_path):
    import pyarrow as pa

    for wrong in (pa.table({"a": [1]}), [1], None):
        with pytest.raises(InvalidParameter, match="must carry the metadata of a release"):
            Release.from_arrow(wrong)
    (tmp_path / "no.parquet").write_text("no")
    for name in ("no.parquet", "missing.parquet"):
        with pytest.raises(InvalidParameter, match="cannot be read as Parquet"):
            Release.from_parquet(tmp_path / name)


def places(record, so_far=()):
    yield so_far
    inner = record.items() if isinstance(record, dict) else []
    for name, part in inner:
        yield from places(part, (*so_far, name))


WRONG = st.one_of(st.none(), st.integers(), st.text(), st.lists(st.integers()), st.just({}))


@given(st.sampled_from(sorted(places(MADE.to_json()))), WRONG)
def test_a_damaged_record_is_refused_or_read(place, wrong):
    """Whatever stands in whatever place: a release or InvalidParameter, nothing else."""
    record = copy.deepcopy(MADE.to_json())
    if not place:
        record = wrong
    else:
        part = record
        for name in place[:-1]:
            part = part[name]
        part[place[-1]] = wrong
    try:
        read = Release.from_json(record)
    except InvalidParameter:
        return
    assert isinstance(read, Release)


@pytest.mark.parametrize(
    "name", [name for name in MADE.to_json() if name not in ("columns", "keys")]
)
def test_every_part_is_needed(name):
    record = MADE.to_json()
    del record[name]
    with pytest.raises(InvalidParameter):
        Release.from_json(record)


@pytest.mark.parametrize(
    ("asked", "columns", "keys"),
    [
        (None, ["mean", "lower"], ()),
        ({"columns": ["ward"]}, ["ward", "mean"], ("ward",)),
        ({"unknown": ["ward"]}, ["ward", "count"], ("ward",)),
        (
            {"columns": ["ward", "x"], "bins": {"x": {}}},
            ["ward", "x_from", "x_to", "count"],
            ("ward", "x_from", "x_to"),
        ),
        ({"columns": ["ward", "sex"]}, ["sex", "count"], ("sex",)),
    ],
)
def test_the_keys_of_an_older_record_are_those_of_its_question(asked, columns, keys):
    record = MADE.to_json() | {"columns": {name: [1] for name in columns}}
    del record["keys"]
    read = Release.from_json(record | {"query": {"statistic": "mean", "keys": asked}})
    assert read.keys == keys


def test_keys_that_are_no_columns_are_refused():
    for wrong in (["wards"], "ward", None, [1]):
        with pytest.raises(InvalidParameter, match="must be a release of version 1"):
            Release.from_json(MADE.to_json() | {"keys": wrong})


def test_rows_are_called_by_their_groups():
    assert MADE.groups == ["n", "s"]
    assert replace(MADE, keys=()).groups == ["all", "all"]


def test_statistics_side_by_side_are_printed_one_block_each():
    asked = {
        "statistic": "together",
        "parts": [{"statistic": "count"}, {"statistic": "mean", "column": "x"}],
    }
    columns = {
        "ward": ["n", "s"],
        "count": [3, 4],
        "count_lower": [1, 2],
        "mean_x": [1.5, 2.5],
        "mean_x_lower": [0.5, 1.5],
    }
    text = str(replace(MADE, query=asked, columns=columns))
    lines = text.splitlines()
    assert lines[0].split() == ["count"]
    assert lines[1].split() == ["ward", "count", "lower"]
    assert lines[3].split() == ["s", "4", "2"]
    assert lines[4].split() == ["mean_x"]
    assert lines[5].split() == ["ward", "mean", "lower"]
    assert lines[7].split() == ["s", "2.5", "1.5"]


def test_the_footer_says_what_the_interval_leaves_out_and_nothing_of_now():
    text = str(MADE)
    assert (
        "lower, upper: 95 % interval for the noise only. It does not cover sampling error" in text
    )
    assert "75 % left; a stored answer, not charged again" in text
    assert "now" not in text


@pytest.mark.shows("formats")
def test_other_libraries_read_a_release_as_it_is():
    table = MADE.to_arrow()
    assert pa.table(MADE).schema.equals(table.schema, check_metadata=True)
    assert alike(Release.from_arrow(pa.table(MADE)), MADE)
    assert pl.DataFrame(MADE).equals(MADE.to_polars())
    assert duckdb.sql("FROM MADE").to_arrow_table().num_rows == table.num_rows
    reader = pa.RecordBatchReader.from_stream(MADE)
    assert alike(Release.from_arrow(reader.read_all()), MADE)
