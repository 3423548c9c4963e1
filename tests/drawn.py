"""Laws over drawn examples: a few of them in every run, many in the long trials."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis.strategies import SearchStrategy

__all__ = ["drawn"]


def drawn(
    *strategies: SearchStrategy[object], quick: int, soak: int
) -> Callable[[Callable[..., None]], Callable[[int], None]]:
    """Return a decorator that asks a law of that many examples; `make soak` of `soak`.

    Every run draws the same examples, and the quick ones are of the same kind as the many.
    """

    def decorate(law: Callable[..., None]) -> Callable[[int], None]:
        @pytest.mark.parametrize("examples", [quick, pytest.param(soak, marks=pytest.mark.soak)])
        def test(examples: int) -> None:
            settings(max_examples=examples)(given(*strategies)(law))()

        test.__name__, test.__qualname__, test.__doc__ = law.__name__, law.__name__, law.__doc__
        return test

    return decorate
