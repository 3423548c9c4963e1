"""The errors that a claim allows: a trade-off function at many rates, bracketed."""

from dataclasses import dataclass, field
from typing import Final, TypeAlias, final

import numpy as np

from neyman.audit._lines import ErrorRates, lower_hull
from neyman.curves import TradeOff
from neyman.curves._curve import Curve
from neyman.curves._pair import Pair
from neyman.errors import InvalidParameter, NotCertified
from neyman.numerics import Array

__all__ = ["Claim", "Null", "check_claim"]

# Both directions, or one of them: `f.remove` is T(without the record, with it).
Claim: TypeAlias = TradeOff | Pair

_LINES: Final = 2000
_EPSILONS: Final = np.geomspace(1e-4, 60, 60)
# What is left of delta beyond the last line, and what rounding may do to a point or between two.
_REST, _ROUNDING, _BETWEEN = 1e-10, 1e-12, 1e-14


def check_claim(claim: Claim) -> None:
    """Refuse what cannot be tested.

    Raises:
        InvalidParameter: if it is no guarantee.
        NotCertified: if it gives estimates only.
    """
    if not isinstance(claim, TradeOff | Pair):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidParameter(
            f"claim must be a guarantee; got a {type(claim).__name__}. Write one, such as "
            "ny.gdp(1) or ny.approx_dp(1, 1e-5), or one direction of it, such as f.remove"
        )
    if not claim.certified:
        raise NotCertified(
            f"claim must have proved bounds; {claim} gives estimates only. Write a certified "
            "guarantee"
        )


@final
@dataclass(frozen=True, slots=True)
class Null:
    """Every pair of error rates (x, y) with y >= f(x).

    For a guarantee with two pairs, f is its hull, which holds for both orders of the datasets. For
    a single pair, such as `guarantee.remove`, f is the pair's own curve.

    If f takes long to evaluate, 4,000 support lines are computed once, and the convex line that
    they form replaces f. It lies nowhere above f, so the null only grows.

    Attributes:
        claim: f.
    """

    claim: Claim
    _line: ErrorRates | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Read the lines, where they are needed."""
        check_claim(self.claim)
        # What is claimed of a class is what dominates it.
        curve = self.claim.dominating()
        quick = curve.method == "closed form" and (
            not isinstance(curve, TradeOff) or curve.remove == curve.add
        )
        object.__setattr__(self, "_line", None if quick else _support_lines(curve))

    def ends(self, x: Array) -> tuple[Array, Array]:
        """Bracket f, or the line that replaces it, at false positive rates x."""
        if self._line is None:
            found = self.claim.dominating().beta_bracket(x)
            return found.lower, found.upper
        y = np.interp(x, *self._line)
        return np.clip(y - _BETWEEN, 0.0, 1.0), np.clip(y + _BETWEEN, 0.0, 1.0)


def _support_lines(curve: Curve) -> ErrorRates:
    """Return a convex line nowhere above f.

        f(x) >= 1 - delta(eps) - e^eps x,   f(x) >= e^-eps (1 - delta'(eps) - x)

    delta' is that of the swapped pair. Each segment lies on one of these lines, or below it.
    """
    # delta of a two-way guarantee is of both directions already.
    directions = (curve, curve) if isinstance(curve, TradeOff) else (curve, curve.swap())
    ends = [pair.delta_bracket(_EPSILONS).upper for pair in directions]
    few = np.all([end <= end[-1] + _REST for end in ends], axis=0)
    epsilons = np.linspace(0.0, float(_EPSILONS[int(np.argmax(few))]), _LINES)
    steep, flat = (np.minimum(pair.delta_bracket(epsilons).upper, 1.0) for pair in directions)
    odds = np.exp(epsilons)
    # From the steepest line to the flattest one.
    slopes = np.concatenate([odds[::-1], 1 / odds])
    heights = np.concatenate([1 - steep[::-1], (1 - flat) / odds])
    with np.errstate(divide="ignore", invalid="ignore"):
        met = (heights[:-1] - heights[1:]) / (slopes[:-1] - slopes[1:])
    # Two neighbours meet here, about; a point below both of them is valid wherever it is.
    x = np.maximum.accumulate(np.clip(np.nan_to_num(met, nan=0.0), 0.0, 1.0))
    y = np.minimum(heights[:-1] - slopes[:-1] * x, heights[1:] - slopes[1:] * x) - _ROUNDING
    x = np.concatenate([[0.0], x, [1.0]])
    ends_at = heights[0] - _ROUNDING, heights[-1] - slopes[-1] - _ROUNDING
    return lower_hull(x, np.concatenate([[ends_at[0]], y, [ends_at[1]]]))
