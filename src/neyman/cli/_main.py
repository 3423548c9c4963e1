"""Arguments, and where they lead. Nothing heavy is imported before a command is known."""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from neyman.cli._interrupts import INTERRUPTED, ending_at_once
from neyman.cli._passwords import without_passwords
from neyman.cli._say import complain
from neyman.errors import NeymanError
from neyman.printable import printable

__all__ = ["main"]

_EPILOG = "Exit status: 0 done, 1 refused or failed, 2 wrong usage, 130 interrupted."


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    try:
        return _run(argv)
    except NeymanError as error:
        return _failed(str(error), error)
    except BrokenPipeError:
        # Whoever read our output has gone; that is no failure, and Python must not flush again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _failed(f"{error.filename or 'output'} cannot be used: {error.strerror}", error)
    except KeyboardInterrupt:
        _failed(
            "interrupted. What was charged stays charged; run the same command again: stored "
            "answers are free, and what was charged and not stored is drawn once more, free"
        )
        return INTERRUPTED


def _run(argv: Sequence[str] | None) -> int:
    options = _parser().parse_args(argv)
    # A key that the terminal's encoding lacks is shown by its number rather than not at all.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    command: Any = ending_at_once(lambda: import_module(f"neyman.cli.{options.module}"))
    status = int(command.run(options))
    sys.stdout.flush()
    return status


def _failed(why: str, error: BaseException | None = None) -> int:
    complain("\n".join([f"neyman: {why}", *getattr(error, "__notes__", ())]))
    return 1


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        # It quotes what was given.
        super().error(without_passwords(printable(message)))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="neyman",
        description="Differential privacy as a hypothesis test: private statistics with an exact "
        "guarantee and a budget that outlives the process.",
        epilog=_EPILOG,
    )
    parser.add_argument("--version", action="store_true", help="print the version and stop")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _add_init(commands)
    _add_schema(commands)
    _add_rehearse(commands)
    _add_release(commands)
    _add_density(commands)
    _add_ledger(commands)
    _add_convert(commands)
    _add_account(commands)
    _add_calibrate(commands)
    _add_explain(commands)
    parser.set_defaults(module="_help", parser=parser)
    return parser


def _add_init(commands: Any) -> None:
    init = commands.add_parser(
        "init",
        help="write a spec to be filled in, from the columns of a table",
        description="Write a spec to be filled in, with the columns of a table and an example of "
        "every statistic. The schema of the table is read, and none of its rows.",
        epilog=_EPILOG,
    )
    init.add_argument("data", type=Path, metavar="FILE", help="a Parquet or CSV file")
    init.add_argument(
        "--spec",
        type=Path,
        metavar="SPEC.toml",
        help="where to write it; by default here, named as the data; no file is replaced",
    )
    init.add_argument(
        "--ledger", metavar="PLACE", help="the ledger; by default a file beside the spec"
    )
    init.set_defaults(module="_init")


def _add_schema(commands: Any) -> None:
    schema = commands.add_parser(
        "schema",
        help="print the JSON schema of a spec, for editors",
        description="Print the JSON schema of a spec. Save it as neyman.schema.json and begin the "
        "spec with the line #:schema neyman.schema.json: editors that know TOML complete its keys "
        "and mark mistakes.",
        epilog=_EPILOG,
    )
    schema.set_defaults(module="_schema")


def _add_release(commands: Any) -> None:
    release = commands.add_parser(
        "release",
        help="publish the statistics that a spec asks for",
        description="Publish the statistics that a spec asks for. Entries that the ledger holds "
        "already are answered from it, free.",
        epilog=_EPILOG,
    )
    release.add_argument("spec", type=Path, metavar="SPEC.toml", help="what to release")
    release.add_argument(
        "--report", type=Path, metavar="FILE.html", help="write a report that people can read"
    )
    release.add_argument("--json", action="store_true", help="print the releases as JSON")
    release.add_argument(
        "--dry-run", action="store_true", help="price every query; charge nothing, read no row"
    )
    release.add_argument(
        "--preview",
        action="store_true",
        help="price every query, and say how exact its numbers will be; charge nothing, read no "
        "row",
    )
    release.add_argument(
        "--records",
        action="append",
        metavar="N",
        help="with --preview: about how many rows the table has, known in public; may be repeated",
    )
    release.add_argument(
        "--like",
        type=Path,
        metavar="FILE",
        help="with --preview: a public table like the private one, .parquet or .csv, whose rows "
        "stand for the private ones",
    )
    release.add_argument(
        "--spread",
        action="append",
        nargs=3,
        metavar=("COLUMN", "MEAN", "SD"),
        help="with --preview: a public guess of a column's mean and standard deviation; may be "
        "repeated",
    )
    release.add_argument(
        "--sql", action="store_true", help="with --preview: print the statements, too"
    )
    release.set_defaults(module="_release")


