"""The hash chain: what it finds, what it cannot, and that a stranger can compute it."""

import hashlib
import json
import re

import pytest

from neyman.errors import InvalidParameter
from neyman.ledger import Ledger

ROWS = "seq, event, entry, kind, cost, payload, at, digest"
COLUMNS = ROWS.split(", ")


@pytest.fixture
def desk(opened):
    """Five rows: a is answered, b is reserved, c is answered."""
    desk = opened()
    desk.answer("a", [3])
    desk.reserve("b")
    desk.answer("c", [4])
    return desk


def sha256(*cells):
    return hashlib.sha256(json.dumps(cells, separators=(",", ":")).encode()).hexdigest()


def rewritten(home, ledger, change):
    """Change the rows and compute the whole chain anew, as whoever knows the code can."""
    rows = [list(row) for row in home.ask(ledger, f"SELECT {ROWS} FROM events ORDER BY seq")]
    (meta,) = home.ask(
        ledger, "SELECT ledger, cap, account, capacity, unit, neighbors, created, secret FROM meta"
    )
    digest = sha256("neyman.ledger", *meta[:-1], hashlib.sha256(meta[-1]).hexdigest())
    statements = ["DELETE FROM events"]
    for seq, row in enumerate(change(rows), start=1):
        digest = sha256(digest, seq, *row[1:-1])
        cells = [seq, *row[1:-1], digest]
        quoted = (
            "NULL" if x is None else repr(x) if isinstance(x, int) else f"'{x}'" for x in cells
        )
        statements.append(f"INSERT INTO events VALUES ({', '.join(quoted)})")
    home.tamper(ledger, *statements)


def test_a_stranger_computes_the_same_chain(desk, home):
    head = desk.ledger.head()
    rewritten(home, desk.ledger, lambda rows: rows)
    assert desk.ledger.head() == head
    assert desk.ledger.check(head) == ()


# The chain is of rows, wherever they are kept: in a database, each column and each row once; the
# others in the long trials.
ONCE = (3, 1, 2, 5, 4, 5, 2, 1)


@pytest.mark.shows("edited-record")
@pytest.mark.parametrize(
    ("home", "column", "seq"),
    [
        *(("files", column, seq) for column in COLUMNS for seq in range(1, 6)),
        *(
            pytest.param("database", column, seq, marks=() if seq == once else pytest.mark.soak)
            for column, once in zip(COLUMNS, ONCE, strict=True)
            for seq in range(1, 6)
        ),
    ],
    indirect=["home"],
)
def test_every_edited_cell_breaks_the_chain(desk, seq, column, home):
    """Among them a shift of the time by a microsecond and one digit of an answer."""
    ((found,),) = home.ask(desk.ledger, f"SELECT {column} FROM events WHERE seq = {seq}")
    if column == "seq":
        change = str(seq + 90)
    elif found is None:
        return
    elif column == "kind":
        change = "'redraw'" if found != "reserve" else None
    else:
        last = found[-1] if found[-1].isalnum() else found[-2]
        at = found.rindex(last)
        other = "1" if last != "1" else "2"
        change = f"'{found[:at] + other + found[at + 1 :]}'"
    if change is None:
        return
    home.tamper(desk.ledger, f"UPDATE events SET {column} = {change} WHERE seq = {seq}")
    found = desk.ledger.check()
    assert any(re.match(r"the chain breaks at row|row \d+ follows", line) for line in found), found


@pytest.mark.parametrize("seq", range(1, 5))
def test_every_removed_row_breaks_the_chain(desk, seq, home):
    home.tamper(desk.ledger, f"DELETE FROM events WHERE seq = {seq}")
    found = desk.ledger.check()
    assert any(f"row {seq + 1} follows row {seq - 1}: what stood" in line for line in found)
    # Nor does it help to close the gap.
    home.tamper(desk.ledger, f"UPDATE events SET seq = seq - 1 WHERE seq > {seq}")
    assert any(f"the chain breaks at row {seq}," in line for line in desk.ledger.check())


def test_rows_that_change_places_break_the_chain(desk, home):
    home.tamper(
        desk.ledger,
        "UPDATE events SET seq = 100 WHERE seq = 3",
        "UPDATE events SET seq = 3 WHERE seq = 4",
        "UPDATE events SET seq = 4 WHERE seq = 100",
    )
    assert any("the chain breaks at row 3" in line for line in desk.ledger.check())


@pytest.mark.parametrize(
    "change",
    [
        "unit = 'row'",
        "cap = replace(cap, '\"1\"', '\"4\"')",
        "created = '2020'",
        "neighbors = 'replace_one'",
        f"secret = CAST('{32 * 'x'}' AS BLOB)",
    ],
)
def test_the_chain_covers_the_opening_row(desk, change, home):
    home.tamper(desk.ledger, f"UPDATE meta SET {change.replace('BLOB', home.blob)}")
    found = Ledger.existing(desk.ledger.store).check()
    assert any("the chain breaks at row 1, reserve of 'a'" in line for line in found)


def test_a_cut_tail_is_found_by_a_noted_head_alone(desk, home):
    noted = desk.ledger.head()
    home.tamper(desk.ledger, "DELETE FROM events WHERE seq >= 4")
    assert desk.ledger.check() == ()
    (finding,) = desk.ledger.check(noted)
    assert f"the head {noted} that was noted is on no row: rows were cut off" in finding


def test_a_chain_written_anew_is_found_by_a_noted_head_alone(desk, home):
    noted = desk.ledger.head()

    def without_a(rows):
        return [row for row in rows if row[2] != "a"]

    rewritten(home, desk.ledger, without_a)
    assert desk.ledger.check() == ()
    assert len(desk.ledger.check(noted)) == 1


def test_a_noted_head_stays_on_the_chain_as_it_grows(opened):
    desk = opened()
    heads = [desk.ledger.head()]
    for number in range(5):
        desk.reserve(f"{number}")
        heads.append(desk.ledger.head())
    assert len(set(heads)) == 6
    assert all(desk.ledger.check(head) == () for head in heads)


def test_what_is_no_head_is_refused(desk):
    for head in ("", "abc", "G" * 64, "A" * 64, 5):
        with pytest.raises(InvalidParameter, match="64 hexadecimal digits"):
            desk.ledger.check(head)


def test_two_ledgers_have_two_chains(opened, tmp_path):
    heads = {opened(path=tmp_path / name).ledger.head() for name in ("a", "b")}
    assert len(heads) == 2
