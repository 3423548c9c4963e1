"""The product limit of two smoothed counts, from their Fourier sums.

On the circle of length 2 H nobody lies between H + r and 2 H - r: the mass B released there is
noise, and tells of the noise beside it. Let V(s) be the variance of the integral of the noise over
a stretch of length s, b = H - 2 r. Integrals over neighbouring stretches have the covariance

    C(s, b) = (V(s + b) - V(s) - V(b)) / 2

so that an integral I over others, less Cov(I, B) / V(b) times B, is unbiased and varies least.
"""

# scipy carries no types of its own.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false

from typing import Final, NamedTuple

import numpy as np

from neyman.functional._bases._basis import Basis
from neyman.functional._bases._waves import multipliers
from neyman.functional._densities._wave_sums import Series
from neyman.functional._lifetimes._survival import TwoChannels
from neyman.numerics import Array, ComplexArray

__all__ = [
    "Counts",
    "EmptyShares",
    "at_risk_sd",
    "counts_of",
    "empty_shares",
    "nodes_of",
    "survival_of",
]

# Kernels reach so many bandwidths beyond the ends; what lies there is folded back.
_REACH: Final = 5


class Counts(NamedTuple):
    """Numbers up to each node of time, non-decreasing, and how many are at risk beyond it."""

    events: Array
    censored: Array
    at_risk: Array


class EmptyShares(NamedTuple):
    """How much of B is taken off the number up to each time, and off the number of all."""

    up_to: Array
    whole: float


def nodes_of(basis: Basis) -> Array:
    """Return the public places of time, from 0 to the horizon."""
    step = basis.period / basis.circle_nodes
    return np.minimum(step * np.arange(basis.nodes), float(basis.domain.length))


def empty_shares(channels: TwoChannels) -> EmptyShares:
    """Return what is taken off at the nodes, the same for every release of these channels."""
    basis = channels.events
    return _shares(basis, nodes_of(basis), counted=channels.counted)


def counts_of(
    channels: TwoChannels,
    records: int | None,
    events: ComplexArray,
    censored: ComplexArray,
    shares: EmptyShares,
) -> Counts:
    """Return counts from the (noisy) sums of both channels.

    Args:
        channels: whose sums they are.
        records: how many, where that is public: the censored are then those without an event.
        events: sums of the events.
        censored: sums of the censorings; at 0 replaced where the number of records is public.
        shares: `empty_shares` of the channels.
    """
    if records is not None:
        censored = censored.copy()
        censored[0] = records - events[0]
    basis = channels.events
    counted = [_counted(basis, part) for part in (events, censored)]
    n, c = (_monotone(up_to - shares.up_to * empty) for up_to, empty in counted)
    total = float(events[0].real + censored[0].real)
    if records is None:
        total -= (1 + shares.whole) * sum(empty for _, empty in counted)
    return Counts(n, c, total - n - c)


def at_risk_sd(channels: TwoChannels, t: Array) -> Array:
    """Return the standard deviation of Y(t) before it is monotone, for noise of variance 1."""
    total = np.zeros(t.shape)
    for each in (channels.events, channels.censored):
        shares, whole = _shares(each, t, counted=channels.counted)
        left = _left(each, t, counted=channels.counted)
        empty = _variance(each, _lengths(each)[2], counted=channels.counted)
        total += np.maximum(left - empty * (whole - shares) ** 2, 0.0)
    return np.sqrt(total)


def survival_of(counts: Counts) -> Array:
    """Return S at the nodes; a step from where nobody is at risk leaves nobody."""
    risk = counts.at_risk[:-1]
    steps = np.diff(counts.events)
    hazard = np.divide(steps, risk, out=(steps > 0).astype(np.float64), where=risk > 0)
    return np.concatenate([[1.0], np.cumprod(1 - np.clip(hazard, 0.0, 1.0))])


def _kernel(basis: Basis) -> Array:
    return multipliers(basis.period, basis.highest, float(basis.bandwidth))


def _reach(basis: Basis) -> float:
    return _REACH * float(basis.bandwidth)


