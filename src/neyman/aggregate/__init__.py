"""Aggregates: exact integers of the data, with a typed sensitivity; a release adds the noise."""

from neyman.aggregate._aggregate import (
    Aggregate,
    Companion,
    FoundGroups,
    UnknownGroups,
    refuse_key_names,
    repeated,
)
from neyman.aggregate._countable import Countable, Counter
from neyman.aggregate._imagined import Counted, Imagined, MadeUp, Shape, Spreads
from neyman.aggregate._readings import (
    COMPANION,
    PARTS,
    Adaptive,
    Columns,
    DrawnNoise,
    IntArray,
    KeyText,
    Noise,
    Reading,
    SumsReading,
    Term,
)

__all__ = [
    "COMPANION",
    "PARTS",
    "Adaptive",
    "Aggregate",
    "Columns",
    "Companion",
    "Countable",
    "Counted",
    "Counter",
    "DrawnNoise",
    "FoundGroups",
    "Imagined",
    "IntArray",
    "KeyText",
    "MadeUp",
    "Noise",
    "Reading",
    "Shape",
    "Spreads",
    "SumsReading",
    "Term",
    "UnknownGroups",
    "refuse_key_names",
    "repeated",
]
