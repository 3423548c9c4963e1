"""What the intervals of an answer cover, and what they do not, in sentences."""

from collections.abc import Collection, Mapping
from typing import Final, cast

__all__ = ["NOT_COVERED", "interval_notes"]

NOT_COVERED: Final = "rows dropped by contribution limits, or values clipped to the bounds"

_REASONS: Final = {
    **dict.fromkeys(
        ("covariance", "correlation", "linear_regression"),
        "its sampling error depends on products of four columns, which are not released",
    ),
    **dict.fromkeys(
        ("count", "sum"),
        "a {} over everyone has no sampling error. If the number of units is itself random, ask "
        "for {}(poisson=True)",
    ),
}
_CALLED: Final = {"linear_regression": "coefficient"}


def interval_notes(
    query: Mapping[str, object], names: Collection[str], confidence: float
) -> list[str]:
    """Return the sentences, those on one pair of columns in one text.

    Args:
        query: the question, as the ledger records it.
        names: of the columns of the answer.
        confidence: of its intervals.
    """
    share = f"{100 * confidence:g} % interval for"
    notes = [
        f"lower, upper: {share} the noise only. It does not cover sampling error, {NOT_COVERED}."
    ]
    if any(name.endswith("total_lower") for name in names):
        notes.append(
            f"total_lower, total_upper: {share} noise and sampling: for the population, if the "
            f"units are an independent sample of it; rows of one unit may be alike. It does not "
            f"cover {NOT_COVERED}."
        )
    without = [name for name in _statistics(query) if _without_total(name, names)]
    return notes + [_reason(name) for name in dict.fromkeys(without)]


def _statistics(query: Mapping[str, object]) -> list[str]:
    parts = cast("list[Mapping[str, object]]", query.get("parts") or [query])
    return [str(part.get("statistic")) for part in parts]


def _without_total(statistic: str, names: Collection[str]) -> bool:
    """Return whether no column of a statistic, named alone or `Together`, is a total."""
    own = [name for name in names if name.startswith(statistic)]
    alone = "total_lower" in names
    return statistic in _REASONS and not alone and not any("total_lower" in name for name in own)


def _reason(statistic: str) -> str:
    called = _CALLED.get(statistic, statistic)
    why = _REASONS[statistic].format(called, called.capitalize())
    return f"No interval of a {called} for the population: {why}."
