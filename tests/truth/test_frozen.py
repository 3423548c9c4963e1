"""Every frozen answer, worked out again; each run of the tests beside does so with one in forty."""

import importlib.util
import json
import re
from pathlib import Path

import mpmath as mp
import pytest

from frozen import ANSWERS, differing, written

TESTS = Path(__file__).parents[1]


def formula(file):
    """Return the formula whose answers a file has, as it is before they are."""
    module, name = file.stem.split(".")
    marked = re.compile(rf"^@frozen\ndef {name}\(", re.MULTILINE)
    (source,) = (
        path for path in TESTS.rglob(f"{module}.py") if marked.search(path.read_text("utf-8"))
    )
    spec = importlib.util.spec_from_file_location(f"again_{module}", source)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return getattr(made, name).__wrapped__


def places(key):
    """Return the arguments that a key was written of."""
    within = [[]]
    for token in re.findall(r"[\[\]]|[^\s\[\]]+", key):
        if token == "[":
            within.append([])
        else:
            place = within.pop() if token == "]" else place_of(token)
            within[-1].append(place)
    return within[0]


def place_of(token):
    if token.isalpha():
        return token
    if "j" in token:
        return complex(token)
    number = float(token)
    # What no double is has been written with all its digits.
    if repr(number) != token:
        return mp.mpf(token)
    return int(number) if number.is_integer() else number


def test_keys_are_read_back():
    assert places("[[0.0] [1.0 0.5]] 24.0 -0.25") == [[[0], [1, 0.5]], 24, -0.25]
    assert places("p [0.5 0.5] (-3+0.08j)") == ["p", [0.5, 0.5], -3 + 0.08j]
    with mp.workdps(50):
        third = mp.mpf(1) / 3
        assert abs(places(written(third))[0] - third) < mp.mpf(10) ** -44


@pytest.mark.soak
@pytest.mark.parametrize("file", ANSWERS, ids=lambda file: file.stem)
def test_every_frozen_answer_is_that_of_its_formula(file):
    ask, answers = formula(file), json.loads(file.read_text("utf-8"))
    with mp.workdps(50):
        wrong = {key: differing(ask(*places(key)), found) for key, found in answers.items()}
    assert {key: value for key, value in wrong.items() if value is not None} == {}
