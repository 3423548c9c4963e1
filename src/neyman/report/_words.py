"""What a guarantee means, in sentences with natural frequencies."""

import math

from neyman.curves import TradeOff
from neyman.numerics import at_most
from neyman.sensitivity import Neighbors

__all__ = ["NOT_PROTECTED", "likeness", "relation", "statement"]

_ACCUSED_WRONGLY = (1, 5, 10)

NOT_PROTECTED = (
    "What is true of the group whether or not a unit is in the table: a release may teach that "
    "smokers fall ill, and so something about every smoker.",
    "That the table exists, its columns, the declared bounds, keys and limits, and the questions "
    "asked.",
    "Units linked to each other: two units of one household are protected one at a time.",
    "Other releases from the same data that this ledger does not know of.",
    "Time, memory, and access to the machine or to the table itself.",
)


def relation(neighbors: Neighbors, unit: str) -> str:
    """Say which two tables nobody shall be able to tell apart."""
    if neighbors == "add_remove":
        return f"a table, or the same table with {unit} taken out"
    return f"a table, or the same table with {unit} changed at will"


def likeness(curve: TradeOff) -> str:
    """Say what telling the two tables apart is compared with."""
    mu = curve.mu()
    if math.isfinite(mu):
        return f"one draw of N(0, 1) from one of N({at_most(mu, 6)}, 1)"
    return "its trade-off curve allows"


def statement(curve: TradeOff, unit: str, neighbors: Neighbors) -> list[str]:
    """Return the guarantee in sentences; every number is rounded to the safe side.

    Args:
        curve: of everything that was released.
        unit: who is protected, in words.
        neighbors: the neighbouring relation.
    """
    wrong = math.floor(1000 * curve.bayes_error(0.5))
    sentences = [
        "Take someone who sees all that was released, and who knows everything about the data but "
        f"which of two tables they are: {relation(neighbors, unit)}. However clever their test, "
        "and whatever their computing power:",
        f"Told that both are equally likely, they guess wrong at least {wrong} times in 1,000 "
        "(without the release: 500).",
    ]
    for fpr in _ACCUSED_WRONGLY:
        found = math.ceil(1000 * curve.tpr(fpr / 100)) / 10
        sentences.append(
            f"If they wrongly accuse at most {fpr} in 100 of the absent, they find at most "
            f"{found:g} in 100 of the present (without the release: {fpr})."
        )
    belief = math.ceil(1000 * curve.posterior(0.1, fpr=0.05)) / 10
    sentences.append(
        "If they suspected a unit with probability 10 % before, an accusation that hits 5 in 100 "
        f"of the absent is right with probability at most {belief:g} % after."
    )
    return sentences
