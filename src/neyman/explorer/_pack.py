"""Pack what the explorer shows of trainings: `python -m neyman.explorer._pack FILE.json`.

A training whose records are seldom sampled takes long; after a few seconds of work the rest of its
numbers are left out, and the page draws what follows from the others. A file that is there is
added to.
"""

import base64
import json
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any, Final

import numpy as np

from neyman.accounting import central_limit, dp_sgd, shuffled_attack
from neyman.curves import TradeOff
from neyman.explorer._grid import (
    DELTAS,
    NOISES,
    ODDS,
    ORDERS,
    RATES,
    SHARES,
    SLACK,
    USUAL,
    stops,
)
from neyman.explorer._packing import ABSENT, decoded, encoded
from neyman.files import write_text

__all__ = ["Knots", "knots_of", "packed_knots"]

# Seconds of work: a training of which one number takes less is packed whole.
_QUICK: Final = 0.1
_LIMIT: Final = 0.8
# What is asked for first where not all is: places in the record below.
_FIRST: Final = (1e-6, 1e-3, 1e-4, 1e-8, 1e-2, 1e-10, 1e-7, 1e-9, 1e-12, 1e-11, 1e-1)

Bracket = tuple[float, float]
Knots = list[Bracket | None]


def packed_knots(knots: Knots) -> bytes:
    """Return the record of a curve: epsilons, deltas, and mu."""
    return b"".join(ABSENT if knot is None else encoded(*knot) for knot in knots)


def knots_of(curve: TradeOff, limit: float = _LIMIT) -> Knots:
    """Return brackets of a curve, some of them None where they would take too long.

    Args:
        curve: of both directions.
        limit: seconds of work.
    """
    began = process_time()
    places = len(DELTAS) + len(ODDS) + len(SHARES)
    found: Knots = [None] * (places + 1)
    found[len(DELTAS)] = advantage = _one(curve.advantage(bracket=True))
    usual_place = DELTAS.index(USUAL)
    started = process_time()
    found[usual_place] = usual = _epsilon(curve, advantage, USUAL)
    if process_time() - started < _QUICK:
        return _all_of(curve, advantage, usual)
    middle = [len(DELTAS) + len(ODDS) + place for place in (9, 5)]
    first = [DELTAS.index(delta) for delta in _FIRST]
    order = {at: rank for rank, at in enumerate([*first[:2], *middle, *first[2:]])}
    rest = {at: ask for at, ask in _questions(curve, advantage, usual) if at in order}
    for at in sorted(rest, key=order.__getitem__):
        if process_time() - began > limit:
            break
        found[at] = rest[at]()
    return found


def _all_of(curve: TradeOff, advantage: Bracket, usual: Bracket) -> Knots:
    """Return all brackets of a curve that answers quickly, a few at once."""
    asked = np.asarray([delta for delta in DELTAS if delta < advantage[1]])
    epsilons = dict(zip(asked.tolist(), _several(curve.epsilon(asked, bracket=True)), strict=True))
    # Asked for by itself it may differ in its last digits, and the shares are shares of that.
    epsilons[USUAL] = usual
    scale = _scale(usual)
    places = [*ODDS[1:], *(share * scale for share in SHARES)]
    deltas = _several(curve.delta(np.asarray(places), bracket=True))
    # Far beyond, delta is below all that is looked at.
    near = [pair if place < 3 * scale else None for place, pair in zip(places, deltas, strict=True)]
    mu = _one(curve.mu(slack=SLACK, bracket=True))
    return [*(epsilons.get(delta, (0.0, 0.0)) for delta in DELTAS), advantage, *near, mu]


def _several(answer: Any) -> list[Bracket]:
    lower, upper = answer.lower.tolist(), answer.upper.tolist()
    return [(max(0.0, low), high) for low, high in zip(lower, upper, strict=True)]


def _questions(
    curve: TradeOff, advantage: Bracket, usual: Bracket
) -> Iterator[tuple[int, Callable[[], Bracket | None]]]:
    """Return what there is to ask, by its place in the record."""
    for at, delta in enumerate(DELTAS):
        yield at, lambda delta=delta: _epsilon(curve, advantage, delta)
    scale = _scale(usual)
    for at, odds in enumerate(ODDS[1:], len(DELTAS) + 1):
        # Beyond, delta is below all that is looked at.
        if scale > 0 and odds < 3 * scale:
            yield at, lambda odds=odds: _one(curve.delta(odds, bracket=True))
    for at, share in enumerate(SHARES, len(DELTAS) + len(ODDS)):
        if scale > 0:
            yield at, lambda share=share: _one(curve.delta(share * scale, bracket=True))


def _scale(usual: Bracket) -> float:
    """Return epsilon(1e-5) as the page reads it."""
    read = decoded(encoded(*usual))
    assert read is not None
    return read[1]


def _epsilon(curve: TradeOff, advantage: tuple[float, float], delta: float) -> tuple[float, float]:
    if advantage[1] <= delta:
        return 0.0, 0.0
    return _one(curve.epsilon(delta, bracket=True))


def _one(answer: Any) -> Bracket:
    return max(0.0, float(answer.lower)), float(answer.upper)


def _step_of(noise: float, rate: float) -> dict[str, object]:
    """Return what other methods need of one step, and what one shuffled pass loses at least."""
    step = dp_sgd(noise, rate, 1)
    orders = np.asarray(ORDERS)
    with np.errstate(all="ignore"):
        divergences = np.asarray(step.renyi(orders), dtype=np.float64)
    attack = shuffled_attack(noise_multiplier=noise, steps=round(1 / rate))
    return {
        "renyi": [float(value) if np.isfinite(value) else None for value in divergences],
        "mu": float(central_limit([(step, 1)]).mu.value),
        "shuffled": base64.b64encode(packed_knots(knots_of(attack, 1.0))).decode(),
    }


def main(path: Path) -> None:
    """Pack all that the file does not hold yet."""
    held: dict[str, dict[str, object]] = {"stops": {}, "steps": {}}
    if path.exists():
        held = json.loads(path.read_text("utf-8"))
    for noise, rate in product(NOISES, RATES):
        name = f"{noise:g},{rate:g}"
        if name not in held["steps"]:
            held["steps"][name] = _step_of(noise, rate)
            write_text(path, json.dumps(held))
    # What is sampled seldom takes longest.
    for noise, rate, steps in sorted(stops(), key=lambda stop: -stop[1] * stop[2]):
        name = f"{noise:g},{rate:g},{steps}"
        if name not in held["stops"]:
            knots = packed_knots(knots_of(dp_sgd(noise, rate, steps)))
            held["stops"][name] = base64.b64encode(knots).decode()
            write_text(path, json.dumps(held))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
