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
    from neyman import errors as errors
    from neyman import plots as plots
    from neyman import publish as publish
    from neyman import report as report
    from neyman.aggregate import Aggregate as Aggregate
    from neyman.door import release as release
    from neyman.ledger import Ledger as Ledger
    from neyman.mechanisms import Gaussian as Gaussian
    from neyman.mechanisms import Laplace as Laplace
    from neyman.numerics import Bracket as Bracket
    from neyman.released import Guarantee as Guarantee
    from neyman.released import Release as Release
    from neyman.sensitivity import Sensitivity as Sensitivity
    from neyman.tables import Bounds as Bounds
    from neyman.tables import Entity as Entity
    from neyman.tables import Keys as Keys
    from neyman.tables import Rows as Rows
    from neyman.tables import Table as Table
    from neyman.tables import open_table as open_table
    from neyman.tradeoff import TradeOff as TradeOff
    from neyman.tradeoff import approx_dp as approx_dp
    from neyman.tradeoff import gdp as gdp
    from neyman.tradeoff import identity as identity
    from neyman.tradeoff import laplace as laplace
    from neyman.tradeoff import pure_dp as pure_dp

__version__ = "0.1.0"

_HOMES = {
    "neyman.aggregate": ("Aggregate",),
    "neyman.door": ("release",),
    "neyman.ledger": ("Ledger",),
    "neyman.mechanisms": ("Gaussian", "Laplace"),
    "neyman.numerics": ("Bracket",),
    "neyman.released": ("Guarantee", "Release"),
    "neyman.sensitivity": ("Sensitivity",),
    "neyman.tables": ("Bounds", "Entity", "Keys", "Rows", "Table", "open_table"),
    "neyman.tradeoff": ("TradeOff", "approx_dp", "gdp", "identity", "laplace", "pure_dp"),
}
_ROOMS = ("errors", "plots", "publish", "report")
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Aggregate",
    "Bounds",
    "Bracket",
    "Entity",
    "Gaussian",
    "Guarantee",
    "Keys",
    "Laplace",
    "Ledger",
    "Release",
    "Rows",
    "Sensitivity",
    "Table",
    "TradeOff",
    "approx_dp",
    "errors",
    "gdp",
    "identity",
    "laplace",
    "open_table",
    "plots",
    "publish",
    "pure_dp",
    "release",
    "report",
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
