"""Sums over the atoms of one law: tails, cumulant, Rényi divergence."""

import numpy as np
import numpy.typing as npt

from neyman.numerics._atomic._atoms import Atoms
from neyman.numerics._bracket import ULP, Array, Bracket

__all__ = ["atom_cumulant", "atom_renyi", "atom_tails"]

_SERIES = 12
_SMALL = 0.1
_LARGE = 600.0


def atom_tails(atoms: Atoms, t: Array, *, closed: bool) -> tuple[Array, Array, Array, Array]:
    """Return log P(L > t), log P(L <= t), log Q(L > t), log Q(L <= t), as estimates.

    An atom next to t, within rounding, is taken to lie at t.
    """
    places = atoms.places
    moved = (atoms.place_error + 4 * ULP * np.abs(t)) * (-1 if closed else 1)
    # At t = 0 nothing is moved, and the side alone decides.
    index = np.searchsorted(places, t + moved, side="left" if closed else "right")

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


def atom_cumulant(atoms: Atoms, s: npt.NDArray[np.complex128]) -> npt.NDArray[np.complex128]:
    """Return log of the sum of p e^{sL}.

    Without mass at infinity E_P[e^L - 1] = 0, so the sum is 1 + E_P[e^{sL} - 1 - s (e^L - 1)], of
    second order in L, and nothing cancels next to s = 0 and s = 1.
    """
    s = np.asarray(s, dtype=np.complex128)
    losses, log_p = atoms.places, atoms.log_p
    exponents: npt.NDArray[np.complex128] = np.multiply.outer(s, losses).astype(np.complex128)
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


def _series(s: npt.NDArray[np.complex128], losses: Array) -> npt.NDArray[np.complex128]:
    """Return e^{sl} - 1 - s (e^l - 1) = sum_{j >= 2} (s^j - s) l^j / j!."""
    factor, total = losses, np.zeros((*s.shape, losses.size), dtype=np.complex128)
    power = s
    for j in range(2, _SERIES):
        factor, power = factor * losses / j, power * s
        # s^j - s, by its factor s - 1.
        geometric = s * (s - 1) * np.sum(s[..., None] ** np.arange(j - 1), axis=-1)
        total = total + np.multiply.outer(geometric, factor)
    return total


def _log_sum(exponents: npt.NDArray[np.complex128]) -> npt.NDArray[np.complex128]:
    top = np.max(exponents.real, axis=-1)
    with np.errstate(under="ignore"):
        return np.asarray(top + np.log(np.sum(np.exp(exponents - top[..., None]), axis=-1)))


def atom_renyi(atoms: Atoms, order: Array) -> Bracket:
    """Return a bracket of log(sum of q e^{cL}) / c, c = order - 1, for finitely many atoms.

    Without mass at infinity it is 1 + E_Q[h(L)], h(l) = e^{cl} - 1 + c (e^-l - 1), of one sign.
    At c = 0 the limit is E_Q[l + e^-l - 1]; at infinity the largest loss.

    Error: ULP (8 + |c l|) of each term of h, and the stated relative error of the masses.
    """
    order = np.asarray(order, dtype=np.float64)
    losses, q = atoms.places, np.exp(atoms.log_q)
    if not losses.size:
        # Nothing in common.
        return Bracket(np.full(order.shape, np.inf), np.full(order.shape, np.inf))
    top = float(losses[-1])
    slack_top = atoms.place_error + ULP * abs(top)
    c = np.where(np.isfinite(order), order - 1, 1.0)
    relative = float(np.max(atoms.relative_error)) + 16 * ULP * (1 + losses.size**0.5)
    if max(atoms.log_only_p, atoms.log_only_q) > -np.inf:
        found = _renyi_singular(atoms, c, relative)
    else:
        found = _renyi_plain(losses, q, c, relative, atoms.place_error)
    upper = np.where(np.isposinf(order), top + slack_top, found.upper)
    lower = np.where(np.isposinf(order), top - slack_top, found.lower)
    if atoms.log_only_q > -np.inf:
        upper, lower = (np.where(order >= 1, np.inf, x) for x in (upper, lower))
    else:
        upper = np.minimum(upper, top + slack_top)
    return Bracket(np.maximum(lower, 0.0), np.maximum(upper, 0.0))


def _renyi_plain(losses: Array, q: Array, c: Array, relative: float, place_error: float) -> Bracket:
    exponents = np.multiply.outer(c, losses)
    large = np.max(np.abs(exponents), axis=-1, initial=0.0) > _LARGE
    small = np.where(large[..., None], 0.0, exponents)
    wide = c[..., None]
    zero = wide == 0
    h = np.where(zero, losses, np.expm1(small)) + np.where(zero, 1.0, wide) * np.expm1(-losses)
    noise = np.abs(np.where(zero, losses, np.expm1(small))) + np.abs(
        np.where(zero, 1.0, wide) * np.expm1(-losses)
    )
    total = h @ q
    rounding = ULP * 4 * ((noise * (1 + np.abs(small))) @ q) + relative * np.abs(total)
    rounding = rounding + 2 * place_error * ((np.abs(wide) + np.abs(wide * np.exp(-losses))) @ q)
    divisor = np.where(c == 0, 1.0, c)
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = [
            np.where(c == 0, x, np.log1p(np.maximum(x, -1.0)) / divisor)
            for x in (total - rounding, total + rounding)
        ]
        log_sum = _log_sum((exponents + np.log(q)).astype(np.complex128)).real
    direct = log_sum / divisor
    error = (relative + ULP * (4 + np.max(np.abs(exponents), axis=-1))) / np.abs(divisor)
    lower, upper = np.minimum(*ends), np.maximum(*ends)
    room = ULP * np.abs(upper)
    return Bracket(
        np.where(large, direct - error, lower - room), np.where(large, direct + error, upper + room)
    )


def _renyi_singular(atoms: Atoms, c: Array, relative: float) -> Bracket:
    exponents = np.multiply.outer(c, atoms.places) + atoms.log_q
    divisor = np.where(c == 0, 1.0, c)
    value = _log_sum(exponents.astype(np.complex128)).real
    error = (
        relative
        + ULP * (4 + np.max(np.abs(exponents), axis=-1))
        + 2 * atoms.place_error * np.abs(c)
    )
    ends = (value - error) / divisor, (value + error) / divisor
    lower, upper = np.minimum(*ends), np.maximum(*ends)
    # The limit at order 1 is E_Q[l], infinite by the caller where Q has singular mass.
    weighed = atoms.places * np.exp(atoms.log_q)
    mean = float(np.sum(weighed))
    size = float(np.sum(np.abs(weighed))) * relative + atoms.place_error
    return Bracket(np.where(c == 0, mean - size, lower), np.where(c == 0, mean + size, upper))
