"""The page, made of its parts: markup, style, script, and the packed trainings."""

import hashlib
import json
import re
from base64 import b64encode
from importlib.metadata import version
from importlib.resources import files
from typing import Final

from neyman.explorer._grid import (
    DELTAS,
    NOISES,
    ODDS,
    ORDERS,
    PRIORS,
    RATES,
    SHARES,
    SLACK,
    STEPS,
    USUAL,
)

__all__ = ["ARITHMETIC", "explorer_html", "script_of"]

# In the order in which they need each other; the first ones draw nothing.
ARITHMETIC: Final = ("interval", "normal", "curves", "packed", "methods", "audit", "choice")
_DRAWING: Final = ("format", "words", "copies", "plot", "pictures", "panels", "controls", "main")
_LIGHT: Final = re.compile(r":root \{(.*?)\n\}", re.DOTALL)
_DARK: Final = re.compile(
    r"@media screen and \(prefers-color-scheme: dark\) \{\n  :root \{(.*?)\n  \}\n\}", re.DOTALL
)


def explorer_html() -> str:
    """Return the page: an HTML file that asks for nothing else.

    Guarantee: what the page says of a closed form is computed in it, rounded outwards; what it says
        of a sampled training was computed by this library at the stops of the sliders, and rounded
        outwards when it was packed.
    """
    style = _themed(_read("neyman.report", "page.css")) + _read("neyman.explorer", "page.css")
    script = script_of((*ARITHMETIC, *_DRAWING))
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_digest(script)}'",
            f"style-src '{_digest(style)}'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    parts = {
        "policy": policy,
        "style": style,
        "script": script,
        "data": json.dumps(_data(), separators=(",", ":")).replace("<", "\\u003c"),
        "version": version("neyman"),
    }
    page = _read("neyman.explorer", "page.html")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], page)


def script_of(names: tuple[str, ...]) -> str:
    """Return files of `js` as one script.

    Args:
        names: of the files, without `.js`.
    """
    texts = (_read("neyman.explorer", f"js/{name}.js") for name in names)
    return '"use strict";\n' + "\n".join(texts)


def _data() -> dict[str, object]:
    """Return the stops of the sliders and what was packed for them."""
    packed = json.loads(_read("neyman.explorer", "trainings.json"))
    return {
        "grid": {
            "noises": NOISES,
            "rates": RATES,
            "steps": STEPS,
            "deltas": DELTAS,
            "priors": PRIORS,
            "odds": ODDS,
            "shares": SHARES,
            "usual": USUAL,
            "slack": SLACK,
            "orders": ORDERS,
        },
        **packed,
    }


def _themed(style: str) -> str:
    """Return the style of all pages, whose colours a reader may also choose by hand."""
    light, dark = _LIGHT.search(style), _DARK.search(style)
    assert light is not None
    assert dark is not None
    by_hand = (
        f"\n@media screen {{\n:root[data-theme=light] {{ color-scheme: light;{light[1]}\n}}\n"
        f":root[data-theme=dark] {{ color-scheme: dark;{dark[1]}\n}}\n}}\n"
    )
    return style + by_hand.replace("color-scheme: light dark;", "")


def _digest(text: str) -> str:
    return "sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _read(package: str, name: str) -> str:
    return files(package).joinpath(name).read_text(encoding="utf-8")
