"""Lower bounds of epsilon by audits, on the same scores: are they valid, and how near are they?

The peers: jax_privacy==2.0.0, in this environment or in others, whose interpreters
`NEYMAN_BENCH_PYTHONS` lists, separated as in PATH; and PrivacyGuard from its source, whose folder
is written into PYTHONPATH.
"""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

from scipy.stats import binom

import neyman as ny
from benchmarks import Report, Section
from benchmarks._auditors import LEVEL
from benchmarks._contest import PYTHONS, SECONDS, Contestant, enter
from neyman.curves import TradeOff

ROOM: Final = "_auditors"
OURS: Final = "neyman"
PEERS: Final = ("jax_privacy", "privacy_guard")
KINDS: Final = (
    "two samples, GDP",
    "two samples, (epsilon, delta)",
    "one run, GDP",
    "one run, (epsilon, delta)",
)
DELTA: Final = 1e-5
# Records of each side; one run with 40 canaries shows nothing of what is lost.
SIZES: Final = {
    "two samples, GDP": (50, 500),
    "two samples, (epsilon, delta)": (50, 500),
    "one run, GDP": (500,),
    "one run, (epsilon, delta)": (500,),
}
# Audits of a cell, and how many are asked for at once: an answer may take a minute.
REPETITIONS: Final = {"two samples": 80, "one run": 30}
AT_ONCE: Final = 5
# What a level of 5 % exceeds with a chance below 1 in 1,000.
RARE: Final = 1e-3
# A bound by bisection that ends above 0 says 0.
NEAR: Final = 2e-6
# A mean of bounds that is as far below another's, relatively, is as near.
AS_NEAR: Final = 0.02


@final
@dataclass(frozen=True, slots=True)
class Law:
    """What the scores are drawn from, and what it loses in truth."""

    says: str
    law: str
    shift: float
    curve: TradeOff

    def truth(self, kind: str) -> float:
        """Return the largest bound that is no miss."""
        curve = ny.gdp(self.curve.mu()) if "GDP" in kind else self.curve
        return float(curve.epsilon(DELTA))


LAWS: Final = (
    Law("nothing", "normal", 0.0, ny.gdp(0.0)),
    Law("gdp(0.3)", "normal", 0.3, ny.gdp(0.3)),
    Law("gdp(1)", "normal", 1.0, ny.gdp(1)),
    Law("gdp(3)", "normal", 3.0, ny.gdp(3)),
    Law("laplace(1)", "laplace", 1.0, ny.laplace(1)),
    Law("randomized_response(1)", "response", 1.0, ny.randomized_response(1)),
)


@final
@dataclass(frozen=True, slots=True)
class Question:
    """One batch of audits, as a peer is asked."""

    kind: str
    arguments: Mapping[str, Any]


@final
@dataclass(slots=True)
class Found:
    """What an auditor says of the repetitions of one cell, those that it was asked for."""

    bounds: list[float] = field(default_factory=list)
    seconds: float = 0.0
    failed: str = ""

    @property
    def crashes(self) -> int:
        """How often it raised an error in place of a bound."""
        return sum(math.isnan(bound) for bound in self.bounds)

    @property
    def mean(self) -> float:
        """Of the bounds, 0 for an error and for what is below 0."""
        held = [0.0 if math.isnan(bound) else max(bound, 0.0) for bound in self.bounds]
        return sum(held) / max(len(held), 1)

    def misses(self, truth: float) -> int:
        """How many bounds are above the truth."""
        return sum(bound > truth * (1 + 1e-9) + NEAR for bound in self.bounds)

    def valid(self, truth: float) -> bool:
        """Whether so many misses are no proof of a larger level."""
        return not self.failed and self.misses(truth) <= binom.isf(RARE, len(self.bounds), LEVEL)


Cells = Mapping[str, Found]
Asked = Sequence[tuple[str, int, Law, Cells]]


def run() -> Report:
    """Ask every auditor for its bounds."""
    contestants = [enter(name, ROOM) for name in (OURS, *PEERS)]
    start = time.perf_counter()
    try:
        asked = [
            (kind, n, law, {one.name: _cell(one, kind, law, n) for one in contestants})
            for kind in KINDS
            for n in SIZES[kind]
            for law in LAWS
        ]
    finally:
        for one in contestants:
            one.leave()
    took = time.perf_counter() - start
    present = [one for one in contestants if one.process is not None]
    first, *others = (_section(kind, [row for row in asked if row[0] == kind]) for kind in KINDS)
    return Report(
        title="Audits",
        method=_method(contestants, took) + " " + first.title + ".",
        columns=first.columns,
        rows=first.rows,
        verdicts=[
            *first.verdicts,
            *(_valid(one.name, asked) for one in present),
            _near(asked),
        ],
        packages=["neyman", "numpy", "scipy"],
        sections=others,
    )


