"""Declared keys of one column, with groups for other rows."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, cast, final

from neyman.arguments import written
from neyman.errors import InvalidTable

__all__ = ["MISSING", "OTHER", "Values"]

MISSING: Final = "missing"
OTHER: Final = "other"


@final
@dataclass(frozen=True, slots=True, init=False)
class Values:
    """Keys of one column, a group for rows without a value, and a group for all other rows.

    With both groups, every row is in some group of the column. So you notice a typo in a key,
    because its rows are in the group of others.

    >>> from neyman.tables import Keys
    >>> wards = Values(["north", "south"], missing="not recorded", other="all other wards")
    >>> Keys({"ward": wards}).to_columns()
    {'ward': ['north', 'south', 'not recorded', 'all other wards']}

    Attributes:
        keys: a list of keys; the key None is the group of rows without a value.
        missing: the name of the group of rows without a value (NULL or NaN). None for no such
            group, unless None is a key.
        other: the name of the group of rows with any other value; None for no such group.
    """

    keys: tuple[object, ...] = field(repr=True)
    missing: str | None
    other: str | None

    def __init__(
        self, keys: Iterable[object], *, missing: str | None = None, other: str | None = None
    ) -> None:
        """Take the keys and the names of the two groups.

        Raises:
            InvalidTable: if the keys are not a list, or a name is not text.
        """
        object.__setattr__(self, "keys", _listed(keys))
        object.__setattr__(self, "missing", _named("missing", missing, "not recorded"))
        object.__setattr__(self, "other", _named("other", other, "all other wards"))


def _listed(keys: object) -> tuple[object, ...]:
    if isinstance(keys, str | bytes) or not isinstance(keys, Iterable):
        raise InvalidTable(f"the keys are {keys!r}, not a list; write Values([{keys!r}], ...)")
    return tuple(cast("Iterable[object]", keys))


def _named(argument: str, given: object, example: str) -> str | None:
    if given is None or (isinstance(given, str) and given):
        return given
    raise InvalidTable(
        f"{argument} must be the name of a group; got {written(given)}. Write for example "
        f'{argument}="{example}", or leave it out'
    )
