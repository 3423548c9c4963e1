"""Training: samplers that own their guarantee, plans, run records and what is wrong with a run."""

from neyman.training._checks import doctor
from neyman.training._finding import Finding
from neyman.training._phase import Phase
from neyman.training._progress import Progress
from neyman.training._record import Check, RunRecord
from neyman.training._sampler import IndexArray, Sampler

__all__ = ["Check", "Finding", "IndexArray", "Phase", "Progress", "RunRecord", "Sampler", "doctor"]
