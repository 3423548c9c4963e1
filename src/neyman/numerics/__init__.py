"""Numbers with a direction: exact rationals, brackets, monotone roots, normal tails.

Knows no privacy.
"""

from neyman.numerics._atomic._atoms import Atoms
from neyman.numerics._bracket import ULP, Array, complement, exp_outward, outward
from neyman.numerics._complex import ComplexArray
from neyman.numerics._distributions._between import EVEN, TYPICAL, Between
from neyman.numerics._distributions._normal import (
    gaussian_delta,
    gaussian_log_delta,
    normal_quantile_gap,
    normal_tail,
    quantile_gap,
)
from neyman.numerics._distributions._normal_root import gaussian_epsilon, gaussian_mu_near
from neyman.numerics._dominated import dominated
from neyman.numerics._exact import (
    MOST_SUM_BITS,
    Real,
    at_least,
    at_most,
    ceil_float,
    exact,
    exact_positive,
    exact_size,
    floor_float,
    ordinary,
    rational,
    shares,
    square_roots,
    standing,
    text,
)
from neyman.numerics._exact_sum import exact_sum, from_written, shortened_up, written
from neyman.numerics._interval import Interval
from neyman.numerics._inversion._both_ways import BothWays
from neyman.numerics._inversion._contour import DELTA, P_ABOVE, Q_ABOVE, Contour, Functional
from neyman.numerics._inversion._ladder import Ladder
from neyman.numerics._inversion._several import Several
from neyman.numerics._inversion._tails import ContourTails
from neyman.numerics._laws._loss_law import LossLaw, LossSum, Span
from neyman.numerics._laws._mixture_law import GaussianMixtureLaw, Shifts
from neyman.numerics._laws._simple_laws import AtomicLaw, NormalLaw
from neyman.numerics._laws._weighted import WeightedLosses
from neyman.numerics._primitives import (
    asinh,
    atan,
    exp,
    expm1,
    log,
    log1mexp,
    log1p,
    log_phi,
    log_sinhc,
    logistic,
    mills,
    normal_log_sf,
    normal_quantile,
    normal_sf,
    phi,
    psi,
    sinh,
    tanh,
)
from neyman.numerics._root import first_double, proved_root, raised
from neyman.numerics._special import beta_quantile, log_ndtr, ndtri, poisson_mean, student

__all__ = [
    "DELTA",
    "EVEN",
    "MOST_SUM_BITS",
    "P_ABOVE",
    "Q_ABOVE",
    "TYPICAL",
    "ULP",
    "Array",
    "AtomicLaw",
    "Atoms",
    "Between",
    "BothWays",
    "ComplexArray",
    "Contour",
    "ContourTails",
    "Functional",
    "GaussianMixtureLaw",
    "Interval",
    "Ladder",
    "LossLaw",
    "LossSum",
    "NormalLaw",
    "Real",
    "Several",
    "Shifts",
    "Span",
    "WeightedLosses",
    "asinh",
    "at_least",
    "at_most",
    "atan",
    "beta_quantile",
    "ceil_float",
    "complement",
    "dominated",
    "exact",
    "exact_positive",
    "exact_size",
    "exact_sum",
    "exp",
    "exp_outward",
    "expm1",
    "first_double",
    "floor_float",
    "from_written",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_log_delta",
    "gaussian_mu_near",
    "log",
    "log1mexp",
    "log1p",
    "log_ndtr",
    "log_phi",
    "log_sinhc",
    "logistic",
    "mills",
    "ndtri",
    "normal_log_sf",
    "normal_quantile",
    "normal_quantile_gap",
    "normal_sf",
    "normal_tail",
    "ordinary",
    "outward",
    "phi",
    "poisson_mean",
    "proved_root",
    "psi",
    "quantile_gap",
    "raised",
    "rational",
    "shares",
    "shortened_up",
    "sinh",
    "square_roots",
    "standing",
    "student",
    "tanh",
    "text",
    "written",
]
