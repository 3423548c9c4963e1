"""What a guarantee is: trade-off functions, their views and their algebra.

No randomness and no data are known here.
"""

from neyman.curves._algebra._group import chain, gaussian_mixture, group, poisson_replace
from neyman.curves._algebra._subsample import subsample
from neyman.curves._curve import Answer, Curve
from neyman.curves._distances import (
    Comparison,
    GaussianReport,
    compare,
    gaussian_report,
    levy_distance,
    roc_area,
    sup_distance,
)
from neyman.curves._divergences._divergence import renyi_divergence
from neyman.curves._formulas import Summaries, Views
from neyman.curves._leaf import Leaf, LossTails
from neyman.curves._likelihood_ratio import (
    LikelihoodRatioTest,
    densities,
    errors_of_test,
    likelihood_ratio_test,
)
from neyman.curves._named._constructors import (
    approx_dp,
    gdp,
    identity,
    laplace,
    poisson,
    pure_dp,
    randomized_response,
)
from neyman.curves._named._discrete_constructors import (
    discrete,
    discrete_gaussian,
    discrete_laplace,
    staircase,
)
from neyman.curves._named._joined_constructors import (
    best,
    compose,
    dominated_by,
    mixture,
    symmetric_hull,
    worst,
)
from neyman.curves._named._selection_constructors import bounded_range
from neyman.curves._pair import Pair, Tails
from neyman.curves._piecewise import (
    approx_dp_points,
    of_curve,
    of_profile,
    piecewise,
    piecewise_hull,
)
from neyman.curves._privacy_loss import LossDistribution, PrivacyLoss, privacy_loss
from neyman.curves._solvers._solver import Auto, Contour, Lattice, Solver
from neyman.curves._statements._concentrated import Subgaussian, subgaussian, truncated_rho
from neyman.curves._statements._real_line_constructors import cdp, rdp, tcdp, zcdp
from neyman.curves._tradeoff import TradeOff, read

__all__ = [
    "Answer",
    "Auto",
    "Comparison",
    "Contour",
    "Curve",
    "GaussianReport",
    "Lattice",
    "Leaf",
    "LikelihoodRatioTest",
    "LossDistribution",
    "LossTails",
    "Pair",
    "PrivacyLoss",
    "Solver",
    "Subgaussian",
    "Summaries",
    "Tails",
    "TradeOff",
    "Views",
    "approx_dp",
    "approx_dp_points",
    "best",
    "bounded_range",
    "cdp",
    "chain",
    "compare",
    "compose",
    "densities",
    "discrete",
    "discrete_gaussian",
    "discrete_laplace",
    "dominated_by",
    "errors_of_test",
    "gaussian_mixture",
    "gaussian_report",
    "gdp",
    "group",
    "identity",
    "laplace",
    "levy_distance",
    "likelihood_ratio_test",
    "mixture",
    "of_curve",
    "of_profile",
    "piecewise",
    "piecewise_hull",
    "poisson",
    "poisson_replace",
    "privacy_loss",
    "pure_dp",
    "randomized_response",
    "rdp",
    "read",
    "renyi_divergence",
    "roc_area",
    "staircase",
    "subgaussian",
    "subsample",
    "sup_distance",
    "symmetric_hull",
    "tcdp",
    "truncated_rho",
    "worst",
    "zcdp",
]
