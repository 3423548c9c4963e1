"""`neyman convert`, `account`, `check`, `doctor`, `audit`, `calibrate`, `explain`, `explorer`."""

from pathlib import Path
from typing import Any

from neyman.cli._parser import LANGUAGES, command

__all__ = ["add_accounts"]


def add_accounts(commands: Any) -> None:
    """Add the commands that read no data: they are about guarantees."""
    _add_convert(commands)
    _add_account(commands)
    _add_check(commands)
    _add_doctor(commands)
    _add_audit(commands)
    _add_calibrate(commands)
    _add_explain(commands)
    _add_explorer(commands)


def _add_convert(commands: Any) -> None:
    convert = command(
        commands,
        "convert",
        module="_convert",
        told="convert between mu, (epsilon, delta) and rho of the Gaussian mechanism",
        description="Convert between mu, (epsilon, delta) and rho of the Gaussian mechanism. From "
        "(epsilon, delta) you get the largest mu that satisfies it, rounded down. Everything "
        "derived from mu is rounded up. A mechanism that is rho-zCDP is not always sqrt(2 "
        "rho)-GDP.",
        examples=[
            "convert --mu 1",
            "convert --mu 1 --delta 1e-6",
            "convert --epsilon 3 --delta 1e-6 --json",
        ],
    )
    convert.add_argument("--mu", help="mu of Gaussian DP")
    convert.add_argument("--rho", help="rho of zero-concentrated DP, = mu^2/2")
    convert.add_argument(
        "--epsilon", help="with --delta; or with --mu or --rho, to get delta at this epsilon"
    )
    convert.add_argument(
        "--delta", help="with --epsilon; or with --mu or --rho, to get epsilon at this delta"
    )
    convert.add_argument("--json", action="store_true", help="print JSON")


def _add_account(commands: Any) -> None:
    account = command(
        commands,
        "account",
        module="_account",
        told="compute the privacy cost of a training with DP-SGD",
        description="Compute the privacy cost of a training with noisy gradients: certified "
        "bounds, rounded to the safe side, their assumptions, and what would break them. Describe "
        "the training by a run record, or by the options (DP-SGD with Poisson sampling).",
        examples=[
            "account model.run.json --delta 1e-5",
            "account model.run.json --delta 1e-5 --html model.html",
            "account --noise-multiplier 1.1 --records 60000 --batch 600 --steps 1000 --delta 1e-5",
            "account --phase noise=1.1,q=0.01,steps=500 --phase noise=1,q=0.02,steps=9 --delta 0",
        ],
    )
    account.add_argument("path", nargs="?", metavar="RUN.json", help="a run record")
    _add_training(account)
    _add_phase(account)
    account.add_argument(
        "--delta", required=True, help="the delta at which mu and epsilon are given"
    )
    account.add_argument(
        "--fpr", action="append", help="a false positive rate of an attack; may be repeated"
    )
    account.add_argument(
        "--seconds", default="10", help="after this time no further method is tried; 10 by default"
    )
    form = account.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--markdown", action="store_true", help="print Markdown for a model card")
    form.add_argument(
        "--registry", action="store_true", help="print a YAML draft for the deployments registry"
    )
    form.add_argument("--html", type=Path, metavar="FILE.html", help="write a page")


def _add_check(commands: Any) -> None:
    check = command(
        commands,
        "check",
        module="_check",
        told="check that a training stays within a bound; exit status 1 if not",
        description="Check that a run record is consistent and stays within the bounds. Exit "
        "status 1 if its phases cost more than it claims, if something in it voids the guarantee, "
        "or if it exceeds a bound.",
        examples=[
            "check model.run.json --max-epsilon 2 --delta 1e-5",
            "check model.run.json --max-mu 0.6 --delta 1e-5",
        ],
    )
    check.add_argument("path", metavar="RUN.json", help="a run record")
    check.add_argument(
        "--max-mu", metavar="MU", help="the largest mu, except with probability delta"
    )
    check.add_argument("--max-epsilon", metavar="EPSILON", help="the largest epsilon at delta")
    check.add_argument("--delta", help="the delta of the bounds; for mu 0 by default")
    check.add_argument("--json", action="store_true", help="print JSON")


def _add_doctor(commands: Any) -> None:
    doctor = command(
        commands,
        "doctor",
        module="_doctor",
        told="find mistakes of a training in its run record; exit status 1 if it finds any",
        description="Find what a run record shows to be wrong with the claim of a training. For "
        "each finding, print what is true instead and what to change. Exit status 1 if it finds "
        "anything. Finding nothing is no proof: the record is what the training wrote.",
        examples=["doctor model.run.json", "doctor model.run.json --delta 1e-5 --json"],
    )
    doctor.add_argument("path", metavar="RUN.json", help="a run record")
    doctor.add_argument("--delta", help="the delta of the guarantee that will be published")
    doctor.add_argument("--json", action="store_true", help="print JSON")


