"""What a user asks for: a spec of private statistics, planned, priced and published."""

from neyman.publish._bias import Bias, bias
from neyman.publish._functions import density, regression, survival
from neyman.publish._publish import Bill, Plan, Publication, Step, bill, plan, publish
from neyman.publish._spec import Spec, read_spec

__all__ = [
    "Bias",
    "Bill",
    "Plan",
    "Publication",
    "Spec",
    "Step",
    "bias",
    "bill",
    "density",
    "plan",
    "publish",
    "read_spec",
    "regression",
    "survival",
]
