"""The functions that formulas over intervals are made of, each with its stated error.

Each is monotone: an end of the argument gives an end of the value, moved outwards by the error that
is stated here and nowhere else. tests/numerics/test_primitives.py holds every row of `PRIMITIVES`
against ball arithmetic over its whole range; docs/theory/rounding.md prints the table with the
worst error found. A function enters by a row.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias, final

import numpy as np

from neyman.numerics._interval import Array, Interval, Operand, interval, quiet
from neyman.numerics._special import erf as scipy_erf
from neyman.numerics._special import erfcx, erfinv, log_ndtr, ndtr, ndtri

__all__ = [
    "PI",
    "PRIMITIVES",
    "Primitive",
    "asinh",
    "atan",
    "atanh",
    "erf",
    "erf_inverse",
    "exp",
    "expm1",
    "log",
    "log1mexp",
    "log1p",
    "log1p_gap",
    "log_growth",
    "log_peak",
    "log_phi",
    "log_running",
    "log_sinhc",
    "log_sum",
    "log_total",
    "logistic",
    "mills",
    "normal_log_sf",
    "normal_quantile",
    "normal_sf",
    "phi",
    "psi",
    "sinh",
    "softplus",
    "tanh",
]

Ulps: TypeAlias = Callable[[Array], Array] | float

_UNIT, _LINE = 2.0**-52, (-math.inf, math.inf)
_MOST, _LEAST = np.asarray(np.finfo(np.float64).max), np.asarray(np.finfo(np.float64).min)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Primitive:
    """A monotone function of the library, with the error that is assumed of it.

    Attributes:
        name: as in the formulas.
        function: in doubles.
        ulps: its relative error in units of 2^-52, or that at x.
        absolute: what comes to it, in units of 2^-52.
        domain: the least and the largest argument; an end beyond is moved there.
        values: the least and the largest value.
        falling: whether it decreases.
        zero: the argument at which it is exactly 0; nan if none.
    """

    name: str
    function: Callable[[Array], Array]
    ulps: Ulps
    absolute: float = 0.0
    domain: tuple[float, float] = _LINE
    values: tuple[float, float] = _LINE
    falling: bool = False
    zero: float = math.nan

    # What is the same in every call.
    _relative: Array = field(init=False)
    _absolute: Array = field(init=False)

    def __post_init__(self) -> None:
        """One unit more, for what follows."""
        units = 0.0 if callable(self.ulps) else self.ulps
        object.__setattr__(self, "_relative", np.asarray((units + 1) * _UNIT))
        object.__setattr__(self, "_absolute", np.asarray(self.absolute * _UNIT + 5e-324))

    @quiet
    def __call__(self, x: Operand) -> Interval:
        """Return what holds the function's value, or all its values on an interval."""
        lower, upper = interval(x)
        if lower is upper:
            inside = self._inside(lower)
            value = self.function(inside)
            error = self._error(inside, value)
            return Interval(self._end(value, error, -1), self._end(value, error, 1))
        low, high = self._inside(lower), self._inside(upper)
        low, high = (high, low) if self.falling else (low, high)
        least, most = self.function(low), self.function(high)
        return Interval(
            self._end(least, self._error(low, least), -1),
            self._end(most, self._error(high, most), 1),
        )

    def _inside(self, x: Array) -> Array:
        least, most = self.domain
        x = x if math.isinf(least) else np.maximum(x, least)
        return x if math.isinf(most) else np.minimum(x, most)

    def _error(self, x: Array, y: Array) -> Array:
        # An infinite value is off by nothing that matters.
        share = (self.ulps(x) + 1) * _UNIT if callable(self.ulps) else self._relative
        error = np.minimum(np.abs(y), _MOST) * share + self._absolute
        return error * (x != self.zero) if self.zero == self.zero else error

    def _end(self, y: Array, error: Array, side: int) -> Array:
        # What overflows is finite; what is infinite at an end of the domain is a pole.
        least, most = self.values
        if side < 0:
            low = np.minimum(y, _MOST) - error
            return low if math.isinf(least) else np.maximum(low, least)
        high = (np.maximum(y, _LEAST) if self.domain == _LINE else y) + error
        return high if math.isinf(most) else np.minimum(high, most)


def _tail(x: Array) -> Array:
    """Return x^2 below 0, for values that end within 40 of it."""
    far = np.minimum(np.maximum(-x, 0.0), 100.0)
    return far * far


# -- functions that the library has only in parts -------------------------------------------------

# The double below pi, and the one above.
PI: Final = Interval(np.asarray(math.pi), np.asarray(math.nextafter(math.pi, 4.0)))
_ROOT_HALF_PI = math.sqrt(math.pi / 2)
_ROOT_TWO = math.sqrt(2)
_HALF_LOG = -math.log(2)
# Below it `ndtr` gives 0 too early.
_FAR_TAIL = -30.0
# Where 1 - x R(x) turns into its fraction, and how deep that is from where on.
_FRACTION_FROM = 4.0
_DEPTHS = ((4.0, 42), (8.0, 18))


