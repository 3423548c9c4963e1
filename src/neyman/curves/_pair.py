"""An ordered pair of laws, known by its privacy loss."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple, Protocol, cast, final

import numpy as np

from neyman.curves._curve import Curve
from neyman.curves._divergences._subgaussian_order import Subgaussianity, least_tau_squared
from neyman.curves._order import inner_gaussian_square
from neyman.curves._profiles._inverse import epsilon_of_profile
from neyman.curves._solvers._both import BothProfile
from neyman.errors import InvalidParameter, RelationMismatch, UnsupportedComposition
from neyman.numerics import ULP, Array, Atoms, Bracket, ComplexArray, LossSum, exp_outward
from neyman.numerics._lattice_sums._source import LossSource, SwappedSource
from neyman.overriding import override

__all__ = [
    "KINDS",
    "BestTest",
    "Pair",
    "Profile",
    "SwappedPair",
    "Tails",
    "check_relation",
    "middles",
]

# The class of each kind of pair, by its name in records.
KINDS: "dict[str, type[Pair]]" = {}
_STEPS = 200
# Losses that are the same but for rounding, and the share of a size that no density has there.
_SAME, _NO_ATOM = 1e-12, 1e-9


class Tails(NamedTuple):
    """Logarithms of the tail probabilities of the loss L = log dQ/dP at some thresholds."""

    p_above: Array
    p_below: Array
    q_above: Array
    q_below: Array


def middles(sides: Iterable[Bracket]) -> Tails:
    """Return the middles of brackets of the four tails; the upper end where the lower is none."""
    return Tails(*(np.where(np.isfinite(b.lower), (b.lower + b.upper) / 2, b.upper) for b in sides))


class BestTest(NamedTuple):
    """Brackets of the threshold t with P(L > t) = alpha, of Q(L <= t) and of Q(L > t)."""

    threshold: Bracket
    beta: Bracket
    tpr: Bracket


class Profile(Protocol):
    """The certified one-way views of a composition."""

    @property
    def method(self) -> str: ...
    def log_delta_bracket(self, epsilon: Array) -> Bracket: ...
    def delta_bracket(self, epsilon: Array) -> Bracket: ...
    def epsilon_bracket(self, delta: Array) -> Bracket: ...
    def beta_bracket(self, alpha: Array) -> Bracket: ...
    def tpr_bracket(self, alpha: Array) -> Bracket: ...
    def log_tails(self, t: Array, *, closed: bool) -> Tails: ...
    def best_test(self, alpha: Array) -> BestTest | None: ...


class Pair(Curve):
    """P = law of the output on D, Q = law on its neighbour D', in this order; L = log dQ/dP.

    A leaf gives `log_tails` and `cumulant`; every view then follows, as an estimate. A leaf that
    overrides the bracketed primitives with proved bounds says so by `certified`.
    """

    __slots__ = ()

    kind: ClassVar[str]

    def __init_subclass__(cls) -> None:
        """Register a kind by its being defined, so that records of it can be read.

        Raises:
            InvalidParameter: if another class has the name, or if one outside of the library has
                a name without a dot, such as "mine.gumbel".
        """
        super().__init_subclass__()
        kind = cls.__dict__.get("kind")
        if not isinstance(kind, str):
            return
        known = KINDS.get(kind)
        own = cls.__module__.startswith("neyman.")
        if not own and "." not in kind:
            raise InvalidParameter(
                f"kind={kind!r} must hold a dot, for names without one are the library's; write "
                f'one such as "mine.{kind}"'
            )
        # By name: a dataclass with slots is made twice, at first without its place.
        if known is not None and (known.__module__, known.__name__) != (
            cls.__module__,
            cls.__name__,
        ):
            raise InvalidParameter(
                f"kind={kind!r} must be the name of one class; {known.__module__}."
                f"{known.__qualname__} has it already. Write another"
            )
        KINDS[kind] = cls

    @abstractmethod
    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:
        """Return log P(L > t), log P(L <= t), log Q(L > t), log Q(L <= t).

        Args:
            t: thresholds, any shape.
            closed: count L = t as above, for P(L >= t), P(L < t) and so on.
        """

    def log_p_above(self, t: Array) -> Array:
        """Return log P(L > t) alone."""
        return self.log_tails(t).p_above

    @abstractmethod
    def cumulant(self, s: ComplexArray) -> ComplexArray:
        """Return K(s) = log of the integral of p^(1-s) q^s over p, q > 0, at complex s."""

    def parameters(self) -> dict[str, object]:
        """Return what the pair is rebuilt from, JSON-able: its fields.

        Fractions become texts, pairs their records, tuples lists; text, int and bool stay.
        """
        names = getattr(self, "__dataclass_fields__", ())
        return {name: _written(getattr(self, name)) for name in names}

    def record(self) -> dict[str, object]:
        """Return the kind and the exact parameters."""
        return {"kind": self.kind, **self.parameters()}

    @property
    @override
    def certified(self) -> bool:
        return False

    @property
    @override
    def symmetric(self) -> bool:
        return False

    @property
    def of_class(self) -> bool:
        """Whether the views bound a class of mechanisms, of which no one pair is the worst.

        So where it is true of any pair that this one is made of.
        """
        return any(pair.of_class for pair in self.made_of())

    def made_of(self) -> "Iterator[Pair]":
        """Yield the pairs among the fields, within tuples too."""
        fields = (getattr(self, name) for name in getattr(self, "__dataclass_fields__", ()))
        yield from _pairs_in(fields)

    @property
    def log_singular(self) -> tuple[float, float]:
        """Return (log Q{p = 0}, log P{q = 0}), the masses of L = +inf and L = -inf."""
        return -np.inf, -np.inf

    @property
    def log_floors(self) -> tuple[float, float]:
        """Return logs of delta, one for each direction, from which on a table sees nothing."""
        return -760.0, -760.0

    @property
    def costly(self) -> bool:
        """Whether one view takes so long that a grid of losses is not read from it."""
        return False

    @property
    def neighbors(self) -> str | None:
        """Return the neighbouring relation that the pair is proved for; None if any."""
        return None

    def factors(self) -> "tuple[tuple[Pair, int], ...]":
        """Return the pairs that this one is composed of, with their counts."""
        return ((self, 1),)

    def unsampled(self) -> "tuple[Pair, Fraction]":
        """Return the pair before Poisson sampling, and the probability of a sample."""
        return self, Fraction(1)

    @property
    @override
    def method(self) -> str:
        return "closed form"

    def log_delta_beside(self, epsilon: Array, enough: Array) -> Bracket:  # noqa: ARG002
        """Bracket log delta; where it is proved to be at most `enough`, the rest may be left."""
        return self.log_delta_bracket(epsilon)

    def both_ways(self) -> BothProfile | None:
        """Return the views of this direction and its reverse at once, where they share work."""
        return None

    def best_test(self, alpha: Array) -> "BestTest | None":  # noqa: ARG002
        """Return the best test of each size in (0, 1) with its threshold, where that is known."""
        return None

    def power_profile(self, times: int) -> "Profile | None":  # noqa: ARG002
        """Return the views of `times` copies where they have formulas of their own."""
        return None

    def atoms(self) -> Atoms | None:
        """Return the law of the loss where it has atoms on one grid only; None otherwise."""
        return None

    def sampled_atoms(self, probability: Fraction) -> Atoms | None:  # noqa: ARG002
        """Return the same for (P, (1 - q) P + q Q)."""
        return None

    def loss_source(self) -> LossSource | None:
        """Return the law of the loss as the lattice reads it, by its tails; None if unknown."""
        return None

    def loss_law(self) -> LossSum | None:
        """Return the law of the loss for the contour, singular masses apart; None if unknown."""
        return None

    def sampled_law(self, probability: float) -> LossSum | None:  # noqa: ARG002
        """Return the law of the loss of (P, (1 - q) P + q Q); None if unknown."""
        return None

    @override
    def swap(self) -> "Pair":
        return self if self.symmetric else SwappedPair(self)

    def gathered(self, factors: "Sequence[tuple[Pair, int]]") -> "Pair | None":  # noqa: ARG002
        """Return the composition of pairs of this one's kind in closed form; None without one."""
        return None

    # -- derived primitives: exact formulas, evaluated without a proved error ------------------

    @override
    def log_delta_bracket(self, epsilon: Array) -> Bracket:
        with np.errstate(all="ignore"):
            tails = self.log_tails(epsilon)
            ratio = np.minimum(epsilon + tails.p_above - tails.q_above, 0.0)
            log = tails.q_above + np.log(-np.expm1(ratio))
        log = np.where(np.isneginf(tails.q_above), -np.inf, log)
        log = np.where(np.isneginf(tails.p_above), tails.q_above, log)
        log = np.where(np.isposinf(epsilon), self.log_singular[0], log)
        return Bracket(log, log)

    @override
    def delta_bracket(self, epsilon: Array) -> Bracket:
        return exp_outward(self.log_delta_bracket(epsilon))

    @override
    def epsilon_bracket(self, delta: Array) -> Bracket:
        if self.costly or self.of_class:
            return epsilon_of_profile(self.log_delta_bracket, delta)
        return Curve.epsilon_bracket(self, delta)

    def threshold(self, alpha: Array) -> tuple[Array, Array]:
        """Return t and the coin at L = t of the best test of size alpha in (0, 1), estimated."""
        with np.errstate(all="ignore"):
            t = self._threshold(alpha)
            near = _SAME * (1 + np.abs(t))
            above = np.exp(self.log_tails(t + near).p_above)
            atom = np.exp(self.log_tails(t - near, closed=True).p_above) - above
            coin = np.clip((alpha - above) / atom, 0.0, 1.0)
        # What a density has within rounding of the threshold is no atom.
        return t, np.where(atom > _NO_ATOM * alpha, coin, 0.0)

    def _threshold(self, alpha: Array) -> Array:
        """Return the smallest t with P(L > t) <= alpha, by halving."""
        level = np.log(alpha)
        low, high = np.full(alpha.shape, -1.0), np.full(alpha.shape, 1.0)
        for _ in range(60):
            left, right = (self.log_tails(end).p_above for end in (low, high))
            if np.all((left > level) & (right <= level)):
                break
            low = np.where(left <= level, low * 2, low)
            high = np.where(right > level, high * 2, high)
        for _ in range(_STEPS):
            middle = (low + high) / 2
            holds = self.log_tails(middle).p_above <= level
            if np.all((middle == low) | (middle == high)):
                break
            low, high = np.where(holds, low, middle), np.where(holds, middle, high)
        return high

    def _best_test(self, alpha: Array) -> tuple[Tails, Array]:
        """Return the tails at the threshold t, and e^t (alpha - P(L > t)), what a coin spends."""
        high = self._threshold(alpha)
        tails = self.log_tails(high)
        spent = np.exp(high) * (alpha - np.exp(tails.p_above))
        return tails, np.where(np.isfinite(spent), spent, 0.0)

    @override
    def beta_bracket(self, alpha: Array) -> Bracket:
        with np.errstate(all="ignore"):
            tails, spent = self._best_test(alpha)
            value = np.clip(np.exp(tails.q_below) - spent, 0.0, 1 - alpha)
        return Bracket(value, value)

    @override
    def tpr_bracket(self, alpha: Array) -> Bracket:
        with np.errstate(all="ignore"):
            tails, spent = self._best_test(alpha)
            value = np.clip(np.exp(tails.q_above) + spent, alpha, 1.0)
        return Bracket(value, value)

    @override
    def renyi_bracket(self, order: Array) -> Bracket:
        q_singular, _ = self.log_singular
        step = 1e-20
        middle = np.where(np.isfinite(order) & (order != 1), order, 2.0)
        with np.errstate(all="ignore"):
            value = np.real(self.cumulant(middle.astype(np.complex128))) / (middle - 1)
            slope = np.imag(self.cumulant(np.asarray(1 + 1j * step))) / step
        value = np.where(order == 1, slope, value)
        # fmin: where a cumulant overflows, the largest loss still bounds the divergence.
        largest = np.inf if q_singular > -np.inf else self._largest_loss()
        value = np.fmin(np.where(np.isposinf(order), largest, value), largest)
        if q_singular > -np.inf:
            value = np.where(order >= 1, np.inf, value)
        return Bracket(value, value)

    def _largest_loss(self) -> float:
        top = 1.0
        while float(self.log_tails(np.asarray(top)).q_above) > -np.inf:
            top *= 2
            if top > 1e6:
                return np.inf
        low = 0.0
        for _ in range(_STEPS):
            middle = (low + top) / 2
            inside = float(self.log_tails(np.asarray(middle)).q_above) > -np.inf
            low, top = (middle, top) if inside else (low, middle)
        return top

    @override
    def subgaussian_bracket(self) -> Subgaussianity:
        mean = self.renyi_bracket(np.ones(()))
        return (float(mean.lower), float(mean.upper)), least_tau_squared(self)

    @override
    def outer_gaussian(self) -> Fraction | None:
        return None

    @override
    def inner_gaussian(self) -> Fraction:
        if not self.certified:
            return Fraction(0)
        log = min(self.log_singular)
        mass = float(np.exp(log)) * (1 - ULP * (2 - log)) if log > -np.inf else 0.0
        return inner_gaussian_square(self, mass, self.slope)

    def without_failure(self) -> "tuple[Pair, Fraction, Fraction]":
        """Return g, and bounds of d, where this is g ⊗ f_{0,d} by construction; else d = 0."""
        return self, Fraction(0), Fraction(0)

    def slope(self, epsilon: Array) -> Array:
        """Return -d delta / d e^epsilon = P(L > epsilon)."""
        return np.exp(self.log_tails(epsilon).p_above)

    @override
    def outer_pure(self) -> Fraction | None:
        return None

    def inner_pure(self) -> Fraction:
        """The chord from (0, 1) to the fixed point c of f: log((1 - c)/c) = log((1+a)/(1-a)).

        a = 1 - 2c = delta(0), for a symmetric f, which its convexity keeps below the chord.
        """
        if not self.symmetric:
            return Fraction(0)
        advantage = float(self.delta_bracket(np.asarray(0.0)).lower)
        finite = min(advantage, 1 - ULP)
        return Fraction(float(2 * np.arctanh(finite)) * (1 - 4 * ULP))

    def admits(self, curve: Curve) -> bool:  # noqa: ARG002
        """Whether `curve` is proved to be at least this pair's trade-off function, everywhere."""
        return False

    def unsupported(self, other: object) -> UnsupportedComposition:
        """Return the error for a composition without a closed form."""
        return UnsupportedComposition(
            f"{self} was to be composed with {other}, and this has no closed form here; Gaussians "
            "compose exactly, and f_{0,delta} factors out of anything. A valid bound is "
            "gdp(f.mu()) @ gdp(g.mu())"
        )


