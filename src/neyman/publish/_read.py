"""Reading a spec: every mistake is told at once, by its key and its fix."""

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
from neyman.publish._mistakes import FILL_IN, near_key, near_name, place_of, sentences, to_mend
from neyman.publish._queries._query import SHOWN
from neyman.publish._spec import Spec
from neyman.publish._toml import MOST_BYTES, Unusable, read_toml, too_large

__all__ = ["read_spec", "read_spec_file"]

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
            return read_spec_file(file, path)
    except OSError as error:
        raise _refused(path, f"{error.strerror}; write the path of a TOML file") from error


def read_spec_file(file: BinaryIO, path: Path | str) -> Spec:
    """Read and check a spec from a file that is open, such as `sys.stdin.buffer`.

    Args:
        file: its text; of one that is too long no more is read than shows it.
        path: what it is called in an error.

    Raises:
        SpecError: as `read_spec`.
    """
    fields: dict[str, Any] = {}
    lines: list[str] = []
    try:
        fields = read_toml(file.read(MOST_BYTES + 1))
        large = list(too_large(fields))
        if large:
            raise _to_be_mended(path, [f"{place_of(place, fields)}: {why}" for place, why in large])
        lines = list(_unfinished(fields))
        if not lines:
            return Spec.model_validate(fields)
        Spec.model_validate(fields)
    except Unusable as error:
        raise _refused(path, str(error)) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise _refused(path, f"it is no TOML: {error}") from error
    except ValidationError as error:
        lines += _every_mistake(_problems(error), fields, bool(lines))
    raise _to_be_mended(path, lines)


def _to_be_mended(path: Path | str, lines: Sequence[str]) -> SpecError:
    return _refused(path, to_mend(lines))


def _refused(path: Path | str, reason: str) -> SpecError:
    return SpecError(f"the spec {path} cannot be used: {reason}")


def _unfinished(
    value: object, steps: tuple[int | str, ...] = (), root: object = None
) -> Iterator[str]:
    """Tell every place that `neyman init` left to be filled in."""
    fields = cast("Mapping[str, Any]", value if root is None else root)
    inside: Iterator[tuple[int | str, object]] = iter(())
    match value:
        case str() if value.startswith(FILL_IN):
            told = value.removeprefix(FILL_IN)
            yield f"{place_of(steps, fields)}: is not filled in; write {printable(told)}"
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
    # What stands there by a wrong name is not missing as well.
    there = {
        (*problem["loc"][:-1], near_key(problem["loc"]))
        for problem in found
        if problem["type"] == "extra_forbidden"
    }
    return [one for one in found if one["type"] != "missing" or one["loc"] not in there]


def _every_mistake(
    problems: list[ErrorDetails], fields: Mapping[str, Any], unfinished: bool
) -> Iterator[str]:
    """Tell every mistake: also those that are seen only when others are mended."""
    told: set[str] = set()
    for _ in range(_MOST_ROUNDS):
        lines = list(sentences(problems, fields, unfinished))
        yield from (line for line in lines if line not in told)
        told |= set(lines)
        # What is left open may be the cause of whatever else there is.
        if unfinished or not any(problem["loc"] for problem in problems):
            return
        fields = _mended(fields, problems, near_name)
        try:
            Spec.model_validate(fields)
        except ValidationError as error:
            problems = _problems(error)
        else:
            return


_ASKED: Final = {"entry": "\0", "statistic": "count", "mu": 1}
# What stands in for a section that cannot be mended: nothing is wrong with it.
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


def _mended(
    fields: Mapping[str, Any],
    problems: Sequence[ErrorDetails],
    instead: Callable[[ErrorDetails], str | None],
) -> dict[str, Any]:
    """Return the fields of a spec without the problems that were told.

    A key or a statistic that is close to one that there is becomes that one, an unknown key goes.
    What else is wrong with a query may be what it spends or how it is displayed, which is replaced;
    if it is neither, the query is left out the next time. A section that is right stands in for a
    wrong one, so that what refers to it stays right, too.

    Args:
        fields: of a spec.
        problems: what is told.
        instead: what was meant by an unknown key or statistic.
    """
    found = deepcopy(dict(fields))
    dropped: set[int] = set()
    for problem in problems:
        steps = problem["loc"]
        if not steps or _rewritten(found, problem, instead(problem)):
            continue
        if steps[0] == "query" and len(steps) > 1 and isinstance(steps[1], int):
            if not _paid_anew(found["query"], steps[1]):
                dropped.add(steps[1])
        else:
            _replace(found, steps)
    if isinstance(found.get("query"), list):
        asked = cast("list[Any]", found["query"])
        kept = [query for i, query in enumerate(asked) if i not in dropped]
        found["query"] = kept or [dict(_ASKED)]
    return found


def _rewritten(fields: dict[str, Any], problem: ErrorDetails, meant: str | None) -> bool:
    """Write what was meant in place of a key or of a statistic; return whether that mends it."""
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


def _paid_anew(queries: Any, number: int) -> bool:
    """Have a query spend and show what is right; return whether it is another one then."""
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
    """Return what lies at a place; of the way there only what was written."""
    value: Any = fields
    for step in steps:
        if isinstance(value, dict):
            value = cast("dict[Any, Any]", value).get(step, value)
        elif isinstance(value, list) and isinstance(step, int):
            value = cast("list[Any]", value)[step]
    return cast("Any", value)


def _replace(fields: dict[str, Any], steps: Sequence[int | str]) -> None:
    """Put a right section in the place of a wrong one."""
    section = str(steps[0])
    if section == "query":
        fields["query"] = [dict(_ASKED)]
    elif section in _STAND_INS:
        fields[section] = dict(_STAND_INS[section])
    elif section in _NAMED and len(steps) > 1 and isinstance(fields.get(section), dict):
        fields[section][steps[1]] = dict(_NAMED[section])
    elif section in ("join", "join_public"):
        # The ones name the others.
        fields.pop("join", None)
        fields.pop("join_public", None)
    else:
        fields.pop(section, None)
