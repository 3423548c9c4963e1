"""The polynomials of an additive regression, and the integers of a record."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import ClassVar, Final, Self, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import Columns, IntArray
from neyman.arguments import check_list, check_type, given, whole
from neyman.errors import InvalidParameter
from neyman.functional._bases._domain import Interval, side_of
from neyman.nodes import Nodes
from neyman.numerics import Array
from neyman.sensitivity import Neighbors, Sensitivity

__all__ = [
    "MOST_DEGREE",
    "SCALE",
    "AdditiveTerms",
    "Degrees",
    "Features",
    "feature_domains",
    "feature_pairs",
]

# A function of a place: the degree of Legendre's polynomial in each feature that it depends on.
Degrees: TypeAlias = tuple[tuple[int, int], ...]
# The features that a function depends on.
Features: TypeAlias = tuple[int, ...]

# What an integer of a feature counts for a polynomial of value 1.
SCALE: Final = 1 << 10
MOST_DEGREE: Final = 12
# Places of a feature, and rows that are added up together.
_NODES: Final = (1 << 10) + 1
_PIECE: Final = 1 << 16
# A polynomial of degree j has the share (4/5)^(j - 1) of what a straight line has.
_SHARE: Final = Fraction(4, 5)
_MOST_FEATURES: Final = 16
_MOST_TERMS: Final = 300


@final
@dataclass(frozen=True, slots=True)
class AdditiveTerms:
    """The polynomials of a sum of curves, and the integers of a record.

    With t the place of a feature in [-1, 1], rounded to 1,025 nodes, the integers of a record are

        u_0 = 2^10,   u = round(2^10 (4/5)^(j - 1) P_j(t)),   floor(u u' / 2^10) of an interaction
        u_a u_b  for a <= b,   and   k u_a,   k its response in steps from the middle, |k| <= K

    P_j is Legendre's polynomial. K^2 is the largest sum of all u_a^2, so that both kinds of sums
    have similar noise in a curve that goes from bound to bound. If the number of records is public,
    the product [0, 0] is left out.

    Attributes:
        domains: the domain of each feature.
        response: the bounds of y.
        degree: the degree of the polynomials; for an interaction, the total degree.
        interactions: pairs of features, each in order.
        neighbors: the neighbouring relation.
    """

    digest_name: ClassVar[str] = "neyman.functional._regressions._additive.AdditiveTerms"

    domains: tuple[Interval, ...]
    response: Interval
    degree: int
    interactions: tuple[tuple[int, int], ...]
    neighbors: Neighbors

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            InvalidParameter: if an interaction does not have two features, or there are more than
                300 polynomials.
        """
        instead = 'the bounds of y, Interval(lower, upper, outside="clip")'
        check_type("response", self.response, Interval, instead)
        known = set(combinations(range(len(self.domains)), 2))
        wrong = [pair for pair in self.interactions if pair not in known]
        if wrong or len(set(self.interactions)) < len(self.interactions):
            raise InvalidParameter(
                f"interactions must be pairs of two features from 0 to {len(self.domains) - 1}, "
                f"each once; got {self.interactions}. Write for example [(0, 1)]"
            )
        if self.interactions and self.degree < 2:
            raise InvalidParameter("interactions need a degree of at least 2; write degree=2")
        number = len(self.functions)
        if number > _MOST_TERMS:
            raise InvalidParameter(
                f"a regression must have at most {_MOST_TERMS} polynomials; these domains, degree "
                f"and interactions have {number}. Write a smaller degree or fewer of "
                "them"
            )
        _ = self.axes

    @property
    def counted(self) -> bool:
        """Whether the number of records is private and released."""
        return self.neighbors == "add_remove"

    @property
    def functions(self) -> tuple[Degrees, ...]:
        """The polynomials: the constant, those of each feature, those of each interaction."""
        up_to = range(1, self.degree + 1)
        alone = [((axis, j),) for axis in range(len(self.domains)) for j in up_to]
        joint = [
            ((k, i), (m, j))
            for k, m in self.interactions
            for i in up_to
            for j in range(1, self.degree + 1 - i)
        ]
        return (), *alone, *joint

    @property
    def groups(self) -> Mapping[Features, slice]:
        """The polynomials of the constant, of each feature and of each interaction, in order."""
        found: dict[Features, slice] = {}
        for place, function in enumerate(self.functions):
            features = tuple(axis for axis, _ in function)
            first = found.get(features, slice(place, place)).start
            found[features] = slice(first, place + 1)
        return found

    @property
    def shares(self) -> Array:
        """The scale of each polynomial; 1 for the constant."""
        degrees = [sum(j - 1 for _, j in function) for function in self.functions]
        return float(_SHARE) ** np.array(degrees, np.float64)

    @property
    def axes(self) -> tuple[Nodes, ...]:
        """The nodes of each feature, and those for y: place i is k = i - K."""
        steps = 2 * self.steps
        return (
            *(side.places(float(side.length) / (_NODES - 1), _NODES) for side in self.domains),
            self.response.places(float(self.response.length) / steps, steps + 1),
        )

    @property
    def steps(self) -> int:
        """K, the number of steps from the middle of the response to either bound."""
        return math.isqrt(self._largest(2))

    @property
    def size(self) -> int:
        """The number of released integers."""
        number = len(self.functions)
        return number * (number + 1) // 2 - (not self.counted) + number

    @property
    def label_names(self) -> tuple[str, ...]:
        """The names of the columns of `labels`."""
        return "first", "second"

    def labels(self) -> Columns:
        """Return the two polynomials of each integer, or one polynomial and y."""
        names = [_named(function) for function in self.functions]
        first, second = ([names[int(place)] for place in at] for at in self.pairs())
        return {"first": first + names, "second": second + ["y"] * len(names)}

    def pairs(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return the two polynomials of each product, in the order of the integers."""
        first, second = np.triu_indices(len(self.functions))
        least = 0 if self.counted else 1
        return first[least:], second[least:]

    def record(self) -> dict[str, object]:
        """Return the public record for JSON."""
        return {
            "domains": [domain.record() for domain in self.domains],
            "response": self.response.record(),
            "degree": self.degree,
            "interactions": [list(pair) for pair in self.interactions],
            "neighbors": self.neighbors,
        }

    @classmethod
    def of_record(cls, record: Mapping[str, object]) -> Self:
        """Return the terms that `record` wrote.

        Raises:
            InvalidParameter: if the fields are not valid.
            KeyError, TypeError, ValueError: if the record is malformed.
        """
        domains = cast("list[Mapping[str, object]]", record["domains"])
        neighbors = record["neighbors"]
        if neighbors not in ("add_remove", "replace_one"):
            raise ValueError("no neighbouring relation")
        return cls(
            feature_domains([side_of(domain) for domain in domains]),
            cast("Interval", side_of(cast("Mapping[str, object]", record["response"]))),
            whole("degree", record["degree"], 1, MOST_DEGREE),
            feature_pairs(record["interactions"]),
            neighbors,
        )

    def values(self, places: Mapping[int, Array]) -> Array:
        """Return all polynomials at places, shape (..., functions); 0 for a feature without places.

        Args:
            places: the places by feature, shape (...) each.

        Raises:
            InvalidParameter: if a place is outside its domain.
        """
        tables = {
            axis: np.polynomial.legendre.legvander(
                2 * self.domains[axis].located(x) / float(self.domains[axis].length) - 1,
                self.degree,
            )
            for axis, x in places.items()
        }
        shape = next(iter(places.values())).shape
        functions = self.functions
        found = np.zeros((*shape, len(functions)))
        for column, function in enumerate(functions):
            if all(axis in tables for axis, _ in function):
                found[..., column] = math.prod(
                    (tables[axis][..., j] for axis, j in function), start=np.ones(shape)
                )
        return found

    # -- the integers -------------------------------------------------------------------------

    def sums(self, columns: Sequence[npt.NDArray[np.generic]]) -> IntArray:
        """Return the exact sums over records.

        They are below 2^60: 2^36 records of at most 2^10 K each, K < 2^14. Within a block, all sums
        of doubles are integers below 2^53, in any order.

        Args:
            columns: the features and y, shape (n,) each.
        """
        number, axes = len(self.functions), self.axes
        products = np.zeros((number, number), np.int64)
        responses = np.zeros(number, np.int64)
        for first in range(0, len(columns[0]), _PIECE):
            places = [
                axis.index(column[first : first + _PIECE].astype(np.float64))
                for axis, column in zip(axes, columns, strict=True)
            ]
            pairs = zip(axes, places, strict=True)
            here = np.logical_and.reduce([place < axis.number for axis, place in pairs])
            *features, answers = (place[here] for place in places)
            integers = self._integers(features).astype(np.float64)
            products += (integers.T @ integers).astype(np.int64)
            responses += ((answers - self.steps).astype(np.float64) @ integers).astype(np.int64)
        return np.concatenate([products[self.pairs()], responses])

    def sensitivity(self) -> Sensitivity:
        """Return the sensitivity of the sums to one record.

        With A the sum of u_a^2 and Q the sum of u_a^4,

            add_remove    l2^2 = (A^2 + Q) / 2 + K^2 A
            replace_one   l2^2 = 2 (that - u_0^4) + 2 K^2 t - t^2 + u_0^4,   t = min(K^2, A)

        A and Q are largest where every feature is at an end. In the second case, the inner product
        of two records is at least (t^2 - u_0^4) / 2 - K^2 t, with t the sum of u_a u'_a.

        Error: never too small. Exact for add_remove without interactions.
        """
        squares, fourths, k = self._largest(2), self._largest(4), self.steps
        found = Fraction(squares**2 + fourths, 2) + k * k * squares
        largest = SCALE * max(SCALE, k)
        if not self.counted:
            t = min(k * k, squares)
            found = 2 * (found - SCALE**4) + 2 * k * k * t - t * t + SCALE**4
            largest *= 2
        return Sensitivity(
            neighbors=self.neighbors, l2_squared=found, coordinates=self.size, largest=largest
        )

    def _integers(self, places: Sequence[IntArray]) -> IntArray:
        """Return u for rows at these nodes, shape (rows, functions)."""
        tables = [_legendre(self.degree)[:, at] for at in places]
        functions = self.functions
        found = np.empty((len(functions), len(places[0])), np.int64)
        for row, function in zip(found, functions, strict=True):
            row[:] = SCALE
            for axis, j in function:
                row[:] = row * tables[axis][j - 1] // SCALE
        return found.T

    def _largest(self, power: int) -> int:
        """Return the largest sum of |u_a| to a power; an interaction has 1 more, for its floor."""
        most = np.abs(_legendre(self.degree)).max(axis=1).tolist()
        found = 0
        for function in self.functions:
            bound = SCALE
            for _, j in function:
                bound = bound * most[j - 1] // SCALE
            found += (bound + (len(function) > 1)) ** power
        return found


@lru_cache(maxsize=MOST_DEGREE)
def _legendre(degree: int) -> IntArray:
    """Return the integers of P_1 ... P_degree at the nodes, shape (degree, nodes); exactly."""
    half = (_NODES - 1) // 2
    found = np.empty((degree, _NODES), np.int64)
    for node in range(_NODES):
        t = Fraction(node - half, half)
        before, now = Fraction(1), t
        for j in range(1, degree + 1):
            found[j - 1, node] = math.floor(SCALE * _SHARE ** (j - 1) * now + Fraction(1, 2))
            before, now = now, ((2 * j + 1) * t * now - j * before) / (j + 1)
    found.setflags(write=False)
    return found


def _named(function: Degrees) -> str:
    return " ".join(f"x{axis}:P{j}" for axis, j in function) or "1"


def feature_domains(domains: object) -> tuple[Interval, ...]:
    """Return the domains of features, checked.

    Raises:
        InvalidParameter: if they are not 1 to 16 intervals.
    """
    instead = 'a list with one Interval(lower, upper, outside="clip") for each feature'
    check_list("domains", domains, instead)
    sides = tuple(cast("Sequence[object]", domains))
    if not 1 <= len(sides) <= _MOST_FEATURES:
        raise InvalidParameter(
            f"domains must be those of 1 to {_MOST_FEATURES} features; got {len(sides)}. Write "
            f"{instead}"
        )
    for side in sides:
        check_type("each of domains", side, Interval, 'Interval(lower, upper, outside="clip")')
    return cast("tuple[Interval, ...]", sides)


def feature_pairs(interactions: object) -> tuple[tuple[int, int], ...]:
    """Return pairs of features, each in order.

    Raises:
        InvalidParameter: if they are not pairs of whole numbers.
    """
    instead = "a list of pairs of features, such as [(0, 1)]"
    check_list("interactions", interactions, instead)
    pairs: list[tuple[int, int]] = []
    for pair in cast("Sequence[object]", interactions):
        check_list("interactions", pair, instead)
        both = cast("Sequence[object]", pair)
        axes = [axis for axis in both if type(axis) is int]
        if len(axes) != len(both) or len(both) != len(("first", "second")):
            raise InvalidParameter(f"{given('interactions', both)} is no pair; write {instead}")
        pairs.append((min(axes), max(axes)))
    return tuple(pairs)
