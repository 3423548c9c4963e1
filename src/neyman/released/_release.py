"""A private answer."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast, final

from neyman.aggregate import Columns
from neyman.errors import InvalidParameter
from neyman.overriding import override
from neyman.released._companion import Companion, told_by_another
from neyman.released._drawn import Drawn
from neyman.released._guarantee import Guarantee, Spending
from neyman.released._interval_notes import interval_notes
from neyman.released._question import RecordedQuestion, group_name
from neyman.released._sides import Side, sides_of
from neyman.released._tabular import Tabular, arrow_columns, read_parquet
from neyman.released._text import release_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Release"]

_SHOWN: Final = 20
_FORMAT: Final = "neyman.release"
_VERSION: Final = 1
_ROWS: Final = "rows"

_LONGEST_PLACE: Final = 18


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Release(Tabular):
    """A private answer. Public: print it, store it, plot it.

    Two releases are equal if they have the same content, whether or not they were `replayed`.

    Attributes:
        entry: its id in the ledger.
        query: the question, as the ledger records it.
        mechanism: the noise, as the ledger records it.
        guarantee: of this release alone.
        spending: its cost, and what remains.
        confidence: of the noise intervals.
        columns: keys, values and noise intervals, columns of equal length.
        keys: the columns that identify the groups; empty without groups.
        replayed: whether it was stored before and cost nothing this time.
        count_weight: how much each row, or other counted item, adds to the noisy count that selects
            a group; None if the groups were declared, or an old record does not have it.
        companion: the effect of contribution limits and bounds on the answer; None if they can have
            none, or if nothing was spent on it.
        companion_at: in a batch, the index, from 0, of the question whose companion also covers
            this answer, because it is about the same rows under the same limits.
        notes: what else a reader must know, one sentence each: for numbers that are combined from
            several releases (`publish.reconciled`), which ones.
        drawn: the noisy integers, and their conversion; None for an answer that was read from a
            file, and for a function.
        complete: columns that were declared to have a value in every row.
    """

    entry: str
    query: Mapping[str, object]
    mechanism: Mapping[str, object]
    guarantee: Guarantee
    spending: Spending
    confidence: float
    columns: Columns
    keys: tuple[str, ...] = ()
    replayed: bool = field(compare=False)
    count_weight: int | None = None
    companion: Companion | None = None
    companion_at: int | None = None
    notes: tuple[str, ...] = ()
    drawn: Drawn | None = field(default=None, compare=False)
    complete: frozenset[str] = field(default=frozenset(), compare=False)

    def __post_init__(self) -> None:
        """Use one object for every NaN: lists compare it as equal, so answers compare."""
        object.__setattr__(
            self,
            "columns",
            {
                name: [math.nan if cell != cell else cell for cell in cells]
                for name, cells in self.columns.items()
            },
        )

    def __str__(self) -> str:
        return self.to_text(rows=_SHOWN)

    __repr__ = __str__

    @property
    def question(self) -> RecordedQuestion:
        """The query as an object: its columns, its groups, its limits."""
        return RecordedQuestion.of(self.query)

    @property
    def groups(self) -> list[str]:
        """The name of each row's group; "all" without groups."""
        rows = self._rows
        if not self.keys:
            return ["all"] * rows
        return [
            group_name({key: self.columns[key][row] for key in self.keys}) for row in range(rows)
        ]

    @property
    def threshold(self) -> int | None:
        """The least noisy count of a published group, in lattice units.

        None if the groups were declared; then all are published.
        """
        written = self.mechanism.get("threshold")
        return written if isinstance(written, int) else None

    @property
    def shown_from(self) -> str | None:
        """The least noisy count of a published group, as text with its unit.

        None if the groups were declared; then all are published.
        """
        if self.threshold is None:
            return None
        if self.count_weight is None:
            return f"{self.threshold:,} steps of the noise"
        return f"{self.threshold / self.count_weight:,.6g} {self.question.counted}"

    @property
    def too_few(self) -> dict[str, list[bool]]:
        """For each statistic, by the column of its values: which rows noise alone could have made.

        For a count or a sum, these are the rows whose noise interval contains 0. For any other
        number, they are the rows that are not finite, or whose noise interval is wider than half of
        what the bounds allow. `columns` still has the noisy numbers. Text, JSON, pages and pictures
        print "too few rows to tell" instead, and mark counts and sums. A function has no such rows.
        """
        return {side.name: side.noise_alone for side in self.sides}

    @property
    def interval_notes(self) -> list[str]:
        """The `notes`; what the intervals cover and do not cover; why there is none, if so."""
        return [*self.notes, *interval_notes(self.question, tuple(self.columns), self.confidence)]

    def declared(self, complete: Collection[str]) -> "Release":
        """Return the same answer, given that these columns have a value in every row.

        The count beside a mean, which is of the rows with a known value, is then the count of all
        rows.

        Args:
            complete: the names of the columns.
        """
        return replace(self, complete=frozenset(complete))

    @property
    def alone(self) -> "Release":
        """The answer with only its own noise, unless it was read from a file."""
        if self.drawn is None or not self.notes:
            return self
        drawn, keys = self.drawn, {name: self.columns[name] for name in self.keys}
        own = drawn.reading.columns(drawn.integers, drawn.noise, self.confidence)
        return replace(self, columns=keys | own, notes=())

    def limit_notes(self, batch: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the effect of contribution limits and bounds on the answer, or where to find it.

        Args:
            batch: the names of the questions of its batch, in order; their numbers by default.
        """
        if self.companion is not None:
            return self.companion.sentences
        at = self.companion_at
        return () if at is None else (told_by_another(at, batch),)

    def to_text(self, *, rows: int | None = None, batch: Sequence[str] = ()) -> str:
        """Return a table for people, with the guarantee and the cost.

        Args:
            rows: the most rows to print; None for all, 0 for the guarantee and the cost alone.
            batch: as for `limit_notes`.
        """
        return release_text(self, rows=rows, batch=batch)

    @property
    def _rows(self) -> int:
        return max(map(len, self.columns.values()), default=0)

    @property
    def sides(self) -> tuple[Side, ...]:
        """Each statistic of the answer separately; empty for a function."""
        return sides_of(self.question, self.columns, self.keys)

    def to_json(self) -> dict[str, object]:
        """Return everything, for JSON; numbers that are not finite are null.

        A number is also null if its row has `too_few` rows to tell; `noisy` has it, by column and
        row.
        """
        columns, noisy = self._written()
        few = {"too_few": self.too_few} if any(map(any, self.too_few.values())) else {}
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "entry": self.entry,
            "query": dict(self.query),
            "mechanism": dict(self.mechanism),
            "guarantee": self.guarantee.to_json(),
            "spending": self.spending.to_json(),
            "confidence": self.confidence,
            "keys": list(self.keys),
            **({} if self.count_weight is None else {"count_weight": self.count_weight}),
            **({} if self.companion is None else {"companion": self.companion.to_json()}),
            **({} if self.companion_at is None else {"companion_at": self.companion_at}),
            **({"notes": list(self.notes)} if self.notes else {}),
            "columns": columns,
            **few,
            **({"noisy": noisy} if noisy else {}),
        }

    def _written(self) -> tuple[dict[str, list[object]], dict[str, dict[str, object]]]:
        """Return the columns for JSON, and the numbers that they leave out."""
        columns = {name: [_finite(x) for x in cells] for name, cells in self.columns.items()}
        noisy: dict[str, dict[str, object]] = {}
        for side in self.sides:
            few = [i for i, flag in enumerate(side.noise_alone) if flag]
            for name in side.left_out(self.keys):
                held = {str(i): columns[name][i] for i in few if columns[name][i] is not None}
                if held:
                    noisy[name] = held
                for i in few:
                    columns[name][i] = None
        return columns, noisy

    @staticmethod
    def from_json(record: Mapping[str, object]) -> "Release":
        """Return the release that `to_json` recorded, as `replayed`; null becomes NaN.

        Args:
            record: from `to_json`.

        Raises:
            InvalidParameter: if the record is malformed.
        """
        return _read(record, _with_noisy(_columns(record), _mapping(record).get("noisy")))

    @staticmethod
    def from_arrow(table: Any) -> "Release":
        """Return the release that `to_arrow` recorded, as `replayed`.

        Args:
            table: a `pyarrow.Table`, with its metadata.

        Raises:
            InvalidParameter: if the table does not identify its release, or does not have all of
                its rows.
        """
        columns, written = arrow_columns(table)
        # Older files do not have the number of rows.
        rows, found = _mapping(written).get(_ROWS, table.num_rows), table.num_rows
        if rows != found:
            raise InvalidParameter(
                f"the table must have all {rows} rows of the release; got {found}. Write what "
                "Release.to_arrow or Release.to_parquet gives"
            )
        return _read(written, columns)

    @staticmethod
    def from_parquet(path: str | Path) -> "Release":
        """Return the release in a file that `to_parquet` wrote, as `replayed`.

        Args:
            path: of the file.

        Raises:
            InvalidParameter: if the file does not identify its release.
            MissingExtra: if pyarrow is not installed.
        """
        return Release.from_arrow(read_parquet(path))

    def plot(self, *, truth: Sequence[float] | None = None) -> "Figure":
        """Draw the release with its intervals, like `plots.released`.

        Args:
            truth: exact values in the order of the release, for data that are already public.

        Raises:
            InvalidParameter: if it has no picture.
            MissingExtra: if matplotlib is not installed.
        """
        # Imported here, because `plots` imports releases, and not the reverse.
        return import_module("neyman.plots").released(self, truth=truth)

    @override
    def framed(self) -> tuple[Columns, dict[str, object]]:
        record = self.to_json()
        del record["columns"]
        record.pop("noisy", None)
        return self.columns, record | {_ROWS: self._rows}


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _mapping(record: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", record) if isinstance(record, Mapping) else {}


def _read(written: object, columns: Columns) -> Release:
    record = _mapping(written)
    parts = [record.get(name) for name in ("query", "mechanism", "guarantee", "spending")]
    entry, confidence = record.get("entry"), record.get("confidence")
    if (
        (record.get("format"), record.get("version")) != (_FORMAT, _VERSION)
        or not isinstance(entry, str)
        or not isinstance(confidence, float)
        or not all(isinstance(part, Mapping) for part in parts)
    ):
        raise _malformed()
    query, noise, promised, paid = cast("list[Mapping[str, object]]", parts)
    told = record.get("companion")
    return Release(
        entry=entry,
        query=query,
        mechanism=noise,
        guarantee=Guarantee.from_json(promised),
        spending=Spending.from_json(paid),
        confidence=confidence,
        columns=columns,
        keys=_keys(record, columns),
        replayed=True,
        count_weight=_whole(record, "count_weight", 1),
        companion=Companion.from_json(_mapping(told)) if told else None,
        companion_at=_whole(record, "companion_at", 0),
        notes=_texts(record.get("notes", [])),
    )


def _whole(record: Mapping[str, object], name: str, least: int) -> int | None:
    """Return the stored number; None if the record does not have it."""
    written = record.get(name)
    if written is None:
        return None
    if type(written) is not int or written < least:
        raise _malformed()
    return written


def _keys(record: Mapping[str, object], columns: Columns) -> tuple[str, ...]:
    """Return the key columns; an older record has them only in its question."""
    if "keys" not in record:
        return RecordedQuestion.of(_mapping(record["query"])).groups.keys_among(columns)
    found = _texts(record["keys"])
    if not columns.keys() >= set(found):
        raise _malformed()
    return found


def _texts(written: object) -> tuple[str, ...]:
    """Return a list of texts."""
    listed = cast("list[object]", written) if isinstance(written, list) else [None]
    found = tuple(text for text in listed if isinstance(text, str))
    if len(found) != len(listed):
        raise _malformed()
    return found


def _columns(record: object) -> Columns:
    written = _mapping(record).get("columns")
    columns = _mapping(written)
    if not isinstance(written, Mapping) or not all(isinstance(x, list) for x in columns.values()):
        raise _malformed()
    lists = cast("Mapping[str, list[Any]]", columns)
    if len({len(column) for column in lists.values()}) > 1:
        raise _malformed()
    return {
        name: [math.nan if cell is None else cell for cell in column]
        for name, column in lists.items()
    }


def _with_noisy(columns: Columns, noisy: object) -> Columns:
    """Return the columns with the numbers that JSON leaves out of rows with `too_few` rows."""
    made = {name: list[object](cells) for name, cells in columns.items()}
    for name, held in _mapping(noisy).items():
        for place, value in _mapping(held).items():
            cells = made.get(name, [])
            row = int(place) if place.isdecimal() and len(place) <= _LONGEST_PLACE else len(cells)
            if row >= len(cells) or isinstance(value, bool) or not isinstance(value, int | float):
                raise _malformed()
            cells[row] = value
    return cast("Columns", made)


def _malformed() -> InvalidParameter:
    return InvalidParameter(
        "the record must be a release of version 1; write the result of Release.to_json, to_arrow "
        "or to_parquet"
    )
