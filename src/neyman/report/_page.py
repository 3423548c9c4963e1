"""A publication as one HTML file that needs no network."""

from collections.abc import Iterable, Mapping, Sequence

from neyman.curves import TradeOff
from neyman.numerics import at_least, at_most
from neyman.publish import Presented, Publication
from neyman.released import Release
from neyman.report._answer_tables import answer_tables, title_of
from neyman.report._asked import asked
from neyman.report._functions import read_off
from neyman.report._tables import answer_html, exactly, rows_table, safe
from neyman.report._words import NOT_PROTECTED, likeness, relation, statement

__all__ = ["html", "listed", "page"]

# Longer answers open on demand.
_OPEN = 20
_USUAL_DELTAS = (1e-5, 1e-6, 1e-9)

_STYLE = """
:root { --ink: #22262e; --quiet: #626a78; --line: #dfe3ea; --accent: #1f5fa8; --paper: #fff;
  --shade: #b4bccb; }
* { box-sizing: border-box; }
body { margin: 0; background: #f4f6f9; color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 54rem; margin: 2rem auto; padding: 2.5rem 3rem; background: var(--paper);
  border: 1px solid var(--line); border-radius: 6px; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.25rem; margin: 2.4rem 0 .6rem; padding-top: 1.2rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.8rem 0 .4rem; }
p, li { max-width: 44rem; }
.warning { color: #9c2b1f; font-weight: 600; }
.quiet { color: var(--quiet); font-size: .92rem; }
.headline { font-size: 1.1rem; border-left: 4px solid var(--accent); padding: .2rem 0 .2rem 1rem; }
figure { margin: 1rem 0; } figure svg { max-width: 100%; height: auto; }
main.wide { max-width: 84rem; }
.scroll { overflow-x: auto; max-width: 100%; scrollbar-width: thin; margin: .6rem 0;
  background: linear-gradient(to right, var(--paper) 30%, transparent) left / 3rem 100% local,
    linear-gradient(to left, var(--paper) 30%, transparent) right / 3rem 100% local,
    linear-gradient(to right, var(--shade), transparent) left / 1rem 100% scroll,
    linear-gradient(to left, var(--shade), transparent) right / 1rem 100% scroll;
  background-repeat: no-repeat; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }
th, td { text-align: right; padding: .22rem .8rem; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th { color: var(--quiet); font-weight: 600; white-space: normal; vertical-align: bottom; }
td.text, th.text { text-align: left; white-space: normal; max-width: 24rem; }
main.wide th, main.wide td { padding: .22rem .5rem; }
td.text:first-child { min-width: 8rem; }
td { mso-number-format: "\\@"; }
tr.few td { color: var(--quiet); }
code { font-size: .88em; overflow-wrap: anywhere; }
details { margin: .4rem 0; } summary { cursor: pointer; color: var(--accent); }
@media print { body { background: none; } main { border: 0; margin: 0; padding: 0; }
  .scroll { overflow: visible; } th, td { white-space: normal; padding: .15rem .4rem; } }
@media (max-width: 40rem) { main { padding: 1.2rem; margin: 0; border: 0; } }
"""


def html(
    publication: Publication,
    *,
    tradeoff_svg: str,
    release_svgs: Mapping[str, str],
    notes: Sequence[str] = (),
) -> str:
    """Return the report page.

    Args:
        publication: what was released.
        tradeoff_svg: the picture of its total guarantee, an SVG element.
        release_svgs: the picture of each release, by its name; may leave some out.
        notes: sentences to print above all, such as where true values came from.
    """
    total = publication.total
    said = statement(total, publication.unit, publication.neighbors)
    page_of = publication.presentation
    body = [
        f"<h1>{safe(publication.title)}</h1>",
        f"<p>{safe(page_of.subtitle)}</p>" if page_of.subtitle else "",
        *(f"<p>{safe(note)}</p>" for note in page_of.notes),
        *(f'<p class="quiet">{safe(note)}</p>' for note in notes),
        f'<p class="headline">Everything that this ledger ever released together satisfies '
        f"<strong>{safe(str(total))}</strong>: whether the data are "
        f"{safe(relation(publication.neighbors, publication.unit))}, is no easier to tell than "
        f"{safe(likeness(total))}.</p>",
        "<h2>The guarantee in words</h2>",
        f"<p>{safe(said[0])}</p>",
        listed(said[1:]),
        f"<figure>{tradeoff_svg}<figcaption class='quiet'>The two errors of the best test. The "
        "band between the proved bounds of the curve is drawn, and is thinner than the line."
        "</figcaption></figure>",
        _views(total),
        _facts(publication),
        "<h2>What was released</h2>",
        *(
            _release(name, release, release_svgs.get(name), publication)
            for name, release in zip(publication.names, publication.releases, strict=True)
        ),
        "<h2>What is not protected</h2>",
        listed(NOT_PROTECTED),
        "<h2>What is taken for granted</h2>",
        listed(publication.releases[0].guarantee.assumptions if publication.releases else ()),
        "<h2>The ledger</h2>",
        _ledger(publication),
    ]
    return page(publication.title, body)


def page(title: str, body: Iterable[str], *, wide: bool = False) -> str:
    """Return a page in the style of all of them; the body is HTML.

    Args:
        title: as text.
        body: its parts.
        wide: whether it has tables of many columns.
    """
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{safe(title)}</title><style>{_STYLE}</style></head>"
        f"<body><main{' class=wide' if wide else ''}>{''.join(body)}</main></body></html>\n"
    )


