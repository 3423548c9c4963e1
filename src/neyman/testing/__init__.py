"""Tools for tests alone. Nothing here is private; no release may use it."""

from neyman.testing._bits import SeededBits
from neyman.testing._leaf import check_leaf

__all__ = ["SeededBits", "check_leaf"]
