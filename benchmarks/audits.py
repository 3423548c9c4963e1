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
from benchmarks._contest import PYTHONS, Contestant, enter
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
REPETITIONS, AT_ONCE = 200, 10
SIZES: Final = (50, 500)
# What misses as often has a level of 5 % with a chance below 1 in 1,000.
MOST_MISSES: Final = int(binom.isf(1e-3, REPETITIONS, LEVEL))
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
    """What an auditor says of the repetitions of one cell."""

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
        return sum(held) / len(held)

    def misses(self, truth: float) -> int:
        """How many bounds are above the truth."""
        return sum(bound > truth * (1 + 1e-9) + 1e-9 for bound in self.bounds)


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
            for n in SIZES
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
            *(line for one in present for line in _valid(one.name, asked)),
            _near(asked),
        ],
        packages=["neyman", "numpy", "scipy"],
        sections=others,
    )


def _method(contestants: Sequence[Contestant], took: float) -> str:
    versions = ", ".join(
        f"{one.name} {one.version or '(not installed)'}".strip() for one in contestants
    )
    return (
        f"{versions}. Each in a process of its own, single-threaded, on the same scores: n with the "
        "record and n without, or, for one run, 2n canaries with a fair coin each. A cell: the "
        f"mean of {REPETITIONS} lower bounds of epsilon at delta = {DELTA:g} and level {LEVEL:g}, "
        "as a share of ours, how many of them exceed the truth, errors raised, and milliseconds "
        f"for one (wall, {took / 60:.0f} minutes for all). **Bold**: more than {MOST_MISSES} of "
        f"{REPETITIONS} exceed it, which a level of {LEVEL:g} does with a chance below 1 in 1,000. "
        "The truth of a bound that claims GDP is that of the smallest mu. Environments beside this "
        f"one: {PYTHONS}=PATH-TO-PYTHON:..."
    )


def _cell(contestant: Contestant, kind: str, law: Law, n: int) -> Found:
    found = Found()
    for first in range(0, REPETITIONS, AT_ONCE):
        arguments = {"law": law.law, "shift": law.shift, "n": n, "delta": DELTA}
        arguments |= {"first": first, "repetitions": AT_ONCE}
        answer = contestant.ask(Question(kind, arguments), bracket=False)
        if "failed" in answer:
            found.failed = answer["failed"]
            return found
        found.bounds += answer["values"]
        found.seconds += answer["seconds"]
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


def _written(found: Found, ours: Found, truth: float) -> str:
    if found.failed:
        return found.failed
    misses = found.misses(truth)
    parts = [f"{found.mean:.3g}"]
    if found is not ours and ours.mean > 0:
        parts.append(f"×{found.mean / ours.mean:.2f}")
    missed = f"{misses} over"
    parts.append(f"**{missed}**" if misses > MOST_MISSES else missed)
    parts += [f"{found.crashes} errors"] if found.crashes else []
    return ", ".join([*parts, f"{1e3 * found.seconds / REPETITIONS:.3g} ms"])


def _valid(name: str, asked: Asked) -> Sequence[str]:
    cells = [(kind, n, law, found[name]) for kind, n, law, found in asked]
    answered = [cell for cell in cells if not cell[3].failed]
    broken = [
        f"{kind}, {law.says}, n = {n}: {found.misses(law.truth(kind))}"
        for kind, n, law, found in answered
        if found.misses(law.truth(kind)) > MOST_MISSES
    ]
    listed = f" ({'; '.join(broken)} of {REPETITIONS})" if broken else ""
    said = f"{name}: {len(broken)} of {len(answered)} cells exceed the level{listed}"
    if name != OURS:
        return [said + "."]
    return [f"{said} (bar: none) — {'met' if not broken else 'NOT met'}."]


def _near(asked: Asked) -> str:
    """Say where a peer whose cell is valid is nearer than ours."""
    nearer: list[str] = []
    compared = 0
    for kind, n, law, cells in asked:
        for name, found in cells.items():
            valid = not found.failed and found.misses(law.truth(kind)) <= MOST_MISSES
            if name == OURS or not valid:
                continue
            compared += 1
            if found.mean > cells[OURS].mean * (1 + AS_NEAR) + 1e-3:
                nearer.append(f"{name}, {kind}, {law.says}, n = {n}")
    listed = f": {'; '.join(nearer)}" if nearer else ""
    met = "met" if not nearer else "NOT met"
    return (
        f"nearer than ours by more than {AS_NEAR:.0%} in {len(nearer)} of {compared} cells of peers "
        f"that keep the level there{listed} (bar: none) — {met}."
    )