def _written(value: object) -> object:
    if isinstance(value, Pair):
        return value.record()
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, tuple):
        return [_written(item) for item in cast("tuple[object, ...]", value)]
    if isinstance(value, str | int):
        return value
    raise InvalidParameter(
        f"a field of type {type(value).__name__} has no record; fields of a curve must be "
        "Fractions, ints, texts, pairs or tuples of them"
    )


def _pairs_in(values: Iterable[object]) -> Iterator[Pair]:
    for value in values:
        if isinstance(value, Pair):
            yield value
        elif isinstance(value, tuple):
            yield from _pairs_in(cast("tuple[object, ...]", value))


def check_relation(pairs: Iterable[Pair], do: str, done: str) -> None:
    """Refuse pairs that are proved for different neighbouring relations.

    Raises:
        RelationMismatch: if there are two relations among them.
    """
    found = sorted({pair.neighbors for pair in pairs} - {None}, key=str)
    if len(found) > 1:
        raise RelationMismatch(
            f"pairs proved for neighbors={' and '.join(map(repr, found))} were to be {done}; "
            f"{do} pairs that are proved for one neighbouring relation"
        )


@final
@dataclass(frozen=True, slots=True)
class SwappedPair(Pair):
    """(Q, P): the loss changes sign and law; K_swap(s) = K(1 - s)."""

    pair: Pair

    kind: ClassVar[str] = "swapped"

    @override
    def parameters(self) -> dict[str, object]:
        return {"pair": self.pair.record()}

    def __str__(self) -> str:
        return f"({self.pair}).swap()"

    @override
    def swap(self) -> Pair:
        return self.pair

    @property
    @override
    def log_singular(self) -> tuple[float, float]:
        q, p = self.pair.log_singular
        return p, q

    @override
    def log_tails(self, t: Array, *, closed: bool = False) -> Tails:
        tails = self.pair.log_tails(-np.asarray(t), closed=not closed)
        return Tails(tails.q_below, tails.q_above, tails.p_below, tails.p_above)

    @override
    def cumulant(self, s: ComplexArray) -> ComplexArray:
        return self.pair.cumulant(1 - s)

    @property
    @override
    def neighbors(self) -> str | None:
        return self.pair.neighbors

    @override
    def atoms(self) -> Atoms | None:
        atoms = self.pair.atoms()
        return None if atoms is None else atoms.swapped()

    @override
    def loss_source(self) -> LossSource | None:
        source = self.pair.loss_source()
        return None if source is None else SwappedSource(source)

    @override
    def loss_law(self) -> LossSum | None:
        law = self.pair.loss_law()
        return None if law is None else law.reversed()
