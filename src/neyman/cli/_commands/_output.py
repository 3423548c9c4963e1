"""What is printed, and where to."""

from pathlib import Path
from typing import Any

__all__ = ["add_output"]


def add_output(parser: Any) -> None:
    """Add the forms of an answer and the file that takes it."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--csv", action="store_true", help="print CSV, a line for each group")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="write the answer there instead, whole or not at all",
    )
