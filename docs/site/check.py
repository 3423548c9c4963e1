"""What must hold of the site that was built: its search finds pages, and it asks no network."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.search.en import SearchEnglish

__all__ = ["WANTED", "faults"]

# What people type, and the page that they want. The words are in the index of that page.
WANTED = {
    "first release": "docs/notebooks/first_release",
    "density": "docs/howto/density",
    "survival": "docs/howto/survival",
    "regression": "docs/howto/regression_curve",
    "quantiles": "docs/howto/quantiles",
    "groups": "docs/howto/groups",
    "budget": "docs/howto/ledger",
    "ledger": "docs/howto/ledger",
    "opacus": "docs/howto/opacus",
    "training": "docs/howto/train",
    "spark": "docs/howto/engines",
    "postgresql": "docs/howto/engines",
    "rehearse": "docs/howto/rehearse",
    "companion": "docs/howto/companion",
    "contribution limits": "docs/howto/units",
    "join": "docs/howto/units",
    "spec": "docs/howto/spec",
    "report": "docs/howto/page",
    "explorer": "docs/howto/explorer",
    "audit": "docs/howto/audit",
    "explain": "docs/howto/explain",
    "federated": "docs/howto/federated",
    "limits": "docs/limits",
    "security": "SECURITY",
    "zcdp": "docs/theory/zcdp",
    "composition": "docs/theory/composition",
    "notation": "docs/notation",
    "glossary": "docs/glossary",
    "gdp": "reference/neyman.curves",
    "command line": "reference/command_line",
    # What newcomers call it.
    "privacy accountant": "docs/howto/account",
    "dp-sgd epsilon": "docs/howto/account",
    "epsilon of a training": "docs/howto/account",
    "count by region": "docs/howto/groups",
    "group by": "docs/howto/groups",
    "committee": "docs/howto/explain",
    "ethics": "docs/howto/explain",
    "plain language": "docs/howto/explain",
    "membership inference": "docs/howto/audit",
    "check a mechanism": "docs/howto/audit",
    "truncation": "docs/howto/units",
    "clipping": "docs/howto/companion",
    "rows dropped": "docs/howto/companion",
}
# The page is among so many results.
_FIRST = 3
# As Sphinx's own search weighs what it finds.
_ENTRY, _TITLE, _TITLE_WORD, _OBJECT, _WORD = 100, 15, 15, 11, 5
_LOADS = re.compile(r'<(?:link|script|img|iframe)\b[^>]*\b(?:href|src)="(?:https?:)?//([^"]+)"')


def faults(site: Path) -> Iterator[str]:
    """Yield a sentence for everything that is wrong."""
    index = json.loads(_inside(site / "searchindex.js"))
    for words, page in WANTED.items():
        found = search(index, words)[:_FIRST]
        if page not in found:
            yield f"search for {words!r} does not find {page}, but {', '.join(found)}"
    for page in sorted(site.rglob("*.html")):
        text = page.read_text(encoding="utf-8")
        for place in _LOADS.findall(text):
            yield f"{page.relative_to(site)} loads {place}"
        if "docs/" in str(page) and 'class="next-page"' not in text:
            yield f"{page.relative_to(site)} has no next page"


def search(index: dict[str, Any], words: str) -> list[str]:
    """Return the pages that the search shows for some words, the best first."""
    stem = SearchEnglish({}).stem
    scores: dict[int, float] = {}
    asked = words.lower().split()
    named = index["alltitles"], _TITLE
    entries = {
        entry: [place for place in places if place[2]]
        for entry, places in index["indexentries"].items()
    }
    for known, most in (named, (entries, _ENTRY)):
        for entry, places in known.items():
            if words in entry.lower() and 2 * len(words) >= len(entry):
                for page, *_ in places:
                    score = round(most * len(words) / len(entry))
                    scores[page] = max(scores.get(page, 0), score)
    for prefix, objects in index["objects"].items():
        for page, *_, name in objects:
            if words in f"{prefix}.{name}".lower():
                last = name.rpartition(".")[2].lower()
                scores[page] = max(scores.get(page, 0), _OBJECT if last == words else 1)
    pages = [
        _pages(index["titleterms"], stem(word), _TITLE_WORD)
        | {
            page: max(score, _pages(index["titleterms"], stem(word), _TITLE_WORD).get(page, 0))
            for page, score in _pages(index["terms"], stem(word), _WORD).items()
        }
        for word in asked
    ]
    for page in set.intersection(*map(set, pages)):
        scores[page] = scores.get(page, 0) + max(found[page] for found in pages)
    ranked = sorted(scores, key=lambda page: (-scores[page], index["titles"][page].lower()))
    return [index["docnames"][page] for page in ranked]


def _pages(terms: dict[str, Any], word: str, score: int) -> dict[int, int]:
    found = terms.get(word, [])
    return dict.fromkeys([found] if isinstance(found, int) else found, score)


def _inside(file: Path) -> str:
    text = file.read_text(encoding="utf-8")
    return text[text.index("(") + 1 : text.rindex(")")]
