"""Features of outputs: each makes one number of an output, and says in words what a rule means."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, final, runtime_checkable

import numpy as np

from neyman.arguments import brief
from neyman.audit._outputs import Outputs
from neyman.audit._rule import Rule
from neyman.audit._scores import Scores
from neyman.numerics import Array
from neyman.overriding import override

__all__ = [
    "Category",
    "Classified",
    "Classifier",
    "Feature",
    "Measure",
    "Ratio",
    "lowest_bits",
    "sides",
]

Read = Callable[[Outputs, tuple[str, ...]], Array]
"""How numbers of some parts are taken from outputs."""

# The bits of a float's mantissa, and exponents beyond those of any float.
_MANTISSA, _BEYOND = 53, 2000.0
_LISTED = 3
_FEW, _UNSEEN = 8, -1000.0
_LARGE = 1e30


class Feature(ABC):
    """A number of each output, which a rule compares with a threshold."""

    @abstractmethod
    def scores(self, outputs: Outputs) -> Array:
        """Return the number of each output; never NaN."""

    @abstractmethod
    def event(self, rule: Rule) -> str:
        """Say when the rule calls an output one of the second input."""


@final
@dataclass(frozen=True, slots=True)
class Measure(Feature):
    """A function of some numbers of an output.

    Attributes:
        name: what it is, in words.
        labels: of the numbers.
        of: the function, from an array of shape (runs, labels).
        absent: the score of outputs for which it is NaN, an infinity; None where the pilot has
            none, and then -inf.
        read: how the numbers are taken from outputs.
    """

    name: str
    labels: tuple[str, ...]
    of: Callable[[Array], Array]
    absent: float | None = None
    read: Read = Outputs.numbers

    @override
    def scores(self, outputs: Outputs) -> Array:
        found = self.of(self.read(outputs, self.labels))
        return np.where(np.isnan(found), -np.inf if self.absent is None else self.absent, found)

    @override
    def event(self, rule: Rule) -> str:
        none = self.absent is not None and bool(rule.called(np.asarray(self.absent)))
        return f"{self.name} is {_beyond(rule)}{', or is no number' if none else ''}"


@final
@dataclass(frozen=True, slots=True)
class Category(Feature):
    """How much more often a pilot's runs on the second input fell into a category.

    Attributes:
        name: the property that is categorised, in words.
        of: the category of each output.
        odds: log-ratios of the pilot's shares.
        unseen: the score of a category that the pilot has not seen.
    """

    name: str
    of: Callable[[Outputs], Sequence[str]]
    odds: Mapping[str, float]
    unseen: float

    @classmethod
    def learnt(
        cls,
        name: str,
        of: Callable[[Outputs], Sequence[str]],
        pilot: tuple[Outputs, Outputs],
    ) -> "Category":
        """Return the feature, with the odds of a pilot."""
        counts = [Counter(of(side)) for side in pilot]
        sizes = [len(side.each) for side in pilot]
        seen = {*counts[0], *counts[1]}
        # Where there are few, one that the pilot has not seen is an event of its own.
        few = len(seen) <= _FEW
        odds = {
            each: float(
                np.log((counts[1][each] + 0.5) / (sizes[1] + 1))
                - np.log((counts[0][each] + 0.5) / (sizes[0] + 1))
            )
            for each in sorted(seen)
            if few or counts[0][each] + counts[1][each] > 1
        }
        return cls(name, of, odds, _UNSEEN if few else 0.0)

    @override
    def scores(self, outputs: Outputs) -> Array:
        return np.array([self.odds.get(each, self.unseen) for each in self.of(outputs)])

    @override
    def event(self, rule: Rule) -> str:
        calls = rule.called(np.array([self.unseen, *self.odds.values()])).tolist()
        if not any(call != calls[0] for call in calls[1:]):
            return f"{self.name} is {'anything' if calls[0] else 'one that no pilot run gave'}"
        word = "not " if calls[0] else ""
        listed = [one for one, call in zip(self.odds, calls[1:], strict=True) if call != calls[0]]
        ordered = sorted(listed, key=lambda each: -abs(self.odds[each]))
        more = f" or {len(ordered) - _LISTED} more" if len(ordered) > _LISTED else ""
        return f"{self.name} is {word}{' or '.join(map(brief, ordered[:_LISTED]))}{more}"


@final
@dataclass(frozen=True, slots=True)
class Ratio(Feature):
    """The log-likelihood ratio of the output, by densities that the user gave."""

    @override
    def scores(self, outputs: Outputs) -> Array:
        return np.nan_to_num(
            [output.ratio for output in outputs.each], posinf=np.inf, neginf=-np.inf
        )

    @override
    def event(self, rule: Rule) -> str:
        return f"its log-likelihood ratio is {_beyond(rule)}"


@runtime_checkable
class Classifier(Protocol):
    """What scikit-learn's classifiers offer."""

    def fit(self, X: Array, y: Array, /) -> object:  # noqa: N803
        """Learn from rows and their classes, 0 and 1."""
        ...

    def predict_proba(self, X: Array, /) -> Array:  # noqa: N803
        """Return the chances of both classes for each row."""
        ...


