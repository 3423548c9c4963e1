"""Tools for tests alone. Nothing here is private; no release may use it."""

from neyman.testing._bits import SeededBits

__all__ = ["SeededBits"]
