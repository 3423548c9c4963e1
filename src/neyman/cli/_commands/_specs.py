"""`neyman init`, `rehearse`, `release`, `report` and `schema`: the commands for specs."""

from pathlib import Path
from typing import Any

from neyman.cli._parser import add_output, command

__all__ = ["add_specs"]


def add_specs(commands: Any) -> None:
    """Add the commands for specs."""
    _add_init(commands)
    _add_rehearse(commands)
    _add_release(commands)
    _add_report(commands)
    _add_schema(commands)


def _add_init(commands: Any) -> None:
    init = command(
        commands,
        "init",
        module="_init",
        told="write a draft spec from the columns of a table",
        description="Write a draft spec with the columns of a table and an example of every "
        "statistic. It reads the schema of the table, and no row.",
        examples=[
            "init visits.parquet",
            "init visits.csv --spec annual.toml --ledger postgresql://me@host/database",
        ],
    )
    init.add_argument("data", type=Path, metavar="FILE", help="a Parquet or CSV file")
    init.add_argument(
        "--spec",
        type=Path,
        metavar="SPEC.toml",
        help="the file to write; by default in this folder, named after the data. An existing file "
        "is not replaced",
    )
    init.add_argument(
        "--ledger", metavar="PLACE", help="the ledger; by default a file beside the spec"
    )


def _add_schema(commands: Any) -> None:
    command(
        commands,
        "schema",
        module="_schema",
        told="print the JSON schema of a spec, for editors",
        description="Print the JSON schema of a spec. Save it as neyman.schema.json and begin the "
        "spec with the line #:schema neyman.schema.json. Editors that support TOML then complete "
        "its keys and mark mistakes.",
        examples=["schema > neyman.schema.json"],
    )


def _add_release(commands: Any) -> None:
    release = command(
        commands,
        "release",
        module="_release",
        told="publish the statistics that a spec asks for",
        description="Publish the statistics that a spec asks for. If the ledger already has an id, "
        "its stored answer is printed, free.",
        examples=[
            "release visits.toml --preview --records 3000",
            "release visits.toml --report visits.html",
            "release visits.toml --csv -o visits.csv",
            "release - --folder data < visits.toml",
        ],
    )
    release.add_argument("spec", metavar="SPEC.toml", help="the spec; - reads standard input")
    release.add_argument(
        "--folder",
        type=Path,
        metavar="DIR",
        help="the folder that paths in the spec are relative to; by default the folder of the "
        "spec, and with - the current folder",
    )
    release.add_argument("--report", type=Path, metavar="FILE.html", help="write a report page")
    _add_language(release)
    add_output(release)
    _add_preview(release)


def _add_preview(release: Any) -> None:
    release.add_argument(
        "--dry-run",
        action="store_true",
        help="print the price of every query; nothing is charged, no row is read",
    )
    release.add_argument(
        "--preview",
        action="store_true",
        help="print the price of every query and the size of its noise; nothing is charged, no row "
        "is read",
    )
    release.add_argument(
        "--records",
        action="append",
        metavar="N",
        help="with --preview: a public estimate of the number of rows; may be repeated",
    )
    release.add_argument(
        "--like",
        type=Path,
        metavar="FILE",
        help="with --preview: a public .parquet or .csv file whose rows resemble the private ones",
    )
    release.add_argument(
        "--spread",
        action="append",
        nargs=3,
        metavar=("COLUMN", "MEAN", "SD"),
        help="with --preview: a public estimate of a column's mean and standard deviation; may be "
        "repeated",
    )
    release.add_argument(
        "--sql", action="store_true", help="with --preview: also print the SQL statements"
    )


def _add_rehearse(commands: Any) -> None:
    rehearse = command(
        commands,
        "rehearse",
        module="_rehearse",
        told="try a spec on public rows before you spend anything",
        description="Try a spec on public rows, such as last year's. For each number it shows the "
        "effect of limits, bounds and noise, and which max_rows is best. It does not open the "
        "ledger and charges nothing. The answers are not private.",
        examples=[
            "rehearse visits.toml --data last_year.parquet",
            "rehearse visits.toml --data last_year.parquet --try max_rows=1,2,5",
        ],
    )
    rehearse.add_argument("spec", type=Path, metavar="SPEC.toml", help="the spec")
    rehearse.add_argument(
        "--data", type=Path, required=True, metavar="PUBLIC", help="a file of public rows"
    )
    rehearse.add_argument(
        "--join",
        action="append",
        metavar="NAME=PATH",
        help="a public file instead of the table of [join.NAME], or of the file in [unit.through]; "
        "may be repeated",
    )
    rehearse.add_argument("--report", type=Path, metavar="FILE.html", help="write a page")
    rehearse.add_argument("--json", action="store_true", help="print JSON with all groups")
    rehearse.add_argument(
        "--runs",
        default="200",
        metavar="N",
        help="the number of noisy answers to simulate; 200 by default",
    )
    rehearse.add_argument(
        "--try",
        dest="tried",
        metavar="max_rows=1,2,5,10",
        help="limits to try; by default 1, 2, 3, 5, 10, ... up to the most rows of one unit",
    )


def _add_report(commands: Any) -> None:
    report = command(
        commands,
        "report",
        module="_report",
        told="write the report page of earlier releases again, free",
        description="Write a report page, free. For a spec, the page has the answers that its "
        "ledger stores; if one is missing, nothing is released, and the error names it. For a "
        "ledger, the page lists every question, its charge, its time, and the guarantee of all "
        "together. It has no answers: a ledger stores noisy integers, and only the spec knows how "
        "to turn them into means or curves.",
        examples=["report visits.toml -o visits.html", "report visits.ledger -o ledger.html"],
    )
    report.add_argument("source", metavar="SPEC.toml|LEDGER", help="a spec, or a ledger")
    report.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE.html",
        help="the file to write; by default in this folder, named after the spec or the ledger",
    )
    _add_language(report)


def _add_language(parser: Any) -> None:
    parser.add_argument(
        "--language",
        choices=["en", "ko", "zh"],
        help="the language of the page; by default that of the spec, or en",
    )
