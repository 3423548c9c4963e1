"""`neyman completion`: scripts made from the commands and their options."""

import argparse
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from neyman.cli._parser import Parser
from neyman.cli._say import say

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Print the script for a shell."""
    say(_SCRIPTS[options.shell](options.root))
    return 0


def _bash(root: Parser) -> str:
    return f"""\
# Completion of neyman for bash.
_neyman() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" words= i
    local place=neyman
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "$place ${{COMP_WORDS[i]}}" in
{_lines(12, (f'"{_place(words)}") place="{_place(words)}" ;;' for words, _ in _below(root)))}
        esac
    done
    case "$place $before" in
{_lines(8, (f'"{place} {name}") words="{" ".join(of)}" ;;' for place, name, of in _values(root)))}
        *) case "$place" in
{_lines(12, (f'"{_place(words)}") words="{" ".join(_all(p))}" ;;' for words, p in root.walk()))}
        esac ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -o bashdefault -F _neyman neyman"""


def _zsh(root: Parser) -> str:
    described = (
        f'"{_place(words)}") next=({" ".join(map(_colon, _next_words(parser).items()))}) ;;'
        for words, parser in root.walk()
    )
    return f"""\
#compdef neyman
# Completion of neyman for zsh.
_neyman() {{
    local -a next
    local place=neyman word before="${{words[CURRENT-1]}}"
    for word in "${{(@)words[2,CURRENT-1]}}"; do
        case "$place $word" in
{_lines(12, (f'"{_place(words)}") place="{_place(words)}" ;;' for words, _ in _below(root)))}
        esac
    done
    case "$place $before" in
{_lines(8, (f'"{place} {name}") next=({" ".join(of)}) ;;' for place, name, of in _values(root)))}
        *) case "$place" in
{_lines(12, described)}
        esac ;;
    esac
    _describe 'neyman' next
    _files
}}
compdef _neyman neyman"""


def _fish(root: Parser) -> str:
    lines = ["# Completion of neyman for fish."]
    for words, parser in root.walk():
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in words)
        if parser.commands:
            none = f"not __fish_seen_subcommand_from {' '.join(parser.commands)}"
            here = f"{seen}; and {none}" if seen else none
            lines += [
                f"complete -c neyman -f -n {_quoted(here)} -a {name} -d {_quoted(below.told)}"
                for name, below in parser.commands.items()
            ]
        for name, about in parser.options.items():
            taken = parser.values.get(name)
            values = f" -x -a {_quoted(' '.join(taken))}" if taken else ""
            on = f" -n {_quoted(seen)}" if seen else ""
            lines.append(f"complete -c neyman{on} -l {name[2:]}{values} -d {_quoted(about)}")
    return "\n".join(lines)


_SCRIPTS: Final[Mapping[str, Callable[[Parser], str]]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}


def _place(words: tuple[str, ...]) -> str:
    return " ".join(["neyman", *words])


def _below(root: Parser) -> Iterator[tuple[tuple[str, ...], Parser]]:
    return (found for found in root.walk() if found[0])


def _values(root: Parser) -> Iterator[tuple[str, str, list[str]]]:
    for words, parser in root.walk():
        for name, values in parser.values.items():
            yield _place(words), name, values


def _next_words(parser: Parser) -> dict[str, str]:
    """Return the words that can come next, with what each does."""
    named = {name: below.told for name, below in parser.commands.items()}
    return named | dict.fromkeys(parser.positional_values, "") | parser.options


def _all(parser: Parser) -> list[str]:
    return list(_next_words(parser))


def _colon(described: tuple[str, str]) -> str:
    """Return a word with its description, as zsh expects."""
    word, about = described
    return _quoted(f"{word}:{about}" if about else word)


def _quoted(text: str) -> str:
    """Quote a text as one word of a shell."""
    return "'" + text.replace("\\", "").replace("'", "") + "'"


def _lines(indent: int, lines: Iterator[str]) -> str:
    return "\n".join(" " * indent + line for line in lines)
