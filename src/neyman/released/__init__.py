"""What comes out: a public answer, what it guarantees and what it cost."""

from neyman.released._companion import Companion
from neyman.released._counted import counted, counts_units, in_counted, units_of
from neyman.released._drawn import Drawn, source_of
from neyman.released._guarantee import Guarantee, Spending
from neyman.released._keys_asked import called
from neyman.released._limits_said import limits_said
from neyman.released._release import Release
from neyman.released._side_by_side import Side, columns_asked, columns_of, side_by_side
from neyman.released._tabular import Tabular
from neyman.released._text import text_of
from neyman.released._too_few import MARK, MARKED, TOO_FEW, is_amount, noise_alone
from neyman.released._written import list_of, record_of

__all__ = [
    "MARK",
    "MARKED",
    "TOO_FEW",
    "Companion",
    "Drawn",
    "Guarantee",
    "Release",
    "Side",
    "Spending",
    "Tabular",
    "called",
    "columns_asked",
    "columns_of",
    "counted",
    "counts_units",
    "in_counted",
    "is_amount",
    "limits_said",
    "list_of",
    "noise_alone",
    "record_of",
    "side_by_side",
    "source_of",
    "text_of",
    "units_of",
]
