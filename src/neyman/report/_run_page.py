"""The page of a training: one HTML file that needs no network."""

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from neyman.numerics import Real, at_most, standing, text
from neyman.printable import shortened
from neyman.report._audit import PRIORS, best_guess, curve_section, explanation_html, unit_text
from neyman.report._explain import explain
from neyman.report._html import framed, labelled, listed, pictured, safe, table_html
from neyman.report._language import Language, read_language, relation, translated
from neyman.report._records import link
from neyman.report._statement import Statement
from neyman.report._training import run_guarantee
from neyman.training import Finding, RunRecord, doctor

__all__ = ["run_html"]

_LONGEST: Final = 120


def run_html(
    run: RunRecord,
    *,
    delta: Real,
    tradeoff_svg: str = "",
    steps_svg: str = "",
    language: str = "en",
) -> str:
    """Return the page of a training: its guarantee, its assumptions and its mistakes.

    Args:
        run: the training.
        delta: the delta of mu and epsilon, in [0, 1).
        tradeoff_svg: a picture of the guarantee, an SVG element; none by default.
        steps_svg: a picture of epsilon during the training; none by default.
        language: "en", "ko" or "zh".

    Raises:
        InvalidParameter: if delta is out of range, or nothing is proved about a sampler.
    """
    words = read_language(language)
    page, guarantee = words.page, run_guarantee(run, words)
    explanation = explain(guarantee, language=language, priors=PRIORS)
    statement = Statement.of(run, delta=delta)
    body = [
        f"<header><h1>{safe(page['run_title'])}</h1>",
        f'<p class="headline">{safe(best_guess(explanation, run.neighbors, words))}</p>',
        *_in_short(statement, words),
        "</header>",
        labelled("findings", 2, page["findings"], [_findings(doctor(run, delta=delta), words)]),
        labelled("training", 2, page["training"], [_terms(run, words), _phases(run, words)]),
        _progress(steps_svg, statement, words),
        labelled("words", 2, page["words"], [explanation_html(explanation, words)]),
        curve_section(guarantee.curve, tradeoff_svg, words, level=2),
        labelled("record", 2, page["run_json"], [_record(run, page["run_json"])]),
    ]
    return framed(page["run_title"], body, language=language)


def _written(delta: Fraction | None) -> str:
    return "" if delta is None else text(delta).replace("e-0", "e-")


def _in_short(statement: Statement, words: Language) -> Sequence[str]:
    chance = statement.delta or Fraction(0)
    values = {
        "delta": _written(chance),
        "mu": at_most(statement.curve.mu(slack=standing(chance)[0]), 6),
        "epsilon": at_most(statement.curve.epsilon(standing(chance)[0]), 6),
    }
    public = words.put("run_public", steps=statement.run.steps)
    return (
        f"<p>{safe(words.put('run_in_short', **values))}</p>",
        f"<p>{safe(public)}</p>",
    )


def _findings(found: Sequence[Finding], words: Language) -> str:
    if not found:
        return f"<p>{safe(words.page['no_findings'])}</p>"
    return listed(
        words.put("finding", fault=one.name, seen=one.seen, holds=one.holds) for one in found
    )


def _terms(run: RunRecord, words: Language) -> str:
    between = relation(run.neighbors, run.unit)
    facts = {
        "unit": unit_text(run.unit, words),
        "neighbours": translated(between, words) or between,
        "records": run.records,
        "dataset": run.dataset,
        "tuning_runs": run.tuning_runs,
        "ranks": f"{len(run.ranks)} / {run.world}" if run.world > 1 else None,
        "versions": ", ".join(f"{name} {version}" for name, version in run.versions.items()),
    }
    lines = (
        f"<dt>{safe(words.page[name])}</dt><dd>{safe(value)}</dd>"
        for name, value in facts.items()
        if value not in (None, "")
    )
    return f'<dl class="about">{"".join(lines)}</dl>'


def _phases(run: RunRecord, words: Language) -> str:
    names = ("phase", "sampler", "noise_multiplier", "clip", "steps", "planned")
    rows = [
        (
            str(place + 1),
            shortened(phase.sampled_by, _LONGEST),
            text(phase.noise_multiplier),
            "" if phase.clip is None else text(phase.clip),
            str(phase.steps),
            str(phase.planned),
        )
        for place, phase in enumerate(run.phases)
    ]
    page = words.page
    return table_html([page[name] for name in names], rows, texts=2, caption=page["training"])


def _progress(svg: str, statement: Statement, words: Language) -> str:
    if not svg:
        return ""
    page = words.page
    caption = words.put("progress_caption", delta=_written(statement.delta))
    picture = pictured(svg, "picture-progress", page["progress"], page["progress_about"], caption)
    return labelled("progress", 2, page["progress"], [picture])


def _record(run: RunRecord, title: str) -> str:
    written = json.dumps(run.to_json(), indent=1)
    return f"<p>{link('run.json', 'application/json', written, title)}</p>"