def listed(sentences: Iterable[str]) -> str:
    """Return sentences as a list."""
    return "<ul>" + "".join(f"<li>{safe(sentence)}</li>" for sentence in sentences) + "</ul>"


def _views(curve: TradeOff) -> str:
    """The same guarantee in the field's other words."""
    values = {
        "mu (Gaussian DP)": curve.mu(),
        **{f"epsilon at delta = {delta:g}": curve.epsilon(delta) for delta in _USUAL_DELTAS},
        "rho (zero-concentrated DP)": curve.zcdp(),
        "advantage of the best attack": curve.advantage(),
    }
    rows = [(name, at_most(value, 6)) for name, value in values.items()]
    return rows_table(("In other words", "at most"), rows, 1)


def _facts(publication: Publication) -> str:
    rows = [
        ("Protected unit", publication.unit),
        ("Neighbouring tables", relation(publication.neighbors, publication.unit)),
        ("Budget of the ledger", str(publication.cap)),
        ("Spent so far", str(publication.total)),
    ]
    if publication.delta_for_groups:
        apart, spent = publication.delta_for_groups, publication.delta_spent
        rows += [
            ("Of its delta, set aside for groups that nobody declared", at_least(apart, 6)),
            ("Of that, spent so far", at_most(spent, 6)),
        ]
    return "<h3>Terms</h3>" + rows_table(("Term", "Value"), rows, 2)


def _release(name: str, release: Release, svg: str | None, publication: Publication) -> str:
    batch = publication.batch_of(release)
    shown = Presented(name, release, publication.presentation).ordered()
    note = f"<p>{safe(shown.display.note)}</p>" if shown.display.note else ""
    picture = "" if svg is None or not release.groups else f"<figure>{svg}</figure>"
    return (
        f"<h3>{safe(title_of(shown))} <small>{safe(name)}</small></h3>"
        f"<p>{safe(asked(release.query))}</p>{note}"
        f'<p class="quiet">{safe(str(release.spending))}. Alone it satisfies '
        f"{safe(str(release.guarantee.curve))}. {safe(_covered(release))}</p>"
        f"{_found(release)}{_limits(release, batch)}{picture}"
        f"{_answer(shown, publication.ledger.name)}<details>"
        f"<summary>The question, exactly</summary>{exactly(release.query)}"
        f"<p>The noise:</p>{exactly(release.mechanism)}</details>"
    )


def _limits(release: Release, batch: Mapping[str, Release]) -> str:
    """Say what contribution limits and bounds did to the answer, plainly where it is much."""
    notes, at = release.limit_notes([*batch]), release.companion_at
    told = release if at is None or at >= len(batch) else [*batch.values()][at]
    kind = "warning" if told.companion is not None and told.companion.warns else "quiet"
    return f'<p class="{kind}">{safe(" ".join(notes))}</p>' if notes else ""


def _covered(release: Release) -> str:
    """Say what the intervals of an answer cover, and what they do not."""
    level = f"{100 * release.confidence:g} %"
    if "coefficient" in release.columns:
        return (
            f"lower and upper are the ends of a {level} band for the noise, which holds the whole "
            "curve at once; total_lower and total_upper, where they are shown, add the sampling of "
            "independent rows. Bands are simulated estimates. They do not cover rows dropped by "
            "contribution limits, or values clipped to the bounds."
        )
    return " ".join(release.interval_notes)


def _answer(answer: Presented, ledger: str) -> str:
    """Return the answer as tables; of a function what is read off it, never its coefficients."""
    release = answer.release
    length, tables = len(release.groups), answer_tables(answer)
    if not length:
        return "<p>No group is shown: no noisy count reached the threshold.</p>"
    shown = "".join(
        (f"<h4>{safe(table.title)}</h4>" if len(tables) > 1 else "") + answer_html(table)
        for table in tables
    )
    if "coefficient" in release.columns:
        shown += "".join(f"<p>{safe(said)}.</p>" for said in read_off(release).hidden)
        return (
            f'{shown}<p class="quiet">The release itself is {length:,} coefficients: they are in '
            f"the ledger {safe(ledger)} under the entry {safe(release.entry)}, which gives "
            "them again, free, to whoever asks the same question.</p>"
        )
    if length <= _OPEN:
        return shown
    return f"<details><summary>{length:,} rows</summary>{shown}</details>"


def _found(release: Release) -> str:
    """Say which groups are shown, where nobody declared them."""
    if release.threshold is None:
        return ""
    return (
        '<p class="quiet">Nobody declared the groups: shown are those whose noisy count is '
        f"{release.shown_from} or more. Of groups close to that only large draws are seen: they "
        "are too large on average, and their intervals miss more often.</p>"
    )


def _ledger(publication: Publication) -> str:
    # Those of a batch were charged once, under one entry.
    charged: dict[str, list[Release]] = {}
    for release in publication.releases:
        charged.setdefault(release.entry, []).append(release)
    rows = [
        (
            entry,
            " and ".join(str(release.guarantee.curve) for release in held),
            f"{at_most(100 * held[0].spending.cost / held[0].spending.cap, 4)} %",
        )
        for entry, held in charged.items()
    ]
    head = ["Entry", "Guarantee alone", "Share of the budget"]
    apart = publication.delta_for_groups
    if apart:
        head.append("Share of the delta set aside")
        deltas = [held[0].spending.delta for held in charged.values()]
        shares = [f"{at_most(100 * delta / apart, 4)} %" for delta in deltas]
        rows = [(*row, share) for row, share in zip(rows, shares, strict=True)]
    share = rows_table(head, rows, 2)
    return f"<p>Ledger <code>{safe(publication.ledger.name)}</code>.</p>{share}"
