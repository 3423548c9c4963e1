"""The density of a category and a value: the groups of one release, estimated together."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, cast, final

import numpy as np
import numpy.typing as npt

from neyman.arguments import check_type, got, whole
from neyman.errors import InvalidParameter
from neyman.functional._answers import Answer, found_in
from neyman.functional._arguments import check_level, numbers
from neyman.functional._bases._basis import Basis
from neyman.functional._bases._domain import ScaledInterval, Side
from neyman.functional._bases._features import MOST_RECORDS
from neyman.functional._densities._band import Band, Compared, difference_band
from neyman.functional._densities._density_function import DensityFunction
from neyman.functional._densities._function import ReleasedFunction
from neyman.functional._densities._pooled import PooledReading, together, without
from neyman.functional._densities._proper import ProperDensity, TabulatedDensity
from neyman.functional._functions import Functions, Key
from neyman.functional._generator import Generator, check_generator
from neyman.numerics import Array
from neyman.printable import printable

__all__ = ["GroupedDensity"]

_MOST_KEPT: Final = 16
_SHOWN: Final = 20
# Of what the others' number of records is more than, to be read beside a group.
_CONFIDENCE: Final = 0.95
_CURVES: Final = "functional.functions(release, functional.DensityFunction) of a density by group"


@final
@dataclass(frozen=True, slots=True, eq=False, init=False)
class GroupedDensity:
    """The density of a category and a value, f(group, x) = P(group) f(x | group).

    It needs only the functions of one release by group, so it is post-processing. Each group is
    estimated together with the others. At frequencies where the release shows no difference, a
    group takes the density of the others, which helps small groups. At frequencies where it
    differs, it is estimated alone.

    Attributes:
        curves: the densities, each estimated alone.

    Error: an estimate of the densities of the records. Values outside the domain belong to no
        group.
    """

    curves: Functions[DensityFunction] = field(repr=False)

    def __init__(self, curves: Functions[DensityFunction] | Answer) -> None:
        """Take the functions of one release of a density of one coordinate.

        Args:
            curves: the functions of a release by group, or the answer of a session.

        Raises:
            InvalidParameter: if they are other functions, or fewer than two.
        """
        object.__setattr__(self, "curves", found_in(curves))
        check_type("curves", self.curves, Functions, _CURVES)
        raws = [
            one.raw
            for one in cast("Mapping[Key, object]", self.curves.by_key).values()
            if isinstance(one, DensityFunction) and isinstance(one.raw, ReleasedFunction)
        ]
        bases = {(raw.basis, raw.stddev) for raw in raws}
        if len(raws) != len(self.curves) or len(raws) < 2 or len(bases) != 1:
            raise InvalidParameter(
                "curves must be the densities of one coordinate of two groups or more, all of one "
                f"release; write {_CURVES}"
            )
        match raws[0].basis:
            case Basis(domain=ScaledInterval()):
                raise InvalidParameter(
                    "curves must be densities without a scale; write an Interval as their domain"
                )
            case _:
                pass

    def __str__(self) -> str:
        names = printable(", ".join(self.curves.columns))
        lines = [f"density of a value and {names}, {len(self.curves)} groups"]
        for key, share in list(self.probabilities().items())[:_SHOWN]:
            lines.append(f"  {printable(', '.join(map(str, key)))}: {share:.4f}")
        if len(self.curves) > _SHOWN:
            lines.append(f"  ... {len(self.curves) - _SHOWN} more")
        return "\n".join(lines)

    @property
    def side(self) -> Side:
        """The domain of the values."""
        return self.marginal().sides[0]

    def probabilities(self) -> dict[Key, float]:
        """Return the probability of each group among the records in the domain; the sum is 1.

        It uses the released numbers of records; those below 0 count as 0.

        Raises:
            InvalidParameter: if none is positive.
        """
        counts = {key: max(curve.count, 0.0) for key, curve in self.curves.items()}
        if not (total := sum(counts.values())) > 0:
            raise InvalidParameter(
                "no released number of records of a group is positive, so there is no density: the "
                "noise is larger than the data; spend more, or ask for larger groups"
            )
        return {key: count / total for key, count in counts.items()}

    def conditional(self, key: Key) -> ProperDensity:
        """Return the density of the values of one group, f(x | group), using the other groups.

        Raises:
            InvalidParameter: if there is no such group, or its number of records is not positive.
        """
        _ = self._group("key", key)
        return _conditional(self, key)

    def marginal(self) -> DensityFunction:
        """Return the density of the values of all groups, estimated from the sum of their waves."""
        return _marginal(self)

    def pdf(self, key: Key, x: npt.ArrayLike) -> Array:
        """Return P(group) f(x | group) at each x.

        Raises:
            InvalidParameter: as for `conditional`.
        """
        density = self.conditional(key)
        return np.asarray(self.probabilities()[key] * density(x))

    def probabilities_at(self, x: npt.ArrayLike) -> dict[Key, Array]:
        """Return the probability of each group given a value, P(group | x), at each x.

        It is NaN where all densities are 0.
        """
        places = numbers("x", x)
        shares = self.probabilities()
        joint = {
            key: self.pdf(key, places) if share > 0 else np.zeros(places.shape)
            for key, share in shares.items()
        }
        total = np.asarray(sum(joint.values()))
        with np.errstate(invalid="ignore", divide="ignore"):
            return {key: part / total for key, part in joint.items()}

    def rvs(self, size: int, *, generator: Generator) -> tuple[list[Key], Array]:
        """Return the groups and the values of `size` independent draws: synthetic rows, free.

        Args:
            size: number of draws.
            generator: a NumPy Generator; the same seed gives the same draws.

        Raises:
            InvalidParameter: if the size is not a whole number from 0 to 2^36, or the generator is
                not one.
        """
        check_generator(generator)
        size = whole("size", size, 0, MOST_RECORDS)
        shares = self.probabilities()
        below = np.cumsum(np.array(list(shares.values())))
        uniform = generator.random(size) * float(below[-1])
        places = np.minimum(np.searchsorted(below, uniform, side="right"), below.size - 1)
        values, uniform = np.empty(size), generator.random(size)
        for place, (key, share) in enumerate(shares.items()):
            if share > 0 and (rows := places == place).any():
                values[rows] = self.conditional(key).ppf(uniform[rows])
        keys = list(shares)
        return [keys[int(place)] for place in places], values

    def difference(self, first: Key, second: Key, level: float) -> Band:
        """Return a simultaneous band for f(x | first) - f(x | second), ends included.

        Each group is estimated alone, without assuming that they have anything in common. Where 0
        is outside the band, the groups differ.

        Args:
            first: the key of a group.
            second: the key of another group.
            level: the confidence level, in (0, 1).

        Raises:
            InvalidParameter: if there are no such groups, they are the same, a number of records
                is not positive, or the level is outside (0, 1).

        Error: an estimate, as for `DensityFunction.band` with kind "density".
        """
        share = check_level(level)
        found = [self._group("first", first), self._group("second", second)]
        if first == second:
            raise InvalidParameter("first and second must be two groups; got the same group twice")
        one, other = (
            Compared(f.reading, f.shares, f, f.raw.count_variance, f.raw.unit_records)
            for f in found
        )
        return difference_band(one, other, share)

    def _group(self, name: str, key: Key) -> DensityFunction:
        """Return the function of a group, estimated alone; refuse an unknown group."""
        if not isinstance(key, tuple) or key not in self.curves:  # pyright: ignore[reportUnnecessaryIsInstance]
            some = ", ".join(map(repr, list(self.curves)[:3]))
            raise InvalidParameter(
                f"{name} must be a group of this density, a tuple of "
                f"{', '.join(self.curves.columns)}; got {got(key)}. Write one such as {some}"
            )
        return self.curves[key]

    @property
    def releases(self) -> dict[Key, ReleasedFunction]:
        """The release of each group."""
        return {key: cast("ReleasedFunction", curve.raw) for key, curve in self.curves.items()}


@lru_cache(maxsize=_MOST_KEPT)
def _marginal(density: GroupedDensity) -> DensityFunction:
    return DensityFunction(_together(density))


@lru_cache(maxsize=_MOST_KEPT)
def _together(density: GroupedDensity) -> ReleasedFunction:
    return together(tuple(density.releases.values()))


@lru_cache(maxsize=_MOST_KEPT * 64)
def _conditional(density: GroupedDensity, key: Key) -> ProperDensity:
    own = density.releases[key]
    others = without(_together(density), own)
    if not others.noisy_count.is_significant(_CONFIDENCE):
        return density.curves[key]
    return TabulatedDensity(PooledReading.of(own, others).table)
