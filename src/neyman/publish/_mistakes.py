"""The mistakes of a spec as sentences: the place, and what to write instead."""

import difflib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from types import UnionType
from typing import Annotated, Any, Final, TypeVar, Union, cast, final, get_args, get_origin

from pydantic import Tag
from pydantic_core import ErrorDetails

from neyman.errors import InvalidTable, SpecError
from neyman.printable import printable, shortened
from neyman.publish._queries import QUERIES
from neyman.publish._section import Section
from neyman.publish._spec import Spec

__all__ = [
    "FILL_IN",
    "Mistakes",
    "listed_mistakes",
    "near_key",
    "near_name",
    "place_of",
    "sentences",
]

# The prefix of texts that `neyman init` writes for users to replace.
FILL_IN: Final = "FILL IN: "

# Common names of statistics, with their names in a spec.
_MEANT: Final = {
    "median": "quantiles, with probabilities = [0.5]",
    **dict.fromkeys(
        ("min", "max", "minimum", "maximum", "range"),
        "quantiles, with probabilities = [0.01, 0.99]",
    ),
    **dict.fromkeys(
        ("histogram", "hist"), "count, with by = the NAME of [keys.NAME] that cuts a column in bins"
    ),
    **dict.fromkeys(("std", "stddev"), "variance, whose answer has the standard deviation"),
    **dict.fromkeys(("contingency", "margins", "table"), "crosstab"),
    **dict.fromkeys(("average", "avg"), "mean"),
    **dict.fromkeys(("distinct", "count_distinct", "n_unique"), "count_units"),
    **dict.fromkeys(("kde", "map", "field"), "density"),
}
# The depth of a query; its parts are deeper, and take fewer statistics.
_QUERY: Final = 2
_T = TypeVar("_T")

_MOST_LISTED: Final = 200


@final
@dataclass(frozen=True, slots=True)
class Mistakes:
    """The mistakes found so far.

    Attributes:
        found: the errors, in order.
    """

    found: list[SpecError | InvalidTable] = field(default_factory=list[SpecError | InvalidTable])

    def __bool__(self) -> bool:
        return bool(self.found)

    def of(self, make: Callable[[], _T]) -> _T | None:
        """Return the result of `make`; if it fails, None, and keep the error."""
        try:
            return make()
        except (SpecError, InvalidTable) as error:
            self.found.append(error)
            return None

    def raise_all(self) -> None:
        """Raise the errors found.

        Raises:
            SpecError, InvalidTable: the only error, or one that lists several.
        """
        if not self.found:
            return
        if len(self.found) == 1:
            raise self.found[0]
        lines = list(dict.fromkeys(_line(error) for error in self.found))
        kinds = {type(error) for error in self.found}
        kind = kinds.pop() if len(kinds) == 1 else InvalidTable
        raise kind(listed_mistakes(lines)) from self.found[0]


def listed_mistakes(lines: Sequence[str]) -> str:
    """Return the number of mistakes and the first of them, one on each line."""
    more = len(lines) - _MOST_LISTED
    shown = [*lines[:_MOST_LISTED], *([f"... and {more:,} more"] if more > 0 else [])]
    return "\n  ".join([f"{len(lines)} problem{'s' if len(lines) != 1 else ''}", *shown])


def _line(error: Exception) -> str:
    """Return the message of an error, without the quotes of a KeyError."""
    return str(error.args[0]) if error.args else str(error)


def sentences(
    problems: Sequence[ErrorDetails], fields: Mapping[str, Any], unfinished: bool
) -> Iterator[str]:
    places: dict[str, list[ErrorDetails]] = {}
    for problem in problems:
        left = str(problem["input"]).startswith(FILL_IN)
        # Texts to replace are listed already, and contradictions may follow from them.
        if unfinished and (left or not problem["loc"]):
            continue
        steps = problem["loc"]
        where = place_of(steps if problem["type"] != "missing" else steps[:-1], fields)
        if problem["type"] == "missing":
            where = str(steps[-1]) if where == "spec" else f"{where}.{steps[-1]}"
        places.setdefault(where, []).append(problem)
    for where, here in places.items():
        # Of several allowed types, the intended one is the one with a mistake inside.
        if any(other.startswith((f"{where}[", f"{where}.")) for other in places):
            continue
        first, *more = _sentence(here, where).split("\n")
        yield first
        yield from (f"{where}: {each}" for each in more)


def _sentence(problems: Sequence[ErrorDetails], where: str) -> str:
    """Return the mistake at a place, whose value has none of the allowed types."""
    problem = problems[0]
    steps, found = problem["loc"], problem["input"]
    match problem["type"]:
        case "extra_forbidden":
            return f"{where}: no such key; {_known(steps)}"
        case "missing":
            takes = _section_at(steps[:-1])
            also = takes.sentence if takes is not None else ""
            return f"{where}: is missing; {also or 'write it'}"
        case "union_tag_not_found":
            return f"{where}.statistic: is missing; write one of {', '.join(_tags(steps))}"
        case "union_tag_invalid":
            tag = str(cast("Mapping[str, object]", found)["statistic"])
            meant = _MEANT.get(tag) if steps[0] == "query" and len(steps) <= _QUERY else None
            instead = f"write {meant}" if meant else _near(tag, _tags(steps))
            return f"{where}.statistic: no such statistic {tag!r}; {instead}"
        case "value_error":
            return f"{where}: {problem['msg'].removeprefix('Value error, ')}"
        case _:
            return f"{where}: {_what_it_should_be(problems)}"


