"""What measured cells say, as tables: where the released density is better, and where it loses."""

import math
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from benchmarks import Section, verdict
from benchmarks._functions.columns import COLUMNS, ENDS, HEAPED, WIDE
from benchmarks._functions.contest import Cell
from benchmarks._functions.peers import PRIVATE

__all__ = ["TITLES", "sections"]

TITLES: Final = (
    "Densities: errors over those of peers",
    "Densities: over the best private peer",
    "Densities: over the kernel estimate without privacy",
    "Densities: ends, and values outside",
    "Densities: domains that are too wide",
    "Densities: heaped columns",
)
KERNEL: Final = "oracle kernel"
_LETTERS: Final = {"histogram": "h", "polygon": "p", "cosines": "c", "wavelets": "w"}
_HEADS: Final = {
    KERNEL: "kernel, not private",
    "histogram": "histogram",
    "polygon": "polygon",
    "cosines": "cosines",
    "wavelets": "wavelets",
}
_PEAKED: Final = ("strongly skewed", "asymmetric claw", "comb", "discrete comb")
# A uniform density is read without error by whoever keeps no wave: no ratio counts for less.
_LEAST: Final = 0.1
_PEERS: Final = (
    "All peers are told the number of records, and have the bins, waves or bandwidth that are best "
    "in the mean of these very samples, which nobody knows: histogram, its polygon through the "
    "middles of the bins, and cosine series of noisy sums, each the nearest proper density; "
    "wavelets: hard thresholding of all shifts of a noisy fine histogram, nothing tuned; kernel: "
    "Gaussian, mirrored at the ends, **not private**. All private ones have the same mu under "
    "add/remove. "
)
_OURS: Final = (
    'neyman: `density(domain=Interval(..., outside="count"), records=n)`, one release, '
    "`functional.function`; nothing is chosen by hand. "
)


def sections(cells: Iterable[Cell]) -> list[Section]:
    """Return all tables that these cells fill."""
    known = sorted(cells, key=lambda cell: (cell.n, cell.mu))
    kinds = {kind: [c for c in known if c.kind == kind] for kind in ("fit", "wide", "heaped")}
    found: list[Section] = []
    if fit := kinds["fit"]:
        ends = [cell for cell in fit if "best bandwidth" in cell.errors]
        found += [_summary(fit), _matrix(fit, private=True), _matrix(fit, private=False)]
        found += [_ends(ends)] if ends else []
    found += [_wide(kinds["wide"])] if kinds["wide"] else []
    found += [_heaped(kinds["heaped"])] if kinds["heaped"] else []
    return found


def _mean(ratios: Sequence[float]) -> float:
    return math.exp(float(np.mean(np.log(np.maximum(ratios, _LEAST)))))


def _label(n: int, mu: float) -> str:
    return f"{n:,}, {mu:g}"


def _sizes(cells: Sequence[Cell]) -> list[tuple[int, float]]:
    return sorted({(cell.n, cell.mu) for cell in cells})


def _runs(cells: Sequence[Cell]) -> str:
    most: dict[int, int] = {}
    for cell in cells:
        most[cell.n] = max(most.get(cell.n, 0), cell.runs)
    each = ", ".join(f"{runs} at n = {n:,}" for n, runs in sorted(most.items()))
    return f"Samples and releases: {each}. "


def _summary(cells: Sequence[Cell]) -> Section:
    rows: list[list[str | float]] = []
    for n, mu in _sizes(cells):
        here = [cell for cell in cells if (cell.n, cell.mu) == (n, mu)]
        row: list[str | float] = [f"{n:,}", mu]
        for peer in _HEADS:
            ratios = [cell.over(peer) for cell in here]
            worst = here[int(np.argmax(ratios))].column
            row.append(f"{_mean(ratios):.2f}; {max(ratios):.2f} ({worst})")
        each = [cell.over(*PRIVATE) for cell in here]
        lost = sum(ratio > 1 for ratio in each)
        rows.append([*row, f"{_mean(each):.2f}", f"{lost} of {len(here)}"])
    peaked = [c for c in cells if c.column in _PEAKED and (c.n, c.mu) == (10_000, 1.0)]
    verdicts = [
        f"n = {n:,}, mu = 1: {_mean(ratios):.2f} of the error of the kernel estimate without "
        "privacy (no bar)."
        for n in (1000, 10_000, 100_000)
        if (ratios := [cell.over(KERNEL) for cell in cells if (cell.n, cell.mu) == (n, 1.0)])
    ]
    if peaked:
        mean = _mean([cell.over("wavelets") for cell in peaked])
        verdicts.append(
            verdict(
                f"{', '.join(_PEAKED)} at n = 10,000, mu = 1, over wavelets: {mean:.2f}",
                "1.1",
                met=mean <= 1.1,
            )
        )
    return Section(
        title=TITLES[0],
        method=(
            f"{len({cell.column for cell in cells})} densities (the fifteen of Marron and Wand on "
            "[-4, 4], and those of the tables below); their domain fits. Integrated squared error "
            "of neyman over that of each peer: geometric mean over the densities (a ratio below "
            f"{_LEAST} counts as {_LEAST}); the worst. " + _OURS + _PEERS + _runs(cells) + "The "
            "last columns: over whichever private peer is best for each density, and for how many "
            "densities it is better."
        ),
        columns=["n", "mu", *_HEADS.values(), "best private", "lost"],
        rows=rows,
        verdicts=verdicts,
    )


