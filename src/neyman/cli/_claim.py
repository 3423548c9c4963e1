"""A guarantee as people write it on a command line: gdp(1), dp_sgd(1.1, 0.01, 1000), or a file."""

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Final

import neyman.curves as curves
from neyman.accounting import dp_sgd
from neyman.cli._guarantees import read_guarantee
from neyman.cli._numbers import as_usage
from neyman.cli._parser import WrongUsage
from neyman.curves import Pair, TradeOff
from neyman.printable import shortened

__all__ = ["read_claim"]

_NAMES: Final = (
    "approx_dp",
    "bounded_range",
    "compose",
    "discrete_gaussian",
    "discrete_laplace",
    "gdp",
    "group",
    "identity",
    "laplace",
    "poisson",
    "pure_dp",
    "randomized_response",
    "staircase",
    "tcdp",
    "worst",
    "zcdp",
)
_KNOWN: Final[dict[str, Callable[..., object]]] = {
    **{name: getattr(curves, name) for name in _NAMES},
    "dp_sgd": dp_sgd,
}
_LONGEST: Final = 1000


def read_claim(text: str) -> TradeOff | Pair:
    """Return the guarantee that a text stands for.

    Args:
        text: the path of a file that holds a guarantee; or calls of the functions that make
            guarantees, with numbers, and `**` for a composition: `gdp(0.1) ** 20`. One direction
            of it is written `.add` or `.remove` at its end.

    Raises:
        WrongUsage: if it is neither, or a number in it is outside its range.
        LedgerUnavailable, LedgerCorrupt: if it is a ledger that cannot be read.
    """
    if not text.strip() or len(text) > _LONGEST:
        raise _not_a_claim(text)
    if _is_file(text):
        with as_usage():
            found = read_guarantee(text, "en")
        return found if isinstance(found, TradeOff) else found.curve
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _not_a_claim(text) from None
    match tree:
        case ast.Attribute(value=whole, attr="add" | "remove" as direction):
            both = _value(whole, text)
            if not isinstance(both, TradeOff):
                raise _not_a_claim(text)
            return both.add if direction == "add" else both.remove
        case _:
            claim = _value(tree, text)
    if not isinstance(claim, TradeOff):
        raise _not_a_claim(text)
    return claim


def _is_file(text: str) -> bool:
    try:
        return Path(text).exists()
    except (OSError, ValueError):
        return False


def _value(node: ast.expr, text: str) -> object:
    """Return what an expression stands for, if it is one of ours."""
    match node:
        case ast.Constant(value=int() | float() as number) if type(number) is not bool:
            return number
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int(times))):
            curve = _value(left, text)
            if isinstance(curve, TradeOff):
                with as_usage():
                    return curve**times
        case ast.Call(func=ast.Name(id=name), args=given, keywords=named) if name in _KNOWN:
            values = [_value(one, text) for one in given]
            words = {one.arg: _value(one.value, text) for one in named if one.arg is not None}
            if len(words) == len(named):
                try:
                    with as_usage():
                        return _KNOWN[name](*values, **words)
                except TypeError as error:
                    raise WrongUsage(f"--claim {name}: {error}") from error
        case _:
            pass
    raise _not_a_claim(text)


def _not_a_claim(text: str) -> WrongUsage:
    return WrongUsage(
        f"--claim '{shortened(text, 60)}' is neither a file nor a guarantee; write one such as "
        "'gdp(1)', 'approx_dp(1, 1e-6)', 'dp_sgd(1.1, 0.01, 1000)' or 'gdp(0.1) ** 20'; the "
        f"functions are {', '.join(_KNOWN)}"
    )
