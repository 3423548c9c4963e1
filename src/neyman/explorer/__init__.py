"""One page on which a guarantee can be chosen and seen; it needs no network."""

from neyman.explorer._page import explorer_html

__all__ = ["explorer_html"]
