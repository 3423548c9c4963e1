"""Training: samplers that own their guarantee, plans, run records, and checks of a run."""

from neyman.training._checks import doctor
from neyman.training._epochs import BallsInBins, ShuffledBatches
from neyman.training._finding import Finding, Findings
from neyman.training._fixed import FixedBatches
from neyman.training._phase import Phase
from neyman.training._plan import TrainingPlan, plan_training
from neyman.training._poisson import (
    CyclicPoisson,
    Padded,
    PoissonBatches,
    TruncatedPoissonBatches,
)
from neyman.training._progress import Progress
from neyman.training._record import Check, RunRecord
from neyman.training._sampler import Batches, IndexArray, Sampler, Share, sampler_from_json
from neyman.training._simulated import SimulatedLosses, simulate_balls_in_bins
from neyman.training._users import Examples, UserBatches

__all__ = [
    "BallsInBins",
    "Batches",
    "Check",
    "CyclicPoisson",
    "Examples",
    "Finding",
    "Findings",
    "FixedBatches",
    "IndexArray",
    "Padded",
    "Phase",
    "PoissonBatches",
    "Progress",
    "RunRecord",
    "Sampler",
    "Share",
    "ShuffledBatches",
    "SimulatedLosses",
    "TrainingPlan",
    "TruncatedPoissonBatches",
    "UserBatches",
    "doctor",
    "plan_training",
    "sampler_from_json",
    "simulate_balls_in_bins",
]
