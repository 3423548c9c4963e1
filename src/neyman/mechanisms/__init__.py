"""Noise mechanisms: exactly rounded noise on integers, as private as its formula."""

from neyman.mechanisms._above_threshold import AboveThreshold
from neyman.mechanisms._bits import OPERATING_SYSTEM, BitSource, OperatingSystem
from neyman.mechanisms._canonical import Canonical
from neyman.mechanisms._discrete_gaussian import DiscreteGaussian
from neyman.mechanisms._discrete_laplace import DiscreteLaplace
from neyman.mechanisms._exponential import ExponentialMechanism
from neyman.mechanisms._folded import FoldedLaw
from neyman.mechanisms._gaussian import Gaussian
from neyman.mechanisms._laplace import Laplace
from neyman.mechanisms._law import NoiseLaw
from neyman.mechanisms._mechanism import Mechanism
from neyman.mechanisms._named import NOISES, USUAL_NOISES, NamedNoise, noise_charged
from neyman.mechanisms._noisy_max import ReportNoisyMax
from neyman.mechanisms._permute_and_flip import PermuteAndFlip
from neyman.mechanisms._propose_test_release import ProposeTestRelease
from neyman.mechanisms._randomized_response import Frequencies, RandomizedResponse
from neyman.mechanisms._selection import Selection
from neyman.mechanisms._staircase import Staircase
from neyman.mechanisms._tabled import TabledLaw
from neyman.mechanisms._thresholded import Thresholded

__all__ = [
    "NOISES",
    "OPERATING_SYSTEM",
    "USUAL_NOISES",
    "AboveThreshold",
    "BitSource",
    "Canonical",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "ExponentialMechanism",
    "FoldedLaw",
    "Frequencies",
    "Gaussian",
    "Laplace",
    "Mechanism",
    "NamedNoise",
    "NoiseLaw",
    "OperatingSystem",
    "PermuteAndFlip",
    "ProposeTestRelease",
    "RandomizedResponse",
    "ReportNoisyMax",
    "Selection",
    "Staircase",
    "TabledLaw",
    "Thresholded",
    "noise_charged",
]
