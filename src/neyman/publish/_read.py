"""Reads a spec, and lists all of its mistakes with their fixes at once."""

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from neyman.errors import SpecError
from neyman.printable import printable
from neyman.publish._mistakes import (
    FILL_IN,
    listed_mistakes,
    near_key,
    near_name,
    place_of,
    sentences,
)
from neyman.publish._queries._query import SHOWN
from neyman.publish._spec import Spec
from neyman.publish._toml import MOST_BYTES, Unusable, read_toml, too_large

__all__ = ["read_spec", "read_spec_file"]

# Fixing a mistake can reveal others: a wrong statistic hides its keys.
_MOST_ROUNDS: Final = 8
# With more mistakes than this, only the first are listed.
_MOST_LOOKED_AT: Final = 500


def read_spec(path: Path) -> Spec:
    """Read and check a spec; the data are not read.

    Raises:
        SpecError: if the file is missing, is not TOML, or is not a valid spec. The message lists
            every wrong key with its fix.
    """
    try:
        with path.open("rb") as file:
            return read_spec_file(file, path)
    except OSError as error:
        raise _refused(path, f"{error.strerror}; write the path of a TOML file") from error


def read_spec_file(file: BinaryIO, path: Path | str) -> Spec:
    """Read and check a spec from an open file, such as `sys.stdin.buffer`.

    Args:
        file: the file; at most 1 MiB of it is read.
        path: the name of the file in messages.

    Raises:
        SpecError: as for `read_spec`.
    """
    fields: dict[str, Any] = {}
    lines: list[str] = []
    try:
        fields = read_toml(file.read(MOST_BYTES + 1))
        large = list(too_large(fields))
        if large:
            raise _refused_for(path, [f"{place_of(place, fields)}: {why}" for place, why in large])
        lines = list(_unfinished(fields))
        if not lines:
            return Spec.model_validate(fields)
        Spec.model_validate(fields)
    except Unusable as error:
        raise _refused(path, str(error)) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise _refused(path, f"it is not valid TOML: {error}") from error
    except ValidationError as error:
        lines += _all_mistakes(_problems(error), fields, bool(lines))
    raise _refused_for(path, lines)


def _refused_for(path: Path | str, lines: Sequence[str]) -> SpecError:
    return _refused(path, listed_mistakes(lines))


def _refused(path: Path | str, reason: str) -> SpecError:
    return SpecError(f"the spec {path} cannot be used: {reason}")


def _unfinished(
    value: object, steps: tuple[int | str, ...] = (), root: object = None
) -> Iterator[str]:
    """Yield every text of `neyman init` that has not been replaced."""
    fields = cast("Mapping[str, Any]", value if root is None else root)
    inside: Iterator[tuple[int | str, object]] = iter(())
    match value:
        case str() if value.startswith(FILL_IN):
            wanted = value.removeprefix(FILL_IN)
            yield f"{place_of(steps, fields)}: is not filled in; write {printable(wanted)}"
        case dict():
            inside = iter(cast("dict[str, object]", value).items())
        case list():
            inside = enumerate(cast("list[object]", value))
        case _:
            pass
    for step, part in inside:
        yield from _unfinished(part, (*steps, step), fields)


def _problems(error: ValidationError) -> list[ErrorDetails]:
    found = error.errors(include_url=False)[:_MOST_LOOKED_AT]
    # A key under a misspelt name is not missing as well.
    there = {
        (*problem["loc"][:-1], near_key(problem["loc"]))
        for problem in found
        if problem["type"] == "extra_forbidden"
    }
    return [one for one in found if one["type"] != "missing" or one["loc"] not in there]


def _all_mistakes(
    problems: list[ErrorDetails], fields: Mapping[str, Any], unfinished: bool
) -> Iterator[str]:
    """Yield every mistake, also those that appear when others are fixed."""
    listed: set[str] = set()
    for _ in range(_MOST_ROUNDS):
        lines = list(sentences(problems, fields, unfinished))
        yield from (line for line in lines if line not in listed)
        listed |= set(lines)
        # A text that has not been replaced may be the cause of the other mistakes.
        if unfinished or not any(problem["loc"] for problem in problems):
            return
        fields = _fixed(fields, problems, near_name)
        try:
            Spec.model_validate(fields)
        except ValidationError as error:
            problems = _problems(error)
        else:
            return


