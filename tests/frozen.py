"""Slow exact values, worked out once: a formula's answers stand in a file beside its tests' truths.

    NEYMAN_FREEZE=1 python -m pytest tests/numerics     # after a new formula, or new places

What no file has is worked out, so that a file only saves time. One answer in forty is worked out
again in every run, and must be the same: a formula that is edited is found out. The long trials
work out all of them, in tests/truth/test_frozen.py.
"""

import atexit
import functools
import json
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath as mp

__all__ = ["ANSWERS", "differing", "frozen", "written"]

_FOLDER = Path(__file__).parent / "truth" / "frozen"
ANSWERS = sorted(_FOLDER.glob("*.json"))
_DIGITS = 40
_AGAIN = 40


def frozen(formula: Callable[..., Any]) -> Callable[..., Any]:
    """Return the formula, whose answers to numbers and texts are kept to 40 digits."""
    name = f"{Path(formula.__code__.co_filename).stem}.{formula.__name__}.json"
    path, answers = _FOLDER / name, dict[str, str]()
    if path.exists():
        answers |= json.loads(path.read_text(encoding="utf-8"))
    if os.environ.get("NEYMAN_FREEZE"):
        atexit.register(_write, path, answers)

    @functools.wraps(formula)
    def ask(*places: Any) -> Any:
        key = " ".join(map(written, places))
        found = answers.get(key)
        if found is None or zlib.crc32(key.encode()) % _AGAIN == 0:
            value = formula(*places)
            assert found is None or differing(value, found) is None, (name, key, value, found)
            found = answers[key] = mp.nstr(value, _DIGITS)
        return _read(found)

    return ask


def _read(answer: str) -> Any:
    with mp.workdps(_DIGITS + 5):
        return mp.mpmathify(answer.strip("()").replace(" ", ""))


def written(place: Any) -> str:
    """Return what stands for an argument in the key of an answer."""
    if isinstance(place, str):
        return place
    if isinstance(place, list | tuple):
        return f"[{' '.join(map(written, place))}]"
    if isinstance(place, mp.mpc | complex):
        return repr(complex(place))
    # A double stands for itself alone.
    if place == float(place):
        return repr(float(place))
    return mp.nstr(place, _DIGITS + 5, strip_zeros=False)


def differing(value: Any, found: str) -> str | None:
    """Return the value in digits if it is not the one found, to more than any bracket has."""
    one = mp.nstr(value, _DIGITS)
    with mp.workdps(_DIGITS + 5):
        close = abs(_read(one) - _read(found)) <= mp.mpf(10) ** -20 * abs(_read(one))
    return None if close else one


def _write(path: Path, answers: dict[str, str]) -> None:
    path.parent.mkdir(exist_ok=True)
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in sorted(answers.items())]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
