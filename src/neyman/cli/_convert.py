"""`neyman convert`."""

import argparse
from collections.abc import Iterator
from fractions import Fraction

from neyman.cli._numbers import as_usage, number
from neyman.cli._parser import WrongUsage
from neyman.cli._say import say, say_json
from neyman.curves import TradeOff, approx_dp, gdp
from neyman.numerics import at_least, at_most, standing

__all__ = ["run"]

_USUAL_DELTAS = ("1e-5", "1e-6", "1e-9")


def run(options: argparse.Namespace) -> int:
    """Print a guarantee in its other forms."""
    given = {
        name: number(text, f"--{name}")
        for name in ("mu", "rho", "epsilon", "delta")
        if (text := getattr(options, name)) is not None
    }
    with as_usage():
        views = list(_views(_curve(given), given, options))
    if options.json:
        records = [{"view": view, **beside, "value": value} for view, beside, value in views]
        say_json({"format": "neyman.convert", "version": 1, "views": records})
        return 0
    # The mu of a target is the largest that meets it; every other number is an upper bound.
    target = {"epsilon", "delta"} <= given.keys()
    shown = {_called(view, beside): value for view, beside, value in views}
    width = max(map(len, shown))
    for name, value in shown.items():
        side = at_least if target and name == "mu" else at_most
        say(f"{name.ljust(width)}  {side(value, 12)}")
    return 0


def _views(
    curve: TradeOff, given: dict[str, Fraction], options: argparse.Namespace
) -> Iterator[tuple[str, dict[str, str], float]]:
    """Yield the views of a guarantee: the name, the parameters and the value."""
    yield "mu", {}, curve.mu()
    yield "rho", {}, curve.zcdp()
    if "epsilon" in given:
        yield "delta", {"epsilon": options.epsilon}, curve.delta(standing(given["epsilon"])[0])
    if "epsilon" not in given or "delta" in given:
        for delta in [options.delta] if "delta" in given else _USUAL_DELTAS:
            chance = standing(number(delta, "--delta"))[0]
            yield "epsilon", {"delta": delta}, curve.epsilon(chance)
    yield "advantage", {}, curve.advantage()


def _called(view: str, beside: dict[str, str]) -> str:
    return view + "".join(f" at {name}={value}" for name, value in beside.items())


def _curve(given: dict[str, Fraction]) -> TradeOff:
    match given:
        case {"mu": mu, **rest} if "rho" not in rest and len(rest) < 2:
            return gdp(mu)
        case {"rho": rho, **rest} if "mu" not in rest and len(rest) < 2:
            return gdp(squared=2 * rho)
        case {"epsilon": epsilon, "delta": delta, **rest} if not rest:
            return gdp(squared=approx_dp(epsilon, delta).inner_gaussian())
        case _:
            raise WrongUsage(
                "exactly one guarantee must be given. Write --mu, or --rho, or --epsilon and "
                "--delta. With --mu or --rho, add --epsilon to get delta, or --delta to get epsilon"
            )
