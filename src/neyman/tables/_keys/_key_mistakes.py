"""Checks of keys, with errors that say what to write."""

from collections.abc import Iterable, Mapping, Sequence

from neyman.errors import InvalidTable

__all__ = ["parts_of", "refuse_names", "refuse_no_mapping", "refuse_repeats"]


def refuse_no_mapping(domains: object) -> None:
    """Refuse an argument that does not map columns to keys."""
    if not isinstance(domains, Mapping):
        raise InvalidTable(
            f"a {type(domains).__name__} does not say which column its keys are of; "
            'write Keys({"ward": ["north", "south"]}), with your column and its keys'
        )


def refuse_repeats(keys: Iterable[object], where: str) -> None:
    """Refuse the first key that occurs twice."""
    seen: set[object] = set()
    for key in keys:
        if key in seen:
            raise InvalidTable(f"{key!r} appears twice in the keys of {where}; write it once")
        seen.add(key)


def refuse_names(columns: Sequence[str]) -> None:
    """Refuse columns that are missing, not text, or named twice."""
    if isinstance(columns, str):
        raise InvalidTable(f"the columns are the text {columns!r}; write ({columns!r},)")
    if not columns:
        raise InvalidTable("keys without a column; write Keys({column: [key, ...]}), or by=None")
    for column in columns:
        if not isinstance(column, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidTable(f"{column!r} is no column name; write text")
    refuse_repeats(columns, "the column names")


def parts_of(key: object) -> tuple[object, ...]:
    """Return one combination as a tuple."""
    if isinstance(key, Iterable) and not isinstance(key, str | bytes):
        return tuple(key)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    raise InvalidTable(f"{key!r} is no tuple of keys; write one key a column, as in ({key!r},)")