def _add_rehearse(commands: Any) -> None:
    rehearse = commands.add_parser(
        "rehearse",
        help="try a spec on public rows before anything is spent",
        description="Try a spec on public rows, such as last year's. It shows for each number what "
        "limits, bounds and noise do to it, and which max_rows is best. The ledger is not opened "
        "and nothing is charged. The answers are not private.",
        epilog=_EPILOG,
    )
    rehearse.add_argument("spec", type=Path, metavar="SPEC.toml", help="what to release")
    rehearse.add_argument(
        "--data", type=Path, required=True, metavar="PUBLIC", help="a file of public rows"
    )
    rehearse.add_argument(
        "--join",
        action="append",
        metavar="NAME=PATH",
        help="a public file for the table of [join.NAME], or for the file that [unit.through] "
        "points to; may be repeated",
    )
    rehearse.add_argument(
        "--report", type=Path, metavar="FILE.html", help="write a page that people can read"
    )
    rehearse.add_argument("--json", action="store_true", help="print JSON, with all groups")
    rehearse.add_argument(
        "--runs", default="200", metavar="N", help="answers with noise to look at; 200 by default"
    )
    rehearse.add_argument(
        "--try",
        dest="tried",
        metavar="max_rows=1,2,5,10",
        help="limits to try; by default 1, 2, 3, 5, 10, ... to the most rows of one unit",
    )
    rehearse.set_defaults(module="_rehearse")


def _add_density(commands: Any) -> None:
    density = commands.add_parser(
        "density",
        help="publish the density of one column of a table",
        description="Publish the density of one column of a table: a whole curve for the price of "
        "one of its points. What it rests on is declared, and none of it guessed. An entry that "
        "the ledger holds already is answered from it, free.",
        epilog=_EPILOG,
    )
    density.add_argument("data", type=Path, metavar="FILE", help="a Parquet or CSV file")
    density.add_argument("--column", metavar="NAME", help="whose values")
    density.add_argument(
        "--domain", nargs=2, metavar=("LOW", "HIGH"), help="where they lie, known in public"
    )
    density.add_argument("--period", metavar="P", help="in place of a domain: hours have 24")
    density.add_argument(
        "--outside",
        choices=["clip", "drop"],
        help="move values outside the domain to its nearer end, or leave them out",
    )
    density.add_argument(
        "--records",
        metavar="N",
        help="about how many rows, known in public; the release chooses its bandwidth",
    )
    density.add_argument(
        "--bandwidth", metavar="H", help="in place of --records: the least that shall be read"
    )
    density.add_argument("--mu", metavar="M", help="what the release spends, in Gaussian DP")
    density.add_argument("--ledger", metavar="PLACE", help="what was spent on these data")
    density.add_argument("--cap-mu", metavar="M", help="all it may ever spend; for a new ledger")
    density.add_argument("--unit", choices=["rows"], help="each row is a person of its own")
    density.add_argument("--entity", metavar="COLUMN", help="who a row is of")
    density.add_argument("--max-rows", metavar="K", help="with --entity: rows of one that count")
    density.add_argument("--entry", metavar="ID", help="name of the release in the ledger")
    density.add_argument("--picture", type=Path, metavar="OUT.png", help="draw it; or OUT.svg")
    density.add_argument("--save", type=Path, metavar="OUT.npz", help="keep it for functional.load")
    density.add_argument("--json", action="store_true", help="print JSON")
    density.add_argument(
        "--dry-run", action="store_true", help="price it; charge nothing, read no row"
    )
    density.set_defaults(module="_density")


def _add_ledger(commands: Any) -> None:
    ledger = commands.add_parser(
        "ledger", help="show, check, export, merge or copy a ledger", epilog=_EPILOG
    )
    actions = ledger.add_subparsers(title="actions", metavar="ACTION", required=True)
    texts = {
        "show": "print what was spent on what, what remains, and the head of the chain",
        "check": "look for damage, tampering and overspending; status 1 if any is found",
        "export": "print everything that the ledger holds as JSON",
        "merge": "add what a copy of the ledger was charged; status 1 if the cap is exceeded then",
        "copy": "copy the ledger to another place, from a file to a database or back",
    }
    subs = {
        action: actions.add_parser(action, help=text, description=text, epilog=_EPILOG)
        for action, text in texts.items()
    }
    for action, sub in subs.items():
        sub.add_argument(
            "place", metavar="LEDGER", help="its file, or postgresql://USER@HOST/DATABASE"
        )
        sub.set_defaults(module="_ledger", action=action)
    for action in ("show", "check"):
        subs[action].add_argument("--json", action="store_true", help="print JSON")
    subs["check"].add_argument(
        "--head", metavar="DIGEST", help="a head that `show` printed before: it must still be there"
    )
    subs["export"].add_argument(
        "--registry", action="store_true", help="print a draft for the deployments registry, YAML"
    )
    subs["copy"].add_argument("target", metavar="PLACE", help="where no ledger is kept yet")
    subs["merge"].add_argument("copy", metavar="COPY", help="a copy of it")
    subs["merge"].add_argument(
        "--keep-both",
        action="store_true",
        help="charge an id that both used after they parted twice, instead of refusing",
    )


