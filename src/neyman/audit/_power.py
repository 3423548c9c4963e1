"""What a test could have seen, and how many runs it takes."""

import math
from typing import Final

import numpy as np

from neyman.arguments import brief, got
from neyman.audit._checks import check_level, is_number
from neyman.audit._joint import p_value
from neyman.audit._null import Claim, Null
from neyman.audit._statistic import Counts, Statistic
from neyman.calls import plain_calls
from neyman.curves import TradeOff
from neyman.errors import InvalidParameter
from neyman.numerics import Array
from neyman.numerics._special import ndtr, ndtri

__all__ = ["detected", "plan"]

_RATES: Final[Array] = np.concatenate([[0.0], ndtr(np.linspace(-6, 6, 241)), [1.0]])
_NORMAL: Final[Array] = ndtri(1 - _RATES)
_WEIGHTS: Final[Array] = 2.0 ** (np.arange(-64, 65) / 8)
_LIKELY = 0.8
_HALVINGS = 24
_MOST_MU = 40.0
_MOST_RUNS = 10**6


def detected(statistic: Statistic, null: Null, level: float) -> tuple[float | None, float]:
    """Return the mu that is refuted with probability .8, about, and the mu of the claim.

    By the normal approximation, for the best threshold on a mechanism with this mu. The mu of a
    claim is the one with its advantage.
    """
    f = null.ends(_RATES)[0]
    claimed = 2 * float(ndtri(np.asarray(min((2 - float(np.min(_RATES + f))) / 2, 1 - 1e-15))))
    c, w = statistic.counts, statistic.weight

    def ends(y: Array, deviations: float) -> float:
        spread = np.sqrt(w * w * _RATES * (1 - _RATES) / c.outside + y * (1 - y) / c.inside)
        return float(np.min(w * _RATES + y + deviations * spread))

    quantiles = [float(ndtri(np.asarray(p))) for p in (1 - level, _LIKELY)]
    critical = ends(f, -quantiles[0])
    low, high = 0.0, _MOST_MU
    for _ in range(_HALVINGS):
        mu = (low + high) / 2
        seen = ends(ndtr(_NORMAL - mu), quantiles[1]) <= critical
        low, high = (low, mu) if seen else (mu, high)
    # Without an error at all the statistic is 0.
    return (high if high < _MOST_MU and critical > 0 else None), claimed


@plain_calls
def plan(claim: Claim, alternative: TradeOff, *, level: float = 0.05, power: float = 0.9) -> int:
    """Return how many runs with the record, and as many without, refute a claim.

    The attack is the best one if the alternative is true: the rule and the weight of the test
    that need the fewest runs.

    Args:
        claim: that will be tested.
        alternative: the true guarantee of a mechanism that breaks the claim.
        level: the probability of refuting a claim that holds, at most.
        power: the probability of refuting the claim where the alternative is true.

    Returns:
        The number of runs of each side, for which the power of that rule is computed exactly. It
        is within 3 % of the smallest number that suffices.

    Raises:
        InvalidParameter: if the alternative does not break the claim, or a number is outside.

    >>> from neyman.curves import gdp
    >>> plan(gdp(1), gdp(2)) < 80
    True
    """
    check_level(level)
    if not is_number(power) or not 0.5 <= power < 1:
        raise InvalidParameter(
            f"power must be in [0.5, 1); got {got(power)}. Write the probability of refuting the "
            "claim, such as 0.9"
        )
    null = Null(claim)
    f, g = null.ends(_RATES)[0], Null(alternative).ends(_RATES)[1]
    if float(np.max(f - g)) <= 1e-9:
        raise InvalidParameter(
            "the alternative must break the claim at some false positive rate; "
            f"{brief(alternative)} keeps {brief(claim)}. No number of runs refutes a claim that "
            "holds: write an alternative that loses more, such as a claim with less noise"
        )
    x, y, weight, n = _best_rule(f, g, level, power)
    if n > _MOST_RUNS:
        raise InvalidParameter(
            f"the claim and the alternative are so close that about {n:.2g} runs would be needed "
            f"(by a normal approximation); at most {_MOST_RUNS:,} can be planned exactly. Write an "
            "alternative that breaks the claim more clearly"
        )
    low, high = 1, max(4, n)
    while not _powerful(null, (x, y), weight, high, level, power):
        low, high = high, 2 * high
        if high > _MOST_RUNS:
            raise InvalidParameter(
                f"more than {_MOST_RUNS:,} runs would be needed, which cannot be planned exactly. "
                "Write an alternative that breaks the claim more clearly"
            )
    while high > low + 1 and high > 1.03 * low:
        middle = (low + high) // 2 if low > 1 else max(low + 1, int(0.9 * high))
        if _powerful(null, (x, y), weight, middle, level, power):
            high = middle
        else:
            low = middle
    return high


def _best_rule(f: Array, g: Array, level: float, power: float) -> tuple[float, float, float, int]:
    """Return rates, weight and about how many runs, by the normal approximation."""
    ends = [float(ndtri(np.asarray(p))) for p in (1 - level, power)]
    best = (0.5, 0.5, 1.0, np.inf)
    for w in _WEIGHTS.tolist():
        under = np.sqrt(w * w * _RATES * (1 - _RATES) + f * (1 - f))
        truth = np.sqrt(w * w * _RATES * (1 - _RATES) + g * (1 - g))
        gap = (w * _RATES + f)[None] - (w * _RATES + g)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            # Against the worst law of the null, for each rule of the alternative.
            root = (ends[0] * under[None] + ends[1] * truth[:, None]) / gap
            runs = np.where(gap > 0, root, np.inf).max(axis=1) ** 2
        row = int(np.argmin(runs))
        if runs[row] < best[3]:
            best = (float(_RATES[row]), float(g[row]), w, float(runs[row]))
    n = math.ceil(best[3]) if math.isfinite(best[3]) else 64
    return best[0], best[1], best[2], n


def _powerful(
    null: Null, rates: tuple[float, float], weight: float, n: int, level: float, power: float
) -> bool:
    """Whether n runs a side have the power: P(S <= critical) under the alternative."""
    x, y = np.array([rates[0]]), np.array([rates[1]])

    def at(errors: int) -> Statistic:
        # S in steps of 1 / n, as false negatives alone.
        counts = Counts(false_positives=0, outside=n, false_negatives=errors, inside=n)
        return Statistic(counts, weight)

    low, high = -1, math.ceil((1 + weight) * n)
    while high - low > 1:
        middle = (low + high) // 2
        if p_value(at(middle), null, level).upper <= level:
            low = middle
        else:
            high = middle
    return low >= 0 and float(at(low).chance(x, y)[0]) >= power
