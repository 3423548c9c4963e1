"""`neyman count`, `mean`, `quantiles` and `density`: one question of one file."""

from pathlib import Path
from typing import Any

from neyman.cli._commands._output import add_output
from neyman.cli._parser import Parser, command

__all__ = ["add_questions"]

_WHO = "--unit patient --max-rows 5"
_PAID = "--mu 0.3 --ledger visits.ledger"
_FREE = "An id that the ledger holds already is answered from it, free."


def add_questions(commands: Any) -> None:
    """Add the four questions."""
    _add_count(commands)
    _add_mean(commands)
    _add_quantiles(commands)
    _add_density(commands)


def _add_count(commands: Any) -> None:
    count = command(
        commands,
        "count",
        module="_question",
        usage="neyman count FILE --unit COLUMN --max-rows K [--by COLUMN=VALUE,VALUE] --mu M "
        "--ledger PLACE --id ID [options]",
        told="publish how many rows there are, of each group too",
        description=f"Publish how many rows there are, of each group if you write --by. {_FREE}",
        examples=[
            f"count visits.parquet {_WHO} --mu 0.3 --preview",
            f"count visits.parquet {_WHO} --by ward=north,south {_PAID} --budget mu=1 --id by-ward",
            f"count visits.csv --unit rows {_PAID} --id all --csv -o visits-count.csv",
        ],
    )
    _add_common(count)


def _add_mean(commands: Any) -> None:
    mean = command(
        commands,
        "mean",
        module="_question",
        usage="neyman mean FILE --column NAME --bounds NAME=LOW:HIGH --unit COLUMN --max-rows K "
        "[--by COLUMN=VALUE,VALUE] --mu M --ledger PLACE --id ID [options]",
        told="publish the mean of a column, of each group too",
        description=f"Publish the mean of a column within its bounds, with its count. {_FREE}",
        examples=[
            f"mean visits.parquet --column minutes --bounds minutes=0:240 {_WHO} --mu 0.3 "
            "--preview",
            f"mean visits.parquet --column minutes --bounds minutes=0:240 {_WHO} {_PAID} "
            "--budget mu=1 --id minutes",
        ],
    )
    mean.add_argument("--column", metavar="NAME", help="whose values")
    _add_common(mean)


def _add_quantiles(commands: Any) -> None:
    quantiles = command(
        commands,
        "quantiles",
        module="_question",
        usage="neyman quantiles FILE --column NAME --bounds NAME=LOW:HIGH --unit COLUMN "
        "--max-rows K [--by COLUMN=VALUE,VALUE] --mu M --ledger PLACE --id ID [options]",
        told="publish quantiles of a column",
        description="Publish quantiles of a column; the fewer, the less noise each has. The "
        f"median and the quartiles by default. {_FREE}",
        examples=[
            f"quantiles visits.parquet --column minutes --bounds minutes=0:240 {_WHO} {_PAID} "
            "--id quartiles",
            "quantiles visits.parquet --column minutes --bounds minutes=0:240 "
            f"--probabilities 0.1,0.5,0.9 {_WHO} {_PAID} --id deciles",
        ],
    )
    quantiles.add_argument("--column", metavar="NAME", help="whose values")
    quantiles.add_argument(
        "--probabilities", metavar="P,P,...", help="the shares of rows at or below them"
    )
    _add_common(quantiles)


