"""What comes out: a public answer, what it guarantees and what it cost."""

from neyman.released._companion import Companion
from neyman.released._counted import counted, in_counted
from neyman.released._guarantee import Guarantee, Spending
from neyman.released._keys_asked import called
from neyman.released._limits_said import limits_said
from neyman.released._release import Release
from neyman.released._side_by_side import Side, columns_of, side_by_side
from neyman.released._tabular import Tabular
from neyman.released._text import text_of

__all__ = [
    "Companion",
    "Guarantee",
    "Release",
    "Side",
    "Spending",
    "Tabular",
    "called",
    "columns_of",
    "counted",
    "in_counted",
    "limits_said",
    "side_by_side",
    "text_of",
]
