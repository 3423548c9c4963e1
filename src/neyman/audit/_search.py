"""The search, on a share of the runs, for the feature and test that should refute a claim best."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from neyman.arguments import got
from neyman.audit._checks import is_number
from neyman.audit._features import (
    Category,
    Classified,
    Classifier,
    Feature,
    Measure,
    Ratio,
    Read,
    lowest_bits,
    sides,
)
from neyman.audit._outputs import Outputs
from neyman.audit._rule import Rule, prospects
from neyman.errors import InvalidParameter
from neyman.numerics import Array

__all__ = ["Hints", "Pair", "Test", "best_test", "features_of"]

Pair = tuple[Outputs, Outputs]
"""Outputs on the first input and on the second."""

# Parts that are looked at one by one, and numbers that are looked at together.
_PARTS: Final = 12
_TOGETHER: Final = 4096
# An earlier feature is left for a clear gain alone: a search among many profits from chance.
_CLEAR: Final = 0.5


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """What the user knows of the mechanism.

    Attributes:
        lattice: the numbers that it publishes are multiples of.
        densities: whether outputs carry a log-likelihood ratio.
        classifier: that learns from the pilot.
    """

    lattice: float | None
    densities: bool
    classifier: Classifier | None

    def __post_init__(self) -> None:
        """Refuse an invalid lattice or classifier.

        Raises:
            InvalidParameter: if a hint is not what it should be.
        """
        if self.lattice is not None and not (is_number(self.lattice) and 0 < self.lattice < np.inf):
            raise InvalidParameter(
                f"lattice must be positive and finite; got {got(self.lattice)}. Write the number "
                "that all published numbers are multiples of, such as 2**-10"
            )
        if self.classifier is not None and not isinstance(self.classifier, Classifier):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidParameter(
                f"classifier must have the methods fit and predict_proba; got a "
                f"{type(self.classifier).__name__}. Write a classifier of scikit-learn (pip "
                "install scikit-learn), such as sklearn.linear_model.LogisticRegression()"
            )


@final
@dataclass(frozen=True, slots=True)
class Test:
    """A rule on a feature of the outputs, and by how many deviations it should refute the claim."""

    feature: Feature
    rule: Rule
    gap: float


def best_test(f: Array, features: Sequence[Feature], split: Pair, tested: int) -> Test:
    """Return the test that should refute a claim best.

    Args:
        f: the claim's curve, as `allowed_by` gives it.
        features: learnt from other runs.
        split: outputs to choose from.
        tested: how many runs on each input the test will have.
    """
    found = prospects(f, [sides(feature, split) for feature in features], (tested, tested))
    best, clear = found[0], -np.inf
    for place, prospect in found:
        if prospect.gap > clear:
            best, clear = (place, prospect), prospect.gap + _CLEAR
    return Test(features[best[0]], best[1].rule, best[1].gap)


def features_of(pilot: Pair, hints: Hints) -> list[Feature]:
    """Return features, learnt from a pilot; those that are more telling as a rule come first."""
    found: list[Feature] = [Ratio()] if hints.densities else []
    found.append(Category.learnt("the kind of the output", _forms, pilot))
    each = (one.labels for side in pilot for one in side.each)
    labels = tuple(dict.fromkeys(label for labels in each for label in labels))[:_TOGETHER]
    if labels:
        numbers = np.concatenate([side.numbers(labels) for side in pilot])
        first = len(pilot[0].each)
        if len(labels) > 1:
            found.extend(_together(labels, numbers, first))
        for column in _telling(numbers, first):
            found.extend(_single(labels[column], pilot, hints))
    found.append(Category.learnt("the output", _patterns, pilot))
    if hints.classifier is not None:
        found.append(Classified.learnt(hints.classifier, found, pilot))
    return found


def _single(label: str, pilot: Pair, hints: Hints) -> Iterator[Feature]:
    """Make features of one part of the output."""
    part = _name_of(label)
    yield from _measures(label, part, pilot, hints, Outputs.numbers)
    if any(side.mixes(label) for side in pilot):
        yield from _measures(label, f"{part} as a number", pilot, hints, Outputs.fractions)
    if label and len({token for side in pilot for token in side.tokens(label)}) > 1:
        yield Category.learnt(part, lambda outputs: outputs.tokens(label), pilot)


def _measures(label: str, name: str, pilot: Pair, hints: Hints, read: Read) -> Iterator[Feature]:
    own = (label,)
    numbers = np.concatenate([read(side, own)[:, 0] for side in pilot])
    finite = numbers[np.isfinite(numbers)]
    if not finite.size:
        return
    middle = float(np.median(finite))
    # What is no number can be called in with the small ones, or with the large ones.
    for absent in (-np.inf, np.inf) if np.isnan(numbers).any() else (None,):
        yield Measure(name, own, _value, absent, read)
        yield Measure(f"|{name}|", own, _size, absent, read)
        yield Measure(f"|{name} - {middle:.6g}|", own, _Distance(middle), absent, read)
        yield Measure(f"the exponent of the lowest bit of {name}", own, _lowest_bit, absent, read)
    if hints.lattice is not None:
        rest = _Rest(hints.lattice)
        yield Measure(f"the distance of {name} / {hints.lattice:g} from a whole number", own, rest)


def _together(labels: tuple[str, ...], numbers: Array, first: int) -> Iterator[Feature]:
    """Make features of all numbers of the output."""
    center, scale, gap = _moments(numbers, first)
    known = np.where(np.isfinite(numbers), numbers, center)
    if not np.all(known == known[0]):
        yield Measure(
            "the projection on the difference of the means", labels, _Along(center, gap / scale**2)
        )
        yield Measure("the distance from the mean", labels, _Apart(center, scale))
        yield Measure("the largest number", labels, _largest)
        yield Measure("the smallest number", labels, _smallest)
        yield Measure("the place of the largest number", labels, _place)
        yield Measure("the lowest bit of all numbers", labels, _lowest_bit)
    yield Measure("how many numbers are not 0", labels, _nonzero)
    yield Measure("how many numbers are finite", labels, _many)


def _telling(numbers: Array, first: int) -> list[int]:
    """Return the columns whose means or spreads differ most, the most telling first."""
    _, scale, gap = _moments(numbers, first)
    spreads = [_spread(side) for side in (numbers[:first], numbers[first:])]
    with np.errstate(divide="ignore", invalid="ignore"):
        other = np.nan_to_num(np.abs(np.log(spreads[1] / spreads[0])), nan=0.0, posinf=9, neginf=9)
    found = np.maximum(np.abs(gap) / scale, other)
    return np.argsort(-found, kind="stable")[:_PARTS].tolist()


def _moments(numbers: Array, first: int) -> tuple[Array, Array, Array]:
    """Return the center of each column, its scale, and by how much its second mean is larger."""
    means = [_mean(side) for side in (numbers[:first], numbers[first:])]
    center = (means[0] + means[1]) / 2
    scale = np.sqrt((_spread(numbers[:first]) ** 2 + _spread(numbers[first:]) ** 2) / 2)
    return center, np.where(scale > 0, scale, 1.0), means[1] - means[0]


def _mean(numbers: Array) -> Array:
    finite = np.isfinite(numbers)
    return np.where(finite, numbers, 0.0).sum(axis=0) / np.maximum(finite.sum(axis=0), 1)


def _spread(numbers: Array) -> Array:
    off = np.where(np.isfinite(numbers), numbers - _mean(numbers), 0.0)
    return np.sqrt(np.mean(off**2, axis=0))


def _forms(outputs: Outputs) -> list[str]:
    return [one.form for one in outputs.each]


def _patterns(outputs: Outputs) -> list[str]:
    return [one.pattern for one in outputs.each]


def _name_of(label: str) -> str:
    return f"output{label}" if label else "the output"


# -- functions of numbers, shape (runs, parts) ---------------------------------------------------


def _value(numbers: Array) -> Array:
    return numbers[:, 0]


def _size(numbers: Array) -> Array:
    return np.abs(numbers[:, 0])


def _lowest_bit(numbers: Array) -> Array:
    bits = lowest_bits(numbers)
    least = np.where(np.isnan(bits), np.inf, bits).min(axis=1)
    return np.where(np.isinf(least), np.nan, least)


def _largest(numbers: Array) -> Array:
    return np.where(np.isnan(numbers), -np.inf, numbers).max(axis=1)


def _smallest(numbers: Array) -> Array:
    return np.where(np.isnan(numbers), np.inf, numbers).min(axis=1)


def _place(numbers: Array) -> Array:
    return np.argmax(np.where(np.isnan(numbers), -np.inf, numbers), axis=1).astype(np.float64)


def _nonzero(numbers: Array) -> Array:
    return np.sum((numbers != 0) & ~np.isnan(numbers), axis=1).astype(np.float64)


def _many(numbers: Array) -> Array:
    return np.sum(np.isfinite(numbers), axis=1).astype(np.float64)


@final
@dataclass(frozen=True, slots=True)
class _Distance:
    middle: float

    def __call__(self, numbers: Array) -> Array:
        return np.abs(numbers[:, 0] - self.middle)


@final
@dataclass(frozen=True, slots=True)
class _Rest:
    lattice: float

    def __call__(self, numbers: Array) -> Array:
        steps = numbers[:, 0] / self.lattice
        return np.abs(steps - np.round(steps))


@final
@dataclass(frozen=True, slots=True)
class _Along:
    center: Array
    direction: Array

    def __call__(self, numbers: Array) -> Array:
        off = np.where(np.isfinite(numbers), numbers - self.center, 0.0)
        return off @ self.direction


@final
@dataclass(frozen=True, slots=True)
class _Apart:
    center: Array
    scale: Array

    def __call__(self, numbers: Array) -> Array:
        off = np.where(np.isfinite(numbers), numbers - self.center, 0.0)
        return np.sqrt(np.sum((off / self.scale) ** 2, axis=1))
