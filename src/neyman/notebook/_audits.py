"""Audits: the tested claim, the result, and the power of the test."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from neyman.arguments import brief
from neyman.audit import (
    CurveBand,
    LowerBound,
    MechanismAudit,
    OneRun,
    SamplerAudit,
    Sequential,
    Verdict,
)
from neyman.notebook._card import card, facts, lines, quiet, table
from neyman.notebook._drawn import curve
from neyman.numerics import at_least, at_most

__all__ = ["html"]

_POINTS: Final = 61
_LABELS: Final = ("wrongly accused (type I error)", "missed (type II error)")


def html(shown: object) -> str:
    """Return the HTML of a verdict, a bound, a band, a bet or a run."""
    match shown:
        case Verdict():
            return card(_found(shown.refuted), _verdict(shown))
        case Sequential():
            return card(f"{_found(shown.refuted)} at any time", _bet(shown))
        case CurveBand():
            return card("Band for the trade-off curve", _band(shown))
        case OneRun():
            return card("Audit of one run", _one_run(shown))
        case MechanismAudit():
            return card(_found(shown.refuted), [lines(str(shown))])
        case SamplerAudit():
            title = "refuted" if shown.refuted else "not refuted"
            return card(f"Audit: Poisson sampling is {title}", [lines(str(shown))])
        case LowerBound():
            return card("Lower bound of a loss", [lines(str(shown))])
        case _:
            return card(type(shown).__name__, [lines(str(shown))])


def _found(refuted: bool) -> str:
    return "Audit: the claim is refuted" if refuted else "Audit: the claim is not refuted"


def _verdict(shown: Verdict) -> Iterator[str]:
    c, rule = shown.counts, shown.rule
    sign = ">" if rule.direction > 0 else "<"
    mu = shown.detectable_mu
    yield facts(
        {
            "Claim": brief(shown.claim),
            "p-value": f"{at_most(shown.p_value, 3)}, at level {shown.level:g}",
            "Rule": f"score {sign} {rule.threshold:.4g}",
            "Called in, with the record": f"{c.inside - c.false_negatives:,} of {c.inside:,}",
            "Called in, without it": f"{c.false_positives:,} of {c.outside:,}",
            "Lost at least": f"mu = {at_least(shown.mu().value, 3)}",
            "Refuted in about four of five audits": None if mu is None else f"mu = {mu:.3g}",
            "The claim corresponds to": f"mu = {shown.claimed_mu:.3g}",
        }
    )
    yield quiet("neyman.plots.audit(...) draws it.")


def _bet(shown: Sequential) -> Iterator[str]:
    yield facts(
        {
            "Claim": brief(shown.claim),
            "p-value": f"{at_most(shown.p_value, 3)}, at level {shown.level:g}",
            "Pairs of scores": f"{shown.pairs:,}",
            "Wealth now (e-value)": f"{shown.e_value:.3g}",
        }
    )
    yield quiet("neyman.plots.wealth(...) draws it.")


def _band(shown: CurveBand) -> Iterator[str]:
    yield facts(
        {
            "Scores": f"{shown.inside:,} with the record, {shown.outside:,} without",
            "Loss at least": f"mu = {at_least(shown.mu().value, 3)}",
            "Confidence": f"{1 - shown.level:g}, at all thresholds at once",
        }
    )
    alpha = np.linspace(0.0, 1.0, _POINTS)
    upper, lower = (np.interp(alpha, *line) for line in (shown.upper, shown.lower))
    yield curve(alpha, upper, (lower, upper), labels=_LABELS)
    yield quiet(
        "The curve of the mechanism is nowhere above the line. Another attack may find a lower one."
    )


def _one_run(shown: OneRun) -> Iterator[str]:
    rows = (
        ("mu", f"{shown.mu:.4g}", f"{shown.most_mu:.4g}"),
        (
            f"epsilon at delta = {shown.delta:g}",
            f"{shown.epsilon:.4g}",
            f"{shown.most_epsilon:.4g}",
        ),
    )
    yield table(("Loss", "At least", "Largest detectable"), rows, 1)
    p = None if shown.p_value is None else f"{at_most(shown.p_value, 3)}"
    yield facts(
        {
            "Canaries": f"{shown.guesses[0].of:,}",
            "Claim": None if shown.claim is None else brief(shown.claim),
            "p-value of the claim": p,
            "Confidence of all together": f"{1 - shown.level:g}",
        }
    )
    yield quiet("This holds if a fair coin decided on each canary independently.")
