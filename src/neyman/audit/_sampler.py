"""Whether batches are a Poisson sample: exact tests of sizes, records, couples and steps."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Final, final

import numpy as np
import numpy.typing as npt

from neyman.arguments import brief, got, whole
from neyman.audit._checks import check_level, seed_of
from neyman.calls import plain_calls
from neyman.displayed import Displayed
from neyman.errors import InvalidParameter
from neyman.numerics import Array, Real, at_most, exact
from neyman.numerics._special import binomial_at_least, gamma_above, gamma_below, ndtri

__all__ = ["SamplerAudit", "sampler"]

Seen = npt.NDArray[np.uint8]

_MOST_RECORDS, _MOST_STEPS = 2**32, 2**31
# Beyond it a table of all couples is not made.
_COUPLES: Final = 2048
# How many processes may have had one seed.
_RANKS: Final = (2, 4, 8)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SamplerAudit(Displayed):
    """What batches say of the claim that they are a Poisson sample.

    Attributes:
        level: the probability with which a Poisson sample is refuted, at most.
        p_values: of all tests that were made, by their names.
        seed: of the test of spreads, which is randomized.
    """

    level: float
    p_values: Mapping[str, float]
    seed: int

    @property
    def p_value(self) -> float:
        """Of the claim: the smallest of all, times how many there are (Bonferroni)."""
        return min(1.0, min(self.p_values.values()) * len(self.p_values))

    @property
    def refuted(self) -> bool:
        """Whether the claim is refuted at the level."""
        return self.p_value <= self.level

    @property
    def reasons(self) -> tuple[str, ...]:
        """The tests that refute the claim, the clearest first."""
        many = len(self.p_values)
        ordered = sorted(self.p_values.items(), key=lambda each: each[1])
        return tuple(name for name, p in ordered if p * many <= self.level)

    def __str__(self) -> str:
        if self.refuted:
            return (
                f"The batches are no Poisson sample: refuted at level {self.level:g}, "
                f"p = {at_most(self.p_value, 3)}. What is wrong: {brief(', '.join(self.reasons))}"
            )
        return (
            f"{len(self.p_values)} tests do not refute at level {self.level:g} that the batches "
            f"are a Poisson sample: p = {at_most(self.p_value, 3)}. That is no proof that they are"
        )


@plain_calls
def sampler(
    batches: Iterable[npt.ArrayLike],
    rate: Real,
    steps: int,
    *,
    records: int,
    level: float = 0.05,
    ranks: int | None = None,
    seed: int | None = None,
) -> SamplerAudit:
    """Test whether batches are a Poisson sample: each record in each step by a coin of its own.

    If they are, counts have binomial laws: the total Bin(records steps, rate), the size of a batch
    Bin(records, rate), the steps of a record Bin(steps, rate), the records that two steps share
    Bin(records, rate^2), the steps that two records share Bin(steps, rate^2). Tests of extremes and
    spreads of these, of steps next to one another, an epoch (1 / rate steps) and half the training
    apart, of records that come exactly once in an epoch, and of the records that processes with
    one seed draw together each take an equal share of the level.

    Args:
        batches: for each logical step, the indices of its records, from 0; with repeats, as they
            were summed, and with empty batches. If a batch was split to save memory, give it as
            one batch.
        rate: the sampling probability that is accounted for, in (0, 1].
        steps: how many steps are accounted for.
        records: how many records there are. The tests take a byte for each record in each step.
        level: the probability of refuting a Poisson sample, at most.
        ranks: how many processes drew, where you know it; 2, 4 and 8 are tried if left out.
        seed: of the randomized tests of spreads; it must not be the seed of the batches. None draws
            one, which the result names.

    Guarantee: batches that are a Poisson sample are refuted with probability at most `level`.
        A sampler that is not refuted is not proved correct.

    Error: each p-value is exact but for rounding, 1e-9 of it.

    Raises:
        InvalidParameter: if a number is outside, or a batch holds no indices below `records`.

    Source: docs/theory/audit.md.

    >>> import numpy as np
    >>> draw = np.random.default_rng(1)
    >>> poisson = [np.flatnonzero(draw.random(500) < 0.05) for _ in range(100)]
    >>> sampler(poisson, 0.05, 100, records=500).refuted
    False
    >>> fixed = [draw.choice(500, 25, replace=False) for _ in range(100)]
    >>> sampler(fixed, 0.05, 100, records=500).reasons
    ('spread of batch sizes',)
    """
    check_level(level)
    q = exact(rate, "rate")
    if not 0 < q <= 1:
        raise InvalidParameter(
            f"rate must be in (0, 1]; got {got(rate)}. Write the probability that a record is in a "
            "step, such as 0.01"
        )
    number = whole("records", records, 1, _MOST_RECORDS)
    claimed = whole("steps", steps, 1, _MOST_STEPS)
    processes = _RANKS if ranks is None else (whole("ranks", ranks, 2, number),)
    used = seed_of(seed)
    seen = _inclusions(batches, number, claimed)
    if len(seen) != claimed:
        many = f"more than {claimed:,}" if len(seen) > claimed else f"{len(seen):,}"
        found = {f"{many} batches for {claimed:,} steps": 0.0}
    elif seen.max(initial=0) > 1:
        found = {"a record twice in a step": 0.0}
    else:
        made = _Sample(seen, float(q), np.random.default_rng(used))
        found = dict(made.tests(processes))
    return SamplerAudit(level=level, p_values=MappingProxyType(found), seed=used)


@final
@dataclass(frozen=True, slots=True)
class _Sample:
    """Which record is in which step.

    Attributes:
        seen: 0 or 1, shape (steps, records).
        rate: that is claimed.
        draw: for randomized tests.
    """

    seen: Seen
    rate: float
    draw: np.random.Generator

    def tests(self, ranks: tuple[int, ...]) -> Iterator[tuple[str, float]]:
        """Make all tests; which ones depends on the numbers of steps and records alone."""
        steps, records = self.seen.shape
        sizes, times = (self.seen.sum(axis=axis, dtype=np.float64) for axis in (1, 0))
        yield "how many records in all", _two_sided(float(sizes.sum()), steps * records, self.rate)
        yield "largest and smallest batch", _extreme(sizes, records, self.rate)
        yield "spread of batch sizes", self._spread(sizes, records)
        yield "a record too often or too rarely", _extreme(times, steps, self.rate)
        yield "spread of records", self._spread(times, steps)
        yield from self._couples("two steps are too alike", self.seen)
        yield from self._couples("two records come together", self.seen.T)
        yield from self._of_steps()
        yield from self._of_records(ranks)

    def _spread(self, counts: Array, most: int) -> float:
        """Test the sum of squares of normal scores: too wide, or too even.

        A uniform number between the two values of the distribution function at a count is uniform,
        so that the scores are exactly normal.
        """
        low, high = (
            1 - binomial_at_least(counts + more, np.asarray(most), self.rate) for more in (0, 1)
        )
        uniform = low + self.draw.random(counts.size) * (high - low)
        scores = ndtri(np.clip(uniform, 1e-300, 1 - 1e-16))
        half, total = np.asarray(counts.size / 2), np.asarray(np.sum(scores**2) / 2)
        tails = gamma_below(half, total), gamma_above(half, total)
        return min(1.0, 2 * float(np.minimum(*tails)))

    def _couples(self, name: str, seen: Seen) -> Iterator[tuple[str, float]]:
        """Test the couple of rows that share most."""
        rows, columns = seen.shape
        if 1 < rows <= _COUPLES:
            # Counts are exact in floats, whose products are fast.
            wide = seen.astype(np.float32)
            shared = np.triu(wide @ wide.T, 1).max()
            p = binomial_at_least(np.asarray(shared), np.asarray(columns), self.rate**2)
            yield name, min(1.0, rows * (rows - 1) / 2 * float(p))

    def _of_steps(self) -> Iterator[tuple[str, float]]:
        """Test steps that are apart by some lag, each in one couple, and windows of an epoch."""
        steps, records = self.seen.shape
        epoch = max(round(1 / self.rate), 1)
        lags = {1: "next to one another", epoch: "an epoch apart", steps // 2: "half a run apart"}
        for lag, name in lags.items():
            blocks = steps // (2 * lag) if lag else 0
            if blocks:
                pairs = self.seen[: 2 * lag * blocks].reshape(blocks, 2, lag, records)
                both = int(np.sum(pairs[:, 0] & pairs[:, 1], dtype=np.int64))
                yield f"steps {name}", _two_sided(both, blocks * lag * records, self.rate**2)
        epochs = steps // epoch
        if epochs and epoch > 1:
            windows = self.seen[: epochs * epoch].reshape(epochs, epoch, records)
            once = int(np.sum(windows.sum(axis=1, dtype=np.int64) == 1))
            chance = epoch * self.rate * (1 - self.rate) ** (epoch - 1)
            yield "records once in an epoch", _two_sided(once, epochs * records, chance)

    def _of_records(self, ranks: tuple[int, ...]) -> Iterator[tuple[str, float]]:
        """Test records that processes with one seed would draw together."""
        records = self.seen.shape[1]
        apart: dict[str, tuple[Seen, Seen]] = {}
        if records > 1:
            even = records // 2 * 2
            apart["neighbouring records"] = self.seen[:, 0:even:2], self.seen[:, 1:even:2]
        for many in ranks:
            if part := records // many:
                apart[f"records of {many} ranks"] = (
                    self.seen[:, :part],
                    self.seen[:, part : 2 * part],
                )
        for name, (first, second) in apart.items():
            both = int(np.sum(first & second, dtype=np.int64))
            yield name, _two_sided(both, first.size, self.rate**2)


def _inclusions(batches: Iterable[npt.ArrayLike], records: int, steps: int) -> Seen:
    """Return how often each record is in each step, 2 for more; one step too many ends it."""
    if not isinstance(batches, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidParameter(
            f"batches must be a list of batches; got {got(batches)}. Write, for each step, the "
            "indices of its records, such as [[0, 4], [], [2]]"
        )
    rows = [_row(batch, records) for batch in islice(batches, steps + 1)]
    return np.array(rows, dtype=np.uint8).reshape(-1, records)


def _row(batch: npt.ArrayLike, records: int) -> Seen:
    try:
        indices = np.asarray(batch)
    except ValueError:
        # Lists of different lengths.
        indices = np.zeros((0, 0))
    whole_numbers = indices.size == 0 or indices.dtype.kind in "iu"
    if indices.ndim != 1 or not whole_numbers or np.any((indices < 0) | (indices >= records)):
        raise InvalidParameter(
            f"each batch must be a list of indices from 0 to {records - 1}; got a "
            f"{type(batch).__name__} that is not. Write, for each step, which records were in it; "
            "let a loader return the index of a record in place of the record"
        )
    counts = np.bincount(indices.astype(np.int64), minlength=records)
    return np.minimum(counts, 2).astype(np.uint8)


def _two_sided(count: float, number: int, chance: float) -> float:
    """Return an exact p-value, by doubling the smaller tail."""
    return float(_tails(np.asarray(float(count)), number, chance))


def _extreme(counts: Array, number: int, chance: float) -> float:
    """Return the p-value of the most extreme of independent counts, or of any (Bonferroni)."""
    return min(1.0, counts.size * float(np.min(_tails(counts, number, chance))))


def _tails(counts: Array, number: int, chance: float) -> Array:
    many = np.asarray(number)
    above = binomial_at_least(counts, many, chance)
    # At most as many, that is at least so many of the others: no difference from 1.
    below = binomial_at_least(many - counts, many, 1 - chance)
    return np.minimum(1.0, 2 * np.minimum(above, below))
