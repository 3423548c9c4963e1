"""Keys of one column as people declare them, with groups for the rows that have none of them."""

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

    With both groups every row is in one group of the column, so a typo in a key is seen: its rows
    are in the group of the others.

    >>> from neyman.tables import Keys
    >>> wards = Values(["north", "south"], missing="not recorded", other="all other wards")
    >>> Keys({"ward": wards}).to_columns()
    {'ward': ['north', 'south', 'not recorded', 'all other wards']}

    Attributes:
        keys: as a list of keys; None among them is the group of rows without a value.
        missing: what the group of rows without a value is called: NULL, or NaN. None: there is
            none, unless None is among the keys.
        other: what the group of rows with any other value is called. None: there is none.
    """

    keys: tuple[object, ...] = field(repr=True)
    missing: str | None
    other: str | None

    def __init__(
        self, keys: Iterable[object], *, missing: str | None = None, other: str | None = None
    ) -> None:
        """Take the keys and the names of the two groups.

        Raises:
            InvalidTable: if the keys are no list, or a name is no text.
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
        f"{argument} must be the name of a group; got {written(given)}. Write such as "
        f'{argument}="{example}", or leave it out'
    )
