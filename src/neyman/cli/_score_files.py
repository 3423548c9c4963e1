"""Scores of an attack, as files hold them: .npz of arrays, or .csv with a line for each score."""

import csv
import zipfile
from pathlib import Path
from typing import Final

import numpy as np

from neyman.errors import InvalidParameter
from neyman.numerics import Array

__all__ = ["MANY_RUNS", "Columns", "read_score_file"]

MANY_RUNS: Final = ("inside", "outside")
_ONE_RUN: Final = ("scores", "included")
_SUFFIXES: Final = (".npz", ".csv")

Columns = dict[str, Array]


def read_score_file(path: Path) -> Columns:
    """Return `inside` and `outside`, or `scores` and, where the file has it, `included`.

    Raises:
        InvalidParameter: if the file holds neither, or cannot be read.
    """
    read = {".npz": _npz, ".csv": _csv}.get(path.suffix.lower())
    if read is None:
        raise InvalidParameter(
            f"scores must be in an .npz or .csv file; got {path}. Write one of these"
        )
    found = read(path)
    for names in (MANY_RUNS, _ONE_RUN, _ONE_RUN[:1]):
        if found.keys() >= set(names):
            return {name: found[name] for name in names}
    raise _unfit(path)


def _npz(path: Path) -> Columns:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            names = {*MANY_RUNS, *_ONE_RUN} & set(arrays.files)
            return {name: np.asarray(arrays[name], dtype=np.float64) for name in names}
    except OSError as error:
        raise InvalidParameter(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, EOFError, KeyError, zipfile.BadZipFile):
        raise _unfit(path) from None


def _csv(path: Path) -> Columns:
    """Read the columns `score` and `inside`, of many runs, or `score` and `included`, of one."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [*csv.DictReader(file)]
        scores = np.array([float(row["score"]) for row in rows])
        coin = "included" if rows and "included" in rows[0] else "inside"
        marks = np.array([float(row[coin]) for row in rows])
    except OSError as error:
        raise InvalidParameter(f"{path} cannot be read: {error.strerror}") from error
    except (KeyError, TypeError, ValueError, csv.Error):
        raise _unfit(path) from None
    if not rows or not np.isin(marks, (0.0, 1.0)).all():
        raise _unfit(path)
    if coin == "included":
        return {"scores": scores, "included": marks}
    return {"inside": scores[marks == 1], "outside": scores[marks == 0]}


def _unfit(path: Path) -> InvalidParameter:
    return InvalidParameter(
        f"{path} holds no scores; write an .npz file with the arrays inside and outside (one score "
        "for each run with the record, and without), or scores and included (one for each canary "
        "of one run); or a .csv file with the columns score and inside, or score and included, "
        "where the second is 1 or 0"
    )
