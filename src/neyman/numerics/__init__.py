"""Numbers with a direction: exact rationals, brackets, monotone roots, normal tails.

Knows no privacy.
"""

from neyman.numerics._bisect import first_double
from neyman.numerics._bracket import ULP, Array, Bracket, around, exp_outward, outward
from neyman.numerics._digits import at_least, at_most
from neyman.numerics._dominated import dominated
from neyman.numerics._exact import (
    Real,
    ceil_float,
    exact,
    floor_float,
    ordinary,
    square_roots,
    standing,
    text,
)
from neyman.numerics._normal import gaussian_log_delta, normal_quantile_gap, normal_tail
from neyman.numerics._special import log_ndtr, ndtri

__all__ = [
    "ULP",
    "Array",
    "Bracket",
    "Real",
    "around",
    "at_least",
    "at_most",
    "ceil_float",
    "dominated",
    "exact",
    "exp_outward",
    "first_double",
    "floor_float",
    "gaussian_log_delta",
    "log_ndtr",
    "ndtri",
    "normal_quantile_gap",
    "normal_tail",
    "ordinary",
    "outward",
    "square_roots",
    "standing",
    "text",
]
