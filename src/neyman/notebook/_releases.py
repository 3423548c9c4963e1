"""Releases: their rows with intervals; for a function its values and its picture."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from neyman.errors import InvalidParameter
from neyman.functional import function
from neyman.notebook._card import card, facts, first_rows, lines, more, quiet, warning
from neyman.notebook._functions import Labels, parts
from neyman.notebook._guarantees import guarantee_facts, numbers
from neyman.publish import Presented
from neyman.released import Guarantee, Release
from neyman.report import answer_html, answer_tables, function_table, question_text, read_off

__all__ = ["answer", "html"]

# More curves take too long to draw.
_MOST_CURVES: Final = 6


def html(shown: object) -> str:
    """Return the HTML of a release or a guarantee."""
    match shown:
        case Release():
            return card(f"{shown.entry}: {question_text(shown.question)}", _release(shown))
        case Guarantee():
            about = [*guarantee_facts(shown), *numbers(shown.curve)]
            return card(f"Guarantee: {shown.curve}", about)
        case _:
            return card(type(shown).__name__, [lines(str(shown))])


def _release(shown: Release) -> Iterator[str]:
    yield from answer(Presented(shown.entry, shown))
    notes = " ".join(shown.limit_notes())
    if notes:
        warns = shown.companion is not None and shown.companion.warns
        yield warning(notes) if warns else quiet(notes)
    if "coefficient" not in shown.columns:
        yield quiet(" ".join(shown.interval_notes))
    again = "; a stored answer, not charged again" if shown.replayed else ""
    yield quiet(
        f"Guarantee: {shown.guarantee.curve}, {shown.guarantee.unit} "
        f"({shown.guarantee.neighbors}). Cost: {shown.spending}{again}"
    )


def answer(presented: Presented) -> Iterator[str]:
    """Return the first rows of an answer; for a function its values and its picture."""
    shown = presented.release
    if not shown.groups:
        yield warning("No group is shown, because no noisy count reached the threshold.")
    elif "coefficient" in shown.columns:
        yield from _function(presented)
    else:
        first = replace(presented, release=replace(shown, columns=first_rows(shown.columns)))
        yield "".join(map(answer_html, answer_tables(first)))
        yield more(shown.columns, ".to_pandas()")
        if shown.shown_from is not None:
            yield quiet(f"Only groups with a noisy count of {shown.shown_from} or more are shown.")


def _function(presented: Presented) -> Iterator[str]:
    shown = presented.release
    if shown.keys:
        groups = len(set(zip(*(shown.columns[name] for name in shown.keys), strict=True)))
        if groups > _MOST_CURVES:
            yield facts({"Functions": f"{groups:,}, by {', '.join(shown.keys)}"})
            yield quiet(
                "functional.functions(release) returns them; neyman.plots.released(release) draws "
                "them."
            )
            return
    else:
        try:
            yield from parts(function(shown), shown.confidence, _labels(shown))
        except InvalidParameter as error:
            yield warning(str(error))
    values, hidden, _ = read_off(shown)
    if values is not None:
        yield answer_html(function_table(presented, first_rows(values)))
        yield more(values, "neyman.report.figures")
    yield from map(warning, hidden if shown.keys else ())


def _labels(shown: Release) -> Labels:
    names = shown.question.columns
    return Labels(names[0] if names else "x", f"mean of {names[1] if len(names) > 1 else 'y'}")
