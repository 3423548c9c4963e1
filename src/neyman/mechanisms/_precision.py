# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
"""A lock on python-flint's working precision, which is one number per process."""

import os
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import final

__all__ = ["working_precision"]


@final
class _Turns:
    """The lock for a setting that another library keeps globally."""

    __slots__ = ("lock",)

    def __init__(self) -> None:
        self.renew()
        if sys.platform != "win32":
            # A thread may hold the lock at a fork; the child could never acquire it.
            os.register_at_fork(after_in_child=self.renew)

    def renew(self) -> None:
        self.lock = threading.Lock()


_TURNS = _Turns()


@contextmanager
def working_precision(bits: int) -> Generator[None]:
    """Compute with balls of `bits` bits inside the block.

    Any precision gives true enclosures. If a thread of the user changes it meanwhile, only a
    repetition is needed.
    """
    import flint

    with _TURNS.lock, flint.ctx.workprec(bits):
        yield
