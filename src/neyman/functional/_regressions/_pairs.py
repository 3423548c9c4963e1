"""Two channels on one line: the numbers of records, and the sums of their responses."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Self, cast, final

import numpy as np

from neyman.aggregate import IntArray
from neyman.arguments import whole
from neyman.errors import InvalidParameter
from neyman.functional._arguments import number
from neyman.functional._bases._basis import Basis
from neyman.functional._bases._domain import Interval, Side, side_of
from neyman.functional._bases._features import lag_products, whole_sums
from neyman.functional._bases._symmetric_waves import eighth_norms, eighth_products
from neyman.functional._bases._target import Octaves, Scales, Target, target_of
from neyman.nodes import Nodes
from neyman.numerics import Array, Real, exact, text
from neyman.numerics import Interval as Bounds
from neyman.sensitivity import Neighbors, Sensitivity

__all__ = ["COUNTED", "PairChannels", "pair_sensitivity", "pair_sums", "started_at"]

# a, the weight of a record in the first channel. Both have features a times coarser, for those are
# multiplied by responses of as many steps.
COUNTED: Final = 1 << 8
_MOST_BANDWIDTHS: Final = 256
# Of a length: the bandwidth that one record would be released at; the widest scale, at least.
_PILOT: Final = 0.72
_WIDEST: Final = 0.3
# Entries of coarse features, rounded twice, differ from real ones by at most half of this.
_ROUNDED: Final = 1 + 2.0**-7


def started_at(
    domain: Side, bandwidth: Real | None, records: int | None, target: Target | None
) -> tuple[Fraction, Target]:
    """Return the bandwidth and the target of a release.

        h = length max(0.72 records^(-1/2), 1/256),   at most a tenth of the length,
        Octaves(number),   h 2^(number - 1) about a third of the length

    A curve of few records is nearly straight, and needs few waves. Every scale up to the domain has
    its share of the budget, because the scale of the curve is not known. A quotient of two noisy
    sums shows nothing finer than a 256th of the length.

    Raises:
        InvalidParameter: if both or neither of bandwidth and records are given, or `records` is not
            a whole number from 1 to 2^53.
    """
    if bandwidth is not None and records is None:
        return exact(bandwidth, "bandwidth"), Scales() if target is None else target
    if bandwidth is not None or records is None:
        raise InvalidParameter(
            "a regression must have one of bandwidth= and records=; got "
            f"{'neither' if records is None else 'both'}. Write records=, a public guess of their "
            "number, or bandwidth=, the smallest one that you need"
        )
    number = whole("records", records, 1, 2**53)
    share = min(max(_PILOT / math.sqrt(number), 1 / _MOST_BANDWIDTHS), 0.1)
    # Three digits, upwards.
    unit = Fraction(10) ** (math.floor(math.log10(share * float(domain.length))) - 2)
    found = math.ceil(Fraction(share) * domain.length / unit) * unit
    found = min(found, domain.largest_bandwidth)
    scales = math.ceil(math.log2(_WIDEST * float(domain.length / found)))
    return found, Octaves(max(scales, 1)) if target is None else target


@final
@dataclass(frozen=True, slots=True)
class PairChannels:
    """The sums of a T_x and of k T_x over records, with k the response in steps.

        a = 256,   k in [-K, K],   K = 360 under add_remove, 300 under replace_one

    Let m be a curve relative to the middle of its bounds, in units B of half their distance. Its
    noise is that of the second channel minus m times that of the first. Under add_remove its mean
    square is proportional to (1 + a^2/K^2) (1 + v K^2/a^2), where v is the mean square of m. That
    is least at (a/K)^2 = sqrt(v); at a/K = 0.71 it is within 16 per cent of the least for all v
    from 0.03 to 1. Under replace_one a change of the sign of k moves the sums by 2 K, so an a
    slightly below K costs nothing.

    K has many divisors, so answers on scales of 2 to 7 points that fill the bounds are not rounded.

    Attributes:
        domain: the domain of x.
        bandwidth: h, the smallest available bandwidth.
        response: the bounds of y, and the rule for a y outside.
        target: the weights of errors, in both channels.
        counted: whether the number of records is private and released.
    """

    domain: Side
    bandwidth: Fraction
    response: Interval
    target: Target
    counted: bool

    def __post_init__(self) -> None:
        """Check the bandwidth.

        Raises:
            InvalidParameter: if it is below a 256th of the length, or not valid for the basis.
        """
        least = self.domain.length / _MOST_BANDWIDTHS
        if self.bandwidth < least:
            raise InvalidParameter(
                f"bandwidth must be at least {float(least):.6g} on a domain of length "
                f"{text(self.domain.length)}; got {text(self.bandwidth)}. Write a larger one, or "
                "records=, a public guess of how many there are"
            )
        _ = self.counts

    @property
    def counts(self) -> Basis:
        """The basis of the first channel: the density, without its integral if that is public."""
        return Basis(self.domain, self.bandwidth, self.target, self.counted)

    @property
    def responses(self) -> Basis:
        """The basis of the second channel: the sum of responses is private under both relations."""
        return Basis(self.domain, self.bandwidth, self.target, counted=True)

    @property
    def steps(self) -> int:
        """K, the number of steps from the middle of the response to either bound."""
        return 360 if self.counted else 300

    @property
    def size(self) -> int:
        """The number of released integers."""
        return self.counts.size + self.responses.size

    @property
    def axes(self) -> tuple[Nodes, Nodes]:
        """The nodes of x, and the 2 K + 1 nodes of y; place i is k = i - K."""
        step = float(self.response.length) / (2 * self.steps)
        return *self.counts.axes, self.response.places(step, 2 * self.steps + 1)

    def record(self) -> dict[str, object]:
        """Return the public record for JSON."""
        return {
            "domain": self.domain.record(),
            "bandwidth": text(self.bandwidth),
            "response": self.response.record(),
            "target": self.target.record(),
            "counted": self.counted,
        }

    @classmethod
    def of_record(cls, record: Mapping[str, object]) -> Self:
        """Return the channels that `record` wrote.

        Raises:
            InvalidParameter: if the fields are not valid.
            KeyError, TypeError, ValueError: if the record is malformed.
        """
        parts = {
            name: cast("Mapping[str, object]", record[name])
            for name in ("domain", "response", "target")
        }
        response = side_of(parts["response"])
        if type(response) is not Interval:
            raise ValueError("no bounds of a response")
        return cls(
            side_of(parts["domain"]),
            number(record["bandwidth"]),
            response,
            target_of(parts["target"]),
            record["counted"] is True,
        )


@final
@dataclass(frozen=True, slots=True)
class _Coarse:
    """The integers nearest to 1/256 of those of a basis, times a weight.

    Without the weight, columns have a squared norm near 2^32.
    """

    basis: Basis
    weight: int

    @property
    def size(self) -> int:
        return self.basis.size

    @property
    def nodes(self) -> int:
        return self.basis.nodes

    @property
    def circle_nodes(self) -> int:
        return self.basis.circle_nodes

    @property
    def amplitudes(self) -> Array:
        return self.basis.amplitudes / COUNTED * self.weight

    @property
    def counted(self) -> bool:
        return self.basis.counted

    @property
    def highest(self) -> int:
        return self.basis.highest

    @property
    def count_feature(self) -> int:
        return round(self.basis.count_feature / COUNTED) * self.weight

    def eighths(self) -> Iterator[tuple[slice, Array, Array]]:
        for harmonics, cosines, sines in self.basis.eighths():
            yield harmonics, self._scaled(cosines), self._scaled(sines)

    def _scaled(self, waves: Array) -> Array:
        return np.rint(waves / COUNTED) * self.weight

    def products(self, numbers: Array) -> IntArray:
        return eighth_products(self, numbers)

    def norms(self) -> tuple[IntArray, int]:
        return eighth_norms(self)


def pair_sums(channels: PairChannels, counts: IntArray, totals: IntArray) -> IntArray:
    """Return the exact sums of both channels, clamped to [-2^62, 2^62] as in `whole_sums`.

    Args:
        channels: the channels.
        counts: records at each node of x, shape (groups, nodes).
        totals: the sum of k over the records at each node, shape (groups, nodes).

    Returns:
        The sums, shape (groups, size).
    """
    first = whole_sums(_Coarse(channels.counts, COUNTED), counts)
    return np.concatenate([first, whole_sums(_Coarse(channels.responses, 1), totals)], axis=-1)


def pair_sensitivity(channels: PairChannels, neighbors: Neighbors) -> Sensitivity:
    """Return the sensitivity of the sums; a record is at one node with one k, or at none.

        add_remove    l2^2 = max_x a^2 ||T_x||^2 + K^2 ||U_x||^2, checked as integers
        replace_one   the larger of that and of
                      (max_d sqrt(2 a^2 (|t|^2 - t(d)) + 2 K^2 (|u|^2 + |u(d)|))
                       + (1 + 2^-7) sqrt(a^2 rows + K^2 rows'))^2

    T and U are the columns of the channels, t(d) and u(d) the products of two columns at lag d
    before rounding. The square of k u - k' u' is convex in k and k', so it is largest where both
    are K or -K.

    Error: never too small. Exact for add_remove; too large by 1e-3 (relative) for replace_one.
    """
    k = channels.steps
    bases = _Coarse(channels.counts, COUNTED), _Coarse(channels.responses, 1)
    (first, entry), (second, other) = (basis.norms() for basis in bases)
    squared = Fraction(int((first + k * k * second).max()))
    largest = max(entry, k * other)
    if neighbors == "replace_one":
        squared = max(squared, _exchanged(k, *bases))
        largest *= 2
    return Sensitivity(
        neighbors=neighbors, l2_squared=squared, coordinates=channels.size, largest=largest
    )


def _exchanged(k: int, counts: _Coarse, responses: _Coarse) -> Fraction:
    t, u, a = lag_products(counts), lag_products(responses), counts.weight
    first, second = (
        Bounds.exactly(basis.amplitudes).squared().total() for basis in (counts, responses)
    )
    moves = (first - t) * 2 + (second + u.larger(-u)) * (2 * k * k)
    rounding = Bounds.of(a * a * counts.size + k * k * responses.size).sqrt() * _ROUNDED
    bound = Bounds.exactly(np.max(moves.upper)).sqrt() + rounding
    return Fraction(math.ceil(Fraction(float(bound.upper)) ** 2))
