"""Released functions from releases, records and files."""

import json
import os
import zlib
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar, cast, overload
from zipfile import BadZipFile

import numpy as np

from neyman.arguments import check_type, got
from neyman.errors import InvalidParameter
from neyman.functional._abstract import Function, Released
from neyman.functional._answers import Answer, found_in, release_of
from neyman.functional._densities._density_function import DensityFunction
from neyman.functional._densities._field import ReleasedField
from neyman.functional._densities._function import ReleasedFunction
from neyman.functional._densities._masses import MassFunction
from neyman.functional._densities._proper import TabulatedDensity
from neyman.functional._functions import Functions, parts_of
from neyman.functional._gaussian_processes._interpolant import Interpolant
from neyman.functional._lifetimes._survival_curve import SurvivalCurve
from neyman.functional._regressions._additive_curve import AdditiveCurve
from neyman.functional._regressions._regression_curve import RegressionCurve

__all__ = [
    "function",
    "functions",
    "load",
    "load_functions",
    "read",
    "read_functions",
    "save",
    "write_to",
]

# A new kind of function is one more line. The first that reads a release is handed over.
_KINDS: Final[tuple[type[Function], ...]] = (
    DensityFunction,
    ReleasedFunction,
    ReleasedField,
    SurvivalCurve,
    RegressionCurve,
    AdditiveCurve,
    Interpolant,
    TabulatedDensity,
    MassFunction,
)

_RELEASE: Final = "what release(query, noise, ledger, entry=...) returned"
_RECORD: Final = "what to_json returned, a dict"
_NO_ZIP: Final = (BadZipFile, zlib.error)
_NONE: Final = np.zeros(0, np.int64)

_Kind = TypeVar("_Kind", bound=Function)
_Written = TypeVar("_Written", bound=Function | Functions[Any])


@overload
def function(release: Released | Answer) -> Function: ...
@overload
def function(release: Released | Answer, kind: type[_Kind]) -> _Kind: ...
def function(release: Released | Answer, kind: type[Function] = Function) -> Function:
    """Return the function of a release of any question of `functional`.

    Args:
        release: a release, or the answer of a session.
        kind: the expected class, for type checkers and clear errors; any class by default.

    Raises:
        InvalidParameter: if the release is of another question, or has several groups.
    """
    if isinstance(release, Answer) and isinstance(release.found, Function):
        return _expected(release.found, kind)
    own = release_of(release)
    check_type("release", own, Released, _RELEASE)
    if own.query.get("keys") is not None:
        raise InvalidParameter(
            "a release by group holds several functions; write functional.functions(release), and "
            "take the function of one key"
        )
    return _made(own, kind)


@overload
def functions(release: Released | Answer) -> Functions[Function]: ...
@overload
def functions(release: Released | Answer, kind: type[_Kind]) -> Functions[_Kind]: ...
def functions(release: Released | Answer, kind: type[Function] = Function) -> Functions[Function]:
    """Return the functions of a release with `by`, one for each group.

    Args:
        release: a release, or the answer of a session.
        kind: the expected class, for type checkers and clear errors; any class by default.

    Returns:
        A mapping from tuples of keys; dates are ISO text.

    Raises:
        InvalidParameter: if the release is of another question, or has no groups.
    """
    own = release_of(release)
    check_type("release", own, Released, _RELEASE)
    if own.query.get("keys") is None:
        raise InvalidParameter("this release is not by group; write functional.function(release)")
    try:
        columns, parts = parts_of(own)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise _damaged("functions by group") from error
    return Functions(columns, {key: _made(part, kind) for key, part in parts.items()})


def _made(release: Released, kind: type[Function]) -> Function:
    for known in _known_kinds(kind):
        if release.query.get("statistic") in known.statistics:
            try:
                return known.of_release(release)
            except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
                raise _damaged(" or ".join(known.statistics)) from error
    raise _another(release.query.get("statistic"), kind)


def _expected(found: Function, kind: type[Function]) -> Function:
    """Return a function, checked to be of the expected class."""
    if type(found) not in _known_kinds(kind):
        raise _another(found.statistics[0], kind)
    return found


def _another(statistic: object, kind: type[Function]) -> InvalidParameter:
    names = [name for known in _known_kinds(kind) for name in known.statistics]
    return InvalidParameter(
        f"function(release) takes a release of functional.{', '.join(names)}; got a release of "
        f"{statistic!r}"
    )


@overload
def read(record: Mapping[str, object]) -> Function: ...
@overload
def read(record: Mapping[str, object], kind: type[_Kind]) -> _Kind: ...
def read(record: Mapping[str, object], kind: type[Function] = Function) -> Function:
    """Rebuild a released function from the record that its `to_json()` returned.

    Args:
        record: a mapping, such as `json.load` returns.
        kind: the expected class, for type checkers and clear errors; any class by default.

    Raises:
        InvalidParameter: if the record is malformed, of another kind, or of a later version.
    """
    check_type("record", record, Mapping, _RECORD)
    _refuse_grouped(record, "a record", "functional.read_functions(record)")
    for known in _known_kinds(kind):
        if record.get("kind") == known.kind:
            return _strictly(known.of_record, record, known.kind)
    kinds = [known.kind for known in _known_kinds(kind)]
    raise InvalidParameter(
        f"the record must be what to_json returned, of kind {', '.join(kinds)}; got kind "
        f"{record.get('kind')!r}"
    )


