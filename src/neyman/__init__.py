"""Differential privacy as a hypothesis test.

A guarantee is a trade-off function: the two errors of the best test that distinguishes two
neighbouring datasets. Every name here is loaded when it is first used.

>>> import neyman as ny
>>> f"{ny.gdp(1).epsilon(1e-5):.4f}"
'4.3772'
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neyman import accounting as accounting
    from neyman import audit as audit
    from neyman import curves as curves
    from neyman import errors as errors
    from neyman import functional as functional
    from neyman import mechanisms as mechanisms
    from neyman import plots as plots
    from neyman import publish as publish
    from neyman import report as report
    from neyman import tables as tables
    from neyman import training as training
    from neyman.accounting import EpsilonDelta as EpsilonDelta
    from neyman.accounting import calibrate as calibrate
    from neyman.accounting import dp_sgd as dp_sgd
    from neyman.curves import TradeOff as TradeOff
    from neyman.curves import approx_dp as approx_dp
    from neyman.curves import compose as compose
    from neyman.curves import gdp as gdp
    from neyman.curves import laplace as laplace
    from neyman.curves import poisson as poisson
    from neyman.curves import pure_dp as pure_dp
    from neyman.curves import randomized_response as randomized_response
    from neyman.curves import read as read
    from neyman.curves import zcdp as zcdp
    from neyman.door import release as release
    from neyman.door import release_batch as release_batch
    from neyman.ledger import Ledger as Ledger
    from neyman.mechanisms import Gaussian as Gaussian
    from neyman.mechanisms import Laplace as Laplace
    from neyman.released import Release as Release
    from neyman.session import open as open  # noqa: A004
    from neyman.tables import Bins as Bins
    from neyman.tables import Bounds as Bounds
    from neyman.tables import Entity as Entity
    from neyman.tables import ForeignKey as ForeignKey
    from neyman.tables import Keys as Keys
    from neyman.tables import Rows as Rows
    from neyman.tables import UnknownKeys as UnknownKeys
    from neyman.tables import col as col
    from neyman.tables import lit as lit
    from neyman.tables import open_table as open_table
    from neyman.tables import when as when
    from neyman.training import plan_training as plan_training

__version__ = "0.1.0"

_HOMES = {
    "neyman.accounting": (
        "EpsilonDelta",
        "calibrate",
        "dp_sgd",
    ),
    "neyman.curves": (
        "TradeOff",
        "approx_dp",
        "compose",
        "gdp",
        "laplace",
        "poisson",
        "pure_dp",
        "randomized_response",
        "read",
        "zcdp",
    ),
    "neyman.door": (
        "release",
        "release_batch",
    ),
    "neyman.ledger": ("Ledger",),
    "neyman.mechanisms": (
        "Gaussian",
        "Laplace",
    ),
    "neyman.released": ("Release",),
    "neyman.session": ("open",),
    "neyman.tables": (
        "Bins",
        "Bounds",
        "Entity",
        "ForeignKey",
        "Keys",
        "Rows",
        "UnknownKeys",
        "col",
        "lit",
        "open_table",
        "when",
    ),
    "neyman.training": ("plan_training",),
}
_ROOMS = (
    "accounting",
    "audit",
    "curves",
    "errors",
    "functional",
    "mechanisms",
    "plots",
    "publish",
    "report",
    "tables",
    "training",
)
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Bins",
    "Bounds",
    "Entity",
    "EpsilonDelta",
    "ForeignKey",
    "Gaussian",
    "Keys",
    "Laplace",
    "Ledger",
    "Release",
    "Rows",
    "TradeOff",
    "UnknownKeys",
    "accounting",
    "approx_dp",
    "audit",
    "calibrate",
    "col",
    "compose",
    "curves",
    "dp_sgd",
    "errors",
    "functional",
    "gdp",
    "laplace",
    "lit",
    "mechanisms",
    "open",
    "open_table",
    "plan_training",
    "plots",
    "poisson",
    "publish",
    "pure_dp",
    "randomized_response",
    "read",
    "release",
    "release_batch",
    "report",
    "tables",
    "training",
    "when",
    "zcdp",
]


def __getattr__(name: str) -> object:
    """Return a public name, loaded at its first use (PEP 562)."""
    if name in _ROOMS:
        return import_module(f"neyman.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'neyman' has no attribute {name!r}{_elsewhere(name)}")
    value: object = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def _elsewhere(name: str) -> str:
    """Return where a name is that is not at the top level, as advice."""
    if name.startswith("_"):
        return ""
    for room in ("curves", "accounting", "mechanisms"):
        if name in import_module(f"neyman.{room}").__all__:
            return f"; write neyman.{room}.{name}"
    return ""


def __dir__() -> list[str]:
    """Return the public names, loaded or not."""
    return sorted([*__all__, "__version__"])
