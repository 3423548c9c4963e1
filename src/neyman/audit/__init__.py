"""Evidence against a claim, with error rates that are exact."""

from neyman.audit._aligned import aligned_scores
from neyman.audit._band import CurveBand, curve_band
from neyman.audit._black_box import MechanismAudit, mechanism
from neyman.audit._bounds import epsilon, mu
from neyman.audit._canaries import Canaries, InsertedTokens, Mislabelled, canaries
from neyman.audit._lines import ErrorRates
from neyman.audit._lower_bound import LowerBound
from neyman.audit._one_run import Guesses, OneRun, one_run
from neyman.audit._power import plan
from neyman.audit._refute import Verdict, refute
from neyman.audit._rule import Rule
from neyman.audit._sampler import SamplerAudit, sampler
from neyman.audit._sequential import Sequential
from neyman.audit._statistic import Counts

__all__ = [
    "Canaries",
    "Counts",
    "CurveBand",
    "ErrorRates",
    "Guesses",
    "InsertedTokens",
    "LowerBound",
    "MechanismAudit",
    "Mislabelled",
    "OneRun",
    "Rule",
    "SamplerAudit",
    "Sequential",
    "Verdict",
    "aligned_scores",
    "canaries",
    "curve_band",
    "epsilon",
    "mechanism",
    "mu",
    "one_run",
    "plan",
    "refute",
    "sampler",
]
