"""The errors that a claim allows: a trade-off function read at many rates, on both sides."""

from dataclasses import dataclass
from typing import TypeAlias, final

from neyman.curves import TradeOff
from neyman.curves._pair import Pair
from neyman.errors import InvalidParameter, NotCertified
from neyman.numerics import Array

__all__ = ["Claim", "Null"]

# Both ways, or one way: `f.remove` is T(without the record, with it).
Claim: TypeAlias = TradeOff | Pair


@final
@dataclass(frozen=True, slots=True)
class Null:
    """Every pair of error rates (x, y) with y >= f(x).

    A two-way guarantee stands for its hull f, which both orders of the datasets keep; a pair, such
    as `guarantee.remove`, for its own curve.

    Attributes:
        claim: f.
    """

    claim: Claim

    def __post_init__(self) -> None:
        """Refuse what is no claim."""
        if not isinstance(self.claim, TradeOff | Pair):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidParameter(
                f"claim must be a guarantee; a {type(self.claim).__name__} was given. Write one, "
                "such as ny.gdp(1) or ny.approx_dp(1, 1e-5), or one direction of it: f.remove"
            )
        if not self.claim.certified:
            raise NotCertified(
                f"claim must have proved bounds; {self.claim} gives estimates only. Write a "
                "certified guarantee"
            )

    def ends(self, x: Array) -> tuple[Array, Array]:
        """Bracket f at false positive rates x."""
        # What is claimed of a class is what dominates it.
        found = self.claim.dominating().beta_bracket(x)
        return found.lower, found.upper
