"""From what was run to a guarantee: training, samplers, events, calibration and filters."""

from neyman.accounting._budget import Amount, Budget, budget_for, cap_of
from neyman.accounting._calibrate import Calibration, calibrate
from neyman.accounting._central_limit import central_limit, central_limit_band
from neyman.accounting._classic import (
    classic_gaussian_sigma,
    hall_gaussian_sigma,
    probabilistic_gaussian_sigma,
)
from neyman.accounting._concentrated_conversions import (
    bun_steinke_delta,
    bun_steinke_epsilon,
    dwork_rothblum_delta,
    dwork_rothblum_epsilon,
    truncated_delta,
    truncated_epsilon,
)
from neyman.accounting._conversions import (
    ASOODEH,
    BRETAGNOLLE_HUBER,
    CANONNE_KAMATH_STEINKE,
    MIRONOV,
    OPTIMAL,
)
from neyman.accounting._correlated_noise import CorrelatedNoise
from neyman.accounting._covariance import (
    OptimalCovariance,
    box_covariance,
    integer_map,
    mahalanobis_squared,
    mapped_sensitivity,
    optimal_covariance,
)
from neyman.accounting._edgeworth import edgeworth
from neyman.accounting._estimate import ConfidentBound, Estimate
from neyman.accounting._events import from_dp_event
from neyman.accounting._filter import (
    Filter,
    GaussianFilter,
    PureFilter,
    filter_for,
    filter_from,
)
from neyman.accounting._functionals import functionals
from neyman.accounting._individual import IndividualSpending
from neyman.accounting._last_iterate import (
    contraction,
    last_iterate,
    last_iterate_bounded,
    last_iterate_cyclic,
)
from neyman.accounting._named_analyses import gaussian_votes, propose_test_release
from neyman.accounting._odometer import LossOdometer
from neyman.accounting._optimised import buffered_strategy, optimised_strategy
from neyman.accounting._participation import FixedEpochs, MinimumSeparation, Once, Participation
from neyman.accounting._rdp_methods import (
    moments_delta,
    moments_epsilon,
    rdp_delta,
    rdp_epsilon,
)
from neyman.accounting._repeated import repeat_and_select
from neyman.accounting._samplers import (
    DOUBLED_POISSON,
    Sampled,
    random_allocation,
    shuffled,
    with_replacement,
    without_replacement,
)
from neyman.accounting._selected import repeat_and_select_profile
from neyman.accounting._shuffled_passes import shuffled_attack, shuffled_passes
from neyman.accounting._spending import (
    AdvancedSpending,
    BudgetSpending,
    RenyiSpending,
    Spending,
)
from neyman.accounting._steps import steps_within
from neyman.accounting._strategies import Strategy, tree_strategy
from neyman.accounting._subsampled_rdp import (
    ODD_MOMENTS,
    poisson_gaussian_rdp,
    poisson_rdp,
    without_replacement_rdp,
)
from neyman.accounting._targets import (
    Advantage,
    BayesError,
    EpsilonDelta,
    MuSlack,
    TprAtFpr,
)
from neyman.accounting._toeplitz import (
    BufferedStrategy,
    ToeplitzStrategy,
    banded_strategy,
    square_root_strategy,
)
from neyman.accounting._training import dp_sgd
from neyman.accounting._truncated import truncated_poisson, truncated_poisson_places
from neyman.accounting._zcdp_filter import ZcdpFilter

__all__ = [
    "ASOODEH",
    "BRETAGNOLLE_HUBER",
    "CANONNE_KAMATH_STEINKE",
    "DOUBLED_POISSON",
    "MIRONOV",
    "ODD_MOMENTS",
    "OPTIMAL",
    "AdvancedSpending",
    "Advantage",
    "Amount",
    "BayesError",
    "Budget",
    "BudgetSpending",
    "BufferedStrategy",
    "Calibration",
    "ConfidentBound",
    "CorrelatedNoise",
    "EpsilonDelta",
    "Estimate",
    "Filter",
    "FixedEpochs",
    "GaussianFilter",
    "IndividualSpending",
    "LossOdometer",
    "MinimumSeparation",
    "MuSlack",
    "Once",
    "OptimalCovariance",
    "Participation",
    "PureFilter",
    "RenyiSpending",
    "Sampled",
    "Spending",
    "Strategy",
    "ToeplitzStrategy",
    "TprAtFpr",
    "ZcdpFilter",
    "banded_strategy",
    "box_covariance",
    "budget_for",
    "buffered_strategy",
    "bun_steinke_delta",
    "bun_steinke_epsilon",
    "calibrate",
    "cap_of",
    "central_limit",
    "central_limit_band",
    "classic_gaussian_sigma",
    "contraction",
    "dp_sgd",
    "dwork_rothblum_delta",
    "dwork_rothblum_epsilon",
    "edgeworth",
    "filter_for",
    "filter_from",
    "from_dp_event",
    "functionals",
    "gaussian_votes",
    "hall_gaussian_sigma",
    "integer_map",
    "last_iterate",
    "last_iterate_bounded",
    "last_iterate_cyclic",
    "mahalanobis_squared",
    "mapped_sensitivity",
    "moments_delta",
    "moments_epsilon",
    "optimal_covariance",
    "optimised_strategy",
    "poisson_gaussian_rdp",
    "poisson_rdp",
    "probabilistic_gaussian_sigma",
    "propose_test_release",
    "random_allocation",
    "rdp_delta",
    "rdp_epsilon",
    "repeat_and_select",
    "repeat_and_select_profile",
    "shuffled",
    "shuffled_attack",
    "shuffled_passes",
    "square_root_strategy",
    "steps_within",
    "tree_strategy",
    "truncated_delta",
    "truncated_epsilon",
    "truncated_poisson",
    "truncated_poisson_places",
    "with_replacement",
    "without_replacement",
    "without_replacement_rdp",
]