def _add_convert(commands: Any) -> None:
    convert = commands.add_parser(
        "convert",
        help="mu, (epsilon, delta) and rho of the Gaussian mechanism, into each other",
        description="Convert between mu, (epsilon, delta) and rho of the Gaussian mechanism. From "
        "(epsilon, delta) comes the largest mu that satisfies it, rounded down; everything derived "
        "from mu is rounded up. A mechanism that is only known to be rho-zCDP need not be "
        "sqrt(2 rho)-GDP.",
        epilog=_EPILOG,
    )
    convert.add_argument("--mu", help="mu of Gaussian DP")
    convert.add_argument("--rho", help="rho of zero-concentrated DP, = mu^2/2")
    convert.add_argument("--epsilon", help="with --delta; or, with --mu or --rho, asks for delta")
    convert.add_argument("--delta", help="with --epsilon; or, with --mu or --rho, asks for epsilon")
    convert.add_argument("--json", action="store_true", help="print JSON")
    convert.set_defaults(module="_convert")


def _add_account(commands: Any) -> None:
    account = commands.add_parser(
        "account",
        help="what a training with noisy gradients (DP-SGD) costs",
        description="Say what a training with noisy gradients (DP-SGD, Poisson sampling) costs: "
        "certified bounds, rounded to the safe side, what they rest on and what breaks them.",
        epilog=_EPILOG,
    )
    _add_training(account)
    _add_phase(account)
    account.add_argument(
        "--delta", required=True, help="probability set aside for mu and for epsilon"
    )
    account.add_argument(
        "--fpr", action="append", help="false positive rate of an attack; may be repeated"
    )
    account.add_argument("--json", action="store_true", help="print JSON")
    account.set_defaults(module="_account")


def _add_explain(commands: Any) -> None:
    explain = commands.add_parser(
        "explain",
        help="a guarantee in words, in English, Korean or Chinese",
        description="Say in words and natural frequencies what a guarantee means: that of a file, "
        "or that of a training. Every number is a proved bound, rounded in favour of the attacker.",
        epilog=_EPILOG,
    )
    explain.add_argument(
        "path",
        nargs="?",
        metavar="FILE",
        help="a ledger, or the JSON of a release, of a guarantee or of a trade-off function",
    )
    explain.add_argument("--language", required=True, help="en, ko or zh")
    explain.add_argument(
        "--prior",
        action="append",
        required=True,
        help="share of an attacker's suspicions that are true; an assumption; may be repeated",
    )
    explain.add_argument(
        "--fpr", action="append", help="false positive rate of an attack; may be repeated"
    )
    explain.add_argument(
        "--flagged", action="append", help="share of all suspicions confirmed; may be repeated"
    )
    explain.add_argument("--delta", action="append", help="for an epsilon; may be repeated")
    explain.add_argument("--unit", help="with a training: what one record is, in words")
    _add_training(explain)
    _add_phase(explain)
    explain.add_argument("--json", action="store_true", help="print JSON")
    explain.set_defaults(module="_explain")


def _add_calibrate(commands: Any) -> None:
    calibrate = commands.add_parser(
        "calibrate",
        help="the noise, the steps or the sampling probability that meets a target",
        description="Find what just meets a target. Of noise multiplier, sampling probability and "
        "steps, write two; the third is found and rounded to the private side.",
        epilog=_EPILOG,
    )
    _add_training(calibrate)
    calibrate.add_argument("--epsilon", help="target, with --delta")
    calibrate.add_argument("--delta", help="target, with --epsilon")
    calibrate.add_argument("--mu", help="target, with --slack: mu of Gaussian DP")
    calibrate.add_argument("--slack", help="probability set aside for mu; 0 for none")
    calibrate.add_argument("--advantage", help="target: true less false positive rate, at most")
    calibrate.add_argument("--tpr", help="target, with --fpr: true positive rate, at most")
    calibrate.add_argument("--fpr", help="false positive rate of that attack")
    calibrate.add_argument("--json", action="store_true", help="print JSON")
    calibrate.set_defaults(module="_calibrate")


def _add_training(parser: Any) -> None:
    parser.add_argument(
        "--noise-multiplier", metavar="S", help="standard deviation of the noise / clipping norm"
    )
    parser.add_argument("--sampling-probability", metavar="Q", help="of each record, in a step")
    parser.add_argument("--records", metavar="N", help="with --batch, in place of Q = B / N")
    parser.add_argument("--batch", metavar="B", help="expected size of a batch")
    parser.add_argument("--steps", metavar="T", help="how many are taken")
    parser.add_argument("--epochs", metavar="E", help="in place of T = E / Q, rounded up")


def _add_phase(parser: Any) -> None:
    parser.add_argument(
        "--phase",
        action="append",
        metavar="noise=S,q=Q,steps=T",
        help="a phase, in place of the above; repeat it for each",
    )
