"""A ledger or a training as a YAML draft for the registry of deployments.

Fields that are known are filled in; the others say TO BE FILLED IN. The schema (tier 2,
as of 2026) has no Gaussian differential privacy, so mu is written in words, and as rho = mu^2 / 2,
which it implies.
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import cast

from neyman.curves import TradeOff
from neyman.errors import InvalidParameter
from neyman.ledger import Entry, Ledger
from neyman.numerics import at_least, at_most, standing
from neyman.report import Statement

__all__ = ["registry_draft", "registry_draft_of_run"]

_FILL_IN = "TO BE FILLED IN"
_NEIGHBORS = {
    "add_remove": "Two datasets are adjacent if one is the other with all that belongs to one "
    "unit added or removed.",
    "replace_one": "Two datasets are adjacent if one is the other with all that belongs to one "
    "unit replaced.",
}


def registry_draft(ledger: Ledger) -> str:
    """Return the draft of a ledger; every charge counts, also without an answer.

    Raises:
        InvalidParameter: if nothing has been charged.
    """
    # Steps taken from an allowance are part of its charge.
    entries = [entry for entry in ledger.entries() if entry.of is None]
    head = ledger.head()
    if not entries:
        raise InvalidParameter(
            f"a registry draft needs a release; the ledger {str(ledger.store)!r} has none. "
            "Release something first"
        )
    return _draft(
        product="Summary statistics",
        published=entries[0].reserved_at[:10],
        variant=_variant(ledger),
        privacy_loss=_privacy_loss(ledger),
        release={
            "release_type": "One release" if len(entries) == 1 else "Many releases",
            "release_type_details": f"{len(entries)} so far; the budget is never reset.",
        },
        composition=_composition(ledger),
        implementation={"mechanisms": _mechanisms(entries)},
        notes=f"From a ledger with the SHA-256 chain head {head}.",
    )


def registry_draft_of_run(statement: Statement) -> str:
    """Return the draft of a training.

    Raises:
        InvalidParameter: if its epsilon at the delta of the statement is infinite.
    """
    run, delta = statement.run, statement.delta or Fraction(0)
    chance = standing(delta)[0]
    epsilon, mu = statement.curve.epsilon(chance), statement.curve.mu(slack=chance)
    if not math.isfinite(epsilon):
        raise InvalidParameter(
            f"a registry draft needs a finite epsilon; at delta = {float(delta):g} there is none. "
            "Write a larger delta, such as 1e-6"
        )
    found = "; ".join(f"{found} ({aside})" if aside else found for found, aside in statement.losses)
    digest = hashlib.sha256(json.dumps(run.to_json(), sort_keys=True).encode()).hexdigest()
    tuning = (
        "Not declared."
        if run.tuning_runs is None
        else f"{run.tuning_runs} other trainings on the same data; this draft does not count them."
    )
    return _draft(
        product="Machine learning model",
        published=_FILL_IN,
        variant="Approximate DP",
        privacy_loss={
            "privacy_unit": run.unit,
            "privacy_unit_details": _NEIGHBORS[run.neighbors],
            "privacy_parameters": {"epsilon": float(epsilon), "delta": float(delta)},
            "privacy_parameters_details": f"{found}. As Gaussian differential privacy, mu = "
            f"{at_most(mu, 6)} implies rho = mu^2 / 2 = {at_most(Fraction(mu) ** 2 / 2, 6)}, "
            "outside an event of probability delta.",
        },
        release={"release_type": "One release", "release_type_details": statement.protects},
        composition="Exact, of all steps, by their trade-off functions.",
        implementation={
            "preprocessing_and_hyperparameter_tuning": tuning,
            "mechanisms": "DP-SGD. " + "; ".join(statement.training),
            "justification": " ".join(statement.assumes),
        },
        notes=" ".join([f"From a run record with the SHA-256 digest {digest}.", *statement.wrong]),
    )


def _draft(
    *,
    product: str,
    published: str,
    variant: str,
    privacy_loss: Mapping[str, object],
    release: Mapping[str, object],
    composition: str,
    implementation: Mapping[str, object],
    notes: str,
) -> str:
    record = {
        "url_slug": "to-be-filled-in",
        "status": "Draft",
        "tier": 2,
        "deployment": {
            "basic": {
                "name": _FILL_IN,
                "data_curators": [_FILL_IN],
                "intended_use": _FILL_IN,
                "data_product_type": product,
                "data_product_region": _FILL_IN,
                "description": _FILL_IN,
                "publication_date": published,
            },
            "dp_variant": {"variant_name": variant},
            "privacy_loss": privacy_loss,
            "deployment_model": {"model_name": "Central", **release},
            "accounting": {"composition": composition},
            "implementation": implementation,
            "administrative": {"registry_authors": [_FILL_IN], "notes": notes},
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
    """Return a number as YAML, or text in double quotes, which every parser reads alike."""
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        digits = repr(value)
        # YAML 1.1 reads 1e-06 as text.
        return digits if "." in digits else digits.replace("e", ".0e")
    return '"' + "".join(_escaped(letter) for letter in str(value)) + '"'


def _escaped(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    return letter if letter.isprintable() else f"\\U{ord(letter):08x}"
