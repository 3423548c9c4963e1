"""How arguments are parsed: each once, by its full name; a misspelt word gets a suggestion."""

import argparse
import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, NoReturn, cast, final

from neyman.overriding import override
from neyman.printable import printable

__all__ = ["EXIT", "LANGUAGES", "Parser", "WrongUsage", "add_output", "command", "meant"]

LANGUAGES: Final = ("en", "ko", "zh")

EXIT: Final = "Exit status: 0 done, 1 refused or failed, 2 wrong usage, 130 interrupted."


class WrongUsage(Exception):
    """A command line that cannot be understood; exit status 2.

    Attributes:
        parser: the parser of the command, which prints its usage; None until it is known.
    """

    parser: "Parser | None" = None


@final
class Parser(argparse.ArgumentParser):
    """The arguments of one command.

    Attributes:
        told: what the command does, in a few words.
    """

    told: str = ""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=_Formatter, **options)
        # -20:80 and -1e5 are values, not options.
        self._negative_number_matcher = re.compile(r"-[\d.]")
        for name in (None, "store"):
            self.register("action", name, _Once)

    def error(self, message: str) -> NoReturn:
        """Refuse the command line.

        Raises:
            WrongUsage: always.
        """
        # The message quotes the command line.
        refused = WrongUsage(printable(message))
        refused.parser = self
        raise refused

    @override
    def parse_known_args(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, args: Any = None, namespace: Any = None
    ) -> Any:
        # Checked before missing arguments: a misspelt word is the more likely mistake.
        wrong = [] if self.commands or args is None else self._strange(args)
        if wrong:
            self.error(self._unknown(wrong))
        found, left = super().parse_known_args(args, namespace)
        if left:
            self.error(self._unknown(left))
        return found, left

    def _strange(self, args: Sequence[str]) -> list[str]:
        """Return the long options that do not exist."""
        until = args.index("--") if "--" in args else len(args)
        known = self._option_string_actions
        long = [word for word in args[:until] if word.startswith("--")]
        return [word for word in long if word.partition("=")[0] not in known]

    def _unknown(self, left: Sequence[str]) -> str:
        options = [word.partition("=")[0] for word in left if word.startswith("-")]
        if not options:
            return f"these words are not understood: {' '.join(left)}; leave them out"
        return f"{options[0]} is not an option; {meant(options[0], self.options)}"

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        known = None if action.choices is None else [str(one) for one in action.choices]
        if known is None or value in known:
            return
        what = action.option_strings[0] if action.option_strings else action.dest
        below = isinstance(action.choices, dict)
        wrong = f"{value!r} is not a command" if below else f"{what} does not take {value!r}"
        raise argparse.ArgumentError(None, f"{wrong}; {meant(str(value), known)}")

    @property
    def options(self) -> dict[str, str]:
        """The options by their longer name, with their help texts."""
        actions = (action for action in self._actions if action.option_strings)
        return {
            max(action.option_strings, key=len): (action.help or "") % {"prog": self.prog}
            for action in actions
        }

    @property
    def values(self) -> dict[str, list[str]]:
        """The values of each option that takes one of a few."""
        return {
            name: [str(one) for one in action.choices]
            for action in self._actions
            if action.choices is not None
            for name in action.option_strings
        }

    @property
    def positional_values(self) -> list[str]:
        """The values of positional arguments that take one of a few."""
        return [
            str(one)
            for action in self._actions
            if not action.option_strings and isinstance(action.choices, list)
            for one in action.choices
        ]

    @property
    def commands(self) -> dict[str, "Parser"]:
        """The commands below this one, by name."""
        return {
            name: below
            for action in self._actions
            if not action.option_strings and isinstance(action.choices, dict)
            for name, below in cast("dict[str, object]", action.choices).items()  # pyright: ignore[reportUnknownMemberType]
            if isinstance(below, Parser)
        }

    def walk(self) -> Iterator[tuple[tuple[str, ...], "Parser"]]:
        """Yield this parser and all below it, each with the words of its command."""
        yield (), self
        for name, below in self.commands.items():
            for words, parser in below.walk():
                yield (name, *words), parser


# Names that other tools have for our options.
_SAME = {
    **dict.fromkeys(("rate", "q", "sampling-rate", "sample-rate"), "--sampling-probability"),
    **dict.fromkeys(("noise", "sigma"), "--noise-multiplier"),
    **dict.fromkeys(("group-by", "groups"), "--by"),
}


def meant(word: str, known: Sequence[str] | dict[str, str]) -> str:
    """Return a suggestion in place of an unknown word."""
    same = _SAME.get(word.lstrip("-"))
    if same in known:
        return f"did you mean {same}?"
    near = get_close_matches(word, list(known), n=1)
    if near:
        return f"did you mean {near[0]}?"
    return f"write one of {', '.join(known)}"


def command(
    commands: Any,
    name: str,
    *,
    module: str,
    told: str,
    description: str,
    examples: Sequence[str],
    **options: Any,
) -> Parser:
    """Add a command.

    Args:
        commands: what `add_subparsers` returned.
        name: the name of the command.
        module: the module of `neyman.cli` whose `run` executes it; imported when it is run.
        told: what the command does, in a few words.
        description: what the command does, in full.
        examples: command lines, without `neyman`.
        options: as for `ArgumentParser`.
    """
    epilog = "\n".join(["examples:", *(f"  neyman {example}" for example in examples), "", EXIT])
    parser: Parser = commands.add_parser(
        name, help=told, description=description, epilog=epilog, **options
    )
    parser.told = told
    parser.set_defaults(module=module, parser=parser)
    return parser


def add_output(parser: Any) -> None:
    """Add the options for the form of an answer and for the file that it is written to."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--csv", action="store_true", help="print CSV, one line for each group")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="write the answer to this file instead, whole or not at all",
    )


class _Formatter(argparse.HelpFormatter):
    """A formatter that keeps the lines of examples."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" in text:
            return text
        return super()._fill_text(text, width, indent)


class _Once(argparse.Action):
    """An option that may be given once: of two values, one is a mistake."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Store the value."""
        if option_string is not None and getattr(namespace, self.dest) is not self.default:
            parser.error(f"{option_string} was given twice; write it once")
        setattr(namespace, self.dest, values)
