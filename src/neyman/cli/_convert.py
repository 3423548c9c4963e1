"""`neyman convert`."""

import argparse
from fractions import Fraction

from neyman.cli._numbers import number
from neyman.cli._say import complain, say, say_json
from neyman.numerics import at_least, at_most
from neyman.tradeoff import TradeOff, approx_dp, gdp

__all__ = ["run"]

_USUAL_DELTAS = ("1e-5", "1e-6", "1e-9")


def run(options: argparse.Namespace) -> int:
    """Print one guarantee in the other words."""
    given = {
        name: number(text, f"--{name}")
        for name in ("mu", "rho", "epsilon", "delta")
        if (text := getattr(options, name)) is not None
    }
    curve = _curve(given)
    if curve is None:
        complain(
            "neyman convert: write --mu, or --rho, or --epsilon and --delta; with --mu or --rho, "
            "add --epsilon to ask for delta or --delta to ask for epsilon"
        )
        return 2
    answer: dict[str, float] = {"mu": curve.mu(), "rho": curve.zcdp()}
    if "epsilon" in given:
        answer[f"delta at epsilon={options.epsilon}"] = curve.delta(float(given["epsilon"]))
    if "epsilon" not in given or "delta" in given:
        for delta in [options.delta] if "delta" in given else _USUAL_DELTAS:
            answer[f"epsilon at delta={delta}"] = curve.epsilon(float(number(delta, "--delta")))
    answer["advantage"] = curve.advantage()
    if options.json:
        say_json(answer)
        return 0
    # The mu of a target is the most that it allows; all else is the most that may happen.
    target = {"epsilon", "delta"} <= given.keys()
    width = max(map(len, answer))
    for name, value in answer.items():
        side = at_least if target and name == "mu" else at_most
        say(f"{name.ljust(width)}  {side(value, 12)}")
    return 0


def _curve(given: dict[str, Fraction]) -> TradeOff | None:
    if "mu" in given:
        return None if "rho" in given or len(given) > 2 else gdp(given["mu"])
    if "rho" in given:
        return None if len(given) > 2 else gdp(squared=2 * given["rho"])
    if "epsilon" in given and "delta" in given:
        target = approx_dp(given["epsilon"], given["delta"])
        return gdp(squared=target.inner_gaussian())
    return None
