"""Whose values are whose, and how many of one unit count."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, final

import numpy as np
import numpy.typing as npt

from neyman.arguments import whole
from neyman.errors import InvalidParameter
from neyman.sensitivity import Sensitivity

__all__ = ["Units"]

# So that noise for any mu from 0.016 on stays within what can be drawn, a scale of 2^40.
_MOST: Final = 1000


@final
@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """The unit of each value; of one unit the first values count, in the order of the array.

    >>> Units(np.array(["a", "b", "a", "a"]), max_values=2).kept(np.array([5.0, 6.0, 7.0, 8.0]))
    array([5., 6., 7.])

    Attributes:
        ids: private, one for each value, a NumPy array of integers or fixed-width text.
        max_values: the most that count of one unit; declared without looking at the ids.
    """

    ids: npt.NDArray[np.generic] = field(repr=False)
    max_values: int

    def __post_init__(self) -> None:
        """Refuse what could depend on the ids themselves.

        Raises:
            InvalidParameter: if the ids are no NumPy array of integers or fixed-width text, or
                max_values is no whole number in [1, 1000].
        """
        if type(self.ids) not in (np.ndarray, np.memmap) or self.ids.dtype.kind not in "iuSU":
            raise InvalidParameter(
                f"ids in a {type(self.ids).__name__} were given; write a NumPy array of integers "
                "or fixed-width text, one id for each value"
            )
        object.__setattr__(self, "max_values", whole("max_values", self.max_values, 1, _MOST))

    def kept(self, values: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """Return the values that count; those of one unit do not depend on any other unit."""
        order = np.argsort(self.ids, axis=None, kind="stable")
        ids = self.ids.reshape(-1)[order]
        place = np.arange(ids.size)
        begins = np.ones(ids.size, bool)
        begins[1:] = ids[1:] != ids[:-1]
        rank = place - np.maximum.accumulate(np.where(begins, place, 0))
        return values[np.sort(order[rank < self.max_values])]

    def bound(self, one: Sensitivity) -> Sensitivity:
        """Return how far all values of a unit move the sums, from how far one value does.

        At most k columns are added, all of them of the same longest node at worst: k times the
        norm, attained.
        """
        k = self.max_values
        squared = None if one.l2_squared is None else one.l2_squared * Fraction(k * k)
        largest = None if one.largest is None else one.largest * k
        return Sensitivity(
            neighbors=one.neighbors,
            l2_squared=squared,
            coordinates=one.coordinates,
            largest=largest,
        )
