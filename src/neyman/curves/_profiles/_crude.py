"""What is left to say of a composition where neither contour nor lattice tells much."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from neyman.curves._pair import Pair, Profile
from neyman.curves._pairs._gaussian import GaussianPair
from neyman.curves._profiles._profile import LatticeProfile
from neyman.errors import UnsupportedComposition
from neyman.numerics import Bracket

__all__ = ["LOOSE", "both", "enclosed", "narrow", "roundable", "rounded", "too_long"]

# Brackets wider than a hundredth, of themselves or of 1/1000, are worth another method.
LOOSE = 0.01
# Of mu^2: beyond, no double holds a Gaussian, and beyond, no table the losses of a step.
_MOST_SQUARE, _FARTHEST = Fraction(2) ** 1000, 25
_ROUNDED_STEPS = tuple(Fraction(1, n) for n in (500, 200, 50, 20))


def narrow(found: Bracket) -> npt.NDArray[np.bool_]:
    """Return where a bracket tells enough."""
    known = np.isfinite(found.upper) & np.isfinite(found.lower)
    size = np.where(known, np.maximum(np.abs(found.upper), 1e-3), 1.0)
    width = np.where(known, found.upper, 1.0) - np.where(known, found.lower, 0.0)
    return (found.upper == found.lower) | (known & (width <= LOOSE * size))


def both(first: Bracket, second: Bracket) -> Bracket:
    """Return what holds by either."""
    return Bracket(np.maximum(first.lower, second.lower), np.minimum(first.upper, second.upper))


def roundable(parts: tuple[tuple[Pair, int], ...]) -> bool:
    """Whether rounding the losses may help: where they reach too far, it is spoilt."""
    squares = (pair.outer_gaussian() for pair, _ in parts)
    return all(square is None or square <= _FARTHEST for square in squares)


def rounded(parts: tuple[tuple[Pair, int], ...]) -> LatticeProfile | None:
    """Return the views by rounded losses, at the finest step with a short table.

    None where none will do, where a factor would be asked for minutes, or where some mass is at
    infinity on one side: what is on both was factored out.
    """
    if any(pair.costly or max(pair.log_singular) > -np.inf for pair, _ in parts):
        return None
    for step in _ROUNDED_STEPS:
        found = LatticeProfile.sampled(parts, step)
        if found is not None:
            return found
    return None


def too_long(pair: Pair) -> UnsupportedComposition:
    """Return the error where nothing here composes in seconds."""
    return UnsupportedComposition(
        f"{pair} was asked for a view, and what is here composes these in no short time; valid "
        "bounds are gdp(f.mu()) @ gdp(g.mu()), approx_dp(f.epsilon(delta), delta) @ g, and "
        "best(f @ g, h @ g) for best(f, h) @ g"
    )


def enclosed(
    parts: tuple[tuple[Pair, int], ...],
    square: Fraction | None,
    found: Bracket,
    ask: Callable[[Pair | Profile], Bracket],
    *,
    loss: bool,
) -> Bracket:
    """No less is lost than by any one factor, no more than by a Gaussian that each exceeds.

    The latter is the composition without sampling, say.

    Args:
        parts: the factors.
        square: mu^2 of the Gaussian, if there is one.
        found: what is known.
        ask: a view.
        loss: whether it is a loss, which grows with every factor; else an error.
    """
    least = [ask(pair) for pair, _ in parts]
    most = [ask(GaussianPair(square))] if square and square <= _MOST_SQUARE else []
    above, below = (most, least) if loss else (least, most)
    lower = np.max([found.lower, *(bounds.lower for bounds in below)], axis=0)
    upper = np.min([found.upper, *(bounds.upper for bounds in above)], axis=0)
    return Bracket(np.minimum(lower, upper), upper)
