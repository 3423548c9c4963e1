"""Sums over the atoms of one law: tails, cumulant, Rényi divergence."""

import numpy as np

from neyman.numerics._atomic._atoms import Atoms
from neyman.numerics._complex import ComplexArray
from neyman.numerics._interval import Array, Interval
from neyman.numerics._primitives import exp, expm1, log, log1p

__all__ = ["atom_cumulant", "atom_renyi", "atom_tails"]

_SERIES = 12
_SMALL = 0.1
_LARGE = 600.0


def atom_tails(atoms: Atoms, t: Array, *, closed: bool) -> tuple[Array, Array, Array, Array]:
    """Return log P(L > t), log P(L <= t), log Q(L > t), log Q(L <= t), as estimates.

    An atom next to t, within rounding, is taken to lie at t.
    """
    places, near = atoms.places, Interval.decimal(t)
    if closed:
        index = np.searchsorted(places.upper, near.lower, side="left")
    else:
        index = np.searchsorted(places.lower, near.upper, side="right")

    def above(log: Array, more: float) -> Array:
        sums = np.append(np.logaddexp.accumulate(log[::-1])[::-1], -np.inf)
        return np.minimum(np.logaddexp(sums, more)[index], 0.0)

    def below(log: Array, more: float) -> Array:
        sums = np.append(-np.inf, np.logaddexp.accumulate(log))
        return np.minimum(np.logaddexp(sums, more)[index], 0.0)

    none = -np.inf
    return (
        above(atoms.log_p, none),
        below(atoms.log_p, atoms.log_only_p),
        above(atoms.log_q, atoms.log_only_q),
        below(atoms.log_q, none),
    )


def atom_cumulant(atoms: Atoms, s: ComplexArray) -> ComplexArray:
    """Return log of the sum of p e^{sL}.

    Without mass at infinity E_P[e^L - 1] = 0, so the sum is 1 + E_P[e^{sL} - 1 - s (e^L - 1)], of
    second order in L, and nothing cancels next to s = 0 and s = 1.
    """
    s = np.asarray(s, dtype=np.complex128)
    losses, log_p = atoms.places.middle, atoms.log_p
    exponents: ComplexArray = np.multiply.outer(s, losses).astype(np.complex128)
    if max(atoms.log_only_p, atoms.log_only_q) > -np.inf:
        return _log_sum(exponents + log_p)
    big = float(np.max(np.abs(exponents.real), initial=0.0)) > _LARGE
    direct = _log_sum(exponents + log_p)
    if big or float(np.max(np.abs(losses), initial=0.0)) > _LARGE:
        return direct
    with np.errstate(over="ignore", invalid="ignore"):
        terms = np.where(
            (np.abs(exponents) < _SMALL) & (np.abs(losses) < _SMALL),
            _series(s, losses),
            np.expm1(exponents) - s[..., None] * np.expm1(losses),
        )
        total = terms @ np.exp(log_p)
        careful = np.log1p(total)
    return np.where(np.abs(total) < 0.5, careful, direct)


def _series(s: ComplexArray, losses: Array) -> ComplexArray:
    """Return e^{sl} - 1 - s (e^l - 1) = sum_{j >= 2} (s^j - s) l^j / j!."""
    factor, total = losses, np.zeros((*s.shape, losses.size), dtype=np.complex128)
    power = s
    for j in range(2, _SERIES):
        factor, power = factor * losses / j, power * s
        # s^j - s, by its factor s - 1.
        geometric = s * (s - 1) * np.sum(s[..., None] ** np.arange(j - 1), axis=-1)
        total = total + np.multiply.outer(geometric, factor)
    return total


def _log_sum(exponents: ComplexArray) -> ComplexArray:
    top = np.max(exponents.real, axis=-1)
    with np.errstate(under="ignore"):
        return np.asarray(top + np.log(np.sum(np.exp(exponents - top[..., None]), axis=-1)))


def atom_renyi(atoms: Atoms, order: Array) -> Interval:
    """Return log(sum of q e^{cL}) / c, c = order - 1, for finitely many atoms.

    Without mass at infinity it is 1 + E_Q[h(L)], h(l) = e^{cl} - 1 + c (e^-l - 1), of one sign.
    At c = 0 the limit is E_Q[l + e^-l - 1]; at infinity the largest loss.

    Args:
        atoms: the law.
        order: doubles, taken as exact.
    """
    order = np.asarray(order, dtype=np.float64)
    if not atoms.steps.size:
        # Nothing in common.
        return Interval.exactly(np.full(order.shape, np.inf))
    c = Interval.exactly(np.where(np.isfinite(order), order, 2.0)) - 1
    singular = max(atoms.log_only_p, atoms.log_only_q) > -np.inf
    found = _through_logs(atoms, c) if singular else _next_to_one(atoms, c)
    at_one = order == 1
    if np.any(at_one):
        found = Interval.where(at_one, _mean(atoms), found)
    top = atoms.places.at(np.asarray(-1))
    found = Interval.where(np.isposinf(order), top, found)
    if atoms.log_only_q > -np.inf:
        found = Interval.where(order >= 1, Interval.exactly(np.inf), found)
    else:
        found = found.smaller(Interval(found.upper, top.upper))
    return found.larger(0)


def _next_to_one(atoms: Atoms, c: Interval) -> Interval:
    """Return the divergence by the sum of q h, which keeps its digits where c or l is small."""
    exponents = _exponents(atoms, c)
    h = expm1(exponents.smaller(_LARGE)) + Interval(*_column(c)) * expm1(-atoms.places)
    positive = (c.lower > 0)[..., None]
    total = (Interval.where(positive, h, -h).larger(0) * exp(atoms.logs[1])).total(axis=-1)
    found = log1p(Interval.where(c.lower > 0, total, -total)) / c
    large = np.max(exponents.upper, axis=-1) > _LARGE
    return Interval.where(large, _through_logs(atoms, c), found) if np.any(large) else found


def _through_logs(atoms: Atoms, c: Interval) -> Interval:
    logs = _exponents(atoms, c) + atoms.logs[1]
    top = np.max(logs.upper, axis=-1)
    return (log(exp(logs - top[..., None]).total(axis=-1)) + top) / c


def _exponents(atoms: Atoms, c: Interval) -> Interval:
    return Interval(*_column(c)) * atoms.places


def _column(c: Interval) -> tuple[Array, Array]:
    return c.lower[..., None], c.upper[..., None]


def _mean(atoms: Atoms) -> Interval:
    """Return E_Q[l]; without mass at infinity by terms l + e^-l - 1, which are never negative."""
    q, places = exp(atoms.logs[1]), atoms.places
    if max(atoms.log_only_p, atoms.log_only_q) == -np.inf:
        return ((places + expm1(-places)).larger(0) * q).total()
    return (places.larger(0) * q).total() - ((-places).larger(0) * q).total()
