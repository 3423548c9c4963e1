"""What runs of a mechanism gave, whatever its type: a form, numbers and tokens, part by part."""

import math
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple, Protocol, cast, final, runtime_checkable

import numpy as np

from neyman.errors import InvalidParameter
from neyman.numerics import Array

__all__ = ["ABSENT", "NUMBER", "RAISES", "Output", "Outputs", "read_error", "read_output"]

ABSENT = "nothing"
"""The token of a part that an output does not have."""

RAISES = "raises "
"""How the form of an exception begins."""

NUMBER = "a number"
"""The token of a number that is neither whole nor special."""

_TRUTHS = ("True", "False")
# Arrays beyond this size are read as a whole, not entry by entry.
_SMALL = 64
_LONG = 64


class Output(NamedTuple):
    """What one run gave.

    Attributes:
        form: its types, lengths and keys; of an exception its type.
        labels: of its parts, such as "[2]" or "['total']"; "" where it is one value.
        numbers: of the parts; NaN where a part is none.
        tokens: of the parts: a word or a whole number as it is, and which of NaN, an infinity, a
            zero of either sign or another number a float is.
        ratio: the log-likelihood ratio of the output, where the user gave densities.
    """

    form: str
    labels: tuple[str, ...]
    numbers: Sequence[float] | Array
    tokens: tuple[str, ...]
    ratio: float = 0.0

    @property
    def pattern(self) -> str:
        """The form and all tokens together."""
        if not 0 < len(self.tokens) <= _SMALL:
            return self.form
        return f"{self.form}: {', '.join(self.tokens)}"


@final
@dataclass(frozen=True, slots=True)
class Outputs:
    """Outputs of independent runs on one input."""

    each: Sequence[Output]

    def numbers(self, labels: tuple[str, ...]) -> Array:
        """Return the numbers of these parts, shape (runs, labels); NaN where there is none."""
        found = np.full((len(self.each), len(labels)), np.nan)
        rows: dict[tuple[str, ...], list[int]] = {}
        for row, output in enumerate(self.each):
            rows.setdefault(output.labels, []).append(row)
        for own, at in rows.items():
            place = {label: column for column, label in enumerate(own)}
            into = [column for column, label in enumerate(labels) if label in place]
            of = [place[labels[column]] for column in into]
            if into:
                block = np.array([self.each[row].numbers for row in at], dtype=np.float64)
                found[np.ix_(at, into)] = block[:, of]
        return found

    def fractions(self, labels: tuple[str, ...]) -> Array:
        """Return the numbers of these parts, with NaN for truth values."""
        found = self.numbers(labels)
        for column, label in enumerate(labels):
            found[[token in _TRUTHS for token in self.tokens(label)], column] = np.nan
        return found

    def mixes(self, label: str) -> bool:
        """Whether a part is a truth value in some outputs and another number in others."""
        tokens = {*self.tokens(label)}
        return NUMBER in tokens and not tokens.isdisjoint(_TRUTHS)

    def tokens(self, label: str) -> list[str]:
        """Return the tokens of a part."""
        place: dict[tuple[str, ...], int] = {}
        found: list[str] = []
        for output in self.each:
            at = place.get(output.labels)
            if at is None:
                at = output.labels.index(label) if label in output.labels else -1
                place[output.labels] = at
            found.append(output.tokens[at] if at >= 0 else ABSENT)
        return found


def read_output(value: object) -> Output:
    """Return the parts of a value that a run gave.

    Raises:
        InvalidParameter: if it is, or holds, an object that is no number, text or container of
            these.
    """
    if type(value) is float:
        return Output("float", ("",), (value,), (_token(value),))
    parts = _Parts([], [], [])
    form = parts.read("", value)
    return Output(form, tuple(parts.labels), parts.all_numbers(), tuple(parts.tokens))


def read_error(error: Exception) -> Output:
    """Return an exception as an output: its type alone."""
    return Output(f"{RAISES}{type(error).__name__}", (), (), ())