def _add_audit(commands: Any) -> None:
    audit = command(
        commands,
        "audit",
        module="_audit",
        told="whether scores, or runs of a mechanism, refute a claim; status 1 if so",
        description="Test a claimed guarantee. The scores are those of an attack: from many runs "
        "with and without a record, or from one run with many canaries. A function is run on two "
        "neighbouring inputs. A claim that holds is refuted with probability at most --level. A "
        "claim that is not refuted is not proved: a better attack may refute it. Status 1 means "
        "that the claim is refuted, and nothing else; a file that cannot be read gives status 2.",
        examples=[
            "audit scores.npz --claim 'gdp(1)'",
            "audit scores.csv --claim 'dp_sgd(1.1,0.01,1000)' --delta 1e-5",
            "audit my_module:noisy_count --data '[1,0,1]' --neighbor '[1,0]' "
            "--claim 'pure_dp(1)' --seconds 5",
        ],
    )
    audit.add_argument(
        "target",
        metavar="SCORES|MODULE:FUNCTION",
        help="an .npz or .csv file of scores, or a function of one input",
    )
    audit.add_argument(
        "--claim",
        required=True,
        help="a guarantee such as 'gdp(1)' or 'dp_sgd(1.1, 0.01, 1000)'; or a file that holds one: "
        "a run record, a ledger, the JSON of a release",
    )
    audit.add_argument(
        "--level",
        default="0.05",
        help="the largest probability of refuting a claim that holds; 0.05 if left out",
    )
    audit.add_argument("--delta", help="also bound epsilon at this delta; one run needs it")
    audit.add_argument(
        "--canaries", metavar="SEED", help="the seed of the canaries of one run, in hexadecimal"
    )
    audit.add_argument(
        "--commitment", metavar="DIGEST", help="the commitment that was published before the run"
    )
    audit.add_argument("--seed", help="repeats the random split of the test; drawn if left out")
    audit.add_argument("--data", help="an input of the function, as JSON or module:name")
    audit.add_argument("--neighbor", help="its neighbouring input, as JSON or module:name")
    audit.add_argument("--seconds", default="10", help="how long a function is run; 10 if left out")
    audit.add_argument("--json", action="store_true", help="print JSON")


def _add_explain(commands: Any) -> None:
    explain = command(
        commands,
        "explain",
        module="_explain",
        told="explain a guarantee in words, in English, Korean or Chinese",
        description="Explain a guarantee in words and natural frequencies. The guarantee is read "
        "from a file, or computed for a training. Every number is a proved bound, rounded in "
        "favour of the attacker.",
        examples=[
            "explain visits.ledger --prior 0.5",
            "explain release.json --language ko --prior 0.01 --prior 0.5",
        ],
    )
    explain.add_argument(
        "path",
        nargs="?",
        metavar="FILE",
        help="a ledger, a run record, or the JSON of a release, a guarantee or a trade-off "
        "function",
    )
    explain.add_argument(
        "--language",
        choices=LANGUAGES,
        help="the language; by default that of LANG in your shell if it is one of these, else en",
    )
    explain.add_argument(
        "--prior",
        action="append",
        required=True,
        help="the share of an attacker's suspicions that are true, which you assume; may be "
        "repeated",
    )
    explain.add_argument(
        "--fpr", action="append", help="a false positive rate of an attack; may be repeated"
    )
    explain.add_argument(
        "--flagged",
        action="append",
        help="the share of suspicions that an attacker confirms; may be repeated",
    )
    explain.add_argument(
        "--delta", action="append", help="a delta at which to give epsilon; may be repeated"
    )
    explain.add_argument("--unit", help="with a training: what one record is, in words")
    _add_training(explain)
    _add_phase(explain)
    explain.add_argument("--json", action="store_true", help="print JSON")


def _add_explorer(commands: Any) -> None:
    explorer = command(
        commands,
        "explorer",
        module="_explorer",
        told="a page on which you choose a guarantee and see what it means",
        description="Write one HTML file that needs no network. On it you choose a mechanism or a "
        "training, and see what an attacker learns, with proved bounds.",
        examples=["explorer -o explorer.html"],
    )
    explorer.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE.html", help="write the page there"
    )


def _add_calibrate(commands: Any) -> None:
    calibrate = command(
        commands,
        "calibrate",
        module="_calibrate",
        told="find the noise, the steps or the sampling probability that meets a target",
        description="Find the parameter that just meets a target. Write two of noise multiplier, "
        "sampling probability and steps. The third is computed and rounded to the private side.",
        examples=[
            "calibrate --epsilon 3 --delta 1e-5 --sampling-probability 0.01 --steps 1000",
            "calibrate --epsilon 3 --delta 1e-5 --noise-multiplier 1 --records 60000 --batch 256",
        ],
    )
    _add_training(calibrate)
    calibrate.add_argument("--epsilon", help="target, with --delta")
    calibrate.add_argument("--delta", help="target, with --epsilon")
    calibrate.add_argument("--mu", help="target, with --slack: mu of Gaussian DP")
    calibrate.add_argument("--slack", help="the delta of the target mu; may be 0")
    calibrate.add_argument(
        "--advantage", help="target: the largest true positive rate minus false positive rate"
    )
    calibrate.add_argument("--tpr", help="target, with --fpr: the largest true positive rate")
    calibrate.add_argument("--fpr", help="the false positive rate of that attack")
    calibrate.add_argument("--json", action="store_true", help="print JSON")


def _add_training(parser: Any) -> None:
    parser.add_argument(
        "--noise-multiplier", metavar="S", help="standard deviation of the noise / clipping norm"
    )
    parser.add_argument(
        "--sampling-probability",
        metavar="Q",
        help="the probability that a record is in the batch of a step",
    )
    parser.add_argument("--records", metavar="N", help="with --batch: gives Q = B / N")
    parser.add_argument("--batch", metavar="B", help="the expected size of a batch")
    parser.add_argument("--steps", metavar="T", help="the number of steps")
    parser.add_argument("--epochs", metavar="E", help="gives T = E / Q, rounded up")


def _add_phase(parser: Any) -> None:
    parser.add_argument(
        "--phase",
        action="append",
        metavar="noise=S,q=Q,steps=T",
        help="a phase of the training, instead of these options; repeat it for each phase",
    )