def _matrix(cells: Sequence[Cell], *, private: bool) -> Section:
    sizes = _sizes(cells)
    at = {(cell.column, cell.n, cell.mu): cell for cell in cells}
    rows: list[list[str | float]] = []
    for name in COLUMNS:
        row: list[str | float] = [name]
        for n, mu in sizes:
            cell = at.get((name, n, mu))
            row.append("" if cell is None else _entry(cell, private=private))
        rows.append(row)
    peers = PRIVATE if private else (KERNEL,)
    lost = [cell for cell in cells if cell.over(*peers) > 1]
    often = [
        f"{name} {sum(cell.column == name for cell in lost)}"
        for name in COLUMNS
        if any(cell.column == name for cell in lost)
    ]
    says = f"A peer is better in {len(lost)} of {len(cells)} cells"
    if private:
        by = {p: sum(min(PRIVATE, key=c.errors.__getitem__) == p for c in lost) for p in PRIVATE}
        says += " (" + ", ".join(f"{peer} {count}" for peer, count in by.items()) + ")"
    method = "Integrated squared error of neyman over that of "
    method += (
        "whichever private peer is best in this cell, its parameter the best in hindsight: "
        + ", ".join(f"{letter} {peer}" for peer, letter in _LETTERS.items())
        if private
        else "the best Gaussian kernel estimate of the same records without privacy"
    )
    return Section(
        title=TITLES[1 if private else 2],
        method=method + ". Columns: n, mu. **Bold**: above 1.05.",
        columns=["density", *(_label(*size) for size in sizes)],
        rows=rows,
        verdicts=[f"{says}; by density: {'; '.join(often) if often else 'none'}."],
    )


def _entry(cell: Cell, *, private: bool) -> str:
    ratio = cell.over(*(PRIVATE if private else (KERNEL,)))
    text = f"{ratio:.2f}" if ratio >= 0.005 else "0.00"
    text = f"**{text}**" if ratio > 1.05 else text
    best = min(PRIVATE, key=cell.errors.__getitem__)
    return f"{text} {_LETTERS[best]}" if private else text


def _ends(cells: Sequence[Cell]) -> Section:
    names = [column.name for column in ENDS]
    sizes = _sizes(cells)
    at = {(cell.column, cell.n, cell.mu): cell.over("best bandwidth") for cell in cells}
    rows: list[list[str | float]] = [
        [name, *(at.get((name, *size), "") for size in sizes)] for name in names
    ]
    mean, worst = _mean([*at.values()]), max(at, key=at.__getitem__)
    return Section(
        title=TITLES[3],
        method=(
            "Integrated squared error over that of the same release read by a Gaussian kernel of "
            "the bandwidth that is best in hindsight. Columns: n, mu."
        ),
        columns=["density", *(_label(*size) for size in sizes)],
        rows=rows,
        verdicts=[
            verdict(f"geometric mean: {mean:.2f}", "1.5", met=mean <= 1.5),
            verdict(
                f"worst: {at[worst]:.2f} ({worst[0]}, n = {worst[1]:,}, mu = {worst[2]:g})",
                "2",
                met=at[worst] <= 2,
            ),
        ],
    )


def _wide(cells: Sequence[Cell]) -> Section:
    order = list(WIDE)
    known = sorted(cells, key=lambda cell: (order.index(cell.column), cell.n, cell.mu))
    rows: list[list[str | float]] = [
        [
            cell.column,
            f"{cell.n:,}",
            cell.mu,
            cell.errors["neyman"],
            *(cell.over(peer) for peer in _HEADS),
        ]
        for cell in known
    ]
    bars = {"normal, 25 times too wide": 0.6, "normal, 250 times too wide": 1.0} | {order[-1]: 1.0}
    verdicts = [
        verdict(
            f"{cell.column}, n = 10,000, mu = 1, over the kernel estimate: {cell.over(KERNEL):.2f}",
            f"{bars[cell.column]:g}",
            met=cell.over(KERNEL) <= bars[cell.column],
        )
        for cell in known
        if cell.column in bars and (cell.n, cell.mu) == (10_000, 1.0)
    ]
    return Section(
        title=TITLES[4],
        method=(
            "The same, on domains 25 and 250 times as long as one that fits: N(0, 1) on ±100 and "
            "±1,000. Error, and its ratio to that of each peer, whose bins, waves and bandwidth "
            "are the best in hindsight for this domain. " + _OURS + _runs(cells)
        ),
        columns=["density", "n", "mu", "error", *_HEADS.values()],
        rows=rows,
        verdicts=verdicts,
    )


def _heaped(cells: Sequence[Cell]) -> Section:
    order = list(HEAPED)
    known = sorted(cells, key=lambda cell: (order.index(cell.column), cell.n, cell.mu))
    rows: list[list[str | float]] = []
    for cell in known:
        e = cell.errors
        row: list[str | float] = [cell.column, f"{cell.n:,}", cell.mu, e["neyman"]]
        row += [e["neyman"] / e[peer] for peer in ("histogram", "every place", "records")]
        rows.append([*row, cell.best["histogram"]])
    lost = [f"{row[0]}, n = {row[1]}, mu = {row[2]:g}" for row in rows if float(row[4]) > 1]
    return Section(
        title=TITLES[5],
        method=(
            "Values on a grid, kept as doubles. Sum over the places of the squared error of their "
            "shares (half a step to each side), and its ratio to that of: a histogram with the "
            "best bins in hindsight; one bin for every place; the shares of the records, "
            "**not private**. " + _OURS + _runs(cells)
        ),
        columns=["column", "n", "mu", "error", "best bins", "every place", "records", "bins"],
        rows=rows,
        verdicts=[f"The histogram is better at: {'; '.join(lost) if lost else 'none of these'}."],
    )
