"""Public answers, with their guarantee and their cost."""

from neyman.released._companion import Companion
from neyman.released._drawn import Drawn, source_of
from neyman.released._guarantee import Guarantee, Spending
from neyman.released._interval_notes import grid_notes
from neyman.released._question import (
    RecordedColumn,
    RecordedGroups,
    RecordedQuestion,
    RecordedUnit,
    group_name,
)
from neyman.released._release import Release
from neyman.released._sides import MARK, MARKED, TOO_FEW, Side
from neyman.released._tabular import Tabular, pandas_frame
from neyman.released._text import text_of

__all__ = [
    "MARK",
    "MARKED",
    "TOO_FEW",
    "Companion",
    "Drawn",
    "Guarantee",
    "RecordedColumn",
    "RecordedGroups",
    "RecordedQuestion",
    "RecordedUnit",
    "Release",
    "Side",
    "Spending",
    "Tabular",
    "grid_notes",
    "group_name",
    "pandas_frame",
    "source_of",
    "text_of",
]
