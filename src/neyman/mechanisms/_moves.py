"""How far one unit can move a vector of integers: the moves that no other move contains."""

import math
from collections.abc import Callable, Iterator
from functools import reduce
from typing import Final

from neyman.curves import TradeOff, identity, worst
from neyman.errors import SensitivityMismatch
from neyman.sensitivity import Sensitivity

__all__ = ["changed_coordinates", "largest_coordinate", "largest_square", "moves", "worst_move"]

_MOST_MOVES: Final = 16
_MOST_STEPS: Final = 20_000


def largest_coordinate(sensitivity: Sensitivity) -> int:
    """Return the most that one coordinate moves, as an integer."""
    l1, square = _most(sensitivity)
    most = min(l1, math.isqrt(square))
    return most if sensitivity.largest is None else min(most, sensitivity.largest)


def changed_coordinates(sensitivity: Sensitivity) -> int:
    """Return how many integers one unit can change."""
    most = min(_most(sensitivity))
    return most if sensitivity.coordinates is None else min(most, sensitivity.coordinates)


def largest_square(sensitivity: Sensitivity) -> int:
    """Return a bound of the squared L2 norm of a move, such as sum d_i^2 <= largest l1."""
    l1, square = _most(sensitivity)
    largest = largest_coordinate(sensitivity)
    return min(square, l1 * largest, changed_coordinates(sensitivity) * largest**2)


def _most(sensitivity: Sensitivity) -> tuple[int, int]:
    """Return integer bounds of the L1 norm and of the squared L2 norm: |d| <= d^2 for integers."""
    l1, square = sensitivity.l1, sensitivity.l2_squared
    if l1 is None:
        whole = math.floor(square or 0)
        return whole, whole
    first = math.floor(l1)
    return first, first**2 if square is None else min(math.floor(square), first**2)


def moves(sensitivity: Sensitivity) -> list[tuple[int, ...]]:
    """Return the maximal moves, as the sizes of the changes of their coordinates, largest first.

        largest >= d_1 >= ... >= d_m >= 1,  sum d_i <= l1,  sum d_i^2 <= l2_squared,
        m <= coordinates

    A move is maximal if no coordinate can grow by 1 within the bounds. The order and the signs of
    the changes do not matter if the noise of the coordinates is independent, identical and
    symmetric.

    Raises:
        SensitivityMismatch: if there are more than 16 of them.
    """
    l1, square = _most(sensitivity)
    coordinates = l1 if sensitivity.coordinates is None else min(sensitivity.coordinates, l1)
    largest = largest_coordinate(sensitivity)
    if coordinates * largest <= l1 and coordinates * largest**2 <= square:
        return [(largest,) * coordinates]
    found: list[tuple[int, ...]] = []
    for step, move in enumerate(_within(l1, square, coordinates, largest)):
        if _is_maximal(move, (l1, square, coordinates, largest)):
            found.append(move)
        if step > _MOST_STEPS or len(found) > _MOST_MOVES:
            raise SensitivityMismatch(
                f"one unit can move the integers in more than {_MOST_MOVES} ways (l1={l1}, "
                f"l2_squared={square}, coordinates={sensitivity.coordinates}), and noise that "
                "lives on the integers has a curve for each; write rounded noise (Gaussian, "
                "Laplace), whose curve is a function of the norm, or a Sensitivity with "
                "coordinates=1 for one number"
            )
    return found


def _within(l1: int, square: int, left: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Yield every move within the bounds; of moves of one coordinate, only the largest."""
    if left == 1:
        yield (min(l1, math.isqrt(square), largest),) if min(l1, square, largest) else ()
        return
    yield ()
    for first in range(min(l1, math.isqrt(square), largest), 0, -1):
        for rest in _within(l1 - first, square - first**2, left - 1, first):
            yield (first, *rest)


def _is_maximal(move: tuple[int, ...], limits: tuple[int, int, int, int]) -> bool:
    l1, square, coordinates, largest = limits
    smallest = 0 if len(move) < coordinates else min(move)
    if sum(move) >= l1 or smallest >= largest:
        return True
    return square - sum(d * d for d in move) < 2 * smallest + 1


def worst_move(sensitivity: Sensitivity, curve: Callable[[int], TradeOff]) -> TradeOff:
    """Return the guarantee over all moves, for independent noise on each coordinate.

    It composes over the coordinates of each maximal move, and takes the worst of these.

    Args:
        sensitivity: of the integers.
        curve: a function from the move of one coordinate to its guarantee; smaller moves must be
            more private.
    """
    guarantees = [_together(move, curve) for move in moves(sensitivity)]
    return reduce(worst, guarantees)


def _together(move: tuple[int, ...], curve: Callable[[int], TradeOff]) -> TradeOff:
    sizes = dict.fromkeys(move)
    parts = [curve(size) ** move.count(size) for size in sizes]
    return reduce(TradeOff.__matmul__, parts, identity())
