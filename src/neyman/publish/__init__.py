"""What a user asks for: a spec of private statistics, planned, priced and published."""

from neyman.publish import _section as _section  # first: it says which extra is missing

from neyman.publish._bias import Bias, bias  # isort: skip
from neyman.publish._contingency import contingency  # isort: skip
from neyman.publish._contingency_table import ContingencyTable, NonNegativeTable  # isort: skip
from neyman.publish._functions import density, regression, survival  # isort: skip
from neyman.publish._bill import Bill
from neyman.publish._compile import plan
from neyman.publish._crosstab import crosstab
from neyman.publish._fit import Fitted, Wish, fit
from neyman.publish._likeness import Likeness, likeness
from neyman.publish._linear import linear_regression
from neyman.publish._margins import margins
from neyman.publish._plan import Charge, Plan, Step, bill
from neyman.publish._plan_preview import ChargePreview, PlanPreview
from neyman.publish._preview import Preview, preview
from neyman.publish._publish import Publication, publish
from neyman.publish._quantiles import quantiles
from neyman.publish._read import read_spec
from neyman.publish._rehearsal import NOTICE as NOTICE
from neyman.publish._rehearsal import Rehearsal, RehearsedGroup, RehearsedNumber, Searched
from neyman.publish._rehearse import rehearse
from neyman.publish._schema import json_schema
from neyman.publish._spec import Spec
from neyman.publish._template import template

__all__ = [
    "Bias",
    "Bill",
    "Charge",
    "ChargePreview",
    "ContingencyTable",
    "Fitted",
    "Likeness",
    "NonNegativeTable",
    "Plan",
    "PlanPreview",
    "Preview",
    "Publication",
    "Rehearsal",
    "RehearsedGroup",
    "RehearsedNumber",
    "Searched",
    "Spec",
    "Step",
    "Wish",
    "bias",
    "bill",
    "contingency",
    "crosstab",
    "density",
    "fit",
    "json_schema",
    "likeness",
    "linear_regression",
    "margins",
    "plan",
    "preview",
    "publish",
    "quantiles",
    "read_spec",
    "regression",
    "rehearse",
    "survival",
    "template",
]