def _phi(x: Array) -> Array:
    near = ndtr(x)
    if not np.any(x < _FAR_TAIL):
        return near
    return np.where(x < _FAR_TAIL, np.exp(log_ndtr(np.minimum(x, _FAR_TAIL))), near)


def _mills(x: Array) -> Array:
    return _ROOT_HALF_PI * erfcx(x / _ROOT_TWO)


def _psi(x: Array) -> Array:
    """Return 1 - x R(x); in the tail R(x) / (x + 2/(x + 3/(x + ...))), whose terms are positive."""
    ratio = _mills(x)
    value = np.asarray(1 - x * ratio)
    if not np.any(x > _FRACTION_FROM):
        return value
    for k, (start, depth) in enumerate(_DEPTHS):
        end = _DEPTHS[k + 1][0] if k + 1 < len(_DEPTHS) else math.inf
        there = (x > start) & (x <= end)
        tail = places = np.asarray(x)[there]
        if places.size:
            for term in range(depth, 1, -1):
                tail = places + term / tail
            value[there] = np.asarray(ratio)[there] / tail
    return value


def log_total(terms: Interval) -> Interval:
    """Return the logarithm of the sum of e^x along the last axis, relative to the largest."""
    top: Array = np.max(terms.upper, axis=-1)
    none = top == -np.inf
    shift = np.where(none, 0.0, top)
    found = log(exp(terms - shift[..., None]).total(axis=-1)) + shift
    return Interval(np.where(none, top, found.lower), np.where(none, top, found.upper))


def _log1mexp(x: Array) -> Array:
    near = x > _HALF_LOG
    return np.where(
        near, np.log(-np.expm1(np.where(near, x, -1.0))), np.log1p(-np.exp(np.minimum(x, -0.5)))
    )


# Up to it log(sinh(x)/x) is x^2/6 (1 + x^2/20 (1 + ...)).
_SINHC_TERMS = 9


def _log_sinhc(x: Array) -> Array:
    small = np.minimum(x, 1.0) ** 2
    series = np.ones_like(small)
    for k in range(_SINHC_TERMS, 0, -1):
        series = 1 + small / ((2 * k + 2) * (2 * k + 3)) * series
    large = np.clip(x, 1.0, _MOST)
    far = large - np.log(large) + _HALF_LOG + np.log1p(-np.exp(-2 * large))
    return np.where(x < 1, np.log1p(small / 6 * series), far)


# Up to it x - log(1 + x) is summed: x v - 2 v^3 (1/3 + v^2/5 + ...), v = x/(2 + x).
_NEAR = 0.25
_ODD = tuple(1 / k for k in range(3, 19, 2))


def _logistic(x: Array) -> Array:
    """Return 1/(1 + e^-x), of positive terms; SciPy's would be loaded for it."""
    less = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, less) / (1 + less)


def _softplus(x: Array) -> Array:
    """Return log(1 + e^x)."""
    return np.logaddexp(0.0, x)


def _log1p_gap(x: Array) -> Array:
    """Return x - log(1 + x), with the sign of x."""
    small = np.minimum(np.maximum(x, -_NEAR), _NEAR)
    v = small / (2 + small)
    square = v * v
    series = np.full(np.shape(x), _ODD[-1])
    for coefficient in reversed(_ODD[:-1]):
        series = series * square + coefficient
    near = v * (small - 2 * square * series)
    far = np.minimum(x, _MOST)
    return np.where(np.abs(x) < _NEAR, near, far - np.log1p(far)) * np.sign(x)


# From it on e^-x is nothing beside 1.
_FAR_GROWTH = 40.0


def _log_growth(x: Array) -> Array:
    """Return log((e^x - 1)/x)."""
    none, middle = x == 0, np.minimum(x, _FAR_GROWTH)
    far = np.minimum(np.maximum(x, _FAR_GROWTH), _MOST)
    share = np.expm1(middle) / np.where(none, 1.0, middle)
    return np.where(x > _FAR_GROWTH, far - np.log(far), np.log(share + none))


# From where on (x - 1) log(1 - 1/x) is -1.
_FAR = 1e20


def _log_peak(x: Array) -> Array:
    less = x - 1
    lost = np.where(x < _FAR, less * np.log1p(-1 / x), -1.0)
    return np.where(less > 0, lost, 0.0) - np.log(x)


# -- the table ------------------------------------------------------------------------------------

