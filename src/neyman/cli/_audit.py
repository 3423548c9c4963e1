"""`neyman audit`: whether scores, or runs of a mechanism, refute a claimed guarantee."""

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final, final

import numpy as np

import neyman.audit as audit
from neyman.audit import LowerBound, MechanismAudit, OneRun, Verdict
from neyman.cli._claim import read_claim
from neyman.cli._numbers import as_usage, number, positive, whole
from neyman.cli._parser import WrongUsage
from neyman.cli._say import say, say_json
from neyman.cli._score_files import MANY_RUNS, Columns, read_score_file
from neyman.curves import Pair, TradeOff
from neyman.errors import InvalidParameter
from neyman.numerics import Array

__all__ = ["run"]

_FUNCTION: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


def run(options: argparse.Namespace) -> int:
    """Print what was found; 1 if the claim is refuted, and nothing else gives 1."""
    settings = _Settings.of(options)
    if _FUNCTION.fullmatch(options.target) and not Path(options.target).exists():
        found = list(_of_mechanism(options, settings))
    else:
        # A file that cannot be read must not look like a claim that is refuted.
        with as_usage():
            found = list(_of_scores(options, settings))
    refuted = any(getattr(one, "refuted", False) for one in found)
    if options.json:
        record = {"claim": str(settings.claim), "level": settings.level, "refuted": refuted}
        parts = {name: value for one in found for name, value in _record(one).items()}
        say_json({"format": "neyman.audit", "version": 1, **record, **parts})
    else:
        say("\n".join(f"{str(one).rstrip('.')}." for one in found))
    return 1 if refuted else 0


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _Settings:
    """The claim, the level of the test, delta of a bound, and the seed of a split."""

    claim: TradeOff | Pair
    level: float
    delta: float | None
    seed: int | None

    @classmethod
    def of(cls, options: argparse.Namespace) -> "_Settings":
        """Read the options.

        Raises:
            WrongUsage: if a number is outside its range.
        """
        level = float(number(options.level, "--level"))
        if not 0 < level < 0.5:
            raise WrongUsage(f"--level must be in (0, 0.5); got {options.level}. Write 0.05")
        delta = None if options.delta is None else float(number(options.delta, "--delta"))
        if delta is not None and not 0 <= delta < 1:
            raise WrongUsage(f"--delta must be in [0, 1); got {options.delta}. Write 1e-6")
        seed = None if options.seed is None else whole(options.seed, "--seed")
        return cls(claim=read_claim(options.claim), level=level, delta=delta, seed=seed)


def _of_scores(
    options: argparse.Namespace, settings: _Settings
) -> Iterator[Verdict | LowerBound | OneRun]:
    """Yield what scores in a file show."""
    if options.data is not None or options.neighbor is not None:
        raise WrongUsage("--data and --neighbor go with a function, module:name; leave them out")
    found = read_score_file(Path(options.target))
    common: dict[str, Any] = {"level": settings.level, "seed": settings.seed}
    if found.keys() >= set(MANY_RUNS):
        sides = found["inside"], found["outside"]
        verdict = audit.refute(*sides, settings.claim, **common)
        yield verdict
        if settings.delta is not None:
            # With the seed of the verdict, so that one seed repeats both.
            common["seed"] = verdict.seed
            yield audit.epsilon(*sides, delta=settings.delta, **common)
    elif settings.delta is None:
        raise WrongUsage("--delta is missing; scores of one run need one, such as --delta 1e-6")
    else:
        yield audit.one_run(
            scores=found["scores"],
            included=_coins(options, found),
            delta=settings.delta,
            claim=settings.claim,
            **common,
        )


def _coins(options: argparse.Namespace, found: Columns) -> audit.Canaries | Array:
    """Return which canaries took part: by a seed that was committed to, or as the file says."""
    if options.canaries is None:
        if "included" not in found:
            raise WrongUsage(
                "the file holds scores alone; write --canaries with the seed of the canaries, or "
                "add the array included to the file"
            )
        return found["included"]
    try:
        seed = bytes.fromhex(options.canaries)
    except ValueError:
        seed = b""
    with as_usage():
        made = audit.canaries(found["scores"].size, seed=seed, commitment=options.commitment)
    if "included" in found and not np.array_equal(found["included"], made.included):
        raise InvalidParameter(
            "included in the file must be the coins of the seed, and they differ; write the seed "
            "of this run, or leave included out of the file"
        )
    return made


def _of_mechanism(options: argparse.Namespace, settings: _Settings) -> Iterator[MechanismAudit]:
    """Yield what runs of a function show."""
    if options.data is None or options.neighbor is None:
        raise WrongUsage(
            "a function needs --data and --neighbor, two neighbouring inputs; write each as JSON, "
            "such as --data '[1, 0, 1]' --neighbor '[1, 0]', or as module:name"
        )
    seconds = float(positive(options.seconds, "--seconds"))
    data, neighbor = _input(options.data, "--data"), _input(options.neighbor, "--neighbor")
    with as_usage():
        yield audit.mechanism(
            _function(options.target),
            data,
            neighbor,
            settings.claim,
            seconds=seconds,
            level=settings.level,
            seed=settings.seed,
        )


def _input(text: str, name: str) -> object:
    """Return an input of the function: a JSON value, or a name in a module."""
    if _FUNCTION.fullmatch(text):
        return _looked_up(text)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise WrongUsage(f"{name} is neither JSON nor module:name; write one of them") from None


def _function(text: str) -> Callable[..., object]:
    found = _looked_up(text)
    if not callable(found):
        raise WrongUsage(f"{text} is not a function; write the name of one")
    return found


def _looked_up(text: str) -> Any:
    """Return what a module holds; modules of the folder where the command runs come first."""
    module, _, name = text.partition(":")
    here = os.getcwd()  # noqa: PTH109 - an entry of sys.path is text
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise WrongUsage(f"{text} cannot be loaded: {error}") from error


def _record(found: Verdict | LowerBound | OneRun | MechanismAudit) -> dict[str, object]:
    """Return a finding, JSON-able."""
    match found:
        case MechanismAudit():
            return {**_record(found.verdict), "event": found.event, "runs": found.runs}
        case LowerBound():
            return {found.of: found.value, **({"delta": found.delta} if found.delta else {})}
        case OneRun():
            names = ("epsilon", "mu", "delta", "most_epsilon", "most_mu", "p_value", "commitment")
            return {name: getattr(found, name) for name in names}
        case _:
            names = ("p_value", "seed", "detectable_mu", "claimed_mu")
            bound = {} if found.early else {"mu": found.mu().value}
            return {**{name: getattr(found, name) for name in names}, **bound}
