"""A ledger as a draft for the registry of deployments of differential privacy, in YAML.

What the ledger knows is filled in; the rest says so. Tier 2 of the registry's schema, as of 2026:
it has no Gaussian differential privacy, so that mu is written as rho = mu^2 / 2, which it implies,
and in words.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import cast

from neyman.curves import TradeOff
from neyman.errors import InvalidParameter
from neyman.ledger import Entry, Ledger
from neyman.numerics import at_least, at_most

__all__ = ["registry_draft"]

_FILL_IN = "TO BE FILLED IN"
_NEIGHBORS = {
    "add_remove": "Two datasets are adjacent if one is the other with all that belongs to one "
    "unit added or removed.",
    "replace_one": "Two datasets are adjacent if one is the other with all that belongs to one "
    "unit replaced.",
}


def registry_draft(ledger: Ledger) -> str:
    """Return the draft; all that was charged counts, answered or not.

    Raises:
        InvalidParameter: if nothing was charged yet.
    """
    # What is taken of an allowance is within what the allowance was charged.
    entries = [entry for entry in ledger.entries() if entry.of is None]
    head = ledger.head()
    if not entries:
        raise InvalidParameter(
            f"the ledger {str(ledger.store)!r} holds no entry, so there is nothing to register; "
            "release something first"
        )
    record = {
        "url_slug": "to-be-filled-in",
        "status": "Draft",
        "tier": 2,
        "deployment": {
            "basic": {
                "name": _FILL_IN,
                "data_curators": [_FILL_IN],
                "intended_use": _FILL_IN,
                "data_product_type": "Summary statistics",
                "data_product_region": _FILL_IN,
                "description": _FILL_IN,
                "publication_date": entries[0].reserved_at[:10],
            },
            "dp_variant": {"variant_name": _variant(ledger)},
            "privacy_loss": _privacy_loss(ledger),
            "deployment_model": {
                "model_name": "Central",
                "release_type": "One release" if len(entries) == 1 else "Many releases",
                "release_type_details": f"{len(entries)} so far; the budget is never reset.",
            },
            "accounting": {"composition": _composition(ledger)},
            "implementation": {"mechanisms": _mechanisms(entries)},
            "administrative": {
                "registry_authors": [_FILL_IN],
                "notes": f"From a ledger with the SHA-256 chain head {head}.",
            },
        },
    }
    return "\n".join(_lines(record, "")) + "\n"


def _privacy_loss(ledger: Ledger) -> dict[str, object]:
    total = ledger.total()
    return {
        "privacy_unit": ledger.unit,
        "privacy_unit_details": _NEIGHBORS[ledger.neighbors],
        "privacy_parameters": _parameters(ledger, total),
        "privacy_parameters_details": f"All that was released so far is {total} together, as a "
        f"trade-off function. The cap on all that will ever be is {ledger.cap}; "
        f"{at_most(100 * ledger.spent() / ledger.capacity, 4)} % of it is spent.",
    }


def _composition(ledger: Ledger) -> str:
    return (
        f"Fully adaptive, by a filter: the sum of {ledger.account} over all releases stays at or "
        f"below {at_least(ledger.capacity, 6)}, in exact fractions."
    ) + _set_aside(ledger)


def _mechanisms(entries: Sequence[Entry]) -> str:
    curves = Counter(str(entry.curve) for entry in entries)
    found = "; ".join(f"{count} x {curve}" for curve, count in curves.items())
    return f"By the library neyman. Trade-off functions of the releases: {found}"


def _set_aside(ledger: Ledger) -> str:
    if not ledger.delta_aside:
        return ""
    most = at_least(ledger.delta_aside, 6)
    return (
        " Beside it, the sum of the deltas of tails, and of what may fail outright, stays at or "
        f"below {most}."
    )


def _variant(ledger: Ledger) -> str:
    if ledger.delta_aside:
        return "Approximate DP"
    return "Pure DP" if ledger.account == "epsilon" else "Zero-concentrated DP"


def _parameters(ledger: Ledger, total: TradeOff) -> dict[str, object]:
    if ledger.delta_aside:
        delta = ledger.cap.delta(math.inf)
        return {"epsilon": float(total.epsilon(delta)), "delta": float(delta)}
    if ledger.account == "epsilon":
        return {"epsilon": float(total.epsilon(0.0))}
    return {"rho": float(total.zcdp())}


def _lines(record: Mapping[str, object], indent: str) -> list[str]:
    lines: list[str] = []
    for key, value in record.items():
        if isinstance(value, Mapping):
            lines.append(f"{indent}{key}:")
            lines += _lines(cast("Mapping[str, object]", value), f"{indent}  ")
        elif isinstance(value, list):
            lines.append(f"{indent}{key}:")
            lines += [f"{indent}  - {_scalar(item)}" for item in cast("list[object]", value)]
        else:
            lines.append(f"{indent}{key}: {_scalar(value)}")
    return lines


def _scalar(value: object) -> str:
    """Return a number as YAML reads it, or text in double quotes, which mean the same anywhere."""
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        digits = repr(value)
        # YAML 1.1 takes a number without a point for text.
        return digits if "." in digits else digits.replace("e", ".0e")
    return '"' + "".join(_escaped(letter) for letter in str(value)) + '"'


def _escaped(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    return letter if letter.isprintable() else f"\\U{ord(letter):08x}"
