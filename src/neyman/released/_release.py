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

    Two are equal that say the same, whichever of them was `replayed`.

    Attributes:
        entry: its id in the ledger.
        query: the question, as the ledger records it.
        mechanism: the noise, as the ledger records it.
        guarantee: of this release alone.
        spending: what it cost and what remains.
        confidence: of the noise intervals.
        columns: keys, values and noise intervals, columns of equal length.
        keys: which of the columns are those of the groups; none where there is one of all.
        replayed: whether it was stored before and cost nothing this time.
        count_weight: how much each row, or whatever is counted, adds to the noisy count that a
            group is shown by; None where the groups were declared, or an old record does not say.
        companion: what contribution limits and bounds did to the answer; None where they can do
            nothing, or where nothing was spent on it.
        companion_at: in a batch, the place, from 0, of the question whose companion tells of this
            answer too, for it is about the same rows under the same limits.
        notes: what else a reader must know, a sentence each: of numbers that are combined from
            several releases (`publish.reconciled`), from which.
        drawn: the noisy integers, and how they are read; None of an answer that was read from a
            file, and of a function.
        complete: columns that somebody declared to have a value in every row.
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
        """Have one NaN alone, which a list finds equal to itself, so that answers compare."""
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
        """The query, read: what it is of, by which groups, under which limits."""
        return RecordedQuestion.of(self.query)

    @property
    def groups(self) -> list[str]:
        """What each row's group is called; "all" where there is one of all."""
        rows = self._rows
        if not self.keys:
            return ["all"] * rows
        return [
            group_name({key: self.columns[key][row] for key in self.keys}) for row in range(rows)
        ]

    @property
    def threshold(self) -> int | None:
        """The least noisy count of a group that is shown, in lattice units.

        None where the groups were declared, which are all shown.
        """
        written = self.mechanism.get("threshold")
        return written if isinstance(written, int) else None

    @property
    def shown_from(self) -> str | None:
        """The least noisy count of a group that is shown, for people, in what is counted.

        None where the groups were declared, which are all shown.
        """
        if self.threshold is None:
            return None
        if self.count_weight is None:
            return f"{self.threshold:,} steps of the noise"
        return f"{self.threshold / self.count_weight:,.6g} {self.question.counted}"

    @property
    def too_few(self) -> dict[str, list[bool]]:
        """Of each statistic, by the column of its values: which rows noise alone could have made.

        Of a count or a sum those whose noise interval holds 0; of any other number those that are
        not finite, or whose noise interval is wider than half of what the bounds allow. `columns`
        holds the noisy numbers all the same; text, JSON, pages and pictures say "too few rows to
        tell" instead, and mark counts and sums. A function has no such rows.
        """
        return {side.name: side.noise_alone for side in self.sides}

    @property
    def interval_notes(self) -> list[str]:
        """The `notes`; what the intervals cover, what they do not; why there is none, if so."""
        return [*self.notes, *interval_notes(self.question, tuple(self.columns), self.confidence)]

    def declared(self, complete: Collection[str]) -> "Release":
        """Return the same answer, where these columns have a value in every row.

        A count beside a mean, of the rows with a known value, is then that of all rows.
        """
        return replace(self, complete=frozenset(complete))

    @property
    def alone(self) -> "Release":
        """The answer by its own noise alone, if it was not read from a file."""
        if self.drawn is None or not self.notes:
            return self
        drawn, keys = self.drawn, {name: self.columns[name] for name in self.keys}
        own = drawn.reading.columns(drawn.integers, drawn.noise, self.confidence)
        return replace(self, columns=keys | own, notes=())

    def limit_notes(self, batch: Sequence[str] = ()) -> tuple[str, ...]:
        """Return what contribution limits and bounds did to the answer, or where that is said.

        Args:
            batch: what the questions of its batch are called, in order; their numbers by default.
        """
        if self.companion is not None:
            return self.companion.sentences
        at = self.companion_at
        return () if at is None else (told_by_another(at, batch),)

    def to_text(self, *, rows: int | None = None, batch: Sequence[str] = ()) -> str:
        """Return a table for people, with the guarantee and the cost.

        Args:
            rows: how many to show at most; None for all, 0 for the guarantee and the cost alone.
            batch: as of `limit_notes`.
        """
        return release_text(self, rows=rows, batch=batch)

    @property
    def _rows(self) -> int:
        return max(map(len, self.columns.values()), default=0)

    @property
    def sides(self) -> tuple[Side, ...]:
        """Each statistic of the answer by itself; none of a function."""
        return sides_of(self.question, self.columns, self.keys)

    def to_json(self) -> dict[str, object]:
        """Return everything, JSON-able; what is not finite is null.

        So is a number of a row with `too_few` rows to tell; `noisy` holds it, by column and row.
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
        """Return the columns as JSON has them, and what was left out of them."""
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
        """Rebuild what `to_json` wrote; it counts as stored before, and null as not a number.

        Raises:
            InvalidParameter: if the record is malformed.
        """
        return _read(record, _with_noisy(_columns(record), _mapping(record).get("noisy")))

    @staticmethod
    def from_arrow(table: Any) -> "Release":
        """Rebuild what `to_arrow` wrote; it counts as stored before.

        Args:
            table: a `pyarrow.Table`, with its metadata.

        Raises:
            InvalidParameter: if the table does not say which release it is, or has not all of its
                rows.
        """
        columns, written = arrow_columns(table)
        # Older files do not say how many rows there were.
        rows, found = _mapping(written).get(_ROWS, table.num_rows), table.num_rows
        if rows != found:
            raise InvalidParameter(
                f"the table must have all {rows} rows of the release; got {found}. Write what "
                "Release.to_arrow or Release.to_parquet gives"
            )
        return _read(written, columns)

    @staticmethod
    def from_parquet(path: str | Path) -> "Release":
        """Read the file that `to_parquet` wrote; it counts as stored before.

        Raises:
            InvalidParameter: if the file does not say which release it is.
            MissingExtra: if pyarrow is not installed.
        """
        return Release.from_arrow(read_parquet(path))

    def plot(self, *, truth: Sequence[float] | None = None) -> "Figure":
        """Draw it with its intervals, as `plots.released`.

        Args:
            truth: exact values in the order of the release, of data that are public anyway.

        Raises:
            InvalidParameter: if it has no picture.
            MissingExtra: if matplotlib is not installed.
        """
        # Looked up when it is called: pictures are of releases, and not the other way round.
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
    """Return what was written; None of a record that says nothing of it."""
    written = record.get(name)
    if written is None:
        return None
    if type(written) is not int or written < least:
        raise _malformed()
    return written


def _keys(record: Mapping[str, object], columns: Columns) -> tuple[str, ...]:
    """Return the key columns; a record of before they were written says them in its question."""
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
    """Put the numbers back that JSON leaves out of rows with too few rows to tell."""
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
        "a record that is no release of version 1 was found; write what Release.to_json, to_arrow "
        "or to_parquet gives"
    )
