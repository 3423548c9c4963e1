"""What can be written after `neyman`. Nothing heavy is imported here."""

from neyman.cli._commands._accounts import add_accounts
from neyman.cli._commands._ledgers import add_ledgers
from neyman.cli._commands._questions import add_questions
from neyman.cli._commands._shell import add_shell
from neyman.cli._commands._specs import add_specs
from neyman.cli._parser import EXIT, Parser

__all__ = ["parser_of_all"]


def parser_of_all() -> Parser:
    """Return the parser of every command."""
    parser = Parser(
        prog="neyman",
        description="Differential privacy as a hypothesis test: private statistics with an exact "
        "guarantee and a budget that outlives the process.",
        epilog="begin with one of:\n"
        "  neyman count visits.parquet --unit patient --max-rows 5 --mu 0.3 --preview\n"
        "  neyman init visits.parquet\n"
        "  neyman help release\n\n" + EXIT,
    )
    parser.add_argument("-V", "--version", action="store_true", help="print the version and stop")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    add_questions(commands)
    add_specs(commands)
    add_ledgers(commands)
    add_accounts(commands)
    add_shell(commands)
    parser.set_defaults(module="_help", parser=parser, root=parser)
    return parser
