"""What is written wrongly is answered in words: which parameter, and what to write."""

from collections.abc import Callable

import pytest

from neyman.curves import (
    gaussian_mixture,
    gdp,
    group,
    poisson,
    poisson_replace,
    rdp,
    worst,
)
from neyman.errors import InvalidParameter

_CASES: list[tuple[Callable[[], object], str]] = [
    (lambda: rdp({2: 0.1}), r"pairs of an order and a bound"),  # pyright: ignore[reportArgumentType]
    (lambda: rdp([2, 0.1]), r"pairs of an order and a bound"),  # pyright: ignore[reportArgumentType]
    (lambda: rdp(5), r"pairs of an order and a bound"),  # pyright: ignore[reportArgumentType]
    (lambda: poisson(1, 0.1), r"such as gdp\(1\)"),  # pyright: ignore[reportArgumentType]
    (lambda: poisson_replace(1, 0.1), r"such as gdp\(1\)"),  # pyright: ignore[reportArgumentType]
    (lambda: group(1, 2), r"such as gdp\(1\)"),  # pyright: ignore[reportArgumentType]
    (lambda: worst(1, gdp(1)), r"such as gdp\(1\)"),  # pyright: ignore[reportArgumentType]
    (
        lambda: gaussian_mixture([0.9], noise_multiplier=1),  # pyright: ignore[reportArgumentType]
        r"the weight of each change",
    ),
    (lambda: gdp(1).mu(slack=1), r"slack=1 .*\[0, 1\)"),
    (lambda: gdp(1).posterior(0.5, fpr=0), r"fpr=0 .*\(0, 1\]"),
    (lambda: gdp(1).epsilon(None), r"delta=None"),  # pyright: ignore[reportArgumentType]
    (lambda: gdp(1).epsilon("a"), r"delta='a'"),
    (lambda: gdp(1e200), r"about 2\^1328"),
]


@pytest.mark.parametrize(("ask", "words"), _CASES)
def test_refused_in_words(ask: Callable[[], object], words: str) -> None:
    with pytest.raises(InvalidParameter, match=words) as found:
        ask()
    assert len(str(found.value)) < 260


def test_a_mirror_image_is_not_printed_twice() -> None:
    assert repr(poisson(gdp(1), 0.01)) == "poisson(gdp(mu=1), sampling_probability=0.01)"
