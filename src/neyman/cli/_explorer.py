"""`neyman explorer`."""

import argparse

from neyman.cli._say import say
from neyman.explorer import explorer_html
from neyman.files import check_page, write_text

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Write the page."""
    check_page("-o", options.output, set())
    write_text(options.output, explorer_html())
    say(f"{options.output} written")
    return 0