def _variance(basis: Basis, lengths: Array, *, counted: bool) -> Array:
    """Return V: sum_j (4 lambda_j sin(w_j s/2) / (a_j w_j L))^2, with (s / (a_0 L))^2."""
    waves = 2 * np.pi / basis.period * np.arange(1, basis.highest + 1)
    squares = (4 * _kernel(basis)[1:] / (basis.amplitudes[1:] * waves * basis.period)) ** 2
    # sin^2 x = (1 - cos 2x) / 2.
    terms = np.concatenate([[squares.sum() / 2], -squares / 4]).astype(np.complex128)
    total = np.maximum(Series(basis.period, terms).at(np.asarray(lengths, np.float64)), 0.0)
    if counted:
        total = total + (lengths / (float(basis.amplitudes[0]) * basis.period)) ** 2
    return np.asarray(total)


def _lengths(basis: Basis) -> tuple[float, float, Array]:
    """Return H, r, and b."""
    length, reach = float(basis.domain.length), _reach(basis)
    return length, reach, np.maximum(length - 2 * reach, 0.0)


def _shares(basis: Basis, t: Array, *, counted: bool) -> EmptyShares:
    """Return Cov(I, B) / V(b) for the number up to t, and for that on all of [-r, H + r].

    The number up to t is over [-min(t, r), t] and, folded, over [max(2 H - t, H), H + r].
    """
    length, reach, gap = _lengths(basis)

    def covariance(stretch: Array) -> Array:
        both, one, other = (
            _variance(basis, s, counted=counted) for s in (stretch + gap, stretch, gap)
        )
        return (both - one - other) / 2

    of_empty = float(_variance(basis, gap, counted=counted))
    if of_empty <= 0:
        return EmptyShares(np.zeros(t.shape), 0.0)
    up_to = (
        covariance(t + reach)
        - covariance(np.maximum(reach - t, 0.0))
        + covariance(np.maximum(t + reach - length, 0.0))
    )
    whole = float(covariance(np.asarray(length + 2 * reach)))
    return EmptyShares(up_to / of_empty, whole / of_empty)


def _left(basis: Basis, t: Array, *, counted: bool) -> Array:
    """Return the variance of what is on [-r, H + r] and not up to t."""
    length, reach, _ = _lengths(basis)

    def v(stretch: Array) -> Array:
        return _variance(basis, stretch, counted=counted)

    early = np.minimum(t, reach)
    near_start = (
        v(np.full(t.shape, length + 2 * reach))
        + v(2 * early)
        - v(reach + early)
        + v(reach - early)
        - v(length + reach + early)
        + v(length + reach - early)
    )
    rest = v(np.minimum(length + reach - t, 2 * (length - t)))
    return np.where(t < reach, near_start, rest)


def _running(basis: Basis, sums: ComplexArray, points: Array) -> tuple[Array, Array]:
    """Return integrals from 0: up to each node of the circle and its end, and up to some points."""
    m, period = basis.circle_nodes, basis.period
    smoothed = sums * _kernel(basis) / period
    waves = 2j * np.pi / period * np.arange(1, basis.highest + 1)
    terms = np.zeros(m // 2 + 1, np.complex128)
    terms[1 : basis.highest + 1] = smoothed[1:] / waves
    at_nodes = m * np.fft.irfft(terms, m)
    places = period / m * np.arange(m + 1)
    level, start = float(smoothed[0].real), float(at_nodes[0])
    at_points = 2 * (np.exp(np.multiply.outer(points, waves)) @ terms[1 : basis.highest + 1]).real
    return (
        np.append(at_nodes, start) - start + level * places,
        np.asarray(at_points) - start + level * points,
    )


def _counted(basis: Basis, sums: ComplexArray) -> tuple[Array, float]:
    """Return the number up to each node, and B, the mass where nobody is.

    The kernel's tails beyond both ends are folded back: what lies below 0 is at the end of the
    circle, and beyond the horizon H a place x is folded to 2 H - x.
    """
    length, reach, _ = _lengths(basis)
    ends = np.array([length + reach, 2 * length - reach])
    running, (late, early) = _running(basis, sums, ends)
    t, turned = nodes_of(basis), running[: -basis.nodes - 1 : -1]
    below = running[-1] - np.where(t <= reach, turned, early)
    beyond = late - np.where(t >= length - reach, turned, late)
    return running[: basis.nodes] + below + beyond, float(early - late)


def _monotone(counts: Array) -> Array:
    """Return the nearest non-decreasing curve, from 0 up."""
    from scipy.optimize import isotonic_regression

    return np.maximum(isotonic_regression(counts).x, 0.0)