def _method(contestants: Sequence[Contestant], took: float) -> str:
    versions = ", ".join(f"{one.name} {one.version or '(not installed)'}" for one in contestants)
    counts = " and ".join(f"{number} of {kind}" for kind, number in REPETITIONS.items())
    return (
        f"{versions}. Each in a process of its own, single-threaded, on the same scores: n with "
        "the record and n without, or, for one run, 2n canaries with a fair coin each. A cell: the "
        f"mean of the lower bounds of epsilon at delta = {DELTA:g} and level {LEVEL:g} ({counts}), "
        "its ratio to ours, how many of the bounds exceed the truth, errors raised, and wall "
        f"milliseconds for one on a busy machine ({took / 60:.0f} minutes for all). **Bold**: so "
        f"many exceed it that the level is not {LEVEL:g} (p < {RARE:g}). For a bound that claims "
        "GDP the truth is epsilon of the smallest mu. Environments beside this one: "
        f"{PYTHONS}=PATH-TO-PYTHON:..."
    )


def _cell(contestant: Contestant, kind: str, law: Law, n: int) -> Found:
    found = Found()
    repetitions = REPETITIONS[kind.partition(",")[0]]
    for first in range(0, repetitions, AT_ONCE):
        arguments = {"law": law.law, "shift": law.shift, "n": n, "delta": DELTA}
        arguments |= {"first": first, "repetitions": AT_ONCE}
        answer = contestant.ask(Question(kind, arguments), bracket=False)
        if "failed" in answer:
            found.failed = answer["failed"]
            return found
        found.bounds += answer["values"]
        found.seconds += answer["seconds"]
        # Of what is this slow a few are enough.
        if found.seconds > SECONDS:
            break
    return found


def _section(kind: str, asked: Asked) -> Section:
    names = list(asked[0][3])
    return Section(
        title=kind[0].upper() + kind[1:],
        method="As above.",
        columns=["n", "law", "truth", *names],
        rows=[
            [
                str(n),
                law.says,
                f"{law.truth(kind):.4g}",
                *(_written(cells[name], cells[OURS], law.truth(kind)) for name in names),
            ]
            for _, n, law, cells in asked
        ],
        verdicts=[],
    )


def _of_same(found: Found, ours: Found) -> float:
    """Return our mean over the audits that the other was asked for."""
    return Found(ours.bounds[: len(found.bounds)]).mean


def _written(found: Found, ours: Found, truth: float) -> str:
    if found.failed:
        return found.failed
    missed = f"{found.misses(truth)} of {len(found.bounds)} over"
    same = _of_same(found, ours)
    ratio = [f"×{found.mean / same:.2f}"] if found is not ours and same > 0 else []
    return ", ".join(
        [
            f"{found.mean:.3g}",
            *ratio,
            missed if found.valid(truth) else f"**{missed}**",
            *([f"{found.crashes} errors"] if found.crashes else []),
            f"{1e3 * found.seconds / len(found.bounds):.3g} ms",
        ]
    )


def _valid(name: str, asked: Asked) -> str:
    answered = [(kind, n, law, found[name]) for kind, n, law, found in asked]
    answered = [cell for cell in answered if not cell[3].failed]
    broken = [
        f"{kind}, {law.says}, n = {n}: {found.misses(law.truth(kind))} of {len(found.bounds)}"
        for kind, n, law, found in answered
        if not found.valid(law.truth(kind))
    ]
    listed = f" ({'; '.join(broken)})" if broken else ""
    said = f"{name}: {len(broken)} of {len(answered)} cells exceed the level{listed}"
    if name != OURS:
        return f"{said}."
    return f"{said} (bar: none) — {'met' if not broken else 'NOT met'}."


def _near(asked: Asked) -> str:
    """Say where a peer whose cell is valid is nearer than ours."""
    nearer: list[str] = []
    compared = 0
    for kind, n, law, cells in asked:
        for name, found in cells.items():
            if name == OURS or law.truth(kind) == 0 or not found.valid(law.truth(kind)):
                continue
            compared += 1
            same = _of_same(found, cells[OURS])
            if found.mean > same * (1 + AS_NEAR) + AS_NEAR:
                ratio = found.mean / same if same else math.inf
                nearer.append(f"{name}, {kind}, {law.says}, n = {n}: ×{ratio:.2f}")
    listed = f": {'; '.join(nearer)}" if nearer else ""
    met = "met" if not nearer else "NOT met"
    return (
        f"nearer than ours, by more than {AS_NEAR:.0%} and by {AS_NEAR:g}, in {len(nearer)} of "
        f"{compared} cells of peers that keep the level there{listed} (bar: none) — {met}."
    )
