"""What a user asks for: a spec of private statistics, planned, priced and published."""

from neyman.publish import _section as _section  # first: it says which extra is missing

from neyman.publish._functions import density, regression, survival  # isort: skip
from neyman.publish._publish import Bill, Charge, Plan, Publication, Step, bill, plan, publish
from neyman.publish._read import read_spec
from neyman.publish._spec import Spec

__all__ = [
    "Bill",
    "Charge",
    "Plan",
    "Publication",
    "Spec",
    "Step",
    "bill",
    "density",
    "plan",
    "publish",
    "read_spec",
    "regression",
    "survival",
]