def _near(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"write {near[0]}" if near else f"write one of {', '.join(known)}"


def _known(steps: tuple[int | str, ...]) -> str:
    """Return a suggestion for an unknown key."""
    section = _section_at(steps[:-1])
    if section is None:
        return "delete it"
    known = sorted(section.model_fields)
    near = near_key(steps)
    if near is not None:
        return f"write {near}"
    also = f"{section.sentence}; " if section.sentence else ""
    return f"{also}known keys are {', '.join(known)}"


def near_key(steps: tuple[int | str, ...]) -> str | None:
    section = _section_at(steps[:-1])
    known = [] if section is None else sorted(section.model_fields)
    near = difflib.get_close_matches(str(steps[-1]), known, n=1)
    # A key of another statistic is no slip of the pen.
    if not near or any(steps[-1] in query.model_fields for query in QUERIES.values()):
        return None
    return near[0]


def place_of(steps: tuple[int | str, ...], fields: Mapping[str, Any]) -> str:
    """Return the place of a mistake in words, with a query by its entry."""
    value: Any = fields
    text = ""
    for i, step in enumerate(steps):
        if not _holds(value, step):
            continue
        value = value[step]
        if i == 1 and steps[0] == "query" and isinstance(step, int):
            text = _query(value, step)
        else:
            text += f"[{step}]" if isinstance(step, int) else f".{_key(step)}"
    return text.lstrip(".") or "spec"


def _key(name: str) -> str:
    return name if name == printable(name) else json.dumps(name)


def _holds(value: Any, step: int | str) -> bool:
    return (
        step in value
        if isinstance(value, dict)
        else isinstance(value, list) and isinstance(step, int)
    )


def _query(written: object, number: int) -> str:
    held = cast("dict[str, object]", written) if isinstance(written, dict) else {}
    entry = held.get("entry")
    if isinstance(entry, str) and entry and not entry.startswith(FILL_IN):
        return f"query {entry!r}"
    return f"query number {number + 1}"


def _section_at(steps: tuple[int | str, ...]) -> type[Section] | None:
    """Return the section of the spec at a place."""
    kind = _kind_at(steps)
    return kind if isinstance(kind, type) and issubclass(kind, Section) else None


def _kind_at(steps: tuple[int | str, ...]) -> Any:
    kind: Any = Spec
    for step in steps:
        if isinstance(kind, type) and issubclass(kind, Section):
            kind = kind.model_fields[str(step)].annotation
        else:
            kind = _inside(kind, step)
        kind = _plain(kind)
    return kind


def _inside(kind: Any, step: int | str) -> Any:
    """Return the type inside a list or a mapping, or the one of several with a name."""
    if get_origin(kind) not in (Union, UnionType):
        return get_args(kind)[-1]
    tagged = (part for part in get_args(kind) if Tag(str(step)) in get_args(part))
    return _statistics(kind).get(str(step)) or next(tagged, None)


def _tags(steps: tuple[int | str, ...]) -> list[str]:
    """Return the statistics that are allowed at a place."""
    return list(_statistics(_kind_at(steps)))


def _statistics(kind: Any) -> dict[str, type[Section]]:
    """Return the sections of a union, by their statistic."""
    parts = (part for part in get_args(kind) if isinstance(part, type))
    sections = [part for part in parts if issubclass(part, Section)]
    told = [part for part in sections if "statistic" in part.model_fields]
    return {get_args(part.model_fields["statistic"].annotation)[0]: part for part in told}


def _plain(kind: Any) -> Any:
    """Return a type without annotations and without None."""
    while True:
        union = get_origin(kind) in (Union, UnionType)
        if get_origin(kind) is not Annotated and not (union and type(None) in get_args(kind)):
            return kind
        kind = get_args(kind)[0]


def near_name(problem: ErrorDetails) -> str | None:
    """Return the likely meaning of an unknown key or statistic."""
    steps, found = problem["loc"], problem["input"]
    if problem["type"] == "union_tag_invalid":
        tag = str(cast("Mapping[str, object]", found)["statistic"])
        return next(iter(difflib.get_close_matches(tag, _tags(steps), n=1)), None)
    return near_key(steps) if problem["type"] == "extra_forbidden" else None


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


def _what_it_should_be(problems: Sequence[ErrorDetails]) -> str:
    """Return what a place must contain, what it contains, and what to write.

    Args:
        problems: the problems of one place, one for each allowed type.
    """
    words = [_asked_and_write(problem) for problem in problems]
    asked = list(dict.fromkeys(asked for asked, _ in words))
    write = words[0][1] if len(asked) == 1 else "write one of these"
    *most, last = asked
    kinds = f"{', '.join(most)} or {last}" if most else last
    found = problems[0]["input"]
    shown = shortened(found if isinstance(found, Decimal) else repr(found), _SHOWN)
    return f"it should be {kinds}; found {shown}; {write}"


def _asked_and_write(problem: ErrorDetails) -> tuple[str, str]:
    asked, write = _WORDS.get(problem["type"], _OTHERWISE)
    values = problem.get("ctx", {})
    return asked.format_map(values), write.format_map(values)
