"""The location of a quantile by noisy counts at some places; it uses released numbers only."""

from dataclasses import dataclass, field
from typing import Final, Self, final

import numpy as np
import numpy.typing as npt

from neyman.aggregate import IntArray
from neyman.numerics import Array, log_ndtr

__all__ = ["NoisyCounts"]

# Of the posterior, what lies beyond the answers at each end between which a crossing is believed.
_TAIL: Final = 0.1
# Beside the number of records, what is taken for 0: floats of exact counts are not.
_NOTHING: Final = 1e-9

_Flags = npt.NDArray[np.bool_]


@final
@dataclass(frozen=True, slots=True, eq=False)
class NoisyCounts:
    """G(x) + noise at places x for each group and probability; G is monotone and crosses 0.

    Attributes:
        places: nodes, shape (groups, probabilities, answers), non-decreasing along the last axis.
        above: G + noise there.
        stddev: standard deviation of the noise, same shape.
        last: the last node; G is not negative there.
        ends: estimates of G before the first node and at the last, shape (groups, probabilities)
            each.
    """

    places: IntArray = field(repr=False)
    above: Array = field(repr=False)
    stddev: Array = field(repr=False)
    last: int
    ends: tuple[Array, Array] = field(repr=False)

    @classmethod
    def of(
        cls, places: IntArray, above: Array, stddev: Array, last: int, ends: tuple[Array, Array]
    ) -> Self:
        """Return them sorted by place."""
        order = np.argsort(places, axis=2, kind="stable")
        wide = np.broadcast_to(stddev, places.shape)
        return cls(
            np.take_along_axis(places, order, 2),
            np.take_along_axis(above, order, 2),
            np.take_along_axis(wide, order, 2),
            last,
            ends,
        )

    def beyond(self, offset: Array) -> "NoisyCounts":
        """Return those of G - offset; the offset is by probability, or by group and probability."""
        low, high = self.ends
        above = self.above - offset[..., None]
        return NoisyCounts(
            self.places, above, self.stddev, self.last, (low - offset, high - offset)
        )

    def quantile(self, share: float) -> IntArray:
        """Return a posterior quantile of the place where G crosses 0, by the signs of G only.

        The prior is uniform over the nodes. An answer y at x multiplies the weight of each node up
        to x by Phi(y / s), and of each later node by Phi(-y / s).
        """
        first, end, part = self._piece(share)
        found = np.ceil(first + part * (end - first))
        return np.clip(found, first + 1, end).astype(np.int64)

    def crossing(self) -> IntArray:
        """Return where the nearest monotone G crosses 0, between deciles of the posterior.

        Answers are pooled until they are monotone. The crossing is on the line between the mean
        places of the last negative pool and the first other one.
        """
        rising = self._rising()
        size = np.abs(self.ends[0]) + np.abs(self.ends[1])
        negative = rising < -_NOTHING * (1 + size[..., None])
        low = np.where(negative, rising, -np.inf).max(axis=2, keepdims=True)
        high = np.where(negative, np.inf, rising).min(axis=2, keepdims=True)
        before, after = self._mean_place(rising == low), self._mean_place(rising == high)
        some, others = negative.any(axis=2), (~negative).any(axis=2)
        first = np.where(some, before, -1.0)
        end = np.where(others, after, float(self.last))
        # Without an answer on one side the end stands for it, where G is known to be beyond 0.
        down = np.where(some, low[..., 0], np.minimum(self.ends[0], -_NOTHING))
        up = np.where(others, high[..., 0], np.maximum(self.ends[1], _NOTHING))
        found = np.ceil(first + (end - first) * (-down / (up - down)) - _NOTHING)
        least, most = self._piece(_TAIL)[0] + 1, self._piece(1 - _TAIL)[1]
        return np.clip(found, least, most).astype(np.int64)

    def _mean_place(self, of: _Flags) -> Array:
        weight = of / self.stddev**2
        return (weight * self.places).sum(axis=2) / np.maximum(weight.sum(axis=2), 1e-300)

    def _piece(self, share: float) -> tuple[Array, Array, Array]:
        """Return the edges of the piece of a posterior quantile, and its fraction of the piece."""
        edges, weight = self._posterior()
        reached = np.cumsum(weight, axis=2)
        piece = (reached < share).sum(axis=2, keepdims=True).clip(0, weight.shape[2] - 1)
        own = _at(weight, piece)
        part = (share - (_at(reached, piece) - own)) / np.maximum(own, 1e-300)
        return _at(edges, piece), _at(edges, piece + 1), part

    def _posterior(self) -> tuple[IntArray, Array]:
        """Return the edges of pieces with equally probable nodes, and each piece's probability.

        A piece has the nodes after one edge, up to the next.
        """
        groups, shares, _ = self.places.shape
        end = np.ones((groups, shares, 1), np.int64)
        edges = np.concatenate([-end, self.places, self.last * end], axis=2)
        score = self.above / self.stddev
        none = np.zeros(end.shape)
        after = np.concatenate([none, np.cumsum(log_ndtr(-score), axis=2)], axis=2)
        upto = np.cumsum(log_ndtr(score)[..., ::-1], axis=2)[..., ::-1]
        with np.errstate(divide="ignore"):
            logs = np.log(np.diff(edges, axis=2)) + after + np.concatenate([upto, none], axis=2)
        weight = np.exp(logs - logs.max(axis=2, keepdims=True))
        return edges, weight / weight.sum(axis=2, keepdims=True)

    def _rising(self) -> Array:
        """Return the weighted isotonic regression: max over a <= i of min over b >= i of means."""
        weight = self.stddev**-2.0
        count = weight.shape[2]
        none = np.zeros((*weight.shape[:2], 1))
        weights = np.concatenate([none, np.cumsum(weight, axis=2)], axis=2)
        totals = np.concatenate([none, np.cumsum(weight * self.above, axis=2)], axis=2)
        later = np.tri(count, dtype=bool).T
        with np.errstate(divide="ignore", invalid="ignore"):
            means = (totals[..., None, 1:] - totals[..., :-1, None]) / (
                weights[..., None, 1:] - weights[..., :-1, None]
            )
        means = np.where(later, means, np.inf)
        least = np.minimum.accumulate(means[..., ::-1], axis=-1)[..., ::-1]
        found: Array = np.where(later, least, -np.inf).max(axis=-2)
        return found


def _at(values: Array | IntArray, place: IntArray) -> Array:
    return np.asarray(np.take_along_axis(values, place, 2)[..., 0], dtype=np.float64)