def read_functions(record: Mapping[str, object]) -> Functions[Function]:
    """Return the functions by group that `to_json` wrote.

    Raises:
        InvalidParameter: if the record is malformed, or of a later version.
    """
    check_type("record", record, Mapping, _RECORD)
    if record.get("kind") != Functions.kind:
        raise InvalidParameter(
            f"the record must be of functions by group; got kind {record.get('kind')!r}. Write "
            "functional.read(record) for one function"
        )
    return _strictly(lambda one: Functions.of_record(one, read), record, "functions by group")


def save(function: Function | Functions[Any] | Answer, path: str | Path) -> None:
    """Write a function to an .npz file: its integers, if any, and all the rest as JSON.

    `load` reads the file, and `load_functions` reads a file of functions by group.

    Raises:
        InvalidParameter: if the object is not a released function, or the file cannot be written.
    """
    found = found_in(function)
    check_type("function", found, Function | Functions, "functional.function(release)")
    place = _place(path)
    with _refusing_paths(place, "written"), place.open("wb") as file:
        write_to(found, file)


def write_to(function: Function | Functions[Any], file: BinaryIO) -> None:
    """Write the bytes of `save` to an open file."""
    record = function.to_json()
    grouped = isinstance(function, Functions)
    each = [
        np.array(one.pop("integers", []), dtype=np.int64)
        for one in (_listed(record) if grouped else [record])
    ]
    if grouped:
        record["sizes"] = [len(one) for one in each]
    integers = np.concatenate(each or [_NONE])
    np.savez(file, integers=integers, record=np.array(json.dumps(record)))


@overload
def load(path: str | Path) -> Function: ...
@overload
def load(path: str | Path, kind: type[_Kind]) -> _Kind: ...
def load(path: str | Path, kind: type[Function] = Function) -> Function:
    """Return the function in a file that `save` wrote.

    Raises:
        InvalidParameter: if the file cannot be read, or has something else.
    """
    record, integers = _opened(path)
    _refuse_grouped(record, repr(str(path)), "functional.load_functions(path)")
    return read(record | ({"integers": integers} if integers else {}), kind)


def load_functions(path: str | Path) -> Functions[Function]:
    """Return the functions by group in a file that `save` wrote.

    Raises:
        InvalidParameter: if the file cannot be read, or has something else.
    """
    record, integers = _opened(path)
    try:
        sizes, first = cast("list[int]", record.pop("sizes")), 0
        for one, size in zip(_listed(record), sizes, strict=True):
            one.update({"integers": integers[first : first + size]} if size else {})
            first += size
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidParameter(
            f"a file must have functions by group; got {str(_place(path))!r}. Write "
            "functional.load(path) for one function"
        ) from error
    return read_functions(record)


def _opened(path: str | Path) -> tuple[dict[str, object], list[int]]:
    place = _place(path)
    with _refusing_paths(place, "read"):
        try:
            with place.open("rb") as source, np.load(source, allow_pickle=False) as file:
                written = json.loads(str(file["record"]))
                integers = file["integers"].tolist() if len(file.files) == 2 else None
        # What NumPy, zip and JSON say of a file that is none of theirs.
        except (ValueError, TypeError, KeyError, EOFError, RuntimeError, *_NO_ZIP):
            written = integers = None
    if integers is None or not isinstance(written, dict):
        raise InvalidParameter(
            f"a file must have a function; got {str(place)!r}, which has none. Write it by "
            "functional.save"
        )
    return cast("dict[str, object]", written), integers


@contextmanager
def _refusing_paths(place: Path, done: str) -> Generator[None]:
    """Refuse a path without such a file, or one that this user cannot use."""
    try:
        yield
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InvalidParameter(
            f"{str(place)!r} cannot be {done}: {reason}; write the path of a file"
        ) from error


def _strictly(
    make: Callable[[Mapping[str, object]], _Written], record: Mapping[str, object], what: str
) -> _Written:
    """Return what `make` reads from a record, if writing it gives the same record.

    Raises:
        InvalidParameter: if the record is malformed, of a later version, or of another kind.
    """
    found: _Written | None = None
    try:
        found = make(record)
        same = found.to_json() == record
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError, RecursionError):
        same = False
    if found is None or not same:
        raise InvalidParameter(
            f"a record of {what} is malformed or of another version; write it by to_json"
        )
    return found


def _refuse_grouped(record: Mapping[str, object], what: str, instead: str) -> None:
    if record.get("kind") == Functions.kind:
        raise InvalidParameter(f"{what} holds functions by group; read them by {instead}")


def _listed(record: Mapping[str, object]) -> list[dict[str, object]]:
    return cast("list[dict[str, object]]", record["functions"])


def _damaged(what: str) -> InvalidParameter:
    return InvalidParameter(
        f"the release of {what} is damaged; write function(release) with what release(...) returned"
    )


def _known_kinds(kind: type[Function]) -> list[type[Function]]:
    """Return the known classes among these."""
    if not (isinstance(kind, type) and issubclass(kind, Function)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidParameter(
            f"kind must be a class of functions; got {got(kind)}. Write one such as "
            "functional.ReleasedFunction, or leave it out"
        )
    return [known for known in _KINDS if issubclass(known, kind)]


def _place(path: str | Path) -> Path:
    check_type("path", path, str | os.PathLike, "the path of a file")
    return Path(path)
