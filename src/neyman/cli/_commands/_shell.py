"""`neyman help`, `version` and `completion`."""

from typing import Any

from neyman.cli._parser import command

__all__ = ["add_shell"]


def add_shell(commands: Any) -> None:
    """Add what a shell asks for."""
    told = command(
        commands,
        "help",
        module="_help",
        told="say how a command is used",
        description="Say how a command is used, as `neyman COMMAND --help` does.",
        examples=["help count", "help ledger show"],
    )
    told.add_argument("words", nargs="*", metavar="COMMAND", help="such as release, or ledger show")
    command(
        commands,
        "version",
        module="_version",
        told="print the version",
        description="Print the version, as `neyman --version` and `neyman -V` do.",
        examples=["version"],
    )
    completion = command(
        commands,
        "completion",
        module="_completion",
        told="print what completes commands and options in a shell",
        description="Print a script with which a shell completes commands, options and values.",
        examples=[
            "completion bash > ~/.local/share/bash-completion/completions/neyman",
            'completion zsh > "${fpath[1]}/_neyman"',
            "completion fish > ~/.config/fish/completions/neyman.fish",
        ],
    )
    completion.add_argument("shell", choices=["bash", "zsh", "fish"], help="which shell")
