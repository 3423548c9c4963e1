"""Released functions from releases, records and files."""

import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypeVar, cast, overload
from zipfile import BadZipFile

import numpy as np

from neyman.arguments import check_type, given
from neyman.errors import InvalidParameter
from neyman.functional._abstract import Function, Released
from neyman.functional._field import ReleasedField
from neyman.functional._function import ReleasedFunction
from neyman.functional._interpolant import Interpolant
from neyman.functional._regression_curve import RegressionCurve
from neyman.functional._survival_curve import SurvivalCurve
from neyman.functional._written import strictly

__all__ = ["function", "load", "read", "save"]

# A new kind of function is one more line.
_KINDS: Final[tuple[type[Function], ...]] = (
    ReleasedFunction,
    ReleasedField,
    SurvivalCurve,
    RegressionCurve,
    Interpolant,
)

_Kind = TypeVar("_Kind", bound=Function)


@overload
def function(release: Released) -> Function: ...
@overload
def function(release: Released, kind: type[_Kind]) -> _Kind: ...
def function(release: Released, kind: type[Function] = Function) -> Function:
    """Make a function of a release of any question of `functional`.

    Args:
        release: what the door returned.
        kind: the class that is expected, for type checkers and for clear errors; any by default.

    Raises:
        InvalidParameter: if it is a release of something else.
    """
    check_type(
        "release", release, Released, "what release(query, noise, ledger, entry=...) returned"
    )
    for known in _asked(kind):
        if release.query.get("statistic") in known.statistics:
            try:
                return known.of_release(release)
            except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
                raise InvalidParameter(
                    f"a damaged release of {' or '.join(known.statistics)} was given; write "
                    "function(release) with what release(...) returned"
                ) from error
    asked = [name for known in _asked(kind) for name in known.statistics]
    raise InvalidParameter(
        f"a release of {release.query.get('statistic')!r} was given; write function(release) for a "
        f"release of functional.{', '.join(asked)}"
    )


@overload
def read(record: Mapping[str, object]) -> Function: ...
@overload
def read(record: Mapping[str, object], kind: type[_Kind]) -> _Kind: ...
def read(record: Mapping[str, object], kind: type[Function] = Function) -> Function:
    """Rebuild a function from what its `to_json` returned.

    Raises:
        InvalidParameter: if it is no such record, of another kind, or of a later version.
    """
    check_type("record", record, Mapping, "what to_json returned, a dict")
    for known in _asked(kind):
        if record.get("kind") == known.kind:
            return strictly(known.of_record, record, known.kind)
    kinds = [known.kind for known in _asked(kind)]
    raise InvalidParameter(
        f"a record of kind {record.get('kind')!r} was given; write what to_json returned, of kind "
        f"{', '.join(kinds)}"
    )


def save(function: Function, path: str | Path) -> None:
    """Write an .npz file: the integers, if any, and all the rest as JSON; `load` reads it.

    Raises:
        InvalidParameter: if it is no released function, or the path is none.
    """
    check_type("function", function, Function, "functional.function(release)")
    place = _place(path)
    record = function.to_json()
    integers = np.array(record.pop("integers", []), dtype=np.int64)
    with place.open("wb") as file:
        np.savez(file, integers=integers, record=np.array(json.dumps(record)))


@overload
def load(path: str | Path) -> Function: ...
@overload
def load(path: str | Path, kind: type[_Kind]) -> _Kind: ...
def load(path: str | Path, kind: type[Function] = Function) -> Function:
    """Read what `save` wrote.

    Raises:
        InvalidParameter: if the file holds something else.
    """
    place = _place(path)
    try:
        with place.open("rb") as source, np.load(source, allow_pickle=False) as file:
            written = json.loads(str(file["record"]))
            integers = file["integers"].tolist() if len(file.files) == 2 else None
    # What NumPy, zip and JSON say of a file that is none of theirs.
    except (ValueError, TypeError, KeyError, EOFError, BadZipFile, NotImplementedError, zlib.error):
        written = integers = None
    if integers is None or not isinstance(written, dict):
        raise InvalidParameter(f"{str(place)!r} holds no function; write it by functional.save")
    record = cast("dict[str, object]", written)
    return read(record | ({"integers": integers} if integers else {}), kind)


def _asked(kind: type[Function]) -> list[type[Function]]:
    """Return the known classes among these."""
    if not (isinstance(kind, type) and issubclass(kind, Function)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidParameter(
            f"{given('kind', kind)} is no class of functions; write one such as "
            "functional.ReleasedFunction, or leave it out"
        )
    return [known for known in _KINDS if issubclass(known, kind)]


def _place(path: str | Path) -> Path:
    check_type("path", path, str | os.PathLike, "the path of a file")
    return Path(path)
