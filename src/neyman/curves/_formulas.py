"""What a kind of pair may know in closed form; whatever it leaves out is derived."""

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from neyman.curves._divergences._subgaussian_order import Subgaussianity
from neyman.numerics import Array, Interval

if TYPE_CHECKING:
    from neyman.curves._pair import Pair

__all__ = ["Summaries", "Views"]

_At: TypeAlias = Callable[[Array], Interval]
_Ends: TypeAlias = tuple[float, float]


class Views(NamedTuple):
    """Formulas of the privacy profile and of the best tests, each a bracket.

    Give at least one of `log_delta` and `delta`, and one of `beta` and `tpr`; the other follows,
    and so does `epsilon`. Of a kind that gives none, the views are estimates by `log_tails`.

    Attributes:
        log_delta: at any real epsilon.
        delta: the same; worth giving where the logarithm loses digits.
        epsilon: the smallest epsilon >= 0 with delta(epsilon) <= delta.
        beta: f, at alpha in [0, 1].
        tpr: 1 - f, with its own relative accuracy.
        method: what answers; "closed form" unless given here or by the pairs that it is made of.
        dominating: the pair that gives the safe end of every view; None for the pair itself.
    """

    log_delta: _At | None = None
    delta: _At | None = None
    epsilon: _At | None = None
    beta: _At | None = None
    tpr: _At | None = None
    method: Callable[[], str] | None = None
    dominating: "Pair | None" = None


class Summaries(NamedTuple):
    """Formulas of the Rényi divergences and of the numbers that sum up a curve.

    Attributes:
        renyi: the divergence at positive orders, infinity included.
        zcdp: the smallest rho with D_order <= rho order for all orders above 1.
        tcdp: the same for orders below one that is given.
        subgaussian: E_Q[L] and the smallest tau^2.
        mu: the smallest mu with f >= G_mu ⊗ f_(0, slack), for a slack.
        outer_gaussian: a mu^2 with f >= G_mu, rounded up.
        tight_gaussian: another such mu^2, which takes longer to find and may be smaller.
        inner_gaussian: the largest mu^2 with G_mu >= f, rounded down.
        outer_pure: the smallest epsilon with f >= f_(epsilon, 0), rounded up; None if infinite.
        inner_pure: the largest epsilon with f_(epsilon, 0) >= f, rounded down.
    """

    renyi: _At | None = None
    zcdp: Callable[[], _Ends] | None = None
    tcdp: Callable[[float], _Ends] | None = None
    subgaussian: Callable[[], Subgaussianity] | None = None
    mu: Callable[[float], _Ends] | None = None
    outer_gaussian: Callable[[], Fraction | None] | None = None
    tight_gaussian: Callable[[], Fraction | None] | None = None
    inner_gaussian: Callable[[], Fraction] | None = None
    outer_pure: Callable[[], Fraction | None] | None = None
    inner_pure: Callable[[], Fraction] | None = None