def _add_density(commands: Any) -> None:
    density = command(
        commands,
        "density",
        module="_density",
        usage="neyman density FILE --column NAME --domain LOW:HIGH --records N --unit COLUMN "
        "--max-rows K --mu M --ledger PLACE --id ID [options]",
        told="publish the density of a column, a whole curve",
        description="Publish the density of one column of a table: a whole curve for the price of "
        f"one of its points. {_FREE}",
        examples=[
            f"density visits.parquet --column minutes --domain 0:240 --records 3000 {_WHO} "
            f"{_PAID} --id minutes --picture minutes.png",
            f"density visits.parquet --column hour --period 24 --records 3000 {_WHO} --mu 0.3 "
            "--preview",
        ],
    )
    density.add_argument("--column", metavar="NAME", help="whose values")
    density.add_argument(
        "--domain", metavar="LOW:HIGH", help="where they lie, known in public; as bounds do, too"
    )
    density.add_argument("--period", metavar="P", help="in place of a domain: hours have 24")
    density.add_argument(
        "--outside",
        choices=["count", "clip", "drop"],
        help="count values outside the domain apart, as is done by default, move them to its "
        "nearer end, or leave them out",
    )
    density.add_argument(
        "--bandwidth",
        metavar="H",
        help="in place of --records, by which the release chooses: the least that shall be read",
    )
    _add_common(density, groups=False)
    density.add_argument("--picture", type=Path, metavar="OUT.png", help="draw it; or OUT.svg")
    density.add_argument("--save", type=Path, metavar="OUT.npz", help="keep it for functional.load")


def _add_common(parser: Parser, *, groups: bool = True) -> None:
    """Add what every question is told."""
    parser.add_argument(
        "data",
        type=Path,
        metavar="FILE",
        nargs="+",
        help="a Parquet or CSV file; several of one schema, or a folder of them, are one table",
    )
    about = parser.add_argument_group("about")
    about.add_argument(
        "--unit",
        metavar="COLUMN",
        help="who is protected: the column that names whose a row is, or `rows` where each row is "
        "somebody of its own",
    )
    about.add_argument(
        "--max-rows", metavar="K", help="with a column: the most rows of one unit that count"
    )
    about.add_argument(
        "--where",
        metavar="CONDITION",
        help="only rows for which it is true, such as \"age >= 18 and ward = 'north'\"",
    )
    if groups:
        _add_groups(about)
    about.add_argument(
        "--bounds",
        action="append",
        metavar="COLUMN=LOW:HIGH",
        help="where the values of a column lie, known in public; those outside are moved to the "
        "nearer end; with :GRID after it, the step that they are rounded to; may be repeated",
    )
    _add_payment(parser.add_argument_group("paid"))
    seen = parser.add_argument_group("shown")
    seen.add_argument(
        "--preview",
        action="store_true",
        help="say what it costs and how exact it is; charge nothing, read no row",
    )
    seen.add_argument(
        "--records", metavar="N", help="about how many rows there are, known in public"
    )
    add_output(seen)


def _add_groups(about: Any) -> None:
    about.add_argument(
        "--by",
        action="append",
        metavar="COLUMN=VALUE,VALUE",
        help="groups, all of them declared; of numbers also bins, COLUMN=LOW:HIGH:STEP; or the "
        "name of a column alone, for groups that nobody declared, which costs --delta; may be "
        "repeated",
    )
    about.add_argument(
        "--rest",
        action="store_true",
        help="with declared groups: two groups more of each column, missing (rows without a "
        "value) and other (rows with any other value), so that a typo is seen",
    )


def _add_payment(paid: Any) -> None:
    """Add what it may spend, and who pays."""
    paid.add_argument("--mu", metavar="M", help="what it may spend, in Gaussian DP, such as 0.3")
    paid.add_argument("--epsilon", metavar="E", help="or in pure DP: Laplace noise")
    paid.add_argument("--rho", metavar="R", help="or in zero-concentrated DP")
    paid.add_argument(
        "--share", metavar="PART", help="or a part of the ledger's whole budget, such as 1/8"
    )
    paid.add_argument(
        "--delta", metavar="D", help="for groups that nobody declared, beside it: such as 1e-7"
    )
    paid.add_argument(
        "--ledger", metavar="PLACE", help="adds up what is spent: a file, or a PostgreSQL URL"
    )
    paid.add_argument(
        "--budget",
        metavar="mu=M",
        help="all that a new ledger may ever spend: mu=1, rho=0.5, epsilon=1, or "
        "epsilon=3,delta=1e-6; with ,delta_aside=1e-6 for tails and groups that nobody declared",
    )
    paid.add_argument("--id", metavar="ID", help="the name of the release in the ledger")
