"""Evidence against a claim, with error rates that are exact."""

from neyman.audit._black_box import MechanismAudit, mechanism
from neyman.audit._bounds import LowerBound, epsilon, mu
from neyman.audit._one_run import Guesses, OneRun, one_run
from neyman.audit._power import plan
from neyman.audit._refute import Verdict, refute
from neyman.audit._rule import Rule
from neyman.audit._sampler import SamplerAudit, sampler
from neyman.audit._sequential import Sequential
from neyman.audit._statistic import Counts

__all__ = [
    "Counts",
    "Guesses",
    "LowerBound",
    "MechanismAudit",
    "OneRun",
    "Rule",
    "SamplerAudit",
    "Sequential",
    "Verdict",
    "epsilon",
    "mechanism",
    "mu",
    "one_run",
    "plan",
    "refute",
    "sampler",
]
