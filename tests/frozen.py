"""Slow exact values, worked out once: a formula's answers stand in a file beside its tests' truths.

    NEYMAN_FREEZE=1 python -m pytest tests/numerics     # after a new formula, or new places

What no file has is worked out, so that a file only saves time. One answer in forty is worked out
again in every run, and must be the same: a formula that is edited is found out.
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

__all__ = ["frozen"]

_FOLDER = Path(__file__).parent / "truth" / "frozen"
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
        key = " ".join(map(_written, places))
        found = answers.get(key)
        if found is None or zlib.crc32(key.encode()) % _AGAIN == 0:
            value = mp.nstr(formula(*places), _DIGITS)
            assert found is None or _close(value, found), (name, key, value, found)
            found = answers[key] = value
        return _read(found)

    return ask


def _read(answer: str) -> Any:
    with mp.workdps(_DIGITS + 5):
        return mp.mpmathify(answer.strip("()").replace(" ", ""))


def _written(place: Any) -> str:
    if isinstance(place, str):
        return place
    if isinstance(place, list | tuple):
        return f"[{' '.join(map(_written, place))}]"
    return repr(complex(place)) if isinstance(place, mp.mpc | complex) else repr(float(place))


def _close(one: str, other: str) -> bool:
    """Whether they agree, to more digits than any bracket has."""
    with mp.workdps(_DIGITS + 5):
        return abs(_read(one) - _read(other)) <= mp.mpf(10) ** -20 * abs(_read(one))


def _write(path: Path, answers: dict[str, str]) -> None:
    path.parent.mkdir(exist_ok=True)
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in sorted(answers.items())]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
