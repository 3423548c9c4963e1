"""Text that is no UTF-8 is NULL, wherever it comes from and whatever it is used for."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neyman import col, when
from neyman.errors import InvalidTable
from neyman.tables import (
    Bounds,
    Entity,
    ForeignKey,
    Keys,
    Rows,
    Table,
    Unit,
    UnknownKeys,
    open_table,
)
from neyman.tables._sources._files import ParquetFile

BROKEN = [b"caf\xe9", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\xff\0"]
GOOD = ["a", "b", "caf\u00e9", "caf\ufffd", "x\0y", "", "\U0010ffff"]
PARQUET = {
    "dictionary": {},
    "plain": {"use_dictionary": False},
    "lengths": {"use_dictionary": False, "column_encoding": {"v": "DELTA_LENGTH_BYTE_ARRAY"}},
    "prefixes": {"use_dictionary": False, "column_encoding": {"v": "DELTA_BYTE_ARRAY"}},
    "pages": {"data_page_size": 1, "row_group_size": 3},
}
FRAMES = {
    "text": lambda v: v,
    "large": lambda v: v.view(pa.binary()).cast(pa.large_binary()).view(pa.large_string()),
    "dictionary": lambda v: pa.DictionaryArray.from_arrays(pa.array(range(len(v))), v),
    "beyond its dictionary": lambda v: pa.DictionaryArray.from_arrays(
        pa.array([i if s.is_valid and _sound(s) else 10**6 for i, s in enumerate(v)]), v, safe=False
    ),
    "slice": lambda v: pa.concat_arrays([v, v]).slice(len(v)),
}


def _sound(scalar: pa.Scalar) -> bool:
    try:
        scalar.as_py()
    except UnicodeDecodeError:
        return False
    return True


def text(values: list[bytes | None]) -> pa.Array:
    return pa.array(values, pa.binary()).view(pa.string())


def tables(broken: bool) -> tuple[pa.Array, list[str], list[float]]:
    """Each good text of two rows, and if asked for each broken one, of units of their own."""
    values: list[bytes | None] = [part.encode() for part in GOOD * 2]
    owners = [f"u{i}" for i in range(len(values))]
    if broken:
        values = [BROKEN[0], *values[:7], *BROKEN[1:3], *values[7:], *BROKEN[3:]]
        owners = ["bad", *owners[:7], "bad1", "bad2", *owners[7:], "bad3", "bad4", "bad5"]
    return text(values), owners, [1.0] * len(values)


class Layout:
    """One way to lay text out, with broken text in it or without."""

    def __init__(self, folder: Path, layout: str, broken: bool = True) -> None:
        self.folder, self.layout, self.broken = folder, layout, broken

    def source(self, v: str = "v", u: str = "u") -> tuple[Any, str | None]:
        """Return what `open_table` takes, and a name for it; text and owners as they are called."""
        held = dict(zip(("v", "u", "x"), tables(self.broken), strict=True))
        if self.layout in FRAMES:
            table = {v: FRAMES[self.layout](held["v"]), u: held["u"], "x": held["x"]}
            return pa.table(table), f"{v} and {u}"
        options = {**PARQUET[self.layout]}
        if "column_encoding" in options:
            options["column_encoding"] = {v: options["column_encoding"]["v"]}
        path = self.folder / f"{self.layout} {self.broken} {v} {u}.parquet"
        pq.write_table(pa.table({v: held["v"], u: held["u"], "x": held["x"]}), path, **options)
        return path, None

    def opened(self, unit: Unit, v: str = "v", u: str = "u") -> Table:
        source, name = self.source(v, u)
        return open_table(source, unit=unit, bounds={"x": Bounds(0, 1, grid=1)}, name=name)

    def leading(self, on: tuple[str, str], v: str, u: str, owner: str) -> Entity:
        """Return a unit that is named by `owner` of another table."""
        to, name = self.source(v, u)
        return Entity(ForeignKey({on[0]: on[1]}, to, owner=owner, name=name), max_rows=9)


def asked(layout: Layout) -> Iterator[tuple[str, Any]]:
    table, v = layout.opened(Rows()), col("v")
    keys = Keys({"v": ["a", "caf\u00e9", "caf\ufffd", "caf?", "b"]})
    yield "keys", table.count(keys)
    yield "measured", table.sum("x", keys)
    for i, condition in enumerate(
        [
            v.length() > 0,
            v.prefix(2) == "ca",
            v.lower() >= "caf",
            v.starts_with("caf"),
            v != "a",
            v.between("a", "z"),
            v.is_in(["a", "caf?"]),
            v.coalesce("none") != "none",
            ~v.is_null(),
            when(v.is_null()).then(False).otherwise(True),
        ]
    ):
        yield f"where {i}", table.where(condition).count()
    yield "made", table.with_columns(w=v.prefix(3).lower()).count(Keys({"w": ["caf", "a"]}))
    public = {"v": ["a", "caf\u00e9", "caf?"], "w": ["one", "two", "three"]}
    looked_up = table.join_public(public, on="v", columns=["w"], how="inner")
    yield "public", looked_up.count(Keys({"w": ["one", "two", "three"]}))
    by_key = layout.leading(("v", "v"), "v", "owner", "owner")
    yield "foreign key", layout.opened(by_key).count()
    owner = layout.leading(("u", "owner"), "named", "owner", "named")
    yield "owner", layout.opened(owner).count()
    units = layout.opened(Entity("v", max_rows=9))
    yield "unit", units.count()
    yield "unit's key", units.count(keys)
    source, name = layout.source("v", "w")
    joined = units.join(source, on="v", columns=["w"], how="inner", name=name)
    yield "joined", joined.count()


def answers(layout: Layout) -> dict[str, Any]:
    found: dict[str, Any] = {what: q.compute().tolist() for what, q in asked(layout)}
    unknown = layout.opened(Rows()).count(UnknownKeys("v")).unknown
    assert unknown is not None
    groups = unknown.find()
    return found | {"unknown": dict(zip(groups.keys, groups.integers.tolist(), strict=True))}


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> dict[str, Any]:
    """The answers without any broken text."""
    found = answers(Layout(tmp_path_factory.mktemp("sound"), "plain", broken=False))
    assert found["keys"] == [2, 2, 2, 0, 2]
    assert found["unit"] == [14]
    assert len(found["unknown"]) == len(GOOD)
    return found


@pytest.mark.parametrize("layout", ["dictionary", "text"])
def test_broken_text_is_in_no_group_and_meets_no_condition_and_is_nobodys(sound, tmp_path, layout):
    assert answers(Layout(tmp_path, layout)) == sound


@pytest.mark.parametrize("layout", [*PARQUET, *FRAMES])
def test_broken_text_is_null_however_it_is_laid_out(tmp_path, layout):
    table = Layout(tmp_path, layout).opened(Rows())
    assert table.where(col("v").is_null()).count().compute().tolist() == [len(BROKEN)]
    assert table.where(col("v").length() >= 0).count().compute().tolist() == [2 * len(GOOD)]


def test_whether_text_is_null_does_not_depend_on_other_columns(tmp_path):
    """Broken text of one person in one column must not change how another's is read."""
    path, v = tmp_path / "t.parquet", text([BROKEN[0], b"a"])
    for w in (text([b"b", b"b"]), text([b"b", BROKEN[1]])):
        pq.write_table(pa.table({"v": v, "w": w}), path)
        table = open_table(path, unit=Rows())
        both = table.where(col("v").is_null() | (col("w") == "a"))
        assert both.count().compute().tolist() == [1]


