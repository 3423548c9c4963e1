"""`neyman explain`."""

import argparse
import os
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from neyman.cli._guarantees import read_guarantee
from neyman.cli._numbers import as_usage, number
from neyman.cli._parser import LANGUAGES, WrongUsage
from neyman.cli._phases import phases_of, require_no_training, run_of
from neyman.cli._say import say, say_json
from neyman.curves import TradeOff
from neyman.released import Guarantee
from neyman.report import explain, read_language, run_guarantee

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Print an explanation of a guarantee."""
    guarantee = _guarantee(options)
    attacks = {"fprs": (options.fpr, "--fpr"), "flagged": (options.flagged, "--flagged")}
    given: dict[str, Any] = {name: _numbers(*words) for name, words in attacks.items() if words[0]}
    with as_usage():
        found = explain(
            guarantee,
            language=_language(options),
            priors=_numbers(options.prior, "--prior"),
            deltas=_numbers(options.delta or (), "--delta"),
            **given,
        )
    if options.json:
        say_json(found.to_json(), readable=True)
    else:
        say(found)
    return 0


def _language(options: argparse.Namespace) -> str:
    """Return --language, or the language of the shell."""
    settings = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    shell = next(filter(None, settings), "")[:2]
    return options.language or (shell if shell in LANGUAGES else "en")


def _guarantee(options: argparse.Namespace) -> TradeOff | Guarantee:
    if options.path is None:
        with as_usage():
            return _training(options)
    require_no_training(options, "a file", "unit")
    return read_guarantee(options.path, _language(options))


def _training(options: argparse.Namespace) -> Guarantee:
    phases = phases_of(options)
    if options.unit is None:
        raise WrongUsage(
            "a training must have --unit; got none. Write what one record is, such as "
            "--unit 'one image'"
        )
    return run_guarantee(run_of(phases, options.unit), read_language(_language(options)))


def _numbers(texts: Sequence[str], name: str) -> list[Fraction]:
    return [number(one, name) for one in texts]
