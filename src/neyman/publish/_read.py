"""Reading a spec: every mistake is told at once, by its key and its fix."""

import difflib
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Final, Union, cast, get_args, get_origin

from pydantic import Tag, ValidationError
from pydantic_core import ErrorDetails

from neyman.errors import SpecError
from neyman.printable import printable
from neyman.publish._mended import mended
from neyman.publish._mistakes import to_mend
from neyman.publish._queries import QUERIES
from neyman.publish._said import said
from neyman.publish._section import Section
from neyman.publish._spec import Spec
from neyman.publish._toml import MOST_BYTES, Unusable, read_toml, too_large

__all__ = ["FILL_IN", "read_spec", "read_spec_text"]

# What begins so was written by `neyman init`, to be replaced.
FILL_IN: Final = "FILL IN: "

# What others call statistics that are asked by another name.
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
# Steps to a query; its parts lie deeper, and know fewer statistics.
_QUERY: Final = 2
# Of a spec with thousands of mistakes only the first are looked into, and told.
# Mistakes behind mistakes: a statistic, its keys, what goes with them.
_MOST_ROUNDS: Final = 8
_MOST_LOOKED_AT: Final = 500


def read_spec(path: Path) -> Spec:
    """Read and check a spec; nothing of the data is touched.

    Raises:
        SpecError: if the file is missing, is no TOML, or does not say what a spec must say. The
            message lists every key that is wrong, and the fix.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise _refused(path, f"{error.strerror}; write the path of a TOML file") from error
    return read_spec_text(raw, path)


def read_spec_text(raw: bytes, path: Path | str) -> Spec:
    """Read and check a spec that is read already.

    Args:
        raw: its text.
        path: what it is called in an error.

    Raises:
        SpecError: as `read_spec`.
    """
    fields: dict[str, Any] = {}
    lines: list[str] = []
    try:
        fields = read_toml(raw)
        large = list(too_large(fields))
        if large:
            raise _to_mend(path, [f"{_place(place, fields)}: {why}" for place, why in large])
        lines = list(_left(fields))
        if not lines:
            return Spec.model_validate(fields)
        Spec.model_validate(fields)
    except Unusable as error:
        raise _refused(path, str(error)) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise _refused(path, f"it is no TOML: {error}") from error
    except ValidationError as error:
        lines += _all(_problems(error), fields, bool(lines))
    raise _to_mend(path, lines)


def _to_mend(path: Path | str, lines: Sequence[str]) -> SpecError:
    return _refused(path, to_mend(lines))


def _refused(path: Path | str, reason: str) -> SpecError:
    return SpecError(f"the spec {path} cannot be used: {reason}")


def _left(value: object, steps: tuple[int | str, ...] = (), root: object = None) -> Iterator[str]:
    """Tell every place that `neyman init` left to be filled in."""
    fields = cast("Mapping[str, Any]", value if root is None else root)
    inside: Iterator[tuple[int | str, object]] = iter(())
    match value:
        case str() if value.startswith(FILL_IN):
            told = value.removeprefix(FILL_IN)
            yield f"{_place(steps, fields)}: is not filled in; write {printable(told)}"
        case dict():
            inside = iter(cast("dict[str, object]", value).items())
        case list():
            inside = enumerate(cast("list[object]", value))
        case _:
            pass
    for step, part in inside:
        yield from _left(part, (*steps, step), fields)


def _problems(error: ValidationError) -> list[ErrorDetails]:
    found = error.errors(include_url=False)[:_MOST_LOOKED_AT]
    # What stands there by a wrong name is not missing as well.
    there = {
        (*problem["loc"][:-1], _near_key(problem["loc"]))
        for problem in found
        if problem["type"] == "extra_forbidden"
    }
    return [one for one in found if one["type"] != "missing" or one["loc"] not in there]


def _all(
    problems: list[ErrorDetails], fields: Mapping[str, Any], unfinished: bool
) -> Iterator[str]:
    """Tell every mistake: also those that are seen only when others are mended."""
    told: set[str] = set()
    for _ in range(_MOST_ROUNDS):
        lines = list(_sentences(problems, fields, unfinished))
        yield from (line for line in lines if line not in told)
        told |= set(lines)
        # What is left open may be the cause of whatever else there is.
        if unfinished or not any(problem["loc"] for problem in problems):
            return
        fields = mended(fields, problems, _instead)
        try:
            Spec.model_validate(fields)
        except ValidationError as error:
            problems = _problems(error)
        else:
            return


def _instead(problem: ErrorDetails) -> str | None:
    """Return the key or the statistic that was meant by one that is not there."""
    steps, found = problem["loc"], problem["input"]
    if problem["type"] == "union_tag_invalid":
        tag = str(cast("Mapping[str, object]", found)["statistic"])
        return next(iter(difflib.get_close_matches(tag, _tags(steps), n=1)), None)
    return _near_key(steps) if problem["type"] == "extra_forbidden" else None


def _sentences(
    problems: Sequence[ErrorDetails], fields: Mapping[str, Any], unfinished: bool
) -> Iterator[str]:
    places: dict[str, list[ErrorDetails]] = {}
    for problem in problems:
        left = str(problem["input"]).startswith(FILL_IN)
        # What is left open is told already, and what does not fit together may follow from it.
        if unfinished and (left or not problem["loc"]):
            continue
        steps = problem["loc"]
        where = _place(steps if problem["type"] != "missing" else steps[:-1], fields)
        if problem["type"] == "missing":
            where = str(steps[-1]) if where == "spec" else f"{where}.{steps[-1]}"
        places.setdefault(where, []).append(problem)
    for where, here in places.items():
        # Of the kinds that may stand here, that which was meant is the one with a mistake within.
        if any(other.startswith((f"{where}[", f"{where}.")) for other in places):
            continue
        first, *more = _sentence(here, where).split("\n")
        yield first
        yield from (f"{where}: {each}" for each in more)


def _sentence(problems: Sequence[ErrorDetails], where: str) -> str:
    """Say what is wrong in one place, where it is none of the kinds that may stand there."""
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
            return f"{where}: {said(problems)}"


def _near(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"write {near[0]}" if near else f"write one of {', '.join(known)}"


def _known(steps: tuple[int | str, ...]) -> str:
    """Say what could be meant by a key that is not there."""
    section = _section_at(steps[:-1])
    if section is None:
        return "delete it"
    known = sorted(section.model_fields)
    near = _near_key(steps)
    if near is not None:
        return f"write {near}"
    also = f"{section.sentence}; " if section.sentence else ""
    return f"{also}known keys are {', '.join(known)}"


def _near_key(steps: tuple[int | str, ...]) -> str | None:
    section = _section_at(steps[:-1])
    known = [] if section is None else sorted(section.model_fields)
    near = difflib.get_close_matches(str(steps[-1]), known, n=1)
    # A key of another statistic is no slip of the pen.
    if not near or any(steps[-1] in query.model_fields for query in QUERIES.values()):
        return None
    return near[0]


def _place(steps: tuple[int | str, ...], fields: Mapping[str, Any]) -> str:
    """Write where a mistake is, a query by its entry; of the way there only what was written."""
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
    """Return the section of the spec at this place."""
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
    """Step into a list, a mapping, or the one of several kinds that a name tells."""
    if get_origin(kind) not in (Union, UnionType):
        return get_args(kind)[-1]
    tagged = (part for part in get_args(kind) if Tag(str(step)) in get_args(part))
    return _statistics(kind).get(str(step)) or next(tagged, None)


def _tags(steps: tuple[int | str, ...]) -> list[str]:
    """Return the statistics that can stand at this place."""
    return list(_statistics(_kind_at(steps)))


def _statistics(kind: Any) -> dict[str, type[Section]]:
    """Return the sections of a union that a statistic tells apart."""
    parts = (part for part in get_args(kind) if isinstance(part, type))
    sections = [part for part in parts if issubclass(part, Section)]
    told = [part for part in sections if "statistic" in part.model_fields]
    return {get_args(part.model_fields["statistic"].annotation)[0]: part for part in told}


def _plain(kind: Any) -> Any:
    """Leave out what is said beside a type, and that it may be None."""
    while True:
        union = get_origin(kind) in (Union, UnionType)
        if get_origin(kind) is not Annotated and not (union and type(None) in get_args(kind)):
            return kind
        kind = get_args(kind)[0]
