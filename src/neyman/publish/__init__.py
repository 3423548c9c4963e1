"""What a user asks for: a spec of private statistics, planned, priced and published."""

from neyman.publish._functions import density, regression, survival
from neyman.publish._publish import Bill, Plan, Publication, Step, bill, plan, publish
from neyman.publish._spec import Spec, read_spec

__all__ = [
    "Bill",
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
