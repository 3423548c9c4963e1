"""How many random cases a law is tried on: a few in each run, many in `make soak`."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings

__all__ = ["SOAK", "random_cases"]

# The profile of hypothesis that a run of the long trials alone has.
SOAK = "soak"


def random_cases(few: int, *, soak: int, **more: Any) -> Callable[[Any], Any]:
    """Try a law on few random cases, the same ones in each run; the soak tries many.

    Args:
        few: cases in each run.
        soak: cases in `make soak`, where the test is one of the long trials.
        more: other settings of hypothesis.
    """
    if settings.get_current_profile_name() != SOAK:
        return settings(max_examples=few, **more)
    many = settings(max_examples=soak, **more)
    return lambda test: pytest.mark.soak(many(test))
