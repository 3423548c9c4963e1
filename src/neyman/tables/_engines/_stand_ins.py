"""Functions of the user's that could run in the place of an engine's own."""

from collections.abc import Callable, Sequence

from neyman.errors import InvalidTable

__all__ = ["refuse_stand_ins"]

_MOST = 5


def refuse_stand_ins(engine: str, look: Callable[[], Sequence[str]]) -> None:
    """Refuse what `look` finds: clamps and limits hold for the engine's own functions alone.

    Args:
        engine: as its makers call it.
        look: names the functions.

    Raises:
        InvalidTable: naming the first of them.
    """
    found = look()
    if found:
        named = ", ".join(map(repr, found[:_MOST])) + (", ..." if found[_MOST:] else "")
        raise InvalidTable(
            f"{engine} must run functions of its own only. Your database or session has others of "
            f"names that this question calls: {named}. Drop them, give them other names, or open "
            "the table through a connection or session that lacks them"
        )
