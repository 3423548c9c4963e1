"""`neyman init`, `schema`, `rehearse`, `release` and `report`: what goes by a spec."""

from pathlib import Path
from typing import Any

from neyman.cli._commands._output import add_output
from neyman.cli._parser import command

__all__ = ["add_specs"]


def add_specs(commands: Any) -> None:
    """Add what goes by a spec."""
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
        told="write a spec to be filled in, from the columns of a table",
        description="Write a spec to be filled in, with the columns of a table and an example of "
        "every statistic. The schema of the table is read, and none of its rows.",
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
        help="where to write it; by default here, named as the data; no file is replaced",
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
        "spec with the line #:schema neyman.schema.json: editors that know TOML complete its keys "
        "and mark mistakes.",
        examples=["schema > neyman.schema.json"],
    )


def _add_release(commands: Any) -> None:
    release = command(
        commands,
        "release",
        module="_release",
        told="publish the statistics that a spec asks for",
        description="Publish the statistics that a spec asks for. Entries that the ledger holds "
        "already are answered from it, free.",
        examples=[
            "release visits.toml --preview --records 3000",
            "release visits.toml --report visits.html",
            "release visits.toml --csv -o visits.csv",
            "release - --folder data < visits.toml",
        ],
    )
    release.add_argument("spec", metavar="SPEC.toml", help="what to release; - for standard input")
    release.add_argument(
        "--folder",
        type=Path,
        metavar="DIR",
        help="what the paths in the spec are relative to; by default where the spec lies, and with "
        "- where you are",
    )
    release.add_argument(
        "--report", type=Path, metavar="FILE.html", help="write a report that people can read"
    )
    _add_language(release)
    add_output(release)
    _add_preview(release)


def _add_preview(release: Any) -> None:
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


def _add_rehearse(commands: Any) -> None:
    rehearse = command(
        commands,
        "rehearse",
        module="_rehearse",
        told="try a spec on public rows before anything is spent",
        description="Try a spec on public rows, such as last year's. It shows for each number what "
        "limits, bounds and noise do to it, and which max_rows is best. The ledger is not opened "
        "and nothing is charged. The answers are not private.",
        examples=[
            "rehearse visits.toml --data last_year.parquet",
            "rehearse visits.toml --data last_year.parquet --try max_rows=1,2,5",
        ],
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


def _add_report(commands: Any) -> None:
    report = command(
        commands,
        "report",
        module="_report",
        told="write the page of what was released again, free",
        description="Write the page again, free. Of a spec: every answer is taken from its ledger, "
        "and if one is not there yet nothing is released, and it is named. Of a ledger: the page "
        "of the whole ledger, with what was asked, what was charged, when, and what all of it "
        "together guarantees. A ledger holds noisy whole numbers and not what turns them into "
        "means or curves, so that page shows no answers; write the spec for those.",
        examples=["report visits.toml -o visits.html", "report visits.ledger -o ledger.html"],
    )
    report.add_argument("source", metavar="SPEC.toml|LEDGER", help="a spec, or a ledger")
    report.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE.html",
        help="where to; by default here, named as the spec or the ledger",
    )
    _add_language(report)


def _add_language(parser: Any) -> None:
    parser.add_argument(
        "--language",
        choices=["en", "ko", "zh"],
        help="of the page; by default that of the spec, or en",
    )