@final
@dataclass(frozen=True, slots=True)
class Classified(Feature):
    """The chance of the second input, by a classifier that has learnt from the pilot.

    Attributes:
        model: the classifier.
        features: what it sees of an output.
        centers: of the features in the pilot.
        scales: of the features in the pilot.
    """

    model: Classifier
    features: tuple[Feature, ...]
    centers: Array
    scales: Array

    @classmethod
    def learnt(
        cls, model: Classifier, features: Sequence[Feature], pilot: tuple[Outputs, Outputs]
    ) -> "Classified":
        """Return the feature, after the classifier has learnt."""
        sides = [_columns(features, side) for side in pilot]
        rows = np.concatenate(sides)
        centers, scales = rows.mean(axis=0), rows.std(axis=0)
        found = cls(model, tuple(features), centers, np.where(scales > 0, scales, 1.0))
        model.fit((rows - centers) / found.scales, np.repeat([0, 1], [len(side) for side in sides]))
        return found

    @override
    def scores(self, outputs: Outputs) -> Array:
        rows = (_columns(self.features, outputs) - self.centers) / self.scales
        return np.asarray(self.model.predict_proba(rows))[:, 1]

    @override
    def event(self, rule: Rule) -> str:
        return f"{type(self.model).__name__} gives it a chance that is {_beyond(rule)}"


def sides(feature: Feature, pair: tuple[Outputs, Outputs]) -> Scores:
    """Return the scores of a feature; the second input is inside."""
    return Scores(outside=feature.scores(pair[0]), inside=feature.scores(pair[1]))


def lowest_bits(numbers: Array) -> Array:
    """Return the exponents of the lowest bits that are set; large for 0, NaN where not finite.

    The noise of a naive sampler is a float of 53 bits, and a sum with it is rounded to the ulp of
    the sum: which bits can be set then depends on what was added (Haney et al., 2022).
    """
    finite = np.isfinite(numbers)
    mantissas, exponents = np.frexp(np.where(finite, numbers, 0.0))
    wholes = np.abs(np.ldexp(mantissas, _MANTISSA)).astype(np.int64)
    places = np.frexp((wholes & -wholes).astype(np.float64))[1] - 1
    found = np.where(wholes == 0, _BEYOND, exponents - _MANTISSA + places)
    return np.where(finite, found, np.nan)


def _columns(features: Sequence[Feature], outputs: Outputs) -> Array:
    columns = [np.clip(feature.scores(outputs), -_LARGE, _LARGE) for feature in features]
    return np.stack(columns, axis=1)


def _beyond(rule: Rule) -> str:
    return f"{'above' if rule.direction > 0 else 'below'} {rule.threshold:.6g}"
