"""The neighbouring relation, in words."""

from neyman.sensitivity import Neighbors

__all__ = ["relation"]


def relation(neighbors: Neighbors, unit: str) -> str:
    """Say which two tables nobody shall be able to tell apart."""
    if neighbors == "add_remove":
        return f"a table, or the same table with {unit} taken out"
    return f"a table, or the same table with {unit} changed at will"
