"""Differential privacy as a hypothesis test.

A guarantee is a trade-off function: the two errors of the best test that tells two neighbouring
datasets apart. Every name here is loaded when it is first used.

>>> import neyman as ny
>>> f"{ny.gdp(1).epsilon(1e-5):.4f}"
'4.3772'
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neyman import accounting as accounting
    from neyman import errors as errors
    from neyman import functional as functional
    from neyman import plots as plots
    from neyman import publish as publish
    from neyman import report as report
    from neyman.accounting import Advantage as Advantage
    from neyman.accounting import BayesError as BayesError
    from neyman.accounting import Calibration as Calibration
    from neyman.accounting import EpsilonDelta as EpsilonDelta
    from neyman.accounting import MuSlack as MuSlack
    from neyman.accounting import TprAtFpr as TprAtFpr
    from neyman.accounting import calibrate as calibrate
    from neyman.accounting import dp_sgd as dp_sgd
    from neyman.accounting import from_dp_event as from_dp_event
    from neyman.accounting import random_allocation as random_allocation
    from neyman.aggregate import Aggregate as Aggregate
    from neyman.door import release as release
    from neyman.door import release_batch as release_batch
    from neyman.ledger import Ledger as Ledger
    from neyman.mechanisms import Canonical as Canonical
    from neyman.mechanisms import DiscreteGaussian as DiscreteGaussian
    from neyman.mechanisms import DiscreteLaplace as DiscreteLaplace
    from neyman.mechanisms import Gaussian as Gaussian
    from neyman.mechanisms import Laplace as Laplace
    from neyman.mechanisms import RandomizedResponse as RandomizedResponse
    from neyman.mechanisms import Staircase as Staircase
    from neyman.mechanisms import Thresholded as Thresholded
    from neyman.released import Guarantee as Guarantee
    from neyman.released import Release as Release
    from neyman.sensitivity import Sensitivity as Sensitivity
    from neyman.session import open as open  # noqa: A004
    from neyman.tables import Bins as Bins
    from neyman.tables import Bounds as Bounds
    from neyman.tables import Entity as Entity
    from neyman.tables import ForeignKey as ForeignKey
    from neyman.tables import Keys as Keys
    from neyman.tables import Rows as Rows
    from neyman.tables import Table as Table
    from neyman.tables import UnknownKeys as UnknownKeys
    from neyman.tables import col as col
    from neyman.tables import lit as lit
    from neyman.tables import open_table as open_table
    from neyman.tables import when as when
    from neyman.tradeoff import Answer as Answer
    from neyman.tradeoff import TradeOff as TradeOff
    from neyman.tradeoff import approx_dp as approx_dp
    from neyman.tradeoff import approx_dp_points as approx_dp_points
    from neyman.tradeoff import best as best
    from neyman.tradeoff import bounded_range as bounded_range
    from neyman.tradeoff import by_lattice as by_lattice
    from neyman.tradeoff import cdp as cdp
    from neyman.tradeoff import chain as chain
    from neyman.tradeoff import compare as compare
    from neyman.tradeoff import compose as compose
    from neyman.tradeoff import densities as densities
    from neyman.tradeoff import discrete as discrete
    from neyman.tradeoff import discrete_gaussian as discrete_gaussian
    from neyman.tradeoff import discrete_laplace as discrete_laplace
    from neyman.tradeoff import errors_of_test as errors_of_test
    from neyman.tradeoff import gaussian_mixture as gaussian_mixture
    from neyman.tradeoff import gaussian_report as gaussian_report
    from neyman.tradeoff import gdp as gdp
    from neyman.tradeoff import group as group
    from neyman.tradeoff import identity as identity
    from neyman.tradeoff import laplace as laplace
    from neyman.tradeoff import levy_distance as levy_distance
    from neyman.tradeoff import likelihood_ratio_test as likelihood_ratio_test
    from neyman.tradeoff import mixture as mixture
    from neyman.tradeoff import of_curve as of_curve
    from neyman.tradeoff import of_profile as of_profile
    from neyman.tradeoff import piecewise as piecewise
    from neyman.tradeoff import piecewise_hull as piecewise_hull
    from neyman.tradeoff import poisson as poisson
    from neyman.tradeoff import poisson_replace as poisson_replace
    from neyman.tradeoff import privacy_loss as privacy_loss
    from neyman.tradeoff import pure_dp as pure_dp
    from neyman.tradeoff import randomized_response as randomized_response
    from neyman.tradeoff import rdp as rdp
    from neyman.tradeoff import read as read
    from neyman.tradeoff import renyi_divergence as renyi_divergence
    from neyman.tradeoff import roc_area as roc_area
    from neyman.tradeoff import staircase as staircase
    from neyman.tradeoff import subgaussian as subgaussian
    from neyman.tradeoff import subsample as subsample
    from neyman.tradeoff import sup_distance as sup_distance
    from neyman.tradeoff import symmetric_hull as symmetric_hull
    from neyman.tradeoff import tcdp as tcdp
    from neyman.tradeoff import truncated_rho as truncated_rho
    from neyman.tradeoff import worst as worst
    from neyman.tradeoff import zcdp as zcdp

__version__ = "0.1.0"

_HOMES = {
    "neyman.accounting": (
        "Advantage",
        "BayesError",
        "Calibration",
        "EpsilonDelta",
        "MuSlack",
        "TprAtFpr",
        "calibrate",
        "compose",
        "dp_sgd",
        "from_dp_event",
        "random_allocation",
    ),
    "neyman.aggregate": ("Aggregate",),
    "neyman.door": ("release", "release_batch"),
    "neyman.ledger": ("Ledger",),
    "neyman.mechanisms": (
        "Canonical",
        "DiscreteGaussian",
        "DiscreteLaplace",
        "Gaussian",
        "Laplace",
        "RandomizedResponse",
        "Staircase",
        "Thresholded",
    ),
    "neyman.released": ("Guarantee", "Release"),
    "neyman.sensitivity": ("Sensitivity",),
    "neyman.session": ("open",),
    "neyman.tables": (
        "Bins",
        "Bounds",
        "Entity",
        "ForeignKey",
        "Keys",
        "Rows",
        "Table",
        "UnknownKeys",
        "col",
        "lit",
        "open_table",
        "when",
    ),
    "neyman.tradeoff": (
        "Answer",
        "TradeOff",
        "approx_dp",
        "best",
        "bounded_range",
        "by_lattice",
        "cdp",
        "compose",
        "sup_distance",
        "subsample",
        "roc_area",
        "levy_distance",
        "gaussian_report",
        "compare",
        "densities",
        "discrete",
        "discrete_gaussian",
        "discrete_laplace",
        "errors_of_test",
        "gaussian_mixture",
        "gdp",
        "group",
        "identity",
        "laplace",
        "likelihood_ratio_test",
        "mixture",
        "poisson",
        "poisson_replace",
        "privacy_loss",
        "pure_dp",
        "randomized_response",
        "rdp",
        "read",
        "renyi_divergence",
        "approx_dp_points",
        "chain",
        "of_curve",
        "of_profile",
        "piecewise",
        "piecewise_hull",
        "symmetric_hull",
        "tcdp",
        "truncated_rho",
        "staircase",
        "subgaussian",
        "worst",
        "zcdp",
    ),
}
_ROOMS = ("accounting", "errors", "functional", "plots", "publish", "report")
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Advantage",
    "Aggregate",
    "Answer",
    "BayesError",
    "Bins",
    "Bounds",
    "Calibration",
    "Canonical",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Entity",
    "EpsilonDelta",
    "ForeignKey",
    "Gaussian",
    "Guarantee",
    "Keys",
    "Laplace",
    "Ledger",
    "MuSlack",
    "RandomizedResponse",
    "Release",
    "Rows",
    "Sensitivity",
    "Staircase",
    "Table",
    "Thresholded",
    "TprAtFpr",
    "TradeOff",
    "UnknownKeys",
    "accounting",
    "approx_dp",
    "approx_dp_points",
    "best",
    "bounded_range",
    "by_lattice",
    "calibrate",
    "cdp",
    "chain",
    "col",
    "compare",
    "compose",
    "densities",
    "discrete",
    "discrete_gaussian",
    "discrete_laplace",
    "dp_sgd",
    "errors",
    "errors_of_test",
    "from_dp_event",
    "functional",
    "gaussian_mixture",
    "gaussian_report",
    "gdp",
    "group",
    "identity",
    "laplace",
    "levy_distance",
    "likelihood_ratio_test",
    "lit",
    "mixture",
    "of_curve",
    "of_profile",
    "open",
    "open_table",
    "piecewise",
    "piecewise_hull",
    "plots",
    "poisson",
    "poisson_replace",
    "privacy_loss",
    "publish",
    "pure_dp",
    "random_allocation",
    "randomized_response",
    "rdp",
    "read",
    "release",
    "release_batch",
    "renyi_divergence",
    "report",
    "roc_area",
    "staircase",
    "subgaussian",
    "subsample",
    "sup_distance",
    "symmetric_hull",
    "tcdp",
    "truncated_rho",
    "when",
    "worst",
    "zcdp",
]


def __getattr__(name: str) -> object:
    """Load a public name at its first use (PEP 562)."""
    if name in _ROOMS:
        return import_module(f"neyman.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'neyman' has no attribute {name!r}")
    value: object = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted([*__all__, "__version__"])
