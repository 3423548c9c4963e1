"""What a value of a spec should have been, in words of TOML."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

from pydantic_core import ErrorDetails

from neyman.printable import shortened

__all__ = ["said"]

# By pydantic's name of the mistake: what was asked for, and how it is written.
_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "string_type": ("text", 'write it in quotes, as in "x"'),
    "bool_type": ("true or false", "write one of the two, without quotes"),
    "int_type": ("a whole number", "write it without quotes or a point, as in 10"),
    "is_instance_of": ("a number", "write it without quotes, as in 0.5"),
    "finite_number": ("a finite number", "write one"),
    "date_type": ("a date", "write it without quotes, as in 2024-12-31"),
    "list_type": ("a list", "write it in square brackets"),
    "dict_type": ("a table", "write it in braces, {{ key = value }}"),
    "model_type": ("a table", "write it in braces, {{ key = value }}"),
    "model_attributes_type": ("a table", "write it in braces, {{ key = value }}"),
    "literal_error": ("{expected}", "write it so"),
    "too_short": ("a list that is not empty", "write one thing into it at least"),
    "string_too_short": ("text that is not empty", "write a name"),
    "greater_than": ("more than {gt}", "write a larger number"),
    "greater_than_equal": ("at least {ge}", "write a larger number"),
    "less_than_equal": ("at most {le}", "write a smaller number"),
    # What a type of our own asks for, where pydantic's words would not do.
    "asked": ("{asked}", "{write}"),
}

# Of a mistake that nothing here names.
_OTHERWISE: Final = ("another value", "write what the table of keys in docs/howto/spec.md says")
_SHOWN: Final = 100


def said(problems: Sequence[ErrorDetails]) -> str:
    """Say what should stand in a place, what stands there, and what to write.

    Args:
        problems: why it is none of the kinds that may stand there; of one place.
    """
    words = [_words(problem) for problem in problems]
    asked = list(dict.fromkeys(asked for asked, _ in words))
    write = words[0][1] if len(asked) == 1 else "write one of these"
    *most, last = asked
    kinds = f"{', '.join(most)} or {last}" if most else last
    found = problems[0]["input"]
    shown = shortened(found if isinstance(found, Decimal) else repr(found), _SHOWN)
    return f"it should be {kinds}; found {shown}; {write}"


def _words(problem: ErrorDetails) -> tuple[str, str]:
    asked, write = _WORDS.get(problem["type"], _OTHERWISE)
    values = problem.get("ctx", {})
    return asked.format_map(values), write.format_map(values)
