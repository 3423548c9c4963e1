"""Small pictures in the colours of the page: a curve, and a density of two coordinates.

A picture of matplotlib has its own background, and is ten times larger than the size limit.
"""

import base64
import struct
import zlib
from collections.abc import Sequence
from html import escape
from typing import Final

import numpy as np

from neyman.numerics import Array
from neyman.printable import shortened

__all__ = ["curve", "heat"]

_WIDE, _HIGH = 420, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 8, 8, 34
_POINTS: Final = 120
_SQUARE: Final = 260
# The contrast is at least 4:1 on white and on black.
_ACCENT: Final = "#2f7fd1"
_NAME: Final = 40


def curve(
    x: Array,
    y: Array,
    band: tuple[Array, Array] | None,
    *,
    labels: tuple[str, str],
    zero: bool = False,
) -> str:
    """Draw a curve with its band; the line breaks where the curve is not finite.

    Args:
        x: increasing points.
        y: the curve at these points.
        band: the lower and the upper curve of the band.
        labels: the labels of the two axes.
        zero: whether the vertical axis includes 0.
    """
    ends = (y, y) if band is None else band
    step = -(-len(x) // _POINTS)
    places = np.append(np.arange(0, len(x) - 1, step), len(x) - 1)
    parts = [np.asarray(part, np.float64)[places] for part in (x, y, *ends)]
    known = np.all(np.isfinite(parts), axis=0)
    if not np.any(known):
        return ""
    shown = np.concatenate([part[known] for part in parts[1:]])
    least, most = float(min(shown.min(), 0.0) if zero else shown.min()), float(shown.max())
    first, last = float(parts[0][0]), float(parts[0][-1])
    across = _LEFT + (parts[0] - first) / ((last - first) or 1) * (_WIDE - _LEFT - _RIGHT)
    high = _HIGH - _TOP - _BOTTOM
    upwards = [_TOP + (most - part) / ((most - least) or 1) * high for part in parts[1:]]
    body = ""
    for stretch in _stretches(known):
        at = across[stretch]
        line, lower, upper = (part[stretch] for part in upwards)
        if band is not None:
            around = _points(np.append(at, at[::-1]), np.append(lower, upper[::-1]))
            body += f'<polygon points="{around}" fill="{_ACCENT}" opacity=".3"/>'
        body += (
            f'<polyline points="{_points(at, line)}" fill="none" stroke="{_ACCENT}" '
            'stroke-width="1.8"/>'
        )
    return _framed(body + _axes((first, last), (least, most), labels), labels)


def heat(values: Array, words: str) -> str:
    """Draw a density of two coordinates: the higher it is, the more opaque.

    Args:
        values: the density at even points, with the first coordinate first.
        words: a description.
    """
    depth = np.clip(values, 0, None)
    shown = np.round(255 * depth / (depth.max() or 1)).astype(np.uint8).T[::-1]
    high, wide = shown.shape
    colour = bytes.fromhex(_ACCENT.removeprefix("#"))
    lines = b"".join(b"\0" + line.tobytes() for line in shown)
    file = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(part)) + kind + part + struct.pack(">I", zlib.crc32(kind + part))
        for kind, part in (
            (b"IHDR", struct.pack(">IIBBBBB", wide, high, 8, 3, 0, 0, 0)),
            (b"PLTE", colour * 256),
            (b"tRNS", bytes(range(256))),
            (b"IDAT", zlib.compress(lines, 9)),
            (b"IEND", b""),
        )
    )
    data = base64.b64encode(file).decode()
    return (
        f'<img alt="{escape(words)}" title="{escape(words)}" width="{_SQUARE}" '
        f'height="{_SQUARE}" src="data:image/png;base64,{data}">'
    )


def _stretches(known: Array) -> list[slice]:
    """Return the stretches in which the curve is known."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], known.astype(np.int8), [0]]))).tolist()
    return [slice(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True)]


def _points(x: Array, y: Array) -> str:
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))


def _axes(across: tuple[float, float], upwards: tuple[float, float], labels: Sequence[str]) -> str:
    bottom, right = _HIGH - _BOTTOM, _WIDE - _RIGHT
    lines = f"M{_LEFT} {_TOP}V{bottom}H{right}"
    texts = [
        (_LEFT - 5, _TOP + 9, "end", f"{upwards[1]:.3g}"),
        (_LEFT - 5, bottom, "end", f"{upwards[0]:.3g}"),
        (_LEFT, bottom + 14, "start", f"{across[0]:.4g}"),
        (right, bottom + 14, "end", f"{across[1]:.4g}"),
        ((_LEFT + right) / 2, bottom + 28, "middle", shortened(labels[0], _NAME)),
    ]
    body = f'<path d="{lines}" fill="none" stroke="currentColor" opacity=".5"/>'
    for x, y, anchor, text in texts:
        body += (
            f'<text x="{x}" y="{y}" text-anchor="{anchor}" font-size="11" fill="currentColor">'
            f"{escape(text)}</text>"
        )
    return body


def _framed(body: str, labels: Sequence[str]) -> str:
    across, upwards = (escape(shortened(label, _NAME)) for label in labels)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{_WIDE}" height="{_HIGH}" '
        f'viewBox="0 0 {_WIDE} {_HIGH}"><title>{upwards} by {across}</title>{body}</svg>'
    )
