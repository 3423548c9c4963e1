"""`neyman account`."""

import argparse
from dataclasses import replace
from pathlib import Path

from neyman.cli._numbers import as_usage, chance, number
from neyman.cli._parser import WrongUsage
from neyman.cli._phases import phases_of, require_no_training, run_of
from neyman.cli._registry import registry_draft_of_run
from neyman.cli._say import complain, say, say_json
from neyman.curves import Auto
from neyman.curves._solvers._solver import using
from neyman.files import check_page, write_text
from neyman.report import Statement, model_card, run_html
from neyman.training import RunRecord

__all__ = ["run", "training_of"]


def run(options: argparse.Namespace) -> int:
    """Print the privacy cost of a training."""
    training = training_of(options)
    with as_usage():
        delta = chance(options.delta, "--delta")
        rates = tuple(number(rate, "--fpr") for rate in options.fpr or ())
        if not all(0 < rate < 1 for rate in rates):
            raise WrongUsage(
                "--fpr must be in (0, 1); got another number. Write a rate such as 0.01"
            )
        seconds = float(number(options.seconds, "--seconds"))
        limit = Auto(seconds=seconds)
    if options.html is not None:
        read = [] if options.path is None else [Path(options.path)]
        check_page("--html", options.html, {*read})
    with using(limit) as effort:
        statement = Statement.of(training, delta=delta)
        _give(replace(statement, rates=rates or statement.rates), options)
    if effort.late:
        complain(
            f"The time limit of {seconds:g} s was reached. The bounds hold. A larger --seconds may "
            "bring them closer."
        )
    return 0


def training_of(options: argparse.Namespace) -> RunRecord:
    """Return the training of a run record, or the one that the options describe.

    Raises:
        WrongUsage: if both are given, or neither.
        InvalidParameter: if the record is malformed.
    """
    if options.path is None:
        with as_usage():
            training = run_of(phases_of(options))
            # Composing it refuses invalid parameters.
            _ = training.curve
        return training
    require_no_training(options, "a run record")
    return RunRecord.read(options.path)


def _give(statement: Statement, options: argparse.Namespace) -> None:
    if options.json:
        say_json({"format": "neyman.account", "version": 2, **statement.to_json()})
    elif options.markdown:
        say(model_card(statement))
    elif options.registry:
        say(registry_draft_of_run(statement), end="")
    elif options.html is not None:
        write_text(options.html, _page(statement))
        say(f"{options.html} written")
    else:
        say(statement)


def _page(statement: Statement) -> str:
    # Drawing takes as long to import as everything else.
    from neyman.plots import epsilon_over_steps, to_svg, tradeoff

    assert statement.delta is not None
    return run_html(
        statement.run,
        delta=statement.delta,
        tradeoff_svg=to_svg(tradeoff({"the training": statement.curve})),
        steps_svg=to_svg(epsilon_over_steps(statement.run, delta=statement.delta)),
    )
