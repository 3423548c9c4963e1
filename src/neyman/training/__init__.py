"""Training: samplers that own their guarantee, plans, run records and what is wrong with a run."""

from neyman.training._finding import Finding
from neyman.training._sampler import IndexArray, Sampler
from neyman.training._simulated import SimulatedLosses, simulate_balls_in_bins

__all__ = ["Finding", "IndexArray", "Sampler", "SimulatedLosses", "simulate_balls_in_bins"]
