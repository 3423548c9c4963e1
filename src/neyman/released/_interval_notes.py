"""What the intervals of an answer cover and do not cover, in sentences."""

from collections.abc import Collection
from typing import Final

from neyman.released._question import RecordedQuestion

__all__ = ["grid_notes", "interval_notes"]

_REASONS: Final = {
    **dict.fromkeys(
        ("covariance", "correlation", "linear_regression"),
        "its sampling error depends on products of four columns, which are not released",
    ),
    **dict.fromkeys(
        ("count", "sum"),
        "a {0} over everyone has no sampling error. Where the number of {1} is itself random, ask "
        "for a {0} with a Poisson sampling interval",
    ),
}
_WIDE: Final = (
    "total_lower, total_upper of a mean {}are conservative: the spread of the values is not "
    "released, so they allow for the largest spread within the bounds."
)
_NARROWER: Final = (
    " Where the values are close to each other, ask for their variance: it comes with a mean whose "
    "interval is narrower."
)
_QUANTILE: Final = "quantile"
_CALLED: Final = {"linear_regression": "coefficient"}


def interval_notes(
    question: RecordedQuestion, names: Collection[str], confidence: float
) -> list[str]:
    """Return the sentences; those on the same pair of columns are in one text.

    Args:
        question: the question.
        names: of the columns of the answer.
        confidence: of its intervals.
    """
    units, one = question.unit.many, question.unit.entity
    share, asked = f"{100 * confidence:g} % interval for", _statistics(question)
    beyond = _beyond(question, sampling=True)
    notes = [f"lower, upper: {share} the noise only. It does not cover {beyond}."]
    if any(name.endswith("total_lower") for name in names):
        sampled = "rows" if one is None else units
        alike = "" if one is None else f"; rows of one {one} may be alike"
        beyond = _beyond(question, sampling=False)
        notes.append(
            f"total_lower, total_upper: {share} noise and sampling: for the population, if the "
            f"{sampled} are an independent sample of it{alike}."
            + (f" It does not cover {beyond}." if beyond else "")
        )
        if "variance" in asked and "mean" in asked:
            notes.append(_WIDE.format("that stands alone "))
        elif "mean" in asked:
            notes.append(_WIDE.format("") + _NARROWER)
        elif "mean_per_unit" in asked:
            notes.append(_WIDE.format(""))
    without = [name for name in asked if _without_total(name, names)]
    reasons = [_reason(name, units) for name in dict.fromkeys(without)]
    return [*notes, *reasons, *grid_notes(question), *_others(question), *_clipped(question)]


def grid_notes(question: RecordedQuestion) -> list[str]:
    """Return a note if the grid of values is coarser than the question's."""
    step, bounds = question.basis_grid, question.bounds
    if question.statistic != _QUANTILE or question.grid is None or step is None or bounds is None:
        return []
    steps = (bounds[1] - bounds[0]) / step
    return [
        f"Values are rounded to {int(steps):,} steps of {float(step):.10g}: the grid of "
        f"{question.record['grid']} has more steps than one release of quantiles tells apart. The "
        "intervals allow for half a step. Narrower bounds have finer steps."
    ]


def _beyond(question: RecordedQuestion, *, sampling: bool) -> str:
    """Return what an interval does not cover, with or without sampling error."""
    limited, asked = question.unit.entity is not None, _statistics(question)
    parts = ["sampling error"] if sampling else []
    parts += ["rows dropped by contribution limits"] if limited else []
    if limited or not set(asked) <= {"count", "crosstab"}:
        parts.append("values clipped to the bounds")
    if _QUANTILE in asked:
        step = question.grid if question.basis_grid is None else question.basis_grid
        parts.append(
            "values rounded to their grid"
            if step is None
            else f"values rounded to steps of {float(step):.10g}"
        )
    *some, last = parts or [""]
    return f"{', '.join(some)}, or {last}" if some else last


def _others(question: RecordedQuestion) -> list[str]:
    """Return which rows are in none of the declared groups."""
    groups = question.groups
    if not (groups.declared and groups.columns and groups.types) or groups.bins:
        return []
    another, without = (
        [name for name in groups.columns if group not in groups.rest.get(name, {})]
        for group in ("other", "missing")
    )
    said = [f"with another {' or '.join(another)}"] if another else []
    if without:
        said.append("without one" if without == another else f"without {' or '.join(without)}")
    return (
        [f"Rows {', or '.join(said)}, are in no group."]
        if len(said) > 1
        else [f"Rows {one} are in no group." for one in said]
    )


def _clipped(question: RecordedQuestion) -> list[str]:
    """Return which bins contain rows beyond their edges."""
    return [
        f"The first and last bin of {name} also count the rows beyond them."
        for name, bins in question.groups.bins.items()
        if bins.get("outside") == "clip"
    ]


def _statistics(question: RecordedQuestion) -> list[str]:
    return [part.statistic for part in question.parts]


def _without_total(statistic: str, names: Collection[str]) -> bool:
    """Return whether no column of a statistic, alone or in `Together`, is a total."""
    own = [name for name in names if name.startswith(statistic)]
    alone = "total_lower" in names
    return statistic in _REASONS and not alone and not any("total_lower" in name for name in own)


def _reason(statistic: str, units: str) -> str:
    called = _CALLED.get(statistic, statistic)
    why = _REASONS[statistic].format(called, units)
    return f"No interval of a {called} for the population: {why}."
