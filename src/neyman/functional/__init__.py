"""Private functions: densities, survival curves, regressions and quantiles as releases."""

from neyman.functional._abstract import Function, NoisyCount
from neyman.functional._arrays import Units
from neyman.functional._bases._basis import Basis
from neyman.functional._bases._domain import Box, Circle, Domain, Interval, ScaledInterval, Side
from neyman.functional._bases._field_basis import FieldBasis
from neyman.functional._bases._scale import Asinh, Log, Scale
from neyman.functional._bases._target import (
    Cumulative,
    Density,
    Octaves,
    Scales,
    Target,
    Weights,
)
from neyman.functional._densities._band import Band
from neyman.functional._densities._bandwidth import pilot_bandwidth, select_bandwidth
from neyman.functional._densities._density import Risk, density, density_of, normal_risk
from neyman.functional._densities._density_function import DensityFunction
from neyman.functional._densities._field import ReleasedField
from neyman.functional._densities._function import ReleasedFunction
from neyman.functional._densities._grouped import GroupedDensity
from neyman.functional._densities._masses import MassFunction, masses
from neyman.functional._densities._proper import ProperDensity, TabulatedDensity
from neyman.functional._densities._released import OutsideCounts, ReleasedDensity
from neyman.functional._functions import Functions
from neyman.functional._gaussian_processes._curve_mean import curve_mean, mean_norm
from neyman.functional._gaussian_processes._density_values import density_at, density_norm
from neyman.functional._gaussian_processes._interpolant import Interpolant
from neyman.functional._gaussian_processes._kernels import Kernel, Matern, SquaredExponential
from neyman.functional._gaussian_processes._losses import Hinge, Huber, Logistic, Loss
from neyman.functional._gaussian_processes._machine import kernel_machine, machine_norm
from neyman.functional._gaussian_processes._matern_path import MaternPath
from neyman.functional._gaussian_processes._simulated import simulate_grid
from neyman.functional._generator import Generator
from neyman.functional._lifetimes._logrank import LogRank, logrank
from neyman.functional._lifetimes._survival import survival, survival_of
from neyman.functional._lifetimes._survival_curve import SurvivalCurve
from neyman.functional._quantiles._quantiles import quantiles, quantiles_of
from neyman.functional._records import (
    function,
    functions,
    load,
    load_functions,
    read,
    read_functions,
    save,
)
from neyman.functional._regressions._additive import additive_regression
from neyman.functional._regressions._additive_curve import AdditiveCurve, Effect
from neyman.functional._regressions._additive_terms import AdditiveTerms
from neyman.functional._regressions._regression import regression, regression_of
from neyman.functional._regressions._regression_curve import RegressionCurve
from neyman.functional._regressions._regression_fit import RegressionFit

__all__ = [
    "AdditiveCurve",
    "AdditiveTerms",
    "Asinh",
    "Band",
    "Basis",
    "Box",
    "Circle",
    "Cumulative",
    "Density",
    "DensityFunction",
    "Domain",
    "Effect",
    "FieldBasis",
    "Function",
    "Functions",
    "Generator",
    "GroupedDensity",
    "Hinge",
    "Huber",
    "Interpolant",
    "Interval",
    "Kernel",
    "Log",
    "LogRank",
    "Logistic",
    "Loss",
    "MassFunction",
    "Matern",
    "MaternPath",
    "NoisyCount",
    "Octaves",
    "OutsideCounts",
    "ProperDensity",
    "RegressionCurve",
    "RegressionFit",
    "ReleasedDensity",
    "ReleasedField",
    "ReleasedFunction",
    "Risk",
    "Scale",
    "ScaledInterval",
    "Scales",
    "Side",
    "SquaredExponential",
    "SurvivalCurve",
    "TabulatedDensity",
    "Target",
    "Units",
    "Weights",
    "additive_regression",
    "curve_mean",
    "density",
    "density_at",
    "density_norm",
    "density_of",
    "function",
    "functions",
    "kernel_machine",
    "load",
    "load_functions",
    "logrank",
    "machine_norm",
    "masses",
    "mean_norm",
    "normal_risk",
    "pilot_bandwidth",
    "quantiles",
    "quantiles_of",
    "read",
    "read_functions",
    "regression",
    "regression_of",
    "save",
    "select_bandwidth",
    "simulate_grid",
    "survival",
    "survival_of",
]
