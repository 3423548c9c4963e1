"""Tables as people read them: never wider than a page, as long as their cells are not."""

from hypothesis import given
from hypothesis import strategies as st

from neyman.released import text_of


def test_what_fits_stands_side_by_side():
    found = text_of({"ward": ["north", "south"], "count": [3, 14]})
    assert found == " ward  count\nnorth      3\nsouth     14"


def test_one_wide_row_is_turned():
    columns = {f"number_of_kind_{i}": [i / 7] for i in range(12)}
    lines = text_of(columns).splitlines()
    assert len(lines) == 12
    assert lines[0] == " number_of_kind_0  0"
    assert lines[-1] == "number_of_kind_11  1.57143"


def test_wide_tables_go_on_below_with_their_keys():
    columns = {"ward": ["north", "south", "west"]} | {
        f"number_of_kind_{i}": [i, 10 * i, 100 * i] for i in range(8)
    }
    found = text_of(columns, rows=2, keys=1)
    first, second = found.split("\n\n")
    assert first.splitlines()[0].split() == ["ward", *(f"number_of_kind_{i}" for i in range(5))]
    assert second.splitlines()[0].split() == ["ward", *(f"number_of_kind_{i}" for i in range(5, 8))]
    assert second.splitlines()[2].split() == ["south", "50", "60", "70"]
    assert found.endswith("... 1 more rows; .columns holds them all")
    assert max(map(len, found.splitlines())) <= 100


@given(
    st.lists(st.lists(st.text("abc", max_size=30), min_size=3, max_size=3), max_size=20),
    st.integers(0, 3),
)
def test_every_cell_is_there_and_lines_are_short(cells, keys):
    columns = {f"c{i}": [f"<{cell}>" for cell in column] for i, column in enumerate(cells)}
    keys = min(keys, len(cells))
    found = text_of(columns, keys=keys)
    for i, column in enumerate(columns.values()):
        assert f"c{i}" in found
        assert all(cell in found for cell in column)
    wide = 36 * (keys + 1)
    assert all(len(line) <= max(100, wide) for line in found.splitlines())
