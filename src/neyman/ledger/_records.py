"""What is written of an entry, and what is read back."""

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
    """One question as the ledger knows it. Public: the values are noisy.

    Attributes:
        id: the caller's name for it.
        state: "reserved" may be drawn once more, "redrawn" no more, "committed" is answered.
        curve: the trade-off function that was charged.
        cost: in the unit of the ledger's account, mu^2 or epsilon.
        delta: charged beside it, to the delta that was set aside.
        request: public description of the question.
        reserved_at: UTC, ISO 8601.
        committed_at: UTC, ISO 8601; None before.
        values: the noisy integers; None before commit.
        groups: of each question about groups that nobody declared, the keys of those shown.
        of: the id of the allowance that its steps are taken from, at no cost; None for a question,
            and for an allowance itself.
        checkpoint: what was committed of steps that were taken; None before, and for others.
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
        curve: what was charged.
        cost: in the unit of the ledger's account.
        left: what may still be charged to both accounts, as they stood at that moment.
        delta: charged beside it, to the delta that was set aside.
        values: the stored answer, or None where a draw is due.
        groups: of each question about groups that nobody declared, the keys of those shown, in
            order.
    """

    entry: str
    curve: TradeOff
    cost: Fraction
    left: Amount = field(compare=False)
    delta: Fraction = Fraction(0)
    values: tuple[int, ...] | None = field(default=None, repr=False)
    groups: Groups = field(default=(), repr=False)


def now() -> str:
    """Return the time, UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def check_digest(head: str) -> None:
    """Refuse what is no digest of a chain.

    Raises:
        InvalidParameter: if it is something else.
    """
    check_type("head", head, str, "the 64 hexadecimal digits that `neyman ledger show` printed")
    if len(head) != 64 or set(head) - set("0123456789abcdef"):
        raise InvalidParameter(
            f"head of {len(head)} characters is no digest; write the 64 hexadecimal digits that "
            "`neyman ledger show` printed"
        )


def check_curve(name: str, value: object) -> None:
    """Refuse what is no trade-off function.

    Raises:
        InvalidParameter: if it is something else.
    """
    if not isinstance(value, TradeOff):
        number = value if type(value) in (int, float) else None
        found = f" of type {type(value).__name__}" if number is None else f"={number}"
        raise InvalidParameter(f"{name}{found} is no trade-off function; write gdp({number or 1})")


def canonical(record: Mapping[str, object]) -> str:
    """Return the one text of a JSON-able record: sorted keys, no spaces, ASCII.

    Raises:
        InvalidParameter: if a key is no string, or a value is not JSON.
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
    """Return the keyed hash that stands for a dataset; the dataset's description is not stored."""
    return hmac.new(secret, source.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()


def values_text(values: Sequence[int], groups: Groups) -> str:
    """Return noisy integers as stored, with the keys of the groups that were found.

    Raises:
        InvalidParameter: if one is no integer; no value is shown.
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
    """Parse a stored record.

    Raises:
        LedgerCorrupt: if it is none.
    """
    try:
        record = json.loads(cast("str", payload))
    except (TypeError, ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        raise garbled("record", entry)
    return cast("dict[str, Any]", record)


def read_curve(record: object, entry: str) -> TradeOff:
    """Rebuild the stored trade-off function.

    Raises:
        LedgerCorrupt: if it is none.
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
        LedgerCorrupt: if there are none.
    """
    found = read_payload(payload, entry).get("values")
    if isinstance(found, list):
        values = cast("list[object]", found)
        if all(type(value) is int for value in values):
            return tuple(cast("list[int]", values))
    raise garbled("values", entry)


def read_groups(payload: object, entry: str) -> Groups:
    """Return the stored keys of groups that nobody declared; none where all were.

    Raises:
        LedgerCorrupt: if they are no keys.
    """
    found = _list(read_payload(payload, entry).get("groups", []), entry)
    keys = [[_list(key, entry) for key in _list(question, entry)] for question in found]
    if any(type(part) is not str for question in keys for key in question for part in key):
        raise garbled("groups", entry)
    return tuple(tuple(tuple(map(str, key)) for key in question) for question in keys)


def read_checkpoint(payload: str, entry: str) -> str:
    """Return the checkpoint that was committed of steps that were taken.

    Raises:
        LedgerCorrupt: if there is none.
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
    """Return the error for what a ledger would not have written."""
    return LedgerCorrupt(
        f"the {what} of {brief(entry)!r} in the ledger cannot be read; restore it from a backup; "
        "`neyman ledger check` lists what is wrong"
    )


def shown(amount: Amount) -> str:
    """Write an amount for people, with delta if there is any."""
    cost = _shown(amount.cost)
    return f"{cost} and delta = {_shown(amount.delta)}" if amount.delta else cost


def _shown(amount: Fraction) -> str:
    """Write a number for people: exact where that is short."""
    long = max(amount.numerator.bit_length(), amount.denominator.bit_length()) > 512
    exact = "" if long else text(amount)
    return exact if 0 < len(exact) <= 20 else f"about {float(amount):.6g}"
