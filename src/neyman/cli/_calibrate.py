"""`neyman calibrate`."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from neyman.accounting._calibrate import Calibration, calibrate
from neyman.accounting._targets import Advantage, EpsilonDelta, MuSlack, Target, TprAtFpr
from neyman.arguments import refuse_large_delta
from neyman.cli._numbers import as_usage, number
from neyman.cli._parser import WrongUsage
from neyman.cli._phases import probability, run_of, steps_of
from neyman.cli._say import say, say_json
from neyman.numerics import at_least, at_most, exact
from neyman.report import Statement
from neyman.training import Phase

__all__ = ["run"]

_DIGITS = 10


@final
@dataclass(frozen=True, slots=True)
class _Unknown:
    """The parameter to solve for.

    Attributes:
        name: in words.
        phase: the phase with a value of the parameter.
        within: the range of values; None for all positive ones.
        integer: whether values are whole.
        one_step: one step with the given parameters, to check them.
    """

    name: str
    phase: Callable[[Fraction], Phase]
    within: tuple[float, float] | None
    integer: bool
    one_step: Phase

    def solve(self, target: Target) -> Calibration:
        return calibrate(
            lambda x: run_of([self.phase(exact(x, self.name))]).curve,
            target,
            within=self.within,
            integer=self.integer,
        )


def run(options: argparse.Namespace) -> int:
    """Print the noise, the steps or the sampling probability that meets a target."""
    with as_usage():
        target, delta = _target(options)
        unknown = _unknown(options)
        # One step is composed quickly, and refuses invalid parameters.
        _ = run_of([unknown.one_step]).curve
    found = unknown.solve(target)
    value, other = _printed(found, exactly=unknown.integer)
    phase = unknown.phase(Fraction(value))
    reached = number(options.epsilon, "--epsilon") if options.epsilon is not None else None
    statement = Statement.of(run_of([phase]), delta=delta, reached=reached)
    if options.json:
        record = {
            "format": "neyman.calibrate",
            "version": 2,
            "solved": unknown.name,
            "value": found.value if unknown.integer else float(value),
            "meets": found.value,
            "misses": found.upper if found.value == found.lower else found.lower,
            "evaluations": found.evaluations,
            **statement.to_json(),
        }
        say_json(record)
        return 0
    say(f"{unknown.name}  {value}   meets the target; {other} is proved to miss it")
    say(statement)
    return 0


def _printed(found: Calibration, *, exactly: bool) -> tuple[str, str]:
    """Return the value, rounded to the private side, and the other end, rounded the other way."""
    if exactly:
        return str(found.value), str(found.upper if found.value == found.lower else found.lower)
    if found.value == found.upper:
        return at_most(found.upper, _DIGITS), at_least(found.lower, _DIGITS)
    return at_least(found.lower, _DIGITS), at_most(found.upper, _DIGITS)


def _target(options: argparse.Namespace) -> tuple[Target, Fraction | None]:
    """Return the target, and the delta of the statement."""
    names = ("epsilon", "delta", "mu", "slack", "advantage", "tpr", "fpr")
    given = {
        name: number(words, f"--{name}")
        for name in names
        if (words := getattr(options, name)) is not None
    }
    match given:
        case {"epsilon": epsilon, "delta": delta, **rest} if not rest and not epsilon and delta:
            raise WrongUsage(
                f"--epsilon must be positive beside a --delta; got 0 with --delta {options.delta}. "
                "That target bounds an attacker's advantage over guessing; write --advantage "
                f"{options.delta}"
            )
        case {"epsilon": epsilon, "delta": delta, **rest} if not rest:
            refuse_large_delta(delta, "--delta")
            return EpsilonDelta(epsilon, delta), delta
        case {"mu": mu, "slack": slack, **rest} if not rest:
            refuse_large_delta(slack, "--slack")
            return MuSlack(mu, slack), slack
        case {"advantage": advantage, **rest} if not rest:
            return Advantage(advantage), None
        case {"tpr": tpr, "fpr": fpr, **rest} if not rest:
            return TprAtFpr(tpr, fpr), None
        case _:
            raise WrongUsage(
                "exactly one target must be given. Write --epsilon and --delta, or --mu and "
                "--slack, or --advantage, or --tpr and --fpr"
            )


def _unknown(options: argparse.Namespace) -> _Unknown:
    """Return the parameter that was not given: noise, steps or sampling probability."""
    chance = probability(options)
    steps = steps_of(options, chance)
    noise = options.noise_multiplier and number(options.noise_multiplier, "--noise-multiplier")
    if noise is None and chance is not None and steps is not None:
        return _Unknown(
            "noise multiplier",
            lambda x: _phase(x, chance, steps),
            within=None,
            integer=False,
            one_step=_phase(Fraction(1), chance, 1),
        )
    if noise is not None and chance is None and steps is not None:
        return _Unknown(
            "sampling probability",
            lambda x: _phase(noise, x, steps),
            within=(0.0, 1.0),
            integer=False,
            one_step=_phase(noise, Fraction(1), 1),
        )
    if noise is not None and chance is not None and steps is None:
        return _Unknown(
            "steps",
            lambda x: _phase(noise, chance, int(x)),
            within=None,
            integer=True,
            one_step=_phase(noise, chance, 1),
        )
    raise WrongUsage(
        "exactly two parameters must be given. Write two of --noise-multiplier, "
        "--sampling-probability (or --records and --batch) and --steps (or --epochs)"
    )


def _phase(noise: Fraction, chance: Fraction, steps: int) -> Phase:
    return Phase.poisson(noise_multiplier=noise, sampling_probability=chance, steps=steps)
