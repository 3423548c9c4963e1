"""The commands of `neyman`. Nothing heavy is imported here."""

from typing import Any

from neyman.cli._commands._accounts import add_accounts
from neyman.cli._commands._ledgers import add_ledgers
from neyman.cli._commands._questions import add_questions
from neyman.cli._commands._specs import add_specs
from neyman.cli._parser import EXIT, Parser, command

__all__ = ["parser_of_all"]


def parser_of_all() -> Parser:
    """Return the parser of every command."""
    parser = Parser(
        prog="neyman",
        description="Differential privacy as a hypothesis test: private statistics with an exact "
        "guarantee, and a budget that outlives the process.",
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
    _add_help(commands)
    _add_completion(commands)
    parser.set_defaults(module="_help", parser=parser, root=parser)
    return parser


def _add_help(commands: Any) -> None:
    usage = command(
        commands,
        "help",
        module="_help",
        told="show how to use a command",
        description="Show how to use a command, as `neyman COMMAND --help` does.",
        examples=["help count", "help ledger show"],
    )
    usage.add_argument(
        "words", nargs="*", metavar="COMMAND", help="such as release, or ledger show"
    )
    version = command(
        commands,
        "version",
        module="_help",
        told="print the version",
        description="Print the version, as `neyman --version` and `neyman -V` do.",
        examples=["version"],
    )
    version.set_defaults(version=True)


def _add_completion(commands: Any) -> None:
    completion = command(
        commands,
        "completion",
        module="_completion",
        told="print a script that completes commands and options in a shell",
        description="Print a script that lets a shell complete commands, options and values.",
        examples=[
            "completion bash > ~/.local/share/bash-completion/completions/neyman",
            'completion zsh > "${fpath[1]}/_neyman"',
            "completion fish > ~/.config/fish/completions/neyman.fish",
        ],
    )
    completion.add_argument("shell", choices=["bash", "zsh", "fish"], help="the shell")
