"""A hundred copies of the flights: seconds against bare statements, and memory under a limit."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import Section, verdict
from benchmarks._tables.data import COPIES, PLANES, copies
from benchmarks._tables.releases import load

__all__ = ["section"]

SECONDS, RATIO, LIMIT = 5.0, 1.5, "2GB"
# Parquet, and what is spilled.
BYTES = 12 * 10**9
# For all of them; what comes later is not run.
MINUTES = 12
WORDS = {"": "a row", "tailnum": "a plane of all copies", "plane": "a plane of one copy"}
ASKED = [("", asked) for asked in ("count by carrier", "mean by dest", "sum")]
ASKED += [(unit, asked) for unit in PLANES for asked in ("count by dest", "mean by dest")]

_Found = dict[str, float] | None


def section(path: Path) -> Section:
    """Measure rows, planes and memory, each question in a process of its own."""
    rows: list[Sequence[str | float]] = []
    verdicts: list[str] = []
    if shutil.disk_usage(path.parent).free < BYTES:
        method = f"Not run: fewer than {BYTES / 1e9:g} GB are free on the disk."
        return Section(
            title="A hundred copies", method=method, columns=[""], rows=rows, verdicts=verdicts
        )
    many, before = copies(path), load()
    end = time.monotonic() + 60 * MINUTES
    for unit, asked in ASKED:
        ours, theirs = (_alone(who, asked, unit, many, end) for who in ("neyman", "md5"))
        rows.append(_row(asked, unit, "Parquet", ours, theirs))
        verdicts.append(_says(asked, unit, ours, theirs))
    for unit in PLANES:
        ours = _alone("neyman", "mean by dest", unit, many, end, LIMIT)
        rows.append(_row("mean by dest", unit, f"Parquet, {LIMIT}", ours, None))
        said = f"mean by dest, unit {WORDS[unit]}, limit of {LIMIT}"
        held = "not run" if ours is None else f"{ours['bytes'] / 1e9:.2f} GB resident"
        met = ours is not None and ours["bytes"] <= 2e9
        verdicts.append(verdict(f"{said}: {held}", "2 GB", met=met))
    return Section(
        title=f"{336_776 * COPIES:,} rows",
        method=(
            f"{COPIES} copies of the flights in one Parquet file of "
            f"{many.stat().st_size / 1e6:.0f} MB, each question once, in a process of its own "
            "after the same of one copy. neyman: whole, as above. Bare: the statement by hand on "
            "a connection of its own; it keeps as many rows of a plane, 200 and 20 in each "
            "place, by a digest of the same kind (md5), and takes no care of NaN, equal rows and "
            "rounding. A plane of all copies has 100 times its rows, so that nearly all are cut; a "
            "plane of one copy has its own, and there are 100 times as many. GB: the most that the "
            f"process held (VmHWM), with the limit `open_table(..., memory_limit={LIMIT!r})`, "
            "which spills to the same disk. "
            f"{before} before, {load()} after."
        ),
        columns=[
            "question",
            "unit",
            "from",
            "neyman (s)",
            "processor (s)",
            "bare (s)",
            "processor (s)",
            "neyman / bare",
            "processor",
            "neyman (GB)",
            "bare (GB)",
        ],
        rows=rows,
        verdicts=verdicts,
    )


def _says(asked: str, unit: str, ours: _Found, theirs: _Found) -> str:
    said = f"{asked}, unit {WORDS[unit]}"
    bar = f"{RATIO:g} of the wall" if unit else f"{SECONDS:g} s"
    if ours is None or theirs is None:
        return verdict(f"{said}: not run", bar, met=False)
    if not unit:
        found = f"{said}: {ours['wall']:.2f} s (processor {ours['processor']:.2f} s)"
        return verdict(found, bar, met=ours["wall"] <= SECONDS)
    wall, processor = (ours[kind] / theirs[kind] for kind in ("wall", "processor"))
    found = f"{said}: {wall:.2f} of the bare statement's wall, {processor:.2f} of its processor"
    return verdict(found, bar, met=wall <= RATIO)


def _row(asked: str, unit: str, place: str, ours: _Found, theirs: _Found) -> Sequence[str | float]:
    mine, other = ([""] * 3 if x is None else [*x.values()] for x in (ours, theirs))
    ratios: list[str | float] = ["", ""]
    if ours is not None and theirs is not None:
        ratios = [ours[kind] / theirs[kind] for kind in ("wall", "processor")]
    held = ["" if x is None else x["bytes"] / 1e9 for x in (ours, theirs)]
    return [asked, WORDS[unit], place, *mine[:2], *other[:2], *ratios, *held]


def _alone(who: str, asked: str, unit: str, path: Path, end: float, limit: str = "") -> _Found:
    """Ask in a process of its own, if there is time."""
    left = end - time.monotonic()
    command = [sys.executable, "-m", "benchmarks._tables.alone", who, asked, unit, str(path), limit]
    try:
        said = subprocess.run(
            command,
            capture_output=True,
            check=True,
            timeout=max(left, 0.01),
            cwd=Path(__file__).parents[2],
        )
    except subprocess.TimeoutExpired:
        return None
    return json.loads(said.stdout)