exp: Final = Primitive("exp", np.exp, 2, values=(0.0, math.inf), zero=-math.inf)
log: Final = Primitive("log", np.log, 2, domain=(0.0, math.inf))
expm1: Final = Primitive("expm1", np.expm1, 4, values=(-1.0, math.inf), zero=0.0)
log1p: Final = Primitive("log1p", np.log1p, 4, domain=(-1.0, math.inf), zero=0.0)
log1mexp: Final = Primitive(
    "log1mexp",
    _log1mexp,
    10,
    domain=(-math.inf, 0.0),
    values=(-math.inf, 0.0),
    falling=True,
    zero=-math.inf,
)
log1p_gap: Final = Primitive("log1p_gap", _log1p_gap, 40, domain=(-1.0, math.inf), zero=0.0)
sinh: Final = Primitive("sinh", np.sinh, 4, zero=0.0)
tanh: Final = Primitive("tanh", np.tanh, 4, values=(-1.0, 1.0), zero=0.0)
asinh: Final = Primitive("asinh", np.arcsinh, 4, zero=0.0)
atan: Final = Primitive("atan", np.arctan, 4, zero=0.0)
# 1 / (1 + e^-x)
logistic: Final = Primitive("logistic", _logistic, 6, values=(0.0, 1.0), zero=-math.inf)
softplus: Final = Primitive("softplus", _softplus, 8, values=(0.0, math.inf), zero=-math.inf)
# The normal law: Phi and log Phi, the same of -x, the quantile, (1 - Phi)/phi = R, and 1 - x R.
phi: Final = Primitive("phi", _phi, lambda x: 8 + 2 * _tail(x), values=(0.0, 1.0), zero=-math.inf)
normal_sf: Final = Primitive(
    "normal_sf",
    lambda x: _phi(-x),
    lambda x: 8 + 2 * _tail(-x),
    values=(0.0, 1.0),
    falling=True,
    zero=math.inf,
)
log_phi: Final = Primitive(
    "log_phi", log_ndtr, lambda x: 8 + 2 * _tail(-x), values=(-math.inf, 0.0), zero=math.inf
)
normal_log_sf: Final = Primitive(
    "normal_log_sf",
    lambda x: log_ndtr(-x),
    lambda x: 8 + 2 * _tail(x),
    values=(-math.inf, 0.0),
    falling=True,
    zero=-math.inf,
)
normal_quantile: Final = Primitive("normal_quantile", ndtri, 3, 3, domain=(0.0, 1.0))
erf_inverse: Final = Primitive("erf_inverse", erfinv, 8, domain=(0.0, 0.5), zero=0.0)
mills: Final = Primitive(
    "mills", _mills, lambda x: 8 + 2 * _tail(x), values=(0.0, math.inf), falling=True
)
psi: Final = Primitive(
    "psi",
    _psi,
    lambda x: np.where(x > _FRACTION_FROM, 24.0, 8 + 4 * np.minimum(x * x, 1e4)),
    values=(0.0, math.inf),
    falling=True,
)
# log(sinh(x)/x).
log_sinhc: Final = Primitive("log_sinhc", _log_sinhc, 12, domain=(0.0, math.inf), zero=0.0)
# log((e^x - 1)/x).
log_growth: Final = Primitive("log_growth", _log_growth, 4, 8, zero=0.0)

atanh: Final = Primitive("atanh", np.arctanh, 4, domain=(-1.0, 1.0), zero=0.0)
erf: Final = Primitive("erf", scipy_erf, 8, values=(-1.0, 1.0), zero=0.0)
# The largest (e^y - 1) e^(-xy) over y > 0: (x - 1)^(x - 1) / x^x, in logs.
log_peak: Final = Primitive(
    "log_peak", _log_peak, 12, 2, domain=(1.0, math.inf), values=(-math.inf, 0.0), falling=True
)

PRIMITIVES: Final = (
    exp,
    log,
    expm1,
    log1p,
    log1mexp,
    log1p_gap,
    sinh,
    tanh,
    asinh,
    atan,
    logistic,
    softplus,
    phi,
    normal_sf,
    log_phi,
    normal_log_sf,
    normal_quantile,
    erf_inverse,
    mills,
    psi,
    log_sinhc,
    log_growth,
    atanh,
    erf,
    log_peak,
)


@quiet
def log_sum(first: Interval, second: Interval) -> Interval:
    """Return log(e^x + e^y), in the shape of x; x itself where y is -inf.

    Error: 4 units of 2^-52 absolutely and 1 relatively: of the difference and its exponential, of
    log1p, whose value is below log 2, and of the last sum.
    """
    if np.all(np.isneginf(second.upper)):
        return first
    low, high = (np.logaddexp(a, b) for a, b in zip(first, second, strict=True))
    # One unit more, for what rounds here.
    low, high = low - (np.abs(low) + 5) * _UNIT, high + (np.abs(high) + 5) * _UNIT
    return Interval(
        np.where(np.isneginf(second.lower), first.lower, low),
        np.where(np.isneginf(second.upper), first.upper, high),
    )


@quiet
def log_running(log_terms: Interval) -> Interval:
    """Return log(e^x_0 + ... + e^x_k) for each k.

    Error: that of each addition, as in `log_sum`, times the share that its sum has in the later
    one: so the error times the sum is the sum of all errors times their sums.
    """
    lower, upper = (_log_running(end, side) for end, side in zip(log_terms, (-1, 1), strict=True))
    return Interval(lower, upper)


def _log_running(log_terms: Array, side: int) -> Array:
    if not log_terms.size:
        return log_terms
    total = np.logaddexp.accumulate(log_terms)
    known = np.isfinite(total)
    size = np.where(known, total, 0.0)
    rounded = np.where(known, size + np.log((4 + np.abs(size)) * _UNIT), -math.inf)
    # A bound's own rounding is far below one part in a hundred.
    error = 1.01 * np.exp(np.logaddexp.accumulate(rounded) - size)
    return np.where(known, total + side * error, total)
