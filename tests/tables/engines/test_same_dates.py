"""Dates and timestamps written as text are the same ones on every engine, and in plain Python."""

import re
from datetime import datetime

import pyarrow as pa
import pytest

from neyman import col
from neyman.tables import Rows, open_table
from neyman.tables._expressions._written import DATE_FORMATS, TIMESTAMP_FORMATS
from tables.engines.test_same_rows import fetched

SOAK = pytest.mark.soak
DAYS = [
    *("2024-02-29", "2023-02-29", "1900-02-29", "2000-02-29", "0000-01-01", "0001-01-01"),
    *(
        "9999-12-31",
        "2024-04-31",
        "2024-13-01",
        "2024-00-10",
        "2024-10-00",
        "2024-1-5",
        "2024-01-5",
    ),
    *(
        "24-01-05",
        "2024-01-05 ",
        " 2024-01-05",
        "2024-01-05x",
        "2024/01/05",
        "2024/1/5",
        "20240105",
    ),
    *("29.02.2024", "1.2.2024", "01.2.2024", "31.04.2024", "05/06/2024", "5/6/2024", "13/6/2024"),
    *("6-13-2024", "13-6-2024", "", "-", "\u0662\u0660\u0662\u0664-01-05", "\u4e00", "99999999"),
    *("2024-01-05\n", "'; --", "infinity", "epoch", "today", "0000-00-00", "00.00.0000", "1" * 300),
]
CLOCKS = ["00:00", "23:59", "24:00", "9:05", "09:60", "09:05:59", "09:05:60", "09:05:07Z"]
CLOCKS += ["09:05:07.1", "09:05:07.000001", "09:05:07.1234567", "09:05:07.", "09:05:0\u0665"]
TEXTS = [
    *DAYS,
    *(f"{day}{mark}{clock}" for day in DAYS[:17:4] for mark in " T" for clock in CLOCKS),
]
# Each clock, after other dates, and all that machines write; all of them in the long trials.
MOMENTS = [
    pytest.param((*TIMESTAMP_FORMATS[:-3:9], *TIMESTAMP_FORMATS[-3:]), id="some"),
    *(
        pytest.param(TIMESTAMP_FORMATS[first::5], id=f"every fifth from {first}", marks=SOAK)
        for first in range(5)
    ),
]
START = datetime(1, 1, 1)
DIRECTIVES = {"Y": r"\d{4}", "m": r"\d\d?", "d": r"\d\d?", "H": r"\d\d", "M": r"\d\d"}
DIRECTIVES |= {"S": r"\d\d", "f": r"\d{1,6}"}


def expected(text: str, format_: str) -> datetime | None:
    strict = "%f" in format_ or format_.endswith("Z") or "%Y%m%d" in format_
    two = {"m": r"\d\d", "d": r"\d\d"} if strict else {}
    found = {**DIRECTIVES, **two}
    pattern = re.sub("%([A-Za-z])", lambda mark: found[mark[1]], format_.replace(".", r"\."))
    if not re.fullmatch(pattern, text, re.ASCII):
        return None
    try:
        return datetime.strptime(text, format_)
    except ValueError:
        return None


@pytest.mark.parametrize("formats", MOMENTS)
def test_text_is_the_same_date_everywhere(store, formats):
    rows = pa.table({"i": range(len(TEXTS)), "v": TEXTS})
    table = open_table(**store.fill(rows, "written"), unit=Rows())
    days = {f"d{i}": col("v").to_date(one) for i, one in enumerate(DATE_FORMATS)}
    times = {
        f"t{i}": col("v").to_timestamp(one).seconds_since("0001-01-01")
        for i, one in enumerate(formats)
    }
    found = fetched(table.with_columns(**days, **times), [*days, *times])
    for text, row in zip(TEXTS, found, strict=True):
        for format_, day in zip(DATE_FORMATS, row, strict=False):
            right = expected(text, format_)
            assert day == (None if right is None else right.date()), (text, format_)
        for format_, seconds in zip(formats, row[len(DATE_FORMATS) :], strict=True):
            right = expected(text, format_)
            assert (seconds is None) == (right is None), (text, format_)
            if right is not None:
                # Of the year 9999, a number has steps of 0.00006 seconds.
                assert abs(seconds - (right - START).total_seconds()) < 1e-4, (text, format_)