@final
@dataclass(frozen=True, slots=True)
class _Parts:
    """Parts as they are found, from the first to the last."""

    labels: list[str]
    numbers: list[float | Array]
    tokens: list[str]

    def all_numbers(self) -> Sequence[float] | Array:
        """Return one number for each label."""
        if len(self.numbers) == len(self.labels):
            return cast("list[float]", self.numbers)
        return np.concatenate([np.atleast_1d(part) for part in self.numbers])

    def read(self, label: str, value: object) -> str:
        """Add the parts of a value, and return its form."""
        for kinds, reader in _READERS:
            if isinstance(value, kinds):
                return reader(self, label, value)
        raise InvalidParameter(
            "run must return numbers, texts, arrays, or lists and dicts of these; got an "
            f"object of type {type(value).__name__}. Return what is published, such as "
            "release.value"
        )

    def add(self, label: str, number: float, token: str) -> None:
        """Add one part."""
        self.labels.append(label)
        self.numbers.append(number)
        self.tokens.append(token)


def _read_word(parts: _Parts, label: str, value: object) -> str:
    parts.add(label, math.nan, repr(value))
    return type(value).__name__


def _read_whole(parts: _Parts, label: str, value: object) -> str:
    number = int(cast("int", value))
    token = str(number) if number.bit_length() <= _LONG else NUMBER
    parts.add(label, _as_float(number), token)
    return type(value).__name__


def _read_truth(parts: _Parts, label: str, value: object) -> str:
    parts.add(label, float(bool(value)), str(bool(value)))
    return type(value).__name__


def _read_real(parts: _Parts, label: str, value: object) -> str:
    number = _as_float(cast("float", value))
    parts.add(label, number, _token(number))
    return type(value).__name__


def _read_complex(parts: _Parts, label: str, value: object) -> str:
    number = complex(cast("complex", value))
    for part, of in ((".real", number.real), (".imag", number.imag)):
        parts.add(label + part, of, _token(of))
    return type(value).__name__


def _read_mapping(parts: _Parts, label: str, value: object) -> str:
    inner = cast("Mapping[object, object]", value)
    forms = [f"{key!r}: {parts.read(f'{label}[{key!r}]', part)}" for key, part in inner.items()]
    return f"{type(value).__name__}({', '.join(forms)})"


def _read_set(parts: _Parts, label: str, value: object) -> str:
    return _read_list(parts, label, value, sorted(cast("Set[object]", value), key=repr))


def _read_list(
    parts: _Parts, label: str, value: object, items: Sequence[object] | None = None
) -> str:
    inner = cast("Sequence[object]", value) if items is None else items
    forms = [parts.read(_label(label, place), part) for place, part in enumerate(inner)]
    runs = [(form, len(list(same))) for form, same in groupby(forms)]
    name = ", ".join(form if many == 1 else f"{many} {form}" for form, many in runs)
    return f"{type(value).__name__}({name})"


def _read_array(parts: _Parts, label: str, value: object) -> str:
    array = np.asarray(value)
    form = f"{array.dtype} array of shape {array.shape}"
    if array.dtype.kind not in "fiub" or array.size <= _SMALL:
        inner = _read_list(parts, label, array.ravel().tolist())
        return form if array.dtype.kind in "fiubcU" else f"{form}: {inner}"
    flat = array.astype(np.float64).ravel()
    parts.labels.extend(_labels(label, flat.size))
    parts.numbers.append(flat)
    parts.tokens.extend([NUMBER] * flat.size)
    odd = int(flat.size - np.isfinite(flat).sum())
    return f"{form} with {odd} entries that are not finite" if odd else form


def _as_float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _token(number: float) -> str:
    if number != 0 and math.isfinite(number):
        return NUMBER
    return repr(number)


@lru_cache(maxsize=4096)
def _label(label: str, place: int) -> str:
    return f"{label}[{place}]"


@lru_cache(maxsize=8)
def _labels(label: str, size: int) -> tuple[str, ...]:
    return tuple(f"{label}[{place}]" for place in range(size))


@runtime_checkable
class _ArrayLike(Protocol):
    """What NumPy makes an array of: its own arrays, tensors, columns of tables."""

    def __array__(self) -> object: ...


# The first that fits: a truth value is a whole number too, and NumPy's float64 a float.
_READERS: tuple[tuple[tuple[type, ...], Callable[[_Parts, str, object], str]], ...] = (
    ((float, np.floating, Fraction, Decimal), _read_real),
    ((bool, np.bool_), _read_truth),
    ((int, np.integer), _read_whole),
    ((str, bytes, type(None)), _read_word),
    ((complex, np.complexfloating), _read_complex),
    ((Mapping,), _read_mapping),
    ((list, tuple), _read_list),
    ((Set,), _read_set),
    ((_ArrayLike,), _read_array),
)
