"""The records of an entry: how they are written and read back."""

import hashlib
import hmac
import json
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, Literal, TypeAlias, cast

from neyman.accounting import Amount
from neyman.aggregate import KeyText
from neyman.arguments import brief, check_name, check_type
from neyman.curves import TradeOff
from neyman.errors import InvalidParameter, LedgerCorrupt, NeymanError
from neyman.numerics import text

__all__ = [
    "Entry",
    "Groups",
    "Reservation",
    "State",
    "canonical",
    "check_curve",
    "check_digest",
    "check_name",
    "check_type",
    "fingerprint",
    "garbled",
    "now",
    "read_checkpoint",
    "read_curve",
    "read_groups",
    "read_payload",
    "read_values",
    "shown",
    "values_text",
]

Groups: TypeAlias = tuple[tuple[KeyText, ...], ...]
State: TypeAlias = Literal["reserved", "redrawn", "committed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry of the ledger. Public: the values are noisy.

    Attributes:
        id: the caller's name for it.
        state: "reserved" may be drawn once more, "redrawn" may not, "committed" is answered.
        curve: the trade-off function that was charged.
        cost: in the unit of the ledger's account, mu^2 or epsilon.
        delta: the charge to the delta that was set aside.
        request: public description of the question.
        reserved_at: UTC, ISO 8601.
        committed_at: UTC, ISO 8601; None before.
        values: the noisy integers; None before commit.
        groups: for each question with undeclared groups, the keys of the published ones.
        of: the id of the allowance that its steps are taken from, at no cost; None for a question
            and for an allowance itself.
        checkpoint: what was committed for steps that were taken; None before, and for other
            entries.
    """

    id: str
    state: State
    curve: TradeOff
    cost: Fraction
    delta: Fraction
    request: Mapping[str, object] = field(repr=False)
    reserved_at: str
    committed_at: str | None
    values: tuple[int, ...] | None = field(repr=False)
    groups: Groups = field(default=(), repr=False)
    of: str | None = None
    checkpoint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """A charge that is on the disk: the right to draw, or the answer that was drawn before.

    Attributes:
        entry: the id.
        curve: the trade-off function that was charged.
        cost: in the unit of the ledger's account.
        left: what could still be charged to both accounts at that moment.
        delta: the charge to the delta that was set aside.
        values: the stored answer; None if it must be drawn.
        groups: for each question with undeclared groups, the keys of the published ones, in order.
    """

    entry: str
    curve: TradeOff
    cost: Fraction
    left: Amount = field(compare=False)
    delta: Fraction = Fraction(0)
    values: tuple[int, ...] | None = field(default=None, repr=False)
    groups: Groups = field(default=(), repr=False)


def now() -> str:
    """Return the current time, UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def check_digest(head: str) -> None:
    """Refuse a text that is not a digest of a chain.

    Raises:
        InvalidParameter: if it is not.
    """
    check_type("head", head, str, "the 64 hexadecimal digits that `neyman ledger show` printed")
    if len(head) != 64 or set(head) - set("0123456789abcdef"):
        raise InvalidParameter(
            f"head of {len(head)} characters is no digest; write the 64 hexadecimal digits that "
            "`neyman ledger show` printed"
        )


def check_curve(name: str, value: object) -> None:
    """Refuse a value that is not a trade-off function.

    Raises:
        InvalidParameter: if it is not.
    """
    if not isinstance(value, TradeOff):
        number = value if type(value) in (int, float) else None
        found = f" of type {type(value).__name__}" if number is None else f"={number}"
        raise InvalidParameter(f"{name}{found} is no trade-off function; write gdp({number or 1})")


def canonical(record: Mapping[str, object]) -> str:
    """Return the canonical text of a JSON record: sorted keys, no spaces, ASCII.

    Raises:
        InvalidParameter: if a key is not text, or a value is not JSON.
    """
    wrong = "nests too deep, or holds a number that is infinite, undefined or too long"
    try:
        return json.dumps(
            _plain(record),
            sort_keys=True,
            separators=(",", ":"),
            allow_nan=False,
            check_circular=False,
        )
    except TypeError as error:
        wrong = f"holds {error}"
    except (ValueError, RecursionError):
        pass
    raise InvalidParameter(
        f"a record {wrong}; write dicts with text keys, lists, text, finite numbers, "
        "true, false and null"
    )


def _plain(value: object) -> object:
    if value is None or type(value) in (str, int, float, bool):
        return value
    if isinstance(value, Mapping):
        record = cast("Mapping[object, object]", value)
        if any(type(key) is not str for key in record):
            raise TypeError("a key that is no text")
        return {str(key): _plain(item) for key, item in record.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("Sequence[object]", value)]
    raise TypeError(f"a value of type {type(value).__name__}")


def fingerprint(secret: bytes, source: str) -> str:
    """Return the keyed hash of a dataset's description, which is stored in its place."""
    return hmac.new(secret, source.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def values_text(values: Sequence[int], groups: Groups) -> str:
    """Return noisy integers as stored, with the keys of the published groups.

    Raises:
        InvalidParameter: if a value is not an integer; the message shows no value.
    """
    found: dict[str, object] = {"groups": groups} if groups else {}
    try:
        return canonical({"values": [operator.index(value) for value in values], **found})
    except TypeError:
        pass
    raise InvalidParameter(
        "values to commit were not all integers; write the noisy integers as they were drawn"
    )


def read_payload(payload: object, entry: str) -> dict[str, Any]:
    """Return a stored record.

    Raises:
        LedgerCorrupt: if it cannot be read.
    """
    try:
        record = json.loads(cast("str", payload))
    except (TypeError, ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        raise garbled("record", entry)
    return cast("dict[str, Any]", record)


def read_curve(record: object, entry: str) -> TradeOff:
    """Return the stored trade-off function.

    Raises:
        LedgerCorrupt: if it cannot be read.
    """
    if isinstance(record, Mapping):
        try:
            return TradeOff.from_json(cast("Mapping[str, object]", record))
        except (NeymanError, ValueError, TypeError, KeyError, AttributeError):
            pass
    raise garbled("trade-off function", entry)


def read_values(payload: object, entry: str) -> tuple[int, ...]:
    """Return the stored noisy integers.

    Raises:
        LedgerCorrupt: if they cannot be read.
    """
    found = read_payload(payload, entry).get("values")
    if isinstance(found, list):
        values = cast("list[object]", found)
        if all(type(value) is int for value in values):
            return tuple(cast("list[int]", values))
    raise garbled("values", entry)


def read_groups(payload: object, entry: str) -> Groups:
    """Return the stored keys of undeclared groups; empty if all groups were declared.

    Raises:
        LedgerCorrupt: if they cannot be read.
    """
    found = _list(read_payload(payload, entry).get("groups", []), entry)
    keys = [[_list(key, entry) for key in _list(question, entry)] for question in found]
    if any(type(part) is not str for question in keys for key in question for part in key):
        raise garbled("groups", entry)
    return tuple(tuple(tuple(map(str, key)) for key in question) for question in keys)


def read_checkpoint(payload: str, entry: str) -> str:
    """Return the checkpoint that was committed for steps.

    Raises:
        LedgerCorrupt: if it cannot be read.
    """
    found = read_payload(payload, entry).get("checkpoint")
    if type(found) is not str:
        raise garbled("checkpoint", entry)
    return found


def _list(found: object, entry: str) -> list[object]:
    if not isinstance(found, list):
        raise garbled("groups", entry)
    return cast("list[object]", found)


def garbled(what: str, entry: str) -> LedgerCorrupt:
    """Return the error for a record that a ledger would not have written."""
    return LedgerCorrupt(
        f"the {what} of {brief(entry)!r} in the ledger cannot be read; restore it from a backup; "
        "`neyman ledger check` lists what is wrong"
    )


def shown(amount: Amount) -> str:
    """Return an amount for people, with delta if it is positive."""
    cost = _shown(amount.cost)
    return f"{cost} and delta = {_shown(amount.delta)}" if amount.delta else cost


def _shown(amount: Fraction) -> str:
    """Return a number for people: exact if that is short."""
    long = max(amount.numerator.bit_length(), amount.denominator.bit_length()) > 512
    exact = "" if long else text(amount)
    return exact if 0 < len(exact) <= 20 else f"about {float(amount):.6g}"
