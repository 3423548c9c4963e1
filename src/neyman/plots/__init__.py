"""Pictures with matplotlib (extra `plots`). Each function draws an object and returns a Figure."""

from neyman.plots._svg import to_svg  # first: it says which extra is missing

from neyman.plots._audits import audit, one_run, wealth  # isort: skip
from neyman.plots._curves import tradeoff  # isort: skip
from neyman.plots._fields import heatmap  # isort: skip
from neyman.plots._functions import density, effects, regression, survival  # isort: skip
from neyman.plots._losses import privacy_loss  # isort: skip
from neyman.plots._quantiles import quantiles  # isort: skip
from neyman.plots._releases import released  # isort: skip
from neyman.plots._training import epsilon_over_steps  # isort: skip
from neyman.plots._views import profile, renyi  # isort: skip

__all__ = [
    "audit",
    "density",
    "effects",
    "epsilon_over_steps",
    "heatmap",
    "one_run",
    "privacy_loss",
    "profile",
    "quantiles",
    "regression",
    "released",
    "renyi",
    "survival",
    "to_svg",
    "tradeoff",
    "wealth",
]
