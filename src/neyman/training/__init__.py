"""Training: samplers that own their guarantee, plans, run records and what is wrong with a run."""

from neyman.training._finding import Finding
from neyman.training._plan import TrainingPlan, plan_training
from neyman.training._sampler import IndexArray, Sampler

__all__ = ["Finding", "IndexArray", "Sampler", "TrainingPlan", "plan_training"]