_ASKED: Final = {"entry": "\0", "statistic": "count", "mu": 1}
# Valid sections that replace wrong ones.
_STAND_INS: Final[Mapping[str, Mapping[str, Any]]] = {
    "data": {"path": "data.csv"},
    "unit": {"entity": "unit", "max_rows": 1},
    "budget": {"ledger": "ledger", "mu": 1, "delta_aside": Decimal("1e-6")},
}
_SPENDS: Final = ("mu", "epsilon", "rho", "share", "noise", "companion")
_REPLACED: Final = SHOWN.union(_SPENDS)
_NAMED: Final[Mapping[str, Mapping[str, Any]]] = {
    "columns": {"lower": 0, "upper": 1, "grid": 1},
    "keys": {"column": ["value"]},
    "unknown": {"columns": ["column"]},
}


def _fixed(
    fields: Mapping[str, Any],
    problems: Sequence[ErrorDetails],
    instead: Callable[[ErrorDetails], str | None],
) -> dict[str, Any]:
    """Return the fields of a spec with known problems fixed, to find further ones.

    A misspelt key or statistic is corrected, and an unknown key is removed. In a query with another
    mistake, budget and presentation are replaced first; if the mistake remains, the query is
    removed. A wrong section is replaced by a valid one, so that references to it stay valid.

    Args:
        fields: the fields of a spec.
        problems: the known problems.
        instead: returns the likely meaning of an unknown key or statistic.
    """
    found = deepcopy(dict(fields))
    dropped: set[int] = set()
    for problem in problems:
        steps = problem["loc"]
        if not steps or _rewritten(found, problem, instead(problem)):
            continue
        if steps[0] == "query" and len(steps) > 1 and isinstance(steps[1], int):
            if not _reset_budget(found["query"], steps[1]):
                dropped.add(steps[1])
        else:
            _replace(found, steps)
    if isinstance(found.get("query"), list):
        asked = cast("list[Any]", found["query"])
        kept = [query for i, query in enumerate(asked) if i not in dropped]
        found["query"] = kept or [dict(_ASKED)]
    return found


def _rewritten(fields: dict[str, Any], problem: ErrorDetails, meant: str | None) -> bool:
    """Correct a misspelt key or statistic; return whether that fixes the problem."""
    steps = problem["loc"]
    if problem["type"] == "extra_forbidden":
        holder, key = _at(fields, steps[:-1]), steps[-1]
        if not isinstance(holder, dict) or key not in holder:
            return False
        value = cast("dict[Any, Any]", holder).pop(key)
        if meant is not None:
            cast("dict[Any, Any]", holder).setdefault(meant, value)
        return True
    if problem["type"] == "union_tag_invalid" and meant is not None:
        holder = _at(fields, steps)
        if isinstance(holder, dict):
            holder["statistic"] = meant
            return True
    return False


def _reset_budget(queries: Any, number: int) -> bool:
    """Replace budget and presentation of a query; return whether that changes it."""
    query: object = queries[number]
    if not isinstance(query, dict):
        return False
    held = cast("dict[str, Any]", query)
    kept = {name: value for name, value in held.items() if name not in _REPLACED} | {"mu": 1}
    changed = kept != held
    held.clear()
    held.update(kept)
    return changed


def _at(fields: Any, steps: Sequence[int | str]) -> Any:
    """Return the value at a place, skipping steps that are not in the file."""
    value: Any = fields
    for step in steps:
        if isinstance(value, dict):
            value = cast("dict[Any, Any]", value).get(step, value)
        elif isinstance(value, list) and isinstance(step, int):
            value = cast("list[Any]", value)[step]
    return cast("Any", value)


def _replace(fields: dict[str, Any], steps: Sequence[int | str]) -> None:
    """Replace a wrong section by a valid one."""
    section = str(steps[0])
    if section == "query":
        fields["query"] = [dict(_ASKED)]
    elif section in _STAND_INS:
        fields[section] = dict(_STAND_INS[section])
    elif section in _NAMED and len(steps) > 1 and isinstance(fields.get(section), dict):
        fields[section][steps[1]] = dict(_NAMED[section])
    elif section in ("join", "join_public"):
        # They refer to each other.
        fields.pop("join", None)
        fields.pop("join_public", None)
    else:
        fields.pop(section, None)
