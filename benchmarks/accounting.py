"""Accountants on one set of questions with known answers: error, certificate, time, memory.

The peers: dp-accounting==0.6.0, prv-accountant==0.2.0, opacus==1.6.0, autodp==0.2.3.1 and
riskcal==1.5.1, in this environment or in others, whose interpreters `NEYMAN_BENCH_PYTHONS` lists,
separated as in PATH. Opacus brings torch, for which its build without CUDA will do.
"""

from collections.abc import Mapping, Sequence

from benchmarks import Report
from benchmarks._contest import PYTHONS, SECONDS, Contestant, Result, contest, enter
from benchmarks._workloads import WORKLOADS, Workload

OURS = "neyman"
PEERS = ("dp_accounting", "prv_accountant", "opacus", "autodp", "riskcal")
# Digits of the truth, as doubles; the noises were found by a root finder.
EXACT, FOUND = 1e-14, 1e-10
# Milliseconds that one answer may take, by the kind of question.
BARS = {"dpsgd": 5, "noise": 50, "deltas": 30, "rates": 100, "group": 50, "mixed": 20}
WIDTH, MEGABYTES = 1e-9, 5


def run() -> Report:
    """Ask everyone everything."""
    contestants = [enter(name) for name in (OURS, *PEERS)]
    try:
        asked = [(workload, contest(contestants, workload)) for workload in WORKLOADS]
    finally:
        for each in contestants:
            each.leave()
    present = [each for each in contestants if each.process is not None]
    return Report(
        title="Accountants",
        method=_method(present),
        packages=["neyman", "numpy", "scipy"],
        columns=[
            "",
            "question",
            "truth",
            *(f"{each.name} {each.method}".strip() for each in contestants),
        ],
        rows=[_row(workload, results, contestants) for workload, results in asked],
        verdicts=[
            *(_below(each.name, asked) for each in present),
            _certified(asked),
            *(_in_time(kind, bar, asked) for kind, bar in BARS.items()),
            _memory(asked),
        ],
    )


def _method(present: Sequence[Contestant]) -> str:
    versions = ", ".join(f"{each.name} {each.version} ({each.method})" for each in present)
    return (
        f"{versions}. Each in a process of its own, single-threaded, asked in turn (A B A B) in "
        "one session. A cell: signed error of the bound (below zero is less than the truth: "
        "**bold**), width of the certified bracket where there is one, median time of the warm "
        f"runs (of the first, where it takes over 5 s; {SECONDS:g} s at most), times of ours, peak "
        "memory of the first run beyond what was held before. Errors of the two curves are "
        "relative and the largest at the points that are known. Rows g: noise, which is too little "
        f"below the truth. Environments beside this one: {PYTHONS}=PATH-TO-PYTHON:..."
    )


def _row(
    workload: Workload, results: Mapping[str, Result], contestants: Sequence[Contestant]
) -> list[str | float]:
    ours = results[OURS]
    truth = f"{workload.truth[0]:.10g}" if len(workload.truth) == 1 else "curve"
    cells = [_cell(results[each.name], ours, workload) for each in contestants]
    return [workload.name, workload.says, truth, *cells]


def _cell(result: Result, ours: Result, workload: Workload) -> str:
    if result.failed:
        return result.failed
    error = f"{result.error:+.1e}"
    parts = [f"**{error}**" if _too_low(result, workload) else error]
    if result.width is not None:
        parts.append(f"width {result.width:.1e}")
    parts.append(_time(result.seconds))
    if result is not ours and not ours.failed:
        parts.append(f"×{result.seconds / ours.seconds:.3g}")
    return ", ".join([*parts, f"{result.bytes / 1e6:.0f} MB"])


def _time(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def _too_low(result: Result, workload: Workload) -> bool:
    unit = 1.0 if workload.relative else max(workload.truth)
    return result.least < -(FOUND if workload.kind == "noise" else EXACT) * unit


_Asked = Sequence[tuple[Workload, Mapping[str, Result]]]


def _below(name: str, asked: _Asked) -> str:
    answered = [(w, results[name]) for w, results in asked if not results[name].failed]
    low = [w.name for w, result in answered if _too_low(result, w)]
    listed = f" ({', '.join(low)})" if low else ""
    verdict = f"{name}: {len(answered)} of {len(asked)} answered, {len(low)} below truth{listed}"
    if name != OURS:
        return verdict + "."
    return f"{verdict} (bar: all, none) — {_met(len(answered) == len(asked) and not low)}."


def _certified(asked: _Asked) -> str:
    widths = {w.name: results[OURS].width for w, results in asked if not results[OURS].failed}
    known = {name: width for name, width in widths.items() if width is not None}
    if not known:
        return "No bracket of ours is certified — NOT met."
    worst = max(known, key=lambda name: known[name])
    return (
        f"widest certified bracket of ours: {known[worst]:.1e} ({worst}), {len(known)} of "
        f"{len(widths)} certified (bar: {WIDTH:g}, all) — "
        f"{_met(known[worst] <= WIDTH and len(known) == len(widths))}."
    )


def _in_time(kind: str, bar: int, asked: _Asked) -> str:
    rows = [(w, results[OURS]) for w, results in asked if w.kind == kind]
    done = [(1e3 * result.seconds, w.name) for w, result in rows if not result.failed]
    if not done:
        return f"{kind}: not answered yet (bar: {bar} ms) — NOT met."
    slowest, name = max(done)
    return (
        f"{kind}: {slowest:.3g} ms at the slowest ({name}; bar: {bar} ms) — {_met(slowest <= bar)}."
    )


def _memory(asked: _Asked) -> str:
    most, name = max((results[OURS].bytes / 1e6, w.name) for w, results in asked)
    return (
        f"memory: {most:.1f} MB at most ({name}; bar: {MEGABYTES} MB) — {_met(most <= MEGABYTES)}."
    )


def _met(met: bool) -> str:
    return "met" if met else "NOT met"
