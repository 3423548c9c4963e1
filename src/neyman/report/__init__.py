"""Reports that people read."""

from neyman.report._page import html
from neyman.report._words import statement

__all__ = ["html", "statement"]
