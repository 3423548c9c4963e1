"""`neyman count`, `mean`, `quantiles` and `density`: one question about one table."""

from pathlib import Path
from typing import Any

from neyman.cli._parser import Parser, add_output, command

__all__ = ["add_questions"]

_WHO = "--unit patient --max-rows 5"
_PAID = "--mu 0.3 --ledger visits.ledger"
_FREE = "If the ledger already has this id, its stored answer is printed, free."


def add_questions(commands: Any) -> None:
    """Add the four commands."""
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
        told="publish the number of rows, in total or by group",
        description=f"Publish the number of rows, of each group if you write --by. {_FREE}",
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
        told="publish the mean of a column, in total or by group",
        description=f"Publish the mean of a column within its bounds, with its count. {_FREE}",
        examples=[
            f"mean visits.parquet --column minutes --bounds minutes=0:240 {_WHO} --mu 0.3 "
            "--preview",
            f"mean visits.parquet --column minutes --bounds minutes=0:240 {_WHO} {_PAID} "
            "--budget mu=1 --id minutes",
        ],
    )
    mean.add_argument("--column", metavar="NAME", help="the column of the values")
    _add_common(mean)


def _add_quantiles(commands: Any) -> None:
    quantiles = command(
        commands,
        "quantiles",
        module="_question",
        usage="neyman quantiles FILE --column NAME --bounds NAME=LOW:HIGH --unit COLUMN "
        "--max-rows K [--by COLUMN=VALUE,VALUE] --mu M --ledger PLACE --id ID [options]",
        told="publish quantiles of a column",
        description="Publish quantiles of a column, by default the median and the quartiles. The "
        f"fewer you ask for, the less noise each has. {_FREE}",
        examples=[
            f"quantiles visits.parquet --column minutes --bounds minutes=0:240 {_WHO} {_PAID} "
            "--id quartiles",
            "quantiles visits.parquet --column minutes --bounds minutes=0:240 "
            f"--probabilities 0.1,0.5,0.9 {_WHO} {_PAID} --id deciles",
        ],
    )
    quantiles.add_argument("--column", metavar="NAME", help="the column of the values")
    quantiles.add_argument(
        "--probabilities", metavar="P,P,...", help="the share of rows at or below each quantile"
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
        description="Publish the density of a column. The whole curve costs the same as one of its "
        f"points. {_FREE}",
        examples=[
            f"density visits.parquet --column minutes --domain 0:240 --records 3000 {_WHO} "
            f"{_PAID} --id minutes --picture minutes.png",
            f"density visits.parquet --column hour --period 24 --records 3000 {_WHO} --mu 0.3 "
            "--preview",
        ],
    )
    density.add_argument("--column", metavar="NAME", help="the column of the values")
    density.add_argument(
        "--domain",
        metavar="LOW:HIGH",
        help="the range of the values, from public knowledge; --bounds may give it instead",
    )
    density.add_argument(
        "--period", metavar="P", help="for values on a circle, instead of --domain: 24 for hours"
    )
    density.add_argument(
        "--outside",
        choices=["count", "clip", "drop"],
        help="what to do with values outside the domain: count them separately (the default), "
        "move them to the nearer end, or leave them out",
    )
    density.add_argument(
        "--bandwidth",
        metavar="H",
        help="the smallest bandwidth of interest; instead of --records, from which the release "
        "chooses one",
    )
    _add_common(density, groups=False)
    density.add_argument(
        "--picture", type=Path, metavar="OUT.png", help="draw it into a .png or .svg file"
    )
    density.add_argument("--save", type=Path, metavar="OUT.npz", help="save it for functional.load")


def _add_common(parser: Parser, *, groups: bool = True) -> None:
    """Add the options of every question."""
    parser.add_argument(
        "data",
        type=Path,
        metavar="FILE",
        nargs="+",
        help="a Parquet or CSV file; several with one schema, or a folder of them, are one table",
    )
    about = parser.add_argument_group("data")
    about.add_argument(
        "--unit",
        metavar="COLUMN",
        help="the privacy unit: the column that names the unit of each row, or `rows` if each row "
        "is a unit of its own",
    )
    about.add_argument(
        "--max-rows", metavar="K", help="with --unit COLUMN: the most rows of one unit that count"
    )
    about.add_argument(
        "--where",
        metavar="CONDITION",
        help='use only rows for which the condition is true, such as "age >= 18 and ward = '
        "'north'\"",
    )
    if groups:
        _add_groups(about)
    about.add_argument(
        "--bounds",
        action="append",
        metavar="COLUMN=LOW:HIGH",
        help="the range of a column, from public knowledge; values outside are moved to the nearer "
        "end. Add :GRID to round values to steps of GRID. May be repeated",
    )
    _add_payment(parser.add_argument_group("budget"))
    seen = parser.add_argument_group("output")
    seen.add_argument(
        "--preview",
        action="store_true",
        help="print the price and the size of the noise; nothing is charged, no row is read",
    )
    seen.add_argument("--records", metavar="N", help="a public estimate of the number of rows")
    add_output(seen)


def _add_groups(about: Any) -> None:
    about.add_argument(
        "--by",
        action="append",
        metavar="COLUMN=VALUE,VALUE",
        help="the groups of a column; for numbers also bins, COLUMN=LOW:HIGH:STEP. A column name "
        "alone finds the groups in the data, which costs --delta. May be repeated",
    )
    about.add_argument(
        "--rest",
        action="store_true",
        help="with declared groups: add two groups for each column, `missing` (no value) and "
        "`other` (any other value), which reveal a misspelt group",
    )


def _add_payment(paid: Any) -> None:
    """Add the options for the budget and the ledger."""
    paid.add_argument(
        "--mu", metavar="M", help="the budget of this release in Gaussian DP, such as 0.3"
    )
    paid.add_argument("--epsilon", metavar="E", help="or in pure DP, with Laplace noise")
    paid.add_argument("--rho", metavar="R", help="or in zero-concentrated DP")
    paid.add_argument(
        "--share", metavar="PART", help="or as a share of the ledger's total budget, such as 1/8"
    )
    paid.add_argument("--delta", metavar="D", help="the delta for undeclared groups, such as 1e-7")
    paid.add_argument(
        "--ledger",
        metavar="PLACE",
        help="the ledger that records what is spent: a file, or a PostgreSQL URL",
    )
    paid.add_argument(
        "--budget",
        metavar="mu=M",
        help="the total budget of a new ledger: mu=1, rho=0.5, epsilon=1, or "
        "epsilon=3,delta=1e-6; add ,delta_aside=1e-6 for tails and undeclared groups",
    )
    paid.add_argument("--id", metavar="ID", help="the id of the release in the ledger")
