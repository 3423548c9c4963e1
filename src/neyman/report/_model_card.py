"""The guarantee of a training as Markdown for a model card."""

import re
from collections.abc import Iterable
from typing import Final

from neyman.printable import printable
from neyman.report._statement import Statement

__all__ = ["model_card"]

# Characters with a meaning in Markdown or HTML.
_ACTIVE: Final = re.compile(r"[\\`*_{}\[\]<>#|~&!]")


def model_card(statement: Statement) -> str:
    """Return the section of a model card that states the guarantee of a training.

    Args:
        statement: the statement of the training.

    Returns:
        Markdown with a second-level heading. Text from the run record is escaped.

    >>> from neyman.training import Phase, RunRecord
    >>> phase = Phase.poisson(noise_multiplier=2, sampling_probability=1, steps=4)
    >>> run = RunRecord(phases=(phase,), unit="one image", neighbors="add_remove")
    >>> print(model_card(Statement.of(run, delta=0)).splitlines()[2])
    **1-GDP** (lower bound 1)
    """
    # The attacks come first, because mu takes longest and the time may be limited.
    attacks = statement.attacks
    lines = ["## Privacy", ""]
    for found, aside in statement.losses:
        lines += [f"**{_plain(found)}**" + (f" ({_plain(aside)})" if aside else ""), ""]
    lines += [
        f"| {statement.attacker} | best attack | chance |",
        "| --- | --- | --- |",
        *(f"| {one.what} | {one.most} | {one.chance} |" for one in attacks),
        "",
        f"**Protects.** {_plain(statement.protects)}",
    ]
    for label, parts in (
        ("Training", statement.training),
        ("Assumes", statement.assumes),
        ("Does not hold", statement.does_not_hold),
        *([("Found wrong", statement.wrong)] if statement.wrong else []),
    ):
        lines += ["", f"**{label}.**", "", *_listed(parts)]
    return "\n".join(lines)


def _listed(parts: Iterable[str]) -> list[str]:
    return [f"- {_plain(part)}" for part in parts]


def _plain(text: str) -> str:
    """Return a text with its Markdown escaped."""
    return _ACTIVE.sub(lambda found: f"\\{found[0]}", printable(text))
