"""What follows an answer that is charged: it can fail, and the answer is there already."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager

from neyman.errors import NeymanError

__all__ = ["NotMade", "after_the_answer", "shown_first"]


class NotMade(NeymanError):
    """A picture, page or file of an answer that is printed and stored could not be made."""


@contextmanager
def shown_first() -> Generator[None]:
    """Have what is printed inside leave this process before anything else is tried.

    Where nobody reads it any more, what follows is made all the same.
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def after_the_answer(what: str) -> Generator[None]:
    """Say of whatever fails inside that the answer is safe.

    Raises:
        NotMade: if anything fails.
    """
    try:
        yield
    except Exception as error:
        reason = error if isinstance(error, NeymanError) else f"{type(error).__name__}: {error}"
        raise NotMade(
            f"{what} could not be made: {reason}\nThe answer is printed above and stored in the "
            "ledger. Run the same command again: it is free"
        ) from error
