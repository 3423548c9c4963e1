"""User functions that could run in place of an engine's own."""

from collections.abc import Callable, Sequence

from neyman.errors import InvalidTable

__all__ = ["refuse_stand_ins"]

_MOST = 5


def refuse_stand_ins(engine: str, look: Callable[[], Sequence[str]]) -> None:
    """Refuse the functions of `look`: clamps and limits hold for the engine's own functions only.

    Args:
        engine: the name of the engine.
        look: a function that returns the names.

    Raises:
        InvalidTable: with the first of the names.
    """
    found = look()
    if found:
        named = ", ".join(map(repr, found[:_MOST])) + (", ..." if found[_MOST:] else "")
        raise InvalidTable(
            f"{engine} must run functions of its own only. Your database or session has others of "
            f"names that this question calls: {named}. Drop them, give them other names, or open "
            "the table through a connection or session that lacks them"
        )
