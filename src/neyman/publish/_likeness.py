"""Summaries of public rows: what a preview of a question needs, and no more."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self, TypeAlias, cast, final

from neyman.aggregate import Aggregate, Shape
from neyman.arguments import check_type
from neyman.errors import InvalidParameter, InvalidTable
from neyman.tables import Rows, Table, open_table

__all__ = ["Likeness", "Public", "label_of", "likeness", "likeness_of", "public_of"]

_FORMAT: Final = "neyman.likeness"
_DIGITS: Final = 3
_INSTEAD: Final = (
    "the path of a public .parquet or .csv file, a data frame, a Table, or what "
    "publish.likeness(...) returned"
)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """A summary of public rows for one question. It has no noise, so the rows must be public.

    Attributes:
        question: a digest of the question.
        label: the label of the rows.
        digest: a digest of their identity: the content of a file, or the name and types of a frame.
        rows: the number of rows, before filters and limits.
        kept: the share of rows that count, to 3 digits.
        groups: the share of these in each group, to 3 digits.
        limited: whether contribution limits were applied; otherwise the rows have no units.
        shape: the average contribution of a row to each integer, to 12 digits; for a function of
            one column 201 of its quantiles, for a contingency table the shares of its cells.
    """

    question: str
    label: str
    digest: str
    rows: int
    kept: float
    groups: tuple[float, ...]
    limited: bool
    shape: Shape

    def to_json(self) -> dict[str, object]:
        """Return the summary, JSON-able."""
        return {
            "format": _FORMAT,
            "version": 1,
            "question": self.question,
            "label": self.label,
            "digest": self.digest,
            "rows": self.rows,
            "kept": self.kept,
            "groups": list(self.groups),
            "limited": self.limited,
            **{name: list(numbers) for name, numbers in self.shape.items()},
        }

    @classmethod
    def of_json(cls, record: Mapping[str, object]) -> Self:
        """Read a record of `to_json`.

        Raises:
            InvalidParameter: if it is another record, or one of a later version.
        """
        if record.get("format") != _FORMAT or record.get("version") != 1:
            raise InvalidParameter(
                f"a likeness must be a record of format {_FORMAT!r}, version 1; got "
                f"{record.get('format')!s:.40}, version {record.get('version')!s:.40}. Write "
                "what publish.likeness(...).to_json() returned"
            )
        try:
            return cls(
                question=_typed(record["question"], str),
                label=_typed(record["label"], str),
                digest=_typed(record["digest"], str),
                rows=_typed(record["rows"], int),
                kept=_share(record["kept"]),
                groups=tuple(map(_share, _typed(record["groups"], list))),
                limited=_typed(record["limited"], bool),
                shape={
                    name: tuple(map(_number, _typed(record[name], list)))
                    for name in ("one_row", "nodes", "cells")
                    if name in record
                },
            )
        except (KeyError, ValueError) as error:
            raise InvalidParameter(
                "a likeness must be as publish.likeness(...).to_json() returned it; got a damaged "
                "one. Write it again with publish.likeness(...)"
            ) from error


Public: TypeAlias = Table | tuple[Likeness, ...]
"""An open public table, or summaries of one."""


def likeness(question: Aggregate, public: object, *, label: str | None = None) -> Likeness:
    """Summarise public rows for the preview of a question.

    The statement of the question runs on the public rows, with its bounds and limits, after the
    filters and computed columns of the private table. If the private table is joined, give a public
    one that is joined in the same way. The private rows are not read, and nothing is charged.

    Args:
        question: the question, such as `table.mean("minutes")`.
        public: the path of a .parquet or .csv file, a data frame, or a table from `open_table`.
        label: the label of the rows; by default the name of the file.

    Raises:
        InvalidParameter: if these are the private rows, or none of them counts.
        InvalidTable: if the steps of the private table cannot be applied to them.
        UnknownColumn: if they do not have a column.
    """
    check_type("question", question, Aggregate, "a question, such as table.count()")
    table = public_of(public)
    if isinstance(table, tuple):
        raise InvalidParameter(
            "public must be rows; got a likeness of rows. Write the path of their file, a "
            "data frame, or a Table"
        )
    return likeness_of(question, table, label or label_of(public))


def likeness_of(question: Aggregate, public: Public, label: str) -> Likeness:
    """Summarise a table, or return the summary for the question."""
    digest = _digest(question)
    if isinstance(public, tuple):
        found = next((one for one in public if one.question == digest), None)
        if found is None:
            raise InvalidParameter(
                f"like= must know the question {question.query['statistic']!r} as it is asked "
                "here, with its columns, bounds, groups and limits; it is of other questions. Make "
                "a new one: publish.likeness(question, table)"
            )
        return found
    if question.imagined is None:
        raise InvalidParameter(
            "like= needs a question whose number of rows is private; that of "
            f"{question.query['statistic']!r} is public. Leave like= out"
        )
    try:
        counted = question.imagined.counted(public)
    except InvalidTable as error:
        raise type(error)(f"like: {error}") from error
    kept = sum(counted.kept)
    return Likeness(
        question=digest,
        label=label,
        digest=hashlib.sha256(counted.source.encode()).hexdigest()[:16],
        rows=counted.rows,
        kept=_short(kept / counted.rows),
        groups=tuple(_short(each / kept) for each in counted.kept),
        limited=counted.limited,
        shape=counted.shape,
    )


def label_of(like: object) -> str:
    """Return the default label of public rows."""
    return Path(like).name if isinstance(like, str | Path) else "the public table"


def public_of(like: object) -> Public:
    """Open a public table, or read its summaries.

    Raises:
        InvalidParameter: if it is neither.
        InvalidTable: if it cannot be opened.
    """
    match like:
        case Table():
            return like
        case Likeness():
            return (like,)
        case Mapping():
            return (Likeness.of_json(cast("Mapping[str, object]", like)),)
        case list():
            return tuple(_one(part) for part in cast("list[object]", like))
        case str() | Path() if Path(like).suffix.lower() == ".json":
            return _read(Path(like))
        case str() | Path() | tuple():
            return open_table(cast("object", like), unit=Rows())
        case None:
            raise InvalidParameter(f"like must be public rows; got None. Write {_INSTEAD}")
        case _:
            return open_table(like, unit=Rows(), name="public rows")


def _one(part: object) -> Likeness:
    if isinstance(part, Mapping):
        return Likeness.of_json(cast("Mapping[str, object]", part))
    check_type("a part of like", part, Likeness, "what publish.likeness(...) returned")
    return cast("Likeness", part)


def _read(path: Path) -> tuple[Likeness, ...]:
    try:
        written: object = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not JSON"
        raise InvalidParameter(
            f"like must be {_INSTEAD}; {str(path)!r} cannot be read: {reason}"
        ) from error
    parts = cast("list[object]", written) if isinstance(written, list) else [written]
    return tuple(_one(part) for part in parts)


def _digest(question: Aggregate) -> str:
    written = json.dumps(dict(question.query), sort_keys=True, default=str)
    return hashlib.sha256(written.encode()).hexdigest()[:16]


def _short(share: float) -> float:
    return float(f"{share:.{_DIGITS}g}")


def _typed(value: object, kind: type[Any]) -> Any:
    if type(value) is not kind:
        raise ValueError
    return value


def _number(value: object) -> float:
    if type(value) not in (int, float) or not math.isfinite(cast("float", value)):
        raise ValueError
    return float(cast("float", value))


def _share(value: object) -> float:
    share = _number(value)
    if not 0 <= share <= 1.01:
        raise ValueError
    return share
