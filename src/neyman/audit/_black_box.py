"""Auditing a mechanism as a black box: run it on two inputs, look for a test, and test."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from inspect import signature
from time import perf_counter
from typing import Any, Final, NamedTuple, cast, final

import numpy as np

from neyman.arguments import brief, got
from neyman.audit._checks import check_level, seed_of
from neyman.audit._features import Classifier, sides
from neyman.audit._joint import p_value
from neyman.audit._lower_bound import LowerBound, mu_bound
from neyman.audit._null import Claim, Null
from neyman.audit._outputs import RAISES
from neyman.audit._power import detected
from neyman.audit._refute import Verdict
from neyman.audit._rule import Rule, allowed_by
from neyman.audit._runs import Budget, Part, Run, Runs
from neyman.audit._search import Hints, Pair, Test, best_test, features_of
from neyman.audit._sequential import Sequential
from neyman.audit._statistic import Counts, Statistic
from neyman.calls import plain_calls
from neyman.displayed import Displayed
from neyman.errors import InvalidParameter
from neyman.numerics import Array, at_most

__all__ = ["MechanismAudit", "mechanism"]

# Shares of an audit: to learn features, and to choose a test.
_PILOT, _SPLIT = 0.1, 0.2
# Where there are several couples of inputs, the share that chooses among them, and how many.
_INPUTS, _COUPLES = 0.3, 12
_RATIO: Final = "likelihood_ratio"
# Of the level, for stopping early; how many couples of runs the bets look at, and how many are
# scored at once.
_EARLY, _BETS, _ROWS = 0.1, 2000, 250


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MechanismAudit(Displayed):
    """What runs of a mechanism on two inputs say of a claim.

    Attributes:
        verdict: p-value, counts and power of the test that was chosen. Where the audit stopped
            early, take no bound from it.
        event: the test, in words: an output for which this is true is taken for one on the second
            input.
        bound: what the mechanism loses at least, as mu; None where the audit stopped early.
        runs: on each input, in all.
        early: whether bets ended the audit before its time.
        inputs: that the test was made on, first and second.
    """

    verdict: Verdict
    event: str
    bound: LowerBound | None
    runs: int
    early: bool
    inputs: tuple[object, object] = field(repr=False)

    @property
    def refuted(self) -> bool:
        """Whether the claim is refuted at the level."""
        return self.verdict.refuted

    @property
    def p_value(self) -> float:
        """Of the claim: certified, for a test that was chosen on other runs."""
        return self.verdict.p_value

    def __str__(self) -> str:
        v, c = self.verdict, self.verdict.counts
        shares = 100 * c.false_positives / c.outside, 100 - 100 * c.false_negatives / c.inside
        found = "is refuted" if v.refuted else "is not refuted"
        early = " The test stopped early." if self.early else ""
        lines = [
            f"{brief(v.claim)} {found} at level {v.level:g}: p = {at_most(v.p_value, 3)}.",
            f"Test, chosen on other runs: {self.event}. True in {shares[0]:.3g} % of "
            f"{c.outside:,} runs on the first input, and in {shares[1]:.3g} % of {c.inside:,} on "
            f"the second.{early}",
        ]
        if self.bound is not None:
            lines.append(
                f"The mechanism loses at least mu = {self.bound.value:.4g}, at confidence "
                f"{1 - self.bound.level:g}."
            )
        if not v.refuted:
            lines.append(f"{v.power()} Other inputs, or other tests, may show more.")
        return "\n".join(lines)


@plain_calls
def mechanism(
    run: Run,
    D: Any,  # noqa: N803
    D2: Any,  # noqa: N803
    claim: Claim,
    *,
    seconds: float | None = None,
    draws: int | None = None,
    level: float = 0.05,
    seed: int | None = None,
    neighbors: Callable[[np.random.Generator], tuple[Any, Any]] | None = None,
    lattice: float | None = None,
    likelihood_ratio: Callable[[Any], float] | None = None,
    classifier: Classifier | None = None,
) -> MechanismAudit:
    """Test whether outputs of a mechanism on two inputs refute a claimed guarantee.

        x = P(run(D) in E),  y = P(run(D2) not in E),  the claim: y >= f(x) for every event E

    The audit runs the mechanism on both inputs, in random order. On 10 % of the runs it learns
    features of the outputs, on 20 % it chooses the event that should refute the claim best, and on
    the rest it makes one exact test. It looks at

    * kinds of outputs: types, keys, lengths, shapes, exceptions, NaN, infinities, signs of zeros,
      and words and whole numbers as they are;
    * each number, its size, its distance from the median, and its lowest bit that is set, which
      shows noise of a naive floating-point sampler;
    * of several numbers, the projection on the difference of the means, the distance from the mean,
      the largest, its place, the smallest, how many are not 0;
    * with `lattice`, whether numbers are multiples of it;
    * with `likelihood_ratio`, what you know of the law; with `classifier`, what that learns.

    Args:
        run: the mechanism, `run(data)`; or `run(data, rng)`: a parameter of this name is given a
            NumPy generator, which makes the audit reproducible. Its outputs are numbers, texts,
            None, arrays, and lists, tuples, sets and dicts of these. An exception is an output, by
            its type. If the mechanism has state, such as a session with a budget or a sparse
            vector, create it anew within `run`. There, ask all the questions that an analyst would
            ask, and return all answers.
        D: the first input, such as the data without a record. `run` must not change it.
        D2: the second, a neighbour of `D`, such as the data with the record.
        claim: a guarantee f, for its two-way curve, which holds in both orders; or one direction
            of it, such as `f.remove`: of the data without the record against those with it.
        seconds: how long the audit may take, about. It stops early where bets on the first 2,000
            runs refute the claim at a tenth of the level; the test has the rest of the level.
        draws: how often to run on each input, in place of `seconds`; from 100 on. Each part of the
            audit takes 20 runs at least.
        level: the probability of refuting a claim that holds, at most.
        seed: of the streams that `run` is given, one for each input, independent; and of the order
            of the runs. None draws one, which the verdict names. With `draws`, a seed repeats the
            audit as far as `run` takes its random numbers from `rng` alone.
        neighbors: proposes further couples of neighbours: `neighbors(rng) -> (D, D2)`. With it,
            30 % of the runs choose the most telling of twelve couples; one of them is yours.
        lattice: the published numbers are claimed to be multiples of it.
        likelihood_ratio: the log-likelihood ratio of an output, of the second input against the
            first, where you know the densities.
        classifier: with scikit-learn's `fit` and `predict_proba`, such as
            `sklearn.ensemble.HistGradientBoostingClassifier()`. It learns from the pilot.

    Returns:
        What was found: `.refuted`, `.p_value`, `.event` in words, `.bound` of mu, and in `.verdict`
        the counts, and what the test would have detected. The event quotes outputs.

    Guarantee: if the runs are independent and the claim holds for the couple that is tested, it is
        refuted with probability at most `level`, whatever the features, the event and the couple
        that were chosen. Not refuted is no proof of privacy: other inputs or events may show more.
        The report quotes outputs and not inputs: audit made-up data.

    Error: the p-value is a proved upper bound, at most 2e-4, or 1 % of itself, above the supremum.

    Raises:
        InvalidParameter: if a number is outside, neither or both of `seconds` and `draws` are
            given, every run of the pilot raises, or an output holds an object of another type.
        NotCertified: if the claim gives estimates only.

    Source: docs/theory/audit.md; Haney, Desfontaines, Hartman, Shrestha and Hay (2022),
        "Precision-based attacks and interval refining", for the lowest bit.

    >>> from neyman.curves import gdp
    >>> def run(total, rng):
    ...     return round(total + 0.5 * rng.normal(), 3)
    >>> found = mechanism(run, 0.0, 1.0, gdp(1), draws=300, seed=1)
    >>> found.refuted, float(found.bound) > 1
    (True, True)
    """
    check_level(level)
    for name, function in (("run", run), ("neighbors", neighbors), (_RATIO, likelihood_ratio)):
        if not callable(function) and (name == "run" or function is not None):
            raise InvalidParameter(
                f"{name} must be a function; got {got(function)}. Write its name, without a call"
            )
    used = seed_of(seed)
    null = Null(claim)
    audit = _Audit(
        null=null,
        level=level,
        seed=used,
        allowed=allowed_by(null),
        budget=Budget(draws, seconds),
        hints=Hints(lattice=lattice, densities=likelihood_ratio is not None, classifier=classifier),
    )
    seeds = np.random.SeedSequence(used)
    draw, given = np.random.default_rng(seeds.spawn(1)[0]), [(D, D2)]
    if neighbors is not None:
        given.extend(_couple(neighbors, draw) for _ in range(_COUPLES - 1))
    couples = [Runs(run, each, likelihood_ratio, seeds.spawn(1)[0]) for each in given]
    return audit.of(couples)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _Audit:
    """What all parts of an audit know.

    Attributes:
        null: the claim that is tested.
        level: of the audit.
        seed: of everything that it draws.
        allowed: the claim's curve, where rules are compared.
        budget: of runs.
        hints: that the user gave.
    """

    null: Null
    level: float
    seed: int
    allowed: Array
    budget: Budget
    hints: Hints

    def of(self, couples: Sequence[Runs]) -> MechanismAudit:
        """Audit the most telling couple of inputs."""
        runs, taken, start = couples[0], 0, 0.0
        if len(couples) > 1:
            share = _INPUTS / len(couples)
            found = [
                self._search(each, place * share, share, taken=0)
                for place, each in enumerate(couples)
            ]
            best = int(np.argmax([each.test.gap for each in found]))
            runs, start = couples[best], _INPUTS
            taken = sum(each.taken for each in found)
        search = self._search(runs, start, (1 - start) * (_PILOT + _SPLIT), taken=taken)
        taken += search.taken
        tested = self.budget.rest(taken, search.each)
        statistic, bets = self._test(runs, search.test, tested)
        return self._verdict(runs, search.test, statistic, bets, taken)

    def _search(self, runs: Runs, start: float, share: float, *, taken: int) -> "_Found":
        """Look for a test."""
        pilot_share = share * _PILOT / (_PILOT + _SPLIT)
        pilot = runs.outputs(self.budget.part(start, pilot_share))
        _refuse_errors(pilot)
        features = features_of(pilot, self.hints)
        begun = perf_counter()
        split = runs.outputs(self.budget.part(start + pilot_share, share - pilot_share))
        size = len(split[0].each)
        each = (perf_counter() - begun) / size
        taken += len(pilot[0].each) + size
        test = best_test(self.allowed, features, split, self.budget.rest(taken, each))
        return _Found(test, len(pilot[0].each) + size, each)

    def _test(self, runs: Runs, test: Test, size: int) -> tuple[Statistic, Sequential | None]:
        """Count errors of the rule on new runs, until bets stop them."""
        bets = Sequential(self.null.claim, _EARLY * self.level) if self.budget.stops else None
        false, done = [0, 0], 0
        while done < size and not (bets is not None and bets.refuted):
            pair = runs.outputs(Part(min(_ROWS, size - done)))
            scores = sides(test.feature, pair)
            counts = test.rule.statistic(scores).counts
            false[0] += counts.false_positives
            false[1] += counts.false_negatives
            done += counts.outside
            if bets is not None and bets.pairs < _BETS:
                bets.update(
                    inside=_bet_on(test.rule, scores.inside),
                    outside=_bet_on(test.rule, scores.outside),
                )
        counts = Counts(
            false_positives=false[0], outside=done, false_negatives=false[1], inside=done
        )
        return Statistic(counts, test.rule.weight), bets

    def _verdict(
        self, runs: Runs, test: Test, statistic: Statistic, bets: Sequential | None, taken: int
    ) -> MechanismAudit:
        share = 1.0 if bets is None else 1 - _EARLY
        early = bets is not None and bets.refuted
        if bets is not None and bets.refuted:
            p = bets.p_value / _EARLY
        else:
            p = p_value(statistic, self.null).upper / share
        level = share * self.level
        detectable, claimed = detected(statistic, self.null, level)
        verdict = Verdict(
            claim=self.null.claim,
            level=self.level,
            p_value=min(p, 1.0),
            rule=test.rule,
            counts=statistic.counts,
            detectable_mu=detectable,
            claimed_mu=claimed,
            seed=self.seed,
            early=early,
        )
        return MechanismAudit(
            verdict=verdict,
            event=test.feature.event(test.rule),
            bound=None if early else mu_bound(statistic, level, test.rule, self.seed),
            runs=taken + statistic.counts.outside,
            early=early,
            inputs=runs.inputs,
        )


class _Found(NamedTuple):
    """What a search found.

    Attributes:
        test: that should refute the claim best.
        taken: how many runs on each input it took.
        each: how many seconds a run on both inputs took.
    """

    test: Test
    taken: int
    each: float


def _couple(neighbors: Callable[..., object], draw: np.random.Generator) -> tuple[Any, Any]:
    try:
        signature(neighbors).bind(draw)
    except (TypeError, ValueError):
        raise InvalidParameter(
            "neighbors must be a function of one argument, a NumPy generator; got one with other "
            "parameters. Write def neighbors(rng): return smaller, larger"
        ) from None
    proposed = neighbors(draw)
    kind = type(proposed).__name__
    found = cast("tuple[Any, ...]", proposed) if isinstance(proposed, tuple) else ()
    if len(found) != 2:
        raise InvalidParameter(
            f"neighbors must return two inputs, (D, D2); got a {kind}. Write return smaller, larger"
        )
    return found[0], found[1]


def _refuse_errors(pilot: Pair) -> None:
    forms = {one.form for side in pilot for one in side.each}
    if len(forms) == 1 and all(form.startswith(RAISES) for form in forms):
        raise InvalidParameter(
            f"run must return something in some runs; it {forms.pop()} in every run of the pilot. "
            "Call run(D), or run(D, rng), by hand to see why"
        )


def _bet_on(rule: Rule, scores: Array) -> Array:
    """Return scores that bets with a normal model can learn from."""
    return scores if rule.weight == 1 else rule.called(scores).astype(np.float64)
