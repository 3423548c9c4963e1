"""The README shows what a run prints, but for the numbers that noise decides."""

import re
import tempfile
from pathlib import Path

import pyarrow as pa

import neyman as ny

README = Path(__file__).parents[2] / "README.md"


def without_numbers(text):
    return [re.sub(r"\d[\d.,]*", "#", " ".join(line.split())) for line in text.strip().splitlines()]


def printed():
    visits = pa.table(
        {"patient": [f"p{i // 2}" for i in range(20_000)], "ward": ["a", "b"] * 10_000}
    )
    db = ny.open(
        visits,
        name="visits",
        unit="patient",
        max_rows=2,
        epsilon=2,
        delta=1e-6,
        ledger=f"{tempfile.mkdtemp()}/visits.ledger",
    )
    return str(db.count(by={"ward": ["a", "b"]}).release("visits-by-ward", mu=0.4))


def shown():
    block = re.search(r"```text\n(counted.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    return without_numbers(block[1])


def test_the_output_in_the_readme_is_what_a_release_prints():
    lines = without_numbers(printed())
    first, last = (part for part in " ".join(shown()).split(" ... "))
    assert " ".join(lines).startswith(first)
    assert " ".join(lines).endswith(last)


def test_another_output_is_not():
    assert not " ".join(without_numbers("counted: 3 rows")).startswith(" ".join(shown())[:40])
