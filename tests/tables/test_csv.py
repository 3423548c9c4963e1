"""A CSV file is read line by line: what a line says depends on the bytes of that line alone."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from neyman.errors import InvalidTable, UnknownColumn
from neyman.tables import Bounds, Entity, Keys, Rows, open_table
from neyman.tables._sources import _csv
from random_cases import random_cases

GOOD = b"who,g,x\np,a,1\nq,a,2\np,b,3\n"
KEYS = Keys({"g": ["a", "b"]})
BOUNDS = {"x": Bounds(0, 10, grid=1)}


def sums(path, unit=Rows()) -> list[int]:  # noqa: B008
    table = open_table(path, unit=unit, bounds=BOUNDS)
    return table.sum("x", KEYS).compute().tolist()


@pytest.mark.parametrize(
    "nasty",
    [
        b"c\n",
        b"c,a\n",
        b"c,z,5,6,7,8\n",
        b"\n\n",
        b"c,z,hello\n",
        b"c,a,1e999x\n",
        b"c,a,\n",
        b"c,a,NULL\n",
        b"c,a,nan\n",
        b"\xff\xfe,a,\xff\n",
        b'"\xff\n\xfe",z,5\n',
        b'p,"\xff\n\xfe",5\n',
        b'p,a,"\xff\n\xfe"\n',
        b"c\x00d,a\x00,1\x002\n",
        b"c," + b"9" * 3_000_000 + b",5\n",
        b'c,"' + b"9\n" * 1_200_000 + b'",5\n',
        b'"x\ny","a\r\n",5\n',
        b'c,"a"b,z\n',
        b'c,a"b,4\n',
        b"#,#,#\n",
        b"c;a;5\n",
        b"c\ta\t5\n",
        b"who,g,x\n",
        b"c,A,4\n",
        b"c, a,4\n",
    ],
    ids=lambda line: repr(line[:12]),
)
def test_one_bad_line_changes_no_other_group(written, nasty):
    head, *rest = GOOD.splitlines(keepends=True)
    path = written(head + rest[0] + nasty + b"".join(rest[1:]))
    assert sums(path) == [3, 3]
    assert sums(path, Entity("who", max_rows=18)) == [3, 3]


@pytest.mark.parametrize(
    ("field", "counted"),
    [
        (b"5", 5),
        (b"+5", 5),
        (b" 5 ", 5),
        (b'"5"', 5),
        (b"0.5e1", 5),
        (b"4.5", 5),
        (b"-inf", 0),
        (b"inf", 10),
        (b"1e999", 10),
        (b"9" * 400, 10),
        (b"-1", 0),
        (b"0x5", 0),
        (b"5,5", 0),
        (b'"5', 0),
        (b'5"', 0),
        (b'""', 0),
        (b'"5""', 0),
        (b"5\r", 5),
        (b"5\r1", 0),
        (b"five", 0),
        (b'"5,5"', 0),
    ],
)
def test_numbers(written, field, counted):
    assert sums(written(GOOD + b"r,a," + field + b"\n")) == [3 + counted, 3]


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + GOOD,
        GOOD.replace(b"\n", b"\r\n"),
        GOOD.rstrip(b"\n"),
        GOOD.replace(b"who", b'"who"').replace(b"p,", b'"p",'),
        GOOD + b'"never closed,a,9\n',
        GOOD + b'"',
    ],
    ids=range(6),
)
def test_layouts(written, content):
    assert sums(written(content), Entity("who", max_rows=18)) == [3, 3]


def test_no_rows(written):
    for content in (b"who,g,x\n", b"who,g,x", b"who,g,x\n\n"):
        assert sums(written(content)) == [0, 0]


def test_rows_do_not_decide_types(written):
    """Integers for a long while, then text: a sniffed type would raise."""
    path = written(b"who,g,x\n" + b"1,1,1\n" * 100_000 + b"one,one,one\n" + b"2,1,1\n")
    table = open_table(path, unit=Entity("who", max_rows=10**6), bounds=BOUNDS)
    assert table.sum("x", Keys({"g": [1]})).compute().tolist() == [100_001]
    assert table.sum("x", Keys({"g": ["1", "one"]})).compute().tolist() == [100_001, 0]


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"\n1,2\n",
        b"a,\xff\n",
        b"a,b,a\n",
        b"a,A\n",
        b"a\x00,b\n",
        b'"' + b"x" * 200_000,
        b'a,"b\n1,2\n',
        b"x" * (2**20 + 1) + b"\n1\n",
        GOOD.replace(b"\n", b"\r"),
    ],
    ids=range(10),
)
def test_bad_headers(written, header):
    with pytest.raises(InvalidTable) as refused:
        open_table(written(header), unit=Rows())
    assert refused.value.__cause__ is None


def test_any_header(written):
    names = ['a"; DROP TABLE x; --', "", "c0", "Straße", "a\\'b", "[x]", "{y}"]
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    path = written(header.encode() + b"\n" + b",".join(b"%d" % i for i in range(7)) + b"\n")
    table = open_table(path, unit=Rows(), bounds=dict.fromkeys(names, Bounds(0, 9, grid=1)))
    assert [table.sum(name).compute().tolist() for name in names] == [[i] for i in range(7)]


def test_bytes_beyond_the_header_are_not_looked_at(written):
    assert sums(written(GOOD + b"\xff" * 20 + b"\n")) == [3, 3]


# What arbitrary bytes seldom hit.
lines = st.one_of(
    st.binary(max_size=30),
    st.lists(
        st.sampled_from(
            [b'"', b'""', b",", b"\r", b"a", b"b", b"p", b"5", b"\xff", b"\xe2", b"\0"]
        ),
        max_size=12,
    ).map(b"".join),
).map(lambda line: line.replace(b"\n", b""))


def answers(path, unit) -> list[list[int]]:
    table = open_table(path, unit=unit, bounds=BOUNDS)
    return [part.compute().tolist() for part in (table.count(KEYS), table.sum("x", KEYS))]


@pytest.fixture(scope="module", params=[b"\n", b"\r\n"])
def whole(request, tmp_path_factory):
    """The ending of the lines, and the answers without a changed one."""
    path = tmp_path_factory.mktemp("lines") / "table.csv"
    path.write_bytes(request.param.join(GOOD.splitlines()))
    return request.param, answers(path, Rows())


@random_cases(10, soak=200)
@given(changed=lines, place=st.integers(0, 3))
@example(changed=b'5,"bad,1', place=0)
@example(changed=b"c,a\rc,a,1", place=1)
@example(changed=b'"\xff\xfe', place=2)
@example(changed=b"p,a,\xe2\x82", place=3)
def test_a_line_moves_the_answer_by_one_row(tmp_path_factory, whole, changed, place):
    """Whatever the bytes of one line, they count as one row or none: the unit is `Rows()`."""
    ending, (without, total) = whole
    head, *rest = GOOD.splitlines()
    path = tmp_path_factory.mktemp("lines") / "table.csv"
    path.write_bytes(ending.join([head, *rest[:place], changed, *rest[place:]]))
    (counts, sums_) = answers(path, Rows())
    more = [now - before for now, before in zip(counts, without, strict=True)]
    assert sorted(more) in ([0, 0], [0, 1])
    for added, now, before in zip(more, sums_, total, strict=True):
        assert 0 <= now - before <= 10 * added


@settings(max_examples=60, deadline=None)
@given(parts=st.lists(lines, max_size=12), block=st.integers(1, 40), longest=st.integers(1, 25))
@example(parts=[b"\xff,a", b'b,"\xe2\x82"', b"\xc3\xa9,\xed\xa0\x80"], block=7, longest=25)
def test_blocks_show_nowhere(tmp_path_factory, parts, block, longest):
    """The rows are the same however the file is cut into blocks, and equal a plain reference."""
    path = tmp_path_factory.mktemp("blocks") / "table.csv"
    path.write_bytes(b"\n".join([b"a,b", *parts]))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_csv, "_BLOCK", block)
        patched.setattr(_csv, "_LONGEST", longest)
        found = [
            row
            for table in _csv.tables(str(path), 2, [0, 1])
            for row in zip(*(column.to_pylist() for column in table.columns), strict=True)
        ]
    assert found == [row for row in (reference(part, 2, longest) for part in parts) if row]


def reference(line: bytes, width: int, longest: int) -> tuple[str | None, ...] | None:
    # A byte that is no UTF-8 stands as half a surrogate.
    text = line.decode("utf-8", "surrogateescape")
    if len(line) > longest or text.count('"') % 2:
        return None
    text = text.removesuffix("\r")
    fields, inside = [""], False
    for sign in text:
        inside ^= sign == '"'
        if sign == "," and not inside:
            fields.append("")
        else:
            fields[-1] += sign
    if not text or len(fields) != width:
        return None
    return tuple(map(plain, fields))


def plain(field: str) -> str | None:
    if len(field) >= 2 and field[0] == field[-1] == '"':
        field = field[1:-1]
    sound = not any("\ud800" <= sign <= "\udfff" for sign in field)
    return (field.replace('""', '"') or None) if sound else None


def test_one_quote_swallows_nothing(written):
    """It took the rest of the file into its field: 9,900 rows of other people."""
    rows = [b"p,a,1"] * 10_000
    rows[99] = b'p,"a,1'
    assert sums(written(b"\n".join([b"who,g,x", *rows]))) == [9_999, 0]


def test_lines_of_many_blocks(written, monkeypatch):
    monkeypatch.setattr(_csv, "_BLOCK", 1000)
    long = b"c,a," + b"9" * 2**20 + b"\n"
    content = GOOD + b"r,b,2\n" * 3000 + long + b'"r",b,2\n' * 3000 + long * 3 + b"r,b,2"
    assert sums(written(content)) == [3, 3 + 2 * 6001]


def test_an_empty_field_is_no_key(written):
    table = open_table(written(GOOD), unit=Rows())
    with pytest.raises(InvalidTable, match="an empty field of column 'g' is NULL"):
        table.count(Keys({"g": ["a", ""]}))


def test_keys_are_spelled_as_in_the_file(written):
    path = written(b"g\n1\n01\n 1\n1.0\nNULL\ntrue\n")
    table = open_table(path, unit=Rows())
    # A whole number with zeros after its point is that number; all else is as it is.
    assert table.count(Keys({"g": [1]})).compute().tolist() == [2]
    assert table.count(Keys({"g": ["1", "01", "NULL", "true"]})).compute().tolist() == [2, 1, 1, 1]
    with pytest.raises(InvalidTable, match="write str or int keys, spelled as in the file"):
        table.count(Keys({"g": [True]}))


def test_the_first_line_is_repeated_in_no_error(tmp_path):
    """Without a header it is a record."""
    path = tmp_path / "visits.csv"
    for line, asked in (("Kim Minsu,north,87", "patient"), ("north,North,87", "ward")):
        path.write_text(f"{line}\nLee,south,3\n")
        with pytest.raises((UnknownColumn, InvalidTable)) as found:
            open_table(path, unit=Entity(asked, max_rows=1))
        assert not any(word in str(found.value).lower() for word in ("kim", "north", "87"))


def test_a_missing_header_is_thought_of(tmp_path):
    """Two values of a record can be the same, which two names cannot; neither is repeated."""
    path = tmp_path / "a.csv"
    path.write_text("north,3,NORTH\nsouth,4,south\n")
    with pytest.raises(InvalidTable, match="if the file has no header, write one") as refused:
        open_table(path, unit=Rows())
    assert "north" not in str(refused.value).lower()


def test_a_frame_without_columns_says_so():
    with pytest.raises(InvalidTable, match="the Table 'nothing' has no columns; write one"):
        open_table(pa.table({}), unit=Rows(), name="nothing")


IDS = ["1", "1.0", "1.00", "01", "01.0", "+1.0", "-2", "-2.0", "0.0", "0", "-0.0", "1.50", "x.0"]
IDS += ["1.", "1.0 ", "1.0\u2028", ".0", "1.0\r "]


def of_ids(folder, ids=IDS, name="ids.csv"):
    (folder / name).write_bytes(("who,v\n" + "".join(f"{one},1\n" for one in ids)).encode())
    return folder / name


def test_a_whole_number_with_zeros_after_its_point_is_one_unit_one_key_and_one_group(tmp_path):
    one_each = open_table(of_ids(tmp_path), unit=Entity("who", max_rows=1))
    assert one_each.count().compute().tolist() == [len(IDS) - 4]
    rows = open_table(tmp_path / "ids.csv", unit=Rows())
    assert rows.count(Keys({"who": [1, -2, 0]})).compute().tolist() == [3, 2, 2]
    assert rows.count(Keys({"who": ["1.0", "-2", "0", "01.0"]})).compute().tolist() == [3, 2, 2, 1]
    with pytest.raises(InvalidTable, match=r"keys '1' and '1.0' of column 'who' are one value"):
        rows.count(Keys({"who": ["1", "1.0"]}))
    joined = rows.join_public({"who": ["1.00", "01"], "g": ["a", "b"]}, on="who", how="left")
    assert joined.count(Keys({"g": ["a", "b"]})).compute().tolist() == [3, 1]
    with pytest.raises(InvalidTable, match="two rows of the key who='1'"):
        rows.join_public({"who": ["1.0", "1"], "g": ["a", "b"]}, on="who", how="left")


def test_a_joined_file_that_writes_1_0_names_the_same_unit(tmp_path):
    of_ids(tmp_path, ["1", "2"])
    of_ids(tmp_path, ["1.0", "3.0"], "other.csv")
    pq.write_table(pa.table({"who": [1, 2, 3]}), tmp_path / "whole.parquet")
    table = open_table(tmp_path / "ids.csv", unit=Entity("who", max_rows=9))
    other = table.join(tmp_path / "other.csv", on="who", columns=[], how="inner")
    assert other.count().compute().tolist() == [1]
    there = open_table(tmp_path / "other.csv", unit=Entity("who", max_rows=9))
    whole = there.join(tmp_path / "whole.parquet", on="who", columns=[], how="inner")
    assert whole.count().compute().tolist() == [2]
    both = open_table([tmp_path / "ids.csv", tmp_path / "other.csv"], unit=Entity("who", 1))
    assert both.count().compute().tolist() == [3]
