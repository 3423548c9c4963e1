"""Where randomness is drawn: exactly rounded noise on integers, as private as its formula."""

from neyman.mechanisms._bits import OPERATING_SYSTEM, BitSource, OperatingSystem
from neyman.mechanisms._folded import FoldedLaw
from neyman.mechanisms._gaussian import Gaussian
from neyman.mechanisms._laplace import Laplace
from neyman.mechanisms._mechanism import Mechanism

__all__ = [
    "OPERATING_SYSTEM",
    "BitSource",
    "FoldedLaw",
    "Gaussian",
    "Laplace",
    "Mechanism",
    "OperatingSystem",
]
