"""`neyman check`: whether a training stays within a bound, for build pipelines."""

import argparse
import math
from collections.abc import Iterator
from fractions import Fraction

from neyman.cli._numbers import chance, number
from neyman.cli._parser import WrongUsage
from neyman.cli._say import say, say_json
from neyman.curves import TradeOff
from neyman.numerics import at_most, standing, text
from neyman.training import RunRecord, doctor

__all__ = ["run"]

# These findings refute the record, whatever the bounds are.
_CONTRADICTIONS = {"claims_less", "shuffled_batches"}


def run(options: argparse.Namespace) -> int:
    """Print why a record fails its check; return 1 if it does, else 0."""
    bounds = _bounds(options)
    delta = Fraction(0) if options.delta is None else chance(options.delta, "--delta")
    record = RunRecord.read(options.path)
    found = list(_refusals(record, bounds, delta, options))
    if options.json:
        say_json({"format": "neyman.check", "version": 1, "holds": not found, "refused": found})
    else:
        say("\n".join(found) or f"{options.path}: holds")
    return 1 if found else 0


def _bounds(options: argparse.Namespace) -> dict[str, Fraction]:
    """Return the bounds, by "mu" or "epsilon"."""
    given = {"mu": options.max_mu, "epsilon": options.max_epsilon}
    bounds = {
        name: number(words, f"--max-{name}") for name, words in given.items() if words is not None
    }
    if any(bound < 0 for bound in bounds.values()):
        raise WrongUsage(
            "--max-mu and --max-epsilon must be at least 0; got a negative number. "
            "Write for example 1"
        )
    if "epsilon" in bounds and options.delta is None:
        raise WrongUsage("--max-epsilon must have --delta; got none. Write a delta such as 1e-5")
    return bounds


def _refusals(
    record: RunRecord, bounds: dict[str, Fraction], delta: Fraction, options: argparse.Namespace
) -> Iterator[str]:
    """Yield a sentence for each reason why the record or a bound fails."""
    findings = doctor(record, delta=None if options.delta is None else delta)
    # A finding without a curve leaves no guarantee, so every bound is exceeded.
    curves: dict[TradeOff, str] = {}
    for finding in findings:
        if finding.curve is None or finding.name in _CONTRADICTIONS:
            yield f"{finding.name}: {finding.seen} {finding.holds}"
        else:
            curves.setdefault(finding.curve, f" ({finding.name})")
    if any(finding.name == "unknown_guarantee" for finding in findings):
        return
    for curve, why in {record.curve: "", **curves}.items():
        for name, bound in bounds.items():
            value = _value(curve, name, delta)
            if not value <= bound:
                shown = at_most(value, 6) if value < math.inf else "infinite"
                at = f" at delta = {text(delta).replace('e-0', 'e-')}"
                yield f"{name}{at} is at most {shown}, above the bound {text(bound)}{why}"


def _value(curve: TradeOff, name: str, delta: Fraction) -> float:
    bound, least = curve.dominating(), standing(delta)[0]
    return float(bound.mu(slack=least) if name == "mu" else bound.epsilon(least))
