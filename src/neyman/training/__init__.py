"""Training: samplers that own their guarantee, plans, run records and what is wrong with a run."""

from neyman.training._epochs import BallsInBins, ShuffledBatches
from neyman.training._finding import Finding
from neyman.training._fixed import FixedBatches
from neyman.training._plan import TrainingPlan, plan_training
from neyman.training._poisson import (
    CyclicPoisson,
    Padded,
    PoissonBatches,
    TruncatedPoissonBatches,
)
from neyman.training._sampler import Batches, IndexArray, Sampler, Share, sampler_from_json
from neyman.training._users import Examples, UserBatches

__all__ = [
    "BallsInBins",
    "Batches",
    "CyclicPoisson",
    "Examples",
    "Finding",
    "FixedBatches",
    "IndexArray",
    "Padded",
    "PoissonBatches",
    "Sampler",
    "Share",
    "ShuffledBatches",
    "TrainingPlan",
    "TruncatedPoissonBatches",
    "UserBatches",
    "plan_training",
    "sampler_from_json",
]
