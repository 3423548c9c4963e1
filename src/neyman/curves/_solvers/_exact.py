"""Compositions whose law is known as a whole: by sums of positive terms, or along a contour."""

from fractions import Fraction
from typing import Protocol

import numpy as np

from neyman.curves._algebra._factors import Factors, ProductPair
from neyman.curves._pair import Pair, SwappedPair, Tails
from neyman.curves._pairs._lattice_pair import LatticePair
from neyman.curves._pairs._randomized_response import RandomizedResponsePair
from neyman.curves._pairs._sampled import SampledPair, SampledSwapPair
from neyman.curves._profiles._atomic_profile import AtomicProfile
from neyman.curves._profiles._response_profile import ResponseProfile
from neyman.curves._solvers._contour import ContourProfile, contour_profile
from neyman.curves._solvers._view import Readable
from neyman.numerics import Array, Atoms, Interval
from neyman.numerics._primitives import expm1, log1p

__all__ = ["Profile", "atoms_of", "contour_of", "exact_profile", "has_exact_profile"]

# From this many answers on, randomized response uses binomial tails: no table is large enough.
_LONG = 5_000


class Profile(Readable, Protocol):
    """The certified one-way views of a composition."""

    @property
    def method(self) -> str: ...
    def log_tails(self, t: Array, *, closed: bool) -> Tails: ...


def exact_profile(parts: Factors) -> Profile | None:
    """Return the views of copies of one pair with formulas, or of atoms on one grid."""
    answers = _answers(parts)
    if answers is not None:
        return answers
    atoms = _on_grid(parts)
    return None if atoms is None else AtomicProfile.of(atoms)


def has_exact_profile(parts: Factors) -> bool:
    """Return whether there is one, without composing."""
    if _answers(parts) is not None:
        return True
    atoms = _on_grid(parts)
    return atoms is not None and AtomicProfile.fitting(atoms)


def contour_of(pair: Pair) -> ContourProfile | None:
    """Return the views along a contour of a composition of laws that are not summed exactly."""
    if not isinstance(pair, ProductPair) or pair.of_class or has_exact_profile(pair.parts):
        return None
    return contour_profile(pair.parts)


def atoms_of(pair: Pair) -> Atoms | None:
    """Return the law of a loss that has atoms on one grid only; None for any other."""
    if isinstance(pair, LatticePair | RandomizedResponsePair):
        return pair.atoms()
    if isinstance(pair, SampledPair):
        base = atoms_of(pair.base)
        return None if base is None else _two_atoms(base, pair.probability)
    if isinstance(pair, SampledSwapPair | SwappedPair):
        back = atoms_of(pair.swap())
        return None if back is None else back.swapped()
    return None


def _answers(parts: Factors) -> ResponseProfile | None:
    pair, times = parts[0]
    if len(parts) > 1 or times <= _LONG or not isinstance(pair, RandomizedResponsePair):
        return None
    return ResponseProfile(pair.epsilon0, times)


def _two_atoms(atoms: Atoms, probability: Fraction) -> Atoms | None:
    """Return the atoms of (P, (1 - q) P + q Q), which lie on a grid if there are two of them."""
    alone = max(atoms.log_only_q, atoms.log_only_p)
    if atoms.steps.size != 2 or atoms.place_error > 0 or alone > -np.inf:
        return None
    places = [Interval.of(atoms.offset + atoms.unit * int(step)) for step in atoms.steps]
    low, high = (log1p(Interval.of(probability) * expm1(place)) for place in places)
    first, last = Fraction(float(low.middle)), Fraction(float(high.middle))
    return Atoms(
        first,
        last - first,
        np.array([0, 1], dtype=np.int64),
        atoms.log_p,
        atoms.log_p + np.asarray([float(first), float(last)]),
        atoms.relative_error,
        max(float(side.upper - side.lower) for side in (low, high)),
    )


def _on_grid(parts: Factors) -> list[tuple[Atoms, int]] | None:
    found: list[tuple[Atoms, int]] = []
    for pair, n in parts:
        atoms = atoms_of(pair)
        if atoms is None:
            return None
        found.append((atoms, n))
    return found
