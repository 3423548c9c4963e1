"""How arguments are read: none twice, none by half its name, and a word on what was meant."""

import argparse
import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any, Final, NoReturn, cast, final

from neyman.overriding import override
from neyman.printable import printable

__all__ = [
    "EXIT",
    "LANGUAGES",
    "Parser",
    "WrongUsage",
    "command",
    "meant",
]

LANGUAGES: Final = ("en", "ko", "zh")

EXIT: Final = "Exit status: 0 done, 1 refused or failed, 2 wrong usage, 130 interrupted."


class WrongUsage(Exception):
    """Words that make no command; exit status 2.

    Attributes:
        parser: of the command, for its usage; None until it is known.
    """

    parser: "Parser | None" = None


@final
class Parser(argparse.ArgumentParser):
    """Arguments of one command.

    Attributes:
        told: what it does, in a few words.
    """

    told: str = ""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=_Formatter, **options)
        # -20:80 and -1e5 are values, and no options.
        self._negative_number_matcher = re.compile(r"-[\d.]")
        for name in (None, "store"):
            self.register("action", name, _Once)

    def error(self, message: str) -> NoReturn:
        """Refuse the words that were given.

        Raises:
            WrongUsage: always.
        """
        # It quotes what was given.
        refused = WrongUsage(printable(message))
        refused.parser = self
        raise refused

    @override
    def parse_known_args(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, args: Any = None, namespace: Any = None
    ) -> Any:
        # Before what is missing: a word that is misspelt is the more likely mistake.
        wrong = [] if self.commands or args is None else self._strange(args)
        if wrong:
            self.error(self._unknown(wrong))
        found, left = super().parse_known_args(args, namespace)
        if left:
            self.error(self._unknown(left))
        return found, left

    def _strange(self, args: Sequence[str]) -> list[str]:
        """Return the long options that there are not."""
        until = args.index("--") if "--" in args else len(args)
        known = self._option_string_actions
        long = [word for word in args[:until] if word.startswith("--")]
        return [word for word in long if word.partition("=")[0] not in known]

    def _unknown(self, left: Sequence[str]) -> str:
        options = [word.partition("=")[0] for word in left if word.startswith("-")]
        if not options:
            return f"more was given than is understood: {' '.join(left)}; leave it out"
        return f"no such option {options[0]}; {meant(options[0], self.options)}"

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        known = None if action.choices is None else [str(one) for one in action.choices]
        if known is None or value in known:
            return
        what = action.option_strings[0] if action.option_strings else action.dest
        below = isinstance(action.choices, dict)
        said = f"no such command {value!r}" if below else f"{what} takes no {value!r}"
        raise argparse.ArgumentError(None, f"{said}; {meant(str(value), known)}")

    @property
    def options(self) -> dict[str, str]:
        """The options, and what each is for; of two names the longer."""
        actions = (action for action in self._actions if action.option_strings)
        return {
            max(action.option_strings, key=len): (action.help or "") % {"prog": self.prog}
            for action in actions
        }

    @property
    def values(self) -> dict[str, list[str]]:
        """The values that an option takes, where there are a few."""
        return {
            name: [str(one) for one in action.choices]
            for action in self._actions
            if action.choices is not None
            for name in action.option_strings
        }

    @property
    def positional_values(self) -> list[str]:
        """The words that may stand by themselves, where there are a few."""
        return [
            str(one)
            for action in self._actions
            if not action.option_strings and isinstance(action.choices, list)
            for one in action.choices
        ]

    @property
    def commands(self) -> dict[str, "Parser"]:
        """The commands below it, by name."""
        return {
            name: below
            for action in self._actions
            if not action.option_strings and isinstance(action.choices, dict)
            for name, below in cast("dict[str, object]", action.choices).items()  # pyright: ignore[reportUnknownMemberType]
            if isinstance(below, Parser)
        }

    def walk(self) -> Iterator[tuple[tuple[str, ...], "Parser"]]:
        """Return it and all commands below, each with the words that lead there."""
        yield (), self
        for name, below in self.commands.items():
            for words, parser in below.walk():
                yield (name, *words), parser


def meant(word: str, known: Sequence[str] | dict[str, str]) -> str:
    """Say what could be written in place of a word that is unknown."""
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
        name: of it.
        module: whose `run` does it, imported no earlier.
        told: what it does, in a few words.
        description: the same at length.
        examples: command lines, without `neyman`.
        options: as for `ArgumentParser`.
    """
    shown = "\n".join(["examples:", *(f"  neyman {example}" for example in examples), "", EXIT])
    parser: Parser = commands.add_parser(
        name, help=told, description=description, epilog=shown, **options
    )
    parser.told = told
    parser.set_defaults(module=module, parser=parser)
    return parser


class _Formatter(argparse.HelpFormatter):
    """Examples keep their lines."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" in text:
            return text
        return super()._fill_text(text, width, indent)


class _Once(argparse.Action):
    """What is given twice is refused: one of the two was not meant."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Keep the value."""
        if option_string is not None and getattr(namespace, self.dest) is not self.default:
            parser.error(f"{option_string} was given twice; write it once")
        setattr(namespace, self.dest, values)
