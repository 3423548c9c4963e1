"""Parts of a written record, whatever stands in their place."""

from collections.abc import Mapping
from typing import cast

__all__ = ["list_of", "record_of"]


def record_of(written: object) -> Mapping[str, object]:
    """Return a record; an empty one in the place of anything else."""
    return cast("Mapping[str, object]", written) if isinstance(written, Mapping) else {}


def list_of(written: object) -> list[object]:
    """Return a list; an empty one in the place of anything else."""
    return list(cast("list[object]", written)) if isinstance(written, list | tuple) else []