def test_a_column_of_a_file_is_looked_through_once(tmp_path, monkeypatch):
    looked: list[list[str]] = []
    real = ParquetFile._is_sound

    def look(self: Any, connection: Any, names: Any) -> bool:
        looked.append(list(names))
        return real(self, connection, names)

    monkeypatch.setattr(ParquetFile, "_is_sound", look)
    table = Layout(tmp_path, "plain", broken=False).opened(Entity("u", max_rows=1))
    for _ in range(2):
        table.sum("x").compute()
        table.sum("x", Keys({"v": ["a"]})).compute()
    assert looked == [["u"], ["v"]]


def test_names_of_columns_with_broken_text_can_be_anything(tmp_path):
    names = ['q"uo', "a.b", "", "c0", "n"]
    held = {name: text([b"a", BROKEN[0]]) for name in names} | {"a": pa.array([{"b": "x"}] * 2)}
    pq.write_table(pa.table(held), tmp_path / "t.parquet")
    table = open_table(tmp_path / "t.parquet", unit=Rows())
    for name in ['q"uo', "a.b", "c0", "n"]:
        assert table.count(Keys({name: ["a"]})).compute().tolist() == [1]


def test_what_is_text_by_another_name_is_looked_through_as_well(tmp_path):
    path = tmp_path / "t.parquet"
    number = "00000000-0000-0000-0000-000000000001"
    duckdb.sql(f"COPY (SELECT '{number}'::UUID AS v) TO '{path}'")
    table = open_table(path, unit=Entity("v", max_rows=1))
    assert table.count(Keys({"v": [number]})).compute().tolist() == [1]


def test_a_column_called_as_duckdb_calls_rows_is_refused(tmp_path):
    pq.write_table(pa.table({"File_Row_Number": [1]}), tmp_path / "t.parquet")
    with pytest.raises(InvalidTable, match="rename it"):
        open_table(tmp_path / "t.parquet", unit=Rows())


def test_a_public_table_may_hold_broken_text(tmp_path):
    pq.write_table(pa.table({"v": text([b"b", BROKEN[0], b"a"])}), tmp_path / "t.parquet")
    assert Keys.of_public(tmp_path / "t.parquet", "v").rows() == [("a",), ("b",)]


def test_broken_text_in_a_csv_file_is_null(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"v,u,x\n" + b"\n".join(part + b",u,1" for part in [*BROKEN, b"a"]) + b"\n")
    table = open_table(path, unit=Entity("v", max_rows=9))
    assert table.count().compute().tolist() == [1]
    rows = open_table(path, unit=Rows())
    assert rows.where(col("v").as_text().is_null()).count().compute().tolist() == [len(BROKEN)]


def test_duckdb_stores_no_broken_text():
    """So a table of a connection holds none."""
    connection = duckdb.connect()
    connection.register("arrow", pa.table({"v": text(list(BROKEN))}))
    with pytest.raises(duckdb.InvalidInputException):
        connection.execute("CREATE TABLE t AS FROM arrow")
